#include "app/views/places_card.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/studio/application.h"
#include "app/views/card.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float widest_card = 900;  // names tell the data, the rule and the word
constexpr float beside_card = 120;  // of the window
constexpr float most_list_height = 420;
constexpr float row_height = 34;
constexpr float number_width = 32;
constexpr float buttons_width = 210;

float card_width() {
  return std::min(style::px(widest_card), ImGui::GetMainViewport()->WorkSize.x - style::px(beside_card));
}

/// One place: its number, its name to be typed over, and what can be done with it.
void row(Application& application, Index index) {
  PinnedPlaces& places = application.places;
  const bool present = index == places.present();
  ImGui::PushID(static_cast<int>(index));
  ImGui::AlignTextToFramePadding();
  {
    const style::TextStyle text(present ? style::Text::strong : style::Text::body,
                                present ? style::colours().text : style::colours().dim);
    ImGui::TextUnformatted(fmt::format("{}", index + 1).c_str());
  }
  ImGui::SameLine(style::px(number_width));
  ImGui::SetNextItemWidth(card_width() - style::px(number_width + buttons_width));
  std::string name = places.all()[static_cast<std::size_t>(index)].name;
  const float room =
      card_width() - style::px(number_width + buttons_width) - 2 * ImGui::GetStyle().FramePadding.x;
  const bool is_cut = text_extent(name).x > room;
  if (ImGui::InputText("##name", &name)) places.rename(index, name);
  if (is_cut) tooltip(name);
  ImGui::SameLine();
  if (style::word_button("go", row_height)) application.go_to_place(index);
  ImGui::SameLine();
  if (style::word_button("up", row_height)) places.move(index, -1);
  ImGui::SameLine();
  if (style::word_button("down", row_height)) places.move(index, 1);
  ImGui::SameLine();
  if (style::word_button("remove", row_height)) places.remove(index);
  ImGui::PopID();
}

void button(Application& application, const char* command, const char* words, bool closes) {
  command_button(application, command, [&] {
    const bool pressed = style::pill_button(words);
    if (pressed && closes) application.show_places = false;
    return pressed;
  });
}

}  // namespace

void draw_places_card(Application& application) {
  if (!begin_card("Places", application.show_places)) return;
  {
    const style::TextStyle text(style::Text::title);
    ImGui::TextUnformatted("Pinned places");
  }
  style::caption(fmt::format("{} goes to the next one, {} to the one before.",
                             key_name(find_command(application, "places.next").key),
                             key_name(find_command(application, "places.previous").key)));
  const auto count = static_cast<float>(application.places.all().size());
  const float height = std::min(count * style::px(row_height + 4), style::px(most_list_height));
  if (count > 0) {
    ImGui::BeginChild("places", {card_width(), height});
    for (Index i = 0; i < std::ssize(application.places.all()); ++i) row(application, i);
    ImGui::EndChild();
  } else {
    ImGui::Dummy({card_width(), style::px(4)});
    style::paragraph("None yet: data, rule, form and the word at the cursor are pinned together.");
  }
  button(application, "places.add", "Pin this place", false);
  ImGui::SameLine();
  button(application, "places.save", "Save them…", true);
  ImGui::SameLine();
  button(application, "data.open", "Open a file…", true);
  end_card();
}

}  // namespace palimpsest
