#include "app/views/why_words.h"

#include <numeric>

#include "app/stage/box.h"
#include "app/stage/ranges.h"
#include "app/views/stage.h"
#include "app/words/step.h"
#include "core/steps/recognised.h"

// How a number came about: the terms of its step, and the tokens that wrote it.

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

struct Finder {
  const Trace& trace;
  const Block& block;
  const Record& record;

  Terms find(const Expression& e, Index row, Index column) const {
    const auto arguments = e.arguments();
    if (e.kind() == Kind::transpose) return find(arguments[0], column, row);
    if (e.kind() == Kind::hadamard) return find_hadamard(e, row, column);
    if (e.kind() == Kind::product) return find_product(e, row, column);
    if (e.kind() == Kind::named) return find(arguments[0], row, column);
    if (e.kind() != Kind::function) return {};
    // A cell that a mask keeps equals that of the matrix.
    if (is_among(e.name(), {"lower", "strictly_lower", "causal"})) return find(arguments[0], row, column);
    if (e.name() == "row_sum") return row_terms(arguments[0], row);
    return e.name() == "log_decays" ? gate_terms(e, row, column) : Terms();
  }

  static Terms times(Terms terms, double factor) {
    for (double& value : terms.values) value *= factor;
    return terms;
  }

  double value(const Expression& e, Index row, Index column) const {
    return evaluate(e, record)(row, column);
  }

  Terms find_hadamard(const Expression& e, Index row, Index column) const {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const auto at = [&](std::size_t argument, const auto& use) {
        const Shape size = shape(e.arguments()[argument], record);
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
    const Matrix<double> values = evaluate(x, record);
    const auto summed = values.row(row);
    return {{summed.begin(), summed.end()}, first_kept(values.cols())};
  }

  /// The logarithms of the gates after a key up to a query; 0 for the others.
  Terms gate_terms(const Expression& e, Index row, Index column) const {
    const Expression& gates = e.arguments()[0];
    const Matrix<double> logarithms = evaluate(gates, record);
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
    if (!record.contains(kept) || record.at(kept).rows() != terms) return std::nullopt;
    const Index first = block.first_token + block.count - terms;
    return first >= 0 ? std::optional(first) : std::nullopt;
  }

  Terms find_product(const Expression& e, Index row, Index column) const {
    const Expression& x = e.arguments()[0];
    const Expression& y = e.arguments()[1];
    const Shape left = shape(x, record);
    switch (product_kind(e, left, shape(y, record))) {
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
    return {product_terms(evaluate(x, record), evaluate(y, record), row, column, left.columns),
            first_token(x, y)};
  }

  /// The token of the first term, if the rows or columns of a factor are tokens.
  std::optional<Index> first_token(const Expression& x, const Expression& y) const {
    const bool is_turned = x.kind() == Kind::transpose;
    const Expression& left = is_turned ? x.arguments()[0] : x;
    if (left.kind() == Kind::tensor) {
      const Axes axes = axes_of(trace, block, record.at(left.name()), left.name());
      const auto& first = (is_turned ? axes.rows : axes.columns).first_token;
      if (first) return first;
    }
    if (y.kind() != Kind::tensor) return std::nullopt;
    return axes_of(trace, block, record.at(y.name()), y.name()).rows.first_token;
  }
};

constexpr float bar_tone = 0.66F;    // of the colours of numbers
constexpr float numbers_width = 54;  // design pixels
constexpr float powers_width = 90;   // of numbers with a power of ten
constexpr std::size_t most_lines = 8;
constexpr std::size_t most_writers = 7;   // with a bar of their own
constexpr std::size_t least_writers = 2;  // in very little room

struct ExplainedCell {
  std::string symbol;  // LaTeX
  std::string indices;
  std::string words;
  std::string symbol_words;
  std::string origin;  // of a tensor that no operation makes
  double value = 0;
  double dust = 0;  // numbers up to this size are rounding
  std::string problem;
  std::optional<Explanation> explanation;  // nothing: the cell is an input
  std::vector<CellPart> parts;             // that add up to the cell
  bool is_inner_product = false;           // `parts` are its products
  std::optional<WrittenCell> written;      // the number that earlier tokens wrote: the cell or its operand
};

/// The token of a vector that does not name one: in the recurrent form it is the one at the cursor.
std::string of_token(const Symbol& symbol, const Matrix<double>& values, const Sight& sight) {
  const bool is_vector = values.rows() == 1 || values.cols() == 1;
  if (sight.trace->form != Form::recurrent || !is_vector || symbol.role == Role::plain) return {};
  const Index token = sight.trace->token(sight.cursor);
  return fmt::format(", token {} {}", token + 1, quoted_word(*sight.computation, token));
}

/// Fills the parts of the cell and the number that earlier tokens wrote, in the coordinates of the record.
void fill_sum(ExplainedCell& answer, const Trace& trace, const Block& block, const Record& record,
              CellFocus cell, bool turned) {
  const bool is_turned = turned && turns(cell.tensor, trace.symbols, record);
  if (is_turned) std::swap(cell.row, cell.column);
  const Phase& phase = trace.phase(block);
  answer.parts = cell_parts(phase, block, trace.symbols, record, cell);
  answer.written = written_cell(trace, block, phase, record, cell, is_turned);
  if (!answer.parts.empty() || answer.written) return;
  answer.parts = inner_terms(trace, block, record, cell);
  answer.is_inner_product = !answer.parts.empty();
}

ExplainedCell explained_cell(const CellFocus& cell, const Application& application) {
  ExplainedCell answer;
  const bool turned = application.view.state_value_by_key;
  const Sight& sight = application.session.sight();
  const Trace& trace = *sight.trace;
  const auto& labels = sight.computation->data->labels;
  const Block block = trace.block(sight.cursor.block);
  const auto [phase, record] = shown(application);
  const bool recorded = record.contains(cell.tensor);
  const Matrix<double> none;
  const Matrix<double>& values = recorded ? record.at(cell.tensor) : none;
  if (cell.row >= values.rows() || cell.column >= values.cols()) {
    answer.problem = "The held entry is not in this step. Esc releases it.";
    return answer;
  }
  const Symbol symbol = named_symbol(trace.symbols, cell.tensor);
  const std::string place = cell_place(trace, block, values, cell, labels, turned);
  answer.symbol = coloured(symbol);
  answer.indices = cell_indices(values, cell);
  answer.symbol_words = symbol.words;
  answer.words = symbol.words + of_token(symbol, values, sight) + (place.empty() ? "" : ", " + place);
  const bool is_earlier = symbol.role == Role::state || cell.tensor.ends_with("_in");
  answer.origin = is_earlier                   ? "From earlier tokens: "
                  : symbol.role == Role::plain ? "From the settings: "
                                               : "From the data: ";
  answer.value = values(cell.row, cell.column);
  const Operation* const maker = maker_of(phase, cell.tensor);
  answer.dust = dust_of(maker ? maker->equation.expression : tensor(cell.tensor), record);
  // A tensor that no operation of this step makes comes from earlier tokens: their writes are listed, too.
  try {
    fill_sum(answer, trace, block, *sight.record, cell, turned);
    if (maker) answer.explanation = explain(maker->equation, trace.symbols, record, cell.row, cell.column);
  } catch (const Error& error) {
    answer.problem = error.what();
  }
  return answer;
}

struct BarLine {
  std::string words = {};
  std::string index = {};  // of the token, small
  std::string latex = {};  // shown if `words` are empty or do not fit
  scene::Ink colour = 0;   // of the words; 0: the text's
  double value = 0;
  bool is_sum = false;
  std::function<void()> pointed = nullptr;
};

Node label_of(const BarLine& line) {
  const Fit fit = line.latex.empty() ? Fit::shorten : Fit::whole;
  Nodes words = {scene::text(line.words, style::Text::caption, line.colour, fit)};
  if (!line.index.empty()) words += scene::tag(line.index, scene::faint_ink);
  Node label = scene::row(std::move(words), Gap::small);
  if (line.latex.empty()) return label;
  if (line.words.empty()) return scene::formula(line.latex, 14);
  return scene::first_that_fits({std::move(label), scene::formula(line.latex, 14)});
}

/// Bars on one scale with a common zero; numbers on the right. A number up to `dust` is shown as 0, faint,
/// without a bar.
Node bar_lines(const std::vector<BarLine>& lines, bool old, double dust) {
  const style::Palette& c = style::colours();
  std::vector<double> values;
  std::vector<double> drawn = {0};
  for (const BarLine& line : lines) {
    values.push_back(line.value);
    if (std::isfinite(line.value) && std::abs(line.value) > dust) drawn.push_back(line.value);
  }
  const auto [least, most] = std::ranges::minmax(drawn);
  const std::vector<std::string> numbers = number_column(values, dust);
  const bool has_powers = std::ranges::any_of(
      numbers, [](const std::string& number) { return number.find("×") != std::string::npos; });
  Nodes rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const BarLine& line = lines[i];
    const bool is_zero = std::abs(line.value) <= dust;
    const scene::Ink ink = style::colour(colour(c.map, line.value > 0 ? bar_tone : -bar_tone, 1));
    if (line.is_sum) rows += scene::rule(Gap::none);
    rows += scene::row({label_of(line).filling(0.56F),
                        Node{scene::Bar{.value = is_zero ? 0 : line.value,
                                        .least = least,
                                        .most = most,
                                        .ink = old ? style::mix(c.panel, ink, 0.5F) : ink}}
                            .filling(0.44F),
                        scene::number(numbers[i], is_zero ? c.faint : 0)
                            .fixed(has_powers ? powers_width : numbers_width)
                            .right()
                            .told(fmt::format("{:.6g}", line.value))})
                .when_pointed(line.pointed)
                .named(std::to_string(i));
  }
  return scene::column(std::move(rows), Gap::hair);
}

/// Sets the token's label and number; "token 42" if it has no label.
void name_token(BarLine& line, Index token, const std::vector<std::string>& labels) {
  line.words = visible_label(entry(labels, token));
  line.index = std::to_string(token + 1);
  if (only_counts(line.words, token)) line.words = "token";
}

/// The strongest `most` parts, the rest together, and the cell that they add up to.
std::vector<BarLine> part_lines(const ExplainedCell& answer, const std::vector<std::string>& labels,
                                std::size_t most) {
  std::vector<BarLine> lines;
  const NamedParts parts = named_parts(answer.parts, most);
  for (const CellPart& part : parts.named) {
    BarLine line{.words = part.words, .latex = part.latex, .value = part.value};
    if (part.role != Role::plain) line.colour = style::colours().role(part.role);
    if (part.token >= 0) {
      name_token(line, part.token, labels);
      line.latex.clear();
    }
    lines.push_back(std::move(line));
  }
  if (parts.others > 0) lines.push_back({.words = fmt::format("{} more", parts.others), .value = parts.rest});
  lines.push_back(
      {.words = answer.symbol_words, .latex = answer.symbol, .value = answer.value, .is_sum = true});
  return lines;
}

/// The token whose bar was under the pointer in the last frame.
std::optional<Index>& pointed_writer() { return context_local<std::optional<Index>, struct PointedWriter>(); }

/// "prediction v̂, v̂[2]: written by".
Node heading_of(const WrittenCell& written) {
  if (written.latex.empty()) return scene::note(written.words + ": written by");
  const auto with = [&](const char* end) {
    return scene::row(
        {scene::tag(written.words + ","),
         scene::row({scene::formula(written.latex, 14, scene::dim_ink), scene::tag(end)}, Gap::none)},
        Gap::small);
  };
  return scene::first_that_fits({with(": written by"), with(": by")});
}

Node headline(const ExplainedCell& answer) {
  const style::Palette& c = style::colours();
  const bool is_zero = std::abs(answer.value) <= answer.dust;
  return scene::row({scene::formula(answer.symbol, 22),
                     scene::text(answer.indices, style::Text::number, c.dim, Fit::whole), scene::rest(),
                     scene::text(is_zero ? "0" : signed_number(answer.value), style::Text::number,
                                 is_zero ? c.faint : c.text, Fit::whole)
                         .told(fmt::format("exactly {:.17g}", answer.value))},
                    Gap::small)
      .named("number");
}

/// The magnitude of the largest share after the first `most`; negative if there are no more.
double largest_beyond(const std::vector<WriterShare>& writers, std::size_t most) {
  if (writers.size() <= most) return -1;
  std::vector<double> sizes =
      made_of(writers, [](const WriterShare& writer) { return std::abs(writer.remaining); });
  const auto beyond = sizes.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(sizes, beyond, std::ranges::greater());
  return *beyond;
}

/// The writer with parts up to `dust` set to 0: they are rounding.
WriterShare without_dust(WriterShare writer, double dust) {
  Share& share = writer.share;
  for (double* const part :
       {&share.written, &share.mixed, &share.decayed, &share.erased, &writer.erased_by, &writer.remaining}) {
    if (std::abs(*part) <= dust) *part = 0;
  }
  return writer;
}

/// The `most` tokens with the largest shares of a number, the rest together, and the sum.
std::vector<BarLine> writer_lines(const WhoWroteIt& told, std::size_t most, const std::string& fate,
                                  const std::vector<std::string>& labels, double dust) {
  std::vector<BarLine> lines;
  Index others = told.others;
  double rest = told.others_remaining;
  const double largest_rest = largest_beyond(told.strongest, most);
  for (const WriterShare& writer : told.strongest) {
    if (std::abs(writer.remaining) <= largest_rest) {
      ++others;
      rest += writer.remaining;
      continue;
    }
    BarLine line{.words = "initial state", .value = writer.remaining};
    if (writer.token != initial_token) name_token(line, writer.token, labels);
    line.pointed = [token = writer.token] { pointed_writer() = token; };
    // The text below is about the bright line.
    if (!fate.empty() && fate != writer_fate(without_dust(writer, dust), labels))
      line.colour = style::colours().dim;
    lines.push_back(std::move(line));
  }
  if (others > 0) lines.push_back({.words = counted(others, "other token", "other tokens"), .value = rest});
  lines.push_back({.words = "sum", .value = told.value, .is_sum = true});
  return lines;
}

struct AskedCell {
  const ExplainedCell& cell;
  bool is_held = false;  // by a click
  std::optional<WhoWrote> key = {};
  Known<WhoWroteIt> told = {};
  std::optional<Index> pointed = {};  // the token whose bar the pointer was on
};

/// The tokens that wrote the number and what became of the write of one of them, or why that is not known.
void add_writers(Nodes& all, Application& application, const AskedCell& asked, std::size_t most,
                 bool is_low) {
  const WrittenCell& written = *asked.cell.written;
  const Known<WhoWroteIt>& told = asked.told;
  const Node waiting = awaiting("computing the contributions", told, application, *asked.key);
  all += heading_of(written);
  if (!told.value) {
    if (!told.under_way) all += scene::caption(told.reason);
    all += waiting;
    return;
  }
  // Within a token or a batch, a rule may use another memory than the one after it.
  const double shown = written.shown.value_or(told.value->value);
  if (!told.stale && std::abs(told.value->value - shown) > 1e-3 * std::max(1.0, std::abs(shown))) {
    all += scene::caption(
        is_faulty(application.session.sight())
            ? fmt::format("Contributions are known for the run without the fault, where the value is {}.",
                          plain_number(told.value->value, 3))
            : "Contributions are known only for the memory after a whole batch.");
    return;
  }
  const auto& labels = application.session.sight().computation->data->labels;
  const std::vector<WriterShare>& writers = told.value->strongest;
  const auto found =
      asked.pointed ? std::ranges::find(writers, *asked.pointed, &WriterShare::token) : writers.end();
  const auto one = found != writers.end() ? found - writers.begin() : largest_share(writers);
  const double dust = asked.cell.dust;
  const std::string fate = one < 0 ? "" : writer_fate(without_dust(entry(writers, one), dust), labels);
  all += bar_lines(writer_lines(*told.value, most, fate, labels, dust), told.stale, dust).named("writers");
  if (!fate.empty()) {
    const std::string others =
        writers.size() > 1 ? "Point at a bar to see the write of that token." : std::string();
    all += scene::text(fate, style::Text::caption).named("fate").told(is_low ? others : std::string());
    if (!is_low && !others.empty()) all += scene::caption(others);
  }
  all += waiting;
}

/// Everything about a cell, with bars for at most `most` tokens or products. `is_low` omits the formulas with
/// symbols and with numbers: the Stage shows the symbols, the bars show the numbers.
Node explanation(Application& application, const AskedCell& asked, std::size_t most, bool is_low) {
  const ExplainedCell& answer = asked.cell;
  Nodes all = {headline(answer)};
  if (!answer.explanation) {
    all += scene::paragraph(answer.origin + answer.words + ".");
  } else {
    if (!is_low)
      all += Node{scene::Formula{.latex = "= " + answer.explanation->latex,
                                 .size = 15,
                                 .ink = scene::dim_ink,
                                 .fit = Fit::wrap}}
                 .named("formula");
    if (!is_low || answer.parts.empty())
      all += scene::text("= " + answer.explanation->numbers, style::Text::number_small);
  }
  if (!answer.parts.empty()) {
    all += scene::caption(answer.is_inner_product ? "largest terms of the sum" : "terms of this step");
    const auto& labels = application.session.sight().computation->data->labels;
    const std::size_t named = answer.is_inner_product && is_low ? most : most_lines;
    all += bar_lines(part_lines(answer, labels, named), false, answer.dust).named("parts");
  }
  if (answer.written) add_writers(all, application, asked, most, is_low);
  if (asked.is_held) all += scene::caption("Held; Esc releases it.");
  return scene::column(std::move(all), is_low ? Gap::small : Gap::near);
}

Node explained(Application& application, const CellFocus& cell) {
  // The LaTeX has the colours of the theme.
  const ExplainedCell& answer = kept_for(std::tuple(cell, Weak<Record>(application.session.sight().record),
                                                    application.view.state_value_by_key, style::theme()),
                                         [&] { return explained_cell(cell, application); });
  if (!answer.problem.empty()) return scene::paragraph(answer.problem);
  AskedCell asked = {.cell = answer, .is_held = application.pinned == cell};
  asked.pointed = std::exchange(pointed_writer(), std::nullopt);
  if (answer.written) {
    asked.key = WhoWrote{application.session.sight().computation, answer.written->number, most_writers};
    asked.told = ask(application, *asked.key);
  }
  // Fewer and fewer writers, then the same with everything else in less room.
  constexpr std::size_t roomy = most_writers - least_writers - 1;
  constexpr std::size_t low = most_writers - least_writers + 1;
  return scene::first_that_fits(roomy + low, [&application, asked](std::size_t wish) {
    const bool is_low = wish >= roomy;
    return explanation(application, asked, most_writers - (is_low ? wish - roomy : wish), is_low);
  });
}

/// Which cell is explained while the pointer is on none, as text that fits.
Node origin_of_focus(const Application& application) {
  if (!application.focus_is_usual()) return scene::column({});
  const auto focus = application.focus();
  const Sight& sight = application.session.sight();
  const bool is_known = focus && sight.record && sight.trace && sight.record->contains(focus->tensor);
  const bool fades = is_known && holds_decays(focus->tensor, sight.record->at(focus->tensor));
  const bool in_row =
      is_known && is_looked_at_by_row(sight.record->at(focus->tensor), sight.trace->block(sight.cursor.block),
                                      sight.trace->form);
  const std::string what = fades ? "strongest decay" : "largest entry";
  const std::string brief = in_row  ? fades ? "strongest of its row" : "largest of its row"
                            : fades ? "strongest decay"
                                    : "largest, ringed";
  return scene::that_fits({what + (in_row ? " of its row, ringed" : ", ringed"), brief, "ringed", ""})
      .named("origin");
}

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
  const Terms terms = Finder{trace, block, record}.find(maker->equation.expression, cell.row, cell.column);
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

Node why_panel(Application& application) {
  const std::optional<CellFocus> cell = application.focus();
  const bool is_known = cell && application.session.sight().record;
  Node title = scene::row({scene::tag("Why this number?"),
                           is_known ? origin_of_focus(application).filling().right() : scene::rest()});
  Node body = is_known ? explained(application, *cell)
                       : scene::paragraph("Point at an entry to see how it is computed. A click holds it.");
  return scene::column({std::move(title), std::move(body).filling()}, Gap::near).named("why");
}

}  // namespace palimpsest
