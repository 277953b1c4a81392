#include "tests/core/oracles.h"

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

namespace palimpsest::testing {

namespace {

using Dense = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

/// One head of arrays by name.
struct Head {
  const Arrays& arrays;
  const Settings& settings;

  bool has(const char* name) const { return arrays.contains(name); }
  Index rows(const char* name) const { return arrays.find(name)->second.shape[0]; }

  /// Row t as a column vector.
  Column row(const char* name, Index t) const {
    const Array& array = arrays.find(name)->second;
    const Index width = array.rank() == 1 ? 1 : array.shape[1];
    Column x(width);
    for (Index i = 0; i < width; ++i) x(i) = array[t * width + i];
    return x;
  }

  Dense matrix(const char* name) const {
    Dense X(rows(name), row(name, 0).size());
    for (Index t = 0; t < X.rows(); ++t) X.row(t) = row(name, t).transpose();
    return X;
  }

  Index tokens() const { return rows("q"); }
  Index dk() const { return arrays.find("q")->second.shape[1]; }
  Index dv() const { return arrays.find("v")->second.shape[1]; }
  double parameter(const char* name) const { return settings.parameters.find(name)->second; }

  Column q(Index t) const { return parameter("scale") * row("q", t); }
  Column k(Index t) const { return row("k", t); }
  Column v(Index t) const { return row("v", t); }
  double beta(Index t) const { return row("beta", t)(0); }

  Column alpha(Index t) const {
    if (has("alpha")) return row("alpha", t);
    return row("g", t).array().unaryExpr([](double g) { return std::exp(g); });
  }

  Dense initial_state() const {
    return has("initial_state") ? matrix("initial_state") : Dense::Zero(dk(), dv());
  }
};

/// Whether o_t = S_{t-1}^T q_t.
bool reads_before(const Head& head) {
  const auto order = head.settings.options.find("order");
  return order != head.settings.options.end() && order->second == "apply_first";
}

/// S_t = step(S_{t-1}, t); o_t = S_t^T q_t, or S_{t-1}^T q_t.
template <class Step>
Output recurrence(const Head& head, Step step) {
  Dense S = head.initial_state();
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const Dense before = S;
    S = step(S, t);
    o.row(t) = ((reads_before(head) ? before : S).transpose() * head.q(t)).transpose();
  }
  return {o, {{"S", S}}};
}

/// I - beta k k^T.
Dense householder(const Head& head, Index t) {
  return Dense::Identity(head.dk(), head.dk()) - head.beta(t) * head.k(t) * head.k(t).transpose();
}

Dense written(const Head& head, Index t) { return head.k(t) * head.v(t).transpose(); }

/// Spec 3.1: the explicit matrix, the mask added before the exponential.
Output softmax(const Head& head) {
  const Index p = head.has("initial_k_cache") ? head.rows("initial_k_cache") : 0;
  const Index n = head.tokens();
  Dense K(p + n, head.dk());
  Dense V(p + n, head.dv());
  for (Index j = 0; j < p + n; ++j) {
    K.row(j) = (j < p ? head.row("initial_k_cache", j) : head.k(j - p)).transpose();
    V.row(j) = (j < p ? head.row("initial_v_cache", j) : head.v(j - p)).transpose();
  }
  Matrix<double> o(n, head.dv());
  for (Index i = 0; i < n; ++i) {
    const Index seen = p + i + 1;
    const Column x = K.topRows(seen) * head.q(i);
    Column w(seen);
    for (Index j = 0; j < seen; ++j) w(j) = std::exp(x(j) - x.maxCoeff());
    o.row(i) = w.transpose() / w.sum() * V.topRows(seen);
  }
  return {o, {{"k_cache", K}, {"v_cache", V}}};
}

/// The explicit matrix of the Forgetting Transformer: softmax, times the gates between key and query.
Output fox(const Head& head) {
  Output output = softmax(head);
  const Dense& K = output.states[0].second;
  const Dense& V = output.states[1].second;
  const Index n = head.tokens();
  const Index p = K.rows() - n;
  Column g(p + n);
  for (Index j = 0; j < p + n; ++j) {
    if (j < p)
      g(j) = head.row("initial_g_cache", j)(0);
    else
      g(j) = head.has("g") ? head.row("g", j - p)(0) : std::log(head.alpha(j - p)(0));
  }
  for (Index i = 0; i < n; ++i) {
    const Index seen = p + i + 1;
    Column x = K.topRows(seen) * head.q(i);
    for (Index j = 0; j < seen; ++j) {
      for (Index l = j + 1; l < seen; ++l) x(j) += g(l);
    }
    Column w(seen);
    for (Index j = 0; j < seen; ++j) w(j) = std::exp(x(j) - x.maxCoeff());
    output.o.row(i) = w.transpose() / w.sum() * V.topRows(seen);
  }
  output.states.emplace_back("g_cache", g);
  return output;
}

/// Spec 3.2: every token reads S_n = S_0 + K^T V.
Output linear_not_causal(const Head& head) {
  Dense S = head.initial_state();
  for (Index t = 0; t < head.tokens(); ++t) S += written(head, t);
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) o.row(t) = (S.transpose() * head.q(t)).transpose();
  return {o, {{"S", S}}};
}

/// Spec 3.3, the table of maps.
Column phi(const std::string& map, const Column& x, const Dense& directions = {}) {
  const Index K = x.size();
  std::vector<double>
      pairs;  // x x^T packed: the upper triangle by rows, what stands for two cells times sqrt 2
  for (Index i = 0; i < K; ++i) {
    for (Index j = i; j < K; ++j) pairs.push_back(i == j ? x(i) * x(i) : std::sqrt(2.0) * x(i) * x(j));
  }
  std::vector<double> features;
  if (map == "elu1") {
    for (const double each : x) features.push_back(each > 0 ? each + 1 : std::exp(each));
  } else if (map == "relu") {
    for (const double each : x) features.push_back(each > 0 ? each : 0);
  } else if (map == "squared") {
    features = pairs;
  } else if (map == "taylor1") {
    features.push_back(1);
    for (const double each : x) features.push_back(each / x.norm());
  } else if (map == "taylor2") {
    features.push_back(1);
    for (const double each : x) features.push_back(each);
    for (const double each : pairs) features.push_back(each / std::sqrt(2.0));
  } else if (map == "favor") {
    for (Index r = 0; r < directions.rows(); ++r) {
      const double along = directions.row(r) * x;
      features.push_back(std::exp(along - x.squaredNorm() / 2) /
                         std::sqrt(static_cast<double>(directions.rows())));
    }
  } else {
    throw std::logic_error("no oracle for the feature map " + map);
  }
  return Eigen::Map<const Column>(features.data(), static_cast<Index>(features.size()));
}

/// Spec 3.3: o_t = S_t^T phi(q_t) / (z_t . phi(q_t) + eps).
Output kernel(const Head& head) {
  const std::string& map_q = head.settings.options.find("feature_map_q")->second;
  const std::string& map_k = head.settings.options.find("feature_map_k")->second;
  const Dense directions = head.has("directions") ? head.matrix("directions") : Dense();
  const Index m = phi(map_k, Column::Ones(head.dk()), directions).size();
  Dense S = head.has("initial_S") ? head.matrix("initial_S") : Dense::Zero(m, head.dv());
  Column z = head.has("initial_z") ? Column(head.matrix("initial_z")) : Column::Zero(m);
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const Column key = phi(map_k, head.k(t), directions);
    const Column query = phi(map_q, head.q(t), directions);
    S += key * head.v(t).transpose();
    z += key;
    o.row(t) = (S.transpose() * query).transpose() / (z.dot(query) + head.parameter("eps"));
  }
  return {o, {{"S", S}, {"z", z}}};
}

/// Spec 3.13: two decayed sums, and the optimum for every token by a solve of its own.
Output mesanet(const Head& head) {
  const Index K = head.dk();
  Dense keys = head.has("initial_Hkk") ? head.matrix("initial_Hkk") : Dense::Zero(K, K);
  Dense values = head.has("initial_Hkv") ? head.matrix("initial_Hkv") : Dense::Zero(K, head.dv());
  const Dense given = head.matrix("ridge");
  const Dense ridge = given.cols() == 1 && K > 1 ? Dense(given.col(0).asDiagonal()) : given;
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const double gamma = head.row("gamma", t)(0);
    keys = gamma * keys + head.beta(t) * head.k(t) * head.k(t).transpose();
    values = gamma * values + head.beta(t) * written(head, t);
    const Dense S = (keys + ridge).partialPivLu().solve(values);
    o.row(t) = (S.transpose() * head.q(t)).transpose();
  }
  return {o, {{"Hkk", keys}, {"Hkv", values}}};
}

/// Spec 3.13: the minimum of the ridge problem around S_0 whose ridge fades together with the data, solved
/// anew for every token.
Output rls(const Head& head) {
  const Dense given = head.matrix("ridge");
  Dense R = given.cols() == 1 && head.dk() > 1 ? Dense(given.col(0).asDiagonal()) : given;
  if (head.has("initial_P")) R = head.matrix("initial_P").inverse();
  Dense S = head.has("initial_S") ? head.matrix("initial_S") : Dense::Zero(head.dk(), head.dv());
  Dense H = R * S;
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const double gamma = head.row("gamma", t)(0);
    R = gamma * R + head.beta(t) * head.k(t) * head.k(t).transpose();
    H = gamma * H + head.beta(t) * written(head, t);
    S = R.partialPivLu().solve(H);
    o.row(t) = (S.transpose() * head.q(t)).transpose();
  }
  return {o, {{"S", S}, {"P", R.inverse()}}};
}

/// Spec 3.14, cell by cell.
Output mamba(const Head& head) {
  const Dense A = head.matrix("A");
  Dense S = head.initial_state();
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const Column delta = head.row("delta", t);
    for (Index c = 0; c < head.dv(); ++c) {
      o(t, c) = head.has("D") ? head.row("D", c)(0) * head.v(t)(c) : 0;
      for (Index d = 0; d < head.dk(); ++d) {
        S(d, c) = std::exp(A(d, c) * delta(c)) * S(d, c) + head.k(t)(d) * delta(c) * head.v(t)(c);
        o(t, c) += S(d, c) * head.q(t)(d);
      }
    }
  }
  return {o, {{"S", S}}};
}

}  // namespace

namespace {

/// Spec 3.13: several delta steps per token on alpha_t S_{t-1}.
Output deltaproduct(const Head& head) {
  const Index h = head.arrays.at("beta").shape[1];
  const auto step_row = [&](const char* name, Index t, Index j, Index width) {
    const Array& array = head.arrays.find(name)->second;
    Column x(width);
    for (Index i = 0; i < width; ++i) x(i) = array[(t * h + j) * width + i];
    return x;
  };
  const bool decays = head.has("alpha") || head.has("g");
  const Index dv = head.arrays.at("v").shape[2];
  Dense S = head.has("initial_state") ? head.initial_state() : Dense::Zero(head.dk(), dv);
  Matrix<double> o(head.tokens(), dv);
  for (Index t = 0; t < head.tokens(); ++t) {
    const Dense before = S;
    if (decays) S *= head.alpha(t)(0);
    for (Index j = 0; j < h; ++j) {
      const Column k = step_row("k", t, j, head.dk());
      const Column v = step_row("v", t, j, dv);
      const double beta = head.arrays.at("beta")[t * h + j];
      S += beta * k * (v.transpose() - k.transpose() * S).eval();
    }
    o.row(t) = ((reads_before(head) ? before : S).transpose() * head.q(t)).transpose();
  }
  return {o, {{"S", S}}};
}

/// Spec 3.9, the gradient taken at the memory with which the batch began.
Output titans(const Head& head) {
  const auto batch = static_cast<Index>(head.parameter("batch"));
  Dense S = head.has("initial_S") ? head.matrix("initial_S") : Dense::Zero(head.dk(), head.dv());
  Dense M = head.has("initial_M") ? head.matrix("initial_M") : Dense::Zero(head.dk(), head.dv());
  Dense at = S;
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    if (t % batch == 0) at = S;
    const Dense before = S;
    const Dense gradient = head.k(t) * (at.transpose() * head.k(t) - head.v(t)).transpose();
    M = head.row("eta", t)(0) * M - head.row("theta", t)(0) * gradient;
    S = (1 - head.row("forget", t)(0)) * S + M;
    o.row(t) = ((reads_before(head) ? before : S).transpose() * head.q(t)).transpose();
  }
  return {o, {{"S", S}, {"M", M}}};
}

/// Layer norm of one vector and its Jacobian, spec 3.10.
struct Norm {
  Column y;
  Dense jacobian;
};

Norm layer_norm(const Head& head, const Column& z) {
  const Index d = z.size();
  const Column gain = head.matrix("ln_weight");
  const Dense centre = Dense::Identity(d, d) - Dense::Constant(d, d, 1 / static_cast<double>(d));
  const Column level = centre * z;
  const double r = std::sqrt(level.squaredNorm() / static_cast<double>(d) + head.parameter("ln_eps"));
  const Column h = level / r;
  const Dense inner = (centre - h * h.transpose() / static_cast<double>(d)) / r;
  return {gain.cwiseProduct(h) + Column(head.matrix("ln_bias")), gain.asDiagonal() * inner};
}

double gelu(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

/// By the chain rule on the definition.
double gelu_slope(double x) {
  const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  const double slope = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  return (1 + std::tanh(u)) / 2 + x / 2 * slope / (std::cosh(u) * std::cosh(u));
}

/// Spec 3.10 and 3.12: every token with the weights that its definition gives it. `layers` are pairs of
/// weights [D, E] and a bias [E]; with_bias = false keeps the biases at 0.
Output inner_learner(const Head& head, std::vector<Dense> W, std::vector<Column> b, bool with_bias,
                     const std::vector<std::string>& names) {
  const bool normalised = head.settings.options.find("layer_norm")->second == "true";
  const auto batch = static_cast<Index>(head.parameter("batch"));
  const std::size_t layers = W.size();
  std::vector<Dense> sum_W(layers);
  std::vector<Column> sum_b(layers);
  std::vector<Dense> now_W = W;
  std::vector<Column> now_b = b;
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    if (t % batch == 0) {
      W = now_W;
      b = now_b;
      for (std::size_t l = 0; l < layers; ++l) {
        sum_W[l] = Dense::Zero(W[l].rows(), W[l].cols());
        sum_b[l] = Column::Zero(b[l].size());
      }
    }
    // The gradient of 1/2 |f(k) - v|^2 at the weights before the batch.
    std::vector<Column> input = {head.k(t)};
    std::vector<Column> z;
    for (std::size_t l = 0; l < layers; ++l) {
      z.push_back(W[l].transpose() * input[l] + b[l]);
      input.push_back(z[l].unaryExpr([](double x) { return gelu(x); }));
    }
    Column g = z.back() - head.v(t);
    if (normalised) {
      const Norm norm = layer_norm(head, z.back());
      g = norm.jacobian.transpose() * (head.k(t) + norm.y - head.v(t));
    }
    const double eta = head.row("eta", t)(0);
    const double sigma = head.has("sigma") ? head.row("sigma", t % batch)(0) : 1;
    for (std::size_t l = layers; l-- > 0;) {
      sum_W[l] += eta * input[l] * g.transpose();
      if (with_bias) sum_b[l] += eta * g;
      if (l > 0)
        g = Column(W[l] * g).cwiseProduct(z[l - 1].unaryExpr([](double x) { return gelu_slope(x); }));
    }
    Column x = head.q(t);
    for (std::size_t l = 0; l < layers; ++l) {
      now_W[l] = W[l] - sigma * sum_W[l];
      now_b[l] = b[l] - sigma * sum_b[l];
      x = now_W[l].transpose() * x + now_b[l];
      if (l + 1 < layers) x = x.unaryExpr([](double each) { return gelu(each); }).eval();
    }
    o.row(t) = (normalised ? Column(head.q(t) + layer_norm(head, x).y) : x).transpose();
  }
  Output output{o, {}};
  for (std::size_t l = 0; l < layers; ++l) {
    output.states.emplace_back(names[2 * l], now_W[l]);
    if (with_bias) output.states.emplace_back(names[2 * l + 1], now_b[l]);
  }
  return output;
}

Output ttt_linear(const Head& head) {
  if (head.settings.options.find("layer_norm")->second == "false") {
    return inner_learner(head, {head.initial_state()}, {Column::Zero(head.dv())}, false, {"S", ""});
  }
  const Index d = head.dv();
  const Dense S = head.has("initial_S") ? head.matrix("initial_S") : Dense::Zero(d, d);
  const Column c = head.has("initial_bias") ? Column(head.matrix("initial_bias")) : Column::Zero(d);
  return inner_learner(head, {S}, {c}, true, {"S", "bias"});
}

Output ttt_mlp(const Head& head) {
  return inner_learner(head, {head.matrix("W1"), head.matrix("W2")},
                       {Column(head.matrix("b1")), Column(head.matrix("b2"))}, true,
                       {"W1", "b1", "W2", "b2"});
}

/// Spec 3.11: five times s -> a s + b s^3 + c s^5 on the singular values of M / (|M| + 1e-7).
Dense newton_schulz(const Dense& M, bool tuned) {
  const double tuned_steps[5][3] = {{4.0848, -6.8946, 2.9270},
                                    {3.9505, -6.3029, 2.6377},
                                    {3.7418, -5.5913, 2.3037},
                                    {2.8769, -3.1427, 1.2046},
                                    {2.8366, -3.0525, 1.2012}};
  const double muon_step[3] = {3.4445, -4.7750, 2.0315};
  const Eigen::JacobiSVD<Dense> svd(M / (M.norm() + 1e-7), Eigen::ComputeThinU | Eigen::ComputeThinV);
  Column s = svd.singularValues();
  for (const auto& tuned_step : tuned_steps) {
    const double* step = tuned ? tuned_step : muon_step;
    for (double& each : s) each = step[0] * each + step[1] * std::pow(each, 3) + step[2] * std::pow(each, 5);
  }
  return svd.matrixU() * s.asDiagonal() * svd.matrixV().transpose();
}

/// Spec 3.11, batch after batch.
Output lact(const Head& head) {
  const auto is = [&](const char* option, const char* value) {
    return head.settings.options.find(option)->second == value;
  };
  const auto batch = static_cast<Index>(head.parameter("batch"));
  Dense S = head.matrix("initial_S");
  Dense M = head.has("initial_M") ? head.matrix("initial_M") : Dense::Zero(head.dk(), head.dv());
  Column lengths = S.colwise().norm().transpose();
  if (head.has("column_norm")) lengths = head.matrix("column_norm");
  Matrix<double> o(head.tokens(), head.dv());
  for (Index first = 0; first < head.tokens(); first += batch) {
    const Index end = std::min(first + batch, head.tokens());
    const auto read = [&] {
      for (Index t = first; t < end; ++t) o.row(t) = (S.transpose() * head.q(t)).transpose();
    };
    if (is("order", "apply_first")) read();
    M = head.has("momentum") ? Dense(head.row("momentum", first / batch)(0) * M)
                             : Dense::Zero(head.dk(), head.dv());
    for (Index t = first; t < end; ++t) {
      const Column asked = is("loss", "dot") ? head.v(t) : Column(head.v(t) - S.transpose() * head.k(t));
      M += head.row("eta", t)(0) * head.k(t) * asked.transpose();
    }
    S += is("optimizer", "muon") ? newton_schulz(M, is("newton_schulz", "tuned")) : M;
    for (Index j = 0; j < head.dv() && is("weight_norm", "true"); ++j) {
      S.col(j) *= lengths(j) / (S.col(j).norm() + 1e-5);
    }
    if (is("order", "update_first")) read();
  }
  return {o, {{"S", S}, {"M", M}}};
}

/// Spec 3.3: sum_d softmax(q)_d (sum_j exp(k_jd) v_j) / (sum_j exp(k_jd)) over the prefix or over everything.
Output double_softmax(const Head& head) {
  const bool causal = head.settings.options.find("causal")->second == "true";
  const Index n = head.tokens();
  Dense sums = Dense::Zero(head.dk(), head.dv());
  Column weights = Column::Zero(head.dk());
  if (head.has("initial_S") && head.has("initial_log_z")) {
    weights = head.matrix("initial_log_z").array().exp();
    sums = weights.asDiagonal() * head.matrix("initial_S");
  }
  Matrix<double> o(n, head.dv());
  const auto read = [&](Index t) {
    Column q = (head.q(t).array() - head.q(t).maxCoeff()).exp();
    q /= q.sum();
    if (weights.maxCoeff() == 0)
      o.row(t).setZero();  // no key before
    else
      o.row(t) = q.cwiseQuotient(weights).transpose() * sums;
  };
  for (Index t = 0; t < n; ++t) {
    if (causal && reads_before(head)) read(t);
    const Column weight = head.k(t).array().exp();
    weights += weight;
    sums += weight * head.v(t).transpose();
    if (causal && !reads_before(head)) read(t);
  }
  for (Index t = 0; t < n && !causal; ++t) read(t);
  const Column log_z = weights.array().log();
  Dense S = Dense::Zero(head.dk(), head.dv());
  if (weights.minCoeff() > 0) S = weights.cwiseInverse().asDiagonal() * sums;
  return {o, {{"S", S}, {"log_z", log_z}}};
}

}  // namespace

Output direct(const std::string& id, const Arrays& arrays, const Settings& settings) {
  const Head head{arrays, settings};
  if (id == "softmax") return softmax(head);
  if (id == "fox") return fox(head);
  if (id == "longhorn") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      const double delta = head.beta(t) / (1 + head.beta(t) * head.k(t).squaredNorm());
      const Column kept = Column::Ones(head.dk()) - delta * head.k(t).cwiseProduct(head.k(t));
      return kept.asDiagonal() * S + delta * written(head, t);
    });
  }
  if (id == "linear" && settings.options.at("causal") == "false") return linear_not_causal(head);
  if (id == "linear")
    return recurrence(head, [&](const Dense& S, Index t) -> Dense { return S + written(head, t); });
  if (id == "kernel") return kernel(head);
  if (id == "ttt_linear") return ttt_linear(head);
  if (id == "ttt_mlp") return ttt_mlp(head);
  if (id == "lact") return lact(head);
  if (id == "retnet") {
    const double gamma = head.parameter("gamma");
    return recurrence(head, [&](const Dense& S, Index t) -> Dense { return gamma * S + written(head, t); });
  }
  if (id == "scalar_decay") {
    return recurrence(
        head, [&](const Dense& S, Index t) -> Dense { return head.alpha(t)(0) * S + written(head, t); });
  }
  if (id == "gla") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      return head.alpha(t).asDiagonal() * S + written(head, t);
    });
  }
  if (id == "deltanet") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      return householder(head, t) * S + head.beta(t) * written(head, t);
    });
  }
  if (id == "gated_deltanet") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      return head.alpha(t)(0) * householder(head, t) * S + head.beta(t) * written(head, t);
    });
  }
  if (id == "lightning") {
    const double kept = std::exp(-head.parameter("slope"));
    return recurrence(head, [&](const Dense& S, Index t) -> Dense { return kept * S + written(head, t); });
  }
  if (id == "hgrn2") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      const Column alpha = head.alpha(t);
      return alpha.asDiagonal() * S + (Column::Ones(alpha.size()) - alpha) * head.v(t).transpose();
    });
  }
  if (id == "value_decay") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      return S * head.row("mu", t).asDiagonal() + written(head, t);
    });
  }
  if (id == "value_decay_delta") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      return householder(head, t) * S * head.row("mu", t).asDiagonal() + head.beta(t) * written(head, t);
    });
  }
  if (id == "two_sided_delta") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      return householder(head, t) * head.alpha(t).asDiagonal() * S * head.row("mu", t).asDiagonal() +
             head.beta(t) * written(head, t);
    });
  }
  if (id == "gated_deltanet2") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      const Dense kept = head.alpha(t).asDiagonal() * S;
      const Column erase_key = head.row("erase_gate", t).cwiseProduct(head.k(t));
      const Column value = head.row("write_gate", t).cwiseProduct(head.v(t));
      return kept - head.k(t) * (erase_key.transpose() * kept) + head.k(t) * value.transpose();
    });
  }
  if (id == "comba") {
    const bool decayed = settings.options.at("read") == "decayed";
    return recurrence(head, [&, decayed](const Dense& S, Index t) -> Dense {
      const double alpha = head.alpha(t)(0);
      const Column old = (decayed ? alpha : 1.0) * (S.transpose() * head.row("p", t));
      return alpha * S + head.beta(t) * head.k(t) * (head.v(t) - old).transpose();
    });
  }
  if (id == "rwkv7") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      const bool decays = head.has("alpha") || head.has("g");
      const Column alpha = decays ? head.alpha(t) : Column::Ones(head.dk());
      const Dense kept = alpha.asDiagonal() * S;
      return kept + head.row("b", t) * (head.row("a", t).transpose() * S) + written(head, t);
    });
  }
  if (id == "deltaproduct") return deltaproduct(head);
  if (id == "titans") return titans(head);
  if (id == "double_softmax") return double_softmax(head);
  if (id == "kda") {
    return recurrence(head, [&](const Dense& S, Index t) -> Dense {
      return householder(head, t) * head.alpha(t).asDiagonal() * S + head.beta(t) * written(head, t);
    });
  }
  if (id == "mesanet") return mesanet(head);
  if (id == "rls") return rls(head);
  if (id == "mamba") return mamba(head);
  throw std::logic_error("no oracle for " + id);
}

}  // namespace palimpsest::testing
