#include "app/views/floor.h"
#include "app/words/forms.h"

namespace palimpsest {

namespace {

/// How much of the write of the token under the pointer decay leaves.
std::string kept_since_words(Session& session, Index token) {
  const Index last = session.token();
  if (token >= last) return {};
  const auto computed = session.computed();
  const Known<std::optional<KeptBetween>> kept = session.questions().ask(KeptSince{{computed}, token, last});
  if (!kept.value || !*kept.value) return {};
  return kept_words(**kept.value, quoted_word(*computed, last));
}

std::string token_words(Session& session, Index token, Index bad) {
  const Computation& computed = *session.computed();
  std::string words = fmt::format("token {}: {}", token + 1, quoted_word(computed, token));
  words += facts_words(entry(computed.tokens, token), computed.recall(token), computed.written_symbol);
  words += kept_since_words(session, token);
  if (const std::string read = reading_words(session, token); !read.empty()) words += "\n" + read;
  if (token == bad) words += "\nFrom here on the forms differ.";
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
