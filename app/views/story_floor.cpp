#include "app/session/typed_text.h"
#include "app/views/story_page.h"
#include "app/views/underlined_words.h"
#include "app/words/step.h"

namespace palimpsest {

namespace {

constexpr Index spans[] = {240, 160, 110, 80, 60, 44, 32, 24, 16, 10};  // numbers of tokens to try
constexpr double behind = 0.65;    // share of tokens before the cursor if the text is longer
constexpr float line_height = 28;  // design pixels

/// A token: read, at the cursor, stored, or still to come.
Node word(Application& application, Index token, bool is_stored) {
  const Session& session = application.session;
  const Index present = session.token();
  const ImU32 bright = style::colours().text;
  Node node{scene::Text{.words = word_at(*session.computed(), token),
                        .style = style::Text::title,
                        .ink = token == present  ? bright
                               : token > present ? scene::faint_ink
                               : is_stored       ? 0
                                                 : scene::dim_ink,
                        .fit = Fit::whole,
                        .height = line_height,
                        .underlined = is_stored}};
  if (token == present) node = scene::framed(std::move(node), Gap::small, Gap::none, bright);
  return std::move(node)
      .named(std::to_string(token))
      .told(fmt::format("token {} of {}", token + 1, session.data().tokens))
      .on([&application, token] { application.go_to(token); });
}

Node answer(const Session& session, bool is_hidden) {
  const ImU32 ink = style::colours().value;
  if (is_hidden) return scene::framed(scene::tag("?"), Gap::small, Gap::none, ink);
  const ReadText& text = *session.data().read;
  const Index piece = text.said->answer().piece;
  Node said{scene::Text{.words = text.piece(piece),
                        .style = style::Text::title,
                        .ink = ink,
                        .fit = Fit::whole,
                        .height = line_height}};
  Node probability = scene::tag(fixed_number(std::exp(text.said->last(piece)), 2));
  return scene::framed(scene::row({std::move(said), std::move(probability)}, Gap::small), Gap::small,
                       Gap::none, ink)
      .named("answer")
      .told(answer_meaning(session) + "\nThe level “work” shows why.");
}

Node words(Application& application, Index span) {
  const Session& session = application.session;
  const Index tokens = session.data().tokens;
  const Index first =
      std::clamp<Index>(session.token() - static_cast<Index>(behind * static_cast<double>(span)), 0,
                        std::max<Index>(tokens - span, 0));
  const Index end = std::min(first + span, tokens);
  const std::vector<Index>& stored = underlined_words(session);
  const Node cut{scene::Text{.words = "…", .ink = scene::faint_ink, .height = line_height}};
  Nodes all;
  if (first > 0) all.push_back(cut);
  for (Index token = first; token < end; ++token)
    all.push_back(word(application, token, std::ranges::binary_search(stored, token)));
  if (end < tokens) all.push_back(cut);
  if (session.data().read && end == tokens) all.push_back(answer(session, application.hides_answer()));
  return scene::flow(std::move(all), Gap::small).named("words");
}

}  // namespace

void draw_story_floor(Application& application) {
  scene::show_panel("##story text", false, [&]() -> Node {
    const Session& session = application.session;
    if (!session.computed() || session.data().tokens == 0) return scene::column({});
    ask_story(application, session.computed());  // names the tokens to underline, in every workspace
    const Index tokens = session.data().tokens;
    std::vector<Index> tried = {std::min(tokens, spans[0])};
    std::ranges::copy_if(spans, std::back_inserter(tried), [&](Index span) { return span < tried[0]; });
    Node text = scene::first_that_fits(
        tried.size(), [&application, tried](std::size_t i) { return words(application, tried[i]); });
    return scene::column({std::move(text).filling(), story_buttons(application)}, Gap::near).named("text");
  });
}

}  // namespace palimpsest
