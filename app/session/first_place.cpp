#include "app/session/first_place.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "app/session/paths.h"
#include "app/session/typed_text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

constexpr double most_walked = 1 << 23;  // entries of all memories that are computed: about 50 ms
constexpr double much = 0.5;             // least norm of what the memory returns, relative to the value
constexpr double strong_write = 0.5;     // of the strongest
constexpr double seen_write = 0.2;       // likewise: enough to be seen

std::vector<FirstLook> read_first_looks() {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  std::vector<FirstLook> looks;
  for (const auto& text : nlohmann::json::parse(read_text_file(asset("captures/stories.json"), most_bytes))) {
    FirstLook& look = looks.emplace_back(FirstLook{text.at("captures"), text.at("story"), text.at("watch")});
    for (const auto& word : text.value("words", nlohmann::json::array())) {
      look.words.push_back(
          {word.at("token"), word.at("label"), word.at("what"), word.value("stored", std::vector<Index>())});
    }
  }
  return looks;
}

/// The most instructive token of a guide; null if it names none.
const WordToSee* best_word(const FirstLook* look) {
  if (!look || look->words.empty()) return nullptr;
  for (const char* const what : {"overwrites", "stored"}) {
    const auto last = std::ranges::find(look->words.rbegin(), look->words.rend(), what, &WordToSee::what);
    if (last != look->words.rend()) return &*last;
  }
  return &look->words.front();
}

/// What the memory returns for a key, relative to the norm of the value to be stored under it.
struct Returned {
  double size = 0;
  double cosine = 0;  // with the value
};

Returned returned_for(const Computation& computation, const NamedStates& memory, Index token) {
  const Variant& variant = *computation.variant;
  const StoredPairs pair = last_pairs(variant, computation.sequence, std::span(&token, 1));
  RowVector<double> answer = memory_answers(variant, computation.sequence, memory, pair.keys).row(0);
  const RowVector<double> value = pair.values.row(0);
  if (const double squares = pair.keys.squaredNorm(); answers_linearly(variant) && squares > 0)
    answer /= squares;
  const double sizes = answer.stableNorm() * value.stableNorm();
  if (!(sizes > 0) || !std::isfinite(sizes)) return {};
  return {answer.stableNorm() / value.stableNorm(), answer.dot(value) / sizes};
}

/// The norm of the strongest write.
double strongest_write(const Computation& computation) {
  double strongest = 0;
  for (const TokenFacts& facts : computation.tokens)
    strongest = std::max(strongest, facts.written.value_or(0));
  return strongest;
}

/// Whether the write of a token is large enough to be seen beside the strongest; true if it is unknown.
bool is_seen(const Computation& computation, Index token) {
  if (token >= std::ssize(computation.tokens)) return true;
  const std::optional<double>& written = entry(computation.tokens, token).written;
  return !written || *written >= seen_write * strongest_write(computation);
}

/// The first strong write at which the memory already returns another value, or else the one whose value
/// differs most from what it returns; nothing if it returns less than `noticed` at all of them.
std::optional<Index> telling_write(const Computation& computation, const std::stop_token& stop) {
  const std::vector<std::string>& labels = computation.data->labels;
  const double strong = strong_write * strongest_write(computation);
  std::set<std::string_view> labels_before;
  std::optional<Index> found;
  double most = 0;
  double walked = 0;
  const auto visit = [&](Index token, const NamedStates& memory) {
    for (const auto& [name, state] : memory) walked += static_cast<double>(state.size());
    if (token >= std::ssize(computation.tokens) || walked > most_walked) return false;
    // The table of returned values has each label once: it shows little of a write of the same label again.
    const bool repeats = token < std::ssize(labels) && !labels_before.insert(entry(labels, token)).second;
    const double written = entry(computation.tokens, token).written.value_or(0);
    if (token == 0 || !(written > 0) || written < strong) return true;
    const Returned returned = returned_for(computation, memory, token);
    const double differs = written * (1 - returned.cosine) * (repeats ? 0.5 : 1);
    if (returned.size > noticed && differs > most) {
      most = differs;
      found = token;
    }
    const bool overwrites = !repeats && returned.size >= much && returned.cosine < much;
    if (overwrites) found = token;
    return !overwrites;
  };
  why_unsupported([&] { computation.variant->rule->walk_states(computation.sequence, visit, stop); });
  return found;
}

constexpr double most_tokens_share = 0.95;  // of the bars of the floor are shown in full
constexpr double strong_share = 0.5;        // of the strongest write: as for the words that are asked

/// What the facts of a token must exceed to be an event.
struct Limits {
  double written = 0;
  double faded = 0;
  double error = 0;  // |S^T k - v| before the write
};

Limits limits_of(const Computation& computed) {
  Limits limits;
  std::vector<double> faded;
  std::vector<double> errors;
  std::vector<double> written;
  for (const TokenFacts& facts : computed.tokens) {
    if (facts.written && std::isfinite(*facts.written)) written.push_back(*facts.written);
    if (facts.kept) faded.push_back(1 - *facts.kept);
  }
  for (const Recall& recall : computed.recalls->tokens) errors.push_back(error_norm(recall.before));
  if (!written.empty()) {
    const double strongest = std::ranges::max(written);
    limits.written = std::max(strong_share * strongest, quantile(std::move(written), most_tokens_share));
  }
  limits.faded = quantile(std::move(faded), most_tokens_share);
  limits.error = quantile(std::move(errors), most_tokens_share);
  return limits;
}

/// What happens at a token, one piece of a sentence each.
std::vector<const char*> events_at(const Computation& computed, const Limits& limits, Index token) {
  std::vector<const char*> events;
  const bool by_beta = computed.written_by == "beta";
  const TokenFacts& facts = entry(computed.tokens, token);
  const Recall* recall = computed.recall(token);
  if (facts.written && *facts.written > 0 && *facts.written >= limits.written)
    events.push_back(by_beta ? "erases and writes strongly" : "writes strongly");
  if (by_beta && facts.written && *facts.written > 1 + 1e-9) events.push_back("overshoots its value");
  if (facts.kept && 1 - *facts.kept > limits.faded) events.push_back("decays more than most tokens");
  if (recall && !(error_norm(recall->before) <= limits.error))
    events.push_back("has a larger error before its write than most tokens");
  if (computed.divergence && computed.divergence->cause_token == token)
    events.push_back("makes the memory diverge");
  if (computed.divergence && computed.divergence->token == token)
    events.push_back("is where the memory diverges");
  const auto parts = [&](const auto& form) { return form->first_bad_token == token; };
  if (std::ranges::any_of(computed.forms, parts)) events.push_back("is the first at which a form differs");
  return events;
}

}  // namespace

const FirstLook* first_look(std::string_view id) {
  static const std::vector<FirstLook> looks = read_first_looks();
  if (!id.starts_with("capture:")) return nullptr;
  const auto found = std::ranges::find_if(
      looks, [&](const FirstLook& look) { return id.find(look.captures) != std::string_view::npos; });
  return found == looks.end() ? nullptr : &*found;
}

Cursor after_write(const Trace& trace, Index token) {
  for (const Purpose purpose : {Purpose::write, Purpose::output}) {
    if (purpose == Purpose::output && trace.form != Form::recurrent) break;
    for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
      const std::vector<Operation>& operations = trace.phases[phase].operations;
      const auto done = std::ranges::find(operations, purpose, &Operation::purpose);
      if (done == operations.end()) continue;
      const Index block = trace.block_of(token, static_cast<Index>(phase));
      return {block, done - operations.begin(), token - trace.block(block).first_token};
    }
  }
  return trace.at_token({}, token);
}

Place first_place(const Computation& computation, const std::stop_token& stop) {
  const DataSet& data = *computation.data;
  Place place = {.token = data.tokens - 1};
  if (data.tokens == 0) return {};
  if (data.read) {
    const std::vector<Index> facts = facts_of(data.read->typed);
    if (!facts.empty()) place.token = facts.back();
  } else if (const WordToSee* const word = best_word(first_look(data.id));
             word && is_seen(computation, word->token)) {
    place.token = std::min(word->token, place.token);
  } else {
    place.token = telling_write(computation, stop).value_or(place.token);
  }
  const Trace* const trace = computation.form(computation.choice.form).trace;
  if (!trace || trace->block_count() == 0) return place;
  const Cursor cursor = after_write(*trace, place.token);
  const Block block = trace->block(cursor.block);
  place.phase = block.phase;
  place.operation = trace->operation(cursor).id;
  return place;
}

const char* events_in_words() {
  return "A strong write: among the strongest 5 % and at least half the strongest. Also an overshoot, a "
         "decay or an error among the largest 5 %, a diverging memory, a form that differs";
}

std::optional<EventMark> next_mark(const Computation& computed, Index token, int direction) {
  const Limits limits = limits_of(computed);
  const auto count = static_cast<Index>(computed.tokens.size());
  for (Index t = token + direction; t >= 0 && t < count; t += direction) {
    const std::vector<const char*> events = events_at(computed, limits, t);
    if (!events.empty()) return EventMark{t, fmt::format("{}", fmt::join(events, ", "))};
  }
  return std::nullopt;
}

}  // namespace palimpsest
