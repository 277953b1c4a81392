#include "app/words/step.h"

#include "app/session/typed_text.h"
#include "core/base/text.h"
#include "core/formula/expression.h"
#include "core/insight/memory_change.h"
#include "core/insight/recall.h"

namespace palimpsest {

namespace {

/// Whether a row stands for several tokens of the text.
bool comes_again(const AskedWord& word) { return word.occurrences.size() > 1; }

std::string_view thick_frame_words(const AnswerTable& table) {
  const bool again = table.present && comes_again(entry(table.words, *table.present));
  return again ? "the text at the cursor" : "the token at the cursor";
}

/// “The red jar holds a key” (token 7); "token 7"
std::string quoted_and_numbered(const AskedWord& word) {
  const std::string quoted = quoted_label(word.phrase, word.token);
  return only_counts(word.phrase, word.token) ? quoted : fmt::format("{} (token {})", quoted, word.token + 1);
}

/// What the frame of a row means; empty if it has none.
std::string mark_words(const AnswerTable& table, Index row) {
  if (row == table.present) return fmt::format(" Thick frame: {}.", thick_frame_words(table));
  if (row == noticeably_changed(table)) return " Thin frame: the other token whose value changes most.";
  return {};
}

/// Smaller numbers are rounded away in the text.
constexpr double unseen = 5e-4;

/// " Later corrections: +0.0029 (token 6 “a”).": they may add to a write as well as take from it.
std::string corrections_words(const WriterShare& writer, const std::vector<std::string>& labels) {
  const double all = -writer.share.erased;
  const double largest = -writer.erased_by;
  std::string words = fmt::format(" Later corrections: {:+.3g}", all);
  if (writer.eraser < 0) return words + ".";
  const std::string eraser = writer.eraser == initial_token
                                 ? "initial state"
                                 : "token " + numbered_label(entry(labels, writer.eraser), writer.eraser);
  if (std::abs(all - largest) <= unseen * std::abs(all)) return words + fmt::format(" ({}).", eraser);
  return words + fmt::format(" ({} {:+.3g}, others {:+.3g}).", eraser, largest, all - largest);
}

}  // namespace

std::optional<Index> noticeably_changed(const AnswerTable& table) {
  const auto& row = table.most_changed;
  const bool is_seen = row && !(table.change.row(*row).cwiseAbs().maxCoeff() < least_number);
  return is_seen ? row : std::nullopt;
}

std::string row_number(const AskedWord& word) {
  if (word.by_query) return "query of";
  return comes_again(word) || word.is_again ? std::to_string(word.token + 1) : "";
}

std::string column_number(const AskedWord& word, bool briefly) {
  if (!comes_again(word)) return word.is_again ? std::to_string(word.token + 1) : "";
  const Index first = word.occurrences.front() + 1;
  return briefly ? fmt::format("{}…", first) : fmt::format("{}…{}", first, word.occurrences.back() + 1);
}

std::string row_words(const AnswerTable& table, Index row) {
  const AskedWord& word = entry(table.words, row);
  std::string words =
      fmt::format("{}: the memory is queried with {}.", quoted_and_numbered(word),
                  word.by_query ? "the query of this token; other rows use keys" : "the key of this token");
  if (comes_again(word))
    words +=
        fmt::format(" {} was written {} times so far. The row uses this key; the column sums all values.",
                    quoted_label(word.text, word.token), word.occurrences.size());
  return words + mark_words(table, row);
}

std::string how_to_read_words(const AnswerTable& table, double scale, bool has_output) {
  const bool again = std::ranges::any_of(table.words, comes_again);
  const bool reads = std::ranges::any_of(table.words, &AskedWord::by_query);
  return fmt::format(
      "Row: the token whose key{} queries the memory.{} Column: the coefficient of {} in the returned value. "
      "Thick frame: {}; thin frame: the largest other change. {}{}",
      reads ? ", or query at “query of”," : "", again ? " Repeated text: the key of the numbered token." : "",
      again ? "all its values" : "that token's value", thick_frame_words(table), scale_words(scale),
      has_output ? " Attend shows which tokens are read." : "");
}

std::string scale_words(double scale) {
  if (scale == 1) return "Colours from −1 to 1.";
  const std::string end = answer_number(scale);
  return fmt::format("Colours from −{} to {}: keys of small norm give coefficients above 1.", end, end);
}

std::string answer_number(double value) {
  if (!std::isfinite(value)) return "none";
  const double size = std::abs(value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return size < 9999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.0e}", value);
}

std::string answer_words(const AnswerTable& table, std::string_view title, const Matrix<double>& values,
                         Index row, Index column) {
  const AskedWord& asked = entry(table.words, row);
  const AskedWord& found = entry(table.words, column);
  return fmt::format(
      "{}: with the {} of {}, {} {} × the value of {}, fitted with the other "
      "values. After this step these values explain {:.0f} % of the returned direction.{}",
      title, asked.by_query ? "query" : "key", quoted_and_numbered(asked),
      &values == &table.change ? "what the memory returns changes by" : "the memory returns",
      fixed_number(values(row, column), 4), quoted_label(found.text, found.token),
      100 * std::max(table.explained_after(row), 0.0), mark_words(table, row));
}

std::string half_life_words(double kept) {
  const double tokens = half_life(std::clamp(kept, 0.0, 1.0));
  if (std::isinf(tokens)) return "no decay";
  if (tokens == 0) return "forgets everything";
  if (tokens < 9.5) return fmt::format("half-life {:.2g} {}", tokens, tokens == 1 ? "token" : "tokens");
  if (tokens < 1e6) return fmt::format("half-life {:.0f} tokens", tokens);
  return fmt::format("half-life {:.1g} tokens", tokens);
}

std::string half_lives_words(const Matrix<double>& alpha) {
  std::string least = half_life_words(alpha.minCoeff());
  const std::string most = half_life_words(alpha.maxCoeff());
  if (least == most) return least;
  const std::string unit = " tokens";  // shown once
  if (least.ends_with(unit) && most.ends_with(unit)) least.resize(least.size() - unit.size());
  return least + " … " + most.substr(most.starts_with("half-life ") ? 10 : 0);
}

std::string facts_words(const Findings& computed, Index token, const Recall* recall) {
  const TokenFacts& facts = entry(computed.tokens, token);
  const std::string& written_symbol = computed.written_symbol;
  std::string words;
  if (facts.kept)
    words += fmt::format("\ndecay: {} = {:.4f}, {}", unicode(computed.kept_symbol), *facts.kept,
                         half_life_words(*facts.kept));
  if (facts.beta) words += fmt::format("\nwrite strength: β = {:.4f}", *facts.beta);
  if (facts.written) {
    words += written_symbol.empty() ? fmt::format("\nwrite: ‖k‖‖v‖ = {}", fixed_number(*facts.written, 4))
                                    : fmt::format("\nstep size: {}‖k‖² = {}", unicode(written_symbol),
                                                  fixed_number(*facts.written, 4));
  }
  return recall ? words + "\n" + error_norm_words(*recall) : words;
}

std::string kept_words(const KeptBetween& kept, const std::string& until) {
  std::string words = fmt::format("\ndecay until {}: {:.3g}", until, kept.mean);
  if (kept.channels > 1)
    words +=
        fmt::format(" on average, {:.2g} to {:.2g} over {} channels", kept.least, kept.most, kept.channels);
  return words;
}

bool is_changed_here(const Session& session) {
  return !session.choice().edits.empty() || session.choice().variant != session.data().rule;
}

std::string answer_meaning(const Session& session) {
  const ReadText& text = *session.data().read;
  const Continuation next = text.said->answer();
  std::string words = fmt::format("The model says {} next, with a probability of {}.",
                                  text.quoted(next.piece), fixed_number(next.probability, 2));
  if (is_changed_here(session))
    words +=
        "\nThis head is shown with another rule or with edited inputs. That changes the pictures, not the "
        "model's answer.";
  return words;
}

std::string reading_words(const Session& session, Index token) {
  const auto text = session.data().read;
  if (!text) return {};
  const auto t = static_cast<std::size_t>(token);
  std::string words;
  if (t > 0) words = fmt::format("loss of the model: {} nats; ", fixed_number(text->said->losses[t - 1], 2));
  words += "next:";
  for (const Continuation& next : text->said->next[t])
    words += fmt::format(" {} {},", text->quoted(next.piece), in_percent(next.probability));
  words.pop_back();
  return words;
}

std::string writer_fate(const WriterShare& writer, const std::vector<std::string>& labels) {
  const Share& share = writer.share;
  if (share.written == 0 && share.mixed == 0 && share.decayed == 0 && share.erased == 0) return {};
  const double seen = unseen * std::max(std::abs(share.written + share.mixed), std::abs(writer.remaining));
  std::string words =
      writer.token == initial_token
          ? fmt::format("Initial state: {:+.3g}.", share.written)
          : fmt::format("Token {} wrote {:+.3g}.", numbered_label(entry(labels, writer.token), writer.token),
                        share.written);
  if (std::abs(share.mixed) > seen) words += fmt::format(" From other states: {:+.3g}.", share.mixed);
  if (std::abs(share.decayed) > seen) words += fmt::format(" Decay: {:+.3g}.", -share.decayed);
  if (std::abs(share.erased) > seen) words += corrections_words(writer, labels);
  return words + fmt::format(" Remaining: {:+.3g}.", writer.remaining);
}

}  // namespace palimpsest
