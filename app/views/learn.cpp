#include "app/views/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "app/gl/context_local.h"
#include "app/scene/draw.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using scene::Gap;
using scene::Node;
using scene::Nodes;

constexpr Index words_before = 6;  // of the present one, in the title
constexpr float formula_size = 20;

Role role_of(std::string_view symbol) {
  static constexpr std::pair<std::string_view, Role> roles[] = {
      {"k", Role::key},           {"v", Role::value},          {"q", Role::query},
      {"\\alpha", Role::gate},    {"\\gamma", Role::gate},     {"f", Role::gate},
      {"\\beta", Role::strength}, {"\\theta", Role::strength}, {"\\eta", Role::strength},
      {"\\delta", Role::strength}};
  for (const auto& [name, role] : roles) {
    if (name == symbol) return role;
  }
  return Role::plain;
}

/// How many letters a symbol at the start of `latex` has; a command with its backslash.
std::size_t symbol_length(std::string_view latex) {
  if (latex.front() != '\\') return 1;
  std::size_t length = 1;
  while (length < latex.size() && std::isalpha(static_cast<unsigned char>(latex[length])) != 0) ++length;
  return std::max<std::size_t>(length, 2);
}

/// The length of what stands in braces at the start of `latex`, with them; 1 of a single letter.
std::size_t group_length(std::string_view latex) {
  if (latex.empty() || latex.front() != '{') return latex.empty() ? 0 : symbol_length(latex);
  int depth = 0;
  for (std::size_t i = 0; i < latex.size(); ++i) {
    depth += latex[i] == '{' ? 1 : latex[i] == '}' ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return latex.size();
}

/// The moment that is drawn, kept from frame to frame.
struct KeptMoment {
  std::shared_ptr<const std::optional<LearningMoment>> of;
  std::uint64_t version = 0;
};

std::string text_before(const Computation& computed, Index token) {
  std::string text;
  for (Index t = std::max<Index>(token - words_before, 0); t < token; ++t)
    text += (text.empty() ? "" : " ") + visible_label(computed.data->labels[static_cast<std::size_t>(t)]);
  return text;
}

std::string moment_words(const Computation& computed, const LearningMoment* moment, Index token) {
  std::string words = fmt::format("token {}, {}", token, quoted_word(computed, token));
  if (moment && moment->step.problem.token_count > 1) {
    const InnerProblem& problem = moment->step.problem;
    const Index last = problem.first_token + problem.token_count - 1;
    return fmt::format("words {} to {} make one step together, after word {}", problem.first_token, last,
                       last);
  }
  if (moment && moment->step_count > 1)
    words += fmt::format(", the last of its {} steps", moment->step_count);
  if (const std::string before = text_before(computed, token); !before.empty())
    words += fmt::format("; the words before it: {} …", before);
  return words;
}

/// The last word of the batch that the word is gathered for, where the step is made; nothing at it.
std::optional<Index> made_after(const LearningMoment* moment, Index token) {
  if (!moment || moment->step.problem.token_count < 2) return std::nullopt;
  const Index last = moment->step.problem.first_token + moment->step.problem.token_count - 1;
  return last == token ? std::nullopt : std::optional(last);
}

/// The questions, of which one is asked, and beside them which word is meant; the words lead to `made_after`.
Node questions_row(Application& application, const std::string& words, std::optional<Index> made_after) {
  Nodes all;
  for (const auto& [question, page] :
       {std::pair("How far may it step?", LearnPage::step), std::pair("Which keys collide?", LearnPage::keys),
        std::pair("How much fits in?", LearnPage::capacity)}) {
    const bool is_asked = learn_look().page == page;
    all.push_back(scene::text(question, is_asked ? style::Text::strong : style::Text::body,
                              is_asked ? 0 : scene::dim_ink, scene::Fit::whole)
                      .named(question)
                      .on([page] { learn_look().page = page; }));
  }
  if (!made_after) {
    all.push_back(scene::line(words, style::Text::caption, scene::dim_ink));
    return scene::row(std::move(all), Gap::wide);
  }
  const auto leading = [&](Node node) {
    return std::move(node)
        .named("made after")
        .told(fmt::format("Go to word {}.", *made_after))
        .on([&application, token = *made_after] {
          application.playing = false;
          application.show_welcome = false;
          application.session.go_to_token(token);
        });
  };
  all.push_back(scene::first_that_fits(
      {leading(scene::link(words)), leading(scene::line(words, style::Text::caption))}));
  return scene::row(std::move(all), Gap::wide);
}

/// The loss and the step on it.
Node loss_formula(const InnerLoss& loss) {
  if (loss.latex.empty()) return scene::column({});
  const std::string step = loss.step.empty() ? "" : "\\qquad\\quad " + coloured_symbols(loss.step);
  return scene::centred(
      scene::formula("\\mathcal L = " + coloured_symbols(loss.latex) + step, formula_size).named("formula"));
}

/// The step as matrices; of a rule that solves for its queries rather how it does.
Node right_side(const LearnScene& scene) {
  if (!solves_for_queries(*scene.application.session.computed()->variant)) return step_matrices(scene);
  const bool shows_solve = learn_look().shows_solve;
  return scene::column({scene::segments({"the solve", "the step"}, shows_solve ? 0 : 1,
                                        [](std::size_t chosen) { learn_look().shows_solve = chosen == 0; }),
                        (shows_solve ? solve_picture(scene) : step_matrices(scene)).filling()},
                       Gap::near);
}

Node moment_picture(const LearnScene& scene) {
  const bool flattens = !scene.moment.step.iterates.empty();
  Node left = scene.moment.network ? network_picture(scene)
              : flattens           ? flattening_picture(scene)
                                   : loss_picture(scene);
  Node right = scene.moment.network ? loss_picture(scene) : right_side(scene);
  return scene::row({std::move(left).filling(), std::move(right).filling()}, Gap::far);
}

/// Why there is no picture, in the middle.
Node reason_page(const std::string& reason) {
  return scene::column(
      {scene::rest(),
       scene::row({scene::rest(), scene::text(reason, style::Text::title).filling(2).named("reason"),
                   scene::rest()}),
       scene::rest()});
}

std::string why_nothing(const Application& application, const Known<std::optional<LearningMoment>>& answer) {
  const auto computed = application.session.computed();
  if (!computed)
    return "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures and presets.";
  if (computed->sequence.tokens == 0) return "This sequence has no tokens, so there is no step to show.";
  if (!computed->variant->loss.problems)
    return computed->variant->loss.words +
           " There is nothing to learn here; Attend shows what is read instead.";
  if (!answer.reason.empty()) return answer.reason;
  if (answer.value && !*answer.value) return "This word makes no step.";
  return "The step is being computed.";
}

/// What the page shows of the present word.
Node learn_page(Application& application) {
  const auto computed = application.session.computed();
  const bool can_ask = computed && computed->sequence.tokens > 0 && computed->variant->loss.problems;
  const Known<std::optional<LearningMoment>> answer =
      can_ask ? ask_learning(application) : Known<std::optional<LearningMoment>>();
  auto& kept = context_local<KeptMoment>();
  if (kept.of != answer.value) kept = {answer.value, kept.version + 1};
  const LearningMoment* moment = answer.value && *answer.value ? &**answer.value : nullptr;
  const Index token = moment && answer.stale ? moment->token : application.session.token();
  Nodes all;
  if (computed && token < computed->sequence.tokens)
    all.push_back(
        questions_row(application, moment_words(*computed, moment, token), made_after(moment, token)));
  const LearnPage page = computed ? learn_look().page : LearnPage::step;
  if (page != LearnPage::step) {
    all.push_back((page == LearnPage::keys ? keys_page(application) : capacity_page(application)).filling());
  } else {
    if (computed) all.push_back(loss_formula(computed->variant->loss));
    all.push_back((moment ? moment_picture({application, *moment, kept.version, answer.stale})
                          : reason_page(why_nothing(application, answer)))
                      .filling());
  }
  return scene::column(std::move(all), Gap::near);
}

void draw_learn(Application& application) {
  if (style::begin_panel("##how far", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse))
    scene::show(learn_page(application));
  style::end_panel();
}

}  // namespace

std::span<const Panel> learn_panels() {
  static constexpr Panel list[] = {
      {"How far may it step?", PanelPlace::center, draw_learn},
      {"Error at this word", PanelPlace::right_top, draw_learn_side},
      {"What each stored word still answers", PanelPlace::bottom, draw_learn_floor},
  };
  return list;
}

LearnLook& learn_look() { return context_local<LearnLook>(); }

std::size_t shown_iterate(std::size_t iterates) {
  const std::optional<std::size_t>& shown = learn_look().iterate;
  return shown && *shown < iterates ? *shown : iterates - 1;
}

std::string coloured_symbols(std::string_view latex) {
  std::string coloured;
  for (std::size_t i = 0; i < latex.size();) {
    const std::size_t length = symbol_length(latex.substr(i));
    const std::string_view symbol = latex.substr(i, length);
    std::size_t end = i + length;
    if (symbol == "\\mathrm" || symbol == "\\textstyle") {
      if (symbol == "\\mathrm") end += group_length(latex.substr(end));
      coloured += latex.substr(i, end - i);
      i = end;
      continue;
    }
    const Role role = role_of(symbol);
    if (role == Role::plain) {
      coloured += symbol;
    } else {
      if (end < latex.size() && latex[end] == '_') end += 1 + group_length(latex.substr(end + 1));
      coloured += fmt::format("\\fgcolor{{{}}}{{{}}}", style::hex(style::colours().role(role)),
                              latex.substr(i, end - i));
    }
    i = end;
  }
  return coloured;
}

Known<std::optional<LearningMoment>> ask_learning(Application& application) {
  LearningNow key;
  key.of = application.session.computed();
  key.token = application.session.token();
  return application.session.questions().ask(key);
}

Known<TokenCourses> ask_courses(Application& application, Index channel) {
  CoursesOfTokens key;
  key.of = application.session.computed();
  key.channel = channel;
  return application.session.questions().ask(key);
}

std::string quoted_word(const Computation& computed, Index token) {
  return fmt::format("“{}”", visible_label(computed.data->labels[static_cast<std::size_t>(token)]));
}

}  // namespace palimpsest
