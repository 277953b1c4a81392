#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/gl/context_local.h"
#include "app/session/data_case.h"
#include "app/session/devices.h"
#include "app/views/form_words.h"
#include "app/views/prove.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float largest_cell = 15;
constexpr float least_cell = 5;
constexpr float unused_cell = 4;
constexpr float least_row = 13;  // what a name needs
constexpr float between_precisions = 5;
constexpr float largest_names = 110;
constexpr float head_height = 57;  // the forms' names, upright
constexpr float device_height = 15;
constexpr std::size_t at_once = 2;  // variants that are being verified

/// What is known of the grid, kept while the program runs.
struct ProofGrid {
  bool runs = false;
  bool with_long_texts = false;
  struct Row {
    std::shared_ptr<const VerifyReport> report;
    std::vector<const VerifyResult*> cells;  // of every column; null: nothing was run
  };
  std::map<std::string, Row> reports;           // by variant
  std::map<std::string, std::string> problems;  // why there is none
  double progress = 0;                          // of the variant under way
};

/// Where a cell of the grid stands for.
struct GridColumn {
  const Backend* backend;
  Precision precision;
  Form form;
};

const std::vector<GridColumn>& columns_of_grid() {
  static const std::vector<GridColumn> all = [] {
    std::vector<GridColumn> columns;
    for (const Backend* backend : backends())
      for (const Precision precision : all_precisions)
        for (const Form form : all_forms) columns.push_back({backend, precision, form});
    return columns;
  }();
  return all;
}

/// Whether no choice of options gives the variants of the table these forms: a row for every variant.
const std::vector<std::vector<bool>>& missing_cells() {
  static const std::vector<std::vector<bool>> all = [] {
    std::vector<std::vector<bool>> rows;
    for (const Variant& variant : variants()) {
      std::vector<bool>& row = rows.emplace_back(columns_of_grid().size(), true);
      for (const Settings& given : option_choices(variant)) {
        const Settings settings = random_settings(variant, given, 1);
        for (std::size_t i = 0; i < row.size(); ++i) {
          const GridColumn& column = columns_of_grid()[i];
          if (!column.backend->missing(variant, settings, column.form, column.precision)) row[i] = false;
        }
      }
    }
    return rows;
  }();
  return all;
}

bool cannot_be_used(const Backend& backend) {
  static std::map<const Backend*, std::string> reasons;
  const auto [found, is_new] = reasons.try_emplace(&backend);
  if (is_new) found->second = unavailable(backend);
  return !found->second.empty();
}

/// What a cell says: of all choices of options the worst; null: nothing has been run.
const VerifyResult* worst_of(const VerifyReport& report, const GridColumn& column) {
  const VerifyResult* worst = nullptr;
  for (const VerifyResult& result : report.results) {
    if (result.form != column.form || result.precision != column.precision ||
        result.device != column.backend->name())
      continue;
    const auto badness = [](const VerifyResult& each) {
      return each.passed() ? each.worst.error / each.allowed() : 1e300;
    };
    if (!worst || badness(result) > badness(*worst)) worst = &result;
  }
  return worst;
}

/// Asks for what is not known yet, the next variants of the table.
void go_on(Application& application, ProofGrid& grid) {
  if (!grid.runs) return;
  std::vector<const Variant*> wanted;
  for (const Variant& variant : variants()) {
    if (grid.reports.contains(variant.id) || grid.problems.contains(variant.id)) continue;
    wanted.push_back(&variant);
    if (wanted.size() == at_once) break;
  }
  grid.progress = 0;
  for (const Variant* variant : wanted) {
    const VerifiedVariant key{variant->id, grid.with_long_texts};
    const Answer<VerifyReport> answer = application.session.answers().ask(key, Urgency::later);
    if (variant == wanted.front()) grid.progress = answer.progress;
    if (answer.value && !answer.stale) {
      ProofGrid::Row& row = grid.reports[variant->id];
      row.report = answer.value;
      for (const GridColumn& column : columns_of_grid()) row.cells.push_back(worst_of(*answer.value, column));
    }
    if (!answer.reason.empty()) grid.problems[variant->id] = answer.reason;
  }
  if (wanted.empty()) grid.runs = false;
}

VerifyReport all_of(const ProofGrid& grid) {
  VerifyReport all;
  for (const Variant& variant : variants()) {
    const auto report = grid.reports.find(variant.id);
    if (report == grid.reports.end()) {
      ++all.planned;  // of a variant that is not there yet nothing is finished
      continue;
    }
    all.results.insert(all.results.end(), report->second.report->results.begin(),
                       report->second.report->results.end());
    all.missing.insert(all.missing.end(), report->second.report->missing.begin(),
                       report->second.report->missing.end());
    all.cases += report->second.report->cases;
    all.planned += report->second.report->planned;
  }
  return all;
}

/// Goes to the worst case of a cell: its data, rule, form and place.
void go_to_worst(Application& application, const VerifyResult& result) {
  if (!result.worst_case) return;
  Session& session = application.session;
  const VerifyCase& verified = *result.worst_case;
  try {
    DataSet data = data_of_case(verified);
    if (data.tokens == 0) {
      application.refusal = "The worst case of this cell has no token: there is nothing to go to.";
      return;
    }
    SessionState next = session.state();
    next.data = data.id;
    next.edits.clear();
    next.head = 0;
    next.words.clear();
    next.prove.fault.id.clear();
    next.prove.fragile.clear();
    Side& side = next.sides.front();
    side.variant = result.variant;
    side.form = result.form;
    side.precision = result.precision;
    side.device = result.device;
    side.chunk_size = std::clamp<Index>(result.worst_chunk, 1, largest_chunk(data.tokens));
    side.settings = verified.given;
    const bool is_output = result.worst.array == "o";
    next.place = {.token = is_output ? std::min(result.worst.row, data.tokens - 1) : data.tokens - 1};
    session.open(std::move(data));
    session.change(std::move(next));
    application.playing = false;
    application.show_welcome = false;
  } catch (const Error& error) {
    application.refusal = error.what();
  }
}

std::string cell_words(const Variant& variant, const GridColumn& column, bool is_missing,
                       const VerifyResult* result, bool waits) {
  const std::string head = fmt::format("{}, {}, {}, {}", variant.label, form_label(column.form),
                                       name(column.precision), column.backend->name());
  if (cannot_be_used(*column.backend))
    return head + "\nThis device cannot be used here: " + unavailable(*column.backend);
  if (is_missing) return head + "\nThere is no such form.";
  if (!result) return head + (waits ? "\nNot checked yet." : "\nNothing was run.");
  if (!result->message.empty()) return fmt::format("{}\n{}\n{}", head, result->message, result->reproduction);
  return fmt::format(
      "{}\n{} of {} comparisons agree; the worst is off by {}, {} is allowed, in {}[{}, {}]\n{}\nA click "
      "goes there.",
      head, result->runs - result->failed, result->runs, scientific(result->worst.error),
      scientific(result->allowed()), result->worst.array, result->worst.row, result->worst.column,
      result->reproduction);
}

void draw_cell(ImDrawList* list, ImVec2 from, ImVec2 size, bool is_usable, bool is_missing,
               const VerifyResult* result) {
  const style::Palette& c = style::colours();
  const ImVec2 to = {from.x + size.x - px(size.x < px(8) ? 1 : 2), from.y + size.y - px(2)};
  ProveMap::Cells& cells = prove_map().cells;
  if (!is_usable) {
    list->AddRect(from, to, style::with_alpha(c.edge, 0.6F), px(2));
    ++cells.no_device;
  } else if (is_missing) {
    hatch(list, from, to, c.edge);
    ++cells.no_form;
  } else if (!result) {
    list->AddRect(from, to, c.dim, px(2));
    ++cells.waiting;
  } else if (result->passed()) {
    list->AddRectFilled(from, to, c.good, px(2));
    ++cells.agree;
  } else {
    list->AddRectFilled(from, to, c.alarm, px(2));
    ++cells.part;
  }
}

/// What a cell says, in lines that leave the other panels in sight.
void say_of_cell(const std::string& words) {
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(px(380));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

/// What the colours mean, left of the forms' names.
void draw_meanings(ImVec2 from, float width) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  struct Meaning {
    const char* words;
    ImU32 fill;
    ImU32 outline;
    bool hatched;
  };
  const Meaning meanings[] = {{"agrees", c.good, 0, false},
                              {"parts", c.alarm, 0, false},
                              {"no such form", 0, c.edge, true},
                              {"no device", 0, c.edge, false}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  float y = from.y;
  for (const Meaning& meaning : meanings) {
    const ImVec2 corner = {from.x, y + px(3)};
    const ImVec2 to = {corner.x + px(9), corner.y + px(9)};
    if (meaning.fill != 0) list->AddRectFilled(corner, to, meaning.fill, px(2));
    if (meaning.outline != 0) list->AddRect(corner, to, meaning.outline, px(2));
    if (meaning.hatched) hatch(list, corner, to, c.dim);
    draw_text({from.x + px(14), y}, c.dim, shortened(meaning.words, width - px(14)));
    y += px(15);
  }
}

/// Where the columns of the grid lie: those of a device that cannot be used are narrow.
struct GridPlaces {
  std::vector<float> left;
  std::vector<float> width;
  float end = 0;
};

GridPlaces places_of_columns(float from, float to, const std::vector<bool>& usable) {
  const auto groups = static_cast<float>(usable.size() / std::size(all_forms));
  const auto used = static_cast<float>(std::ranges::count(usable, true));
  const auto unused = static_cast<float>(usable.size()) - used;
  const float room = to - from - (groups - 1) * px(between_precisions) - unused * px(unused_cell);
  const float cell = std::floor(std::clamp(room / std::max(used, 1.0F), px(least_cell), px(largest_cell)));
  GridPlaces places;
  float x = from;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (i > 0 && i % std::size(all_forms) == 0) x += px(between_precisions);
    places.left.push_back(x);
    places.width.push_back(usable[i] ? cell : px(unused_cell));
    x += places.width.back();
  }
  places.end = x;
  return places;
}

void draw_heads(const GridPlaces& places, const std::vector<bool>& usable, float top) {
  const style::Palette& c = style::colours();
  const std::vector<GridColumn>& columns = columns_of_grid();
  {
    const style::TextStyle text(style::Text::number_small);
    for (std::size_t i = 0; i < columns.size(); i += std::size(all_forms)) {
      const bool is_first_of_device = i == 0 || columns[i].backend != columns[i - 1].backend;
      std::string words;
      if (columns[i].backend == &cpu_backend())
        words = name(columns[i].precision);
      else if (is_first_of_device)
        words = columns[i].backend->name();
      draw_text({places.left[i], top}, c.dim, words);
    }
  }
  const style::TextStyle text(style::Text::caption);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!usable[i] || places.width[i] < px(9)) continue;
    draw_rising_text({places.left[i] + (places.width[i] - px(2) - text_extent("x").y) / 2,
                      top + px(head_height + device_height - 3)},
                     c.dim, name(columns[i].form));
  }
}

void draw_cells(Application& application, const ProofGrid& grid, ImVec2 from, ImVec2 to) {
  const style::Palette& c = style::colours();
  const std::vector<GridColumn>& columns = columns_of_grid();
  const auto rows = static_cast<float>(variants().size());
  const float names = std::min(px(largest_names), (to.x - from.x) * 0.46F);
  const float top = from.y + px(head_height + device_height);
  const float height = std::floor(std::clamp((to.y - top) / rows, px(least_row), px(largest_cell)));
  std::vector<bool> usable;
  for (const GridColumn& column : columns) usable.push_back(!cannot_be_used(*column.backend));
  const GridPlaces places = places_of_columns(from.x + names + px(6), to.x, usable);
  draw_meanings(from, names);
  draw_heads(places, usable, from.y);
  const std::string& present = application.session.choice().variant;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  ImGui::SetCursorScreenPos({places.left.front(), top});
  const bool pressed = ImGui::InvisibleButton(
      "cells", {std::max(places.end - places.left.front(), 1.0F), std::max(rows * height, 1.0F)});
  const bool is_hovered = ImGui::IsItemHovered();
  ImDrawList* list = ImGui::GetWindowDrawList();
  float y = top;
  std::size_t index = 0;
  for (const Variant& variant : variants()) {
    const std::vector<bool>& missing = missing_cells()[index++];
    const auto found = grid.reports.find(variant.id);
    const ProofGrid::Row* row = found == grid.reports.end() ? nullptr : &found->second;
    {
      const style::TextStyle text(style::Text::caption);
      const std::string label = shortened(variant.label, names);
      draw_text({from.x + names - text_extent(label).x, y + (height - px(1) - text_extent("x").y) / 2},
                variant.id == present ? c.text : c.dim, label);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const VerifyResult* result = row ? row->cells[i] : nullptr;
      const ImVec2 at = {places.left[i], y};
      const ImVec2 end = {at.x + places.width[i], at.y + height};
      draw_cell(list, at, {places.width[i], height}, usable[i], missing[i], result);
      const bool is_under =
          is_hovered && mouse.x >= at.x && mouse.x < end.x && mouse.y >= at.y && mouse.y < end.y;
      if (!is_under) continue;
      list->AddRect({at.x - px(1), at.y - px(1)}, {end.x - px(1), end.y - px(1)}, c.text, px(2));
      say_of_cell(cell_words(variant, columns[i], missing[i], result, !row));
      if (pressed && result) go_to_worst(application, *result);
      if (pressed && !result) application.refusal = "This cell has no worst case: nothing was run in it.";
    }
    y += height;
  }
}

void draw_run_line(Application& application, ProofGrid& grid) {
  const auto done = grid.reports.size() + grid.problems.size();
  const auto total = variants().size();
  const float height = 22;
  if (grid.runs) {
    const ImVec2 from = ImGui::GetCursorScreenPos();
    style::spinner({from.x + px(7), from.y + px(height / 2)}, style::colours().dim);
    ImGui::Dummy({px(16), px(height)});
    ImGui::SameLine(0, px(6));
    const style::TextStyle text(style::Text::caption, style::colours().dim);
    const double part = (static_cast<double>(done) + grid.progress) / static_cast<double>(total);
    ImGui::AlignTextToFramePadding();
    ImGui::Text("%zu of %zu · %.0f %%", done, total, 100 * part);
    ImGui::SameLine(0, px(10));
    if (style::word_button("cancel", height)) grid.runs = false;
    tooltip("Ends it; what is known stays, and it goes on from there.");
    return;
  }
  const bool is_complete = done == total;
  if (style::word_button(is_complete ? "check again" : done > 0 ? "go on" : "check all", height)) {
    if (is_complete) {
      for (const Variant& variant : variants())
        application.session.answers().forget(VerifiedVariant{variant.id, grid.with_long_texts});
      grid.reports.clear();
      grid.problems.clear();
    }
    grid.runs = true;
  }
  tooltip(
      "Runs every rule in every form, precision and device, in the cases of `palimpsest verify`, and "
      "compares.");
  ImGui::SameLine(0, px(12));
  if (style::word_button(grid.with_long_texts ? "long texts too" : "short texts", height)) {
    grid.with_long_texts = !grid.with_long_texts;
    grid.reports.clear();
    grid.problems.clear();
  }
  tooltip("Texts up to 257 tokens, or also of 1000 and 4096; a click changes that and starts anew.");
  if (grid.reports.empty()) return;
  ImGui::SameLine(0, px(12));
  if (style::word_button("export…", height))
    application.ask_where_to_save_text("report", to_json(all_of(grid)));
  tooltip("Writes the report that `palimpsest verify --json` writes.");
}

void draw_legend_line(const ProofGrid& grid) {
  const style::TextStyle text(style::Text::caption);
  Index failed = 0;
  Index runs = 0;
  Index cases = 0;
  for (const auto& [variant, row] : grid.reports) {
    for (const VerifyResult& result : row.report->results) failed += result.failed;
    runs += row.report->runs();
    cases += row.report->cases;
  }
  if (runs == 0) return;
  const std::string words = failed == 0 ? fmt::format("{} comparisons in {} cases, all agree", runs, cases)
                                        : fmt::format("{} of {} comparisons part", failed, runs);
  ImGui::PushStyleColor(ImGuiCol_Text, style::colours().dim);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

}  // namespace

void draw_prove_grid(Application& application) {
  auto& grid = context_local<ProofGrid>();
  if (style::begin_panel("##everything that can be checked")) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, px(2)));
    go_on(application, grid);
    {
      const style::TextStyle text(style::Text::strong);
      ImGui::TextUnformatted("Everything that can be checked");
    }
    draw_run_line(application, grid);
    draw_legend_line(grid);
    ImGui::Dummy({0, px(2)});
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    draw_cells(application, grid, from, {from.x + room.x, from.y + room.y});
    ImGui::PopStyleVar();
  }
  style::end_panel();
}

}  // namespace palimpsest
