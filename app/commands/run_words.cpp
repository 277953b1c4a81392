#include "app/commands/run_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/counted.h"
#include "core/contract/output.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

namespace {

/// The scale of every head, if it is one.
std::string scale_of(const SequenceBatch& batch) {
  const double scale = batch.heads.front().parameter("scale");
  const bool is_one = std::ranges::all_of(
      batch.heads, [&](const Sequence& head) { return head.parameter("scale") == scale; });
  return is_one ? fmt::format("scale {:.6g}", scale) : "a scale for every head";
}

/// The numbers of an array in one column, times a factor.
Matrix<double> column_of(const Array& array, double factor = 1) {
  Matrix<double> column(array.size(), 1);
  for (Index i = 0; i < array.size(); ++i) column(i, 0) = factor * array[i];
  return column;
}

/// The factor with the least squared difference.
double best_factor(const Array& x, const Array& y) {
  double products = 0;
  double squares = 0;
  for (Index i = 0; i < y.size(); ++i) {
    products += x[i] * y[i];
    squares += x[i] * x[i];
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace

std::string describe_progress(const SequenceBatch& batch, const std::string& device, Index done) {
  const auto count = static_cast<Index>(batch.heads.size());
  const std::string tokens =
      batch.heads.empty() ? "" : counted(batch.heads.front().tokens, "token", "tokens");
  const std::string heads = counted(count, "head", "heads");
  if (done == 0) return fmt::format("{} of {} on {}", heads, tokens, device);
  return fmt::format("{} of {} of {} done on {}", done, heads, tokens, device);
}

std::string describe_batch(const SequenceBatch& batch) {
  const Sequence& head = batch.heads.front();
  std::string words = batch.batch_count == 1 ? "" : counted(batch.batch_count, "batch", "batches") + " of ";
  words += fmt::format("{} of {}, K {}, V {}, ", counted(batch.head_count, "head", "heads"),
                       counted(head.tokens, "token", "tokens"), head.dk, head.dv);
  words += scale_of(batch);
  return words;
}

std::string describe_states(const SequenceBatch& batch) {
  const Sequence& head = batch.heads.front();
  const Index batch_size = inner_batch(head.settings);
  if (head.tokens % batch_size == 0) return {};
  return fmt::format("; no run can go on from its states: they lie within an inner batch of {}", batch_size);
}

std::string compare_with_given(const Array& o, const Array& given) {
  if (o.shape != given.shape) {
    return fmt::format("the input's own o has the shape {}, not {}, and was not compared",
                       to_string(given.shape), to_string(o.shape));
  }
  const Matrix<double> expected = column_of(given);
  if (!expected.allFinite()) return "the input's own o is not finite, and was not compared";
  const double error = compare("o", column_of(o), expected).error;
  std::string words = fmt::format("{:.1e} from the input's own o, as a share of its largest number", error);
  constexpr double far = 1e-2;   // no rounding, not even of bf16
  constexpr double near = 1e-2;  // of what remains after the factor
  const double factor = best_factor(o, given);
  const double left = compare("o", column_of(o, factor), expected).error;
  if (std::isfinite(error) && error > far && factor != 0 && left < near * error)
    words += fmt::format("; {:.6g} times this output is {:.1e} from it: another scale?", factor, left);
  return words;
}

}  // namespace palimpsest
