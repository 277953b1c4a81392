#include "app/session/verify_questions.h"

#include <fmt/format.h>

#include "app/session/json_fields.h"
#include "app/session/paths.h"
#include "app/session/session.h"
#include "core/base/parallel_for.h"
#include "core/io/file.h"

namespace palimpsest {

static auto parts_of(const Seen& line) { return std::tie(line.errors, line.lost); }
static auto parts_of(const FaultFigures& figures) { return std::tie(figures.errors); }
static auto parts_of(const WrongPlace& place) {
  return std::tie(place.tensor.is, place.tensor.should_be, place.apart);
}
static auto parts_of(const FragileRun& run) { return std::tie(run.errors, run.right_errors); }
static auto parts_of(const FragileFigures& figures) { return std::tie(figures.run); }
static auto parts_of(const VerifyReport& report) { return std::tie(report.results, report.missing); }

namespace {

constexpr Index largest_block = 64;  // of fragile forms: what a kernel takes at once
constexpr Index most_rows = 64;      // of a tensor that is shown
constexpr Index most_columns = 128;
constexpr double usual_part = 0.98;  // of its numbers have colours of their own

/// The first of `most` places around `middle`, of so many.
Index first_around(Index middle, Index most, Index count) {
  return std::clamp<Index>(middle - most / 2, 0, std::max<Index>(count - most, 0));
}

void cut(Matrix<double>& matrix, Index row, Index column) {
  if (matrix.size() == 0) return;
  matrix = Matrix<double>(matrix.block(row, column, std::min(most_rows, matrix.rows() - row),
                                       std::min(most_columns, matrix.cols() - column)));
}

/// Cuts a tensor that is off to what is shown, and finds the range of its colours.
WrongPlace place_of(WrongTensor off, const Symbols& symbols) {
  WrongPlace place{.tensor = std::move(off), .symbols = symbols, .version = next_version()};
  WrongTensor& tensor = place.tensor;
  const Departure& at = tensor.departure;
  const bool starts_above = at.rows_per_token > 0 && at.row < most_rows;
  place.first_row = starts_above ? 0 : first_around(at.row, most_rows, tensor.should_be.rows());
  place.first_column = first_around(at.column, most_columns, tensor.should_be.cols());
  const bool fits =
      tensor.is.rows() == tensor.should_be.rows() && tensor.is.cols() == tensor.should_be.cols();
  if (!fits) tensor.is.resize(0, 0);
  cut(tensor.should_be, place.first_row, place.first_column);
  cut(tensor.is, place.first_row, place.first_column);
  const double range = quantile(sizes_of(tensor.should_be, tensor.is), usual_part);
  if (range > 0) place.range = range;
  constexpr double least_part = 0.02;  // of the common scale
  const double largest = quantile(sizes_of(tensor.should_be), 1);
  place.should_range = largest > tensor.dust && largest < least_part * place.range ? largest : place.range;
  if (!fits || tensor.is.size() == 0) return place;
  place.apart = tensor.is - tensor.should_be;
  place.beyond = static_cast<double>((place.apart.array().abs() > place.range).count()) /
                 static_cast<double>(place.apart.size());
  return place;
}

/// The steps of a form in f64, of its own: records are made in the order in which they are compared.
std::unique_ptr<Trace> own_trace(const Foundation& foundation, Form form) {
  constexpr std::size_t budget = std::size_t{16} << 20;  // bytes: several are under way at once
  return foundation.variant->rule->trace(foundation.sequence, form, Precision::f64,
                                         foundation.choice.chunk_size, budget);
}

/// Why there is no such form here; empty if there is.
std::string no_form(const Foundation& foundation, Form form) {
  if (foundation.trace(form)) return {};
  const auto missing =
      foundation.device->missing(*foundation.variant, foundation.sequence.settings, form, Precision::f64);
  return missing ? *missing : fmt::format("The {} form is not computed for so many tokens.", name(form));
}

Seen as_computed(const Foundation& foundation, Form form, const std::stop_token& stop) {
  Seen seen{.lens = {.form = form, .chunk_size = foundation.choice.chunk_size}};
  const Output& expected = foundation.reference->expected(stop);
  const Output output = form == Form::recurrent && is_cpu(*foundation.device)
                            ? expected
                            : foundation.device->run(*foundation.variant, foundation.sequence, form,
                                                     Precision::f64, foundation.choice.chunk_size, stop);
  seen.errors = errors_by_row("o", output.o, expected.o);
  seen.worst = compare(output, expected);
  return seen;
}

/// Where the engine works in f64 on what f32 holds, nothing is rounded twice.
Seen looked_through(const Foundation& foundation, Form form, Arithmetic arithmetic,
                    const std::stop_token& stop) {
  return look(*foundation.variant, foundation.inputs.arrays, foundation.inputs.settings,
              {.form = form, .arithmetic = arithmetic, .chunk_size = foundation.choice.chunk_size}, 0, stop);
}

/// Where the device's own numbers part from the CPU's in the same precision; nothing where they do not.
std::optional<WrongPlace> wrong_on_device(const Foundation& foundation, Form form, double tolerance,
                                          const std::stop_token& stop) {
  const std::shared_ptr<const Trace>& trace = foundation.trace(form);
  if (!trace || is_cpu(*foundation.device)) return std::nullopt;
  const Choice& choice = foundation.choice;
  const auto right = foundation.variant->rule->trace(foundation.sequence, form, held_in(choice.precision),
                                                     choice.chunk_size);
  const std::optional<Departure> departure = departure_from(*right, *trace, tolerance, stop);
  if (!departure) return std::nullopt;
  return place_of(wrong_tensor(*right, *trace, *departure, stop), trace->symbols);
}

bool has_decays(const Variant& variant, const Arrays& arrays) {
  return std::ranges::any_of(variant.inputs, [&](const Input& input) {
    return input.range == Range::decay && has_tokens(input) &&
           (arrays.contains(input.name) || arrays.contains("g"));
  });
}

/// Whether the fragile form has its like among the steps of a form of these numbers.
bool applies(const FragileForm& fragile, const Variant& variant, const Sequence& sequence, Form form,
             Index chunk_size) {
  if (variant.rule->missing(form, sequence.settings)) return false;
  const auto trace = variant.rule->trace(sequence, form, Precision::f64, chunk_size);
  return with_fault(fragile.way, {trace->phases, trace->symbols}).has_value();
}

/// The inputs of the open data for a rule, those of the present one first.
HeldInputs inputs_for(const Foundation& foundation, const Variant& variant) {
  const Choice& choice = foundation.choice;
  const Inputs inputs = &variant == foundation.variant
                            ? foundation.inputs
                            : make_inputs(*foundation.data, choice.head, variant, {}, choice.edits);
  return held_inputs(variant, inputs.arrays, inputs.settings, Precision::f64);
}

constexpr std::size_t at_once = 2;  // variants that are being verified

/// Of all choices of options the worst; null: nothing has been run.
const VerifyResult* worst_of(const VerifyReport& report, const GridColumn& column) {
  const VerifyResult* worst = nullptr;
  for (const VerifyResult& result : report.results) {
    if (result.form != column.form || result.precision != column.precision ||
        result.device != column.backend->name())
      continue;
    const auto badness = [](const VerifyResult& each) {
      return each.passed() ? each.worst.error / each.allowed() : 1e300;
    };
    if (!worst || badness(result) > badness(*worst)) worst = &result;
  }
  return worst;
}

GridReports::Row row_of(std::shared_ptr<const VerifyReport> report) {
  GridReports::Row row{std::move(report), {}};
  for (const GridColumn& column : grid_columns()) row.cells.push_back(worst_of(*row.report, column));
  return row;
}

/// The rows of a report, without those of rules that are not in the table.
GridReports grid_reports(const VerifyReport& report) {
  GridReports all;
  for (const Variant& variant : variants()) {
    VerifyReport own;
    std::ranges::copy_if(report.results, std::back_inserter(own.results),
                         [&](const VerifyResult& result) { return result.variant == variant.id; });
    if (!own.results.empty())
      all.reports[variant.id] = row_of(std::make_shared<const VerifyReport>(std::move(own)));
  }
  return all;
}

}  // namespace

Found<Seen> ProofLine::compute(const Foundation& foundation, const Effort& effort) const {
  Seen none{.lens = {.form = form, .arithmetic = arithmetic}};
  none.message = no_form(foundation, form);
  if (none.message.empty() && arithmetic != Arithmetic::f64)
    none.message = too_long_to_edit(form, foundation.sequence.tokens);
  if (!none.message.empty()) return none;
  try {
    return arithmetic == Arithmetic::f64 ? as_computed(foundation, form, effort.stop)
                                         : looked_through(foundation, form, arithmetic, effort.stop);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {  // rounded arrays that are out of range
    none.message = error.what();
    return none;
  }
}

Found<FaultFigures> FaultHere::compute(const Foundation& foundation, const Effort& effort) const {
  FaultFigures figures;
  figures.without = no_form(foundation, form);
  if (figures.without.empty()) figures.without = too_long_to_edit(form, foundation.sequence.tokens);
  if (figures.without.empty() && !foundation.reference->expected().o.allFinite())
    figures.without = "the outputs are not finite without a fault either";
  if (!figures.without.empty()) return figures;
  const Fault& wrong = find_fault(fault);
  const std::unique_ptr<Trace> trace = own_trace(foundation, form);
  const Tolerance allowed = tolerance(*foundation.variant, foundation.sequence.settings, Precision::f64);
  const auto judge = [&](const Output& output) {
    return judged(foundation, form, output, allowed, effort.stop);
  };
  std::optional<FaultRun> run = run_with(wrong, *trace, judge, effort.stop);
  if (!run) {
    figures.without = fmt::format("needs {}", wrong.needs);
    return figures;
  }
  if (!run->departure && !wrong.silent.empty() && !run->noticed())
    figures.without = fmt::format("changes no number: {}", wrong.silent);
  static_cast<FaultRun&>(figures) = *std::move(run);
  const Output output = std::exchange(figures.output, {});
  if (!figures.message.empty()) return figures;
  figures.errors = errors_by_row("o", output.o, foundation.reference->expected().o);
  const auto off =
      std::ranges::find_if(figures.errors, [&](double error) { return error > figures.judgement.allowed(); });
  if (off != figures.errors.end()) figures.first_wrong = off - figures.errors.begin();
  return figures;
}

Found<std::optional<WrongPlace>> WrongHere::compute(const Foundation& foundation,
                                                    const Effort& effort) const {
  if (fault.empty()) return wrong_on_device(foundation, form, tolerance, effort.stop);
  const Found<FaultFigures> figures = FaultHere{of, form, fault}.compute(foundation, effort);
  if (!figures->departure || !figures->without.empty()) return std::nullopt;
  std::shared_ptr<const Trace> right = own_trace(foundation, form);
  std::optional<Equations> faulty = with_fault(find_fault(fault), {right->phases, right->symbols});
  const EditedTrace edited(std::move(right), *std::move(faulty));
  return place_of(wrong_tensor(edited.right(), edited, *figures->departure, effort.stop), edited.symbols);
}

Found<FragileFigures> FragileHere::compute(const Foundation& foundation, const Effort& effort) const {
  const FragileForm& form_of = find_fragile_form(fragile);
  FragileFigures figures;
  const Index tokens = foundation.sequence.tokens;
  figures.chunk_size = std::clamp<Index>(tokens, 1, largest_block);
  const Variant* const tried[] = {foundation.variant, &find_variant("gated_deltanet"),
                                  &find_variant("softmax")};
  for (const Variant* const variant : tried) {
    HeldInputs inputs = inputs_for(foundation, *variant);
    for (const Form form : {Form::chunkwise, Form::parallel}) {
      if (!too_long_to_edit(form, tokens).empty()) continue;
      const bool needs_decays = fragile != "doubled-inverse" && !form_of.always_wrong;
      if (needs_decays && !has_decays(*variant, *inputs.arrays)) continue;
      if (!applies(form_of, *variant, inputs.sequence, form, figures.chunk_size)) continue;
      const FragileData data = fragile_data(form_of, *variant, *inputs.arrays,
                                            form == Form::parallel ? tokens : figures.chunk_size, breaks);
      const HeldInputs held = held_inputs(*variant, std::make_shared<const Arrays>(data.arrays),
                                          inputs.sequence.settings, Precision::f64);
      figures.variant = variant;
      figures.form = form;
      figures.data_words = data.words;
      figures.run = run_fragile(form_of, *variant, held.sequence, form, figures.chunk_size, effort.stop);
      return figures;
    }
  }
  figures.reason =
      fmt::format("It needs {}, which neither this rule nor its substitutes have.", form_of.way.needs);
  return figures;
}

Found<std::vector<DigitsLost>> DigitsHere::compute(const Foundation& foundation, const Effort& effort) const {
  if (foundation.sequence.tokens > most_tokens_measured) return std::vector<DigitsLost>();
  return foundation.reference->alone(effort.stop, [&](ReferenceRun& reference) {
    return digits_lost(reference, forms_of(foundation), foundation.choice.chunk_size, effort.stop);
  });
}

Found<VerifyReport> VerifiedVariant::compute(const Effort& effort) const {
  VerifyPlan plan = with_long_texts ? thorough_plan() : VerifyPlan();
  plan.variants = {variant};
  plan.random_cases = random_cases;
  plan.backends = usable_backends();
  plan.jobs = std::max(1U, processor_threads() / 2);  // the rest is for what is looked at
  const auto told = [&](const VerifyProgress& now) {
    if (now.total > 0) effort.tell(static_cast<double>(now.done) / static_cast<double>(now.total));
  };
  VerifyReport report = verify(plan, variants(), told, effort.stop);
  if (!report.complete()) throw Cancelled();
  return report;
}

std::vector<Form> forms_of(const Foundation& foundation) {
  std::vector<Form> forms;
  const auto exists = [&](Form form) { return foundation.trace(form) != nullptr; };
  std::ranges::copy_if(all_forms, std::back_inserter(forms), exists);
  return forms;
}

std::string size_words(const FaultFigures& figures) {
  if (!figures.without.empty()) return "none";
  if (!figures.message.empty()) return "cannot run";
  double error = figures.judgement.disagreement.error;
  for (const double at_token : figures.errors) error = std::max(error, at_token);
  return std::isfinite(error) ? plain_number(error, 2) : "NaN";
}

const std::vector<GridColumn>& grid_columns() {
  static const std::vector<GridColumn> all = [] {
    std::vector<GridColumn> columns;
    for (const Backend* backend : backends())
      for (const Precision precision : precisions_of(*backend))
        for (const Form form : all_forms) columns.push_back({backend, precision, form});
    return columns;
  }();
  return all;
}

const std::vector<std::vector<bool>>& missing_forms() {
  static const std::vector<std::vector<bool>> all = [] {
    std::vector<std::vector<bool>> rows;
    for (const Variant& variant : variants()) {
      std::vector<bool>& row = rows.emplace_back(grid_columns().size(), true);
      for (const Settings& given : option_choices(variant)) {
        const Settings settings = random_settings(variant, given, 1);
        for (std::size_t i = 0; i < row.size(); ++i) {
          const GridColumn& column = grid_columns()[i];
          if (!column.backend->missing(variant, settings, column.form, column.precision)) row[i] = false;
        }
      }
    }
    return rows;
  }();
  return all;
}

VerifyReport read_verify_report(const std::filesystem::path& file) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20;
  VerifyReport report;
  naming_input(file.string(), [&] {
    const nlohmann::json json = parse_json(read_text_file(file, most_bytes));
    const Fields fields(json, "the report");
    fields.read("date", report.date);
    fields.require("results");
    fields.read_each("results", "result", [&](const Fields& from) {
      VerifyResult& result = report.results.emplace_back();
      from.read("variant", result.variant);
      from.read("options", result.options);
      from.read("device", result.device);
      from.read("form", result.form);
      from.read("precision", result.precision);
      from.read("runs", result.runs);
      from.read("failed", result.failed);
      from.read("error", result.worst.error);
      from.read("allowed", result.tolerance);
    });
  });
  return report;
}

const ShippedCheck& shipped_check() {
  static const ShippedCheck shipped = [] {
    ShippedCheck check;
    try {
      const VerifyReport report = read_verify_report(asset("checks/cpu.json"));
      check = {.date = report.date, .runs = report.runs(), .found = grid_reports(report)};
      for (const VerifyResult& result : report.results) check.failed += result.failed;
    } catch (const Error&) {  // a program without its assets has none
    }
    return check;
  }();
  return shipped;
}

VerifyReport GridReports::joined() const {
  VerifyReport all;
  all.date = present_date();
  for (const Variant& variant : variants()) {
    const auto row = reports.find(variant.id);
    if (row == reports.end()) {
      ++all.planned;  // of a variant that is not there yet nothing is finished
      continue;
    }
    const VerifyReport& report = *row->second.report;
    all.results.insert(all.results.end(), report.results.begin(), report.results.end());
    all.missing.insert(all.missing.end(), report.missing.begin(), report.missing.end());
    all.cases += report.cases;
    all.planned += report.planned;
  }
  return all;
}

void CheckedGrid::start(Session& session) {
  if (found().complete()) {
    for (const Variant& variant : variants())
      session.questions().forget(VerifiedVariant{variant.id, with_long_texts});
    reports() = {};
  }
  runs_ = true;
}

void CheckedGrid::keep_checking(Session& session) {
  if (!runs_) return;
  GridReports& known = reports();
  std::size_t wanted = 0;
  under_way_ = 0;
  for (const Variant& variant : variants()) {
    if (known.reports.contains(variant.id) || known.problems.contains(variant.id)) continue;
    if (wanted == at_once) break;
    const Known<VerifyReport> answer =
        session.questions().ask(VerifiedVariant{variant.id, with_long_texts}, Urgency::later);
    if (wanted++ == 0) under_way_ = answer.progress;
    if (answer.value && !answer.stale) known.reports[variant.id] = row_of(answer.value);
    if (!answer.reason.empty()) known.problems[variant.id] = answer.reason;
  }
  if (wanted == 0) runs_ = false;
}

double CheckedGrid::progress() const {
  return (static_cast<double>(found().done()) + under_way_) / static_cast<double>(variants().size());
}

}  // namespace palimpsest
