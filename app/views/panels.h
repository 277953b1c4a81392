#pragma once

#include <string>

// What is drawn: a function for each panel of the workspaces, which workspaces.cpp lists, and for what lies
// over the window.

namespace palimpsest {

class Application;

// Step
void draw_data(Application& application);
void draw_equation(Application& application);
/// In a low window the knob takes the column: the lines of a chunk stand on the Stage, too.
bool has_room_for_lines(const Application& application);
void draw_stage(Application& application);
void draw_answers(Application& application);
void draw_forms(Application& application);
void draw_why(Application& application);
void draw_timeline(Application& application);

// Learn
void draw_learn(Application& application);
void draw_learn_side(Application& application);
void draw_learn_floor(Application& application);

// Attend
void draw_attend(Application& application);
void draw_attend_side(Application& application);
void draw_attend_floor(Application& application);

// Compare
void draw_compare(Application& application);
void draw_compare_floor(Application& application);

// Prove
void draw_prove(Application& application);
void draw_prove_faults(Application& application);
void draw_prove_grid(Application& application);
void draw_prove_floor(Application& application);

// Measure
void draw_measure(Application& application);
void draw_measure_roof(Application& application);
void draw_measure_side(Application& application);
void draw_measure_floor(Application& application);

// Over the window: all data that can be opened; all keys; cards that ask for a file; the pinned places; the
// commands by their words.
void draw_data_page(Application& application);
void draw_keys_help(Application& application);
void draw_open_dialog(Application& application);
void draw_save_dialog(Application& application);
void draw_places_card(Application& application);
void draw_palette(Application& application);

/// Why a workspace has nothing to show; empty: it has. `without_tokens` ends what is said of a sequence that
/// has none: ", so nobody reads".
std::string nothing_to_show(const Application& application, const char* without_tokens);

}  // namespace palimpsest
