#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/gl/context_local.h"
#include "app/session/devices.h"
#include "app/session/inputs.h"
#include "app/views/form_words.h"
#include "app/views/prove.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float largest_cell = 15;
constexpr float least_cell = 5;
constexpr float unused_cell = 24;  // of all columns of a device together
constexpr float least_row = 12;    // what a name needs
constexpr float between_precisions = 5;
constexpr float largest_names = 110;
constexpr float meanings_height = 62;
constexpr float least_named = 12;  // a column that is wide enough for an upright name
constexpr float device_height = 15;
constexpr float precision_height = 14;
constexpr float action_height = 19;
constexpr std::size_t at_once = 2;  // variants that are being verified

/// What was found with one length of texts.
struct GridReports {
  struct Row {
    std::shared_ptr<const VerifyReport> report;
    std::vector<const VerifyResult*> cells;  // of every column; null: nothing was run
  };
  std::map<std::string, Row> reports;           // by variant
  std::map<std::string, std::string> problems;  // why there is none

  std::size_t done() const { return reports.size() + problems.size(); }
};

/// What is known of the grid, kept while the program runs.
struct ProofGrid {
  bool runs = false;
  bool with_long_texts = false;
  GridReports of_short_texts;
  GridReports of_long_texts;
  double progress = 0;  // of the variant under way

  GridReports& found() { return with_long_texts ? of_long_texts : of_short_texts; }
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
      for (const Precision precision : precisions_of(*backend))
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
  GridReports& found = grid.found();
  std::vector<const Variant*> wanted;
  for (const Variant& variant : variants()) {
    if (found.reports.contains(variant.id) || found.problems.contains(variant.id)) continue;
    wanted.push_back(&variant);
    if (wanted.size() == at_once) break;
  }
  grid.progress = 0;
  for (const Variant* variant : wanted) {
    const VerifiedVariant key{variant->id, grid.with_long_texts};
    const Known<VerifyReport> answer = application.session.questions().ask(key, Urgency::later);
    if (variant == wanted.front()) grid.progress = answer.progress;
    if (answer.value && !answer.stale) {
      GridReports::Row& row = found.reports[variant->id];
      row.report = answer.value;
      for (const GridColumn& column : columns_of_grid()) row.cells.push_back(worst_of(*answer.value, column));
    }
    if (!answer.reason.empty()) found.problems[variant->id] = answer.reason;
  }
  if (wanted.empty()) grid.runs = false;
}

VerifyReport all_of(const GridReports& found) {
  VerifyReport all;
  for (const Variant& variant : variants()) {
    const auto report = found.reports.find(variant.id);
    if (report == found.reports.end()) {
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
    return fmt::format("{}, {}\nThis device cannot be used here: {}", variant.label, column.backend->name(),
                       unavailable(*column.backend));
  if (is_missing) return head + "\nThere is no such form.";
  if (!result &&
      column.backend->missing(variant, random_settings(variant, {}, 1), column.form, column.precision))
    return head + "\nOnly with other options than the usual ones: those are checked.";
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

/// Where the columns of the grid lie: those of a device that cannot be used share one place.
struct GridPlaces {
  std::vector<float> left;
  std::vector<float> width;
  float end = 0;
};

GridPlaces places_of_columns(float from, float to, const std::vector<bool>& usable) {
  const std::vector<GridColumn>& columns = columns_of_grid();
  const auto shares = [&](std::size_t i) {
    return i > 0 && !usable[i] && columns[i].backend == columns[i - 1].backend;
  };
  float fixed = 0;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (i > 0 && i % std::size(all_forms) == 0 && !shares(i)) fixed += px(between_precisions);
    if (!usable[i] && !shares(i)) fixed += px(unused_cell);
  }
  const auto used = static_cast<float>(std::ranges::count(usable, true));
  const float cell =
      std::floor(std::clamp((to - from - fixed) / std::max(used, 1.0F), px(least_cell), px(largest_cell)));
  GridPlaces places;
  float x = from;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (i > 0 && i % std::size(all_forms) == 0 && !shares(i)) x += px(between_precisions);
    places.left.push_back(x);
    places.width.push_back(usable[i] ? cell : shares(i) ? 0 : px(unused_cell));
    x += places.width.back();
  }
  places.end = x;
  return places;
}

/// Whether there is room for the forms' names above the columns that have them; else only their initials
/// stand there.
bool has_names(const GridPlaces& places, const std::vector<bool>& usable) {
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (usable[i] && places.width[i] < px(least_named)) return false;
  }
  return true;
}

/// How high the names above the columns are: the devices, below them their precisions, then the forms.
float heads_height(const GridPlaces& places, const std::vector<bool>& usable) {
  const style::TextStyle text(style::Text::caption);
  float names = text_extent("x").y;
  if (has_names(places, usable)) {
    for (const Form form : all_forms) names = std::max(names, text_extent(name(form)).x);
  }
  return std::max(px(device_height + precision_height) + names + px(4), px(meanings_height));
}

/// The columns' names, which end at `bottom`.
void draw_heads(const GridPlaces& places, const std::vector<bool>& usable, float top, float bottom) {
  const style::Palette& c = style::colours();
  const std::vector<GridColumn>& columns = columns_of_grid();
  {
    const style::TextStyle text(style::Text::number_small);
    for (std::size_t i = 0; i < columns.size(); i += std::size(all_forms)) {
      const bool is_first_of_device = i == 0 || columns[i].backend != columns[i - 1].backend;
      if (is_first_of_device) draw_text({places.left[i], top}, c.dim, columns[i].backend->name());
      if (usable[i]) draw_text({places.left[i], top + px(device_height)}, c.dim, name(columns[i].precision));
    }
  }
  const style::TextStyle text(style::Text::caption);
  const float line = text_extent("x").y;
  const bool in_full = has_names(places, usable);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!usable[i]) continue;
    const std::string words =
        in_full ? name(columns[i].form) : std::string(name(columns[i].form)).substr(0, 1);
    const float cell = places.width[i] - px(2);
    const Rectangle place =
        in_full ? Rectangle{{places.left[i] + (cell - line) / 2, bottom - text_extent(words).x},
                            {places.left[i] + (cell + line) / 2, bottom}}
                : Rectangle{{places.left[i] + (cell - text_extent(words).x) / 2, bottom - line},
                            {places.left[i] + (cell + text_extent(words).x) / 2, bottom}};
    if (in_full)
      draw_rising_text({place.minimum.x, place.maximum.y}, c.dim, words);
    else
      draw_text(place.minimum, c.dim, words);
    prove_map().form_names.push_back(place);
    prove_map().heads_top = top + px(device_height + precision_height);
    if (ImGui::IsWindowHovered() &&
        ImGui::IsMouseHoveringRect({places.left[i], top}, {places.left[i] + places.width[i], bottom}))
      tooltip_beside({places.left.front(), top}, {places.end, bottom},
                     fmt::format("{}, {}, {}", form_label(columns[i].form), name(columns[i].precision),
                                 columns[i].backend->name()));
  }
}

float longest_name() {
  const style::TextStyle text(style::Text::caption);
  float longest = 0;
  for (const Variant& variant : variants()) longest = std::max(longest, text_extent(variant.label).x);
  return longest;
}

/// A rule's name as far as it has room: without what it says more, "(scalar decay)", and without "attention".
std::string short_name(std::string name, float room) {
  for (const std::string_view more : {" (", " attention"}) {
    if (text_extent(name).x <= room) return name;
    name.erase(std::min(name.find(more), name.size()));
  }
  return shortened(name, room);
}

void draw_cells(Application& application, const GridReports& known, ImVec2 from, ImVec2 to) {
  const style::Palette& c = style::colours();
  const std::vector<GridColumn>& columns = columns_of_grid();
  const auto rows = static_cast<float>(variants().size());
  std::vector<bool> usable;
  for (const GridColumn& column : columns) usable.push_back(!cannot_be_used(*column.backend));
  float names = std::min(px(largest_names), (to.x - from.x) * 0.46F);
  GridPlaces places = places_of_columns(from.x + names + px(6), to.x, usable);
  if (const float spare = to.x - places.end; spare > 0) {  // the names take what cells leave
    names += std::min(spare, std::max(longest_name() - names, 0.0F));
    places = places_of_columns(from.x + names + px(6), to.x, usable);
  }
  const float heads = heads_height(places, usable);
  const float top = from.y + heads + px(5);
  const bool scrolls = (to.y - top) / rows < 0.9F * px(least_row);  // then it may as well stand less close
  const float height = scrolls ? px(largest_cell)
                               : std::floor(std::clamp((to.y - top) / rows, px(least_row), px(largest_cell)));
  draw_meanings(from, names);
  draw_heads(places, usable, from.y, from.y + heads);
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
    const auto found = known.reports.find(variant.id);
    const GridReports::Row* row = found == known.reports.end() ? nullptr : &found->second;
    {
      const style::TextStyle text(style::Text::caption);
      const std::string label = short_name(variant.label, names);
      const ImVec2 extent = text_extent(label);
      const ImVec2 at = {from.x + names - extent.x, y + (height - px(1) - extent.y) / 2};
      draw_text(at, variant.id == present ? c.text : c.dim, label);
      offer_whole(at, {at.x + extent.x, at.y + extent.y}, label);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (places.width[i] <= 0) continue;  // shown by the first of its device
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

/// What one can do with the grid. Nothing here takes the place of another thing, so that a click that comes
/// too late does no harm.
void draw_actions(Application& application, ProofGrid& grid) {
  GridReports& found = grid.found();
  const bool is_complete = found.done() == variants().size();
  const float height = action_height;
  ImGui::BeginDisabled(grid.runs);
  const char* const words = is_complete ? "check again" : found.done() > 0 ? "go on" : "check all";
  if (style::link_button(fmt::format("{}###check", words).c_str(), height)) {
    if (is_complete) {
      for (const Variant& variant : variants())
        application.session.questions().forget(VerifiedVariant{variant.id, grid.with_long_texts});
      found = {};
    }
    grid.runs = true;
  }
  ImGui::EndDisabled();
  tooltip(
      "Runs every rule in every form, precision and device, in the cases of `palimpsest verify`, and "
      "compares. It goes on while you look at something else.");
  ImGui::SameLine(0, px(12));
  ImGui::BeginDisabled(grid.runs);
  if (style::link_button(grid.with_long_texts ? "long texts too###texts" : "short texts###texts", height))
    grid.with_long_texts = !grid.with_long_texts;
  ImGui::EndDisabled();
  tooltip(
      "Texts up to 257 tokens, or also of 1000 and 4096. A click changes that; what was found with the other "
      "stays.");
  if (found.reports.empty()) return;
  ImGui::SameLine(0, px(12));
  if (style::link_button("export…", height))
    application.ask_where_to_save_text("report", to_json(all_of(found)));
  tooltip("Writes the report that `palimpsest verify --json` writes.");
}

/// How far it is, and the way to end it; afterwards, in their place, what came of it.
void draw_state(ProofGrid& grid) {
  const GridReports& found = grid.found();
  const float height = action_height;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  if (grid.runs) {
    style::spinner({from.x + px(7), from.y + px(height / 2)}, style::colours().dim);
    const auto total = variants().size();
    const double part = (static_cast<double>(found.done()) + grid.progress) / static_cast<double>(total);
    {
      const style::TextStyle text(style::Text::caption);
      const std::string words = fmt::format("{} of {} · {:.0f} %", found.done(), total, 100 * part);
      draw_text({from.x + px(22), from.y + (px(height) - text_extent(words).y) / 2}, style::colours().dim,
                words);
    }
    ImGui::SetCursorScreenPos({from.x + px(132), from.y});
    if (style::link_button("cancel", height)) grid.runs = false;
    prove_map().cancel = {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    tooltip("Ends it; what is known stays, and it goes on from there.");
    return;
  }
  Index failed = 0;
  Index runs = 0;
  Index cases = 0;
  for (const auto& [variant, row] : found.reports) {
    for (const VerifyResult& result : row.report->results) failed += result.failed;
    runs += row.report->runs();
    cases += row.report->cases;
  }
  const std::string words = runs == 0     ? std::string("nothing is checked yet")
                            : failed == 0 ? fmt::format("{} comparisons, all agree", runs)
                                          : fmt::format("{} of {} comparisons part", failed, runs);
  const style::TextStyle text(style::Text::caption);
  const float width = ImGui::GetContentRegionAvail().x;
  draw_text({from.x, from.y + (px(height) - text_extent("x").y) / 2},
            failed == 0 ? style::colours().dim : style::colours().alarm, shortened(words, width));
  ImGui::Dummy({width, px(height)});
  if (runs > 0)
    tooltip(fmt::format("In {} cases of {} of {} rules.", cases, found.done(), variants().size()));
}

}  // namespace

void keep_checking(Application& application) {
  auto& grid = context_local<ProofGrid>();
  go_on(application, grid);
  prove_map().checked = grid.found().done();
}

void stop_checking() { context_local<ProofGrid>().runs = false; }

void draw_prove_grid(Application& application) {
  auto& grid = context_local<ProofGrid>();
  prove_map().form_names.clear();
  prove_map().cancel = {};
  prove_map().cells = {};
  if (style::begin_panel("##everything that can be checked")) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, px(2)));
    {
      const style::TextStyle text(style::Text::strong);
      ImGui::TextUnformatted("Everything that can be checked");
    }
    draw_actions(application, grid);
    draw_state(grid);
    ImGui::Dummy({0, px(2)});
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    draw_cells(application, grid.found(), from, {from.x + room.x, from.y + room.y});
    ImGui::PopStyleVar();
  }
  style::end_panel();
}

}  // namespace palimpsest
