#include "app/session/step_questions.h"

#include <fmt/format.h>

namespace palimpsest {

static auto parts_of(const MatrixFigures& figures) {
  return std::tie(figures.counts, figures.singular_values);
}
static auto parts_of(const WhoWroteIt& made) { return std::tie(made.strongest); }

namespace {

/// The shares of all tokens; that of the initial state comes first.
std::vector<WriterShare> all_shares(const Foundation& foundation, const WrittenNumber& number, double& value,
                                    const std::stop_token& stop) {
  const Rule& rule = *foundation.variant->rule;
  std::vector<WriterShare> all;
  if (number.weights.empty()) {
    const StateEntry entry{.tokens = number.tokens, .row = number.row, .column = number.column};
    const Provenance made = provenance(rule, foundation.sequence, entry, stop);
    value = made.value;
    all.push_back({initial_token, made.initial.remaining, made.initial});
    for (const Share& share : made.shares)
      all.push_back({static_cast<Index>(all.size()) - 1, share.remaining, share});
    return all;
  }
  const Vector<double> weights =
      Eigen::Map<const Vector<double>>(number.weights.data(), static_cast<Index>(number.weights.size()));
  const ReadShares made = read_shares(rule, foundation.sequence, number.tokens, weights, number.column, stop);
  value = made.value;
  all.push_back({initial_token, made.initial});
  for (const double share : made.of_token) all.push_back({static_cast<Index>(all.size()) - 1, share});
  return all;
}

/// Finds out which token erased most of what a token wrote.
void find_eraser(WriterShare& writer, const Foundation& foundation, const WrittenNumber& number,
                 const std::stop_token& stop) {
  const StateEntry entry{.tokens = number.tokens, .row = number.row, .column = number.column};
  const std::vector<Share> past =
      history(*foundation.variant->rule, foundation.sequence, entry, writer.token, stop);
  for (std::size_t t = 0; t < past.size(); ++t) {
    if (std::abs(past[t].erased) <= std::abs(writer.erased_by)) continue;
    writer.eraser = static_cast<Index>(t);
    writer.erased_by = past[t].erased;
  }
}

bool is_same_block(const Sight& x, const Sight& y) {
  return x.trace == y.trace && x.cursor.block == y.cursor.block;
}

constexpr Index most_tokens_swept = 4096;

}  // namespace

Found<Record> BlockRecord::compute(const Trace& trace, const Effort& effort) const {
  std::shared_ptr<const Record> record = trace.shared_record(block, effort.stop);
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : record->tensors()) bytes += held_by(tensor);
  return {std::move(record), bytes};
}

Found<MatrixFigures> PictureFigures::compute(const Record& record, const Effort& effort) const {
  return matrix_figures(record.at(tensor), parts, effort.stop);
}

Found<WhoWroteIt> WhoWrote::compute(const Foundation& foundation, const Effort& effort) const {
  WhoWroteIt made;
  std::vector<WriterShare> all = all_shares(foundation, number, made.value, effort.stop);
  effort.tell(0.5);
  std::erase_if(all, [](const WriterShare& writer) { return writer.remaining == 0; });
  std::ranges::stable_sort(all, std::greater(),
                           [](const WriterShare& writer) { return std::abs(writer.remaining); });
  const std::size_t named = std::min(all.size(), most);
  made.strongest.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(named));
  made.others = static_cast<Index>(all.size() - named);
  for (std::size_t i = named; i < all.size(); ++i) made.others_remaining += all[i].remaining;
  std::ranges::sort(made.strongest, {}, &WriterShare::token);
  if (!number.weights.empty()) return made;
  for (std::size_t i = 0; i < named; ++i) {
    find_eraser(made.strongest[i], foundation, number, effort.stop);
    effort.tell(0.5 + 0.5 * static_cast<double>(i + 1) / static_cast<double>(named));
  }
  return made;
}

bool is_faulty(const Sight& sight) {
  return sight.computation && sight.computation->edited && sight.trace == sight.computation->edited;
}

void Lookout::look(const Sight& wanted, Questions& questions) {
  const bool has_steps = wanted.trace && wanted.trace->block_count() > 0;
  if (!has_steps) return see(wanted, {});
  if (seen_.record && is_same_block(seen_, wanted)) {
    Known<Record> same;
    same.value = seen_.record;
    return see(wanted, same);
  }
  while (true) {
    if (!next_ || is_same_block(*next_, wanted) || awaited_.seconds > nearly_there) next_ = wanted;
    const bool is_wanted = is_same_block(*next_, wanted);
    awaited_ = questions.ask(BlockRecord{next_->trace, next_->cursor.block});
    is_stale_ = awaited_.under_way;
    if (is_stale_) return;
    const Known<Record> known = awaited_;
    const Sight reached = *next_;
    next_.reset();
    if (known.value || is_wanted) see(reached, known);
    if (is_wanted) return;
  }
}

void Lookout::wait(Questions& questions) const {
  if (next_) questions.wait_for(BlockRecord{next_->trace, next_->cursor.block});
}

void Lookout::give_up(Questions& questions) {
  if (next_) questions.give_up(BlockRecord{next_->trace, next_->cursor.block});
}

void Lookout::see(const Sight& place, const Known<Record>& known) {
  seen_ = place;
  seen_.record = known.value;
  awaited_ = known;
  next_.reset();
  is_stale_ = false;
}

std::vector<Index> swept_chunks(Index tokens) {
  std::vector<Index> sizes;
  for (Index size = 1; size < tokens; size *= 2) sizes.push_back(size);
  sizes.push_back(std::max<Index>(tokens, 1));
  return sizes;
}

Found<std::vector<double>> ChunkErrors::compute(const Foundation& foundation, const Effort& effort) const {
  const Variant& variant = *foundation.variant;
  const Index tokens = foundation.sequence.tokens;
  if (tokens > most_tokens_swept)
    throw Unsupported(fmt::format("measured up to {} tokens; these data have {}", most_tokens_swept, tokens));
  const Inputs& inputs = foundation.inputs;
  HeldInputs held = held_inputs(variant, inputs.arrays, inputs.settings, Precision::f32);
  const Sequence sequence = held.sequence;
  if (const auto reason = variant.rule->missing(Form::chunkwise, sequence.settings))
    throw Unsupported(*reason);
  const ReferenceRun reference(variant, std::move(held), Precision::f32, effort.stop);
  const std::vector<Index> sizes = swept_chunks(tokens);
  std::vector<double> errors;
  for (const Index size : sizes) {
    const Output output =
        foundation.device->run(variant, sequence, Form::chunkwise, Precision::f32, size, effort.stop);
    errors.push_back(compare(output, reference.expected()).error);
    effort.tell(static_cast<double>(errors.size()) / static_cast<double>(sizes.size()));
  }
  return errors;
}

Found<std::vector<CostRow>> ChunkCosts::compute(const Foundation& foundation, const Effort& effort) const {
  stop_if_asked(effort.stop);
  std::vector<CostRow> counted;
  for (const Index size : swept_chunks(foundation.sequence.tokens)) {
    const std::vector<CostRow> rows = costs(*foundation.variant, foundation.sequence, size);
    const auto row = std::ranges::find(rows, form, &CostRow::form);
    if (row == rows.end() || !row->missing.empty()) return std::vector<CostRow>();
    counted.push_back(*row);
  }
  return counted;
}

Found<std::vector<CostRow>> FormCosts::compute(const Foundation& foundation, const Effort& effort) const {
  stop_if_asked(effort.stop);
  return costs(*foundation.variant, foundation.sequence, chunk_size);
}

}  // namespace palimpsest
