#include "app/session/chunk_sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/contract/output.h"

namespace palimpsest {

namespace {

constexpr Index most_tokens_swept = 4096;

/// What stands for each other: the same rule on the same data.
std::string question_about(const Foundation* foundation) {
  return foundation ? text_of(*foundation->data) + " " + foundation->variant->id : std::string();
}

/// By what is asked about, then by the rest of the question.
template <class Question, class Rest>
bool is_before(const Question& x, const Question& y, Rest Question::*rest) {
  if (x.of.owner_before(y.of)) return true;
  if (y.of.owner_before(x.of)) return false;
  return x.*rest < y.*rest;
}

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

std::shared_ptr<const ChunkErrors::Value> ChunkErrors::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = of.lock();
  if (!foundation) throw Cancelled();
  const Variant& variant = *foundation->variant;
  const Index tokens = foundation->sequence.tokens;
  if (tokens > most_tokens_swept)
    throw Unsupported(fmt::format("measured for up to {} words; here are {}", most_tokens_swept, tokens));
  const Inputs& inputs = foundation->inputs;
  HeldInputs held = held_inputs(variant, inputs.arrays, inputs.settings, Precision::f32);
  const Sequence sequence = held.sequence;
  if (const auto reason = variant.rule->missing(Form::chunkwise, sequence.settings))
    throw Unsupported(*reason);
  const ReferenceRun reference(variant, std::move(held), Precision::f32, effort.stop);
  const std::vector<Index> sizes = swept_chunks(tokens);
  auto errors = std::make_shared<Value>();
  for (const Index size : sizes) {
    const Output output =
        foundation->device->run(variant, sequence, Form::chunkwise, Precision::f32, size, effort.stop);
    errors->push_back(compare(output, reference.expected()).error);
    effort.progress(static_cast<double>(errors->size()) / static_cast<double>(sizes.size()));
  }
  return errors;
}

std::shared_ptr<const ChunkCosts::Value> ChunkCosts::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = of.lock();
  if (!foundation || effort.stop.stop_requested()) throw Cancelled();
  return std::make_shared<const Value>(
      chunk_costs(*foundation, form, swept_chunks(foundation->sequence.tokens)));
}

bool ChunkCosts::operator<(const ChunkCosts& other) const {
  return is_before(*this, other, &ChunkCosts::form);
}

std::string ChunkCosts::question() const { return question_about(of.lock().get()); }

std::shared_ptr<const FormCosts::Value> FormCosts::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = of.lock();
  if (!foundation || effort.stop.stop_requested()) throw Cancelled();
  return std::make_shared<const Value>(costs(*foundation->variant, foundation->sequence, chunk_size));
}

bool FormCosts::operator<(const FormCosts& other) const {
  return is_before(*this, other, &FormCosts::chunk_size);
}

std::string FormCosts::question() const { return question_about(of.lock().get()); }

std::string ChunkErrors::question() const { return question_about(of.lock().get()); }

}  // namespace palimpsest
