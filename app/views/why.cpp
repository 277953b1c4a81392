#include "app/stage/box.h"
#include "app/stage/ranges.h"
#include "app/views/stage.h"
#include "app/views/why_words.h"
#include "app/words/step.h"
#include "core/steps/recognised.h"

namespace palimpsest {

namespace {

constexpr float bar_tone = 0.66F;    // of the colours of numbers
constexpr float numbers_width = 54;  // design pixels
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

/// Where a tensor that no operation makes comes from.
std::string origin(const Symbol& symbol, const std::string& tensor) {
  if (symbol.role == Role::state || tensor.ends_with("_in")) return "From earlier tokens: ";
  if (symbol.role == Role::plain) return "From the settings: ";
  return "From the data: ";
}

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
  answer.origin = origin(symbol, cell.tensor);
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

/// The text beside a bar, or a symbol if there is none or it does not fit.
Node label_of(const BarLine& line) {
  const Fit fit = line.latex.empty() ? Fit::shorten : Fit::whole;
  Nodes words = {scene::text(line.words, style::Text::caption, line.colour, fit)};
  if (!line.index.empty()) words.push_back(scene::tag(line.index, scene::faint_ink));
  Node label = scene::row(std::move(words), Gap::small);
  if (line.latex.empty()) return label;
  if (line.words.empty()) return scene::formula(line.latex, 14);
  return scene::first_that_fits({std::move(label), scene::formula(line.latex, 14)});
}

/// Bars on one scale with a common zero; numbers on the right. A number up to `dust` is shown as 0, faint,
/// without a bar.
Node bar_lines(const std::vector<BarLine>& lines, bool old, double dust) {
  const style::Palette& c = style::colours();
  double least = 0;
  double most = 0;
  std::vector<double> values;
  for (const BarLine& line : lines) {
    values.push_back(line.value);
    if (!std::isfinite(line.value) || std::abs(line.value) <= dust) continue;
    least = std::min(least, line.value);
    most = std::max(most, line.value);
  }
  const std::vector<std::string> numbers = number_column(values, dust);
  Nodes rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const BarLine& line = lines[i];
    const bool is_zero = std::abs(line.value) <= dust;
    const scene::Ink ink = style::colour(colour(c.map, line.value > 0 ? bar_tone : -bar_tone, 1));
    if (line.is_sum) rows.push_back(scene::rule(Gap::none));
    rows.push_back(scene::row({label_of(line).filling(0.56F),
                               Node{scene::Bar{.value = is_zero ? 0 : line.value,
                                               .least = least,
                                               .most = most,
                                               .ink = old ? style::mix(c.panel, ink, 0.5F) : ink}}
                                   .filling(0.44F),
                               scene::number(numbers[i], is_zero ? c.faint : 0)
                                   .fixed(numbers_width)
                                   .right()
                                   .told(fmt::format("{:.6g}", line.value))})
                       .when_pointed(line.pointed)
                       .named(std::to_string(i)));
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
  const auto digits = [](const std::string& text, scene::Ink ink) {
    return scene::text(text, style::Text::number, ink, Fit::whole);
  };
  const std::string exact = fmt::format("exactly {:.17g}", answer.value);
  return scene::row({scene::formula(answer.symbol, 22), digits(answer.indices, c.dim), scene::rest(),
                     std::abs(answer.value) <= answer.dust
                         ? digits("0", c.faint).told(exact)
                         : digits(signed_number(answer.value), c.text).told(exact)},
                    Gap::small)
      .named("number");
}

/// The magnitude of the largest share after the first `most`; negative if there are no more.
double largest_beyond(const std::vector<WriterShare>& writers, std::size_t most) {
  if (writers.size() <= most) return -1;
  std::vector<double> sizes;
  for (const WriterShare& writer : writers) sizes.push_back(std::abs(writer.remaining));
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
  if (others > 0)
    lines.push_back(
        {.words = fmt::format("{} other {}", others, others == 1 ? "token" : "tokens"), .value = rest});
  lines.push_back({.words = "sum", .value = told.value, .is_sum = true});
  return lines;
}

/// A cell, and the question for the tokens that wrote it.
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
  const Node waiting =
      awaiting("computing the contributions", told, application.session.questions(), *asked.key);
  all.push_back(heading_of(written));
  if (!told.value) {
    if (!told.under_way) all.push_back(scene::caption(told.reason));
    all.push_back(waiting);
    return;
  }
  // Within a token or a batch, a rule may use another memory than the one after it.
  const double shown = written.shown.value_or(told.value->value);
  if (!told.stale && std::abs(told.value->value - shown) > 1e-3 * std::max(1.0, std::abs(shown))) {
    all.push_back(scene::caption(
        is_faulty(application.session.sight())
            ? fmt::format("Contributions are known for the run without the fault, where the value is {}.",
                          plain_number(told.value->value, 3))
            : "Contributions are known only for the memory after a whole batch."));
    return;
  }
  const auto& labels = application.session.sight().computation->data->labels;
  const std::vector<WriterShare>& writers = told.value->strongest;
  const auto found =
      asked.pointed ? std::ranges::find(writers, *asked.pointed, &WriterShare::token) : writers.end();
  const auto one = found != writers.end() ? found - writers.begin() : largest_share(writers);
  const double dust = asked.cell.dust;
  const std::string fate = one < 0 ? "" : writer_fate(without_dust(entry(writers, one), dust), labels);
  all.push_back(
      bar_lines(writer_lines(*told.value, most, fate, labels, dust), told.stale, dust).named("writers"));
  if (!fate.empty()) {
    const std::string others =
        writers.size() > 1 ? "Point at a bar to see the write of that token." : std::string();
    all.push_back(
        scene::text(fate, style::Text::caption).named("fate").told(is_low ? others : std::string()));
    if (!is_low && !others.empty()) all.push_back(scene::caption(others));
  }
  all.push_back(waiting);
}

/// Everything about a cell, with bars for at most `most` tokens or products. `is_low` omits the formulas with
/// symbols and with numbers: the Stage shows the symbols, the bars show the numbers.
Node explanation(Application& application, const AskedCell& asked, std::size_t most, bool is_low) {
  const ExplainedCell& answer = asked.cell;
  Nodes all = {headline(answer)};
  if (!answer.explanation) {
    all.push_back(scene::paragraph(answer.origin + answer.words + "."));
  } else {
    if (!is_low)
      all.push_back(Node{
          scene::Formula{
              .latex = "= " + answer.explanation->latex, .size = 15, .ink = scene::dim_ink, .fit = Fit::wrap}}
                        .named("formula"));
    if (!is_low || answer.parts.empty())
      all.push_back(scene::text("= " + answer.explanation->numbers, style::Text::number_small));
  }
  if (!answer.parts.empty()) {
    all.push_back(
        scene::caption(answer.is_inner_product ? "largest terms of the sum" : "terms of this step"));
    const auto& labels = application.session.sight().computation->data->labels;
    const std::size_t named = answer.is_inner_product && is_low ? most : most_lines;
    all.push_back(bar_lines(part_lines(answer, labels, named), false, answer.dust).named("parts"));
  }
  if (answer.written) add_writers(all, application, asked, most, is_low);
  if (asked.is_held) all.push_back(scene::caption("Held; Esc releases it."));
  return scene::column(std::move(all), is_low ? Gap::small : Gap::near);
}

/// Everything about a cell, in as much detail as fits.
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
    asked.told = application.session.questions().ask(*asked.key);
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

void draw_why(Application& application) {
  scene::show_panel("##why", true, [&] {
    const std::optional<CellFocus> cell = application.focus();
    const bool is_known = cell && application.session.sight().record;
    Node title = scene::row({scene::tag("Why this number?"),
                             is_known ? origin_of_focus(application).filling().right() : scene::rest()});
    Node body = is_known ? explained(application, *cell)
                         : scene::paragraph("Point at an entry to see how it is computed. A click holds it.");
    return scene::column({std::move(title), std::move(body).filling()}, Gap::near).named("why");
  });
}

}  // namespace palimpsest
