#include "app/views/verify.h"
#include "app/words/forms.h"
#include "core/variants/variants.h"

// The grid of all checks: a cell for every rule, form, precision and device.

namespace palimpsest {

namespace {

using scene::Squares;

const std::string& why_not_used(const Backend& backend) {
  static std::map<const Backend*, std::string> reasons;
  const auto [found, is_new] = reasons.try_emplace(&backend);
  if (is_new) found->second = unavailable(backend);
  return found->second;
}

/// The columns that are shown: only the first one of a device that cannot be used.
std::vector<std::size_t> shown_columns() {
  std::vector<std::size_t> all;
  const std::vector<GridColumn>& columns = grid_columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_first = i == 0 || columns[i].backend != columns[i - 1].backend;
    if (is_first || why_not_used(*columns[i].backend).empty()) all.push_back(i);
  }
  return all;
}

void go_to_worst(Application& application, const VerifyResult& result) {
  if (!result.worst_case) return;
  Session& session = application.session;
  const VerifyCase& verified = *result.worst_case;
  try {
    DataSet data = data_of_case(verified);
    if (data.tokens == 0) {
      application.refusal = "The worst case of this cell has no token: there is nothing to go to.";
      return;
    }
    SessionState next = without_words(session.state());
    next.data = data.id;
    next.edits.clear();
    next.head = 0;
    next.verify.fault.id.clear();
    next.verify.fragile.clear();
    Side& side = next.sides.front();
    side.variant = result.variant;
    side.form = result.form;
    side.precision = result.precision;
    side.device = result.device;
    side.chunk_size = std::clamp<Index>(result.worst_chunk, 1, largest_chunk(data.tokens));
    side.settings = verified.given;
    const bool is_output = result.worst.array == "o";
    next.place = {.token = is_output ? std::min(result.worst.row, data.tokens - 1) : data.tokens - 1};
    session.open(std::move(data));
    session.change(std::move(next));
    application.playing = false;
    application.show_welcome = false;
  } catch (const Error& error) {
    application.refusal = error.what();
  }
}

struct GridRow {
  const Variant* variant;
  const std::vector<bool>* missing;  // of every column
  const GridReports::Row* found;     // null: not checked yet
  bool is_shipped = false;           // it was not checked here

  const VerifyResult* result(std::size_t column) const { return found ? found->cells[column] : nullptr; }
};

std::string cell_words(const GridRow& row, std::size_t index) {
  const GridColumn& column = grid_columns()[index];
  const Variant& variant = *row.variant;
  const VerifyResult* result = row.result(index);
  const std::string head = fmt::format("{}, {}, {}, {}", variant.label, form_label(column.form),
                                       name(column.precision), column.backend->name());
  if (const std::string& reason = why_not_used(*column.backend); !reason.empty())
    return fmt::format("{}, {}\nThis device cannot be used here: {}", variant.label, column.backend->name(),
                       reason);
  if ((*row.missing)[index]) return head + "\nThere is no such form.";
  if (!result &&
      column.backend->missing(variant, random_settings(variant, {}, 1), column.form, column.precision))
    return head + "\nThis form does not exist with the default options; other options are checked.";
  if (!result) return head + (row.found ? "\nNothing was run." : "\nNot checked yet.");
  if (!result->message.empty()) return fmt::format("{}\n{}\n{}", head, result->message, result->reproduction);
  const Disagreement& worst = result->worst;
  return fmt::format(
      "{}\n{} of {} comparisons agree; the largest difference is {}, the tolerance {}{}", head,
      result->runs - result->failed, result->runs, plain_number(worst.error), plain_number(result->allowed()),
      row.is_shipped ? fmt::format("\nLast full check, {}, not in this window.", shipped_check().date)
                     : fmt::format(", in {}[{}, {}]\n{}\nA click goes there.", worst.array, worst.row,
                                   worst.column, result->reproduction));
}

Squares::Square square(const GridRow& row, std::size_t column) {
  const style::Palette& c = style::colours();
  const VerifyResult* result = row.result(column);
  if (!why_not_used(*grid_columns()[column].backend).empty())
    return {Mark::Kind::outline, style::with_alpha(c.edge, 0.6F), "no device"};
  if ((*row.missing)[column]) return {Mark::Kind::hatched, c.edge, "no such form"};
  if (!result) return {Mark::Kind::outline, c.dim, "waits"};
  const Mark::Kind kind = row.is_shipped ? Mark::Kind::outline : Mark::Kind::box;
  if (result->passed()) return {kind, c.good, "agrees"};
  return {kind, c.alarm, "differs"};
}

Squares squares_of_columns() {
  Squares squares;
  const std::vector<GridColumn>& columns = grid_columns();
  const std::vector<std::size_t> shown = shown_columns();
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const GridColumn& column = columns[shown[at]];
    const GridColumn* before = at > 0 ? &columns[shown[at - 1]] : nullptr;
    const bool begins_device = !before || before->backend != column.backend;
    const bool is_used = why_not_used(*column.backend).empty();
    squares.columns.push_back({.title = begins_device ? column.backend->name() : "",
                               .subtitle = is_used && (begins_device || before->precision != column.precision)
                                               ? name(column.precision)
                                               : "",
                               .name = is_used ? name(column.form) : "",
                               .begins = before && (begins_device || before->precision != column.precision),
                               .width = is_used ? 0.0F : 24.0F});
  }
  return squares;
}

Node row_of_squares(Application& application, const Squares& columns, const GridRow& row) {
  Squares squares = columns;
  const std::vector<std::size_t> shown = shown_columns();
  for (const std::size_t column : shown) squares.squares.push_back(square(row, column));
  squares.told = [row, shown](std::size_t at) { return cell_words(row, shown[at]); };
  squares.press = [&application, row, shown](std::size_t at) {
    if (const VerifyResult* result = row.result(shown[at]); result && !row.is_shipped)
      go_to_worst(application, *result);
    else
      application.refusal = "This cell has no worst case: nothing was run in it here.";
  };
  return Node{std::move(squares)}.filling(0.47F).named(row.variant->id);
}

/// A rule's name; if it does not fit, without its note, "(scalar decay)", and without "attention".
Node rule_name(const Variant& variant, bool is_present) {
  std::vector<std::string> names = {variant.label};
  for (const std::string_view more : {" (", " attention"})
    names.push_back(names.back().substr(0, names.back().find(more)));
  names.push_back(names.back());
  return scene::that_fits(names, is_present ? style::colours().text : style::colours().dim)
      .right()
      .filling(0.53F);
}

Node meanings() {
  const style::Palette& c = style::colours();
  Nodes all;
  for (const auto& [kind, ink, words] :
       {std::tuple(Mark::Kind::box, c.good, "agrees"), std::tuple(Mark::Kind::box, c.alarm, "differs"),
        std::tuple(Mark::Kind::hatched, c.dim, "no such form"),
        std::tuple(Mark::Kind::outline, c.edge, "no device")})
    all += scene::row({scene::mark(kind, ink), scene::caption(words)}, Gap::small);
  return scene::column(std::move(all), Gap::hair).filling(0.53F).named("meanings");
}

Node grid(Application& application, const GridReports& known) {
  const Squares columns = squares_of_columns();
  Nodes cells = {meanings(), Node{columns}.filling(0.47F).named("heads")};
  const std::string present = without_strength(application.session.choice().variant);
  std::size_t index = 0;
  for (const Variant& variant : variants()) {
    const GridReports::Row* const here = value_at(known.reports, variant.id);
    const GridReports::Row* const shipped = value_at(shipped_check().found.reports, variant.id);
    const GridRow row{&variant, &missing_forms()[index++], here ? here : shipped, !here};
    cells += rule_name(variant, variant.id == present);
    cells += row_of_squares(application, columns, row);
  }
  return scene::grid(2, std::move(cells), Gap::near, Gap::none).named("cells");
}

/// The buttons of the grid. None takes the place of another, so that a late click does no harm.
Node actions(Application& application) {
  CheckedGrid& checks = application.checks;
  const GridReports& found = checks.found();
  Nodes all = {
      scene::link(found.complete()   ? "check again"
                  : found.done() > 0 ? "go on"
                                     : "check all")
          .named("check")
          .enabled_if(!checks.runs())
          .told("Runs every rule in every form, precision and device, in the cases of `palimpsest verify`, "
                "and compares. It continues while you work elsewhere.")
          .on([&application] { application.checks.start(application.session); }),
      scene::link(checks.with_long_texts ? "long texts too" : "short texts")
          .named("texts")
          .enabled_if(!checks.runs())
          .told(
              "Texts up to 257 tokens, or also of 1000 and 4096. A click changes that; earlier results stay.")
          .on([&checks] { checks.with_long_texts = !checks.with_long_texts; })};
  if (!found.reports.empty())
    all += scene::link("export…")
               .told("Writes the report that `palimpsest verify --json` writes.")
               .on([&application] {
                 application.ask_where_to_save_text("report", to_json(application.checks.found().joined()));
               });
  return scene::row(std::move(all), Gap::wide);
}

/// Progress and a link to cancel; afterwards, in their place, the result.
Node state(CheckedGrid& checks) {
  const GridReports& found = checks.found();
  if (checks.runs())
    return scene::row({scene::mark(Mark::Kind::spinner, style::colours().dim),
                       scene::caption(fmt::format("{} of {} · {:.0f} %", found.done(), variants().size(),
                                                  100 * checks.progress()))
                           .fixed(104),
                       scene::link("cancel")
                           .told("Stops the check; the results stay, and “go on” continues it.")
                           .on([&checks] { checks.stop(); })});
  Index failed = 0;
  Index runs = 0;
  Index cases = 0;
  for (const auto& [variant, row] : found.reports) {
    for (const VerifyResult& result : row.report->results) failed += result.failed;
    runs += row.report->runs();
    cases += row.report->cases;
  }
  const ShippedCheck& last = shipped_check();
  const std::string words =
      runs == 0 && last.date.empty() ? std::string("nothing is checked yet")
      : runs == 0 && last.failed == 0
          ? fmt::format("{} runs agreed on {}", in_digits(last.runs), last.date.substr(0, 10))
      : runs == 0   ? fmt::format("{} of {} runs differed on {}", last.failed, in_digits(last.runs),
                                  last.date.substr(0, 10))
      : failed == 0 ? fmt::format("{} comparisons, all agree", runs)
                    : fmt::format("{} of {} comparisons differ", failed, runs);
  Node line = scene::note(words, failed == 0 ? style::colours().dim : style::colours().alarm)
                  .named("state")
                  .told(runs > 0 ? fmt::format("In {} cases of {} of {} rules.", cases, found.done(),
                                               variants().size())
                                 : "Thin squares: the last full check of the CPU, as shipped. “check all” "
                                   "runs it here.");
  // Another one is as high, so that the grid stays where it is.
  return scene::steady({std::move(line), scene::link("cancel")});
}

}  // namespace

Node verify_grid_panel(Application& application) {
  return scene::column(
             {beside_segments(scene::heading("Everything that can be checked")), actions(application),
              state(application.checks), grid(application, application.checks.found())},
             Gap::hair)
      .named("grid");
}

}  // namespace palimpsest
