#include "app/views/learn.h"

#include <regex>

#include "app/views/data_parts.h"
#include "app/views/story_page.h"
#include "app/words/forms.h"

namespace palimpsest {

namespace {

constexpr Index tokens_before = 6;  // the current one, in the title
constexpr float formula_size = 20;

Role role_of(std::string_view symbol) {
  static constexpr std::pair<std::string_view, Role> roles[] = {
      {"k", Role::key},           {"v", Role::value},          {"q", Role::query},
      {"\\alpha", Role::gate},    {"\\gamma", Role::gate},     {"f", Role::gate},
      {"\\beta", Role::strength}, {"\\theta", Role::strength}, {"\\eta", Role::strength},
      {"\\delta", Role::strength}};
  const auto* const found = row_called(roles, symbol, [](const auto& row) { return row.first; });
  return found ? found->second : Role::plain;
}

/// LaTeX with k, v, beta, alpha, ... and `strength`, the rule's own symbol, in their colours.
std::string coloured_symbols(const std::string& latex, const std::string& strength) {
  // A name in upright letters, or a symbol and its subscript without nested braces.
  static const std::regex piece(R"(\\mathrm(?:\{[^}]*\}|\\[A-Za-z]+|\\?.)?|)"
                                R"((\\[A-Za-z]+|\\?.)(?:_(?:\{[^}]*\}|\\[A-Za-z]+|\\?.)?)?)");
  std::string coloured;
  auto at = latex.cbegin();
  for (std::smatch found; std::regex_search(at, latex.cend(), found, piece);) {
    const auto& symbol = found[1];
    const Role role = symbol.matched && symbol == strength ? Role::strength : role_of(found.str(1));
    const bool is_plain = role == Role::plain;
    const std::string part(at, is_plain && symbol.matched ? symbol.second : found[0].second);
    at += std::ssize(part);
    coloured +=
        is_plain ? part : fmt::format("\\fgcolor{{{}}}{{{}}}", style::hex(style::colours().role(role)), part);
  }
  return coloured;
}

std::string text_before(const Computation& computed, Index token) {
  std::string text;
  if (only_counts(word_at(computed, token), token)) return text;
  for (Index t = std::max<Index>(token - tokens_before, 0); t < token; ++t)
    text += (text.empty() ? "" : " ") + word_at(computed, t);
  return text;
}

/// The step of the token at the cursor; not asked for if there are no tokens or the rule has no loss.
Known<std::optional<LearningMoment>> ask_learning(Session& session) {
  const auto computed = session.computed();
  if (!computed || computed->sequence.tokens == 0 || !computed->variant->loss.problems) return {};
  return ask(session, LearningNow{{computed}, session.token()});
}

const LearningMoment* moment_in(const Known<std::optional<LearningMoment>>& answer) {
  return answer.value && *answer.value ? &**answer.value : nullptr;
}

/// The last token of the token's batch, where the batch takes its step; nothing if `token` is the last one.
std::optional<Index> made_after(const LearningMoment* moment, Index token) {
  if (!moment || moment->step.problem.token_count < 2) return std::nullopt;
  const Index last = moment->step.problem.first_token + moment->step.problem.token_count - 1;
  return last == token ? std::nullopt : std::optional(last);
}

/// The questions of the pages, and beside them the current token, with a link to `made_after`.
Node questions_row(Application& application, const std::string& words, std::optional<Index> made_after) {
  Nodes all;
  for (const LearnPage page : all_of<LearnPage>) {
    const char* const question = entry(learn_questions, page);
    const bool is_asked = application.session.state().learn.page == page;
    if (!is_asked && page != LearnPage::step && !application.shows_all()) continue;
    all += scene::text(question, is_asked ? style::Text::strong : style::Text::body,
                       is_asked ? 0 : scene::dim_ink, Fit::whole)
               .named(question)
               .on([&session = application.session, page] {
                 session.change([page](SessionState& state) { state.learn.page = page; });
               });
  }
  const auto leading = [&](Node node, Index token) {
    return std::move(node)
        .named("made after")
        .told(fmt::format("Go to token {}.", token + 1))
        .on([&application, token] { application.go_to(token); });
  };
  all += made_after ? scene::first_that_fits({leading(scene::link(words), *made_after),
                                              leading(scene::note(words, 0), *made_after)})
                    : scene::note(words);
  return scene::row(std::move(all), Gap::wide);
}

Node loss_formula(const Computation& computed) {
  const InnerLoss loss = loss_of(*computed.variant, computed.sequence.settings);
  const auto coloured = [&](const std::string& latex) {
    return coloured_symbols(latex, computed.written_symbol);
  };
  if (loss.latex.empty()) return scene::column({});
  const std::string step = loss.step.empty() ? "" : "\\qquad\\quad " + coloured(loss.step);
  return scene::centred(
      scene::formula("\\mathcal L = " + coloured(loss.latex) + step, formula_size).named("formula"));
}

/// The step as matrices; for a rule that solves for its queries, the course of the solve.
Node right_side(const LearnScene& scene) {
  if (!solves_for_queries(*scene.application.session.computed()->variant)) return step_matrices(scene);
  return scene::column({field_choice(scene.application.session, &SessionState::learn, &LearnView::solve,
                                     {{"the solve", true}, {"the step", false}}),
                        (scene.view().solve ? solve_picture(scene) : step_matrices(scene)).filling()},
                       Gap::near);
}

Node moment_picture(const LearnScene& scene) {
  const LearningMoment& moment = scene.moment;
  Node left = moment.network                  ? network_picture(scene)
              : !moment.step.iterates.empty() ? flattening_picture(scene)
                                              : loss_picture(scene);
  Node right = moment.network ? loss_picture(scene) : right_side(scene);
  return scene::row({std::move(left).filling(), std::move(right).filling()}, Gap::far);
}

Node reason_page(const std::string& reason) {
  return scene::column(
      {scene::rest(),
       scene::row({scene::rest(), scene::text(reason, style::Text::title).filling(2).named("reason"),
                   scene::rest()}),
       scene::rest()});
}

std::string why_nothing(const Application& application, const Known<std::optional<LearningMoment>>& answer) {
  if (std::string nothing = nothing_to_show(application, ", so there is no step to show"); !nothing.empty())
    return nothing;
  const auto computed = application.session.computed();
  if (!computed->variant->loss.problems) return no_loss_words(*computed->variant);
  if (!answer.reason.empty()) return answer.reason;
  if (answer.value && !*answer.value) return no_step_words;
  return step_under_way_words;
}

Node learn_page(Application& application) {
  const auto computed = application.session.computed();
  const auto answer = ask_learning(application.session);
  const LearningMoment* const moment = moment_in(answer);
  const Index token = moment && answer.stale ? moment->token : application.session.token();
  Nodes all;
  if (computed && token < computed->sequence.tokens)
    all += questions_row(application,
                         moment_words(moment, counted_token(*computed, token), text_before(*computed, token)),
                         made_after(moment, token));
  const LearnPage page = computed ? application.session.state().learn.page : LearnPage::step;
  if (page != LearnPage::step) {
    all += (page == LearnPage::keys ? keys_page(application) : capacity_page(application)).filling();
  } else {
    if (computed) all += loss_formula(*computed);
    all += (moment ? moment_picture({application, *moment, version_of(answer.value), answer.stale})
                   : reason_page(why_nothing(application, answer)))
               .filling();
  }
  return scene::column(std::move(all), Gap::near);
}

/// "0.3824", or with a power of ten where there is no room.
std::string loss_number(double loss) {
  const double size = std::abs(loss);
  if (!std::isfinite(loss)) return "∞";
  return size != 0 && (size < 1e-3 || size >= 1e4) ? fmt::format("{:.2e}", loss)
                                                   : fmt::format("{:.4f}", loss);
}

/// The loss before and after the step, in a size at which the longest numbers fit, so that nothing below
/// moves.
Node losses(const LearningMoment& moment) {
  const style::Palette& c = style::colours();
  const LearningStep& step = moment.step;
  const auto written = [&](style::Text size) {
    const auto part = [&](const std::string& words, scene::Ink ink) {
      return scene::text(words, size, ink, Fit::whole);
    };
    return scene::steady({scene::row({part(loss_number(step.loss_before), c.text), part("→", c.faint),
                                      part(loss_number(step.loss_after),
                                           step.loss_after <= step.loss_before ? c.good : c.alarm)}),
                          part("8.88e-88 → 8.88e-88", c.text)});
  };
  return scene::first_that_fits({written(style::Text::number_large), written(style::Text::number)})
      .named("loss");
}

Node spectrum(Application& application) {
  const style::Palette& c = style::colours();
  const auto computed = application.session.computed();
  const Index tokens = std::min(application.session.token() + 1, computed->sequence.tokens);
  const auto answer = ask(application, SpectraOfMemory{{computed}, tokens}, Urgency::later);
  if (!answer.value || answer.value->empty()) {
    if (answer.reason.empty()) return scene::column({});
    return scene::column({scene::caption(spectrum_title({}, false)), scene::caption(answer.reason)});
  }
  const Spectrum& shown = answer.value->front();
  const Vector<double>& values = shown.singular_values;
  const double most = values.size() > 0 ? values[0] : 0;
  return scene::column(
             {scene::row(
                  {scene::note(spectrum_title(shown.name, answer.value->size() > 1)), scene::rest(),
                   scene::tag(fmt::format("{:.1f} of {}", shown.effective_rank, values.size()), c.text)}),
              Node{scene::Sparkline{.values = {values.begin(), values.end()},
                                    .most = most,
                                    .has_bars = true,
                                    .ink = answer.stale ? c.faint : c.dim,
                                    .height = 56}},
              scene::note(spectrum_words(tokens, most))},
             Gap::near)
      .named("spectrum");
}

Nodes loss_of_step(Application& application) {
  const auto answer = ask_learning(application.session);
  const LearningMoment* const moment = moment_in(answer);
  if (!moment) return {};
  const std::string& rate = application.session.computed()->written_symbol;
  Nodes sentences = {scene::paragraph(step_sentence(*moment, rate))};  // the others keep its place
  for (const char* const longest : longest_step_sentences) sentences += scene::paragraph(longest);
  return {scene::caption(moment->step.problem.token_count > 1 ? "Loss of this batch" : "Loss at this token"),
          losses(*moment), scene::steady(std::move(sentences)).named("left")};
}

Node learn_story(Application& application) {
  const auto answer = ask_learning(application.session);
  const LearningMoment* const moment = moment_in(answer);
  if (!moment) return story_without(application, why_nothing(application, answer));
  const LearnScene shown = {application, *moment, version_of(answer.value), answer.stale};
  const auto computed = application.session.computed();
  const std::string word = quoted_word(*computed, moment->token);
  return story_page(application, {.headline = {{learn_headline(*moment, word)}},
                                  .question = learn_question(word),
                                  .about = learn_about(*moment, computed->written_symbol),
                                  .content = moment->step.iterates.empty() ? loss_picture(shown)
                                                                           : flattening_picture(shown),
                                  .least = least_story_chart});
}

}  // namespace

Node learn_panel(Application& application) {
  return application.tells_story() ? learn_story(application) : learn_page(application);
}

Node learn_side_panel(Application& application) {
  const auto computed = application.session.computed();
  if (!computed) return scene::column({});
  // For a rule without a loss, the picture's place says what the rule does instead.
  Nodes all = loss_of_step(application);
  all += adjusting_numbers(application);
  // Below the sliders, which must not move: it appears and disappears while they are dragged.
  if (computed->divergence)
    all += scene::text(divergence_words(*computed->divergence), style::Text::body, style::colours().alarm);
  if (application.shows_all()) {
    all += spectrum(application);
    // Last, as Step has them too: the spectrum must be visible beside the sliders without scrolling.
    all += adjusting_options(application);
  }
  return scene::column(std::move(all), Gap::near).named("side");
}

std::size_t shown_iterate(const Session& session, std::size_t iterates) {
  const Index shown = session.state().learn.iterate;
  const auto last = static_cast<Index>(iterates) - 1;
  return static_cast<std::size_t>(shown < 0 || shown > last ? last : shown);
}

}  // namespace palimpsest
