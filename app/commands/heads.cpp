#include "app/commands/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace palimpsest {

namespace {

/// One array of every head, joined.
struct Joined {
  const SequenceBatch& batch;
  std::vector<const Matrix<double>*> heads;
  bool has_tokens = false;  // rows are tokens: the axis H stands behind them, not in front
  bool is_vector = false;   // [D, 1] stands for [D]

  Index rows() const { return heads.front()->rows(); }
  Index columns() const { return heads.front()->cols(); }

  std::vector<Index> shape() const {
    std::vector<Index> axes;
    if (batch.rank == 4) axes.push_back(batch.batch_count);
    if (has_tokens) axes.push_back(rows());
    if (batch.rank >= 3) axes.push_back(batch.head_count);
    if (!has_tokens) axes.push_back(rows());
    if (!is_vector) axes.push_back(columns());
    return axes;
  }

  /// Where row `row` of head `head` of batch `b` lies among the rows of all.
  Index target(Index b, Index head, Index row) const {
    return has_tokens ? (b * rows() + row) * batch.head_count + head
                      : (b * batch.head_count + head) * rows() + row;
  }

  template <class Scalar>
  Array array() const {
    std::vector<Scalar> values(heads.size() * static_cast<std::size_t>(rows() * columns()));
    for (Index i = 0; i < static_cast<Index>(heads.size()); ++i) {
      for (Index row = 0; row < rows(); ++row) {
        const Index first = target(i / batch.head_count, i % batch.head_count, row) * columns();
        Eigen::Map<RowVector<Scalar>>(values.data() + first, columns()) =
            heads[static_cast<std::size_t>(i)]->row(row).template cast<Scalar>();
      }
    }
    return {shape(), std::move(values)};
  }

  Array array(Precision precision) const {
    return precision == Precision::f64 ? array<double>() : array<float>();
  }
};

/// Whether a state is a vector: its initial value is an input with one axis (under the state's own name where
/// a rule starts from given weights).
bool is_vector(const Variant& variant, const Settings& settings, const std::string& state) {
  return std::ranges::any_of(inputs_of(variant, settings), [&](const Input& input) {
    return input.name == initial_name(variant, settings, state) && input.shape.size() == 1;
  });
}

/// What a run that goes on must be given besides the states: vectors.
void add_handed_over(const Variant& variant, const SequenceBatch& batch, Precision precision,
                     Arrays& arrays) {
  std::map<std::string, std::vector<Matrix<double>>> handed;
  for (const Sequence& head : batch.heads) {
    Arrays more;
    variant.hand_over(head, more);
    for (const auto& [name, array] : more) {
      Matrix<double> vector(array.size(), 1);
      for (Index i = 0; i < array.size(); ++i) vector(i, 0) = array[i];
      handed[name].push_back(std::move(vector));
    }
  }
  for (const auto& [name, vectors] : handed) {
    std::vector<const Matrix<double>*> heads;
    for (const Matrix<double>& vector : vectors) heads.push_back(&vector);
    arrays[name] = Joined{batch, heads, false, true}.array(precision);
  }
}

}  // namespace

Arrays run_heads(const Backend& backend, const Variant& variant, const SequenceBatch& batch, Form form,
                 Precision precision, Index chunk_size, std::stop_token stop, const HeadDone& head_done) {
  if (batch.heads.empty()) {
    throw InputError(fmt::format("there is nothing to compute: {} batches of {} heads", batch.batch_count,
                                 batch.head_count));
  }
  // They are held as they are computed, joined, and as the bytes of the file.
  constexpr double largest_results = byte_limit / 3;
  const Footprint footprint = variant.rule->footprint(batch.heads.front(), form, precision, chunk_size);
  const double results = footprint.kept * static_cast<double>(batch.heads.size());
  if (results > largest_results) {
    throw InputError(
        fmt::format("the outputs and final states of {} heads, {} tokens, {} key and {} value channels "
                    "take {:.1f} GB; the limit is {:.0f} GB",
                    batch.heads.size(), batch.heads.front().tokens, batch.heads.front().dk,
                    batch.heads.front().dv, results / 1e9, largest_results / 1e9));
  }
  const std::vector<Output> outputs =
      backend.run_heads(variant, batch.heads, form, precision, chunk_size, std::move(stop), head_done);

  const auto of_every_head = [&](auto part) {
    std::vector<const Matrix<double>*> heads;
    for (const Output& output : outputs) heads.push_back(&part(output));
    return heads;
  };
  Arrays arrays;
  const auto o = of_every_head([](const Output& output) -> const auto& { return output.o; });
  arrays["o"] = Joined{batch, o, true, false}.array(precision);
  for (std::size_t i = 0; i < outputs.front().states.size(); ++i) {
    const std::string& state = outputs.front().states[i].first;
    const auto values =
        of_every_head([i](const Output& output) -> const auto& { return output.states[i].second; });
    arrays[final_name(outputs.front().states.size(), state)] =
        Joined{batch, values, false, is_vector(variant, batch.heads.front().settings, state)}.array(
            precision);
  }
  if (variant.hand_over && !outputs.front().states.empty())
    add_handed_over(variant, batch, precision, arrays);
  return arrays;
}

}  // namespace palimpsest
