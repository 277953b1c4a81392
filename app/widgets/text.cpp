#include "app/widgets/text.h"

#include "app/gl/context_local.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float tooltip_width = 320;
constexpr float tooltip_gap = 6;
constexpr float high_item = 300;   // beside higher items the tip follows the pointer
constexpr float rest_radius = 24;  // within this distance the pointer rests where it clicked
constexpr float key_width = 72;    // of a key beside the text, at most

const char* end_of(std::string_view text) { return text.data() + text.size(); }

/// Whether a key was pressed since the pointer last moved.
struct KeysInUse {
  int frame = -1;
  bool now = false;
};

/// While the user works with keys, a tip at the resting pointer would cover what they look at.
bool keys_are_in_use() {
  auto& keys = context_local<KeysInUse>();
  if (keys.frame == ImGui::GetFrameCount()) return keys.now;
  keys.frame = ImGui::GetFrameCount();
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0) return keys.now = false;
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_GamepadStart; ++key) {
    const bool is_modifier = key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper;
    if (!is_modifier && ImGui::IsKeyPressed(static_cast<ImGuiKey>(key))) keys.now = true;
  }
  return keys.now;
}

/// Where the last click was.
struct LastClick {
  ImVec2 at = {};
  bool holds = false;  // the pointer still rests there
};

/// After a click no tip is shown: it would cover the result of the click.
bool rests_after_click() {
  auto& last = context_local<LastClick>();
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) last = {pointer, true};
  const float away = style::px(rest_radius);
  if (std::abs(pointer.x - last.at.x) > away || std::abs(pointer.y - last.at.y) > away) last.holds = false;
  return last.holds;
}

/// A place for something of `size` beside a rectangle without covering it: below, above, right or left.
ImVec2 beside(const Rectangle& item, ImVec2 size, bool above) {
  const auto& [minimum, maximum] = item;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 least = viewport->WorkPos;
  const ImVec2 most = least + viewport->WorkSize;
  const float gap = style::px(tooltip_gap);
  const float pointer = ImGui::GetMousePos().x;
  const float left = item.width() > size.x ? pointer - style::px(12) : minimum.x;
  const float x = std::clamp(left, least.x, std::max(most.x - size.x, least.x));
  const bool fits_below = maximum.y + gap + size.y <= most.y;
  const bool fits_above = minimum.y - gap - size.y >= least.y;
  if (fits_above && (above || !fits_below)) return {x, minimum.y - gap - size.y};
  if (fits_below) return {x, maximum.y + gap};
  const float y = std::clamp(minimum.y, least.y, std::max(most.y - size.y, least.y));
  const bool fits_right = maximum.x + gap + size.x <= most.x;
  return {fits_right ? maximum.x + gap : std::max(minimum.x - gap - size.x, least.x), y};
}

/// A key as printed on the keyboard, in a faint outline: "Space". Centred in the line when it follows
/// something higher.
void key_hint(std::string_view key) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const ImVec2 extent = text_extent(key);
  const ImVec2 size(std::ceil(extent.x) + 2 * style::px(6), style::px(20));
  const float line_height = std::max(ImGui::GetCurrentWindow()->DC.CurrLineSize.y, size.y);
  ImVec2 from = ImGui::GetCursorScreenPos();
  ImGui::Dummy({size.x, line_height});
  from.y += std::floor((line_height - size.y) / 2);
  ImGui::GetWindowDrawList()->AddRect(from, from + size, c.edge, style::px(4), style::px(style::line));
  draw_text({from.x + style::px(6), from.y + (size.y - extent.y) / 2}, c.dim, key);
}

/// A tip with its key, if it has one, beside a rectangle on the screen.
void show_tip(const Rectangle& item, std::string_view text, std::string_view key = {}, bool above = false) {
  const ImVec2 padding = {style::px(12), style::px(8)};
  const float width = style::px(tooltip_width);
  ImVec2 extent = ImGui::CalcTextSize(text.data(), end_of(text), false, width);
  if (!key.empty()) extent.x += style::px(key_width);
  if (item.height() <= style::px(high_item))
    ImGui::SetNextWindowPos(beside(item, extent + padding * 2, above));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  const bool begun = ImGui::BeginTooltip();
  ImGui::PopStyleVar();
  if (!begun) return;
  ImGui::PushTextWrapPos(width);
  ImGui::TextUnformatted(text.data(), end_of(text));
  ImGui::PopTextWrapPos();
  if (!key.empty()) {
    ImGui::SameLine();
    key_hint(key);
  }
  ImGui::EndTooltip();
}

constexpr std::size_t most_kept = 4096;  // cut texts; with more, those no longer drawn are forgotten
constexpr float still = 0.15F;           // seconds until the pointer counts as still

struct CutWords {
  std::map<std::string, std::string, std::less<>> whole;     // of what was cut
  std::optional<std::pair<Rectangle, std::string>> pointed;  // where, and the whole of it
  std::vector<CutPiece> drawn = {};                          // in this frame
  std::vector<CutPiece> before = {};
};

CutWords& cut_words() { return context_local<CutWords>(); }

/// Notes that `shown` was drawn in a rectangle of the current window. If it is cut and the pointer is there,
/// the full text is shown at the end of the frame.
void offer_whole(const Rectangle& where, std::string_view shown) {
  if (!shown.ends_with("…")) return;
  const auto found = cut_words().whole.find(shown);
  if (found == cut_words().whole.end()) return;
  cut_words().drawn.push_back({found->second, ImGui::GetCurrentWindow()->Name});
  if (is_pointed(where, ImGuiHoveredFlags_AllowWhenBlockedByActiveItem))
    cut_words().pointed.emplace(where, found->second);
}

}  // namespace

std::string shortened(std::string_view text, float width) {
  if (text_extent(text).x <= width) return std::string(text);
  const float rest = width - text_extent("…").x;
  if (rest <= 0) return {};
  const char* cut = text.data();
  ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), rest, 0, text.data(), end_of(text), &cut);
  std::string shown = std::string(text.data(), cut) + "…";
  auto& known = cut_words().whole;
  if (known.size() >= most_kept) known.clear();
  known.insert_or_assign(shown, text);
  return shown;
}

std::string first_fitting(const std::vector<std::string>& words, float width) {
  const auto found =
      std::ranges::find_if(words, [&](const std::string& each) { return text_extent(each).x <= width; });
  return shortened(found == words.end() ? words.back() : *found, width);
}

std::vector<std::string_view> wrapped_lines(std::string_view text, float width) {
  std::vector<std::string_view> lines;
  const char* const end = end_of(text);
  for (const char* from = text.data(); from < end;) {
    const char* to = ImGui::GetFont()->CalcWordWrapPosition(ImGui::GetFontSize(), from, end, width);
    if (to == from && *from != '\n') {  // at least one letter, however narrow the room
      while (++to < end && (static_cast<unsigned char>(*to) & 0xC0U) == 0x80U) continue;
    }
    lines.emplace_back(from, static_cast<std::size_t>(to - from));
    for (from = to; from < end && *from == ' ';) ++from;
    if (from < end && *from == '\n') ++from;
  }
  return lines;
}

ImVec2 text_extent(std::string_view text) { return ImGui::CalcTextSize(text.data(), end_of(text)); }

ImVec2 text_extent(style::Text text, std::string_view words) {
  const style::TextStyle used(text);
  return text_extent(words);
}

ImVec2 draw_words(ImVec2 at, style::Text text, ImU32 colour, std::string_view words, ImVec2 own) {
  const style::TextStyle used(text);
  const ImVec2 extent = text_extent(words);
  draw_text(at - own * extent, colour, words);
  return extent;
}

void draw_text(ImVec2 position, ImU32 colour, std::string_view text) {
  const ImVec2 corner = {std::floor(position.x), std::floor(position.y)};
  ImGui::GetWindowDrawList()->AddText(corner, colour, text.data(), end_of(text));
  if (text.ends_with("…")) offer_whole(box_at(corner, text_extent(text)), text);
}

void draw_rising_text(ImVec2 position, ImU32 colour, std::string_view text) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int first = list->VtxBuffer.Size;
  // Written where nothing is clipped, then rotated and moved.
  const ImVec2 visible = list->GetClipRectMin();
  const ImVec2 corner = {std::ceil(visible.x), std::ceil(visible.y)};
  list->AddText(corner, colour, text.data(), end_of(text));
  const ImVec2 to = {std::floor(position.x), std::floor(position.y)};
  for (int i = first; i < list->VtxBuffer.Size; ++i) {
    ImVec2& vertex = list->VtxBuffer[i].pos;
    vertex = {to.x + (vertex.y - corner.y), to.y - (vertex.x - corner.x)};
  }
  if (!text.ends_with("…")) return;
  const ImVec2 extent = text_extent(text);
  offer_whole({{to.x, to.y - extent.x}, {to.x + extent.y, to.y}}, text);
}

bool is_pointed(const Rectangle& where, ImGuiHoveredFlags flags) {
  return ImGui::IsWindowHovered(flags) && ImGui::IsMouseHoveringRect(where.minimum, where.maximum);
}

bool wants_tooltip() {
  if (keys_are_in_use()) return false;
  // Only for the pointer: an item with just the keyboard's focus has no tip.
  if (!ImGui::IsMouseHoveringRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax())) return false;
  if (rests_after_click()) return false;
  return ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled);
}

void tooltip(std::string_view text, std::string_view key, bool above) {
  if (wants_tooltip()) show_tip({ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}, text, key, above);
}

void tooltip_beside(const Rectangle& item, std::string_view text) { show_tip(item, text); }

void tell_cut_words() {
  auto& pointed = cut_words().pointed;
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  const bool is_told = tip && tip->LastFrameActive == ImGui::GetFrameCount();
  if (pointed && !is_told && context.MouseStationaryTimer >= still)
    tooltip_beside(pointed->first, pointed->second);
  pointed.reset();
  cut_words().before = std::exchange(cut_words().drawn, {});
}

const std::vector<CutPiece>& drawn_cut_words() { return cut_words().before; }

Ruler screen_ruler(bool compact) {
  constexpr float largest_of_compact = 20;
  return {.scale = style::scale(),
          .largest_number = compact ? largest_of_compact : style::font_size(style::Text::number_large),
          .formula = measure_formula,
          .number =
              [](const std::string& digits, float size) {
                const style::TextStyle style(style::Text::number_large, size);
                return text_extent(digits);
              },
          .words = [](const std::string& words, style::Text text) { return text_extent(text, words); },
          .shortened =
              [](const std::string& words, style::Text text, float width) {
                const style::TextStyle style(text);
                return shortened(words, width);
              },
          .lines =
              [](const std::string& words, style::Text text, float width) {
                const style::TextStyle style(text);
                const std::vector<std::string_view> lines = wrapped_lines(words, width);
                return std::vector<std::string>(lines.begin(), lines.end());
              },
          .formula_lines = formula_lines};
}

}  // namespace palimpsest
