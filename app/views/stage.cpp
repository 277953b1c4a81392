#include "app/views/stage.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "app/gl/context_local.h"
#include "app/scene/parts.h"
#include "app/session/step_questions.h"
#include "app/stage/draw.h"
#include "app/stage/head.h"
#include "app/studio/application.h"
#include "app/views/form_words.h"
#include "app/views/panels.h"
#include "app/views/symbol_tip.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/steps/recognised.h"
#include "core/steps/turned.h"

namespace palimpsest {

namespace {

/// The last record that was turned: to turn it takes longer than to look at it in every frame.
struct TurnedBlock {
  std::weak_ptr<const Record> of;
  Phase phase;
  Record record;
};

}  // namespace

Shown shown(const Application& application) {
  const Sight& sight = application.session.sight();
  const Trace& trace = *sight.trace;
  const Phase& phase = trace.phase(trace.block(sight.cursor.block));
  if (!application.view.state_value_by_key) return {phase, *sight.record};
  auto& block = context_local<TurnedBlock>();
  if (block.of.lock() != sight.record)
    block = {sight.record, turned(phase, trace.symbols, *sight.record), turned(*sight.record, trace.symbols)};
  return {block.phase, block.record};
}

namespace {

using style::px;

constexpr float reason_width = 460;   // of the words where there is nothing to draw
constexpr float compact_below = 900;  // the width of a window with small numbers
constexpr float header_height = 28;
constexpr float low_panel = 400;        // with less height the formula stands beside the forms, smaller
constexpr float low_formula_room = 44;  // of the height, which a sum over tokens with its limits exceeds
constexpr float low_formula = 20;
constexpr float least_low_formula = 16;  // where this does not fit, it has a line of its own
constexpr float tight_segment = 8;       // the padding of a form's name there
constexpr float low_header_gap = 12;
constexpr float small_legend = 172;  // as wide as it may be
constexpr float header_gap = 16;
constexpr float least_place = 64;  // of the words that say where the step is
constexpr double growing_seconds = 0.28;

/// What the Stage shows, and where, kept from frame to frame: each part is made anew only when something
/// that it depends on has changed.
struct KeptStage {
  // Computation, form, cursor; states turned, scales shared, colours; whether the recurrence is known.
  using ViewKey = std::tuple<std::uint64_t, Form, Cursor, bool, bool, style::Theme, bool>;
  // Computation, form, block; states turned, scales shared.
  using RangesKey = std::tuple<std::uint64_t, Form, Index, bool, bool>;
  // Origin and room on the screen, scale, whether there is little of it.
  using LayoutKey = std::tuple<float, float, float, float, float, bool>;

  std::optional<ViewKey> view_key;
  std::optional<StageView> view;
  std::string place;
  HeadFormulas formulas;
  std::string warning;
  std::shared_ptr<const Record> record;  // of the block, and what is made for pictures
  float turned = 0;                      // by the wheel, in lines, since the step was reached
  std::optional<double> scrubbed;        // how far the result has grown, as long as somebody holds it

  std::optional<RangesKey> ranges_key;
  ColourRanges ranges;

  std::optional<LayoutKey> layout_key;
  Ruler ruler;
  StageLayout layout;

  std::optional<std::string> enlarged;  // the tensor that has all the room,
  bool has_figures = false;             // whether its figures are in its picture,
  Hero enlarged_hero;                   // and the picture
  Record enlarged_record;

  std::optional<CellFocus> focus;  // what `sources` are of
  std::vector<Cells> sources;
};

/// When a click enlarged a picture last, or no more.
struct EnlargingTime {
  double last = -1;
};

StageWork& made() { return context_local<StageWork>(); }

/// The cells that `focus` was made from.
std::vector<Cells> sources_of(const Phase& phase, const Symbols& symbols, const Record& record,
                              const CellFocus& focus) {
  if (!record.contains(focus.tensor)) return {};
  const auto maker = std::ranges::find_if(phase.operations, [&](const Operation& operation) {
    return operation.equation.result == focus.tensor;
  });
  if (maker == phase.operations.end()) return {};
  const Matrix<double>& values = record.at(focus.tensor);
  if (focus.row >= values.rows() || focus.column >= values.cols()) return {};
  return explain(maker->equation, symbols, record, focus.row, focus.column).sources;
}

/// The record of the word at the cursor in the recurrent form, beside which a solve and an output are shown;
/// null while it is not computed, and for other steps.
std::shared_ptr<const Record> recurrence_of(Application& application, const Sight& sight,
                                            const Shown& shown) {
  const auto& recurrent = sight.computation->trace(Form::recurrent);
  const Operation& operation = shown.phase.operations[static_cast<std::size_t>(sight.cursor.operation)];
  const bool is_compared = substitution_of(operation) || operation.purpose == Purpose::output;
  if (!recurrent || !is_compared || sight.trace->form == Form::recurrent) return nullptr;
  const Index block = recurrent->block_of(sight.trace->token(sight.cursor), 0);
  const Known<Record> answer = application.session.questions().ask(BlockRecord{recurrent, block});
  return answer.stale ? nullptr : answer.value;
}

/// Brings the ranges of what was recorded up to date with the block; all its steps share them.
void update_ranges(KeptStage& kept, const Application& application, const Sight& sight, const Shown& shown) {
  const KeptStage::RangesKey key{sight.computation->version, sight.trace->form, sight.cursor.block,
                                 application.view.state_value_by_key, application.view.shared_scale};
  if (kept.ranges_key == key) return;
  kept.ranges = ColourRanges(*sight.computation, *sight.trace, shown.phase, shown.record,
                             application.view.shared_scale);
  kept.ranges_key = key;
}

/// Brings what is kept up to date with the cursor.
void update_view(KeptStage& kept, Application& application, const Sight& sight, const Shown& shown) {
  const Computation& computed = *sight.computation;
  const Trace& trace = *sight.trace;
  const Cursor cursor = sight.cursor;
  const std::shared_ptr<const Record> recurrence = recurrence_of(application, sight, shown);
  const KeptStage::ViewKey key{computed.version,
                               trace.form,
                               cursor,
                               application.view.state_value_by_key,
                               application.view.shared_scale,
                               style::theme(),
                               recurrence != nullptr};
  if (kept.view_key == key) return;
  ++made().views;
  KeptStage fresh;
  fresh.ranges_key = kept.ranges_key;
  fresh.ranges = std::move(kept.ranges);
  kept = std::move(fresh);
  kept.view = stage_view(trace, shown.phase, shown.record, cursor, computed.data->labels, stage_latex(),
                         recurrence.get());
  kept.place = stage_place(trace, shown.phase, cursor);
  Record record = shown.record;
  const Hero& hero = kept.view->hero;
  Record made = hero.made;
  if (kept.view->substitution) {
    for (const auto& [name, values] : kept.view->substitution->made.tensors()) made.set(name, values);
  }
  for (const auto& [name, values] : made.tensors()) record.set(name, values);
  kept.record = std::make_shared<const Record>(std::move(record));
  update_ranges(kept, application, sight, shown);
  kept.ranges.begin_view(std::move(made));
  for (const auto& [tensor, other] : hero.scale_of) kept.ranges.follow(tensor, other);
  if (!hero.one_scale.empty() && application.view.shared_scale) kept.ranges.join(hero.one_scale);
  if (!hero.alone.empty()) kept.ranges.stand_alone(hero.alone);
  if (kept.view->substitution) kept.ranges.join(kept.view->substitution->one_scale);
  kept.formulas = head_formulas(*kept.view, trace.symbols);
  if (computed.divergence) kept.warning = divergence_words(*computed.divergence);
  kept.view_key = key;
}

/// Brings the picture of the enlarged tensor up to date with its figures, which are asked for.
void update_enlarged(KeptStage& kept, Application& application, const Sight& sight) {
  const Symbols& symbols = sight.trace->symbols;
  if (application.enlarged && !kept.record->contains(*application.enlarged)) application.enlarged.reset();
  const bool is_same = kept.enlarged == application.enlarged;
  if (!is_same) kept.layout_key.reset();
  kept.enlarged = application.enlarged;
  if (!kept.enlarged) return;
  const Known<MatrixFigures> figures =
      application.session.questions().ask(PictureFigures{kept.record, *kept.enlarged});
  const bool has_figures = figures.value != nullptr && !figures.stale;
  if (is_same && kept.has_figures == has_figures) return;
  kept.has_figures = has_figures;
  kept.enlarged_hero = enlarged(*kept.enlarged, *kept.record, symbols, stage_latex(),
                                has_figures ? figures.value.get() : nullptr);
  name_tokens(kept.enlarged_hero, *sight.trace, sight.cursor, *kept.record, sight.computation->data->labels);
  kept.enlarged_record = *kept.record;
  for (const auto& [name, values] : kept.enlarged_hero.made.tensors()) kept.enlarged_record.set(name, values);
  kept.layout_key.reset();
}

/// Brings the layout up to date with the room that is left in the panel.
const StageLayout& updated_layout(KeptStage& kept, bool compact) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const KeptStage::LayoutKey key{origin.x, origin.y, room.x, room.y, style::scale(), compact};
  if (kept.layout_key == key) return kept.layout;
  kept.ruler = screen_ruler(compact);
  ++made().layouts;
  if (kept.enlarged) {
    kept.layout = {};
    lay_out_hero(kept.layout, kept.enlarged_hero, origin, room, kept.ruler);
  } else {
    kept.layout = lay_out(*kept.view, origin, room, kept.ruler);
  }
  kept.layout_key = key;
  return kept.layout;
}

const std::vector<Cells>& updated_sources(KeptStage& kept, const std::optional<CellFocus>& focus,
                                          const Trace& trace, const Shown& shown) {
  if (kept.focus == focus) return kept.sources;
  kept.sources = focus ? sources_of(shown.phase, trace.symbols, shown.record, *focus) : std::vector<Cells>();
  kept.focus = focus;
  return kept.sources;
}

/// The forms as one control: what is chosen changes the picture below.
void form_segments(Application& application, bool is_low) {
  const Form chosen = application.session.choice().form;
  for (const Form form : all_forms) {
    const style::SegmentPlace place{.first = form == all_forms[0],
                                    .last = form == all_forms[std::size(all_forms) - 1],
                                    .padding = is_low ? tight_segment : style::segment_padding};
    if (!place.first) ImGui::SameLine(0, 0);
    command_button(application, fmt::format("form.{}", name(form)),
                   [&] { return style::segment_button(form_label(form), form == chosen, place); });
  }
}

/// The forms, what the colours mean, and on the right the present formula; draws nothing and returns false
/// where one of the rule's formulas has no room there.
bool draw_low_header(Application& application, const KeptStage& kept, const Legend& legend) {
  const TooltipsAbove above;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float end = from.x + ImGui::GetContentRegionAvail().x;
  float left = from.x + px(low_header_gap);
  for (const Form form : all_forms) left += style::segment_size(form_label(form), tight_segment).x;
  const float room = end - left - px(small_legend + low_header_gap);
  const float widest = widest_formula(kept.formulas);
  const float high = px(low_formula_room) / std::max(highest_formula(kept.formulas), 1.0F);
  const float size = std::min({px(low_formula), room / std::max(widest, 1.0F), high});
  if (kept.formulas.latex.empty() || size < px(least_low_formula)) return false;
  form_segments(application, true);
  ImGui::SameLine(0, px(low_header_gap));
  draw_present_formula(kept.formulas, end, from.y + px(header_height) / 2, size);
  const float legend_room = end - widest * size - px(low_header_gap) - left;
  if (const Legend shown = fitting(legend, legend_room); shown.width <= legend_room)
    draw(shown, px(header_height));
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({0, px(header_height + 4) - ImGui::GetStyle().ItemSpacing.y});
  return true;
}

/// The forms, where the step is and what it asks, and on the right what the colours mean.
void draw_header(Application& application, const KeptStage* kept, std::optional<Legend> legend) {
  const TooltipsAbove above;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float end = from.x + ImGui::GetContentRegionAvail().x;
  form_segments(application, false);
  ImGui::SameLine(0, px(header_gap));
  const float left = ImGui::GetCursorScreenPos().x;
  if (legend) legend = fitting(*legend, end - left - px(least_place));
  if (kept) {
    const style::TextStyle text(style::Text::caption);
    const bool is_old = application.session.lookout().is_stale() && application.session.waiting();
    const std::string words =
        is_old ? "of the previous choice" : fmt::format("{} · {}", kept->place, kept->view->sentence);
    const float room = end - (legend ? legend->width + px(header_gap) : 0) - left;
    // Rather less than what would be cut: the transport says the rest.
    const std::size_t last = kept->place.rfind("· ");
    const std::string brief = last == std::string::npos ? kept->place : kept->place.substr(last + 3);
    std::string shown;
    for (const std::string& said : {words, is_old ? words : kept->place, is_old ? words : brief}) {
      if (shown.empty() && text_extent(said).x <= room) shown = said;
    }
    if (!shown.empty()) {
      draw_text({left, from.y + std::floor((px(header_height) - text_extent(shown).y) / 2)},
                style::colours().dim, shown);
    }
  }
  if (legend && end - legend->width >= left) {
    ImGui::SetCursorScreenPos({end - legend->width, from.y});
    draw(*legend, px(header_height));
  }
  ImGui::SetCursorScreenPos({from.x, from.y + px(header_height + 6)});
}

/// The operation of the line that the wheel turns to over the present window: upwards those before.
std::optional<Index> turned_to(KeptStage& kept) {
  const StageView& view = *kept.view;
  const float turn = ImGui::IsWindowHovered() ? ImGui::GetIO().MouseWheel : 0;
  if (view.one_token || kept.enlarged || turn == 0) return std::nullopt;
  // A touchpad turns by parts of a line.
  kept.turned -= turn;
  if (std::abs(kept.turned) < 1) return std::nullopt;
  const bool is_down = kept.turned > 0;
  kept.turned = 0;
  if (is_down ? view.present + 1 >= view.starts.size() : view.present == 0) return std::nullopt;
  return view.starts[is_down ? view.present + 1 : view.present - 1];
}

/// Why there is nothing to draw, in the middle of the panel.
void draw_reason(const std::string& reason) {
  const style::TextStyle text(style::Text::title);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = std::min(room.x, px(reason_width));
  const ImVec2 extent = ImGui::CalcTextSize(reason.c_str(), nullptr, false, width);
  const ImVec2 corner = ImGui::GetCursorPos();
  ImGui::SetCursorPos({corner.x + std::max((room.x - extent.x) / 2, 0.0F),
                       corner.y + std::max((room.y - extent.y) * 0.4F, 0.0F)});
  const ImVec2 from = ImGui::GetCursorScreenPos();
  note_part("piece", box_at(from, extent), reason);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + extent.x + 1);
  ImGui::TextUnformatted(reason.c_str());
  ImGui::PopTextWrapPos();
}

std::string empty_words(const Application& application) {
  const auto computation = application.session.computed();
  if (!computation)
    return "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures and presets.";
  const Form form = application.session.choice().form;
  const std::string& reason = computation->form(form).missing;
  const Lookout& lookout = application.session.lookout();
  if (lookout.is_stale()) return "The first step is being computed.";
  if (!lookout.awaited().reason.empty())
    return fmt::format("This step cannot be shown: {}", lookout.awaited().reason);
  if (reason.empty()) return "This sequence has no tokens, so there is no step to show.";
  return fmt::format("There is no {} form here.\n\n{}", name(form), reason);
}

void draw_empty(Application& application) {
  if (style::begin_panel("##stage")) {
    note_part("", box_at(ImGui::GetWindowPos(), ImGui::GetWindowSize()));
    draw_header(application, nullptr, std::nullopt);
    draw_reason(empty_words(application));
  }
  style::end_panel();
}

}  // namespace

StageWork stage_work() { return made(); }

void draw_stage(Application& application) {
  const PartScope scope("stage");
  Session& session = application.session;
  const Sight& sight = session.sight();
  if (!sight.record) {
    draw_empty(application);
    return;
  }
  const Trace* trace = sight.trace.get();
  const Cursor cursor = sight.cursor;
  const Shown block = shown(application);
  auto& kept = context_local<KeptStage>();
  update_view(kept, application, sight, block);
  update_enlarged(kept, application, sight);
  StageScene scene{
      .view = *kept.view,
      .record = kept.enlarged ? kept.enlarged_record : *kept.record,
      .symbols = trace->symbols,
      .ranges = kept.ranges,
      .version = (sight.computation->version * 1'000'003 +
                  static_cast<std::uint64_t>(cursor.block) * std::size(all_forms) +
                  static_cast<std::uint64_t>(trace->form)) *
                     2 +
                 (application.view.state_value_by_key ? 1 : 0),
      .fade = kept.scrubbed             ? *kept.scrubbed
              : application.view.growth ? std::clamp(application.since_step() / growing_seconds, 0.0, 1.0)
                                        : 1,
      .numbers = application.view.numbers,
      .pointed = symbol_under_pointer(),
      .focus = application.focus(),
      .sources = updated_sources(kept, application.focus(), *trace, block),
  };
  const bool compact = ImGui::GetWindowWidth() < px(compact_below);
  const Legend legend = legend_of(scene, application.view.shared_scale);
  const bool is_low = ImGui::GetContentRegionAvail().y < px(low_panel);
  if (style::begin_panel("##stage", {0, 0}, 0, is_low ? style::low_padding : style::panel_padding)) {
    note_part("", box_at(ImGui::GetWindowPos(), ImGui::GetWindowSize()));
    if (kept.enlarged) {
      draw_header(application, &kept, legend);
      style::caption("Esc or a click on its name goes back to the step.");
    } else {
      if (!is_low || !draw_low_header(application, kept, legend)) {
        draw_header(application, &kept, legend);
        draw_head(kept.formulas, is_low);
      }
      draw_warning(kept.warning);
    }
    draw(updated_layout(kept, compact), scene);
    if (const auto operation = turned_to(kept)) scene.wanted = operation;
  }
  style::end_panel();
  if (scene.hovered) application.hovered = scene.hovered;
  if (scene.clicked) application.pinned = scene.hovered;
  kept.scrubbed = scene.scrubbed;
  auto& toggled = context_local<EnlargingTime>().last;
  // The second press of a double click does not take back what the first did.
  if (scene.enlarge && ImGui::GetTime() - toggled > ImGui::GetIO().MouseDoubleClickTime) {
    application.enlarged = application.enlarged ? std::nullopt : scene.enlarge;
    toggled = ImGui::GetTime();
  }
  if (!scene.wanted || session.lookout().is_stale()) return;
  if (*scene.wanted >= 0) session.set_cursor({cursor.block, *scene.wanted, cursor.row});
}

}  // namespace palimpsest
