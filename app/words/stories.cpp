#include "app/words/stories.h"

#include "app/words/attend.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr double as_good = 2.0 / 3;  // of the largest amount: also an answer
constexpr double half_a_digit = 0.005;
constexpr double little = 0.2;  // of all weights

double largest_change(const AnswerTable& table, Index row) {
  return table.change.cols() == 0 ? 0 : table.change.row(row).cwiseAbs().maxCoeff();
}

/// The words that a row of amounts says, the strongest first: those close to the largest, at most three; none
/// if all are small.
std::vector<std::string> answers_of(const AnswerTable& table, const Matrix<double>& amounts, Index row) {
  constexpr std::size_t most_answers = 3;
  const double most = amounts.row(row).maxCoeff();
  if (!(most >= noticed)) return {};
  std::vector<Index> columns;
  for (Index column = 0; column < amounts.cols(); ++column)
    if (amounts(row, column) >= as_good * most) columns.push_back(column);
  std::ranges::stable_sort(columns, std::greater(), [&](Index column) { return amounts(row, column); });
  columns.resize(std::min(columns.size(), most_answers));
  std::vector<std::string> answers;
  for (const Index column : columns)
    answers.push_back(answered_part(visible_label(entry(table.words, column).text)));
  return answers;
}

/// "a, b and c", each marked as an answer, and a full stop.
void say(std::vector<Spoken>& sentence, const std::vector<std::string>& answers) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i > 0) sentence.push_back({i + 1 == answers.size() ? " and " : ", "});
    sentence.push_back({answers[i], true});
  }
  sentence.push_back({". "});
}

/// The key for which two memories return what differs most; null if there is none.
const SharedKey* most_different_key(const MemoryStory& story, const MemoryStory& other) {
  const auto difference = [&](const SharedKey& key) {
    return key.row < other.table.after.rows()
               ? (story.table.after.row(key.row) - other.table.after.row(key.row)).cwiseAbs().maxCoeff()
               : 0;
  };
  const auto most = std::ranges::max_element(story.keys, {}, difference);
  return most == story.keys.end() ? nullptr : &*most;
}

}  // namespace

std::string asked_part(const std::string& label) { return label.substr(0, label.find(pair_sign)); }

std::string answered_part(const std::string& label) {
  const std::size_t at = label.find(pair_sign);
  return at == std::string::npos ? label : label.substr(at + pair_sign.size());
}

std::string question_of(const AnswerTable& table, const SharedKey& key) {
  const AskedWord& word = entry(table.words, key.first);
  if (word.text.find(pair_sign) != std::string::npos) return asked_part(word.text);
  if (word.phrase.size() <= word.text.size() || !word.phrase.ends_with(word.text))
    return visible_label(word.text);
  constexpr std::string_view cut = "…";
  std::string_view before = word.phrase;
  if (before.starts_with(cut)) before.remove_prefix(cut.size());
  return fmt::format("{} …", word_text(before.substr(0, before.size() - word.text.size())));
}

const SharedKey* told_key(const MemoryStory& story) {
  const SharedKey* told = nullptr;
  for (const SharedKey& key : story.keys) {
    const double change = largest_change(story.table, key.row);
    if (change >= noticed && (!told || change > largest_change(story.table, told->row))) told = &key;
  }
  return told;
}

std::vector<Spoken> headline(const MemoryStory& story, const std::string& token) {
  const AnswerTable& table = story.table;
  if (!story.no_table.empty()) return {{story.no_table}};
  if (table.words.empty()) return {{"Nothing is stored yet."}};
  if (!table.before.allFinite() || !table.after.allFinite()) return {{answer_sentence(table)}};
  const SharedKey* const told = told_key(story);
  if (!told) {
    double most = 0;
    for (const SharedKey& key : story.keys) most = std::max(most, largest_change(table, key.row));
    if (most < half_a_digit) return {{fmt::format("{} changes no answer.", token)}};
    return {{fmt::format("{} changes no answer by more than {}.", token, bound_number(most, 2))}};
  }
  const auto before = answers_of(table, table.before, told->row);
  const auto after = answers_of(table, table.after, told->row);
  std::vector<Spoken> all = {{fmt::format("Asked “{}”, the memory ", question_of(table, *told))}};
  if (before == after) {
    all.push_back({after.empty() ? "still knows no answer" : "still says "});
    say(all, after);
    if (!after.empty())
      all.back().words =
          fmt::format(", now with {} instead of {}. ", fixed_number(table.after.row(told->row).maxCoeff(), 2),
                      fixed_number(table.before.row(told->row).maxCoeff(), 2));
    return all;
  }
  all.push_back({before.empty() ? "knew no answer" : "said "});
  say(all, before);
  all.push_back({after.empty() ? "Now it knows none" : "Now it says "});
  say(all, after);
  return all;
}

std::vector<Spoken> first_half(std::vector<Spoken> headline) {
  const auto now = std::ranges::find_if(
      headline, [](const Spoken& said) { return said.words.find("Now it") != said.words.npos; });
  headline.erase(now, headline.end());
  return headline;
}

std::string learn_headline(const LearningMoment& moment, const std::string& token) {
  const LearningStep& step = moment.step;
  const std::string what = step.problem.token_count > 1 ? "This batch is written" : token + " is written";
  if (!std::isfinite(step.loss_before)) return what + ": its loss is not finite.";
  if (step.loss_before == step.loss_after)
    return fmt::format("{}: the loss stays {}.", what, plain_number(step.loss_before, 3));
  const char* const goes = step.loss_after <= step.loss_before ? "falls" : "rises";
  return fmt::format("{}: the loss {} from {} to {}.", what, goes, plain_number(step.loss_before, 3),
                     plain_number(step.loss_after, 3));
}

std::vector<Spoken> attend_headline(const Computation& computed, const RowOfWeights& row, Index token) {
  const auto label = [&](Index t) { return quoted_label(entry(computed.data->labels, t), t); };
  const std::string at = fmt::format("At {}, ", quoted_and_numbered(computed.data->labels[token], token));
  if (!std::isfinite(row.total)) return {{not_finite_words}};
  const ReadWord* const most = row.read_most();
  if (!most) return {{at + "the output reads no other token."}};
  return {{at + (most->share < little ? "no token dominates: " : "")},
          {label(most->token), true},
          {fmt::format(" has the largest weight of the other tokens, {}.", weight_words(most->share, true))}};
}

std::string last_reads_words(const Computation& computed, const ReadWord& most) {
  const Index last = computed.sequence.tokens - 1;
  return fmt::format("At the last token, {}, {} has the largest weight: {}.",
                     quoted_label(computed.data->labels[last], last),
                     quoted_label(entry(computed.data->labels, most.token), most.token),
                     weight_words(most.share, true));
}

std::vector<Spoken> compare_headline(const std::array<std::pair<std::string, const MemoryStory*>, 2>& sides) {
  const MemoryStory& own = *sides[1].second;
  const SharedKey* key = told_key(own);
  if (!key) key = most_different_key(own, *sides[0].second);
  if (!key) return {{own.no_table.empty() ? "Nothing is stored yet." : own.no_table}};
  std::vector<Spoken> all = {{fmt::format("Asked “{}”, ", question_of(own.table, *key))}};
  for (const auto& [name, story] : sides) {
    const bool is_there = key->row < story->table.after.rows();
    const auto answers =
        is_there ? answers_of(story->table, story->table.after, key->row) : std::vector<std::string>();
    const bool is_finite = !is_there || story->table.after.row(key->row).allFinite();
    const bool is_plain =
        std::ranges::count_if(name, [](unsigned char c) { return std::isupper(c) != 0; }) == 1;
    const bool begins = &story == &sides.front().second;  // after a comma
    all.push_back(
        {(begins && is_plain ? with_small_letter(name) : name) + (!is_finite        ? " has diverged"
                                                                  : answers.empty() ? " knows no answer"
                                                                                    : " says ")});
    say(all, answers);
  }
  return all;
}

std::string agreement_headline(Index forms, double largest) {
  return fmt::format("{} give the same result: in f64 they differ by {} here.",
                     forms == 1 ? "The form and its reference" : fmt::format("All {} forms", forms),
                     largest == 0 ? "nothing" : "at most " + plain_number(largest));
}

std::string fault_headline(const Computation& computed, const Fault& fault, Form form, Index first) {
  if (first < 0) return fault.label + ".";
  return fmt::format("{}: {} differs from token {} on.", fault.label, name(form),
                     numbered_label(entry(computed.data->labels, first), first));
}

std::string others_in_words(const MemoryStory& story) {
  const SharedKey* const told = told_key(story);
  if (!told || story.keys.size() < 2) return {};
  double most = 0;
  for (const SharedKey& key : story.keys) {
    if (&key != told) most = std::max(most, largest_change(story.table, key.row));
  }
  if (most < half_a_digit) return "No other answer changes.";
  return fmt::format("Every other answer changes by at most {}.", fixed_number(most, 2));
}

}  // namespace palimpsest
