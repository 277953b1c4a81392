#include "app/commands/show_views.h"

#include <numeric>

#include "app/session/attention_questions.h"
#include "app/session/compared_sides.h"
#include "app/session/paths.h"
#include "app/session/races.h"
#include "app/session/typed_text.h"
#include "app/session/verify_questions.h"

namespace palimpsest {

namespace {

/// What `one` makes of each of `all`, as a list.
template <class All, class One = std::identity>
Json list_of(const All& all, One one = {}) {
  Json list = Json::array();
  for (const auto& each : all) list.push_back(one(each));
  return list;
}

Json list_of(const Matrix<double>& rows) {
  return list_of(rows.rowwise(), [](const auto& row) { return list_of(row); });
}

/// Tokens and their texts: [{"token": 42, "text": "drum"}, ...].
Json tokens_json(const ShownPlace& place, const std::vector<Index>& tokens) {
  return list_of(tokens, [&](Index token) -> Json {
    return {{"token", token}, {"text", place.text(token)}};
  });
}

/// The tokens that the memory is queried for.
std::vector<Index> tokens_of(const std::vector<AskedWord>& words) {
  return made_of(words, &AskedWord::token);
}

/// JSON has no infinity.
Json finite_json(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }

std::string short_number(double number) { return fmt::format("{:.4g}", number); }

std::string four_places(double number) { return fmt::format("{:.4f}", number); }

Json words_json(const std::vector<AskedWord>& words) {
  return list_of(words, [](const AskedWord& word) -> Json {
    return {{"token", word.token},
            {"text", word.text},
            {"phrase", word.phrase},
            {"occurrences", word.occurrences},
            {"present", word.is_present}};
  });
}

Json row_json(const std::optional<Index>& row) { return row ? Json(*row) : Json(nullptr); }

/// A table with its words beside the rows and above the columns; the rest says what of each row.
std::string table_text(const AnswerTable& table, const Matrix<double>& numbers,
                       const Vector<double>* explained) {
  TextRows rows = {{""}};
  for (const AskedWord& word : table.words) rows.front().push_back(word.text);
  rows.front().insert(rows.front().end(), {explained ? "explained" : "", ""});
  for (Index i = 0; i < numbers.rows(); ++i) {
    const AskedWord& word = entry(table.words, i);
    std::vector<std::string>& row = rows.emplace_back(1, fmt::format("{} {}", word.token, word.text));
    for (const double number : numbers.row(i)) row.push_back(fmt::format("{:.2f}", number));
    row.insert(row.end(), {explained ? fmt::format("{:.0f} %", 100 * (*explained)(i)) : "", ""});
  }
  return columns(rows);
}

/// The largest number of the memory after the token: of S, or of what MesaNet has of the values.
std::pair<Index, Index> largest_cell(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const NamedStates memory =
      RecurrentMemory(*computation.variant, computation.sequence, *computation.recurrence, place.stop)
          .after(place.token + 1);
  std::pair<Index, Index> cell;
  const auto S = std::ranges::find(memory, "S", &NamedStates::value_type::first);
  const Matrix<double>& numbers = S == memory.end() ? memory.back().second : S->second;
  numbers.cwiseAbs().maxCoeff(&cell.first, &cell.second);
  return cell;
}

Json share_json(const Share& share) {
  return {{"written", share.written},
          {"mixed", share.mixed},
          {"decayed", share.decayed},
          {"erased", share.erased},
          {"remaining", share.remaining}};
}

Json stability_json(const std::optional<Stability>& stability) {
  if (!stability) return nullptr;
  return {{"sharpness", stability->sharpness}, {"exact", stability->exact},
          {"reach", stability->reach},         {"eigenvalue", stability->eigenvalue},
          {"growth", stability->growth},       {"largest_rate", finite_json(stability->largest_rate)}};
}

Json keeping_json(const std::optional<Keeping>& keeping) {
  if (!keeping) return nullptr;
  return {{"array", keeping->array},
          {"channels", keeping->channels},
          {"mean", list_of(keeping->mean)},
          {"least", list_of(keeping->least)},
          {"most", list_of(keeping->most)},
          {"half_lives", list_of(keeping->mean, [](double kept) { return finite_json(half_life(kept)); })}};
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : std::string("not finite");
}

Json left_json(const std::optional<LeftOfWrite>& left) {
  if (!left || left->shares.empty()) return nullptr;
  Json json = {{"shares", left->shares}};
  if (left->lost_most_at >= 0)
    json.update({{"lost_most_at", left->lost_most_at},
                 {"lost_there", left->lost_there},
                 {"erased", left->is_erased}});
  return json;
}

std::string left_words(const ShownPlace& place, const std::optional<LeftOfWrite>& left) {
  if (!left || left->shares.empty()) return {};
  std::string words =
      fmt::format("recalled {:.0f} %, now {:.0f} %", 100 * left->shares.front(), 100 * left->shares.back());
  if (left->lost_most_at >= 0)
    words += fmt::format(", {} {}: {:.0f} %", left->is_erased ? "lowered most by" : "decayed most at",
                         place.numbered(left->lost_most_at), 100 * left->lost_there);
  return words;
}

ShownNumbers show_answers(const ShownPlace& place) {
  const auto answers =
      place.find(MemoryAnswers{.form = place.form, .cursor = place.cursor, .words = {.pinned = place.words}});
  const AnswerTable& table = answers->table;
  const OutputAnswer& output = answers->output;
  ShownNumbers shown = {{{"words", words_json(table.words)},
                         {"linear", table.is_linear},
                         {"before", list_of(table.before)},
                         {"change", list_of(table.change)},
                         {"after", list_of(table.after)},
                         {"explained_before", list_of(table.explained_before)},
                         {"explained_after", list_of(table.explained_after)},
                         {"present", row_json(table.present)},
                         {"most_changed", row_json(table.most_changed)},
                         {"legibility", answers->legibility},
                         {"sentence", answers->sentence},
                         {"changed_by", answers->change},
                         {"output",
                          {{"words", words_json(output.words)},
                           {"amounts", list_of(output.amounts)},
                           {"explained", output.explained},
                           {"sentence", answers->output_sentence}}}}};
  shown.text = one_line(answers->sentence) + '\n';
  if (table.words.empty()) return shown;
  shown.text += "\nbefore\n" + table_text(table, table.before, &table.explained_before);
  shown.text += fmt::format("\n{}\n", answers->change) + table_text(table, table.change, nullptr);
  shown.text += "\nafter\n" + table_text(table, table.after, &table.explained_after);
  shown.text +=
      fmt::format("\nlegibility {:.2f}\n\n{}\n", answers->legibility, one_line(answers->output_sentence));
  TextRows rows;
  for (std::size_t i = 0; i < output.words.size(); ++i)
    rows.push_back({output.words[i].text, fmt::format("{:.3f}", output.amounts(static_cast<Index>(i)))});
  shown.text += columns(rows);
  return shown;
}

ShownNumbers show_recall(const ShownPlace& place) {
  std::vector<Index> moments(static_cast<std::size_t>(place.computation->sequence.tokens + 1));
  std::iota(moments.begin(), moments.end(), Index{0});
  const auto recall = place.find(RememberedWords{
      .tokens = place.words.empty() ? tokens_of(words_asked(*place.computation, place.token)) : place.words,
      .moments = std::move(moments)});
  TextRows rows = {{""}};
  for (const Index token : recall->tokens) rows.front().push_back(place.numbered(token));
  rows.front().push_back("");
  for (std::size_t moment = 1; moment < recall->moments.size(); ++moment) {
    const Index token = recall->moments[moment] - 1;
    std::vector<std::string>& row = rows.emplace_back(1, place.numbered(token));
    for (std::size_t word = 0; word < recall->tokens.size(); ++word) {
      const double share = recall->shares(static_cast<Index>(word), static_cast<Index>(moment));
      row.push_back(recall->tokens[word] <= token ? fmt::format("{:.2f}", share) : "-");
    }
    row.push_back("");
  }
  const std::string words =
      recall->is_alignment
          ? "Cosine of each token's value and what the memory returns for its key, after every token.\n" +
                compared_by_direction(*place.computation->variant) + "\n"
          : std::string(
                "Share of each token's value in what the memory returns for its key, after every token:\n");
  return {{{"words", tokens_json(place, recall->tokens)},
           {"moments", recall->moments},
           {"shares", list_of(recall->shares)},
           {"alignment", recall->is_alignment}},
          words + columns(rows)};
}

ShownNumbers show_provenance(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const auto [row, column] = place.cell ? *place.cell : largest_cell(place);
  const Provenance made = provenance(*computation.variant->rule, computation.sequence,
                                     {.tokens = place.token + 1, .row = row, .column = column}, place.stop);
  const auto writers =
      place.find(WhoWrote{.number = {.tokens = place.token + 1, .row = row, .column = column}});
  Json shares = list_of(made.shares, share_json);
  for (std::size_t t = 0; t < shares.size(); ++t)
    shares[t].update({{"token", t}, {"text", place.text(static_cast<Index>(t))}});
  Json strongest = Json::array();
  TextRows rows = {{"", "written", "decayed", "erased", "remaining", ""}};
  for (const WriterShare& writer : writers->strongest) {
    const bool is_erased = writer.eraser >= 0;
    strongest.push_back({{"token", writer.token},
                         {"remaining", writer.remaining},
                         {"eraser", is_erased ? Json(writer.eraser) : Json(nullptr)},
                         {"erased_by", writer.erased_by}});
    rows.push_back({writer.token == initial_token ? "at the start" : place.numbered(writer.token),
                    four_places(writer.share.written), four_places(writer.share.decayed),
                    four_places(writer.share.erased), four_places(writer.remaining),
                    is_erased
                        ? fmt::format("mostly by {}: {:.4f}", place.numbered(writer.eraser), writer.erased_by)
                        : ""});
  }
  if (writers->others > 0)
    rows.push_back(
        {fmt::format("{} others", writers->others), "", "", "", four_places(writers->others_remaining), ""});
  return {{{"row", row},
           {"column", column},
           {"value", made.value},
           {"strongest", std::move(strongest)},
           {"others", writers->others},
           {"others_remaining", writers->others_remaining},
           {"initial", share_json(made.initial)},
           {"shares", std::move(shares)}},
          fmt::format("S[{}, {}] after t = {} is {:.4f}:\n", row, column,
                      one_line(place.numbered(place.token)), made.value) +
              columns(rows)};
}

ShownNumbers show_learning(const ShownPlace& place) {
  const auto answer = place.find(LearningNow{.token = place.token});
  if (!*answer) throw Unsupported(fmt::format("t = {} makes no step", place.token));
  const LearningMoment& moment = **answer;
  const LearningStep& step = moment.step;
  const auto harm = place.find(HarmNow{.token = place.token});

  ShownNumbers shown = {
      {{"steps", moment.step_count},
       {"loss_before", finite_json(step.loss_before)},
       {"loss_after", finite_json(step.loss_after)},
       {"rate", step.problem.rate},
       {"taken", step.taken},
       {"off_axis", step.off_axis},
       {"gradient_norm", finite_json(step.gradient_norm)},
       {"momentum_norm", finite_json(step.momentum_norm)},
       {"gradient_check", {{"places", moment.check.places}, {"error", finite_json(moment.check.error)}}},
       {"edge", finite_json(moment.edge)},
       {"parabola_edge", finite_json(moment.parabola_edge)},
       {"stability", stability_json(step.stability)},
       {"rates", moment.rates},
       {"losses", moment.losses},
       {"singular_values", list_of(step.singular_values)},
       {"harmed", nullptr}}};
  TextRows rows = {
      {"loss", fmt::format("{:.4g} before the step, {:.4g} after it", step.loss_before, step.loss_after)},
      {"learning rate",
       fmt::format("{:.4g}; the step along the gradient is {:.4g}", step.problem.rate, step.taken)},
      {"gradient", fmt::format("norm {:.4g}; agrees with finite differences: {:.1e}", step.gradient_norm,
                               moment.check.error)},
      {"limit", fmt::format("{:.4g}; larger steps increase the loss", moment.edge)}};
  if (step.stability) {
    const char* alone = step.problem.moving.empty() ? "" : " without momentum";
    rows.push_back(
        {"stability",
         fmt::format("step size {:.4g}; the error is multiplied by {:.4g} along the sharpest direction{}; by "
                     "at most {:.4g} along any; stability limit of the rate: {:.4g}",
                     step.stability->reach, step.stability->eigenvalue, alone, step.stability->growth,
                     step.stability->largest_rate)});
  }
  if (step.momentum_norm > 0) rows.push_back({"momentum", fmt::format("norm {:.4g}", step.momentum_norm)});
  if (*harm) {
    const HarmedPair& pair = (*harm)->pair;
    shown.json["harmed"] = {{"token", pair.token},      {"text", place.text(pair.token)},
                            {"step", pair.step},        {"before", pair.before},
                            {"after", pair.after},      {"rates", (*harm)->rates},
                            {"losses", (*harm)->losses}};
    rows.push_back({"most interference", fmt::format("{}: loss {:.4g} -> {:.4g}", place.numbered(pair.token),
                                                     pair.before, pair.after)});
  } else {
    rows.push_back({"most interference", "the loss of no stored pair increases"});
  }
  TextRows line = {{"rate", "loss"}};
  for (std::size_t i = 0; i < moment.rates.size(); i += 10)
    line.push_back({short_number(moment.rates[i]), short_number(moment.losses[i])});
  shown.text = columns(rows, 0) + '\n' + columns(line);
  return shown;
}

ShownNumbers show_gates(const ShownPlace& place) {
  const auto courses = place.find(CoursesOfTokens{});
  const auto& strengths = courses->strengths;
  const auto& keeping = courses->keeping;
  ShownNumbers shown = {{{"keeping", keeping_json(keeping)}, {"strength", nullptr}}};
  if (!keeping)
    shown.text += courses->never_decays ? "This rule has no decay.\n" : "This rule has no single decay.\n";
  if (strengths) {
    shown.json["strength"] = {{"array", strengths->array},
                              {"reach", list_of(strengths->reach)},
                              {"squares", list_of(strengths->squares)}};
  } else {
    shown.json["no_strength"] = courses->no_strengths;
    shown.text += courses->no_strengths + '\n';
  }
  const bool has_channels = keeping && keeping->channels > 1;
  std::vector<std::string> header = {""};
  if (keeping) header.insert(header.end(), {"kept", "half-life"});
  if (has_channels) header.insert(header.end(), {"least kept", "most kept"});
  if (strengths) header.emplace_back("step size");
  header.emplace_back("");
  TextRows rows = {header};
  for (Index t = 0; t < place.computation->sequence.tokens; ++t) {
    std::vector<std::string>& row = rows.emplace_back(1, place.numbered(t));
    if (keeping) {
      const double tokens = half_life(keeping->mean(t));
      row.insert(row.end(), {four_places(keeping->mean(t)),
                             std::isfinite(tokens) ? fmt::format("{:.3g}", tokens) : "infinite"});
    }
    if (has_channels) row.insert(row.end(), {four_places(keeping->least(t)), four_places(keeping->most(t))});
    if (strengths) row.push_back(fmt::format("{:.3f}", strengths->reach(t)));
    row.emplace_back("");
  }
  shown.text += columns(rows);
  return shown;
}

ShownNumbers show_attention(const ShownPlace& place) {
  const auto row = place.find(RowAtToken{.token = place.token, .sharpness = place.sharpness});
  const auto facts = place.find(FactsOfAttention{});
  const bool has_weights = row->reason.empty();
  const bool has_softmax = facts->no_softmax.empty();
  Json words = Json::array();
  TextRows rows = {{"", "this rule", "softmax", "recall of its write"}};
  for (const ReadWord& word : row->words) {
    words.push_back({{"token", word.token},
                     {"text", place.text(word.token)},
                     {"share", word.share},
                     {"softmax_share", word.softmax_share},
                     {"left", left_json(word.left)}});
    rows.push_back({place.numbered(word.token), has_weights ? percent(word.share) : "-",
                    has_softmax ? percent(word.softmax_share) : "-", left_words(place, word.left)});
  }
  ShownNumbers shown = {{{"weights", has_weights ? list_of(row->weights) : Json(nullptr)},
                         {"softmax_weights", list_of(row->softmax_weights)},
                         {"sharpness", place.sharpness > 0 ? place.sharpness : facts->usual_sharpness},
                         {"total", row->total},
                         {"subtracts", row->subtracts},
                         {"words", words}}};
  if (has_weights) {
    shown.text = fmt::format("Weights of the output at t = {}; {} of them are negative:\n",
                             place.numbered(place.token), percent(row->subtracts));
  } else {
    shown.json["no_weights"] = row->reason;
    shown.text = row->reason + '\n';
  }
  shown.text += columns(rows);
  if (!has_softmax) {
    shown.text += facts->no_softmax + '\n';
    return shown;
  }
  shown.text += fmt::format("Softmax of the same q and k, scale {:.3g}", facts->usual_sharpness);
  if (row->softmax_most >= 0) {
    shown.json["softmax_most"] = row->softmax_most;
    shown.text += fmt::format("; its largest weight: {}, {}", place.numbered(row->softmax_most),
                              percent(row->softmax_weights(row->softmax_most)));
  }
  shown.text += ".\n";
  return shown;
}

ShownNumbers show_heads(const ShownPlace& place) {
  const auto read = place.computation->data->read;
  if (!read) refuse("heads shows a model that reads a text: give --text");
  const auto effects = find_out(HeadEffects{.of = read}, {.stop = place.stop});
  const Continuation& answer = read->said->next.back().front();
  ShownNumbers numbers{
      .json = {{"answer", read->piece(answer.piece)},
               {"probability", answer.probability},
               {"heads", Json::array()}},
      .text = fmt::format("the answer is \"{}\", {}; effect of each head on its log probability, in nats\n",
                          read->piece(answer.piece), fixed_number(answer.probability, 4))};
  TextRows rows = {{"layer", "head", "if it only adds", "if its output is 0"}};
  for (const HeadEffect& effect : *effects) {
    numbers.json["heads"].push_back(
        {{"layer", effect.layer},
         {"head", effect.head},
         {"only_adds", effect.only_adds ? finite_json(*effect.only_adds) : Json()},
         {"silent", finite_json(effect.silent)}});
    rows.push_back({std::to_string(effect.layer), std::to_string(effect.head),
                    effect.only_adds ? fixed_number(*effect.only_adds, 3) : "-",
                    fixed_number(effect.silent, 3)});
  }
  numbers.text += columns(rows);
  return numbers;
}

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
  for (const Recall& each : recall->tokens) shown.errors.push_back(error_norm(each.after));
  if (shown.errors.empty()) return shown;
  shown.error =
      std::pair(error_norm(entry(recall->tokens, place.token).before), entry(shown.errors, place.token));
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

/// What a number became, by LostNumber::As, and why it is 0; null where it is not.
constexpr std::pair<const char*, const char*> became[] = {
    {"0", "underflow"}, {"0", "cancellation"}, {"0", "lost before"}, {"infinite", nullptr}, {"NaN", nullptr}};

Json lost_json(const LostNumber& lost) {
  const auto& [becomes, why_zero] = entry(became, lost.as);
  return {{"tensor", lost.tensor},
          {"operation", lost.operation},
          {"becomes", becomes},
          {"why_zero", why_zero ? Json(why_zero) : Json()},
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

/// A name as expressions can have it.
std::string in_expressions(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

ShownNumbers show_costs(const ShownPlace& place) {
  const Index chunk_size = place.computation->choice.chunk_size;
  const auto all = place.find(FormCosts{.chunk_size = chunk_size});
  ShownNumbers shown = {{{"chunk_size", chunk_size}}};
  TextRows rows = {{"form", "FLOPs per token", "bytes per token", "sequential steps", ""}};
  for (const CostRow& row : *all) {
    const std::string key = in_expressions(name(row.form));
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
  ShownNumbers shown = {Json::object()};
  TextRows rows = {{"report", "rule", "form", "numbers", "tokens", "batches", "ms", "GFLOP/s"}};
  std::error_code absent;
  for (const auto& file : std::filesystem::directory_iterator(asset("races"), absent)) {
    const std::string report = in_expressions(file.path().stem().string());
    for (const RacePoint& point : read_race(file.path()).points) {
      const RaceEntry& entry = point.entry;
      if (!point.measured() ||
          (entry.variant != place.computation->variant->id && entry.variant != "softmax"))
        continue;
      const double seconds = point.compute.median;
      const std::string length = fmt::format("n{}_b{}", entry.tokens, entry.batches);
      shown.json[report][entry.variant][in_expressions(name(entry.form))][name(entry.precision)][length] = {
          {"ms", 1e3 * seconds}, {"gflops", point.work.flops / seconds / 1e9}};
      rows.push_back({report, entry.variant, name(entry.form), name(entry.precision),
                      std::to_string(entry.tokens), std::to_string(entry.batches), figure(1e3 * seconds),
                      figure(point.work.flops / seconds / 1e9)});
    }
  }
  shown.text = columns(rows);
  return shown;
}

constexpr FactView views[] = {
    {"answers", "what the memory returns for stored keys before and after, and what the output resembles",
     show_answers},
    {"learning", "the write as a gradient step: loss, gradient, limits, and the pair with most interference",
     show_learning},
    {"provenance", "which tokens wrote an entry of the memory, and what remains of each write",
     show_provenance},
    {"recall", "recall of stored tokens, token by token", show_recall},
    {"gates", "decay, half-life and step size of every token", show_gates},
    {"attention", "the weights of an output, those of softmax, and the recall of the tokens it reads",
     show_attention},
    {"compare", "the memories, returned values and errors of several rules side by side", show_compare},
    {"lens", "how much every form and precision differs from the recurrence, token by token, and where",
     show_lens},
    {"heads", "the effect of each head of a model on its answer to --text", show_heads},
    {"faults", "what every fault does to the form, and its first difference", show_faults},
    {"costs", "the counted FLOPs, bytes and sequential steps of every form", show_costs},
    {"races", "the median times of this rule and of softmax in the reports that ship", show_races},
};

}  // namespace

std::span<const FactView> fact_views() { return views; }

Found<Facts> FactsAtPlace::compute(const Effort& effort) const {
  const auto computation = of.present();
  const auto& trace = computation->trace(form);
  if (!trace) throw Unsupported(computation->form(form).missing);
  const ShownPlace place{.computation = computation,
                         .form = form,
                         .cursor = cursor,
                         .token = trace->token(cursor),
                         .words = words,
                         .beside = beside,
                         .sharpness = sharpness,
                         .stop = effort.stop};
  Facts facts;
  facts.views["place"] = place_json(place);
  for (const std::string& id : views) {
    if (id == "place") continue;
    facts.views[id] =
        find_row(fact_views(), id, &FactView::id, fmt::format("there is no view \"{}\"; expected one of", id))
            .show(place)
            .json;
  }
  return facts;
}

std::string ShownPlace::text(Index of_token) const {
  return std::string(word_text(entry(computation->data->labels, of_token)));
}

const std::string& ShownPlace::operation() const { return computation->trace(form)->operation(cursor).id; }

Json place_json(const ShownPlace& place) {
  const Choice& choice = place.computation->choice;
  const Sequence& sequence = place.computation->sequence;
  return {{"data", place.computation->data->id},
          {"variant", choice.variant},
          {"form", name(place.form)},
          {"device", choice.device},
          {"chunk_size", choice.chunk_size},
          {"head", choice.head},
          {"tokens", sequence.tokens},
          {"dk", sequence.dk},
          {"dv", sequence.dv},
          {"token", place.token},
          {"text", place.text(place.token)},
          {"operation", place.operation()}};
}

std::string ShownPlace::numbered(Index of_token) const {
  return fmt::format("{} {}", of_token, text(of_token));
}

}  // namespace palimpsest
