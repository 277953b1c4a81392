#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/studio/application.h"
#include "app/studio/bars.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float item_height = 20;
constexpr float padding = 12;
constexpr float largest_part = 0.56F;  // of the window's width

/// What there is to say, the most urgent first.
struct News {
  enum class Kind { message, notice, refusal, waiting };
  Kind kind = Kind::message;
  std::string words;
  ImU32 colour = 0;
};

std::optional<News> news(const Application& application) {
  const style::Palette& c = style::colours();
  const Session& session = application.session;
  using Kind = News::Kind;
  if (!session.message().empty() && !application.show_open) {  // the dialog tells it itself
    std::string words = session.message();
    std::ranges::replace(words, '\n', ' ');
    return News{Kind::message, std::move(words), c.alarm};
  }
  if (!session.left_device().empty()) return News{Kind::message, session.left_device(), c.text};
  if (!application.notice.empty()) return News{Kind::notice, application.notice, c.good};
  if (!application.refusal.empty()) return News{Kind::refusal, application.refusal, c.text};
  if (const auto wait = session.waiting()) {
    const std::string far = wait->progress > 0 ? fmt::format(" · {:.0f} %", 100 * wait->progress) : "";
    return News{Kind::waiting, fmt::format("{} · {:.1f} s{}", wait->words, wait->seconds, far), c.text};
  }
  return std::nullopt;
}

void line(const News& said, float width) {
  const std::string shown = shortened(said.words, width);
  const ImVec2 extent = text_extent(shown);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  draw_text({from.x, from.y + (style::px(item_height) - extent.y) / 2}, said.colour, shown);
  ImGui::Dummy({extent.x, style::px(item_height)});
  if (shown != said.words) tooltip(said.words);
}

/// What stands before the words: a cross that closes a message, a turning arc while something is computed.
void lead(Session& session, const News& said) {
  if (said.kind == News::Kind::message) {
    if (icon_button("close message", Icon::close, item_height)) {
      if (session.message().empty()) session.clear_left_device();
      session.clear_message();
    }
    tooltip("Close this message");
    ImGui::SameLine(0, style::px(8));
  } else if (said.kind == News::Kind::waiting) {
    const ImVec2 from = ImGui::GetCursorScreenPos();
    style::spinner({from.x + style::px(6), from.y + style::px(item_height) / 2}, style::colours().dim);
    ImGui::Dummy({style::px(12), style::px(item_height)});
    ImGui::SameLine(0, style::px(8));
  }
}

void say(Session& session, const News& said, float width) {
  const style::TextStyle style(style::Text::caption);
  lead(session, said);
  line(said, width - style::px(2 * padding + 80));
  if (said.kind == News::Kind::waiting) {
    ImGui::SameLine(0, style::px(16));
    if (style::word_button("stop", item_height)) session.stop();
    tooltip("Gives it up; what is seen stays.");
  }
}

}  // namespace

void draw_status(Application& application) {
  const std::optional<News> said = news(application);
  if (!said) return;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float margin = style::px(style::panel_gap + 8);
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x - margin,
                           viewport->WorkPos.y + viewport->WorkSize.y - style::px(style::panel_gap + 7)},
                          ImGuiCond_Always, {1, 1});
  const style::Palette& c = style::colours();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(style::px(padding), style::px(5)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, style::px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, style::px(style::line));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, c.panel);
  ImGui::PushStyleColor(ImGuiCol_Border, said->kind == News::Kind::waiting ? c.edge : said->colour);
  ImGui::Begin("Status", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(4);
  say(application.session, *said, viewport->WorkSize.x * largest_part);
  ImGui::End();
}

}  // namespace palimpsest
