#include "app/session/first_place.h"

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

}  // namespace palimpsest
