#include "app/views/story_line.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/scene/parts.h"
#include "app/session/kept.h"
#include "app/studio/application.h"
#include "app/widgets/controls.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float story_line_height = 16;
constexpr float cross = 20;
constexpr float cross_gap = 8;
constexpr float between_words = 12;

/// Puts the story of the data away.
void put_away(std::vector<std::string>& closed, const std::string& id) {
  closed.insert(closed.begin(), id);
  closed.resize(std::min(closed.size(), most_closed_stories));
}

std::string link_words(const WordToSee& word) { return fmt::format("{} “{}”", word.token, word.label); }

/// How wide the links are with what happens there.
float links_width(const FirstLook& look) {
  const style::TextStyle text(style::Text::caption);
  float width = 0;
  for (const WordToSee& word : look.words)
    width += text_extent(link_words(word) + " " + word.what).x + px(between_words);
  return std::max(width - px(between_words), 0.0F);
}

}  // namespace

std::optional<WordToSee> word_links(const FirstLook& look) {
  std::optional<WordToSee> pressed;
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  ImVec2 at = ImGui::GetCursorScreenPos();
  for (const WordToSee& word : look.words) {
    const std::string words = link_words(word);
    const ImVec2 size = text_extent(words);
    ImGui::SetCursorScreenPos(at);
    if (ImGui::InvisibleButton(fmt::format("word {}", word.token).c_str(), {size.x, px(story_line_height)}))
      pressed = word;
    const ImU32 colour = ImGui::IsItemHovered() || ImGui::IsItemFocused() ? c.text : c.accent;
    draw_text(at, colour, words);
    const float below = at.y + size.y;
    ImGui::GetWindowDrawList()->AddLine({at.x, below}, {at.x + size.x, below}, colour, px(1));
    draw_text({at.x + text_extent(words + " ").x, at.y}, c.dim, word.what);
    at.x += text_extent(words + " " + word.what).x + px(between_words);
  }
  return pressed;
}

void go_to_word(Application& application, const WordToSee& word) {
  Session& session = application.session;
  if (word.token >= session.data().tokens) return;
  application.playing = false;
  application.show_welcome = false;
  session.go_to_token(word.token);
  const Trace* trace = session.trace();
  if (!trace || trace->form != Form::recurrent) return;
  Cursor cursor = session.cursor();
  const std::vector<Operation>& operations = trace->phase(trace->block(cursor.block)).operations;
  const bool is_asked = std::string_view(word.what) == "asked";
  const auto step =
      std::ranges::find(operations, is_asked ? Purpose::output : Purpose::update, &Operation::purpose);
  if (step == operations.end()) return;
  cursor.operation = step - operations.begin();
  session.set_cursor(cursor);
}

void bring_story_back(Application& application) {
  std::erase(application.closed_stories, application.session.data().id);
}

void draw_story_line(Application& application, float room, float height) {
  const std::string& id = application.session.data().id;
  const FirstLook* look = first_look(id);
  const std::vector<std::string>& closed = application.closed_stories;
  if (!look || std::ranges::find(closed, id) != closed.end()) return;
  const style::Palette& c = style::colours();
  const std::string story = look->story;
  const float story_width = [&] {
    const style::TextStyle text(style::Text::caption);
    return text_extent(story).x;
  }();
  const float width = std::max(story_width, links_width(*look));
  if (width + px(cross + cross_gap) > room) return;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float top = from.y + (height - px(2 * story_line_height)) / 2;
  {
    const style::TextStyle text(style::Text::caption);
    draw_text({from.x, top}, c.text, story);
  }
  ImGui::SetCursorScreenPos({from.x, top + px(story_line_height)});
  if (look->words.empty()) {
    const style::TextStyle text(style::Text::caption);
    draw_text({from.x, top + px(story_line_height)}, c.dim, "What to look at: D");
  } else if (const auto word = word_links(*look)) {
    go_to_word(application, *word);
  }
  ImGui::SetCursorScreenPos({from.x + width + px(cross_gap), from.y + (height - px(cross)) / 2});
  if (icon_button("close story", Icon::close, cross)) put_away(application.closed_stories, id);
  note_part("story", {from, {from.x + width, from.y + height}}, story);
  note_part("story/close", {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()});
  tooltip("Puts this away, for good; D, Data, says more and has these links too.");
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({width + px(cross_gap + cross), height});
}

}  // namespace palimpsest
