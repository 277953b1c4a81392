#include "app/session/typed_text.h"
#include "app/views/story_page.h"
#include "app/views/underlined_words.h"
#include "app/words/tokens.h"

namespace palimpsest {

namespace {

constexpr Index spans[] = {240, 160, 110, 80, 60, 44, 32, 24, 16, 10};  // numbers of tokens to try
constexpr double behind = 0.65;    // share of tokens before the cursor if the text is longer
constexpr float line_height = 28;  // design pixels

/// A token: read, at the cursor, stored, or still to come.
Node word(Application& application, Index token, bool is_stored) {
  const Session& session = application.session;
  const Index present = session.token();
  scene::Text text{.words = word_at(*session.computed(), token),
                   .style = style::Text::title,
                   .ink = token > present ? scene::faint_ink : scene::dim_ink,
                   .fit = Fit::whole,
                   .height = line_height};
  if (is_stored && token <= present) text.ink = 0;
  text.underlined = is_stored;
  Node node{std::move(text)};
  if (token == present) {
    std::get<scene::Text>(node.content).ink = style::colours().text;
    node = scene::framed(std::move(node), Gap::small, Gap::none, style::colours().text);
  }
  return std::move(node)
      .named(std::to_string(token))
      .told(fmt::format("token {} of {}", token + 1, session.data().tokens))
      .on([&application, token] { application.go_to(token); });
}

/// What the model says next, where it reads the text.
Node answer(const Session& session, bool is_hidden) {
  const ReadText& text = *session.data().read;
  const Index piece = text.said->answer().piece;
  if (is_hidden) return scene::framed(scene::tag("?"), Gap::small, Gap::none, style::colours().value);
  return scene::framed(scene::row({Node{scene::Text{.words = text.piece(piece),
                                                    .style = style::Text::title,
                                                    .ink = style::colours().value,
                                                    .fit = Fit::whole,
                                                    .height = line_height}},
                                   scene::tag(fixed_number(std::exp(text.said->last(piece)), 2))},
                                  Gap::small),
                       Gap::small, Gap::none, style::colours().value)
      .named("answer")
      .told(answer_meaning(session) + "\nThe level “work” shows why.");
}

/// `span` tokens around the cursor.
Node words(Application& application, Index span) {
  const Session& session = application.session;
  const Index tokens = session.data().tokens;
  const Index first =
      std::clamp<Index>(session.token() - static_cast<Index>(behind * static_cast<double>(span)), 0,
                        std::max<Index>(tokens - span, 0));
  const Index end = std::min(first + span, tokens);
  const std::vector<Index>& stored = underlined_words(session);
  Nodes all;
  if (first > 0)
    all.push_back(Node{scene::Text{.words = "…", .ink = scene::faint_ink, .height = line_height}});
  for (Index token = first; token < end; ++token)
    all.push_back(word(application, token, std::ranges::binary_search(stored, token)));
  if (end < tokens)
    all.push_back(Node{scene::Text{.words = "…", .ink = scene::faint_ink, .height = line_height}});
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
    const auto first = std::ranges::find_if(spans, [&](Index span) { return span <= tokens; });
    std::vector<Index> tried(first, std::end(spans));
    if (tokens <= spans[0]) tried.insert(tried.begin(), tokens);
    Node text = scene::first_that_fits(
        tried.size(), [&application, tried](std::size_t i) { return words(application, tried[i]); });
    return scene::column({std::move(text).filling(), story_buttons(application)}, Gap::near).named("text");
  });
}

}  // namespace palimpsest
