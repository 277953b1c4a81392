#include "app/session/attention_questions.h"

#include "core/rules/effective_attention.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

static auto parts_of(const DrawnPart& part) { return std::tie(part.weights, part.shares); }
static auto parts_of(const LeftOfWrite& left) { return std::tie(left.shares); }
static auto parts_of(const ReadWord& word) { return std::tie(word.left); }
static auto parts_of(const RowOfWeights& row) {
  return std::tie(row.weights, row.softmax_weights, row.words);
}
static auto parts_of(const AttentionFacts& facts) { return std::tie(facts.reason, facts.no_softmax); }

namespace {

constexpr std::size_t most_words = 5;
constexpr double noticed_share = 0.005;   // least share that is listed
constexpr double erased_part = 0.1;       // of what was written
constexpr double more_than_the_gate = 2;  // times the loss by decay: counts as erased
constexpr Index most_moments = 4096;
constexpr double shown_part = 0.995;  // of the non-zero cells are not clipped

/// The bound of all but a few of the non-zero magnitudes.
double range_of(const Matrix<double>& numbers) {
  std::vector<double> sizes = sizes_of(numbers);
  std::erase(sizes, 0.0);
  return quantile(std::move(sizes), shown_part);
}

/// The same head's inputs without decay.
Sequence without_gates(const Foundation& foundation) {
  Choice choice = foundation.choice;
  set_slider(choice.edits, "scale_decay", 0);
  const Inputs inputs =
      make_inputs(*foundation.data, choice.head, *foundation.variant, choice.settings, choice.edits);
  Settings settings = inputs.settings;
  if (settings.parameters.contains("gamma")) settings.parameters["gamma"] = 1;
  return held_inputs(*foundation.variant, inputs.arrays, settings, choice.precision).sequence;
}

AttentionBand band_of(const Foundation& foundation, const Reading& reading, const BandPlace& place,
                      const std::stop_token& stop) {
  if (reading.by == WeighedBy::softmax) {
    const double sharpness = reading.sharpness > 0 ? reading.sharpness : usual_sharpness(foundation.sequence);
    return attention_band(*find_variant("softmax").rule, softmax_beside(foundation.sequence, sharpness),
                          place, stop);
  }
  return attention_band(*foundation.variant->rule,
                        reading.gates_are_1 ? without_gates(foundation) : foundation.sequence, place, stop);
}

/// One row over all tokens.
AttentionBand row_of(const Foundation& foundation, const Reading& reading, Index token, Index channel,
                     const std::stop_token& stop) {
  return band_of(foundation, reading,
                 {.first_row = token, .rows = 1, .columns = foundation.sequence.tokens, .channel = channel},
                 stop);
}

/// The tokens with the largest weights in descending order, without `own` and weights that are not finite.
std::vector<Index> most_read(const Vector<double>& weights, Index own) {
  std::vector<Index> tokens(static_cast<std::size_t>(weights.size()));
  std::iota(tokens.begin(), tokens.end(), Index{0});
  std::erase_if(
      tokens, [&](Index token) { return token == own || weights(token) == 0 || std::isnan(weights(token)); });
  const auto count = std::min(most_words, tokens.size());
  const auto order = [&](Index token) { return std::pair(-std::abs(weights(token)), token); };
  std::ranges::partial_sort(tokens, tokens.begin() + static_cast<std::ptrdiff_t>(count), {}, order);
  tokens.resize(count);
  return tokens;
}

/// What is left of the write of a row of `remembered`; its moments are numbers of tokens.
LeftOfWrite left_of(const Remembered& remembered, Index row, const std::optional<Keeping>& keeping) {
  LeftOfWrite left;
  const Index own = entry(remembered.tokens, row);
  for (std::size_t moment = 0; moment < remembered.moments.size(); ++moment) {
    const Index tokens = remembered.moments[moment];
    if (tokens <= own) continue;
    const double share = remembered.shares(row, static_cast<Index>(moment));
    if (!std::isfinite(share)) return {};  // the memory has diverged: the write cannot be traced
    const double before = left.shares.empty() ? share : left.shares.back();
    left.shares.push_back(share);
    if (before - share <= left.lost_there) continue;
    left.lost_there = before - share;
    left.lost_most_at = tokens - 1;
    const double faded = keeping ? before * (1 - keeping->mean(tokens - 1)) : 0;
    left.is_erased = left.lost_there > more_than_the_gate * faded;
    left.is_much = left.lost_there >= erased_part * left.shares.front();
  }
  if (left.lost_there < noticed_share) left.lost_most_at = -1;
  return left;
}

/// Adds what is left of the writes of these tokens; nothing if there is no memory to query.
void add_what_is_left(std::vector<ReadWord>& words, const Foundation& foundation, Index token,
                      const std::stop_token& stop) try {
  if (words.empty() || !foundation.variant->memory.none.empty()) return;
  std::vector<Index> tokens;
  for (const ReadWord& word : words) {
    if (word.token <= token) tokens.push_back(word.token);  // without a mask later ones are read, too
  }
  if (tokens.empty()) return;
  std::ranges::sort(tokens);
  const Index first = std::max(tokens.front(), token + 1 - most_moments);
  std::vector<Index> moments(static_cast<std::size_t>(token - first + 1));
  std::iota(moments.begin(), moments.end(), first + 1);
  const Remembered left = remembered(*foundation.variant, foundation.sequence, tokens, moments, stop);
  const std::optional<Keeping> fading = keeping(*foundation.variant, foundation.sequence);
  for (ReadWord& word : words) {
    const auto row = std::ranges::find(left.tokens, word.token);
    if (row != left.tokens.end()) word.left = left_of(left, row - left.tokens.begin(), fading);
  }
} catch (const Unsupported&) {
  for (ReadWord& word : words) word.left.reset();
}

constexpr Index rows_of_a_part = 256;
constexpr Index coarse_rows = 128;
// Of a million tokens every row would take hours: a pixel shows the strongest weight of this many rows at
// most.
constexpr Index most_rows_of_a_pixel = 16;

}  // namespace

Index asked_channel(const AttentionView& view, const Sequence& sequence) {
  return std::clamp<Index>(view.channel, 0, std::max<Index>(sequence.dv, 1) - 1);
}

Found<DrawnPart> AttentionPart::compute(const Foundation& foundation, const Effort& effort) const {
  const AttentionBand band = band_of(foundation, reading, place, effort.stop);
  const Matrix<double> shares = shares_of_rows(band);
  return DrawnPart{.weights = strongest_of_rows(band.strongest, rows_per_cell),
                   .shares = strongest_of_rows(shares, rows_per_cell),
                   .weight_range = range_of(band.strongest),
                   .share_range = range_of(shares),
                   .version = next_version()};
}

Found<RowOfWeights> RowAtToken::compute(const Foundation& foundation, const Effort& effort) const {
  RowOfWeights row;
  std::optional<AttentionBand> softmax;
  std::optional<AttentionBand> own;
  why_unsupported([&] {
    softmax = row_of(foundation, {.by = WeighedBy::softmax, .sharpness = sharpness}, token, 0, effort.stop);
  });
  row.reason = why_unsupported([&] { own = row_of(foundation, {}, token, channel, effort.stop); });
  const auto share = [](double weight, double total) { return total == 0 ? 0 : weight / total; };
  if (softmax) {
    row.softmax_weights = softmax->strongest.row(0).transpose();
    const std::vector<Index> read = most_read(row.softmax_weights, token);
    if (!read.empty()) row.softmax_most = read.front();
  }
  if (own) {
    row.weights = own->strongest.row(0).transpose();
    row.total = own->totals(0);
    row.subtracts = std::abs(share(own->negative(0), own->totals(0)));  // never "-0"
  }
  if (!own && !softmax) return row;
  for (const Index read : most_read(own ? row.weights : row.softmax_weights, token)) {
    row.words.push_back(
        {.token = read,
         .share = own ? share(row.weights(read), row.total) : 0,
         .softmax_share = softmax ? share(row.softmax_weights(read), softmax->totals(0)) : 0});
    row.together += std::abs(row.words.back().share);
    row.softmax_together += row.words.back().softmax_share;
  }
  add_what_is_left(row.words, foundation, token, effort.stop);
  return row;
}

const ReadWord* RowOfWeights::read_most() const {
  const auto most = std::ranges::max_element(words, {}, &ReadWord::share);
  return most != words.end() && most->share > 0 ? &*most : nullptr;
}

Found<AttentionFacts> FactsOfAttention::compute(const Foundation& foundation, const Effort&) const {
  const Rule& rule = *foundation.variant->rule;
  const Sequence& sequence = foundation.sequence;
  const RowRule* const rows = rule.row_program();
  return AttentionFacts{.reason = why_unsupported([&] { rule.effective_attention(sequence, {}); }),
                        .no_softmax = why_unsupported([&] { softmax_beside(sequence, 1); }),
                        .has_gates = keeping(*foundation.variant, sequence).has_value(),
                        .is_finished = rows && rows->finishes(),
                        .by_channel = weighs_by_channel(rule, sequence),
                        .usual_sharpness = usual_sharpness(sequence)};
}

AttentionParts attention_parts(const AttentionBlock& block, Index tokens, Index pixels, Index present) {
  const Index per_pixel = std::max<Index>(block.count / std::max<Index>(pixels, 1), 1);
  const auto with_rows = [&](Index step) {
    return BandPlace{.first_row = block.first_row,
                     .rows = (std::min(block.count, tokens - block.first_row) + step - 1) / step,
                     .row_step = step,
                     .first_column = block.first_column,
                     .columns = std::min(block.count, tokens - block.first_column),
                     .tokens_per_cell = per_pixel};
  };
  AttentionParts parts;
  if (block.count > 2 * rows_of_a_part) parts.coarse = with_rows(block.count / coarse_rows);
  const Index row_step = (per_pixel + most_rows_of_a_pixel - 1) / most_rows_of_a_pixel;
  parts.rows_per_cell = per_pixel / row_step;
  const BandPlace whole = with_rows(row_step);
  for (Index row = 0; row < whole.rows; row += rows_of_a_part) {
    BandPlace part = whole;
    part.first_row = whole.token(row);
    part.rows = std::min(rows_of_a_part, whole.rows - row);
    parts.fine.push_back(part);
  }
  std::ranges::sort(parts.fine, std::greater(), [&](const BandPlace& part) {
    return std::abs(part.token(rows_of_a_part / 2) - present);
  });
  return parts;
}

}  // namespace palimpsest
