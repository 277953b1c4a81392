#include "core/language/language_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/parallel_for.h"
#include "core/io/array_file.h"
#include "core/io/file.h"
#include "core/rules/rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr double norm_epsilon = 1e-5;
constexpr double unit_epsilon = 1e-6;    // of keys and queries of length one
constexpr double simple_gla_gates = 16;  // gate_logit_normalizer of flash-linear-attention

template <class Scalar>
Matrix<Scalar> sigmoid(const Matrix<Scalar>& x) {
  return (1 / (1 + (-x.array()).exp())).matrix();
}

template <class Scalar>
Matrix<Scalar> silu(const Matrix<Scalar>& x) {
  return x.cwiseProduct(sigmoid(x));
}

/// log(1 + e^x), without overflow.
template <class Scalar>
Matrix<Scalar> softplus(const Matrix<Scalar>& x) {
  return (x.array().max(Scalar(0)) + (-x.array().abs()).exp().log1p()).matrix();
}

/// x over the root of its mean square, times w [1, columns]: RMSNorm (Zhang and Sennrich, 2019), row by row.
template <class Scalar>
Matrix<Scalar> rms_norm(const Matrix<Scalar>& x, const Matrix<Scalar>& w) {
  const Vector<Scalar> size = (x.rowwise().squaredNorm() / Scalar(x.cols())).array() + Scalar(norm_epsilon);
  return (x.array().colwise() / size.array().sqrt()).matrix() * w.row(0).asDiagonal();
}

/// Rows of length one.
template <class Scalar>
Matrix<Scalar> unit_rows(const Matrix<Scalar>& x) {
  const Vector<Scalar> size = x.rowwise().squaredNorm().array() + Scalar(unit_epsilon);
  return (x.array().colwise() / size.array().sqrt()).matrix();
}

/// x W^T, by blocks of columns on all threads: [T, outputs].
template <class Scalar>
Matrix<Scalar> projected(const Matrix<Scalar>& x, const Matrix<Scalar>& W) {
  constexpr Index block = 128;
  Matrix<Scalar> y(x.rows(), W.rows());
  parallel_for((W.rows() + block - 1) / block, processor_threads(), [&](Index i) {
    const Index first = i * block;
    const Index count = std::min(block, W.rows() - first);
    y.middleCols(first, count).noalias() = x * W.middleRows(first, count).transpose();
  });
  return y;
}

/// silu of a causal convolution of every channel over its last tokens, the present one last: w [C, tokens].
template <class Scalar>
Matrix<Scalar> short_convolution(const Matrix<Scalar>& x, const Matrix<Scalar>& w) {
  Matrix<Scalar> y = Matrix<Scalar>::Zero(x.rows(), x.cols());
  for (Index j = 0; j < std::min(w.cols(), x.rows()); ++j) {
    const Index kept = x.rows() - j;  // those that have a token j before them
    y.bottomRows(kept) += x.topRows(kept) * w.col(w.cols() - 1 - j).asDiagonal();
  }
  return silu(y);
}

/// The weights of one layer, and what comes in.
template <class Scalar>
struct LayerInput {
  const std::map<std::string, Matrix<Scalar>, std::less<>>& weights;
  const Matrix<Scalar>& x;  // [T, width]

  const Matrix<Scalar>& operator[](const std::string& name) const {
    return weights.find("mix." + name)->second;
  }

  Matrix<Scalar> through(const std::string& name) const {
    Matrix<Scalar> y = projected(x, (*this)[name + ".weight"]);
    const auto bias = weights.find("mix." + name + ".bias");
    if (bias != weights.end()) y.rowwise() += bias->second.row(0);
    return y;
  }

  /// q, k or v: a projection and a short convolution.
  Matrix<Scalar> mixed(const std::string& name) const {
    return short_convolution(through(name + "_proj"), (*this)[name + "_conv1d.weight"]);
  }
};

/// The part of a head of `heads`.
template <class Scalar>
Matrix<Scalar> part_of(const Matrix<Scalar>& all, Index head, Index heads) {
  const Index width = all.cols() / heads;
  return all.middleCols(head * width, width);
}

template <class Scalar>
Array as_array(const Matrix<Scalar>& rows, bool is_vector) {
  std::vector<Index> shape = {rows.rows()};
  if (!is_vector) shape.push_back(rows.cols());
  return {std::move(shape), std::vector<Scalar>(rows.data(), rows.data() + rows.size())};
}

}  // namespace

/// A kind of layer: the variant that it runs, the tensors by which it is known, and what it does before and
/// after it.
struct LayerKind {
  std::string rule;
  std::vector<std::string> tensors;  // behind "mix.", besides those that all have
  bool has_unit_keys = false;        // q and k of length one
  const char* strength = nullptr;    // a projection, whose sigmoid is beta
  const char* log_decay = nullptr;   // a projection, of which the gate is made
  bool is_discretised = false;       // g = -e^A softplus(x + dt) (Gu and Dao, 2023); else log sigmoid(x) / 16
  const char* norm = "o_norm.weight";
  const char* gate = nullptr;  // a projection whose silu multiplies the normed output
};

namespace {

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = {
      {.rule = "gated_deltanet",
       .tensors = {"A_log", "dt_bias", "a_proj.weight", "b_proj.weight", "g_proj.weight", "o_norm.weight"},
       .has_unit_keys = true,
       .strength = "b_proj",
       .log_decay = "a_proj",
       .is_discretised = true,
       .gate = "g_proj"},
      {.rule = "scalar_decay",
       .tensors = {"gk_proj.weight", "gk_proj.bias", "g_proj.weight", "g_norm_swish_gate.weight"},
       .log_decay = "gk_proj",
       .norm = "g_norm_swish_gate.weight",
       .gate = "g_proj"},
      {.rule = "deltanet",
       .tensors = {"b_proj.weight", "o_norm.weight"},
       .has_unit_keys = true,
       .strength = "b_proj"},
  };
  return kinds;
}

/// A tensor as a matrix: a vector [1, N], a convolution [C, 1, tokens] as [C, tokens].
template <class Scalar>
Matrix<Scalar> matrix_of(const Array& array) {
  const Index rows = array.rank() < 2 ? 1 : array.shape.front();
  Matrix<Scalar> matrix(rows, array.size() / std::max<Index>(rows, 1));
  for (Index i = 0; i < array.size(); ++i) matrix.data()[i] = static_cast<Scalar>(array[i]);
  return matrix;
}

/// Tensors of a file, each asked for by name and size.
class Tensors {
 public:
  explicit Tensors(const std::filesystem::path& path) : path_(path), file_(read_array_file(path)) {}

  bool has(const std::string& name) const { return file_.arrays.contains(name); }

  /// A tensor of `rows` rows and `columns` columns; 0: any number.
  template <class Scalar>
  Matrix<Scalar> at(const std::string& name, Index rows, Index columns) const {
    require_readable(file_.unreadable, name);
    const auto found = file_.arrays.find(name);
    if (found == file_.arrays.end()) refuse_file(path_, fmt::format("has no tensor {}", name));
    Matrix<Scalar> matrix = matrix_of<Scalar>(found->second);
    const auto fits = [](Index size, Index wanted) { return wanted == 0 ? size > 0 : size == wanted; };
    if (!fits(matrix.rows(), rows) || !fits(matrix.cols(), columns)) {
      const auto words = [](Index size) { return size == 0 ? std::string("any") : std::to_string(size); };
      refuse_file(path_, fmt::format("tensor {} is {}; expected [{}, {}]", name,
                                     to_string(found->second.shape), words(rows), words(columns)));
    }
    if (!matrix.allFinite())
      refuse_file(path_, fmt::format("tensor {} holds what is no finite number", name));
    return matrix;
  }

  /// Throws InputError.
  [[noreturn]] void refuse(const std::string& problem) const { refuse_file(path_, problem); }

 private:
  std::filesystem::path path_;
  Npz file_;
};

/// The kind of the layer whose tensors begin with `prefix`.
const LayerKind& kind_of(const Tensors& tensors, const std::string& prefix) {
  for (const LayerKind& kind : layer_kinds()) {
    const auto has = [&](const std::string& name) { return tensors.has(prefix + name); };
    if (std::ranges::all_of(kind.tensors, has)) return kind;
  }
  std::string known;
  for (const LayerKind& kind : layer_kinds())
    known += fmt::format("{}{} ({})", known.empty() ? "" : "; ", find_variant(kind.rule).label,
                         fmt::join(kind.tensors, ", "));
  tensors.refuse(fmt::format("the tensors {}… are of no known kind of layer: {}", prefix, known));
}

/// A block as a file has it.
template <class Scalar>
struct ReadBlock {
  const LayerKind* kind = nullptr;
  std::map<std::string, Matrix<Scalar>, std::less<>> weights = {};
  Index heads = 0;
};

template <class Scalar>
ReadBlock<Scalar> read_block(const Tensors& tensors, std::size_t index, Index width) {
  const std::string prefix = fmt::format("blocks.{}.", index);
  ReadBlock<Scalar> block{.kind = &kind_of(tensors, prefix + "mix.")};
  const LayerKind& kind = *block.kind;
  const auto take = [&](const std::string& name, Index rows, Index columns) -> const Matrix<Scalar>& {
    return block.weights[name] = tensors.at<Scalar>(prefix + name, rows, columns);
  };
  take("n1.weight", 1, width);
  take("n2.weight", 1, width);
  const Index inner = take("down.weight", width, 0).cols();
  take("up.weight", 2 * inner, width);
  const Index keys = take("mix.k_proj.weight", 0, width).rows();
  const Index values = take("mix.v_proj.weight", 0, width).rows();
  const Index of_head = take(std::string("mix.") + kind.norm, 1, 0).cols();
  block.heads = values / of_head;
  if (block.heads * of_head != values || keys % block.heads != 0)
    tensors.refuse(fmt::format("{}mix: {} keys and {} values are no whole number of heads of {} values",
                               prefix, keys, values, of_head));
  take("mix.q_proj.weight", keys, width);
  take("mix.o_proj.weight", width, values);
  for (const auto& [name, channels] : {std::pair("q", keys), {"k", keys}, {"v", values}})
    take(fmt::format("mix.{}_conv1d.weight", name), channels, 0);
  if (kind.gate) take(fmt::format("mix.{}.weight", kind.gate), values, width);
  for (const char* const by_head : {kind.strength, kind.log_decay})
    if (by_head) take(fmt::format("mix.{}.weight", by_head), block.heads, width);
  for (const std::string& name : kind.tensors) {
    if (!block.weights.contains("mix." + name)) take("mix." + name, 1, block.heads);  // a number of each head
  }
  return block;
}

}  // namespace

RunHead run_as_trained(Form form, Precision precision, Index chunk_size, std::stop_token stop) {
  return [=](Index, Index, const HeadInputs& inputs) {
    const Variant& variant = find_variant(inputs.rule);
    const SequenceBatch batch = bind(variant, std::make_shared<const Arrays>(inputs.arrays), inputs.settings);
    return variant.rule->run(batch.heads.front(), form, precision, chunk_size, stop).o;
  };
}

template <class Scalar>
LanguageModel<Scalar>::LanguageModel(const std::filesystem::path& path) {
  const Tensors tensors(path);
  embedding_ = tensors.at<Scalar>("emb.weight", 0, 0);
  norm_ = tensors.at<Scalar>("norm.weight", 1, embedding_.cols());
  while (tensors.has(fmt::format("blocks.{}.n1.weight", blocks_.size()))) {
    ReadBlock<Scalar> block = read_block<Scalar>(tensors, blocks_.size(), embedding_.cols());
    if (!blocks_.empty() && block.heads != heads_)
      tensors.refuse(
          fmt::format("block {} has {} heads, those before it {}", blocks_.size(), block.heads, heads_));
    heads_ = block.heads;
    blocks_.push_back({block.kind, std::move(block.weights)});
  }
  if (blocks_.empty()) tensors.refuse("has no tensor blocks.0.n1.weight");
}

template <class Scalar>
LanguageModel<Scalar>::~LanguageModel() = default;

template <class Scalar>
const std::string& LanguageModel<Scalar>::rule(Index layer) const {
  return blocks_[static_cast<std::size_t>(layer)].kind->rule;
}

template <class Scalar>
Matrix<Scalar> LanguageModel<Scalar>::layer(Index index, const Matrix<Scalar>& x, const RunHead& run) const {
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  const LayerKind& kind = *block.kind;
  const LayerInput<Scalar> input{block.weights, x};
  const Matrix<Scalar> q = input.mixed("q"), k = input.mixed("k"), v = input.mixed("v");
  Matrix<Scalar> beta, g;
  if (kind.strength) beta = sigmoid(input.through(kind.strength));
  if (kind.log_decay) {
    g = input.through(kind.log_decay);
    if (kind.is_discretised) {
      g.rowwise() += input["dt_bias"].row(0);
      g = (softplus(g) * (-input["A_log"].row(0).array().exp()).matrix().asDiagonal()).eval();
    } else {
      g = -softplus<Scalar>(-g) / Scalar(simple_gla_gates);
    }
  }
  Matrix<Scalar> o(x.rows(), v.cols());
  const Matrix<Scalar>& norm = input[kind.norm];
  parallel_for(heads_, processor_threads(), [&](Index head) {
    const auto own = [&](const Matrix<Scalar>& all) { return part_of(all, head, heads_); };
    const auto key = [&](const Matrix<Scalar>& all) {
      return kind.has_unit_keys ? unit_rows(own(all)) : own(all);
    };
    HeadInputs inputs{.rule = kind.rule};
    inputs.arrays["q"] = as_array(key(q), false);
    inputs.arrays["k"] = as_array(key(k), false);
    inputs.arrays["v"] = as_array(own(v), false);
    if (kind.strength) inputs.arrays["beta"] = as_array(own(beta), true);
    if (kind.log_decay) inputs.arrays["g"] = as_array(own(g), true);
    inputs.settings.parameters["scale"] = 1 / std::sqrt(static_cast<double>(q.cols() / heads_));
    const Matrix<Scalar> answers = run(index, head, inputs).template cast<Scalar>();
    o.middleCols(head * norm.cols(), norm.cols()) = rms_norm(answers, norm);
  });
  if (kind.gate) o = o.cwiseProduct(silu(input.through(kind.gate))).eval();
  return projected(o, input["o_proj.weight"]);
}

template <class Scalar>
Matrix<Scalar> LanguageModel<Scalar>::logits(const std::vector<Index>& ids, const RunHead& run) const {
  Matrix<Scalar> x(static_cast<Index>(ids.size()), embedding_.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    const Index id = ids[static_cast<std::size_t>(t)];
    if (id < 0 || id >= pieces())
      throw InputError(fmt::format("token {} is piece {}; the model has {}", t, id, pieces()));
    x.row(t) = embedding_.row(id);
  }
  for (Index i = 0; i < layers(); ++i) {
    const Weights& weights = blocks_[static_cast<std::size_t>(i)].weights;
    const auto at = [&](const char* name) -> const Matrix<Scalar>& { return weights.find(name)->second; };
    x += layer(i, rms_norm(x, at("n1.weight")), run);
    const Matrix<Scalar> inner = projected(rms_norm(x, at("n2.weight")), at("up.weight"));
    const Index half = inner.cols() / 2;
    x += projected<Scalar>(silu<Scalar>(inner.leftCols(half)).cwiseProduct(inner.rightCols(half)),
                           at("down.weight"));
  }
  return projected(rms_norm(x, norm_), embedding_);
}

namespace {

/// log sum exp of a row.
template <class Scalar>
double log_total(const Matrix<Scalar>& logits, Index row) {
  const double most = logits.row(row).maxCoeff();
  return most + std::log((logits.row(row).template cast<double>().array() - most).exp().sum());
}

}  // namespace

template <class Scalar>
std::vector<double> losses(const Matrix<Scalar>& logits, const std::vector<Index>& ids) {
  std::vector<double> found;
  for (Index t = 0; t + 1 < logits.rows(); ++t)
    found.push_back(log_total(logits, t) - logits(t, ids[static_cast<std::size_t>(t + 1)]));
  return found;
}

template <class Scalar>
std::vector<Continuation> continuations(const Matrix<Scalar>& logits, Index token, Index count) {
  std::vector<Index> order(static_cast<std::size_t>(logits.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto most = static_cast<std::ptrdiff_t>(std::min(count, logits.cols()));
  std::ranges::partial_sort(order, order.begin() + most, std::ranges::greater(),
                            [&](Index piece) { return logits(token, piece); });
  std::vector<Continuation> found;
  const double total = log_total(logits, token);
  for (std::ptrdiff_t i = 0; i < most; ++i)
    found.push_back({order[static_cast<std::size_t>(i)],
                     std::exp(logits(token, order[static_cast<std::size_t>(i)]) - total)});
  return found;
}

template class LanguageModel<double>;
template class LanguageModel<float>;
template std::vector<double> losses(const Matrix<double>&, const std::vector<Index>&);
template std::vector<double> losses(const Matrix<float>&, const std::vector<Index>&);
template std::vector<Continuation> continuations(const Matrix<double>&, Index, Index);
template std::vector<Continuation> continuations(const Matrix<float>&, Index, Index);

}  // namespace palimpsest
