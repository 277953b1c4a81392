#include "app/views/floor.h"
#include "app/views/form_words.h"

namespace palimpsest {

namespace {

std::string facts_words(const TokenFacts& facts, const Recall* recall, const std::string& written_symbol) {
  std::string words;
  if (facts.alpha)
    words += fmt::format("\nkept: α = {:.4f}, {}", *facts.alpha, half_life_words(*facts.alpha));
  if (facts.beta) words += fmt::format("\nstrength: β = {:.4f}", *facts.beta);
  if (facts.written)
    words += fmt::format("\nwritten: {} = {}",
                         written_symbol.empty() ? "‖k‖‖v‖" : unicode(written_symbol) + "‖k‖²",
                         fixed_number(*facts.written, 4));
  if (recall) {
    words += fmt::format("\nlength of the error before {:.3g}, after {:.3g}", error_length(recall->before),
                         error_length(recall->after));
  }
  return words;
}

/// "fading since then has left 0.93 of it by “drum”": of the word under the pointer.
std::string kept_words(Session& session, Index token) {
  const Index last = session.token();
  if (token >= last) return {};
  const auto computed = session.computed();
  const Known<std::optional<KeptBetween>> kept = session.questions().ask(KeptSince{{computed}, token, last});
  if (!kept.value || !*kept.value) return {};
  const KeptBetween& part = **kept.value;
  std::string words =
      fmt::format("\nfading leaves {:.3g} of it until {}", part.mean, quoted_word(*computed, last));
  if (part.channels > 1)
    words += fmt::format(", {:.2g} to {:.2g} over its {} channels", part.least, part.most, part.channels);
  return words;
}

std::string token_words(Session& session, Index token, Index bad) {
  const Computation& computed = *session.computed();
  std::string words = fmt::format("word {}: {}", token, quoted_word(computed, token));
  words += facts_words(computed.tokens[static_cast<std::size_t>(token)], computed.recall(token),
                       computed.written_symbol);
  words += kept_words(session, token);
  if (const std::string read = reading_words(session, token); !read.empty()) words += "\n" + read;
  if (token == bad) words += "\nHere the forms begin to differ.";
  return words;
}

}  // namespace

void draw_timeline(Application& application) {
  const FloorPanel panel = {.name = "timeline",
                            .top = 8,
                            .gap = 0,
                            .least = {40, 60},
                            .has_overview = true,
                            .legend = RowsAbove::facts};
  draw_floor_panel(application, panel, [&](Floor& floor, const FloorPlaces& places) {
    Session& session = application.session;
    const Computation& computed = *session.computed();
    floor.flagged = computed.agree ? -1 : first_bad_token(computed);
    floor.tip = [&](Index token) { return token_words(session, token, floor.flagged); };
    floor.rows = {captions_row(14), words_row(23, 0)};
    add_fact_rows(floor, computed, places.columns);
    add_error_row(floor, computed, places.columns);
    add_loss_row(floor, session);
    show_floor(application, floor, places.columns);
  });
}

}  // namespace palimpsest
