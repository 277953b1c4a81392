#include "app/session/memory_questions.h"

#include <fmt/format.h>

#include "app/session/session.h"
#include "app/session/typed_text.h"
#include "core/base/text.h"

namespace palimpsest {

static auto parts_of(const LearningStep& step) {
  return std::tie(step.problem.at, step.problem.from, step.gradient, step.after.weights, step.after.moving,
                  step.iterates);
}
static auto parts_of(const LearningMoment& moment) {
  return std::tie(moment.step, moment.losses, moment.rates);
}
static auto parts_of(const HarmAlong& harm) { return std::tie(harm.rates, harm.losses); }
static auto parts_of(const SolveCourse& course) { return std::tie(course.rests); }
static auto parts_of(const ConvergingSolve& solve) { return std::tie(solve.course, solve.exact); }
static auto parts_of(const StepReach& strengths) { return std::tie(strengths.reach, strengths.squares); }
static auto parts_of(const Keeping& kept) { return std::tie(kept.mean, kept.least, kept.most); }
static auto parts_of(const TokenCourses& courses) { return std::tie(courses.strengths, courses.keeping); }
static auto parts_of(const Remembered& remembered) { return std::tie(remembered.shares); }
static auto parts_of(const Spectrum& spectrum) { return std::tie(spectrum.singular_values); }
static auto parts_of(const KeyPicture& picture) {
  return std::tie(picture.cosines, picture.directions.points);
}
static auto parts_of(const AnswersAtPlace& answers) { return std::tie(answers.table, answers.output.words); }
static auto parts_of(const MemoryStory& story) {
  return std::tie(story.before, story.change, story.after, story.table);
}
static auto parts_of(const HeadAnswers& head) { return std::tie(head.table); }
static auto parts_of(const TablesOfHeads& tables) { return std::tie(tables.heads); }

namespace {

/// One head's inputs to a variant, as a precision holds them.
Sequence sequence_of(const DataSet& data, Index head, const Variant& variant, const Settings& settings,
                     const Edits& edits, Precision precision) {
  const Inputs inputs = make_inputs(data, head, variant, settings, edits);
  return held_inputs(variant, inputs.arrays, inputs.settings, precision).sequence;
}

/// What the tokens of a head write as the data came: without edits and settings, with what they lack made up
/// as at first. Nothing where the rule `id` cannot take them so.
std::optional<WordStrengths> strengths_as_it_came(const DataSet& data, Index head,
                                                  const std::string& id) try {
  if (id.empty()) return std::nullopt;
  const Variant& variant = find_variant(id);
  return word_strengths(variant, sequence_of(data, head, variant, {}, {}, Precision::f64));
} catch (const InputError&) {
  return std::nullopt;
} catch (const Unsupported&) {
  return std::nullopt;
}

/// Under the rule that the data belong to, else under the chosen one; nothing where neither takes them.
std::optional<WordStrengths> strengths_of(const DataSet& data, const Choice& choice, Index head) {
  auto strengths = strengths_as_it_came(data, head, data.rule);
  return strengths ? strengths : strengths_as_it_came(data, head, choice.variant);
}

HeadAnswers answers_of_head(const DataSet& data, const Choice& choice, Index head, WordChoice words,
                            const std::stop_token& stop) try {
  const Variant& variant = find_variant(choice.variant);
  const Sequence sequence = sequence_of(data, head, variant, choice.settings, choice.edits, choice.precision);
  const auto as_it_came = strengths_of(data, choice, head);
  const WordStrengths strengths = as_it_came ? *as_it_came : word_strengths(variant, sequence);
  const Index tokens = (sequence.tokens + 1) / 2;
  if (tokens == 0) return {};
  const auto recurrence = variant.rule->trace(sequence, Form::recurrent, choice.precision, 1);
  const NamedStates memory = RecurrentMemory(variant, sequence, *recurrence, stop).after(tokens);
  words.with_present = false;  // no token is examined here
  HeadAnswers answers{.table = answer_table(variant, sequence, {memory, memory},
                                            asked_words(data.labels, strengths, tokens - 1, words))};
  answers.legibility = legibility(answers.table.after);
  return answers;
} catch (const Cancelled&) {
  throw;
} catch (const std::exception&) {
  return {.reason = problem_in_words()};
}

TablesOfHeads tables_of_heads(const DataSet& data, const Choice& choice, const WordChoice& words,
                              const Effort& effort) {
  TablesOfHeads tables;
  const Index count = data.batches * data.heads;
  for (Index head = 0; head < count; ++head) {
    stop_if_asked(effort.stop);
    tables.heads.push_back(answers_of_head(data, choice, head, words, effort.stop));
    const auto legibility_of = [&](Index index) { return entry(tables.heads, index).legibility; };
    if (legibility_of(head) > legibility_of(tables.most_legible)) tables.most_legible = head;
    effort.tell(static_cast<double>(head + 1) / static_cast<double>(count));
  }
  return tables;
}

}  // namespace

const WordStrengths& strengths_in(const Foundation& foundation) {
  const std::scoped_lock lock(foundation.strengths->asking);
  std::optional<WordStrengths>& known = foundation.strengths->known;
  const std::shared_ptr<const ReadText>& text = foundation.data->read;
  if (!known && text && text->is_changed())
    known = strengths_of(make_text_data(text_id(text->typed.as_trained())), foundation.choice, 0);
  if (!known) known = strengths_of(*foundation.data, foundation.choice, foundation.choice.head);
  if (!known) known = word_strengths(*foundation.variant, foundation.sequence);
  return *known;
}

std::vector<AskedWord> words_asked(const Foundation& foundation, Index token, const WordChoice& choice) {
  return asked_words(foundation.data->labels, strengths_in(foundation), token, choice);
}

Found<std::vector<AskedWord>> WordsAsked::compute(const Foundation& foundation, const Effort&) const {
  return words_asked(foundation, token, words);
}

Found<AnswersAtPlace> MemoryAnswers::compute(const Foundation& foundation, const Effort& effort) const {
  const Variant& variant = *foundation.variant;
  const Sequence& sequence = foundation.sequence;
  const auto& trace = foundation.trace(form);
  const auto& recurrence = foundation.recurrence;
  if (!trace || !recurrence) throw Unsupported("this rule has no such form with these settings");
  AnswersAtPlace answers{.token = trace->token(cursor)};
  const std::vector<AskedWord> asked = words_asked(foundation, answers.token, words);
  const RecurrentMemory memory(variant, sequence, *recurrence, effort.stop);
  answers.table = answer_table(variant, sequence, memory.at(*trace, cursor), asked);
  answers.legibility = legibility(answers.table.after);
  answers.sentence = answer_sentence(answers.table);
  answers.change = fmt::format("change by {}", changed_by(variant, sequence, *trace, cursor));
  if (const auto together = written_together(variant, sequence, answers.token);
      together && !asked.empty() && answers.table.change.isZero(0))
    answers.sentence =
        fmt::format("This step changes no stored association: tokens {} to {} take one step, after token {}.",
                    together->first + 1, together->last + 1, together->last + 1);
  answers.output = output_answer(variant, sequence,
                                 foundation.reference->expected(effort.stop).o.row(answers.token), asked);
  answers.output_sentence = output_sentence(answers.output);
  return answers;
}

Found<MemoryStory> StoryAtToken::compute(const Foundation& foundation, const Effort& effort) const {
  constexpr double nearly_shown = 0.95;
  const Variant& variant = *foundation.variant;
  const Sequence& sequence = foundation.sequence;
  if (!foundation.recurrence) throw Unsupported("this rule has no recurrence with these settings");
  MemoryStory story{.token = token, .no_memory = variant.memory.none};
  const MemoryChange change =
      RecurrentMemory(variant, sequence, *foundation.recurrence, effort.stop).around(token);
  if (story.no_memory.empty()) {
    story.before = change.before.front().second;
    story.after = change.after.front().second;
    story.change = story.after - story.before;
    story.range = quantile(sizes_of(story.before, story.after), nearly_shown);
    story.version = next_version();
  }
  try {
    story.table = answer_table(variant, sequence, change, words_asked(foundation, token, words));
    story.keys = shared_keys(variant, sequence, story.table.words);
  } catch (const Unsupported& reason) {
    story.no_table = reason.what();
  }
  return story;
}

Found<TablesOfHeads> HeadTables::compute(const Foundation& foundation, const Effort& effort) const {
  return tables_of_heads(*foundation.data, foundation.choice, words, effort);
}

Index opening_head(const DataSet& data, const Choice& choice, std::stop_token stop) {
  if (!data.id.starts_with("capture:")) return 0;
  return tables_of_heads(data, choice, {}, {.stop = std::move(stop), .progress = {}}).most_legible;
}

static auto parts_of(const ReadMoments& read) { return std::tie(read.before, read.after); }

Found<ReadMoments> ReadNow::compute(const Foundation& foundation, const Effort& effort) const {
  return read_moments(*foundation.variant, foundation.sequence, token, effort.stop);
}

bool is_read_before(const Settings& settings) {
  const std::string* const order = value_at(settings.options, read_order_option);
  return order && *order == reads_before;
}

void choose_read(Session& session, bool before) {
  session.choose([&](Choice& choice) {
    choice.settings.options[read_order_option] = before ? reads_before : reads_after;
  });
}

std::string reading_in_words(const Foundation& foundation, const ReadMoments* read) {
  const Sequence& sequence = foundation.sequence;
  const bool before = is_read_before(sequence.settings);
  std::string apart;
  if (const double own = read ? (before ? read->before : read->after).stableNorm() : 0; own > 0)
    apart = fmt::format(": a difference of {:.2g} % of this output",
                        100 * (read->after - read->before).stableNorm() / own);
  if (const std::string reason = no_read_order(*foundation.variant, sequence.settings); !reason.empty()) {
    const bool is_causal = foundation.variant->rule->is_causal(sequence);
    return read && is_causal ? fmt::format("Some papers read before the write{}. {}", apart, reason) : reason;
  }
  if (sequence.tokens > 0 && written_together(*foundation.variant, sequence, 0))
    return before ? fmt::format("Read before the batch is written. Other code reads after it{}.", apart)
                  : fmt::format("Read after the batch is written. Other code reads before it{}.", apart);
  return before ? fmt::format(
                      "Read before the write: the output does not contain this token. Most papers read after "
                      "it{}.",
                      apart)
                : fmt::format(
                      "Read after the write: the output contains this token. Some papers read before it{}.",
                      apart);
}

Found<std::optional<LearningMoment>> LearningNow::compute(const Foundation& foundation,
                                                          const Effort& effort) const {
  constexpr Index points = 161;
  return learning_moment(*foundation.variant, foundation.sequence, token, points, effort.stop);
}

Found<std::optional<HarmAlong>> HarmNow::compute(const Foundation& foundation, const Effort& effort) const {
  const Variant& variant = *foundation.variant;
  const Sequence& sequence = foundation.sequence;
  const std::optional<HarmedPair> pair = most_harmed(variant, sequence, token, effort.stop);
  if (!pair) return std::nullopt;
  constexpr Index points = 81;
  const auto moment = learning_moment(variant, sequence, token, points, effort.stop);
  if (!moment) return std::nullopt;
  return HarmAlong{*pair, moment->rates, losses_along(variant, sequence, moment->step, *pair, moment->rates)};
}

Found<std::optional<ConvergingSolve>> SolveNow::compute(const Foundation& foundation,
                                                        const Effort& effort) const {
  return converging_solve(*foundation.variant, foundation.sequence, token, chunk_size, effort.stop);
}

Found<TokenCourses> CoursesOfTokens::compute(const Foundation& foundation, const Effort& effort) const {
  const Sequence& sequence = foundation.sequence;
  TokenCourses courses;
  courses.no_strengths = why_unsupported([&] {
    courses.strengths = step_reach(*foundation.variant, sequence, effort.stop);
    if (courses.strengths->has_edge) courses.edges = reach_edges(courses.strengths->reach);
  });
  courses.keeping =
      keeping(*foundation.variant, sequence, channel < 0 ? std::nullopt : std::optional(channel));
  courses.never_decays = !courses.keeping && never_decays(*foundation.variant, sequence);
  return courses;
}

Found<Remembered> RememberedWords::compute(const Foundation& foundation, const Effort& effort) const {
  return remembered(*foundation.variant, foundation.sequence, tokens, moments, effort.stop, effort.progress);
}

Found<std::optional<KeptBetween>> KeptSince::compute(const Foundation& foundation, const Effort&) const {
  return kept_between(*foundation.variant, foundation.sequence, first, last);
}

Found<std::optional<LargestGrowth>> GrowthOfRule::compute(const Foundation& foundation,
                                                          const Effort& effort) const {
  const RowRule* const rows = foundation.variant->rule->row_program();
  if (!rows) return std::optional<LargestGrowth>();
  return largest_growth(*rows, foundation.sequence, effort.stop);
}

Found<std::vector<Spectrum>> SpectraOfMemory::compute(const Foundation& foundation,
                                                      const Effort& effort) const {
  return spectra_at(*foundation.variant, foundation.sequence, tokens, effort.stop);
}

Found<KeyPicture> StoredKeys::compute(const Foundation& foundation, const Effort&) const {
  require_memory_to_ask(*foundation.variant);
  StoredPairs pairs = stored_pairs(*foundation.variant, foundation.sequence, first, count);
  const Index per_token = count > 0 ? pairs.keys.rows() / count : 1;
  Matrix<double> keys(count, pairs.keys.cols());  // of several per token the last
  for (Index t = 0; t < count; ++t) keys.row(t) = pairs.keys.row((t + 1) * per_token - 1);
  pairs.keys = keys;
  return KeyPicture{
      .first = first, .cosines = interference(pairs, pairs, true), .directions = key_directions(keys)};
}

Found<std::vector<CapacityPoint>> CapacitySweep::compute(const Effort& effort) const {
  CapacityPlan plan{
      .counts = {}, .dk = channels, .dv = channels, .keys = keys, .draws = 4, .settings = settings};
  const Index most = keys == Keys::orthonormal ? channels : 4 * channels;
  for (Index count = 1; count < most; count = count + std::max<Index>(count / 2, 1))
    plan.counts.push_back(count);
  plan.counts.push_back(most);
  return capacity(find_variant(variant), plan, effort.stop, effort.progress);
}

bool erases_by_strength(const Trace& trace) {
  const auto is_strength = [&](const std::string& name) {
    const auto* const symbol = value_at(trace.symbols, name);
    return symbol && symbol->role == Role::strength;
  };
  bool reads = false;
  std::set<Purpose> by_strength;
  for (const Phase& phase : trace.phases) {
    for (const auto& operation : phase.operations) {
      reads = reads || operation.purpose == Purpose::read;
      if (std::ranges::any_of(operands(operation.equation.expression), is_strength))
        by_strength.insert(operation.purpose);
    }
  }
  return (reads && by_strength.contains(Purpose::update)) || by_strength.contains(Purpose::overlap);
}

Found<std::optional<double>> WriteReach::compute(const Foundation& foundation, const Effort&) const {
  const auto& trace = foundation.trace(form);
  const Sequence& sequence = foundation.sequence;
  if (!trace || !erases_by_strength(*trace) || !sequence.has("beta") || sequence.has("p"))
    return std::nullopt;
  if (sequence.at("beta").columns() != 1) return std::nullopt;
  const std::optional<Stability> known = stability_at(*foundation.variant, sequence, token);
  return known ? std::optional(known->reach) : std::nullopt;
}

}  // namespace palimpsest
