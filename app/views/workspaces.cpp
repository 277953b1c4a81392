#include "app/views/answers.h"
#include "app/views/stage.h"

namespace palimpsest {

// The contents of panels and overlays, each in a file of its own, called only here. In a low window the chunk
// size takes the column of a chunk's lines, as the Stage shows these, too.
void draw_data(Application&), draw_equation(Application&), draw_stage(Application&);
void draw_answers(Application&), draw_forms(Application&), draw_why(Application&);
void draw_timeline(Application&);
void draw_step_story(Application&), draw_story_floor(Application&), draw_compare_story(Application&);
bool has_room_for_lines(const Application&);
void draw_learn(Application&), draw_learn_side(Application&), draw_learn_floor(Application&);
void draw_attend(Application&), draw_attend_side(Application&), draw_attend_floor(Application&);
void draw_compare(Application&), draw_compare_floor(Application&);
void draw_verify(Application&), draw_verify_faults(Application&), draw_verify_grid(Application&);
void draw_verify_floor(Application&);
void draw_measure(Application&), draw_measure_roof(Application&), draw_measure_side(Application&);
void draw_measure_floor(Application&);
void draw_rule_text(Application&), draw_rule_found(Application&);
void draw_data_page(Application&), draw_keys_help(Application&), draw_open_dialog(Application&);
void draw_places_card(Application&), draw_save_dialog(Application&), draw_palette(Application&);
void draw_names_card(Application&);
void draw_lesson(Application&), draw_lessons_card(Application&), draw_lesson_spots(Application&);

namespace {

using enum PanelPlace;

constexpr auto story = Level::story;

constexpr Panel step_panels[] = {
    {"What happened", center, draw_step_story, "story memory before after", nullptr, story, story},
    {"The text", bottom, draw_story_floor, "tokens words", nullptr, story, story},
    {"Data", left_top, draw_data, "sliders heads gates strengths alpha beta options"},
    {"Equation", left_bottom, draw_equation, "formula rule lines", has_room_for_lines, Level::all},
    {"Stage", center, draw_stage, "matrices pictures tiles"},
    {"What the memory returns", center_bottom, draw_answers, "recall keys values table", has_answers},
    {"Forms", right_top, draw_forms, "cost FLOPs bytes error agree device GPU precision chunk size", nullptr,
     Level::all},
    {"Why this number?", right_bottom, draw_why, "provenance shares explain erased"},
    {"Timeline", bottom, draw_timeline, "text tokens floor errors"},
};

constexpr Panel learn_panels[] = {
    {"How large can the step be?", center, draw_learn,
     "loss gradient momentum muon newton schulz keys capacity spectrum", nullptr, story},
    {"Loss at this token", right_top, draw_learn_side, "check divergence interference"},
    {"Recall of stored tokens", bottom, draw_learn_floor, "recall half-life beta alpha strengths gates paint",
     nullptr, Level::work, Level::all, 0.53F},
    {"Recall of stored tokens##story", bottom, draw_learn_floor, "recall", nullptr, story, story, 0.32F},
};

constexpr Panel attend_panels[] = {
    {"Effective attention weights", center, draw_attend, "attention weights softmax squares", nullptr, story},
    {"Largest weights", right_top, draw_attend_side, "attention shares values"},
    {"Weights of this token", bottom, draw_attend_floor, "attention text tokens floor", nullptr, story},
};

constexpr Panel compare_panels[] = {
    {"Two rules", center, draw_compare_story, "story variants linear", nullptr, story, story},
    {"The text##story of compare", bottom, draw_story_floor, "tokens words", nullptr, story, story},
    {"Side by side", center, draw_compare, "variants rules difference"},
    {"Error of each side", bottom, draw_compare_floor, "text tokens floor recall"},
};

constexpr Panel verify_panels[] = {
    {"The text##story of verify", bottom, draw_story_floor, "tokens words", nullptr, story, story},
    {"Inject a fault", left_top, draw_verify_faults, "faults mistakes bugs"},
    {"Where do the forms differ?", center, draw_verify,
     "proof fault mistake formula precision f32 tf32 bf16 f16 digits", nullptr, story},
    {"Everything that can be checked", right_top, draw_verify_grid, "verify grid report tolerance devices",
     nullptr, Level::all},
    {"Difference from the recurrence", bottom, draw_verify_floor, "text tokens floor digits", nullptr,
     Level::work, Level::all, 0.5F},
};

constexpr Panel measure_panels[] = {
    {"The text##story of measure", bottom, draw_story_floor, "tokens words", nullptr, story, story},
    {"Which is faster here?", center, draw_measure, "race times curves speed lengths", nullptr, story},
    {"How much of the machine is used", right_top, draw_measure_roof, "roofline bandwidth intensity"},
    {"What is in these times", right_bottom, draw_measure_side, "report save launches"},
    {"The text##measure", bottom, draw_measure_floor, "tokens floor", nullptr, Level::work, Level::all,
     0.13F},
};

constexpr Panel write_panels[] = {
    {"Your rule", left_top, draw_rule_text, "text equations write own editor", nullptr, story},
    {"What happened##write", center, draw_step_story, "story memory before after", nullptr, story, story},
    {"The text##story of write", bottom, draw_story_floor, "tokens words", nullptr, story, story},
    {"Stage##write", center, draw_stage, "matrices pictures tiles"},
    {"What the memory returns##write", center_bottom, draw_answers, "recall keys values table", has_answers},
    {"What it is", right_top, draw_rule_found, "structure decay erase write read forms proof"},
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
  draw_data_page(application);
  draw_keys_help(application);
  draw_open_dialog(application);
  draw_places_card(application);
  draw_save_dialog(application);
  draw_palette(application);
  draw_names_card(application);
  draw_lessons_card(application);
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
