#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/session/answers.h"
#include "app/session/computation.h"
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

/// The costs of all swept sizes in a form with chunks: an answer.
struct ChunkCosts {
  using Value = std::vector<ChunkCost>;

  std::weak_ptr<const Foundation> of;
  Form form = Form::chunkwise;

  bool operator<(const ChunkCosts& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  std::string question() const;
  static std::size_t bytes(const Value& costs) { return costs.size() * sizeof(ChunkCost); }
  bool gone() const { return of.expired(); }
};

/// What every form takes of these data, counted, with the chunk size that is chosen: an answer.
struct FormCosts {
  using Value = std::vector<CostRow>;  // one for each of all_forms

  std::weak_ptr<const Foundation> of;
  Index chunk_size = 1;

  bool operator<(const FormCosts& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  std::string question() const;
  static std::size_t bytes(const Value& costs) { return costs.size() * sizeof(CostRow); }
  bool gone() const { return of.expired(); }
};

/// How far the chunkwise form in float32 is from the f64 recurrence, for every chunk size of swept_chunks:
/// an answer, measured. The reason where there is none: a missing form, or too many tokens.
struct ChunkErrors {
  using Value = std::vector<double>;

  std::weak_ptr<const Foundation> of;

  bool operator<(const ChunkErrors& other) const { return of.owner_before(other.of); }
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  std::string question() const;
  static std::size_t bytes(const Value& errors) { return errors.size() * sizeof(double); }
  bool gone() const { return of.expired(); }
};

}  // namespace palimpsest
