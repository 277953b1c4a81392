#include "core/insight/memory_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/rules/rule.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

void require_within(const char* what, Index number, Index count) {
  if (number >= 0 && number < count) return;
  throw InputError(fmt::format("{} {}; expected 0 to {}", what, number, count - 1));
}

bool makes(const Phase& phase, const std::string& tensor) {
  return std::ranges::any_of(phase.operations,
                             [&](const Operation& operation) { return operation.equation.result == tensor; });
}

/// The last block of `phase` among the first `count`; -1 if there is none. Its blocks come by their tokens.
Index last_of_phase(const Trace& trace, Index phase, Index count) {
  Index found = -1;
  Index low = 0;
  Index high = trace.tokens;  // tokens whose block is among them, then those whose block is not
  while (low < high) {
    const Index token = (low + high) / 2;
    const Index block = trace.block_of(token, phase);
    if (block < count) {
      found = block;
      low = token + 1;
    } else {
      high = token;
    }
  }
  return found;
}

/// The last of the first `count` blocks that makes `tensor`; -1 if none does.
Index last_that_makes(const Trace& trace, const std::string& tensor, Index count) {
  if (count > 0 && makes(trace.phase(trace.block(count - 1)), tensor)) return count - 1;
  Index found = -1;
  for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
    if (makes(trace.phases[phase], tensor))
      found = std::max(found, last_of_phase(trace, static_cast<Index>(phase), count));
  }
  return found;
}

/// What a step of the recurrence for this purpose is a part of.
TokenPart part_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::decay:
      return TokenPart::decay;
    case Purpose::read:
    case Purpose::error:
    case Purpose::update:
    case Purpose::momentum:
    case Purpose::write:
      return TokenPart::write;
    default:
      return TokenPart::all;
  }
}

/// Whether an operation carries the memory on over all tokens of its block.
bool carries_on(const Variant& variant, const Sequence& sequence, const Trace& trace,
                const Operation& operation) {
  return operation.equation.result == trace.after(states_of(variant, sequence.settings).front());
}

/// The blocks of the first `tokens` tokens.
Index blocks_of(const Trace& trace, Index tokens) {
  return tokens < trace.tokens ? trace.block_of(tokens, 0) : trace.block_count();
}

/// One sequence's memory, block by block of its recurrence.
class Memory {
 public:
  Memory(const Variant& variant, const Sequence& sequence, const Trace& recurrence, std::stop_token stop)
      : variant_(variant), sequence_(sequence), recurrence_(recurrence), stop_(std::move(stop)) {
    stop_if_asked(stop_);
  }

  NamedStates after_tokens(Index tokens) const {
    if (auto cache = variant_.rule->cache_after(sequence_, tokens)) return *std::move(cache);
    return after_blocks(blocks_of(recurrence_, tokens));
  }

  NamedStates after_blocks(Index count) const {
    const std::string first_state = recurrence_.after(states_of(variant_, sequence_.settings).front());
    const Index block = last_that_makes(recurrence_, first_state, count);
    if (block < 0) return states_at(variant_, sequence_, 0, stop_);
    return recurrence_.states(*recurrence_.shared_record(block, stop_));
  }

  /// `found` once it has faded in a block of the recurrence.
  NamedStates faded(NamedStates found, Index block) const {
    const auto record = recurrence_.shared_record(block, stop_);
    for (auto& [name, value] : found) {
      for (const char* when : {"_decayed", "_moved"}) {
        if (record->contains(name + when)) value = record->at(name + when);
      }
    }
    return found;
  }

  /// `change` over blocks that begin with `block`, or a part of it.
  MemoryChange part_of(MemoryChange change, TokenPart part, Index block) const {
    if (part == TokenPart::decay) change.after = faded(change.before, block);
    if (part == TokenPart::write) change.before = faded(std::move(change.before), block);
    return change;
  }

 private:
  const Variant& variant_;
  const Sequence& sequence_;
  const Trace& recurrence_;
  std::stop_token stop_;
};

}  // namespace

NamedStates memory_after(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                         Index tokens, std::stop_token stop) {
  require_within("the memory after so many tokens:", tokens, sequence.tokens + 1);
  return Memory(variant, sequence, recurrence, std::move(stop)).after_tokens(tokens);
}

MemoryChange memory_around(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                           Index token, TokenPart part, std::stop_token stop) {
  require_within("token", token, sequence.tokens);
  const Memory memory(variant, sequence, recurrence, std::move(stop));
  return memory.part_of({memory.after_tokens(token), memory.after_tokens(token + 1)}, part,
                        recurrence.block_of(token, 0));
}

MemoryChange memory_around_block(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                                 Index block, TokenPart part, std::stop_token stop) {
  require_within("block", block, recurrence.block_count());
  if (variant.rule->cache_after(sequence, 0))
    return memory_around(variant, sequence, recurrence, recurrence.block(block).first_token, part,
                         std::move(stop));
  const Memory memory(variant, sequence, recurrence, std::move(stop));
  return memory.part_of({memory.after_blocks(block), memory.after_blocks(block + 1)}, part, block);
}

MemoryChange memory_at(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                       const Trace& trace, const Cursor& cursor, std::stop_token stop) {
  require_within("block", cursor.block, trace.block_count());
  const Operation& operation = trace.operation(cursor);
  if (trace.form == Form::recurrent)
    return memory_around_block(variant, sequence, recurrence, cursor.block, part_of(operation.purpose),
                               std::move(stop));
  const Block block = trace.block(cursor.block);
  if (!carries_on(variant, sequence, trace, operation))
    return memory_around(variant, sequence, recurrence, trace.token(cursor), TokenPart::all, std::move(stop));
  const Memory memory(variant, sequence, recurrence, std::move(stop));
  return {memory.after_tokens(block.first_token), memory.after_tokens(block.first_token + block.count)};
}

std::string_view changed_by(const Variant& variant, const Sequence& sequence, const Trace& trace,
                            const Cursor& cursor) {
  require_within("block", cursor.block, trace.block_count());
  const Operation& operation = trace.operation(cursor);
  const std::string_view group = trace.groups.kind == Groups::Kind::batches ? "this batch" : "this chunk";
  if (trace.form != Form::recurrent)
    return carries_on(variant, sequence, trace, operation) ? group : std::string_view("this token");
  if (trace.block(cursor.block).count > 1) return group;
  switch (part_of(operation.purpose)) {
    case TokenPart::decay:
      return "the decay";
    case TokenPart::write:
      return "the write";
    case TokenPart::all:
      break;
  }
  return "this token";
}

}  // namespace palimpsest
