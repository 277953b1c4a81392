#include "app/commands/show_views.h"

#include "core/base/text.h"

namespace palimpsest {

namespace {

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
  const auto computation = of.lock();
  if (!computation) throw Cancelled();
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

Json list_of(const Vector<double>& numbers) {
  return list_of(numbers, [](double number) { return number; });
}

Json list_of(const Matrix<double>& rows) {
  return list_of(rows.rowwise(), [](const auto& row) { return list_of(Vector<double>(row.transpose())); });
}

Json tokens_json(const ShownPlace& place, const std::vector<Index>& tokens) {
  return list_of(tokens, [&](Index token) -> Json {
    return {{"token", token}, {"text", place.text(token)}};
  });
}

std::vector<Index> tokens_of(const std::vector<AskedWord>& words) {
  std::vector<Index> tokens;
  for (const AskedWord& word : words) tokens.push_back(word.token);
  return tokens;
}

Json finite_json(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }

std::string short_number(double number) { return fmt::format("{:.4g}", number); }

}  // namespace palimpsest
