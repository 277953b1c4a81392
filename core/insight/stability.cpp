#include "core/insight/learning.h"

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "core/base/text.h"
#include "core/engines/row_engines.h"
#include "core/insight/memory_change.h"
#include "core/rules/row_map.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

using Eigenvalues = std::vector<std::complex<double>>;

/// Whether H is a multiple of k k^T for one key, as for the squared error of one pair: H_ij H_mm = H_im H_mj,
/// up to the rounding of the products.
bool is_of_one_key(const Matrix<double>& H) {
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
  Index m = 0;
  const double top = H.diagonal().maxCoeff(&m);
  if (!(top > 0)) return false;
  const Matrix<double> product = H.col(m) * H.row(m);
  return ((top * H - product).array().abs() <= rounding * product.array().abs()).all();
}

void append(Eigenvalues& all, const Matrix<double>& H, bool symmetric) {
  if (symmetric && is_of_one_key(H)) {
    all.emplace_back(H.trace());  // along the key; no curvature across it
    all.resize(all.size() + static_cast<std::size_t>(H.rows()) - 1);
  } else if (symmetric) {
    const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(H, Eigen::EigenvaluesOnly);
    for (const double value : solver.eigenvalues()) all.emplace_back(value);
  } else {
    const Eigen::EigenSolver<Matrix<double>> solver(H, false);
    for (const std::complex<double>& value : solver.eigenvalues()) all.push_back(value);
  }
}

constexpr Index curvatures_at_a_time = 256;

struct Rates {
  std::string name = {};        // empty: the rule has none, or what is stored is not what they belong to
  Vector<double> of_step = {};  // [N]
  Matrix<double> keys = {};     // [N, K] that they belong to, where a program has made both at once
};

Rates rates(const Variant& variant, const Sequence& sequence, Index first, Index count) {
  if (const RowRule* const rows = variant.rule->row_program()) {
    Program<double> program = rows->encode<double>(sequence, first, count);
    if (!program.structure.beta || program.structure.plain_write) return {};
    return {rows->notation(sequence.settings).token.beta, program.beta.col(0), std::move(program.k)};
  }
  for (const char* name : {"beta", "eta"}) {
    if (sequence.has(name)) return {name, sequence.at(name).rows<double>(first, count).col(0)};
  }
  return {};
}

constexpr Index keys_at_a_time = 1024;  // tokens whose keys are held at a time

bool erases(const Variant& variant, const Sequence& sequence) {
  if (!variant.loss.problems) return false;
  const RowRule* const rows = variant.rule->row_program();
  if (!rows) {  // a plain step on a loss with curvature, with the array as its rate
    const auto first = learning_moment(variant, sequence, 0, 2);
    return first && first->strength && first->step.stability && first->step.stability->sharpness > 0;
  }
  return rows->structure(sequence).erase != Erase::none;
}

/// The rate that a row program makes of its strength and the key, called as the program says; nothing where
/// it takes the input as it is.
std::optional<Rates> made_rate(const Variant& variant, const Sequence& sequence, const std::string& array,
                               const std::stop_token& stop) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows) return std::nullopt;
  const std::string name = rows->notation(sequence.settings).token.beta;
  if (name == array) return std::nullopt;
  Rates made{name, Vector<double>(sequence.tokens)};
  for (Index first = 0; first < sequence.tokens; first += keys_at_a_time) {
    stop_if_asked(stop);
    const Index count = std::min(keys_at_a_time, sequence.tokens - first);
    const Program<double> program = rows->encode<double>(sequence, first, count);
    if (!program.structure.beta || program.structure.rows_per_read != 1) return std::nullopt;
    made.of_step.segment(first, count) = program.beta.col(0);
  }
  return made;
}

/// |k|^2 of every token's last pair.
Vector<double> key_squares(const Variant& variant, const Sequence& sequence, const std::stop_token& stop) {
  Vector<double> squares(sequence.tokens);
  for (Index first = 0; first < sequence.tokens; first += keys_at_a_time) {
    stop_if_asked(stop);
    const Index count = std::min(keys_at_a_time, sequence.tokens - first);
    const Matrix<double> keys = stored_pairs(variant, sequence, first, count).keys;
    const Index per_token = keys.rows() / count;
    for (Index t = 0; t < count; ++t) squares[first + t] = keys.row((t + 1) * per_token - 1).squaredNorm();
  }
  return squares;
}

/// The norm of what a step would write into an empty memory.
double written(const InnerProblem& problem) {
  InnerProblem alone = problem;
  alone.momentum = 0;
  for (Matrix<double>& matrix : alone.at) matrix.setZero();
  alone.from = alone.at;
  return norm(alone.after().weights);
}

double norm_of(const NamedStates& states) {
  double length = 0;
  for (const auto& [name, state] : states) length = std::hypot(length, state.stableNorm());
  return length;
}

/// The first step up to `last` that multiplies some direction by more than 1.
void find_cause(const Variant& variant, const Sequence& sequence, Index last, Divergence& found,
                std::stop_token stop) {
  constexpr double rounding = 1e-9;
  bool blamed = false;
  const auto visit = [&](const InnerContext& context, const NamedStates&) {
    for (const InnerProblem& problem : problems_of(variant, context)) {
      if (problem.muon) continue;
      const std::optional<Stability> step = learn(problem).stability;
      if (!step || !(step->growth > 1 + rounding)) continue;
      blamed = true;
      found.cause_token = context.token;
      found.eigenvalue = step->eigenvalue;
      const bool overshoots = step->eigenvalue < -1;
      if (!overshoots && step->eigenvalue <= 1) found.eigenvalue = step->growth;
      found.words = overshoots
                        ? fmt::format(
                              "learning rate × curvature is {}, above the limit {:.3g}: the step "
                              "increases the error",
                              plain_number(step->reach, 3), (1 + problem.kept) * (1 + problem.momentum))
                        : fmt::format("the step of token {} multiplies a direction of the memory by {}",
                                      context.token + 1, plain_number(found.eigenvalue, 3));
      return false;
    }
    return context.token < last;
  };
  visit_contexts(variant, sequence, visit, std::move(stop));
  if (blamed) return;
  found.cause_token = found.token;
  found.eigenvalue = 1;
  found.words = std::isfinite(found.norm)
                    ? "each step alone is stable, but their product grows"
                    : fmt::format("the numbers of token {} exceed the range of f64", found.token + 1);
}

bool ran_away(double length, double reachable) { return !std::isfinite(length) || length > 10 * reachable; }

/// The norm of what a row would write into an empty memory.
double written(const Program<double>& row) {
  const double beta = row.structure.beta ? row.beta(0, 0) : 1;
  double length = row.structure.writes_value ? std::abs(beta) * norm({row.k}) * norm({row.v}) : 0;
  if (row.structure.plain_write) length += norm({row.k_plain}) * norm({row.v_plain});
  return length;
}

/// Where a row program with one state diverges, without the cause: much faster than by its inner problems.
std::optional<Divergence> runaway_of_rows(const RowRule& rule, const Sequence& sequence,
                                          const std::stop_token& stop, const TokensDone& done) {
  std::optional<Divergence> found;
  double reachable = norm({rule.initial_state<double>(sequence)});
  const auto visit = [&](Index token, bool is_last, const Program<double>& row, Matrix<double>& S) {
    reachable += written(row);
    recurrent(row, S);
    if (!is_last) return true;
    done.tell(token + 1);
    if (!ran_away(S.norm(), reachable)) return true;
    const double now = norm({S});  // its squares fit where those of the sum above may not
    if (ran_away(now, reachable)) found = {.token = token, .norm = now, .reachable = reachable};
    return !found;
  };
  walk_rows(rule, sequence, visit, stop);
  return found;
}

/// The same of any other rule with weights.
std::optional<Divergence> runaway(const Variant& variant, const Sequence& sequence,
                                  const std::stop_token& stop, const TokensDone& done) {
  std::optional<Divergence> found;
  // The norm that stable steps can reach: the sum of the writes so far. The problems of one batch replace
  // each other.
  Index batch = -1;
  double earlier = 0;
  double latest = 0;
  const auto write = [&](Index first_token, double amount) {
    if (first_token != batch) earlier += latest;
    batch = first_token;
    latest = amount;
  };
  std::optional<double> start;
  const auto visit = [&](const InnerContext& context, const NamedStates& states) {
    done.tell(context.token + 1);
    if (states == context.before) return true;  // inside a batch whose step comes at its end
    const Index token = context.token;
    const std::vector<InnerProblem> problems = problems_of(variant, context);
    double now = norm_of(states);
    if (problems.empty()) {
      const StoredPairs pair = stored_pairs(variant, sequence, token, 1);
      if (!start) start = norm_of(context.before);
      write(token, norm({pair.keys}) * norm({pair.values}));
    } else {
      if (!start) start = norm(problems.front().from);
      double writes = 0;
      for (const InnerProblem& problem : problems) writes += written(problem);
      write(problems.front().first_token, writes);
      if (std::isfinite(now)) now = norm(problems.back().after().weights);
    }
    const double limit = *start + (earlier + latest);
    if (ran_away(now, limit)) found = {.token = token, .norm = now, .reachable = limit};
    return !found;
  };
  visit_contexts(variant, sequence, visit, stop);
  return found;
}

}  // namespace

std::optional<std::vector<std::complex<double>>> hessian_eigenvalues(const InnerProblem& problem) {
  const Index K = problem.at[0].rows();
  const Index V = problem.at[0].cols();
  std::vector<Hessian> parts;
  Matrix<double> keys = Matrix<double>::Zero(K, K);
  bool symmetric = true;
  bool alike = true;  // every column of S has the same curvature
  for (const WeighedTerm& term : problem.terms) {
    std::optional<Hessian> part = term.of->hessian(problem.at);
    if (!part) return std::nullopt;
    if (!part->keys.allFinite() || !part->cells.allFinite()) return std::nullopt;
    const Matrix<double>& P = term.preconditioner;
    if (P.size() > 0) {
      symmetric = false;
      part->keys = P * part->keys;
    }
    keys += part->keys;
    alike = alike && (part->cells.colwise() - part->cells.col(0)).isZero(0);
    parts.push_back(std::move(*part));
  }
  Eigenvalues all;
  for (Index column = 0; column < (alike ? 1 : V); ++column) {
    Matrix<double> H = keys;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Matrix<double>& P = problem.terms[i].preconditioner;
      const Matrix<double> cells = parts[i].cells.col(column).asDiagonal();
      H += P.size() == 0 ? cells : Matrix<double>(P * cells);
    }
    if (H.isDiagonal(0)) {
      for (const double value : H.diagonal()) all.emplace_back(value);
    } else {
      append(all, H, symmetric);
    }
  }
  return all;
}

double growth(const InnerProblem& problem, std::complex<double> eigenvalue) {
  const std::complex<double> moved = problem.kept - problem.rate * eigenvalue;
  const double m = problem.momentum;
  const std::complex<double> half = (moved + m) / 2.0;
  const std::complex<double> root = std::sqrt(half * half - problem.kept * m);
  return std::max(std::abs(half + root), std::abs(half - root));
}

double largest_stable_rate(const InnerProblem& problem, std::complex<double> eigenvalue) {
  if (eigenvalue == 0.0) return std::numeric_limits<double>::infinity();
  if (eigenvalue.real() <= 0) return 0;
  if (eigenvalue.imag() != 0) return 2 * eigenvalue.real() / std::norm(eigenvalue);
  return (1 + problem.kept) * (1 + problem.momentum) / eigenvalue.real();
}

WriteStrengths write_strengths(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  require_answers(variant);
  WriteStrengths strengths{.of_token = Vector<double>(sequence.tokens)};
  for (Index first = 0; first < sequence.tokens; first += curvatures_at_a_time) {
    stop_if_asked(stop);
    const Index count = std::min(curvatures_at_a_time, sequence.tokens - first);
    Rates rate = rates(variant, sequence, first, count);
    const bool has_keys = rate.keys.size() > 0 && !variant.memory.pairs;
    const StoredPairs pairs =
        has_keys ? StoredPairs{std::move(rate.keys), {}} : stored_pairs(variant, sequence, first, count);
    strengths.rate = rate.name;
    strengths.symbol = rate.name.empty() ? "" : input_symbol(variant, sequence.settings, rate.name);
    const Index steps = pairs.keys.rows() / count;
    for (Index t = 0; t < count; ++t) {
      const Index last = (t + 1) * steps - 1;
      strengths.of_token(first + t) = rate.name.empty()
                                          ? pairs.keys.row(last).norm() * pairs.values.row(last).norm()
                                          : std::abs(rate.of_step(last)) * pairs.keys.row(last).squaredNorm();
    }
  }
  return strengths;
}

std::optional<std::string> strength_array(const Variant& variant) {
  for (const char* name : {"beta", "theta", "eta", "delta"}) {
    const Input* const found = row_called(variant.inputs, name, &Input::name);
    if (found && has_tokens(*found)) return name;
  }
  return std::nullopt;
}

std::string input_symbol(const Variant& variant, const Settings& settings, const std::string& name) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows) return name == "delta" ? "\\Delta" : "\\" + name;  // a time step
  const Symbols symbols = rows->notation(settings).symbols;
  const Symbol* const symbol = value_at(symbols, name);
  return symbol ? symbol->latex.substr(0, symbol->latex.find("_t")) : "\\" + name;
}

StepReach step_reach(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  require_memory_to_ask(variant);
  StepReach strengths;
  const std::optional<std::string> array = strength_array(variant);
  if (array) {
    strengths.array = *array;
    strengths.symbol = input_symbol(variant, sequence.settings, *array);
  }
  if (sequence.tokens == 0) return strengths;
  std::vector<LearningStep> first;
  if (variant.loss.problems) first = learning_at(variant, sequence, 0);
  strengths.has_momentum = !first.empty() && !first.back().problem.moving.empty();
  // Without a parabola: the curvature depends on the weights.
  strengths.is_network = !first.empty() && first.back().stability && !first.back().stability->exact;
  if (strengths.is_network) {
    strengths.reach = strengths.squares = Vector<double>::Zero(sequence.tokens);
    const auto curve = learning_curve(variant, sequence, stop);
    for (Index t = 0; t < sequence.tokens; ++t) {
      const auto& point = entry(curve, t);
      if (!point) continue;
      strengths.reach[t] = point->rate * point->sharpness;
      const double own = array ? sequence.at(*array).rows<double>(t, 1).mean() : 1;
      if (own > 0) strengths.squares[t] = strengths.reach[t] / own;
    }
    strengths.has_edge = true;
    return strengths;
  }
  strengths.squares = strengths.reach = key_squares(variant, sequence, stop);
  if (const auto made = array ? made_rate(variant, sequence, *array, stop) : std::nullopt) {
    strengths.symbol = input_symbol(variant, sequence.settings, made->name);
    strengths.reach.array() *= made->of_step.array();
  } else if (array) {
    const Matrix<double> rates = sequence.at(*array).all<double>();
    const bool has_steps = *array == "beta" && rates.cols() > 1;  // of several the last counts
    const Vector<double> own = has_steps ? Vector<double>(rates.rightCols(1)) : rates.rowwise().mean();
    strengths.reach.array() *= own.array();
  }
  // For tokens that make one step together no single strength decides where the step ends.
  strengths.has_edge = erases(variant, sequence) && inner_batch(sequence.settings) == 1;
  return strengths;
}

std::optional<LargestGrowth> largest_growth(const RowRule& rule, const Sequence& sequence,
                                            std::stop_token stop) {
  std::optional<LargestGrowth> most;
  const Program<double> empty = rule.encode<double>(sequence, 0, 0);
  const Index size = empty.k.cols() * empty.structure.part_count();
  const auto affordable =
      static_cast<Index>(1e8 / std::pow(static_cast<double>(std::max<Index>(size, 1)), 3));
  const Index stride = std::max<Index>(sequence.tokens / std::max<Index>(affordable, 16), 1);
  for (Index token = 0; token < sequence.tokens; token += stride) {
    stop_if_asked(stop);
    Program<double> rows = rule.encode<double>(sequence, token, 1);
    rows.v = Matrix<double>::Zero(rows.rows(), 1);  // the values change nothing
    if (rows.v_plain.size() > 0) rows.v_plain = rows.v;
    if (rows.mu.size() > 0) rows.mu = rows.mu.rowwise().maxCoeff().eval();  // of the channel that keeps most
    const RowMap map(rows);
    Matrix<double> columns = Matrix<double>::Identity(size, size);
    for (Index r = 0; r < map.rows(); ++r) map.push_forward(r, columns);
    if (!columns.allFinite()) continue;
    const Eigen::EigenSolver<Matrix<double>> solver(columns, false);
    const double factor = solver.eigenvalues().cwiseAbs().maxCoeff();
    const Index tried = most ? most->tried + 1 : 1;
    if (!most || factor > most->factor) most = LargestGrowth{token, factor};
    most->tried = tried;
  }
  return most;
}

std::optional<Divergence> divergence(const Variant& variant, const Sequence& sequence, std::stop_token stop,
                                     const std::function<void(double)>& progress) {
  const RowRule* const rows = variant.rule->row_program();
  const bool has_one_state = rows && rows->structure(sequence).parts.empty();
  const TokensDone done(sequence.tokens, progress);
  std::optional<Divergence> found =
      has_one_state ? runaway_of_rows(*rows, sequence, stop, done) : runaway(variant, sequence, stop, done);
  if (found) find_cause(variant, sequence, found->token, *found, stop);
  return found;
}

}  // namespace palimpsest
