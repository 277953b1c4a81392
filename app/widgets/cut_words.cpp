#include "app/widgets/cut_words.h"

#include <imgui_internal.h>  // whether a tip is shown already

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "app/gl/context_local.h"
#include "app/widgets/tooltip_place.h"

namespace palimpsest {

namespace {

constexpr std::size_t most_kept = 4096;  // cut words; beyond, those are forgotten that are not drawn any more
constexpr float rest = 0.15F;            // seconds for which the pointer has stood still

struct PointedWords {
  ImVec2 minimum;
  ImVec2 maximum;
  std::string whole;
};

struct CutWords {
  std::map<std::string, std::string, std::less<>> whole;
  std::optional<PointedWords> pointed;
  std::vector<CutPiece> drawn = {};  // in this frame
  std::vector<CutPiece> before = {};
};

CutWords& cut_words() { return context_local<CutWords>(); }

}  // namespace

void remember_cut(std::string_view shown, std::string_view whole) {
  auto& known = cut_words().whole;
  if (known.size() >= most_kept) known.clear();
  const auto found = known.find(shown);
  if (found == known.end())
    known.emplace(shown, whole);
  else if (found->second != whole)
    found->second = whole;
}

void offer_whole(ImVec2 minimum, ImVec2 maximum, std::string_view shown) {
  if (!shown.ends_with("…")) return;
  const auto found = cut_words().whole.find(shown);
  if (found == cut_words().whole.end()) return;
  cut_words().drawn.push_back({found->second, ImGui::GetCurrentWindow()->Name});
  if (ImGui::IsMouseHoveringRect(minimum, maximum) &&
      ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem))
    cut_words().pointed = PointedWords{minimum, maximum, found->second};
}

void tell_cut_words() {
  auto& pointed = cut_words().pointed;
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  const bool is_told = tip && tip->LastFrameActive == ImGui::GetFrameCount();
  if (pointed && !is_told && context.MouseStationaryTimer >= rest)
    tooltip_beside(pointed->minimum, pointed->maximum, pointed->whole);
  pointed.reset();
  cut_words().before = std::exchange(cut_words().drawn, {});
}

const std::vector<CutPiece>& drawn_cut_words() { return cut_words().before; }

}  // namespace palimpsest
