#include "tests/core/cases.h"

#include <Eigen/Dense>

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

  /// Row t as a column vector; of an array [T, h, K] row t h + j for step j of token t.
  Column row(const char* name, Index t) const {
    const Array& array = arrays.find(name)->second;
    const Index width = array.rank() == 1 ? 1 : array.shape.back();
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
  Index dk() const { return arrays.find("q")->second.shape.back(); }
  Index dv() const { return arrays.find("v")->second.shape.back(); }
  double parameter(const char* name) const { return settings.parameters.find(name)->second; }

  Column q(Index t) const { return parameter("scale") * row("q", t); }
  Column k(Index t) const { return row("k", t); }
  Column v(Index t) const { return row("v", t); }
  double beta(Index t) const { return row("beta", t)(0); }

  Column alpha(Index t) const {
    if (has("alpha")) return row("alpha", t);
    return row("g", t).array().unaryExpr([](double g) { return std::exp(g); });
  }

  /// 0 where it is not given.
  Dense state(const char* name) const { return has(name) ? matrix(name) : Dense::Zero(dk(), dv()); }
  bool is(const char* option, const char* value) const {
    const auto chosen = settings.options.find(option);
    return chosen != settings.options.end() && chosen->second == value;
  }

  /// Whether o_t = S_{t-1}^T q_t.
  bool reads_before() const { return is("order", "apply_first"); }
  /// S^T q_t.
  Eigen::RowVectorXd asked(const Dense& S, Index t) const { return (S.transpose() * q(t)).transpose(); }
};

/// Carries out Variant::recurrence for token `t` as it stands.
class Recurrence {
 public:
  Recurrence(const std::string& text, const Head& head, const Dense& S, Index t) : head_(head), t_(t) {
    known_["S"] = S;
    std::vector<std::string> clauses;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(", ", begin), text.size());
      clauses.push_back(text.substr(begin, end - begin));
      begin = end + 2;
    }
    for (std::size_t i = 1; i < clauses.size(); ++i) define(clauses[i]);
    after_ = value_of(clauses.front());
  }

  const Dense& after() const { return after_; }

 private:
  /// "R = S", or "R = S if read=undecayed".
  void define(const std::string& clause) {
    const std::size_t equals = clause.find(" = ");
    const std::size_t condition = clause.find(" if ");
    if (condition != std::string::npos) {
      const std::string wanted = clause.substr(condition + 4);
      const std::string option = wanted.substr(0, wanted.find('='));
      if (wanted != option + "=" + head_.settings.options.at(option)) return;
    }
    known_[clause.substr(0, equals)] = value_of(clause.substr(equals + 3, condition - equals - 3));
  }

  Dense value_of(const std::string& text) {
    rest_ = text;
    const Dense value = sum();
    if (!next().empty()) throw std::logic_error("\"" + text + "\" ends with \"" + rest_ + "\"");
    return value;
  }

  static bool is_number(const Dense& x) { return x.size() == 1; }

  static Dense times(const Dense& a, const Dense& b) {
    if (is_number(a)) return a(0, 0) * b;
    return is_number(b) ? Dense(a * b(0, 0)) : Dense(a * b);
  }

  static Dense plus(const Dense& a, const Dense& b) {
    if (is_number(a)) return (b.array() + a(0, 0)).matrix();
    return is_number(b) ? Dense((a.array() + b(0, 0)).matrix()) : Dense(a + b);
  }

  Dense sum() {
    Dense all = takes("-") ? Dense(-product()) : product();
    for (;;) {
      if (takes("+"))
        all = plus(all, product());
      else if (takes("-"))
        all = plus(all, -product());
      else
        return all;
    }
  }

  Dense product() {
    Dense all = factor();
    for (;;) {
      if (takes("o"))
        all = all.cwiseProduct(factor()).eval();
      else if (takes("/"))
        all = all / factor()(0, 0);
      else if (const std::string now = next(); now == "(" || std::isalnum(now[0]))
        all = times(all, factor());
      else
        return all;
    }
  }

  Dense factor() {
    const std::string name = take();
    Dense value;
    if (name == "(" || name == "Diag" || name == "exp") {
      if (name != "(") take();
      value = sum();
      take();
      if (name == "Diag") value = Dense(value.col(0).asDiagonal());
      if (name == "exp") value = value.array().exp().matrix();
    } else {
      value = std::isdigit(name[0]) ? Dense::Constant(1, 1, std::stod(name)) : named(name);
    }
    return takes("'") ? Dense(value.transpose()) : value;
  }

  Dense named(const std::string& name) const {
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    if (name == "I") return Dense::Identity(head_.dk(), head_.dk());
    if (name == "alpha")
      return head_.has("alpha") || head_.has("g") ? Dense(head_.alpha(t_)) : Dense::Ones(head_.dk(), 1);
    if (head_.has(name.c_str())) return head_.row(name.c_str(), t_);
    return Dense::Constant(1, 1, head_.parameter(name.c_str()));
  }

  /// A name, a number or a sign; empty at the end.
  std::string next() const {
    const std::size_t begin = rest_.find_first_not_of(' ');
    if (begin == std::string::npos) return "";
    std::size_t end = begin;
    while (end < rest_.size() && (std::isalnum(rest_[end]) || rest_[end] == '_')) ++end;
    return rest_.substr(begin, std::max<std::size_t>(end - begin, 1));
  }

  std::string take() {
    const std::string token = next();
    if (token.empty()) throw std::logic_error("a recurrence ends too early");
    rest_ = rest_.substr(rest_.find(token) + token.size());
    return token;
  }

  bool takes(const char* token) {
    if (next() != token) return false;
    take();
    return true;
  }

  const Head& head_;
  Index t_;
  std::map<std::string, Dense> known_;
  std::string rest_;
  Dense after_;
};

/// S_t as the recurrence says; o_t = S_t^T q_t, S_{t-1}^T q_t, or S_n^T q_t where the rule is not causal.
Output recurrence(const std::string& text, const Head& head) {
  Dense S = head.state("initial_state");
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const Dense before = S;
    S = Recurrence(text, head, before, t).after();
    o.row(t) = head.asked(head.reads_before() ? before : S, t);
  }
  for (Index t = 0; t < head.tokens() && head.is("causal", "false"); ++t) o.row(t) = head.asked(S, t);
  return {o, {{"S", S}}};
}

Dense written(const Head& head, Index t) { return head.k(t) * head.v(t).transpose(); }

/// Spec 3.1: the explicit matrix, the mask added before the exponential. `log_gates` are those of all keys,
/// and those between a key and a query are added too; none: nothing fades.
Output attention(const Head& head, const Column& log_gates) {
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
    Column x = K.topRows(seen) * head.q(i);
    for (Index j = 0; j < seen && log_gates.size() > 0; ++j)
      x(j) += log_gates.head(seen).tail(seen - j - 1).sum();
    const Column w = (x.array() - x.maxCoeff()).exp();
    o.row(i) = w.transpose() / w.sum() * V.topRows(seen);
  }
  return {o, {{"k_cache", K}, {"v_cache", V}}};
}

Output softmax(const Head& head) { return attention(head, {}); }

Output fox(const Head& head) {
  const Index p = head.has("initial_g_cache") ? head.rows("initial_g_cache") : 0;
  Column g(p + head.tokens());
  for (Index j = 0; j < g.size(); ++j) {
    if (j < p)
      g(j) = head.row("initial_g_cache", j)(0);
    else
      g(j) = head.has("g") ? head.row("g", j - p)(0) : std::log(head.alpha(j - p)(0));
  }
  Output output = attention(head, g);
  output.states.emplace_back("g_cache", g);
  return output;
}

/// Spec 3.3, the table of maps.
Column phi(const std::string& map, const Column& x, const Dense& directions = {}) {
  const Index K = x.size();
  // x x^T packed: the upper triangle by rows, what stands for two cells times sqrt 2.
  Column pairs(K * (K + 1) / 2);
  Index cell = 0;
  for (Index i = 0; i < K; ++i)
    for (Index j = i; j < K; ++j) pairs(cell++) = (i == j ? 1 : std::sqrt(2.0)) * x(i) * x(j);
  if (map == "elu1") return x.unaryExpr([](double each) { return each > 0 ? each + 1 : std::exp(each); });
  if (map == "relu") return x.cwiseMax(0.0);
  if (map == "squared") return pairs;
  if (map == "taylor1") return (Column(1 + K) << 1, x / x.norm()).finished();
  if (map == "taylor2") return (Column(1 + K + cell) << 1, x, pairs / std::sqrt(2.0)).finished();
  if (map == "favor") {
    const double scale = 1 / std::sqrt(static_cast<double>(directions.rows()));
    return scale * ((directions * x).array() - x.squaredNorm() / 2).exp().matrix();
  }
  throw std::logic_error("no oracle for the feature map " + map);
}

/// Spec 3.3: o_t = S_t^T phi(q_t) / (z_t . phi(q_t) + eps).
Output kernel(const Head& head) {
  const std::string& map_q = head.settings.options.at("feature_map_q");
  const std::string& map_k = head.settings.options.at("feature_map_k");
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

/// Whole, or from its diagonal.
Dense ridge_of(const Head& head) {
  const Dense given = head.matrix("ridge");
  return given.cols() == 1 && head.dk() > 1 ? Dense(given.col(0).asDiagonal()) : given;
}

/// Spec 3.13: two decayed sums, and the optimum for every token by a solve of its own.
Output mesanet(const Head& head) {
  const Index K = head.dk();
  Dense keys = head.has("initial_Hkk") ? head.matrix("initial_Hkk") : Dense::Zero(K, K);
  Dense values = head.state("initial_Hkv");
  const Dense ridge = ridge_of(head);
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const double gamma = head.row("gamma", t)(0);
    keys = gamma * keys + head.beta(t) * head.k(t) * head.k(t).transpose();
    values = gamma * values + head.beta(t) * written(head, t);
    const Dense S = (keys + ridge).partialPivLu().solve(values);
    o.row(t) = head.asked(S, t);
  }
  return {o, {{"Hkk", keys}, {"Hkv", values}}};
}

/// Spec 3.13: the minimum of the ridge problem around S_0 whose ridge fades together with the data, solved
/// anew for every token.
Output rls(const Head& head) {
  Dense R = head.has("initial_P") ? Dense(head.matrix("initial_P").inverse()) : ridge_of(head);
  Dense S = head.state("initial_S");
  Dense H = R * S;
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const double gamma = head.row("gamma", t)(0);
    R = gamma * R + head.beta(t) * head.k(t) * head.k(t).transpose();
    H = gamma * H + head.beta(t) * written(head, t);
    S = R.partialPivLu().solve(H);
    o.row(t) = head.asked(S, t);
  }
  return {o, {{"S", S}, {"P", R.inverse()}}};
}

/// Spec 3.14, cell by cell.
Output mamba(const Head& head) {
  const Dense A = head.matrix("A");
  Dense S = head.state("initial_state");
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

/// Spec 3.13: several delta steps per token on alpha_t S_{t-1}.
Output deltaproduct(const Head& head) {
  const Index h = head.arrays.at("beta").shape[1];
  const bool decays = head.has("alpha") || head.has("g");
  Dense S = head.state("initial_state");
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    const Dense before = S;
    if (decays) S *= head.alpha(t)(0);
    for (Index j = 0; j < h; ++j) {
      const Column k = head.k(t * h + j);
      S += head.row("beta", t)(j) * k * (head.v(t * h + j).transpose() - k.transpose() * S).eval();
    }
    o.row(t) = head.asked(head.reads_before() ? before : S, t);
  }
  return {o, {{"S", S}}};
}

/// Spec 3.9, the gradient taken at the memory with which the batch began.
Output titans(const Head& head) {
  const auto batch = static_cast<Index>(head.parameter("batch"));
  Dense S = head.state("initial_S");
  Dense M = head.state("initial_M");
  Dense at = S;
  Matrix<double> o(head.tokens(), head.dv());
  for (Index t = 0; t < head.tokens(); ++t) {
    if (t % batch == 0) at = S;
    const Dense before = S;
    const Dense gradient = head.k(t) * (at.transpose() * head.k(t) - head.v(t)).transpose();
    M = head.row("eta", t)(0) * M - head.row("theta", t)(0) * gradient;
    S = (1 - head.row("forget", t)(0)) * S + M;
    o.row(t) = head.asked(head.reads_before() ? before : S, t);
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
  const bool normalised = head.is("layer_norm", "true");
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
  if (head.is("layer_norm", "false")) {
    return inner_learner(head, {head.state("initial_state")}, {Column::Zero(head.dv())}, false, {"S", ""});
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
  const auto is = [&](const char* option, const char* value) { return head.is(option, value); };
  const auto batch = static_cast<Index>(head.parameter("batch"));
  Dense S = head.matrix("initial_S");
  Dense M = head.state("initial_M");
  Column lengths = S.colwise().norm().transpose();
  if (head.has("column_norm")) lengths = head.matrix("column_norm");
  Matrix<double> o(head.tokens(), head.dv());
  for (Index first = 0; first < head.tokens(); first += batch) {
    const Index end = std::min(first + batch, head.tokens());
    const auto read = [&] {
      for (Index t = first; t < end; ++t) o.row(t) = head.asked(S, t);
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
  const bool causal = head.is("causal", "true");
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
    if (causal && head.reads_before()) read(t);
    const Column weight = head.k(t).array().exp();
    weights += weight;
    sums += weight * head.v(t).transpose();
    if (causal && !head.reads_before()) read(t);
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
  const Variant& variant = find_variant(id);
  if (!variant.recurrence.empty()) return recurrence(variant.recurrence, head);
  using Oracle = Output (*)(const Head&);
  static const std::map<std::string, Oracle> oracles = {
      {"softmax", softmax}, {"fox", fox},
      {"kernel", kernel},   {"double_softmax", double_softmax},
      {"titans", titans},   {"deltaproduct", deltaproduct},
      {"mesanet", mesanet}, {"rls", rls},
      {"mamba", mamba},     {"ttt_linear", ttt_linear},
      {"ttt_mlp", ttt_mlp}, {"lact", lact}};
  const auto found = oracles.find(id);
  if (found == oracles.end()) throw std::logic_error("no oracle for " + id);
  return found->second(head);
}

}  // namespace palimpsest::testing
