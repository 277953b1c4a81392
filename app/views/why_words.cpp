#include "app/views/why_words.h"

#include <numeric>

#include "app/stage/box.h"
#include "app/words/step.h"

namespace palimpsest {

namespace {

/// The norm of an operation's result; 0 if it is only rounding.
double told_norm(const Operation& operation, const Record& record) {
  constexpr double suspicious = 1e-6;  // only smaller results are compared with their operands
  const Matrix<double>& made = record.at(operation.equation.result);
  const double size = norm(Weights<double>{made});
  const bool is_rounding =
      size < suspicious && largest_finite(made) <= dust_of(operation.equation.expression, record);
  return is_rounding ? 0 : size;
}

using Kind = Expression::Kind;

constexpr double rounding = 1e-6;  // of the sum of the terms, in f64

/// The terms of a sum, in the order of the index that it runs over.
struct Terms {
  std::vector<double> values = {};
  std::optional<Index> first_token = {};  // where the sum runs over tokens
};

class Finder {
 public:
  Finder(const Trace& trace, const Block& block, const Record& record)
      : trace_(trace), block_(block), record_(record) {}

  Terms find(const Expression& e, Index row, Index column) const {
    const auto arguments = e.arguments();
    if (e.kind() == Kind::transpose) return find(arguments[0], column, row);
    if (e.kind() == Kind::hadamard) return find_hadamard(e, row, column);
    if (e.kind() == Kind::product) return find_product(e, row, column);
    // A cell that a mask keeps equals that of the matrix.
    if (e.kind() == Kind::named || is_mask(e)) return find(arguments[0], row, column);
    if (e.kind() != Kind::function) return {};
    if (e.name() == "row_sum") return row_terms(arguments[0], row);
    return e.name() == "log_decays" ? gate_terms(e, row, column) : Terms();
  }

 private:
  static bool is_mask(const Expression& e) {
    return e.kind() == Kind::function && is_among(e.name(), {"lower", "strictly_lower", "causal"});
  }

  static Terms times(Terms terms, double factor) {
    for (double& value : terms.values) value *= factor;
    return terms;
  }

  double value(const Expression& e, Index row, Index column) const {
    return evaluate(e, record_)(row, column);
  }

  Terms find_hadamard(const Expression& e, Index row, Index column) const {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const auto at = [&](std::size_t argument, const auto& use) {
        const Shape size = shape(e.arguments()[argument], record_);
        return use(e.arguments()[argument], repeated(row, size.rows), repeated(column, size.columns));
      };
      Terms terms = at(i, [&](const Expression& x, Index r, Index c) { return find(x, r, c); });
      if (terms.values.empty()) continue;
      return times(std::move(terms),
                   at(1 - i, [&](const Expression& x, Index r, Index c) { return value(x, r, c); }));
    }
    return {};
  }

  Terms row_terms(const Expression& x, Index row) const {
    const Matrix<double> values = evaluate(x, record_);
    const auto summed = values.row(row);
    return {{summed.begin(), summed.end()}, first_kept(values.cols())};
  }

  /// The logarithms of the gates after a key up to a query; 0 for the others.
  Terms gate_terms(const Expression& e, Index row, Index column) const {
    const Expression& gates = e.arguments()[0];
    const Matrix<double> logarithms = evaluate(gates, record_);
    const double query = value(e.arguments()[1], row, 0);
    const double key = value(e.arguments()[2], column, 0);
    Terms terms;
    for (Index l = 0; l < logarithms.rows(); ++l) {
      const auto at = static_cast<double>(l);
      terms.values.push_back(at > key && at <= query ? logarithms(l, 0) : 0);
    }
    terms.first_token = first_kept(logarithms.rows());
    return terms;
  }

  /// The token of the first term if there are as many terms as keys in the cache.
  std::optional<Index> first_kept(Index terms) const {
    constexpr const char* kept = "K_cache";
    if (!record_.contains(kept) || record_.at(kept).rows() != terms) return std::nullopt;
    const Index first = block_.first_token + block_.count - terms;
    return first >= 0 ? std::optional(first) : std::nullopt;
  }

  Terms find_product(const Expression& e, Index row, Index column) const {
    const Expression& x = e.arguments()[0];
    const Expression& y = e.arguments()[1];
    const Shape left = shape(x, record_);
    switch (product_kind(e, left, shape(y, record_))) {
      case ProductKind::number_left:
        return times(find(y, row, column), value(x, 0, 0));
      case ProductKind::number_right:
        return times(find(x, row, column), value(y, 0, 0));
      case ProductKind::diagonal_left:
        return times(find(y, row, column), value(x, row, row));
      case ProductKind::diagonal_right:
        return times(find(x, row, column), value(y, column, column));
      case ProductKind::matrices:
        break;
    }
    if (left.columns < 2) return {};
    return {product_terms(evaluate(x, record_), evaluate(y, record_), row, column, left.columns),
            first_token(x, y)};
  }

  /// The token of the first term, if the rows or columns of a factor are tokens.
  std::optional<Index> first_token(const Expression& x, const Expression& y) const {
    const bool is_turned = x.kind() == Kind::transpose;
    const Expression& left = is_turned ? x.arguments()[0] : x;
    if (left.kind() == Kind::tensor) {
      const Axes axes = axes_of(trace_, block_, record_.at(left.name()), left.name());
      const auto& first = (is_turned ? axes.rows : axes.columns).first_token;
      if (first) return first;
    }
    if (y.kind() != Kind::tensor) return std::nullopt;
    return axes_of(trace_, block_, record_.at(y.name()), y.name()).rows.first_token;
  }

  const Trace& trace_;
  const Block& block_;
  const Record& record_;
};

}  // namespace

std::string line_number(const Operation& operation, const Record& record, const Symbols& symbols,
                        const Recall* recall) {
  const std::string& result = operation.equation.result;
  if (!record.contains(result)) return {};
  if (operation.purpose == Purpose::decay && record.contains("alpha"))
    return half_lives_words(record.at("alpha"));
  if (operation.purpose == Purpose::write && recall)
    return "‖e‖ = " + plain_number(error_norm(recall->after), 2);
  const Matrix<double>& made = record.at(result);
  if (made.size() == 1) return fmt::format("{:.3g}", made(0, 0));
  const std::string norm_words = "norm " + plain_number(told_norm(operation, record), 2);
  if (operation.purpose != Purpose::update) return norm_words;
  for (const std::string& name : operands(operation.equation.expression)) {
    const Symbol& symbol = symbol_in(symbols, name);
    if (symbol.role == Role::strength && record.at(name).size() == 1)
      return fmt::format("{} = {:.3g}, {}", unicode(symbol.latex), record.at(name)(0, 0), norm_words);
  }
  return norm_words;
}

int largest_share(const std::vector<WriterShare>& writers) {
  if (writers.empty()) return -1;
  const auto largest = std::ranges::max_element(
      writers, {}, [](const WriterShare& writer) { return std::abs(writer.remaining); });
  return static_cast<int>(largest - writers.begin());
}

std::vector<CellPart> inner_terms(const Trace& trace, const Block& block, const Record& record,
                                  const CellFocus& cell) {
  const Operation* maker = maker_of(trace.phase(block), cell.tensor);
  if (!maker) return {};
  const Terms terms = Finder(trace, block, record).find(maker->equation.expression, cell.row, cell.column);
  const double shown = record.at(cell.tensor)(cell.row, cell.column);
  const double sum = std::accumulate(terms.values.begin(), terms.values.end(), 0.0);
  // A masked cell is no sum of these terms.
  if (!(std::abs(sum - shown) <= rounding * std::max(1.0, std::abs(shown)))) return {};
  std::vector<CellPart> parts;
  for (std::size_t i = 0; i < terms.values.size(); ++i) {
    if (terms.values[i] == 0) continue;
    const auto index = static_cast<Index>(i);
    CellPart part{.words = fmt::format("channel {}", i), .value = terms.values[i]};
    if (terms.first_token) part.token = *terms.first_token + index;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace palimpsest
