#include "core/insight/memory_change.h"

#include <ranges>

#include "core/base/refuse.h"
#include "core/insight/learning.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

void require_within(const char* what, Index number, Index count) {
  if (number >= 0 && number < count) return;
  refuse("{} {}; expected 0 to {}", what, number, count - 1);
}

/// The last block of `phase` among the first `count`; -1 if there is none. Its blocks come by their tokens.
Index last_of_phase(const Trace& trace, Index phase, Index count) {
  const auto tokens = std::views::iota(Index{0}, trace.tokens);
  const auto is_early = [&](Index token) { return trace.block_of(token, phase) < count; };
  const auto early = static_cast<Index>(std::ranges::partition_point(tokens, is_early) - tokens.begin());
  return early == 0 ? -1 : trace.block_of(early - 1, phase);
}

/// The last of the first `count` blocks that makes `tensor`; -1 if none does.
Index last_that_makes(const Trace& trace, const std::string& tensor, Index count) {
  if (count > 0 && maker_of(trace.phase(trace.block(count - 1)), tensor)) return count - 1;
  Index found = -1;
  for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
    if (maker_of(trace.phases[phase], tensor))
      found = std::max(found, last_of_phase(trace, static_cast<Index>(phase), count));
  }
  return found;
}

/// The part of a token's change that a step of this purpose shows.
TokenPart shown_part(Purpose purpose) {
  static constexpr Purpose writing[] = {Purpose::read, Purpose::error, Purpose::update, Purpose::momentum,
                                        Purpose::write};
  if (purpose == Purpose::decay) return TokenPart::decay;
  return is_among(purpose, writing) ? TokenPart::write : TokenPart::all;
}

/// Whether an operation carries the memory on over all tokens of its block.
bool carries_on(const Variant& variant, const Sequence& sequence, const Trace& trace,
                const Operation& operation) {
  return operation.equation.result == trace.after(states_of(variant, sequence.settings).front());
}

/// What makes the state decay: the logarithm of the decay of every token.
struct Gate {
  std::string array = {};  // as in Keeping
  bool forgets = false;
  bool is_of_values = false;
  Matrix<double> logs = {};  // [T, channels]
};

/// The decays that the rows of a program make, where no array that has them is declared; those of a token's
/// rows multiply. Nothing where its parts mix.
std::optional<Gate> gate_of_rows(const RowRule& rows, const Sequence& sequence) {
  const Structure structure = rows.structure(sequence);
  if (!structure.parts.empty() || (structure.decay == Decay::none && !structure.value_decay))
    return std::nullopt;
  Gate gate{.is_of_values = structure.decay == Decay::none};
  constexpr Index at_once = 1024;  // a program is a copy of the inputs
  for (Index first = 0; first < sequence.tokens; first += at_once) {
    const Index count = std::min(at_once, sequence.tokens - first);
    const auto program = rows.encode<double>(sequence, first, count);
    const Matrix<double> decays = gate.is_of_values ? program.mu : program.alpha();
    if (first == 0) gate.logs = Matrix<double>::Zero(sequence.tokens, decays.cols());
    for (Index r = 0; r < decays.rows(); ++r)
      gate.logs.row(first + r / structure.rows_per_read) += decays.row(r).array().log().matrix();
  }
  return gate;
}

std::optional<Gate> gate_of(const Variant& variant, const Sequence& sequence) {
  if (sequence.tokens == 0) return std::nullopt;
  for (const Input& input : variant.inputs) {
    if (!input.keeps || !has_tokens(input) || !sequence.has(input.name)) continue;
    Gate gate{.array = input.name,
              .forgets = *input.keeps == 0,
              .is_of_values = input.shape.back() == "dv",
              .logs = sequence.at(input.name).all<double>()};
    const bool are_logs = gate.array == "alpha" && sequence.gates_are_logs;
    if (gate.forgets) gate.logs = (1 - gate.logs.array()).matrix();
    if (!are_logs) gate.logs = gate.logs.array().log().matrix();
    return gate;
  }
  const RowRule* const rows = variant.rule->row_program();
  return rows ? gate_of_rows(*rows, sequence) : std::nullopt;
}

}  // namespace

NamedStates RecurrentMemory::after(Index tokens) const {
  require_within("the memory after so many tokens:", tokens, sequence_.tokens + 1);
  stop_if_asked(stop_);
  if (auto cache = variant_.rule->cache_after(sequence_, tokens)) return *std::move(cache);
  return after_blocks(tokens < recurrence_.tokens ? recurrence_.block_of(tokens, 0)
                                                  : recurrence_.block_count());
}

MemoryChange RecurrentMemory::around(Index token, TokenPart part) const {
  require_within("token", token, sequence_.tokens);
  return part_of({after(token), after(token + 1)}, part, recurrence_.block_of(token, 0));
}

MemoryChange RecurrentMemory::around_block(Index block, TokenPart part) const {
  require_within("block", block, recurrence_.block_count());
  stop_if_asked(stop_);
  if (variant_.rule->cache_after(sequence_, 0)) return around(recurrence_.block(block).first_token, part);
  return part_of({after_blocks(block), after_blocks(block + 1)}, part, block);
}

MemoryChange RecurrentMemory::at(const Trace& trace, const Cursor& cursor) const {
  require_within("block", cursor.block, trace.block_count());
  const Operation& operation = trace.operation(cursor);
  if (trace.form == Form::recurrent) return around_block(cursor.block, shown_part(operation.purpose));
  const Block block = trace.block(cursor.block);
  if (!carries_on(variant_, sequence_, trace, operation)) return around(trace.token(cursor));
  return {after(block.first_token), after(block.first_token + block.count)};
}

NamedStates RecurrentMemory::after_blocks(Index count) const {
  const std::string first_state = recurrence_.after(states_of(variant_, sequence_.settings).front());
  const Index block = last_that_makes(recurrence_, first_state, count);
  if (block < 0) return states_at(variant_, sequence_, 0, stop_);
  return recurrence_.states(*recurrence_.shared_record(block, stop_));
}

NamedStates RecurrentMemory::faded(NamedStates found, Index block) const {
  const auto record = recurrence_.shared_record(block, stop_);
  for (auto& [name, value] : found) {
    for (const char* when : {"_decayed", "_moved"}) {
      if (record->contains(name + when)) value = record->at(name + when);
    }
  }
  return found;
}

MemoryChange RecurrentMemory::part_of(MemoryChange change, TokenPart part, Index block) const {
  if (part == TokenPart::decay) change.after = faded(change.before, block);
  if (part == TokenPart::write) change.before = faded(std::move(change.before), block);
  return change;
}

std::string_view changed_by(const Variant& variant, const Sequence& sequence, const Trace& trace,
                            const Cursor& cursor) {
  require_within("block", cursor.block, trace.block_count());
  const Operation& operation = trace.operation(cursor);
  const std::string_view group = trace.groups.kind == Groups::Kind::batches ? "this batch" : "this chunk";
  if (trace.form != Form::recurrent)
    return carries_on(variant, sequence, trace, operation) ? group : std::string_view("this token");
  if (trace.block(cursor.block).count > 1) return group;
  const TokenPart part = shown_part(operation.purpose);
  if (part == TokenPart::decay) return "the decay";
  return part == TokenPart::write ? "the write" : "this token";
}

Index tokens_per_step(const Variant& variant, const Sequence& sequence) {
  const Index batch = inner_batch(sequence.settings);
  if (batch < 2 || sequence.tokens < 2 || !variant.loss.problems) return 1;
  const NamedStates start = states_at(variant, sequence, 0);
  const std::vector<InnerProblem> problems =
      variant.loss.problems({*variant.rule, sequence, 0, start, start});
  // A step on a loss of several tokens must wait for the last of them.
  return !problems.empty() && problems.front().token_count > 1 ? batch : 1;
}

Index tokens_written(const Sequence& sequence, Index tokens_per_step, Index tokens) {
  return tokens >= sequence.tokens ? tokens : tokens / tokens_per_step * tokens_per_step;
}

std::optional<WrittenTogether> written_together(const Variant& variant, const Sequence& sequence,
                                                Index token) {
  require_token(token, sequence.tokens);
  const Index size = tokens_per_step(variant, sequence);
  const Index first = token / size * size;
  const Index last = std::min(first + size, sequence.tokens) - 1;
  if (first == last) return std::nullopt;
  return WrittenTogether{first, last};
}

double ReadMoments::difference() const {
  const double apart = (after - before).stableNorm();
  return apart > 0 ? apart / after.stableNorm() : 0;
}

ReadMoments read_moments(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop) {
  require_token(token, sequence.tokens);
  require_memory_to_ask(variant);
  const Matrix<double> query = Rows<double>{.sequence = sequence, .first = token, .count = 1}.scaled_q();
  const auto read = [&](Index tokens) {
    const NamedStates states = states_at(variant, sequence, tokens, stop);
    return Vector<double>(memory_answers(variant, sequence, states, query).transpose());
  };
  const auto [first, last] =
      written_together(variant, sequence, token).value_or(WrittenTogether{token, token});
  return {.token = token, .before = read(first), .after = read(last + 1)};
}

std::optional<Keeping> keeping(const Variant& variant, const Sequence& sequence,
                               std::optional<Index> channel) {
  std::optional<Gate> gate = gate_of(variant, sequence);
  if (!gate) return std::nullopt;
  const Index channels = gate->logs.cols();
  if (channel && (channels > 1 || !gate->array.empty())) {  // one setting is the same everywhere
    if (*channel < 0 || *channel >= channels)
      refuse("channel {} of {}; expected one of {}", *channel,
             gate->array.empty() ? "the decay" : gate->array, channels);
    gate->logs = gate->logs.col(*channel).eval();
  }
  const std::string made_by_rows = gate->is_of_values ? "mu" : "alpha";
  return Keeping{.array = gate->array,
                 .symbol = gate->forgets ? "f"
                                         : input_symbol(variant, sequence.settings,
                                                        gate->array.empty() ? made_by_rows : gate->array),
                 .forgets = gate->forgets,
                 .is_of_values = gate->is_of_values,
                 .channels = channels,
                 .mean = gate->logs.rowwise().mean().array().exp(),
                 .least = gate->logs.rowwise().minCoeff().array().exp(),
                 .most = gate->logs.rowwise().maxCoeff().array().exp()};
}

bool never_decays(const Variant& variant, const Sequence& sequence) {
  if (const RowRule* const rows = variant.rule->row_program()) return rows->structure(sequence).parts.empty();
  return !variant.carried_out &&
         std::ranges::none_of(variant.inputs, [](const Input& input) { return input.keeps.has_value(); });
}

std::optional<KeptBetween> kept_between(const Variant& variant, const Sequence& sequence, Index first,
                                        Index last) {
  if (first < 0 || last < first || last >= sequence.tokens)
    refuse("tokens {} to {}; expected two of the {}, in their order", first, last, sequence.tokens);
  const std::optional<Gate> gate = gate_of(variant, sequence);
  if (!gate) return std::nullopt;
  const Vector<double> logs = gate->logs.middleRows(first + 1, last - first).colwise().sum().transpose();
  return KeptBetween{.channels = gate->logs.cols(),
                     .least = std::exp(logs.minCoeff()),
                     .mean = std::exp(logs.mean()),
                     .most = std::exp(logs.maxCoeff())};
}

}  // namespace palimpsest
