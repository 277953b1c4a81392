#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/prove_questions.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

std::string figure(double error) { return std::isfinite(error) ? fmt::format("{:.1e}", error) : "no number"; }

template <class Key>
Key about(const ShownPlace& place) {
  Key key;
  key.of = place.computation;
  return key;
}

Effort effort_of(const ShownPlace& place) { return {.stop = place.stop, .progress = {}}; }

const char* became(LostNumber::As as) {
  if (is_zero(as)) return "0";
  return as == LostNumber::As::infinite ? "infinite" : "no number";
}

/// Why it is 0; nothing where it is not.
Json why_zero(LostNumber::As as) {
  switch (as) {
    case LostNumber::As::underflow:
      return "underflow";
    case LostNumber::As::cancelled:
      return "cancellation";
    case LostNumber::As::made_of_lost:
      return "lost before";
    case LostNumber::As::infinite:
    case LostNumber::As::not_a_number:
      break;
  }
  return nullptr;
}

Json lost_json(const Seen& seen) {
  Json json = Json::array();
  for (const LostNumber& lost : seen.lost) {
    json.push_back({{"tensor", lost.tensor},
                    {"operation", lost.operation},
                    {"becomes", became(lost.as)},
                    {"why_zero", why_zero(lost.as)},
                    {"is_gate", lost.is_gate},
                    {"token", lost.token},
                    {"row", lost.row},
                    {"column", lost.column},
                    {"should_be", lost.expected},
                    {"count", lost.count}});
  }
  return json;
}

Json departure_json(const std::optional<Departure>& departure) {
  if (!departure) return nullptr;
  return {
      {"token", departure->token},   {"block", departure->block},       {"operation", departure->operation},
      {"tensor", departure->tensor}, {"row", departure->row},           {"column", departure->column},
      {"is", departure->got},        {"should_be", departure->expected}};
}

}  // namespace

ShownNumbers show_lens(const ShownPlace& place) {
  ShownNumbers shown;
  Json lines = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"form", "numbers", "largest difference", "at", "tolerance", "lost"}};
  std::string lost;
  const auto add = [&](Form form, Arithmetic arithmetic) {
    auto key = about<ProofLine>(place);
    key.form = form;
    key.arithmetic = arithmetic;
    const auto seen = find_out(key, effort_of(place));
    const bool is_promised = arithmetic == Arithmetic::f64;
    const Computation& computed = *place.computation;
    const double allowed =
        tolerance(*computed.variant, computed.sequence.settings, form, Precision::f64).error;
    Json line = {{"form", name(form)},         {"arithmetic", name(arithmetic)}, {"worst", seen->worst.error},
                 {"array", seen->worst.array}, {"errors", seen->errors},         {"lost", lost_json(*seen)}};
    if (is_promised) line["tolerance"] = allowed;
    if (!seen->message.empty()) line["none"] = seen->message;
    lines.push_back(line);
    std::string at;
    if (!seen->errors.empty())
      at = place.numbered(std::ranges::max_element(seen->errors) - seen->errors.begin());
    rows.push_back(
        {name(form), name(arithmetic), seen->message.empty() ? figure(seen->worst.error) : seen->message, at,
         is_promised ? figure(allowed) : "", seen->lost.empty() ? "" : fmt::format("{}", seen->lost.size())});
    for (const LostNumber& each : seen->lost) {
      lost += fmt::format(
          "{} {}: {}{} {} at {}{}, it should be {:.3g}; {} such\n", name(form), name(arithmetic),
          each.is_gate ? "the gate " : "", each.tensor, in_words(each.as), place.numbered(each.token),
          each.operation.empty() ? " as it comes in" : ", " + each.operation, each.expected, each.count);
    }
  };
  for (const Form form : forms_of(*place.computation)) add(form, Arithmetic::f64);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16, Arithmetic::f16})
    add(place.form, arithmetic);
  const auto digits = find_out(about<DigitsHere>(place), effort_of(place));
  Json sums = Json::array();
  for (const DigitsLost& each : *digits) {
    sums.push_back({{"form", name(each.form)},
                    {"tokens_at_once", each.at_once},
                    {"outputs_multiplied_by", each.factor},
                    {"states_multiplied_by", each.of_state}});
  }
  shown.json = {{"lines", lines}, {"sums", sums}};
  shown.text = "The largest difference from the f64 recurrence, as a share of the largest number:\n" +
               columns(rows) + lost;
  if (!digits->empty()) shown.text += in_words(*digits) + '\n';
  return shown;
}

ShownNumbers show_faults(const ShownPlace& place) {
  ShownNumbers shown;
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"fault", "off by", "first wrong", "operation", "is", "should be"}};
  std::string without;
  for (const Fault& fault : faults()) {
    auto key = about<FaultHere>(place);
    key.form = place.form;
    key.fault = fault.id;
    const auto figures = find_out(key, effort_of(place));
    Json json = {{"fault", fault.id}, {"sentence", fault.sentence}};
    if (!figures->without.empty()) {
      json["without"] = figures->without;
      without += fmt::format("{}: the form {}\n", fault.id, figures->without);
      list.push_back(json);
      continue;
    }
    json["noticed"] = figures->noticed();
    json["off_by"] = figures->judgement.disagreement.error;
    json["allowed"] = figures->judgement.allowed();
    json["first_wrong_output"] = figures->first_wrong;
    json["departure"] = departure_json(figures->departure);
    json["errors"] = figures->errors;
    if (!figures->message.empty()) json["message"] = figures->message;
    list.push_back(json);
    const auto& at = figures->departure;
    rows.push_back({fault.id, size_words(*figures), at ? place.numbered(at->token) : "none",
                    at ? at->operation : "",
                    at ? fmt::format("{}[{}, {}] {:.4g}", at->tensor, at->row, at->column, at->got) : "",
                    at ? fmt::format("{:.4g}", at->expected) : ""});
  }
  shown.json = {{"faults", list}};
  shown.text =
      fmt::format("What every fault does to the {} form:\n", name(place.form)) + columns(rows) + without;
  return shown;
}

}  // namespace palimpsest
