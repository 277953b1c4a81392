#pragma once

#include <string>
#include <vector>

#include "app/widgets/heat_map.h"
#include "core/insight/cost.h"

namespace palimpsest {

class Application;

/// What every form takes for a word of these data, beside each other: FLOPs, bytes, steps in a row, and why
/// one pays the first for fewer of the last. A click on a form chooses it. `has_title`: "What it costs"
/// stands above.
void draw_form_costs(Application& application, bool has_title);

/// What the costs mean together, as far as it is so: below them where there is room for all of it, else told
/// beside their title.
std::string what_costs_mean(const std::vector<CostRow>& rows);

/// "28.8k".
std::string in_thousands(double value);

/// "5.09 KiB".
std::string in_bytes(double value);

/// Whether two-pass takes more than chunkwise with one chunk size, in a sentence.
std::string two_pass_words(bool takes_more);

/// Why a chunk of one word counts other FLOPs than the recurrent form, in a sentence; `has_scores`: its
/// form compares the words of a chunk with each other.
std::string one_word_words(double chunkwise, double recurrent, bool has_scores);

/// The costs of the forms as they were drawn last: what the tests look at.
struct CostMap {
  std::vector<Rectangle> numbers;
  std::vector<Rectangle> bars;
  std::vector<std::string> forms;  // their costs in words, one of each form
  float name_end = 0;              // of the name that shows them, in little room,
  float tabs_begin = 0;            // left of the precisions to choose from
};

/// That of the current Dear ImGui context.
CostMap& cost_map();

}  // namespace palimpsest
