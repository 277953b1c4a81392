#include "app/session/typed_text.h"
#include "app/views/floor.h"
#include "app/views/story_page.h"

// Which tokens of a text are underlined, and the text of a story with them.

namespace palimpsest {

namespace {

constexpr Index look_back = 16384;
constexpr std::size_t usually_asked = 6;

/// The tokens that a view named last, and in which frame.
struct Named {
  int frame = -2;
  std::vector<Index> words;
};

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

void name_words(std::vector<Index> tokens) { context_local<Named>() = {scene::frame(), std::move(tokens)}; }

std::vector<double> write_strengths(std::span<const TokenFacts> tokens) {
  std::vector<double> strengths;
  strengths.reserve(tokens.size());
  for (const TokenFacts& facts : tokens) {
    const double written = facts.written.value_or(0);
    strengths.push_back(std::isfinite(written) ? written : 0);
  }
  return strengths;
}

std::vector<Index> strongest_writes(std::span<const double> strengths, std::span<const std::string> labels,
                                    Index reached, std::size_t most) {
  const Index end = std::min<Index>(reached, static_cast<Index>(strengths.size()));
  const Index begin = std::max<Index>(end - look_back, 0);
  const auto strength = [&](Index t) { return entry(strengths, t); };
  double strongest = 0;
  for (Index t = begin; t < end; ++t) strongest = std::max(strongest, strength(t));
  std::vector<Index> found;
  for (Index t = begin; t < end; ++t) {
    if (strength(t) > 0 && strength(t) >= strongest / 2) found.push_back(t);
  }
  // A heap finds the few strongest of many without sorting all; of equal ones the first.
  const auto is_behind = [&](Index x, Index y) {
    return strength(x) != strength(y) ? strength(x) < strength(y) : x > y;
  };
  std::ranges::make_heap(found, is_behind);
  std::vector<Index> words;
  while (!found.empty() && words.size() < most) {
    std::ranges::pop_heap(found, is_behind);
    const Index t = found.back();
    found.pop_back();
    const auto label = visible_label(entry(labels, t));
    const bool is_known =
        std::ranges::any_of(words, [&](Index known) { return visible_label(entry(labels, known)) == label; });
    if (!is_known) words.push_back(t);
  }
  std::ranges::sort(words);
  return words;
}

const std::vector<Index>& underlined_words(const Session& session) {
  const Named& named = context_local<Named>();
  if (named.frame + 1 >= scene::frame()) return named.words;
  const Computation& computed = *session.computed();
  const std::vector<double>& strengths =
      kept_for(computed.version, [&] { return write_strengths(computed.tokens); });
  return kept_for(std::pair(computed.version, session.token()), [&] {
    return strongest_writes(strengths, computed.data->labels, session.token() + 1, usually_asked);
  });
}

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
