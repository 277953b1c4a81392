#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "app/session/questions.h"
#include "core/insight/cost.h"

namespace palimpsest {

/// The chunk sizes that are compared: 1, 2, 4, … and all of `tokens`.
std::vector<Index> swept_chunks(Index tokens);

/// What a form with chunks takes with one chunk size, counted.
struct ChunkCost {
  Index chunk_size = 1;
  double flops = 0;  // for a token
  double bytes = 0;  // read and written for a token, in float32
  Index steps = 0;   // one after the other: steps_in_a_row
};

/// For each of `sizes`; empty where the rule does not say what it takes.
std::vector<ChunkCost> chunk_costs(const Foundation& foundation, Form form, const std::vector<Index>& sizes);

/// The costs of all swept sizes in a form with chunks: a question.
struct ChunkCosts {
  using Value = std::vector<ChunkCost>;

  Weak<Foundation> of = {};
  Form form = Form::chunkwise;

  auto operator<=>(const ChunkCosts&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

/// What every form takes of these data, counted, with the chunk size that is chosen: a question.
struct FormCosts {
  using Value = std::vector<CostRow>;  // one for each of all_forms

  Weak<Foundation> of = {};
  Index chunk_size = 1;

  auto operator<=>(const FormCosts&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

/// How far the chunkwise form in float32 is from the f64 recurrence, for every chunk size of swept_chunks:
/// a question, measured. The reason where there is none: a missing form, or too many tokens.
struct ChunkErrors {
  using Value = std::vector<double>;

  Weak<Foundation> of = {};

  auto operator<=>(const ChunkErrors&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

}  // namespace palimpsest
