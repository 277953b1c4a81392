#include "core/language/language_model.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/parallel_for.h"
#include "core/io/array_file.h"
#include "core/io/file.h"
#include "core/proof/faults.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// A kind of layer: the variant that it runs, the tensors by which it is recognised, and what it does before
/// and after the variant. A short convolution and an output gate are recognised by their tensors.
struct LayerKind {
  std::string rule;
  std::vector<std::string> tensors;  // that no kind after it in the table has all of
  bool has_unit_keys = false;        // q and k of norm 1, after silu
  bool is_rotated = false;           // q and k, by rotary position embedding
  const char* strength = nullptr;    // a projection, whose sigmoid is beta
  const char* log_decay = nullptr;   // a projection, of which the gate is made
  bool is_discretised = false;       // g = -e^A softplus(x + dt) (Gu and Dao, 2023); else log sigmoid(x) / 16
  bool has_channel_decays = false;   // one per channel of the keys, else per head
  const char* norm = "o_norm.weight";
  bool has_sigmoid_gate = false;  // the gate of the output; else it is silu
};

namespace {

constexpr double usual_norm_epsilon = 1e-5;
constexpr double unit_epsilon = 1e-6;   // of keys and queries of norm 1
constexpr double gate_normalizer = 16;  // of log sigmoid, as flash-linear-attention has it
constexpr double rotary_base = 10000;
constexpr std::uintmax_t most_config_bytes = 1 << 20;

const std::string layer_prefix = "mix.";  // of the weights of a block that are its layer's

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
Matrix<Scalar> rms_norm(const Matrix<Scalar>& x, const Matrix<Scalar>& w, double epsilon) {
  const Vector<Scalar> size = (x.rowwise().squaredNorm() / Scalar(x.cols())).array() + Scalar(epsilon);
  return (x.array().colwise() / size.array().sqrt()).matrix() * w.row(0).asDiagonal();
}

template <class Scalar>
Matrix<Scalar> unit_rows(const Matrix<Scalar>& x) {
  const Vector<Scalar> size = x.rowwise().squaredNorm().array() + Scalar(unit_epsilon);
  return (x.array().colwise() / size.array().sqrt()).matrix();
}

constexpr Index worth_threads = Index{1} << 23;  // multiplications: starting a thread takes as long as fewer

/// x W^T, by blocks of columns on all threads: [T, outputs]. Rows that `kept` has from the last text are not
/// computed again.
template <class Scalar>
Matrix<Scalar> projected(const Matrix<Scalar>& x, const Matrix<Scalar>& W, KeptProducts<Scalar>* kept) {
  constexpr Index columns = 128;
  constexpr Index rows = 16;  // made together, zeros after the last: no number depends on how many are made
  KeptProduct<Scalar> alone;
  KeptProduct<Scalar>& last = kept ? kept->of[&W] : alone;
  Index known = 0;
  while (known < std::min(x.rows(), last.x.rows()) && x.row(known) == last.x.row(known)) ++known;
  const Index first = known / rows * rows;
  const Index count = (x.rows() - first + rows - 1) / rows * rows;
  Matrix<Scalar> made = Matrix<Scalar>::Zero(count, x.cols());
  made.topRows(x.rows() - first) = x.bottomRows(x.rows() - first);
  Matrix<Scalar> y(first + count, W.rows());
  y.topRows(first) = last.y.topRows(first);
  const bool is_large = count * W.size() > worth_threads;
  parallel_for((W.rows() + columns - 1) / columns, is_large ? processor_threads() : 1, [&](Index i) {
    const Index from = i * columns;
    const Index width = std::min(columns, W.rows() - from);
    y.block(first, from, count, width).noalias() = made * W.middleRows(from, width).transpose();
  });
  y.conservativeResize(x.rows(), Eigen::NoChange);
  if (kept) last = {x, y, known};
  return y;
}

/// A causal convolution of every channel over its last tokens, the present one last: w [C, tokens].
template <class Scalar>
Matrix<Scalar> short_convolution(const Matrix<Scalar>& x, const Matrix<Scalar>& w) {
  Matrix<Scalar> y = Matrix<Scalar>::Zero(x.rows(), x.cols());
  for (Index j = 0; j < std::min(w.cols(), x.rows()); ++j) {
    const Index kept = x.rows() - j;  // those that have a token j before them
    y.bottomRows(kept) += x.topRows(kept) * w.col(w.cols() - 1 - j).asDiagonal();
  }
  return y;
}

/// Turns the channels i and i + K/2 of row t by t / 10000^(2i/K): rotary position embedding (Su et al.,
/// 2021).
template <class Scalar>
Matrix<Scalar> rotated(const Matrix<Scalar>& x) {
  const Index half = x.cols() / 2;
  Matrix<Scalar> y = x;
  for (Index i = 0; i < half; ++i) {
    const double speed = std::pow(rotary_base, -static_cast<double>(i) / static_cast<double>(half));
    for (Index t = 0; t < x.rows(); ++t) {
      const auto cosine = static_cast<Scalar>(std::cos(static_cast<double>(t) * speed));
      const auto sine = static_cast<Scalar>(std::sin(static_cast<double>(t) * speed));
      y(t, i) = x(t, i) * cosine - x(t, i + half) * sine;
      y(t, i + half) = x(t, i) * sine + x(t, i + half) * cosine;
    }
  }
  return y;
}

template <class Scalar>
struct LayerInput {
  const std::map<std::string, Matrix<Scalar>, std::less<>>& weights;
  const Matrix<Scalar>& x;  // [T, width]
  KeptProducts<Scalar>* kept;

  /// Null where the layer has none of this name.
  const Matrix<Scalar>* find(const std::string& name) const { return value_at(weights, layer_prefix + name); }
  const Matrix<Scalar>& operator[](const std::string& name) const { return *find(name); }

  /// A projection, or two of them one after the other, of low rank.
  Matrix<Scalar> through(const std::string& name) const {
    if (!find(name + ".0.weight")) return biased(projected(x, (*this)[name + ".weight"], kept), name);
    const Matrix<Scalar> inner = biased(projected(x, (*this)[name + ".0.weight"], kept), name + ".0");
    return biased(projected(inner, (*this)[name + ".1.weight"], kept), name + ".1");
  }

  /// q, k or v: a projection, a short convolution if the layer has one, and silu if `is_activated`.
  Matrix<Scalar> mixed(const std::string& name, bool is_activated) const {
    const Matrix<Scalar> y = through(name + "_proj");
    const Matrix<Scalar>* const w = find(name + "_conv1d.weight");
    if (w) return silu(biased(short_convolution(y, *w), name + "_conv1d"));
    return is_activated ? silu(y) : y;
  }

 private:
  Matrix<Scalar> biased(Matrix<Scalar> y, const std::string& name) const {
    if (const Matrix<Scalar>* const bias = find(name + ".bias")) y.rowwise() += bias->row(0);
    return y;
  }
};

template <class Scalar>
Array as_array(const Matrix<Scalar>& rows, bool is_vector) {
  std::vector<Index> shape = {rows.rows()};
  if (!is_vector) shape.push_back(rows.cols());
  return {std::move(shape), std::vector<Scalar>(rows.data(), rows.data() + rows.size())};
}

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = {
      {.rule = "kda",
       .tensors = {"A_log", "dt_bias", "f_proj.0.weight", "b_proj.weight", "o_norm.weight"},
       .has_unit_keys = true,
       .strength = "b_proj",
       .log_decay = "f_proj",
       .is_discretised = true,
       .has_channel_decays = true,
       .has_sigmoid_gate = true},
      {.rule = "gated_deltanet",
       .tensors = {"A_log", "dt_bias", "a_proj.weight", "b_proj.weight", "o_norm.weight"},
       .has_unit_keys = true,
       .strength = "b_proj",
       .log_decay = "a_proj",
       .is_discretised = true},
      {.rule = "deltanet",
       .tensors = {"b_proj.weight", "o_norm.weight"},
       .has_unit_keys = true,
       .strength = "b_proj"},
      {.rule = "gla",
       .tensors = {"gk_proj.0.weight", "g_norm_swish_gate.weight"},
       .log_decay = "gk_proj",
       .has_channel_decays = true,
       .norm = "g_norm_swish_gate.weight"},
      {.rule = "scalar_decay",
       .tensors = {"gk_proj.weight", "g_norm_swish_gate.weight"},
       .log_decay = "gk_proj",
       .norm = "g_norm_swish_gate.weight"},
      {.rule = "retnet",
       .tensors = {"g_proj.weight", "g_norm_swish_gate.weight"},
       .is_rotated = true,
       .norm = "g_norm_swish_gate.weight"},
  };
  return kinds;
}

/// The names of the tensors in a file; braces hold the number of a block.
struct Names {
  const char* embedding;
  const char* norm;
  const char* output;  // where it is not the embedding
  const char* block;
  const char* layer_norm;
  const char* layer;
  const char* mlp_norm;
  const char* down;
  const char* gate;          // of the MLP
  const char* up = nullptr;  // what it multiplies; null: both are in one
};

/// As assets/models/README.md says, and as flash-linear-attention saves its models.
const Names all_names[] = {
    {"emb.weight", "norm.weight", "head.weight", "blocks.{}.", "n1.weight", "mix.", "n2.weight",
     "down.weight", "up.weight"},
    {"model.embeddings.weight", "model.norm.weight", "lm_head.weight", "model.layers.{}.", "attn_norm.weight",
     "attn.", "mlp_norm.weight", "mlp.down_proj.weight", "mlp.gate_proj.weight", "mlp.up_proj.weight"},
};

class Tensors {
 public:
  explicit Tensors(const std::filesystem::path& path) : path_(path), file_(read_array_file(path)) {}
  bool has(const std::string& name) const { return file_.arrays.contains(name); }

  /// A tensor of `rows` rows and `columns` columns; 0: any number. A vector is [1, N], a convolution
  /// [C, 1, tokens] is [C, tokens].
  template <class Scalar>
  Matrix<Scalar> at(const std::string& name, Index rows, Index columns) const {
    require_readable(file_.unreadable, name);
    const Array* const array = value_at(file_.arrays, name);
    if (!array) refuse_file(path_, "has no tensor {}", name);
    const Index height = array->rank() < 2 ? 1 : array->shape.front();
    Matrix<Scalar> matrix(height, array->size() / std::max<Index>(height, 1));
    for (Index i = 0; i < array->size(); ++i) matrix.data()[i] = static_cast<Scalar>((*array)[i]);
    const auto fits = [](Index size, Index wanted) { return wanted == 0 ? size > 0 : size == wanted; };
    if (!fits(matrix.rows(), rows) || !fits(matrix.cols(), columns)) {
      const auto words = [](Index size) { return size == 0 ? std::string("any") : std::to_string(size); };
      refuse_file(path_, "tensor {} is {}; expected [{}, {}]", name, to_string(array->shape), words(rows),
                  words(columns));
    }
    if (!matrix.allFinite()) refuse_file(path_, "tensor {} holds a number that is not finite", name);
    return matrix;
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Npz file_;
};

const Names& names_of(const Tensors& tensors) {
  for (const Names& names : all_names) {
    if (tensors.has(names.embedding)) return names;
  }
  refuse_file(tensors.path(), "has no tensor {}, and no {}", all_names[0].embedding, all_names[1].embedding);
}

const LayerKind& kind_of(const Tensors& tensors, const std::string& prefix) {
  for (const LayerKind& kind : layer_kinds()) {
    const auto has = [&](const std::string& name) { return tensors.has(prefix + name); };
    if (std::ranges::all_of(kind.tensors, has)) return kind;
  }
  std::string known;
  for (const LayerKind& kind : layer_kinds())
    known += fmt::format("{}{} ({})", known.empty() ? "" : "; ", find_variant(kind.rule).label,
                         fmt::join(kind.tensors, ", "));
  refuse_file(tensors.path(), "the tensors {}… belong to no known kind of layer: {}", prefix, known);
}

/// A block as a file has it: its weights as "n1", "n2", "up", "down", and those of its layer behind "mix.".
template <class Scalar>
struct ReadBlock {
  const Tensors& tensors;
  const std::string layer;  // how the names of its layer begin
  const LayerKind* kind;
  std::map<std::string, Matrix<Scalar>, std::less<>> weights = {};
  Index heads = 0;

  ReadBlock(const Tensors& file, const Names& names, const std::string& prefix, Index width)
      : tensors(file), layer(prefix + names.layer), kind(&kind_of(file, layer)) {
    weights["n1"] = file.at<Scalar>(prefix + names.layer_norm, 1, width);
    weights["n2"] = file.at<Scalar>(prefix + names.mlp_norm, 1, width);
    const Matrix<Scalar>& down = weights["down"] = file.at<Scalar>(prefix + names.down, width, 0);
    Matrix<Scalar>& up = weights["up"];
    up = file.at<Scalar>(prefix + names.gate, (names.up ? 1 : 2) * down.cols(), width);
    if (names.up) {
      up.conservativeResize(2 * down.cols(), Eigen::NoChange);
      up.bottomRows(down.cols()) = file.at<Scalar>(prefix + names.up, down.cols(), width);
    }
    read_layer(width);
  }

  bool has(const std::string& name) const { return tensors.has(layer + name); }

  const Matrix<Scalar>& take(const std::string& name, Index rows, Index columns) {
    return weights[layer_prefix + name] = tensors.at<Scalar>(layer + name, rows, columns);
  }

  void take_bias(const std::string& name, Index channels) {
    if (has(name + ".bias")) take(name + ".bias", 1, channels);
  }

  /// One projection or two, [outputs, width]; returns the outputs, of which 0 are any number.
  Index take_projection(const std::string& name, Index outputs, Index width) {
    const bool is_alone = !has(name + ".0.weight");
    const std::string last = is_alone ? name : name + ".1";
    if (!is_alone) {
      const Index inner = take(name + ".0.weight", 0, width).rows();
      take_bias(name + ".0", inner);
      width = inner;
    }
    const Index found = take(last + ".weight", outputs, width).rows();
    take_bias(last, found);
    return found;
  }

  void read_layer(Index width) {
    const Index keys = take_projection("k_proj", 0, width);
    const Index values = take_projection("v_proj", 0, width);
    const Index of_head = take(kind->norm, 1, 0).cols();
    heads = values / of_head;
    if (heads * of_head != values || keys % heads != 0)
      refuse_file(tensors.path(), "{}: {} keys and {} values are no whole number of heads of {} values",
                  layer, keys, values, of_head);
    take_projection("q_proj", keys, width);
    take_projection("o_proj", width, values);
    for (const auto& [name, channels] :
         {std::pair("q_conv1d", keys), {"k_conv1d", keys}, {"v_conv1d", values}}) {
      if (!has("q_conv1d.weight")) break;
      take(fmt::format("{}.weight", name), channels, 0);
      take_bias(name, channels);
    }
    if (has("g_proj.weight") || has("g_proj.0.weight")) take_projection("g_proj", values, width);
    if (kind->strength) take_projection(kind->strength, heads, width);
    const Index decays = kind->has_channel_decays ? keys : heads;
    if (kind->log_decay) take_projection(kind->log_decay, decays, width);
    if (kind->is_discretised) {
      take("A_log", 1, heads);
      take("dt_bias", 1, decays);
    }
  }
};

/// The epsilon of all norms, which config.json beside the weights may say, as transformers writes it. Throws
/// InputError where that asks for what is not done here.
double norm_epsilon_of(const std::filesystem::path& weights) {
  const std::filesystem::path path = weights.parent_path() / "config.json";
  if (!std::filesystem::exists(path)) return usual_norm_epsilon;
  const nlohmann::json config =
      nlohmann::json::parse(read_text_file(path, most_config_bytes), nullptr, false);
  if (!config.is_object()) refuse_file(path, "is no JSON object");
  // What it may say, and what alone is read here.
  static const std::pair<const char*, nlohmann::json> settings[] = {
      {"allow_neg_eigval", false},
      {"num_v_heads", nullptr},
      {"num_kv_heads", nullptr},
      {"feature_map", nullptr},
      {"qk_norm", "l2"},
      {"qk_activation", "silu"},
      {"hidden_act", "swish"},
      {"gate_fn", "swish"},
      {"gate_logit_normalizer", gate_normalizer},
      {"clamp_min", nullptr},
      {"attn", nullptr},
      {"use_beta", true},
      {"safe_gate", false},
      {"attnres_block_size", nullptr},
      {"lower_bound", nullptr}};
  for (const auto& [name, expected] : settings) {
    const auto found = config.find(name);
    if (found == config.end() || *found == expected) continue;
    const bool has_own_heads =
        std::string_view(name).ends_with("_heads") && *found == config.value("num_heads", nlohmann::json());
    if (has_own_heads) continue;
    refuse_file(path, "{} is {}; models are read with {} alone", name, found->dump(), expected.dump());
  }
  const auto epsilon = config.find("norm_eps");
  if (epsilon == config.end()) return usual_norm_epsilon;
  if (!epsilon->is_number() || !(epsilon->get<double>() > 0))
    refuse_file(path, "norm_eps is {}; expected a number above 0", epsilon->dump());
  return epsilon->get<double>();
}

Output run_faulty(const std::string& id, const Variant& variant, const Sequence& sequence,
                  const HeadForm& how, const std::stop_token& stop) {
  const Fault& fault = find_fault(id);
  std::shared_ptr<const Trace> right =
      variant.rule->trace(sequence, how.form, Precision::f64, how.chunk_size);
  std::optional<Equations> faulty = with_fault(fault, {right->phases, right->symbols});
  if (!faulty)
    refuse("{} needs {}: the {} form of {} has none", fault.id, fault.needs, name(how.form), variant.label);
  return EditedTrace(std::move(right), *std::move(faulty)).run(stop);
}

template <class Scalar>
double log_total(const Matrix<Scalar>& logits, Index row) {
  const Scalar most = logits.row(row).maxCoeff();
  const Vector<Scalar> shares = (logits.row(row).array() - most).exp();  // by whole packets, before the cast
  return static_cast<double>(most) + std::log(shares.template cast<double>().sum());
}

}  // namespace

double retnet_gamma(Index head) { return 1 - std::pow(2.0, -5.0 - static_cast<double>(head)); }

RunHead run_as_trained(const HeadForm& how, std::stop_token stop) {
  return [how, stop = std::move(stop)](Index, Index, const HeadInputs& inputs) {
    const Variant& variant = find_variant(inputs.rule);
    const SequenceBatch batch = bind(variant, std::make_shared<const Arrays>(inputs.arrays), inputs.settings);
    const Sequence& sequence = batch.heads.front();
    if (!inputs.fault.empty()) return run_faulty(inputs.fault, variant, sequence, how, stop).o;
    return how.device->run(variant, sequence, how.form, how.precision, how.chunk_size, stop).o;
  };
}

template <class Scalar>
LanguageModel<Scalar>::LanguageModel(const std::filesystem::path& path) {
  const Tensors tensors(path);
  norm_epsilon_ = norm_epsilon_of(path);
  const Names& names = names_of(tensors);
  embedding_ = tensors.at<Scalar>(names.embedding, 0, 0);
  norm_ = tensors.at<Scalar>(names.norm, 1, embedding_.cols());
  if (tensors.has(names.output))
    output_ = tensors.at<Scalar>(names.output, embedding_.rows(), embedding_.cols());
  std::string prefix;
  while (prefix = fmt::format(fmt::runtime(names.block), blocks_.size()),
         tensors.has(prefix + names.layer_norm)) {
    ReadBlock<Scalar> block(tensors, names, prefix, embedding_.cols());
    if (!blocks_.empty() && block.heads != heads_)
      refuse_file(tensors.path(), "block {} has {} heads, those before it {}", blocks_.size(), block.heads,
                  heads_);
    heads_ = block.heads;
    blocks_.push_back({block.kind, std::move(block.weights)});
  }
  if (blocks_.empty()) refuse_file(tensors.path(), "has no tensor {}{}", prefix, names.layer_norm);
}

template <class Scalar>
const std::string& LanguageModel<Scalar>::rule(Index layer) const {
  return entry(blocks_, layer).kind->rule;
}

template <class Scalar>
Matrix<Scalar> LanguageModel<Scalar>::layer(Index index, const Matrix<Scalar>& x, const RunHead& run,
                                            KeptProducts<Scalar>* kept) const {
  const Block& block = entry(blocks_, index);
  const LayerKind& kind = *block.kind;
  const LayerInput<Scalar> input{block.weights, x, kept};
  const Matrix<Scalar> q = input.mixed("q", kind.has_unit_keys);
  const Matrix<Scalar> k = input.mixed("k", kind.has_unit_keys);
  const Matrix<Scalar> v = input.mixed("v", kind.has_unit_keys);
  Matrix<Scalar> beta, g;
  if (kind.strength) beta = sigmoid(input.through(kind.strength));
  if (kind.log_decay) {
    g = input.through(kind.log_decay);
    if (kind.is_discretised) {
      g.rowwise() += input["dt_bias"].row(0);
      const Matrix<Scalar>& A = input["A_log"];
      const Index channels = g.cols() / heads_;  // of a head
      for (Index c = 0; c < g.cols(); ++c)
        g.col(c) = softplus<Scalar>(g.col(c)) * -std::exp(A(0, c / channels));
    } else {
      g = -softplus<Scalar>(-g) / Scalar(gate_normalizer);
    }
  }
  Matrix<Scalar> o(x.rows(), v.cols());
  const Matrix<Scalar>& norm = input[kind.norm];
  parallel_for(heads_, processor_threads(), [&](Index head) {
    const auto own = [&](const Matrix<Scalar>& all) -> Matrix<Scalar> {
      const Index width = all.cols() / heads_;
      return all.middleCols(head * width, width);
    };
    const auto key = [&](const Matrix<Scalar>& all) {
      if (kind.is_rotated) return rotated(own(all));
      return kind.has_unit_keys ? unit_rows(own(all)) : own(all);
    };
    HeadInputs inputs{.rule = kind.rule};
    inputs.arrays["q"] = as_array(key(q), false);
    inputs.arrays["k"] = as_array(key(k), false);
    inputs.arrays["v"] = as_array(own(v), false);
    if (kind.strength) inputs.arrays["beta"] = as_array(own(beta), true);
    if (kind.log_decay) inputs.arrays["g"] = as_array(own(g), !kind.has_channel_decays);
    if (kind.rule == "retnet") inputs.settings.parameters["gamma"] = retnet_gamma(head);
    inputs.settings.parameters["scale"] = 1 / std::sqrt(static_cast<double>(q.cols() / heads_));
    const Matrix<Scalar> answers = run(index, head, inputs).template cast<Scalar>();
    o.middleCols(head * norm.cols(), norm.cols()) = rms_norm(answers, norm, norm_epsilon_);
  });
  if (input.find("g_proj.weight") || input.find("g_proj.0.weight")) {
    const Matrix<Scalar> gate = input.through("g_proj");
    o = o.cwiseProduct(kind.has_sigmoid_gate ? sigmoid(gate) : silu(gate)).eval();
  }
  return projected(o, input["o_proj.weight"], kept);
}

template <class Scalar>
Matrix<Scalar> LanguageModel<Scalar>::logits(const std::vector<Index>& ids, const RunHead& run,
                                             KeptProducts<Scalar>* kept) const {
  Matrix<Scalar> x(static_cast<Index>(ids.size()), embedding_.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    const Index id = entry(ids, t);
    if (id < 0 || id >= pieces()) refuse("token {} is piece {}; the model has {}", t, id, pieces());
    x.row(t) = embedding_.row(id);
  }
  for (Index i = 0; i < layers(); ++i) {
    const Weights& weights = entry(blocks_, i).weights;
    const auto at = [&](const char* name) -> const Matrix<Scalar>& { return weights.find(name)->second; };
    x += layer(i, rms_norm(x, at("n1"), norm_epsilon_), run, kept);
    const Matrix<Scalar> inner = projected(rms_norm(x, at("n2"), norm_epsilon_), at("up"), kept);
    const Index half = inner.cols() / 2;
    x += projected<Scalar>(silu<Scalar>(inner.leftCols(half)).cwiseProduct(inner.rightCols(half)), at("down"),
                           kept);
  }
  const Matrix<Scalar>& output = output_.size() > 0 ? output_ : embedding_;
  Matrix<Scalar> found = projected(rms_norm(x, norm_, norm_epsilon_), output, kept);
  if (kept) kept->known_logits = kept->of[&output].known;
  return found;
}

template <class Scalar>
double log_probability(const Matrix<Scalar>& logits, Index token, Index piece) {
  return logits(token, piece) - log_total(logits, token);
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
    found.push_back({entry(order, i), std::exp(logits(token, entry(order, i)) - total)});
  return found;
}

template class LanguageModel<double>;
template class LanguageModel<float>;
template double log_probability(const Matrix<double>&, Index, Index);
template double log_probability(const Matrix<float>&, Index, Index);
template std::vector<Continuation> continuations(const Matrix<double>&, Index, Index);
template std::vector<Continuation> continuations(const Matrix<float>&, Index, Index);

}  // namespace palimpsest
