#include "core/contract/sequence.h"

#include <fmt/ranges.h>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <numeric>
#include <ranges>

#include "core/base/refuse.h"

namespace palimpsest {

const MatrixView& Sequence::at(std::string_view name) const {
  if (const MatrixView* view = value_at(views_, name)) return *view;
  refuse("array \"{}\" is missing", name);
}

void Sequence::add(const std::string& name, const Matrix<double>& rows) {
  added_.push_back(std::make_shared<const Array>(array_of(rows, {rows.rows(), rows.cols()})));
  views_.insert_or_assign(name, MatrixView(*added_.back(), 0, rows.rows(), rows.cols(), rows.cols()));
  if (!is_among(name, with_tokens_)) with_tokens_.push_back(name);
}

double Sequence::parameter(std::string_view name) const {
  if (const double* value = value_at(settings.parameters, name)) return *value;
  refuse("parameter {} is missing", name);
}

void require_token(Index token, Index tokens) {
  if (token < 0 || token >= tokens)
    refuse("token {}; expected one of the {} tokens, counted from 0", token, tokens);
}

void require_together(const Sequence& sequence, std::string_view one, std::string_view other) {
  if (sequence.has(one) != sequence.has(other))
    refuse("\"{}\" and \"{}\" must be given together", one, other);
}

Matrix<double> square(const MatrixView& given) {
  const Matrix<double> all = given.all<double>();
  return given.columns() == 1 ? Matrix<double>(all.col(0).asDiagonal()) : all;
}

namespace {

constexpr double rounding = 1e-6;  // of a matrix stored as f32, relative to its largest element

constexpr double largest_state =
    has_little_memory ? 0.05e9 : 1e9;  // bytes as double; a run holds a few copies of it

constexpr double record_limit =
    has_little_memory ? 0.1e9 : 1e9;  // bytes that one block of a trace may take together with its record

constexpr double giga = 1e9;

/// Messages for too much memory, in the order of all_forms: {0} what is done, {1} tokens, {2} tokens of a
/// chunk, {3} how much.
constexpr const char* too_much_for[] = {
    "{0}the recurrent form of {1} tokens needs {3}",
    "{0}the chunkwise form in chunks of {2} tokens needs {3}. Smaller chunks give the same result",
    "{0}the two passes of {1} tokens in chunks of {2} need {3}. The chunkwise form gives the same result",
    "{0}the parallel form of {1} tokens needs {3}. The chunkwise form gives the same result in small chunks"};

/// Whether all numbers lie within bounds, which NaN never does. In pieces that stay in a cache, as the least
/// and the largest are found much faster than each number is compared.
template <class Scalar>
bool lie_within(const std::vector<Scalar>& values, const Bounds& allowed) {
  constexpr Index piece = 4096;
  const Index count = std::ssize(values);
  for (Index first = 0; first < count; first += piece) {
    const Eigen::Map<const Vector<Scalar>> numbers(values.data() + first, std::min(piece, count - first));
    const Bounds found = {numbers.template minCoeff<Eigen::PropagateNaN>(),
                          numbers.template maxCoeff<Eigen::PropagateNaN>()};
    if (!allowed.contain(found.least) || !allowed.contain(found.most)) return false;
  }
  return true;
}

}  // namespace

struct Binder {
  const Variant& variant;
  std::shared_ptr<const Arrays> arrays;
  std::map<std::string, Index> sizes = {};            // "n" -> 105, "dk" -> 64, ...
  std::map<std::string, std::string> size_from = {};  // which array fixed it
  int head_axes = 0;                                  // 0, 1 (H) or 2 (B and H)
  SequenceBatch result = {};

  struct Found {
    Input input;
    std::string name;  // as the file spells it: g where alpha stands in the table
    const Array* array;
    Index heads;
  };
  std::vector<Found> found = {};

  SequenceBatch run(const Settings& given) {
    const Settings settings = resolve(variant, given);
    learn_axes();
    find_arrays(settings);
    for (Found& entry : found) {
      check_shape(entry);
      if (entry.name == "q") learn_batches(given, settings);
    }
    check_head_counts();
    if (result.batch_count > most_heads_in_all / std::max<Index>(result.head_count, 1)) {
      refuse_shape("q", arrays->at("q").shape,
                   "makes {} batches of {} heads; expected at most {} heads in all", result.batch_count,
                   result.head_count, most_heads_in_all);
    }
    for (const Found& entry : found) check_values(entry);
    note_ignored();

    for (Index batch = 0; batch < result.batch_count; ++batch) {
      for (Index head = 0; head < result.head_count; ++head) {
        Sequence sequence;
        sequence.tokens = sizes.at("n");
        sequence.dk = sizes.at("dk");
        sequence.dv = sizes.at("dv");
        sequence.settings = settings;
        sequence.arrays_ = arrays;
        for (const Found& entry : found) {
          sequence.views_.emplace(entry.input.name, view(entry, batch, head));
          if (has_tokens(entry.input)) sequence.with_tokens_.push_back(entry.input.name);
          if (entry.name == "g") sequence.gates_are_logs = true;
        }
        set_parameters(sequence, given, head);
        check_matrices(sequence, batch, head);
        if (variant.derive) variant.derive(sequence);
        result.heads.push_back(std::move(sequence));
      }
    }
    return std::move(result);
  }

  void learn_axes() {
    const auto q = arrays->find("q");
    if (q == arrays->end()) {
      refuse("array \"q\" is missing; found: {}",
             arrays->empty() ? "no arrays" : fmt::format("{}", fmt::join(std::views::keys(*arrays), ", ")));
    }
    const Index rank = q->second.rank();
    if (rank < 2 || rank > 4)
      refuse_shape("q", q->second.shape, "has rank {}; expected [T, K], [T, H, K] or [B, T, H, K]", rank);
    head_axes = static_cast<int>(rank) - 2;
    result.rank = static_cast<int>(rank);
    if (head_axes == 2) result.batch_count = q->second.shape[0];
  }

  void find_arrays(const Settings& settings) {
    for (const Input& input : inputs_of(variant, settings)) {
      const auto plain = arrays->find(input.name);
      const auto log = input.range == Range::decay ? arrays->find("g") : arrays->end();
      if (plain != arrays->end() && log != arrays->end())
        refuse(R"(both "alpha" and "g" are given; g is log alpha, give one of the two)");
      const auto chosen = plain != arrays->end() ? plain : log;
      if (chosen != arrays->end()) {
        found.push_back({input, chosen->first, &chosen->second, 1});
      } else if (!input.absent) {
        const std::string wanted =
            input.range == Range::decay ? R"("alpha" or "g" (log alpha))" : fmt::format("\"{}\"", input.name);
        refuse("array {} is missing: {} needs it with shape ({}) for each head", wanted, variant.id,
               fmt::join(input.shape, ", "));
      }
    }
  }

  void check_shape(Found& entry) {
    const std::vector<Index>& shape = entry.array->shape;
    std::vector<std::string> axes;
    if (head_axes == 2) axes.emplace_back("B");
    if (has_tokens(entry.input)) axes.emplace_back("n");
    if (head_axes >= 1) axes.emplace_back("H");
    axes.insert(axes.end(), entry.input.shape.begin() + (has_tokens(entry.input) ? 1 : 0),
                entry.input.shape.end());

    const bool is_diagonal = entry.input.range == Range::positive_definite && shape.size() + 1 == axes.size();
    if (is_diagonal) axes.pop_back();

    if (shape.size() != axes.size()) {
      refuse_shape(entry.name, shape, "has rank {}; expected ({}), since q has rank {}", shape.size(),
                   fmt::join(axes, ", "), result.rank);
    }
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const std::string& label = axes[axis];
      if (label == "H") {
        entry.heads = shape[axis];
        continue;
      }
      if (label == "B") {
        if (shape[axis] == result.batch_count) continue;
        refuse_shape(entry.name, shape, "has {} batches; expected {} as in \"q\"", shape[axis],
                     result.batch_count);
      }
      if (!is_among(label, {"n", "p", "n_batches"}) && shape[axis] == 0)
        refuse_shape(entry.name, shape, "has {} = 0 on axis {}; expected at least 1", label, axis);
      learn_size(entry, label, shape[axis], static_cast<Index>(axis));
    }
  }

  /// Fixes the size of the axis `label`, or compares with the array that has fixed it.
  void learn_size(const Found& entry, const std::string& label, Index size, Index axis) {
    if (label == "d" && sizes.at("dk") != sizes.at("dv")) {
      refuse("\"k\" has {} channels and \"v\" {}; {}{} needs as many", sizes.at("dk"), sizes.at("dv"),
             variant.id, entry.input.when.options.empty() ? "" : " with " + describe(entry.input.when));
    }
    const std::string same = label == "d" ? "dk" : label;
    const auto [known, is_new] = sizes.emplace(same, size);
    if (is_new) {
      size_from[same] = fmt::format("\"{}\"", entry.name);
    } else if (known->second != size) {
      refuse_shape(entry.name, entry.array->shape, "has {} = {} on axis {}; expected {} as in {}", label,
                   size, axis, known->second, size_from[same]);
    }
  }

  /// The sizes that follow from the parameter `batch`, once n is known.
  void learn_batches(const Settings& given, const Settings& settings) {
    const auto parameter = std::ranges::find(variant.parameters, "batch", &Parameter::name);
    if (parameter == variant.parameters.end()) return;
    const std::optional<double> in_file = parameter_in_file(*parameter, given, 0);
    if (!settings.parameters.contains("batch") && !in_file)
      return;  // set_parameters() says that it is missing
    const Index batch = in_file ? static_cast<Index>(*in_file) : inner_batch(settings);
    sizes["batch"] = batch;
    sizes["n_batches"] = sizes.at("n") / batch + (sizes.at("n") % batch > 0 ? 1 : 0);
    size_from["batch"] = "the parameter batch";
    size_from["n_batches"] = fmt::format("n / batch, batch = {}", batch);
  }

  void check_head_counts() {
    if (head_axes == 0) return;
    result.head_count = 0;
    for (const Found& entry : found) result.head_count = std::max(result.head_count, entry.heads);
    for (const Found& entry : found) {
      if (entry.heads == result.head_count) continue;
      const std::vector<Index>& shape = entry.array->shape;
      if (!is_among(entry.name, {"q", "k", "v"})) {
        refuse_shape(entry.name, shape, "has {} heads; expected {} (only q, k and v may share heads)",
                     entry.heads, result.head_count);
      }
      if (entry.heads == 0 || result.head_count % entry.heads != 0) {
        refuse_shape(entry.name, shape, "has {} heads, which does not divide the {} heads of the others",
                     entry.heads, result.head_count);
      }
    }
  }

  void check_values(const Found& entry) const {
    const bool is_log = entry.name == "g" && entry.input.range == Range::decay;
    const Bounds allowed = bounds(is_log ? Range::log_decay : entry.input.range);
    const Array& array = *entry.array;
    if (std::visit([&](const auto& values) { return lie_within(values, allowed); }, array.values())) return;
    Index flat = 0;
    while (allowed.contain(array[flat])) ++flat;
    refuse("array \"{}\": index {} is {}; expected {}", entry.name, to_string(index_of(array.shape, flat)),
           array[flat], is_log ? "log alpha in [-inf, 0]" : describe(entry.input.range));
  }

  MatrixView view(const Found& entry, Index batch, Index head) const {
    const std::vector<Index>& shape = entry.array->shape;
    const Index own_head = head_axes == 0 ? 0 : head * entry.heads / result.head_count;
    const Index columns =
        std::accumulate(shape.begin() + head_axes + 1, shape.end(), Index{1}, std::multiplies<>());
    if (has_tokens(entry.input)) {  // [B, n, H, columns...]
      const Index n = sizes.at("n");
      return {*entry.array, (batch * n * entry.heads + own_head) * columns, n, columns,
              entry.heads * columns};
    }
    // [B, H, rows, columns...]
    const Index rows = shape[static_cast<std::size_t>(head_axes)];
    return {*entry.array, (batch * entry.heads + own_head) * rows * columns, rows, columns, columns};
  }

  void note_ignored() {
    const std::vector<Parameter> parameters = all_parameters(variant);
    for (const auto& [name, array] : *arrays) {
      const bool used = is_among(name, found, &Found::name) || is_among(name, parameters, &Parameter::name);
      if (!used) result.ignored.push_back(name);
    }
  }

  /// What the file holds for `parameter`, if the caller has not given it.
  std::optional<double> parameter_in_file(const Parameter& parameter, const Settings& given,
                                          Index head) const {
    const auto array = arrays->find(parameter.name);
    if (given.parameters.contains(parameter.name) || array == arrays->end()) return std::nullopt;
    const Index size = array->second.size();
    if (size != 1 && !(parameter.per_head && size == result.head_count && head_axes > 0)) {
      refuse("array \"{}\": shape {}; expected one number{}", parameter.name, to_string(array->second.shape),
             parameter.per_head ? fmt::format(" or one for each of the {} heads", result.head_count) : "");
    }
    const double value = array->second[size == 1 ? 0 : head];
    if (!(value >= parameter.minimum && value <= parameter.maximum)) {
      refuse("array \"{}\" is {}; expected a number in [{:g}, {:g}]", parameter.name, value,
             parameter.minimum, parameter.maximum);
    }
    if (parameter.whole && value != std::floor(value))
      refuse("array \"{}\" is {}; expected a whole number", parameter.name, value);
    return value;
  }

  void set_parameters(Sequence& sequence, const Settings& given, Index head) const {
    for (const Parameter& parameter : all_parameters(variant)) {
      if (const auto value = parameter_in_file(parameter, given, head))
        sequence.settings.parameters[parameter.name] = *value;
      if (!sequence.settings.parameters.contains(parameter.name)) {
        refuse("parameter {} is missing: {} needs it ({}, in [{:g}, {:g}])", parameter.name, variant.id,
               parameter.meaning, parameter.minimum, parameter.maximum);
      }
    }
  }

  /// Matrices that must be symmetric and positive (semi)definite.
  void check_matrices(const Sequence& sequence, Index batch, Index head) const {
    for (const Found& entry : found) {
      const Range range = entry.input.range;
      if (range != Range::positive_definite && range != Range::gram) continue;
      const Matrix<double> matrix = square(sequence.at(entry.input.name));
      const std::string where = head_axes == 0   ? ""
                                : head_axes == 1 ? fmt::format(" of head {}", head)
                                                 : fmt::format(" of batch {}, head {}", batch, head);
      const double largest = matrix.cwiseAbs().maxCoeff();
      if ((matrix - matrix.transpose()).cwiseAbs().maxCoeff() > rounding * largest)
        refuse("array \"{}\"{} is not symmetric; expected {}", entry.name, where, describe(range));
      const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(matrix, Eigen::EigenvaluesOnly);
      const double smallest = solver.eigenvalues()(0);
      if (range == Range::positive_definite ? smallest > 0 : smallest >= -rounding * largest) continue;
      refuse("array \"{}\"{}: the smallest eigenvalue is {}; expected {}", entry.name, where, smallest,
             describe(range));
    }
  }
};

SequenceBatch bind(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& given) {
  return Binder{variant, std::move(arrays)}.run(given);
}

Index inner_batch(const Settings& settings) {
  const double* batch = value_at(settings.parameters, "batch");
  return batch ? static_cast<Index>(*batch) : 1;
}

void require_footprint(const Footprint& needed, const Sequence& sequence, Form form, Index chunk_size,
                       bool recorded) {
  const double limit = recorded ? record_limit : byte_limit;
  if (needed.work <= limit) return;
  const std::string how_much =
      fmt::format("{:.3g} GB at its peak{}{}, above the limit of {:.3g} GB", needed.work / giga,
                  needed.what.empty() ? "" : " for ", needed.what, limit / giga);
  throw Unsupported(fmt::format(fmt::runtime(entry(too_much_for, form)), recorded ? "to show " : "",
                                sequence.tokens, std::min(chunk_size, sequence.tokens), how_much));
}

void require_state(const Sequence& sequence, Index rows, Index columns) {
  const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
  if (bytes <= largest_state) return;
  const auto shape = [&](const char* name) {
    return to_string(std::vector<Index>{sequence.at(name).rows(), sequence.at(name).columns()});
  };
  refuse(R"(array "k" with shape {} and array "v" with shape {} for each head make a state of {} rows )"
         "and {} columns, {:.3g} GB; the limit is {:.3g} GB",
         shape("k"), shape("v"), rows, columns, bytes / giga, largest_state / giga);
}

}  // namespace palimpsest
