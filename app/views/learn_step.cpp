#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <optional>

#include "app/gl/context_local.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float compact_below = 1100;  // design pixels of width
constexpr float reason_width = 520;
constexpr float least_formula = 13;  // letters
constexpr Index words_before = 6;    // of the present one, in the title

/// The moment that is drawn, kept from frame to frame.
struct KeptMoment {
  std::shared_ptr<const LearningNow::Value> of;
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
void draw_headline(Application& application, const std::string& words, std::optional<Index> made_after) {
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float right = from.x + ImGui::GetContentRegionAvail().x;
  float x = from.x;
  for (const auto& [question, page] :
       {std::pair("How far may it step?", LearnPage::step), std::pair("Which keys collide?", LearnPage::keys),
        std::pair("How much fits in?", LearnPage::capacity)}) {
    const bool is_asked = learn_page() == page;
    const style::TextStyle text(is_asked ? style::Text::strong : style::Text::body);
    const float width = std::ceil(text_extent(question).x);
    ImGui::SetCursorScreenPos({x, from.y - px(2)});
    if (ImGui::InvisibleButton(question, {width, px(22)})) learn_page() = page;
    learn_text({x, from.y}, is_asked || ImGui::IsItemHovered() ? c.text : c.dim, question);
    x += width + px(18);
  }
  ImGui::SetCursorScreenPos(from);
  const style::TextStyle text(style::Text::caption);
  if (right - x > px(120)) {
    const ImVec2 at = {x, from.y + px(2)};
    const std::string fitting = shortened(words, right - x);
    if (made_after)
      learn_link(application, at, c.text, fitting, *made_after);
    else
      learn_text(at, c.dim, fitting);
  }
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({1, px(24) - ImGui::GetStyle().ItemSpacing.y});
}

/// The loss and the step on it, in the middle of a line; returns where the line ends.
float draw_loss_formula(const InnerLoss& loss, ImVec2 from, float width, bool compact) {
  if (loss.latex.empty()) return from.y;
  const std::string latex = "\\mathcal L = " + coloured_symbols(loss.latex) +
                            (loss.step.empty() ? "" : "\\qquad\\quad " + coloured_symbols(loss.step));
  float size = compact ? 17 : 22;
  FormulaSize extent = measure_formula(latex, px(size));
  while (extent.width > width && size > least_formula) extent = measure_formula(latex, px(--size));
  learn_formula({from.x + std::max((width - extent.width) / 2, 0.0F), from.y + extent.baseline}, latex,
                px(size), style::colours().text);
  return from.y + extent.height;
}

/// Why there is no picture, in the middle.
void draw_reason(const std::string& reason, const LearnRoom& room) {
  const style::TextStyle text(style::Text::title);
  const float width = std::min(room.width(), px(reason_width));
  const ImVec2 extent = ImGui::CalcTextSize(reason.c_str(), nullptr, false, width);
  const ImVec2 at = {room.from.x + (room.width() - extent.x) / 2,
                     room.from.y + std::max((room.height() - extent.y) * 0.4F, 0.0F)};
  ImGui::SetCursorScreenPos(at);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + extent.x + 1);
  ImGui::TextUnformatted(reason.c_str());
  ImGui::PopTextWrapPos();
}

/// The step as matrices; of a rule that solves for its queries rather how it does.
void draw_right(const LearnScene& scene, LearnRoom room) {
  if (!solves_for_queries(*scene.application.session.computed()->variant)) {
    draw_step_matrices(scene, room);
    return;
  }
  static constexpr std::array pages = {"the solve", "the step"};
  const LearnChoice chosen = learn_choice(room.from, pages, shows_solve() ? 0 : 1);
  shows_solve() = chosen.index == 0;
  room.from.y += px(34);
  if (shows_solve())
    draw_solve(scene, room);
  else
    draw_step_matrices(scene, room);
}

void draw_moment(const LearnScene& scene, const LearnRoom& room) {
  const float gap = px(room.compact ? 24 : 48);
  const bool flattens = !scene.moment.step.iterates.empty();
  const float part = room.compact ? 0.52F : 0.48F;
  LearnRoom left = room;
  LearnRoom right = room;
  left.to.x = std::round(room.from.x + (room.width() - gap) * part);
  right.from.x = left.to.x + gap;
  if (scene.moment.network) {
    draw_network(scene, left);
    draw_loss(scene, right);
  } else {
    if (flattens)
      draw_flattening(scene, left);
    else
      draw_loss(scene, left);
    draw_right(scene, right);
  }
}

bool has_room(const LearnRoom& room) { return room.width() > px(240) && room.height() > px(100); }

std::string why_nothing(const Application& application, const Known<LearningNow::Value>& answer) {
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

}  // namespace

LearnPage& learn_page() {
  struct Asked {
    LearnPage page = LearnPage::step;
  };
  return context_local<Asked>().page;
}

void draw_learn(Application& application) {
  LearnMap& map = learn_map();
  map = {};
  if (style::begin_panel("##how far", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    begin_learn_piece();
    const auto computed = application.session.computed();
    const bool can_ask = computed && computed->sequence.tokens > 0 && computed->variant->loss.problems;
    const Known<LearningNow::Value> answer =
        can_ask ? ask_learning(application) : Known<LearningNow::Value>();
    auto& kept = context_local<KeptMoment>();
    if (kept.of != answer.value) kept = {answer.value, kept.version + 1};
    const LearningMoment* moment = answer.value && *answer.value ? &**answer.value : nullptr;
    const Index token = moment && answer.stale ? moment->token : application.session.token();
    if (computed && token < computed->sequence.tokens)
      draw_headline(application, moment_words(*computed, moment, token), made_after(moment, token));
    LearnRoom room{.from = ImGui::GetCursorScreenPos()};
    const ImVec2 size = ImGui::GetContentRegionAvail();
    room.to = {room.from.x + size.x, room.from.y + size.y};
    room.compact = room.width() < px(compact_below);
    if (computed && learn_page() != LearnPage::step) {
      room.from.y += px(8);
      if (has_room(room))
        (learn_page() == LearnPage::keys ? draw_keys_page : draw_capacity_page)(application, room);
      ImGui::SetCursorScreenPos(room.from);
      ImGui::Dummy({1, 1});
      style::end_panel();
      return;
    }
    if (computed) {
      room.from.y += px(room.compact ? 2 : 8);
      room.from.y = draw_loss_formula(computed->variant->loss, room.from, room.width(), room.compact);
      room.from.y += px(room.compact ? 8 : 16);
    }
    if (moment && has_room(room)) {
      draw_moment({application, *moment, kept.version, answer.stale}, room);
      ImGui::SetCursorScreenPos(room.from);
      ImGui::Dummy({1, 1});  // pictures are no items
    } else if (!moment) {
      map.reason = why_nothing(application, answer);
      draw_reason(map.reason, room);
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
