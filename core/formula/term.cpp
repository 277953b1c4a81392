#include "core/formula/functions.h"

#include <fmt/format.h>

#include <numeric>

namespace palimpsest {

namespace {

using Binds = Written::Binds;

constexpr Index few = 4;  // terms or factors that are written out
constexpr std::string_view minus = "−";

bool is_negative(const Written& a) { return a.text.starts_with(minus); }

std::string bracketed(const Written& a, bool needed) { return needed ? "(" + a.text + ")" : a.text; }

Written written_sum(const Written& a, const Written& b) {
  const std::string left = bracketed(a, a.open);
  if (is_negative(b)) return {left + " − " + b.text.substr(minus.size()), Binds::sum, b.open};
  return {left + " + " + b.text, Binds::sum, b.open};
}

Written written_difference(const Written& a, const Written& b) {
  const std::string right = bracketed(b, b.binds == Binds::sum || is_negative(b));
  return {bracketed(a, a.open) + " − " + right, Binds::sum, b.open && right == b.text};
}

/// "−a", written for 0 − a where the 0 is a constant of the formula.
Written written_opposite(const Written& a) {
  return {std::string(minus) + bracketed(a, a.binds == Binds::sum || is_negative(a)), Binds::sum, a.open};
}

Written written_product(const Written& a, const Written& b) {
  return {
      bracketed(a, a.binds < Binds::product) + "·" + bracketed(b, b.binds < Binds::product || is_negative(b)),
      Binds::product};
}

Written written_quotient(const Written& a, const Written& b) {
  return {
      bracketed(a, a.binds < Binds::product) + " / " + bracketed(b, b.binds < Binds::atom || is_negative(b)),
      Binds::quotient};
}

Written written_number(double value) {
  const std::string text = number_text(value);
  return {text, text.find("·") == std::string::npos ? Binds::atom : Binds::product};
}

/// Two terms written side by side, with symbols and with numbers.
Term beside(Written (*written)(const Written&, const Written&), const Term& a, const Term& b, double value) {
  return {written(a.formula, b.formula), written(a.numbers, b.numbers), value};
}

Term called(const std::string& name, const Term& a, double value) {
  return {{name + "(" + a.formula.text + ")"}, {name + "(" + a.numbers.text + ")"}, value};
}

/// The indices of all terms when they are few, else of those of the largest size, largest first.
std::vector<Index> worth_writing(std::vector<double> sizes) {
  std::vector<Index> order(sizes.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (static_cast<Index>(order.size()) <= few) return order;
  // NaN counts as the largest, because the reader looks for it.
  for (double& size : sizes) size = std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
  const auto size = [&](Index i) { return entry(sizes, i); };
  std::partial_sort(order.begin(), order.begin() + few, order.end(),
                    [&](Index a, Index b) { return size(a) != size(b) ? size(a) > size(b) : a < b; });
  order.resize(few);
  return order;
}

std::vector<double> values_of(const IndexedTerms& terms) {
  std::vector<double> values;
  for (Index i = 0; i < terms.count; ++i) values.push_back(terms.value(i));
  return values;
}

std::string subscripted(std::string_view operation, char letter) {
  return fmt::format("{}_{}", operation, letter);
}

}  // namespace

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}

Term number(double value) { return {written_number(value), written_number(value), value}; }

Term symbol(std::string formula, double value) {
  return {{std::move(formula)}, written_number(value), value};
}

Term operator+(const Term& a, const Term& b) { return beside(written_sum, a, b, a.value + b.value); }

Term operator-(const Term& a, const Term& b) {
  const double value = a.value - b.value;
  if (a.formula.text == "0") return {written_opposite(b.formula), written_opposite(b.numbers), value};
  return beside(written_difference, a, b, value);
}

Term operator-(const Term& a) { return number(0) - a; }

Term operator*(const Term& a, const Term& b) { return beside(written_product, a, b, a.value * b.value); }

Term operator/(const Term& a, const Term& b) { return beside(written_quotient, a, b, a.value / b.value); }

Term exp(const Term& a) { return called("exp", a, std::exp(a.value)); }

Term sqrt(const Term& a) { return called("√", a, std::sqrt(a.value)); }

Term log(const Term& a) { return called("log", a, std::log(a.value)); }

Term tanh(const Term& a) { return called("tanh", a, std::tanh(a.value)); }

Term maximum(const Term& a, const Term& b) {
  const auto written = [](const Written& x, const Written& y) {
    return Written{fmt::format("max({}, {})", x.text, y.text)};
  };
  return beside(written, a, b, maximum(a.value, b.value));
}

Term worked_out(Term a) {
  a.numbers = written_number(a.value);
  return a;
}

Term sum(const IndexedTerms& terms, std::string_view sign) {
  if (terms.count == 0) return number(0);
  if (terms.count == 1) return terms.term(0);

  const std::vector<double> values = values_of(terms);
  Term result;
  result.value = std::accumulate(values.begin(), values.end(), 0.0);

  const Written one = terms.term({0, terms.letter}).formula;
  const std::string sigma = sign.empty() ? subscripted("Σ", terms.letter) : std::string(sign);
  result.formula = {sigma + " " + bracketed(one, one.binds == Binds::sum), Binds::quotient, true};

  std::vector<double> sizes = values;
  for (double& size : sizes) size = std::abs(size);
  for (const Index i : worth_writing(std::move(sizes))) {
    const Written term = terms.term({i, terms.letter}).numbers;
    result.numbers = result.numbers.text.empty() ? term : written_sum(result.numbers, term);
  }
  if (terms.count > few) result.numbers.text += " + …";
  result.numbers.binds = Binds::sum;
  return result;
}

Term maximum(const IndexedTerms& terms) {
  const std::vector<double> values = values_of(terms);
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : values) largest = maximum(largest, value);
  if (terms.count == 0) return number(largest);

  std::string numbers;
  for (const Index i : worth_writing(values)) {
    numbers += (numbers.empty() ? "" : ", ") + terms.term({i, terms.letter}).numbers.text;
  }
  if (terms.count > few) numbers += ", …";
  return {{fmt::format("{} {}", subscripted("max", terms.letter), terms.term({0, terms.letter}).formula.text),
           Binds::quotient, true},
          {fmt::format("max({})", numbers)},
          largest};
}

Term product(Index first, Index count, const std::function<Term(Index)>& term) {
  if (count == 0) return number(1);
  Term result = term(first);
  const Written first_formula = result.formula;
  Term last = result;
  for (Index i = 1; i < count; ++i) {
    last = term(first + i);
    const double value = result.value * last.value;
    if (count <= few || i < few - 1) result = result * last;
    result.value = value;
  }
  if (count > few) {
    result.formula = {bracketed(first_formula, first_formula.binds < Binds::product) + "·…·" +
                          bracketed(last.formula, last.formula.binds < Binds::product),
                      Binds::product};
    result.numbers = written_product({result.numbers.text + "·…", Binds::product}, last.numbers);
  }
  return result;
}

}  // namespace palimpsest
