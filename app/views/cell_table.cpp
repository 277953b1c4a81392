#include "app/views/cell_table.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float cell_width = 84;
constexpr float index_width = 28;
constexpr float cell_gap = 3;
constexpr float scrollbar = 12;
constexpr float row_height = 32;
constexpr float most_rows = 8;

/// A number while it is being typed; and what was wrong with the last one.
struct Typed {
  ImGuiID cell = 0;
  double value = 0;
  std::string refusal = {};
};

struct Column {
  std::string name;
  const Array* array = nullptr;
  Index channels = 0;
};

/// What has a row for each token and a number for each channel, q, k and v first.
std::vector<Column> columns(const Computation& computed) {
  std::vector<Column> all;
  const auto add = [&](const std::string& name) {
    const auto found = computed.inputs.arrays->find(name);
    if (found == computed.inputs.arrays->end()) return;
    const Array& array = found->second;
    const bool fits = array.rank() >= 1 && array.rank() <= 2 && array.shape[0] == computed.sequence.tokens;
    if (fits) all.push_back({name, &array, array.size() / array.shape[0]});
  };
  for (const char* name : {"q", "k", "v", "beta", "alpha", "g"}) add(name);
  return all;
}

ImU32 colour(const std::string& name) {
  const style::Palette& c = style::colours();
  if (name == "q") return c.query;
  if (name == "k") return c.key;
  if (name == "v") return c.value;
  return name == "beta" ? c.strength : c.gate;
}

/// One number is another now: an edit, in place of an earlier one of the same cell.
void set_cell(Application& application, const std::string& array, Index token, Index channel, double value) {
  Choice choice = application.session.choice();
  const auto row = static_cast<double>(token);
  const auto column = static_cast<double>(channel);
  std::erase_if(choice.edits, [&](const Edit& edit) {
    return edit.kind == "set_cell" && edit.array == array && edit.numbers.size() == 3 &&
           edit.numbers[0] == row && edit.numbers[1] == column;
  });
  choice.edits.push_back({.kind = "set_cell", .array = array, .numbers = {row, column, value}});
  application.session.choose(std::move(choice));
}

void cell(Application& application, const Column& column, Index token, Index channel) {
  const std::string id = fmt::format("##{}[{},{}]", column.name, token, channel);
  auto& typed = context_local<Typed>();
  const ImGuiID key = ImGui::GetID(id.c_str());
  const double present = (*column.array)[token * column.channels + channel];
  double value = typed.cell == key ? typed.value : present;
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::InputDouble(id.c_str(), &value, 0, 0, "%.4g", ImGuiInputTextFlags_AutoSelectAll))
    typed = {.cell = key, .value = value};
  const bool finished = ImGui::IsItemDeactivatedAfterEdit() && typed.cell == key;
  if (ImGui::IsItemDeactivated() && typed.cell == key) typed = {};
  if (finished && !std::isfinite(value)) {
    typed.refusal = fmt::format("{} stays {:.4g}: what was typed is beyond 1.8e+308, the largest number.",
                                column.name, present);
  } else if (finished && value != present) {
    set_cell(application, column.name, token, channel, value);
  }
}

/// "word 42 of 94: drum", with a step to either side.
void word_at_the_cursor(Application& application) {
  Session& session = application.session;
  const Index token = session.token();
  const DataSet& data = session.data();
  if (icon_button("word before", Icon::back)) session.go_to_token(token - 1);
  tooltip("One word back");
  ImGui::SameLine();
  if (icon_button("word after", Icon::forwards)) session.go_to_token(token + 1);
  tooltip("One word on");
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  const style::TextStyle text(style::Text::strong);
  ImGui::TextUnformatted(fmt::format("“{}”, token {} of 0 to {}",
                                     visible_label(data.labels[static_cast<std::size_t>(token)]), token,
                                     data.tokens - 1)
                             .c_str());
}

void heads_of_columns(const std::vector<Column>& all) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ImGui::TableSetColumnIndex(static_cast<int>(i) + 1);
    const style::TextStyle text(style::Text::strong, colour(all[i].name));
    ImGui::TextUnformatted(all[i].name.c_str());
  }
}

void draw_rows(Application& application, const std::vector<Column>& all, Index token, Index rows) {
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("##channel", 0, style::px(index_width));
  for (const Column& column : all) ImGui::TableSetupColumn(column.name.c_str(), 0, style::px(cell_width));
  heads_of_columns(all);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows));
  while (clipper.Step()) {
    for (Index channel = clipper.DisplayStart; channel < clipper.DisplayEnd; ++channel) {
      ImGui::TableNextRow();
      ImGui::TableSetColumnIndex(0);
      ImGui::AlignTextToFramePadding();
      style::caption(fmt::format("{}", channel));
      for (std::size_t i = 0; i < all.size(); ++i) {
        ImGui::TableSetColumnIndex(static_cast<int>(i) + 1);
        if (channel < all[i].channels) cell(application, all[i], token, channel);
      }
    }
  }
}

}  // namespace

const std::string& cell_refusal() { return context_local<Typed>().refusal; }

void cell_table(Application& application) {
  const auto computed = application.session.computed();
  if (!computed || computed->sequence.tokens == 0) return;
  if (const std::string& refusal = cell_refusal(); refusal.empty()) {
    style::caption("Its numbers. Type over one: everything is computed anew, and Ctrl+Z takes it back.");
  } else {
    const style::TextStyle text(style::Text::caption, style::colours().alarm);
    ImGui::TextWrapped("%s", refusal.c_str());
  }
  word_at_the_cursor(application);
  const std::vector<Column> all = columns(*computed);
  if (all.empty()) return;
  const Index token = std::clamp<Index>(application.session.token(), 0, computed->sequence.tokens - 1);
  const Index rows = std::ranges::max_element(all, {}, &Column::channels)->channels;
  const float shown_rows = std::min(static_cast<float>(rows), most_rows) + 1;
  const auto count = static_cast<int>(all.size()) + 1;
  const float columns_width = index_width + (cell_width + 2 * cell_gap) * static_cast<float>(all.size());
  const ImVec2 size = {style::px(columns_width + scrollbar),
                       shown_rows * style::px(row_height) + style::px(4)};
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit;
  const style::TextStyle text(style::Text::number_small);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {style::px(cell_gap), style::px(2)});
  if (ImGui::BeginTable("cells", count, flags, size)) {
    draw_rows(application, all, token, rows);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

}  // namespace palimpsest
