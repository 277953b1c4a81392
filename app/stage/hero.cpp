// The step at the cursor, enlarged.

#include <fmt/format.h>

#include "app/stage/cell_words.h"
#include "app/stage/equation_layout.h"
#include "app/stage/view.h"
#include "app/words/step.h"
#include "core/base/text.h"
#include "core/numbers/between.h"
#include "core/steps/recognised.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

constexpr std::size_t most_strips = 6;
constexpr Index most_steps_of_solve = 60;
constexpr std::size_t most_links = 160;  // between two layers
constexpr double flat_from = 0.68;       // where singular values end (core/numbers/matrix_functions.h)
constexpr double flat_to = 1.14;
constexpr Index most_products = 1 << 18;  // entries of scaled rows: of more they are not drawn

/// The expression inside a recorded subexpression.
const Expression& unwrapped(const Expression& expression) {
  return expression.kind() == Kind::named ? unwrapped(expression.arguments()[0]) : expression;
}

/// The tensors that a function's formula writes: not the index of each key that a sum runs to.
std::vector<std::string> written_operands(const Expression& function) {
  std::vector<std::string> places;
  for (std::size_t i = 0; i < function.arguments().size(); ++i) places.push_back(fmt::format("@{}@", i));
  const std::string formula = find_function(function.name()).latex(places);
  std::vector<std::string> written;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (formula.find(places[i]) == std::string::npos) continue;
    for (const std::string& operand : operands(function.arguments()[i])) written.push_back(operand);
  }
  return written;
}
struct SignedTerm {
  bool minus = false;
  Expression expression;
};

std::vector<SignedTerm> terms_of(const Expression& expression, bool minus = false) {
  const Expression& inner = unwrapped(expression);
  if (inner.kind() != Kind::sum && inner.kind() != Kind::difference) return {SignedTerm{minus, inner}};
  std::vector<SignedTerm> terms = terms_of(inner.arguments()[0], minus);
  std::ranges::move(terms_of(inner.arguments()[1], minus != (inner.kind() == Kind::difference)),
                    std::back_inserter(terms));
  return terms;
}

/// The factors of a product, numbers apart from the rest.
struct Factors {
  std::vector<Expression> numbers;
  std::vector<Expression> others;

  /// The first of the others, times all numbers.
  Expression scaled(const Expression& factor) const {
    Expression product = factor;
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) product = *number * product;
    return product;
  }
};

/// A vector or matrix that is multiplied with a vector, and added up.
struct Contraction {
  std::string matrix;
  bool over_rows = true;  // each row has its number; else each column
  Expression numbers;
  bool numbers_lie_flat = false;
};

struct HeroBuilder {
  const Phase& phase;
  const Operation& operation;
  const Record& record;
  const Symbols& symbols;
  const LatexStyle& style;
  const Expression& how = operation.equation.expression;
  const Expression result = tensor(operation.equation.result);
  Hero hero = {};
  int pictures = 0;

  Hero build() {
    if (!(flattened() || in_network() || solved() || overwritten() || added() || scaled() || multiplied() ||
          contracted() || in_strips())) {
      hero = {.kind = Hero::Kind::equation, .equation = boxes("hero", operation.equation, record, symbols)};
      hero.broken = broken(hero.equation);
    }
    add_flattening();
    return std::move(hero);
  }

  Shape shape_of(const Expression& expression) const { return shape(expression, record); }
  bool is_number(const Expression& expression) const { return shape_of(expression) == Shape{1, 1}; }
  bool is_matrix(const Expression& expression) const {
    const Shape size = shape_of(expression);
    return size.rows > 1 && size.columns > 1;
  }
  bool is_vector(const Expression& expression) const {
    return !is_matrix(expression) && !is_number(expression);
  }
  bool is_empty(const Expression& expression) const {
    const Shape size = shape_of(expression);
    return size.rows == 0 || size.columns == 0;
  }

  const Symbol& symbol_of(const std::string& tensor) const { return symbol_in(symbols, tensor); }

  std::string latex_of(const auto& formula) const { return latex(formula, symbols, style); }

  Factors factors_of(const Expression& product, Factors factors = {}) const {
    const Expression& inner = unwrapped(product);
    if (inner.kind() == Kind::product) {
      for (const Expression& factor : inner.arguments()) factors = factors_of(factor, std::move(factors));
    } else {
      (is_number(inner) ? factors.numbers : factors.others).push_back(inner);
    }
    return factors;
  }

  const Matrix<double>& values(const std::string& tensor) const {
    return hero.made.contains(tensor) ? hero.made.at(tensor) : record.at(tensor);
  }

  std::string key(const std::string& tensor) { return fmt::format("hero/{}/{}", tensor, pictures++); }

  /// The picture of an expression, or its number. One that no step makes is computed for it.
  Box picture(const Expression& expression, bool transposed = false) {
    const Expression& inner = unwrapped(expression);
    const Expression& bare = inner.kind() == Kind::transpose ? unwrapped(inner.arguments()[0]) : inner;
    const bool turns = transposed != (inner.kind() == Kind::transpose);
    if (bare.kind() == Kind::tensor) return picture_of(bare.name(), turns, key(bare.name()), record, symbols);
    const std::string name = "made for the picture: " + to_string(inner);
    if (!hero.made.contains(name)) hero.made.set(name, evaluate(inner, record));
    Box box = picture_of(name, transposed, key(name), hero.made, symbols);
    box.latex = latex_of(inner);
    return box;
  }

  /// A vector that lies along the rows (as a column) or the columns (flat).
  Box along(const Expression& vector, bool flat) {
    const bool is_flat = shape_of(vector).rows == 1;
    Box box = picture(vector, is_flat != flat);
    const Expression& inner = unwrapped(vector);
    box.latex = latex_of(inner.kind() == Kind::transpose ? inner.arguments()[0] : inner);
    return box;
  }

  /// "k", "v̂ᵀ": how an expression is written in words.
  std::string name_of(const Expression& expression) const {
    return unicode(latex(unwrapped(expression), symbols, {}));
  }

  /// Numbers of an expression up to this magnitude are rounding.
  double dust(const Expression& expression) const {
    const Expression& inner = unwrapped(expression);
    const Operation* const maker = inner.kind() == Kind::tensor ? maker_of(phase, inner.name()) : nullptr;
    return dust_of(maker ? maker->equation.expression : inner, record);
  }

  std::string norm_words(const std::string& tensor, const Expression& expression) const {
    const Matrix<double>& shown = values(tensor);
    const bool is_rounding = shown.allFinite() && largest_finite(shown) <= dust(expression);
    return "norm " + plain_number(is_rounding ? 0 : shown.stableNorm(), 2);
  }

  /// A picture of an expression with its words, its formula and its norm.
  Plate told(Box picture, const Expression& expression, std::string sign) const {
    Plate plate{
        .picture = std::move(picture), .sign = std::move(sign), .latex = latex_of(unwrapped(expression))};
    plate.name = symbol_of(plate.picture.tensor).words;
    if (plate.picture.kind == Box::Kind::picture) plate.number = norm_words(plate.picture.tensor, expression);
    return plate;
  }

  Plate plate_of(const Expression& expression, std::string sign) {
    return told(picture(expression), expression, std::move(sign));
  }

  /// Notes for a tensor that is made for a picture only, whose cells and colour scale it has.
  void stand_for(const std::string& made, const std::string& tensor) {
    hero.stands_for[made] = hero.scale_of[made] = tensor;
  }

  Plate result_plate() {
    Plate plate = plate_of(result, "=");
    if (plate.name.empty()) plate.name = operation.title;
    return plate;
  }

  /// The column and the row whose products all entries of `expression` are; none if it is no such product.
  std::optional<std::pair<Expression, Expression>> column_and_row(const Expression& expression) const {
    const Expression& inner = unwrapped(expression);
    if (inner.kind() == Kind::function && inner.name() == "negative")
      return column_and_row(inner.arguments()[0]);
    const Factors factors = factors_of(inner);
    if (factors.others.size() != 2) return std::nullopt;
    const Shape first = shape_of(factors.others[0]);
    const Shape second = shape_of(factors.others[1]);
    if (first.columns != 1 || second.rows != 1 || first.rows == 1 || second.columns == 1) return std::nullopt;
    return std::pair(factors.others[0], factors.others[1]);
  }

  /// Puts the vectors of an outer product along the edges. What a recorded tensor is made of says its step.
  bool put_margins(Plate& plate, const Expression& expression) {
    const Expression* product = &unwrapped(expression);
    if (product->kind() == Kind::tensor) {
      const Operation* maker = maker_of(phase, product->name());
      if (!maker) return false;
      product = &maker->equation.expression;
    }
    const auto vectors = column_and_row(*product);
    if (!vectors) return false;
    plate.margins = {{Margin::Side::left, along(vectors->first, false)},
                     {Margin::Side::top, along(vectors->second, true)}};
    const Expression& row = unwrapped(vectors->second);
    plate.words = fmt::format("outer product {} {}", name_of(vectors->first),
                              name_of(row.kind() == Kind::transpose ? row : transpose(row)));
    return true;
  }

  bool overwritten() {
    const auto overwrite = overwrite_of(phase, operation);
    if (!overwrite || !is_matrix(overwrite->update)) return false;
    const auto add = [&](const Expression& part, const std::string& sign, const std::string& name, Role role,
                         const std::string& latex) {
      Plate& plate = hero.plates.emplace_back(plate_of(part, sign));
      plate.name = name;
      plate.role = role;
      if (!latex.empty()) plate.latex = latex;
      put_margins(plate, part);
      if (plate.words.empty()) plate.words = symbol_of(plate.picture.tensor).words;
      hero.one_scale.push_back(plate.picture.tensor);
      if (hero.made.contains(plate.picture.tensor))
        hero.stands_for[plate.picture.tensor] = operation.equation.result;
    };
    add(overwrite->erased, "", "erased", Role::error, "");
    add(overwrite->written, "+", "written", Role::value, "");
    add(overwrite->update, "=", "update", Role::plain,
        overwrite->is_one_step ? latex_of(operation.equation) : "");
    if (overwrite->is_one_step) {
      hero.plates.back().words = "added to the memory";
    } else {
      hero.plates.back().words = "their sum";
      // Made of both, it is there as soon as the second is.
      hero.stands_for[hero.plates[2].picture.tensor] = hero.plates[1].picture.tensor;
    }
    return true;
  }

  /// Matrices that are added up, or one outer product.
  bool added() {
    if (!is_matrix(result) || is_empty(result)) return false;
    const Factors factors = factors_of(how);
    const bool is_scaled_sum = !factors.numbers.empty() && factors.others.size() == 1;
    std::vector<SignedTerm> terms = terms_of(is_scaled_sum ? factors.others[0] : how);
    if (terms.size() > 4) return false;
    if (is_scaled_sum && terms.size() > 1) {
      for (SignedTerm& term : terms) term.expression = factors.scaled(term.expression);
    }
    if (terms.size() == 1) return is_outer_product();
    if (!std::ranges::all_of(terms, [&](const SignedTerm& term) { return is_matrix(term.expression); }))
      return false;
    for (const SignedTerm& term : terms) {
      const std::string sign = hero.plates.empty() ? "" : term.minus ? "-" : "+";
      Plate& plate = hero.plates.emplace_back(plate_of(term.expression, sign));
      put_margins(plate, term.expression);
      if (plate.picture.tensor != operation.equation.result)
        hero.scale_of[plate.picture.tensor] = operation.equation.result;
      if (hero.made.contains(plate.picture.tensor))
        hero.stands_for[plate.picture.tensor] = operation.equation.result;
    }
    const Expression& first = unwrapped(terms[0].expression);
    if (first.kind() == Kind::tensor && !terms[0].minus) hero.grows_from = first.name();
    hero.alone = operation.equation.result;
    hero.plates.push_back(result_plate());
    return true;
  }

  bool is_outer_product() {
    Plate plate = plate_of(result, "");
    if (!put_margins(plate, how)) return false;
    plate.latex = latex_of(operation.equation);
    hero.alone = plate.picture.tensor;
    hero.plates.push_back(std::move(plate));
    return true;
  }

  /// A matrix times numbers: of all its cells, of its rows, of its columns.
  bool scaled() {
    if (!is_matrix(result)) return false;
    const Factors factors = factors_of(how);
    std::vector<Expression> matrices;
    std::vector<std::pair<Expression, bool>> vectors;  // flat ones scale columns
    for (const Expression& factor : factors.others) {
      if (factor.kind() == Kind::diagonal)
        vectors.emplace_back(factor.arguments()[0], !matrices.empty());
      else
        matrices.push_back(factor);
    }
    if (matrices.size() != 1 || factors.numbers.size() + vectors.size() == 0) return false;
    const Expression& matrix = unwrapped(matrices[0]);
    const bool is_bare = matrix.kind() == Kind::tensor ||
                         (matrix.kind() == Kind::transpose && matrix.arguments()[0].kind() == Kind::tensor);
    if (!is_bare) return false;
    hero.plates.push_back(plate_of(matrix, ""));
    if (matrix.kind() == Kind::tensor) hero.grows_from = matrix.name();
    for (const Expression& number : factors.numbers) {
      Plate& plate = hero.plates.emplace_back(Plate{.picture = picture(number), .sign = "\\times"});
      plate.picture.latex = latex_of(number);
      const Symbol& symbol = symbol_of(plate.picture.tensor);
      plate.words =
          symbol.role == Role::gate ? half_life_words(values(plate.picture.tensor)(0, 0)) : symbol.words;
    }
    for (const auto& [vector, flat] : vectors)
      hero.plates.push_back(factors_plate(along(vector, flat), vector, "\\odot"));
    hero.plates.push_back(result_plate());
    return true;
  }

  /// Two matrices, cell by cell.
  bool multiplied() {
    const Expression& product = unwrapped(how);
    if (product.kind() != Kind::hadamard || !is_matrix(product)) return false;
    const auto arguments = product.arguments();
    if (!std::ranges::all_of(arguments, [&](const Expression& factor) {
          return is_matrix(factor) && unwrapped(factor).kind() == Kind::tensor;
        }))
      return false;
    for (const Expression& factor : arguments) {
      const std::string& tensor = unwrapped(factor).name();
      const std::string sign = hero.plates.empty() ? "" : "\\odot";
      const bool is_gate = symbol_of(tensor).role == Role::gate;
      hero.plates.push_back(is_gate ? factors_plate(picture(factor), factor, sign) : plate_of(factor, sign));
      if (symbol_of(tensor).role == Role::state) hero.grows_from = tensor;
    }
    hero.plates.push_back(result_plate());
    return true;
  }

  /// The picture of factors between 0 and 1; 1 is blank.
  Plate factors_plate(Box picture, const Expression& factors, std::string sign) {
    const std::string tensor = picture.tensor;
    Plate plate{.picture = std::move(picture),
                .sign = std::move(sign),
                .latex = latex_of(unwrapped(factors)),
                .words = symbol_of(tensor).words};
    if (symbol_of(tensor).role != Role::gate) return plate;
    const std::string name = "made for the picture: lost by " + tensor;
    if (!hero.made.contains(name)) hero.made.set(name, values(tensor).unaryExpr(&forgotten_part));
    stand_for(name, tensor);
    plate.words = "1 − α, log scale";
    plate.picture.tensor = name;
    plate.picture.key = key(name);
    return plate;
  }

  /// The steps around the nonlinearity of a network with two layers, from its input to its output.
  struct Layers {
    const Operation* input = nullptr;   // z = W^T x + b
    const Operation* hidden = nullptr;  // h = gelu(z)
    const Operation* answer = nullptr;  // y = W^T h + b
  };

  std::optional<Contraction> layer_of(const Operation& step) const {
    const std::vector<SignedTerm> terms = terms_of(step.equation.expression);
    return terms.size() > 2 ? std::nullopt : contraction_of(terms[0].expression);
  }

  std::optional<Layers> layers_around() const {
    for (const Operation& hidden : phase.operations) {
      const Expression& bend = unwrapped(hidden.equation.expression);
      if (bend.kind() != Kind::function || bend.name() != "gelu" ||
          bend.arguments()[0].kind() != Kind::tensor)
        continue;
      Layers layers{.input = maker_of(phase, bend.arguments()[0].name()), .hidden = &hidden};
      for (const Operation& later : phase.operations) {
        const auto layer = layer_of(later);
        const bool reads =
            layer && layer->numbers.kind() == Kind::tensor && layer->numbers.name() == hidden.equation.result;
        if (reads) layers.answer = &later;
      }
      const bool is_part =
          &operation == layers.input || &operation == layers.hidden || &operation == layers.answer;
      if (layers.input && layers.answer && layer_of(*layers.input) && is_part) return layers;
    }
    return std::nullopt;
  }

  /// A memory that is a network: its input, hidden units and output as columns side by side.
  bool in_network() {
    const auto layers = layers_around();
    if (!layers) return false;
    const Contraction first = *layer_of(*layers->input);
    const Contraction second = *layer_of(*layers->answer);
    if (!first.over_rows || !second.over_rows || first.numbers_lie_flat || second.numbers_lie_flat)
      return false;
    hero.kind = Hero::Kind::network;
    const auto add = [&](const Expression& units) {
      Plate& plate = hero.plates.emplace_back(told(along(units, false), units, ""));
      const Operation* maker = maker_of(phase, plate.picture.tensor);
      if (maker && maker > &operation) plate.number.clear();  // not computed yet
    };
    add(first.numbers);
    add(tensor(layers->hidden->equation.result));
    add(tensor(layers->answer->equation.result));
    const auto link = [&](std::size_t from, const std::string& weights) {
      const Matrix<double>& units = values(hero.plates[from].picture.tensor);
      hero.links.push_back(strong_links(units.reshaped().asDiagonal() * record.at(weights), most_links));
    };
    link(0, first.matrix);
    link(1, second.matrix);
    return true;
  }

  std::optional<Contraction> contraction_of(const Expression& expression) const {
    const Factors factors = factors_of(expression);
    if (factors.others.size() != 2) return std::nullopt;
    const Expression& first = factors.others[0];
    const Expression& second = factors.others[1];
    const bool is_last_vector = is_matrix(first) && is_vector(second);
    if (!is_last_vector && !(is_vector(first) && is_matrix(second))) return std::nullopt;
    const Expression& matrix = is_last_vector ? first : second;
    const Expression& vector = is_last_vector ? second : first;
    const bool turned = matrix.kind() == Kind::transpose;
    const Expression& bare = turned ? unwrapped(matrix.arguments()[0]) : matrix;
    if (bare.kind() != Kind::tensor) return std::nullopt;
    return Contraction{.matrix = bare.name(),
                       .over_rows = turned == is_last_vector,
                       .numbers = factors.scaled(vector),
                       .numbers_lie_flat = shape_of(vector).rows == 1};
  }

  /// A matrix times a vector: its rows, or columns, scaled and summed.
  bool contracted() {
    if (!is_vector(result)) return false;
    const auto asked = contraction_of(how);
    if (!asked || record.at(asked->matrix).size() > most_products) return false;
    const auto sides = asked->over_rows ? std::pair(Margin::Side::left, Margin::Side::below)
                                        : std::pair(Margin::Side::top, Margin::Side::right);
    hero.plates.push_back(plate_of(tensor(asked->matrix), ""));
    hero.plates.back().margins = {{sides.first, along(asked->numbers, !asked->over_rows)}};
    const Expression numbers =
        asked->numbers_lie_flat == asked->over_rows ? transpose(asked->numbers) : asked->numbers;
    Plate& products =
        hero.plates.emplace_back(plate_of(hadamard(numbers, tensor(asked->matrix)), "\\rightarrow"));
    const std::string& made = products.picture.tensor;
    hero.one_scale = {made};
    hero.stands_for[made] = asked->matrix;
    products.name = fmt::format("{} of {} scaled by {}", asked->over_rows ? "rows" : "columns",
                                name_of(tensor(asked->matrix)), name_of(asked->numbers));
    const std::string& answer = operation.equation.result;
    products.words = fmt::format("{} sums = {}", asked->over_rows ? "column" : "row", name_of(result));
    products.number = norm_words(answer, tensor(answer));
    products.latex = latex_of(operation.equation);
    products.margins = {{sides.second, along(result, asked->over_rows)}};
    return true;
  }

  /// Whether a function makes one number of a vector: its largest, its sum.
  bool is_number_of_vector() const {
    const Expression& function = unwrapped(how);
    if (function.kind() != Kind::function || !is_number(function)) return false;
    const auto arguments = function.arguments();
    return arguments.size() == 1 && arguments[0].kind() == Kind::tensor && is_vector(arguments[0]);
  }

  /// Vectors that are added up or multiplied, or what a function makes of a vector.
  bool in_strips() {
    if (is_empty(result) || !(is_vector(result) || is_number_of_vector())) return false;
    std::vector<std::pair<std::string, Expression>> strips;
    const std::vector<SignedTerm> terms = terms_of(how);
    const Expression& only = terms[0].expression;
    if (terms.size() > 1) {
      for (const SignedTerm& term : terms)
        strips.emplace_back(term.minus ? "-" : strips.empty() ? "" : "+", term.expression);
    } else if (only.kind() == Kind::hadamard) {
      strips = {{"", only.arguments()[0]}, {"\\odot", only.arguments()[1]}};
    } else if (only.kind() == Kind::function) {
      for (const std::string& operand : written_operands(only)) {
        if (is_vector(tensor(operand))) strips.emplace_back("", tensor(operand));
      }
    } else if (const Factors factors = factors_of(only);
               factors.numbers.size() == 1 && factors.others.size() == 1 && is_vector(factors.others[0])) {
      strips = {{"", factors.numbers[0]}, {"\\cdot", factors.others[0]}};
    }
    const bool is_times_number = strips.size() == 2 && strips[1].first == "\\cdot";
    const bool all_vectors = std::ranges::all_of(strips, [&](const auto& strip) {
      return is_vector(strip.second) || (is_times_number && is_number(strip.second));
    });
    if (strips.empty() || !all_vectors || strips.size() > most_strips) return false;
    hero.kind = Hero::Kind::strips;
    const auto add = [&](const Expression& vector, std::string sign) {
      const Plate& plate = hero.plates.emplace_back(told(along(vector, true), vector, std::move(sign)));
      if (hero.made.contains(plate.picture.tensor) && !is_number(vector))
        stand_for(plate.picture.tensor, operation.equation.result);
    };
    for (const auto& [sign, vector] : strips) add(vector, sign);
    add(result, terms.size() == 1 && only.kind() == Kind::function ? "\\rightarrow" : "=");
    return true;
  }

  /// Singular values over the Newton–Schulz steps: a line each.
  bool flattened() {
    const Expression& values = unwrapped(how);
    if (values.kind() != Kind::function || values.name() != "spectra") return false;
    HeroChart chart{.tensor = operation.equation.result,
                    .low = flat_from,
                    .high = flat_to,
                    .title = operation.title,
                    .words = "one line per direction; in the band nearly equal steps"};
    for (const Expression& step : values.arguments()) chart.columns.push_back(latex_of(step));
    if (static_cast<Index>(chart.columns.size()) != record.at(chart.tensor).cols()) return false;
    hero.charts.push_back(std::move(chart));
    return true;
  }

  /// Beside a Newton–Schulz step: the singular values so far.
  void add_flattening() {
    if (hero.kind != Hero::Kind::plates || !hero.charts.empty()) return;
    for (const Operation& other : phase.operations) {
      const Expression& all = unwrapped(other.equation.expression);
      if (all.kind() != Kind::function || all.name() != "spectra") continue;
      const auto steps = all.arguments();
      const auto found = std::ranges::find_if(steps, [&](const Expression& step) {
        return step.kind() == Kind::tensor && step.name() == operation.equation.result;
      });
      const Matrix<double>& spectra = record.at(other.equation.result);
      if (found == steps.end() || found == steps.begin() ||
          spectra.cols() != static_cast<Index>(steps.size()))
        continue;
      const auto count = static_cast<Index>(found - steps.begin()) + 1;
      const std::string name = "made for the picture: singular values so far";
      hero.made.set(name, spectra.leftCols(count));
      const auto alike = [&](Index column) {
        return ((spectra.col(column).array() >= flat_from) && (spectra.col(column).array() <= flat_to))
            .count();
      };
      HeroChart chart{.tensor = name,
                      .low = flat_from,
                      .high = flat_to,
                      .title = "singular values",
                      .words = fmt::format("equal now: {} of {} directions, before {}", alike(count - 1),
                                           spectra.rows(), alike(count - 2))};
      for (Index i = 0; i < count; ++i) chart.columns.push_back(latex_of(entry(steps, i)));
      hero.charts.push_back(std::move(chart));
    }
  }

  /// A symmetric system, and the iterations of its solution.
  bool solved() {
    const Expression& solve = unwrapped(how);
    if (solve.kind() != Kind::function || solve.name() != "solve_symmetric") return false;
    const Expression& matrix = solve.arguments()[0];
    if (!is_matrix(matrix)) return false;
    Plate& plate = hero.plates.emplace_back(plate_of(matrix, ""));
    plate.name = "key statistics plus ridge";
    plate.words = "times the row above = the column on the right";
    plate.margins = {{Margin::Side::top, along(result, true)},
                     {Margin::Side::right, along(solve.arguments()[1], false)}};
    const std::string rests = "made for the picture: what is left";
    hero.made.set(rests, conjugate_gradient_rests(evaluate(matrix, record),
                                                  evaluate(solve.arguments()[1], record).reshaped(),
                                                  most_steps_of_solve));
    hero.charts.push_back({.tensor = rests,
                           .is_logarithmic = true,
                           .title = "the solve converges",
                           .words = "residual after each step of conjugate gradients"});
    return true;
  }
};

}  // namespace

Hero enlarged(const std::string& name, const Record& record, const Symbols& symbols, const LatexStyle& style,
              const MatrixFigures* figures) {
  const Matrix<double>& values = record.at(name);
  Hero hero{.is_enlarged = true};
  hero.plates.push_back({.picture = picture_of(name, false, "enlarged/" + name, record, symbols),
                         .name = symbol_in(symbols, name).words,
                         .latex = symbols.contains(name) ? latex(tensor(name), symbols, style) : "",
                         .words = fmt::format("{} × {}", values.rows(), values.cols()),
                         .number = "norm " + plain_number(values.stableNorm(), 3)});
  if (!figures) return hero;
  const std::string counts = "made for the picture: counts";
  hero.made.set(counts, figures->counts.transpose());
  hero.charts.push_back(
      {.tensor = counts,
       .columns = {number_latex(-figures->range), "0", number_latex(figures->range)},
       .title = "histogram of entries",
       .words = fmt::format("from {} to {}, root mean square {}", plain_number(figures->least),
                            plain_number(figures->largest), plain_number(figures->root_mean_square))});
  if (figures->singular_values.size() < 2) return hero;
  const std::string spectrum = "made for the picture: spectrum";
  hero.made.set(spectrum, figures->singular_values.transpose());
  hero.charts.push_back({.tensor = spectrum,
                         .columns = {"1", fmt::format("{}", figures->singular_values.size())},
                         .title = "singular values",
                         .words = fmt::format("effective rank {:.1f}", figures->effective_rank)});
  return hero;
}

Hero hero_of(const Phase& phase, const Operation& operation, const Record& record, const Symbols& symbols,
             const LatexStyle& style) {
  return HeroBuilder{phase, operation, record, symbols, style}.build();
}

}  // namespace palimpsest
