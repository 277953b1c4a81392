#include "app/session/cost_questions.h"

#include <fmt/format.h>
#include <algorithm>

#include "app/session/found.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/contract/output.h"

namespace palimpsest {

namespace {

constexpr Index most_tokens_swept = 4096;

}  // namespace

std::vector<Index> swept_chunks(Index tokens) {
  std::vector<Index> sizes;
  for (Index size = 1; size < tokens; size *= 2) sizes.push_back(size);
  sizes.push_back(std::max<Index>(tokens, 1));
  return sizes;
}

std::vector<ChunkCost> chunk_costs(const Foundation& foundation, Form form, const std::vector<Index>& sizes) {
  std::vector<ChunkCost> counted;
  for (const Index size : sizes) {
    const std::vector<CostRow> rows = costs(*foundation.variant, foundation.sequence, size);
    const auto row = std::ranges::find(rows, form, &CostRow::form);
    if (row == rows.end() || !row->missing.empty()) return {};
    counted.push_back({size, row->flops, row->bytes, row->steps});
  }
  return counted;
}

Found<ChunkErrors::Value> ChunkErrors::compute(const Foundation& foundation, const Effort& effort) const {
  const Variant& variant = *foundation.variant;
  const Index tokens = foundation.sequence.tokens;
  if (tokens > most_tokens_swept)
    throw Unsupported(fmt::format("measured for up to {} words; here are {}", most_tokens_swept, tokens));
  const Inputs& inputs = foundation.inputs;
  HeldInputs held = held_inputs(variant, inputs.arrays, inputs.settings, Precision::f32);
  const Sequence sequence = held.sequence;
  if (const auto reason = variant.rule->missing(Form::chunkwise, sequence.settings))
    throw Unsupported(*reason);
  const ReferenceRun reference(variant, std::move(held), Precision::f32, effort.stop);
  const std::vector<Index> sizes = swept_chunks(tokens);
  Value errors;
  for (const Index size : sizes) {
    const Output output =
        foundation.device->run(variant, sequence, Form::chunkwise, Precision::f32, size, effort.stop);
    errors.push_back(compare(output, reference.expected()).error);
    effort.tell(static_cast<double>(errors.size()) / static_cast<double>(sizes.size()));
  }
  return errors;
}

Found<ChunkCosts::Value> ChunkCosts::compute(const Foundation& foundation, const Effort& effort) const {
  stop_if_asked(effort.stop);
  return chunk_costs(foundation, form, swept_chunks(foundation.sequence.tokens));
}

Found<FormCosts::Value> FormCosts::compute(const Foundation& foundation, const Effort& effort) const {
  stop_if_asked(effort.stop);
  return costs(*foundation.variant, foundation.sequence, chunk_size);
}

}  // namespace palimpsest
