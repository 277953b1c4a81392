#include "app/studio/layout.h"

#include <imgui_internal.h>

#include <regex>
#include <sstream>

#include "app/widgets/heat_map.h"
#include "core/base/refuse.h"

namespace palimpsest {

namespace {

constexpr float forms_height = 256;              // of the panel with the forms: all of it in sight
constexpr float costs_height = 176;              // more where there is room for their costs,
constexpr float least_why = 360;                 // which leaves this much below
constexpr float answers_height[] = {206, 250};   // below what stands in the middle, in a narrow centre
constexpr float wide_centre = 1100;              // and in one that is at least so wide;
constexpr float answers_share = 0.28F;           // more in a high window,
constexpr float most_answers = 0.4F;             // and never more of the height than this
constexpr float lines_share[] = {0.52F, 0.47F};  // of the left column: the rule, line by line,
constexpr float inputs_height = 430;             // or what is left below this much
constexpr float high_column = 700;               // from here on what goes in has more
constexpr float wide_window = 1500;              // from here on the columns are
constexpr float left_width[] = {212, 272};       // so wide in a narrow window, and in a wide one
constexpr float right_width[] = {272, 352};
constexpr float stacked_window = 640;   // in a narrower one (a phone) a lesson lies below what it is about
constexpr float stacked_share = 0.42F;  // and has so much of what is above the floor

void describe(const ImGuiDockNode& node, std::string& words) {
  words += fmt::format("{}[", node.ID);
  for (const ImGuiDockNode* child : node.ChildNodes) {
    if (!child) continue;
    words += fmt::format("{} {} ", child->SizeRef.x, child->SizeRef.y);
    describe(*child, words);
  }
  words += ']';
}

unsigned dock_of(const char* title) {
  if (const ImGuiWindow* window = ImGui::FindWindowByName(title)) return window->DockId;
  const ImGuiWindowSettings* settings = ImGui::FindWindowSettingsByID(ImHashStr(title));
  return settings ? settings->DockId : 0;
}

const ImGuiDockNode* centre_of(const ImGuiDockNode* node) {
  if (!node || node->IsCentralNode()) return node;
  const ImGuiDockNode* first = centre_of(node->ChildNodes[0]);
  return first ? first : centre_of(node->ChildNodes[1]);
}

/// Shows or hides the tabs of panels that have a place to themselves.
void toggle_tabs(ImGuiDockNode* node, bool shown) {
  if (!node) return;
  if (node->Windows.Size == 1 && node->IsHiddenTabBar() == shown) node->WantHiddenTabBarToggle = true;
  for (ImGuiDockNode* child : node->ChildNodes) toggle_tabs(child, shown);
}

/// How the panels lie, the same for all sizes of the window.
std::string arrangement(unsigned dockspace, std::span<const Panel> panels) {
  std::string words;
  if (const ImGuiDockNode* root = ImGui::DockBuilderGetNode(dockspace)) describe(*root, words);
  for (const Panel& panel : panels) words += fmt::format(" {}", dock_of(panel.title));
  return words;
}

/// Of the floor: a part, or enough for its rows and more for its bars where there is room.
float floor_height(float part, float height) {
  if (part > 0) return part * height;
  return std::min(std::clamp(height * 0.18F, style::px(152), style::px(208)), height * 0.34F);
}

/// Of what stands below the middle, where that has this width and both have this height.
float lower_height(float width, float height) {
  const float wanted = style::px(answers_height[width >= style::px(wide_centre) ? 1 : 0]);
  return std::min(std::max(wanted, height * answers_share), height * most_answers);
}

/// Takes a part of one place for another.
struct Cut {
  PanelPlace from;
  ImGuiDir side;
  float part;
  PanelPlace to;
};

/// How `size` is shared among the places of `shown`. The side columns keep their width and the bottom its
/// height when the window grows: the centre takes the rest. A place that no panel has takes no room.
std::vector<Cut> designed_cuts(const Workspace& workspace, std::span<const Panel* const> shown, ImVec2 size) {
  using enum PanelPlace;
  const auto is_used = [&](std::initializer_list<PanelPlace> places) {
    return std::ranges::any_of(shown, [&](const Panel* panel) { return is_among(panel->place, places); });
  };
  const std::size_t wide = size.x > style::px(wide_window) ? 1 : 0;
  const float most_side = size.x * 0.3F;  // the stage keeps most
  const float left_side = is_used({left_top, left_bottom})
                              ? std::min(style::px(left_width[wide] + workspace.wider_left), most_side)
                              : 0;
  const bool is_stacked = size.x < style::px(stacked_window);
  const float right_side = !is_stacked && is_used({right_top, right_bottom, right})
                               ? std::min(style::px(right_width[wide]), most_side)
                               : 0;
  const auto below = std::ranges::find(shown, bottom, &Panel::place);
  const float floor = floor_height(below == shown.end() ? 0 : (*below)->part, size.y);
  const float columns_height = size.y - floor;
  const bool is_high = columns_height >= style::px(high_column);
  const float lines = std::max(lines_share[is_high ? 1 : 0], 1 - style::px(inputs_height) / columns_height);
  const bool has_costs = columns_height >= style::px(forms_height + costs_height + least_why);
  const float forms = style::px(forms_height + (has_costs ? costs_height : 0));
  const float why = std::max(columns_height - forms, columns_height * 0.28F);
  std::vector<Cut> cuts;
  const auto cut = [&](PanelPlace from, ImGuiDir side, float part, PanelPlace to, bool is_there) {
    if (is_there) cuts.push_back({from, side, part, to});
  };
  cut(center, ImGuiDir_Right, right_side / size.x, right, !is_stacked && is_used({right}));
  cut(center, ImGuiDir_Down, floor / size.y, bottom, is_used({bottom}));
  for (const PanelPlace beside : {right, right_top})
    cut(center, ImGuiDir_Down, stacked_share, beside, is_stacked && is_used({beside}));
  const float width = is_used({right}) ? size.x - right_side : size.x;
  cut(center, ImGuiDir_Left, left_side / width, left_top, left_side > 0);
  cut(left_top, ImGuiDir_Down, is_used({left_top}) ? lines : 1, left_bottom, is_used({left_bottom}));
  cut(center, ImGuiDir_Right, right_side / (size.x - left_side), right_top,
      !is_stacked && is_used({right_top, right_bottom}));
  cut(right_top, ImGuiDir_Down, is_used({right_top}) ? why / columns_height : 1, right_bottom,
      is_used({right_bottom}));
  cut(center, ImGuiDir_Down, lower_height(size.x - left_side - right_side, columns_height) / columns_height,
      center_bottom, is_used({center_bottom}));
  return cuts;
}

void dock(unsigned dockspace, const Workspace& workspace, ImVec2 size) {
  std::vector<const Panel*> shown;
  for (const Panel& panel : workspace.panels) {
    if (panel.is_in(Level::all)) shown.push_back(&panel);
  }
  const ImVec2 inner = {std::max(size.x - style::px(16), 1.0F), size.y};
  ImGui::DockBuilderRemoveNode(dockspace);
  ImGui::DockBuilderAddNode(dockspace, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dockspace, inner);
  std::map<PanelPlace, ImGuiID> nodes = {{PanelPlace::center, dockspace}};
  for (const Cut& cut : designed_cuts(workspace, shown, inner)) {
    ImGuiID& rest = nodes[cut.from];
    nodes[cut.to] = ImGui::DockBuilderSplitNode(rest, cut.side, cut.part, nullptr, &rest);
  }
  for (const Panel* panel : shown) ImGui::DockBuilderDockWindow(panel->title, nodes.at(panel->place));
  ImGui::DockBuilderFinish(dockspace);
}

struct KeptNode {
  unsigned root = 0;
  bool in_window = false;  // the root is the window's own
  bool is_split = false;
  int children = 0;
};

/// Reads one node of a layout. Dear ImGui ends the program where nodes make no tree, so nothing is let pass.
void add_node(const std::string& line, std::map<unsigned, KeptNode>& nodes,
              std::map<unsigned, int>& centres) {
  static const std::regex pattern(
      R"( *Dock(Node|Space) +ID=0x([0-9A-F]{8})(?: Parent=0x([0-9A-F]{8}))?(?: Window=0x[0-9A-F]{8})?)"
      R"((?:(?: Pos=-?\d{1,5},-?\d{1,5} Size=\d{1,5},\d{1,5})|(?: SizeRef=[1-9]\d{0,4},[1-9]\d{0,4})))"
      R"(( Split=[XY])?(?: NoResize=1)?( CentralNode=1)?(?: NoTabBar=1)?(?: HiddenTabBar=1)?)"
      R"((?: NoWindowMenuButton=1)?(?: NoCloseButton=1)?(?: Selected=0x[0-9A-F]{8})? *(?:;.*)?)");
  std::smatch match;
  if (!std::regex_match(line, match, pattern)) refuse("not a dock of panels: {}", line);
  const auto number = [&](std::size_t group) {
    return static_cast<unsigned>(std::stoul(match[group].str(), nullptr, 16));
  };
  const unsigned id = number(2);
  KeptNode node{.root = id, .in_window = match[1] == "Space", .is_split = match[4].matched};
  if (match[3].matched) {
    const auto parent = nodes.find(number(3));
    if (node.in_window || parent == nodes.end() || !parent->second.is_split || ++parent->second.children > 2)
      refuse("this dock is not in a dock that is split: {}", line);
    node.root = parent->second.root;
    node.in_window = parent->second.in_window;
  }
  if (match[5].matched && (node.is_split || !node.in_window || ++centres[node.root] > 1))
    refuse("this dock cannot be the central one: {}", line);
  if (id == 0 || !nodes.emplace(id, node).second) refuse("this dock is given twice: {}", line);
}

/// Throws InputError unless `text` is what Dear ImGui writes of windows and how they are docked.
void require_layout(const std::string& text) {
  std::map<unsigned, KeptNode> nodes;
  std::map<unsigned, int> centres;
  std::istringstream stream(text);
  bool in_docking = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with('[')) {
      in_docking = line == "[Docking][Data]";
      if (!in_docking && !line.starts_with("[Window][")) refuse("a layout has no section {}", line);
    } else if (in_docking && !line.empty()) {
      add_node(line, nodes, centres);
    }
  }
  for (const auto& [id, node] : nodes) {
    if (node.children != (node.is_split ? 2 : 0))
      refuse("the dock {:#010x} contains {} docks; expected {}", id, node.children, node.is_split ? 2 : 0);
  }
}

}  // namespace

bool Layout::is_own(const Workspace& workspace) const {
  const Laid* const laid = value_at(laid_, workspace.id);
  return laid && (laid->is_own || (!laid->designed.empty() &&
                                   laid->designed != arrangement(laid->dockspace, workspace.panels)));
}

void Layout::reset(const Workspace& workspace) { laid_.erase(workspace.id); }

void Layout::draw(const Workspace& shown) {
  Laid& laid = laid_[shown.id];
  laid.dockspace = ImGui::GetID(shown.id);
  const ImGuiDockNode* centre = centre_of(ImGui::DockBuilderGetNode(laid.dockspace));
  if (laid.is_own && !laid.is_drawn && centre) {
    for (const Panel& panel : shown.panels) {  // one that was not known when the layout was kept
      if (dock_of(panel.title) == 0 && !ImGui::FindWindowSettingsByID(ImHashStr(panel.title)))
        ImGui::DockBuilderDockWindow(panel.title, centre->ID);
    }
  }
  const ImVec2 size = ImGui::GetWindowSize();
  const bool has_room = size.x > 1 && size.y > 1;
  const bool is_new = !centre || (laid.designed.empty() && !laid.is_own);
  const std::tuple room{size.x, size.y, style::scale()};
  if (has_room && (is_new || (laid.room != room && !is_own(shown)))) {
    dock(laid.dockspace, shown, size);
    laid.designed = arrangement(laid.dockspace, shown.panels);
    laid.is_own = false;
  }
  laid.room = room;
  laid.is_drawn = true;
  for (const auto& [id, other] : laid_) {
    if (&other != &laid && other.is_drawn)
      ImGui::DockSpace(other.dockspace, {0, 0}, ImGuiDockNodeFlags_KeepAliveOnly);
  }
  toggle_tabs(ImGui::DockBuilderGetNode(laid.dockspace), shows_tabs_);
  ImGui::DockSpace(laid.dockspace, {0, 0},
                   shows_tabs_ ? ImGuiDockNodeFlags_None : ImGuiDockNodeFlags_AutoHideTabBar);
}

std::vector<FixedPanel> Layout::fix(const Workspace& workspace, std::span<const Panel* const> shown,
                                    ImVec2 position, ImVec2 size) const {
  for (const auto& [id, laid] : laid_) {
    if (laid.is_drawn) ImGui::DockSpace(laid.dockspace, {0, 0}, ImGuiDockNodeFlags_KeepAliveOnly);
  }
  const float gap = style::px(style::panel_gap);
  // Each place has the gap at its right and below it.
  std::map<PanelPlace, Rectangle> places = {
      {PanelPlace::center, {position + ImVec2(gap, 0), position + size + ImVec2(0, gap)}}};
  const ImVec2 all = places.begin()->second.size();
  for (const Cut& cut : designed_cuts(workspace, shown, all)) {
    Rectangle& rest = places.at(cut.from);
    Rectangle& part = places[cut.to] = rest;
    const ImVec2 taken = {std::round(rest.size().x * cut.part), std::round(rest.size().y * cut.part)};
    if (cut.side == ImGuiDir_Down) part.minimum.y = rest.maximum.y = rest.maximum.y - taken.y;
    if (cut.side == ImGuiDir_Left) part.maximum.x = rest.minimum.x = rest.minimum.x + taken.x;
    if (cut.side == ImGuiDir_Right) part.minimum.x = rest.maximum.x = rest.maximum.x - taken.x;
  }
  std::vector<FixedPanel> panels;
  for (const Panel* panel : shown) {
    const Rectangle& where = places.at(panel->place);
    panels.push_back({.panel = panel,
                      .title = std::string(panel->title) + "##fixed",
                      .position = where.minimum,
                      .size = upper_of(where.size() - ImVec2(gap, gap), {1, 1})});
  }
  return panels;
}

OwnLayout Layout::own(std::span<const Workspace> all) const {
  OwnLayout kept;
  for (const Workspace& workspace : all) {
    if (is_own(workspace)) kept.workspaces.emplace_back(workspace.id);
  }
  if (!kept.workspaces.empty()) kept.text = ImGui::SaveIniSettingsToMemory();
  return kept;
}

void Layout::restore(const OwnLayout& kept) {
  if (kept.workspaces.empty()) return;
  require_layout(kept.text);
  ImGui::LoadIniSettingsFromMemory(kept.text.c_str(), kept.text.size());
  for (const std::string& id : kept.workspaces) laid_[id].is_own = true;
}

}  // namespace palimpsest
