#include "app/commands/show_views.h"
#include "app/session/compared_sides.h"
#include "app/session/paths.h"
#include "app/session/races.h"
#include "app/session/verify_questions.h"

namespace palimpsest {

namespace {

/// One of the sides, computed and asked at the place.
struct ShownSide {
  Side side;
  std::shared_ptr<const Computation> computation;
  std::shared_ptr<const SideMoment> moment;
  std::vector<double> errors;  // after the writes of all tokens; none without a memory to ask
  std::optional<std::pair<double, double>> error;  // before and after that of the token
};

ShownSide shown_side(const ShownPlace& place, const Side& side, bool is_first) {
  ShownSide shown{side, place.computation, {}, {}, {}};
  if (!is_first) {
    Choice choice = place.computation->choice;
    static_cast<Side&>(choice) = side;
    shown.computation = begin(place.computation->data, choice, place.stop);
  }
  const Effort effort{.stop = place.stop};
  shown.moment = find_out(SideAtWord{.of = shown.computation,
                                     .reference = place.computation,
                                     .asking = place.computation,
                                     .token = place.token,
                                     .words = {.pinned = place.words}},
                          effort);
  const auto recall = find_out(RecallOfTokens{.of = shown.computation}, effort);
  for (const Recall& each : recall->tokens) shown.errors.push_back(std::sqrt(2 * each.after));
  if (shown.errors.empty()) return shown;
  shown.error =
      std::pair(std::sqrt(2 * entry(recall->tokens, place.token).before), entry(shown.errors, place.token));
  return shown;
}

Json side_json(const ShownPlace& place, const ShownSide& shown) {
  const SideMoment& moment = *shown.moment;
  Json json = {{"variant", shown.side.variant},
               {"form", name(shown.side.form)},
               {"device", shown.computation->choice.device},
               {"precision", name(shown.side.precision)},
               {"parameters", shown.computation->sequence.settings.parameters},
               {"does", side_sentence(*shown.computation)},
               {"memory", nullptr},
               {"answers", nullptr},
               {"error", nullptr},
               {"errors_after", nullptr}};
  if (shown.error) {
    json["error"] = {{"before", shown.error->first}, {"after", shown.error->second}};
    json["errors_after"] = shown.errors;
  }
  if (!moment.no_memory.empty()) {
    json["no_memory"] = moment.no_memory;
    return json;
  }
  json["memory"] = {{"state", moment.state},
                    {"length_before", moment.before.length},
                    {"length_after", moment.after.length},
                    {"before", list_of(moment.before.S)},
                    {"after", list_of(moment.after.S)}};
  if (moment.no_difference.empty())
    json["memory"]["difference_length"] = moment.after.apart_length;
  else
    json["memory"]["no_difference"] = moment.no_difference;
  if (!moment.no_table.empty()) {
    json["no_answers"] = moment.no_table;
    return json;
  }
  json["answers"] = {{"words", tokens_json(place, tokens_of(moment.table.words))},
                     {"before", list_of(moment.table.before)},
                     {"after", list_of(moment.table.after)},
                     {"sentence", moment.sentence}};
  return json;
}

std::string figure(double error) {
  return std::isfinite(error) ? fmt::format("{:.1e}", error) : "not finite";
}

const char* became(LostNumber::As as) {
  if (is_zero(as)) return "0";
  return as == LostNumber::As::infinite ? "infinite" : "NaN";
}

/// Why it is 0; nothing where it is not.
Json why_zero(LostNumber::As as) {
  static const std::map<LostNumber::As, const char*> reasons = {
      {LostNumber::As::underflow, "underflow"},
      {LostNumber::As::cancelled, "cancellation"},
      {LostNumber::As::made_of_lost, "lost before"}};
  const char* const* const reason = value_at(reasons, as);
  return reason ? Json(*reason) : Json();
}

Json lost_json(const LostNumber& lost) {
  return {{"tensor", lost.tensor},
          {"operation", lost.operation},
          {"becomes", became(lost.as)},
          {"why_zero", why_zero(lost.as)},
          {"is_gate", lost.is_gate},
          {"token", lost.token},
          {"row", lost.row},
          {"column", lost.column},
          {"should_be", lost.expected},
          {"count", lost.count}};
}

Json departure_json(const std::optional<Departure>& departure) {
  if (!departure) return nullptr;
  return {
      {"token", departure->token},   {"block", departure->block},       {"operation", departure->operation},
      {"tensor", departure->tensor}, {"row", departure->row},           {"column", departure->column},
      {"is", departure->got},        {"should_be", departure->expected}};
}

}  // namespace

ShownNumbers show_compare(const ShownPlace& place) {
  SessionState state;
  state.set_choice(place.computation->choice);
  state.sides.insert(state.sides.end(), place.beside.begin(), place.beside.end());
  Json sides = Json::array();
  TextRows rows = {{"side", "norm of the memory", "difference from the first", "error before", "after"}};
  std::string sentences;
  for (const Side& side : compared_sides(state)) {
    const ShownSide each = shown_side(place, side, sides.empty());
    const SideMoment& moment = *each.moment;
    const std::string& label = each.computation->variant->label;
    sides.push_back(side_json(place, each));
    const bool has_memory = moment.no_memory.empty();
    rows.push_back(
        {label, has_memory ? short_number(moment.after.length) : "-",
         has_memory && moment.no_difference.empty() ? short_number(moment.after.apart_length) : "-",
         each.error ? short_number(each.error->first) : "-",
         each.error ? short_number(each.error->second) : "-"});
    sentences +=
        fmt::format("{}: {}\n", label, has_memory ? moment.sentence + moment.no_table : moment.no_memory);
  }
  return {{{"sides", sides}},
          fmt::format("Sides after t = {}:\n", place.numbered(place.token)) + columns(rows) + sentences};
}

ShownNumbers show_lens(const ShownPlace& place) {
  Json lines = Json::array();
  TextRows rows = {{"form", "numbers", "largest difference", "at", "tolerance", "lost"}};
  std::string lost;
  const auto add = [&](Form form, Arithmetic arithmetic) {
    const auto seen = place.find(ProofLine{.form = form, .arithmetic = arithmetic});
    const bool is_promised = arithmetic == Arithmetic::f64;
    const Computation& computed = *place.computation;
    const double allowed = tolerance(*computed.variant, computed.sequence.settings, Precision::f64).error;
    Json line = {{"form", name(form)},         {"arithmetic", name(arithmetic)},
                 {"worst", seen->worst.error}, {"array", seen->worst.array},
                 {"errors", seen->errors},     {"lost", list_of(seen->lost, lost_json)}};
    if (is_promised) line["tolerance"] = allowed;
    if (!seen->message.empty()) line["none"] = seen->message;
    lines.push_back(line);
    const auto& errors = seen->errors;
    rows.push_back(
        {name(form), name(arithmetic), seen->message.empty() ? figure(seen->worst.error) : seen->message,
         errors.empty() ? "" : place.numbered(std::ranges::max_element(errors) - errors.begin()),
         is_promised ? figure(allowed) : "", seen->lost.empty() ? "" : fmt::format("{}", seen->lost.size())});
    for (const LostNumber& each : seen->lost)
      lost += fmt::format(
          "{} {}: {}{} {} at t = {}{}, expected {:.3g}; {} of these\n", name(form), name(arithmetic),
          each.is_gate ? "gate " : "", each.tensor, in_words(each.as), place.numbered(each.token),
          each.operation.empty() ? " in the input" : ", " + each.operation, each.expected, each.count);
  };
  for (const Form form : forms_of(*place.computation)) add(form, Arithmetic::f64);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16, Arithmetic::f16})
    add(place.form, arithmetic);
  const auto digits = place.find(DigitsHere{});
  const Json sums = list_of(*digits, [](const DigitsLost& each) -> Json {
    return {{"form", name(each.form)},
            {"tokens_at_once", each.at_once},
            {"outputs_multiplied_by", each.factor},
            {"states_multiplied_by", each.of_state}};
  });
  return {{{"lines", lines}, {"sums", sums}},
          "Largest difference from the f64 recurrence, relative to the largest number:\n" + columns(rows) +
              lost + (digits->empty() ? "" : in_words(*digits) + '\n')};
}

ShownNumbers show_faults(const ShownPlace& place) {
  Json list = Json::array();
  TextRows rows = {{"fault", "differs by", "first difference", "operation", "is", "expected"}};
  std::string without;
  for (const Fault& fault : faults()) {
    const auto figures = place.find(FaultHere{.form = place.form, .fault = fault.id});
    Json& json = list.emplace_back(Json{{"fault", fault.id}, {"sentence", fault.sentence}});
    if (!figures->without.empty()) {
      json["without"] = figures->without;
      without += fmt::format("{}: the form {}\n", fault.id, figures->without);
      continue;
    }
    json.update({{"noticed", figures->noticed()},
                 {"off_by", figures->judgement.disagreement.error},
                 {"allowed", figures->judgement.allowed()},
                 {"first_wrong_output", figures->first_wrong},
                 {"departure", departure_json(figures->departure)},
                 {"errors", figures->errors}});
    if (!figures->message.empty()) json["message"] = figures->message;
    const auto& at = figures->departure;
    rows.push_back({fault.id, size_words(*figures), at ? place.numbered(at->token) : "none",
                    at ? at->operation : "",
                    at ? fmt::format("{}[{}, {}] {:.4g}", at->tensor, at->row, at->column, at->got) : "",
                    at ? short_number(at->expected) : ""});
  }
  return {{{"faults", list}},
          fmt::format("Effect of every fault on the {} form:\n", name(place.form)) + columns(rows) + without};
}

ShownNumbers show_costs(const ShownPlace& place) {
  const Index chunk_size = place.computation->choice.chunk_size;
  const auto all = place.find(FormCosts{.chunk_size = chunk_size});
  ShownNumbers shown = {{{"chunk_size", chunk_size}}};
  TextRows rows = {{"form", "FLOPs per token", "bytes per token", "sequential steps", ""}};
  for (const CostRow& row : *all) {
    std::string key = name(row.form);
    std::ranges::replace(key, '-', '_');  // as expressions can name it
    if (!row.missing.empty()) {
      shown.json[key] = nullptr;
      rows.push_back({name(row.form), "-", "-", "-", row.missing});
      continue;
    }
    shown.json[key] = {
        {"flops", row.flops}, {"exponentials", row.exponentials}, {"bytes", row.bytes}, {"steps", row.steps}};
    rows.push_back({name(row.form), figure(row.flops), figure(row.bytes), std::to_string(row.steps), ""});
  }
  shown.text = fmt::format("Counted, with chunks of {}:\n", chunk_size) + columns(rows);
  return shown;
}

ShownNumbers show_races(const ShownPlace& place) {
  const auto as_name = [](std::string words) {  // as expressions can name it
    std::ranges::replace(words, '-', '_');
    return words;
  };
  ShownNumbers shown = {Json::object()};
  TextRows rows = {{"report", "rule", "form", "numbers", "tokens", "batches", "ms", "GFLOP/s"}};
  std::error_code absent;
  for (const auto& file : std::filesystem::directory_iterator(asset("races"), absent)) {
    const std::string report = as_name(file.path().stem().string());
    for (const RacePoint& point : read_race(file.path()).points) {
      const RaceEntry& entry = point.entry;
      if (!point.measured() ||
          (entry.variant != place.computation->variant->id && entry.variant != "softmax"))
        continue;
      const double seconds = point.compute.median;
      const std::string length = fmt::format("n{}_b{}", entry.tokens, entry.batches);
      shown.json[report][entry.variant][as_name(name(entry.form))][name(entry.precision)][length] = {
          {"ms", 1e3 * seconds}, {"gflops", point.work.flops / seconds / 1e9}};
      rows.push_back({report, entry.variant, name(entry.form), name(entry.precision),
                      std::to_string(entry.tokens), std::to_string(entry.batches), figure(1e3 * seconds),
                      figure(point.work.flops / seconds / 1e9)});
    }
  }
  shown.text = columns(rows);
  return shown;
}

}  // namespace palimpsest
