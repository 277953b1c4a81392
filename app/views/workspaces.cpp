#include "app/views/answers.h"
#include "app/views/stage.h"

namespace palimpsest {

// The contents of panels and overlays, each in a file of its own, called only here. In a low window the chunk
// size takes the column of a chunk's lines, as the Stage shows these, too.
void draw_data(Application&), draw_stage(Application&), draw_answers(Application&), draw_forms(Application&);
void draw_timeline(Application&), draw_step_story(Application&), draw_compare_story(Application&);
Node equation_panel(Application&), why_panel(Application&), story_floor_panel(Application&);
bool has_room_for_lines(const Application&);
Node learn_panel(Application&), learn_side_panel(Application&);
Node attend_panel(Application&), attend_side_panel(Application&);
void draw_learn_floor(Application&), draw_attend_floor(Application&);
void draw_compare(Application&), draw_compare_floor(Application&);
Node verify_panel(Application&), verify_faults_panel(Application&), verify_grid_panel(Application&);
void draw_verify_floor(Application&);
Node measure_panel(Application&), measure_roof_panel(Application&), measure_side_panel(Application&);
void draw_measure_floor(Application&);
Node rule_text_panel(Application&), rule_found_panel(Application&);
Node data_page(Application&, bool), keys_help(Application&, bool), open_dialog(Application&, bool);
Node places_card(Application&, bool), save_dialog(Application&, bool), names_card(Application&, bool);
Node lessons_card(Application&, bool);
void draw_palette(Application&);
void draw_lesson(Application&), draw_lesson_spots(Application&);

namespace {

using enum PanelPlace;

/// A panel with what `content` makes in every frame; if it does not fit, it `scrolls`.
template <Node (*content)(Application&), bool scrolls = true>
void show(Application& application) {
  scene::show_panel(scrolls, [&] { return content(application); });
}

constexpr auto story = Level::story;

constexpr Panel step_panels[] = {
    {"What happened", center, draw_step_story, "story memory before after", nullptr, story, story},
    {"The text", bottom, show<story_floor_panel, false>, "tokens words", nullptr, story, story},
    {"Data", left_top, draw_data, "sliders heads gates strengths alpha beta options"},
    {"Equation", left_bottom, show<equation_panel>, "formula rule lines", has_room_for_lines, Level::all},
    {"Stage", center, draw_stage, "matrices pictures tiles"},
    {"What the memory returns", center_bottom, draw_answers, "recall keys values table", has_answers},
    {"Forms", right_top, draw_forms, "cost FLOPs bytes error agree device GPU precision chunk size", nullptr,
     Level::all},
    {"Why this number?", right_bottom, show<why_panel>, "provenance shares explain erased"},
    {"Timeline", bottom, draw_timeline, "text tokens floor errors"},
};

constexpr Panel learn_panels[] = {
    {"How large can the step be?", center, show<learn_panel, false>,
     "loss gradient momentum muon newton schulz keys capacity spectrum", nullptr, story},
    {"Loss at this token", right_top, show<learn_side_panel>, "check divergence interference"},
    {"Recall of stored tokens", bottom, draw_learn_floor, "recall half-life beta alpha strengths gates paint",
     nullptr, Level::work, Level::all, 0.53F},
    {"Recall of stored tokens##story", bottom, draw_learn_floor, "recall", nullptr, story, story, 0.32F},
};

constexpr Panel attend_panels[] = {
    {"Effective attention weights", center, show<attend_panel, false>, "attention weights softmax squares",
     nullptr, story},
    {"Largest weights", right_top, show<attend_side_panel>, "attention shares values"},
    {"Weights of this token", bottom, draw_attend_floor, "attention text tokens floor", nullptr, story},
};

constexpr Panel compare_panels[] = {
    {"Two rules", center, draw_compare_story, "story variants linear", nullptr, story, story},
    {"The text##story of compare", bottom, show<story_floor_panel, false>, "tokens words", nullptr, story,
     story},
    {"Side by side", center, draw_compare, "variants rules difference"},
    {"Error of each side", bottom, draw_compare_floor, "text tokens floor recall"},
};

constexpr Panel verify_panels[] = {
    {"The text##story of verify", bottom, show<story_floor_panel, false>, "tokens words", nullptr, story,
     story},
    {"Inject a fault", left_top, show<verify_faults_panel>, "faults mistakes bugs"},
    {"Where do the forms differ?", center, show<verify_panel, false>,
     "proof fault mistake formula precision f32 tf32 bf16 f16 digits", nullptr, story},
    {"Everything that can be checked", right_top, show<verify_grid_panel>,
     "verify grid report tolerance devices", nullptr, Level::all},
    {"Difference from the recurrence", bottom, draw_verify_floor, "text tokens floor digits", nullptr,
     Level::work, Level::all, 0.5F},
};

constexpr Panel measure_panels[] = {
    {"The text##story of measure", bottom, show<story_floor_panel, false>, "tokens words", nullptr, story,
     story},
    {"Which is faster here?", center, show<measure_panel, false>, "race times curves speed lengths", nullptr,
     story},
    {"How much of the machine is used", right_top, show<measure_roof_panel, false>,
     "roofline bandwidth intensity"},
    {"What is in these times", right_bottom, show<measure_side_panel>, "report save launches"},
    {"The text##measure", bottom, draw_measure_floor, "tokens floor", nullptr, Level::work, Level::all,
     0.13F},
};

constexpr Panel write_panels[] = {
    {"Your rule", left_top, show<rule_text_panel, false>, "text equations write own editor", nullptr, story},
    {"What happened##write", center, draw_step_story, "story memory before after", nullptr, story, story},
    {"The text##story of write", bottom, show<story_floor_panel, false>, "tokens words", nullptr, story,
     story},
    {"Stage##write", center, draw_stage, "matrices pictures tiles"},
    {"What the memory returns##write", center_bottom, draw_answers, "recall keys values table", has_answers},
    {"What it is", right_top, show<rule_found_panel>, "structure decay erase write read forms proof"},
    {"Data##write", right_bottom, draw_data, "sliders heads gates strengths alpha beta options", nullptr,
     Level::all},
    {"Timeline##write", bottom, draw_timeline, "text tokens floor"},
};

constexpr Workspace all_workspaces[] = {
    {"step", "Step", "What one operation does to the memory", ImGuiMod_Ctrl | ImGuiKey_1, step_panels},
    {"learn", "Learn", "How large a step can be, and what the memory still recalls",
     ImGuiMod_Ctrl | ImGuiKey_2, learn_panels},
    {"attend", "Attend", "The weight of every earlier value in every output, beside softmax",
     ImGuiMod_Ctrl | ImGuiKey_3, attend_panels},
    {"compare", "Compare", "Two to four rules, settings, forms or precisions, side by side",
     ImGuiMod_Ctrl | ImGuiKey_4, compare_panels},
    {"verify", "Verify",
     "How much every form and precision differs from the recurrence, and what an injected fault does",
     ImGuiMod_Ctrl | ImGuiKey_5, verify_panels, 44},
    {"measure", "Measure", "What is faster here: forms, rules and devices over the length of the sequence",
     ImGuiMod_Ctrl | ImGuiKey_6, measure_panels},
    {"write", "Write", "A rule of your own: type its lines, and see what it does and which forms it has",
     ImGuiMod_Ctrl | ImGuiKey_7, write_panels, 150, false},
};

/// What covers the window while it is shown; `content` learns whether it has just appeared.
struct ShownCard {
  scene::Card card;
  bool Application::*shown;
  Node (*content)(Application&, bool is_new);
};

constexpr ShownCard cards[] = {
    {{.name = "All data", .widest = 1504, .highest = 952, .beside = 112}, &Application::show_data, data_page},
    {{.name = "Keys"}, &Application::show_keys, keys_help},
    {{.name = "Open", .widest = 600}, &Application::show_open, open_dialog},
    {{.name = "Places", .widest = 1000, .beside = 120}, &Application::show_places, places_card},
    {{.name = "Save", .widest = 600}, &Application::show_save, save_dialog},
    {{.name = "Arrays", .widest = 760, .highest = 640, .beside = 80}, &Application::show_names, names_card},
    {{.name = "Lessons", .widest = 640, .beside = 120}, &Application::show_lessons, lessons_card},
};

}  // namespace

std::span<const Workspace> workspaces() { return all_workspaces; }

const Panel& lesson_panel(std::span<const Panel* const> shown) {
  constexpr float high_floor = 0.3F;  // of the height
  static constexpr Panel beside_all = {"Lesson", right, draw_lesson, "", nullptr, story};
  static constexpr Panel above_floor = {"Lesson", right_top, draw_lesson, "", nullptr, story};
  const bool is_high =
      std::ranges::any_of(shown, [](const Panel* panel) { return panel->part > high_floor; });
  return is_high ? beside_all : above_floor;
}

void draw_overlays(Application& application) {
  for (const auto& [card, shown, content] : cards)
    scene::show_card(card, application.*shown, [&](bool is_new) { return content(application, is_new); });
  draw_palette(application);
  draw_lesson_spots(application);
  draw_symbol_tip(application);
}

std::string nothing_to_show(const Application& application, const char* without_tokens) {
  const auto computed = application.session.computed();
  if (!computed)
    return "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures and presets.";
  if (computed->sequence.tokens > 0) return {};
  return std::string("This sequence has no tokens") + without_tokens + '.';
}

}  // namespace palimpsest
