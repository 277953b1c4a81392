#pragma once

#include <string>
#include <vector>

#include "app/widgets/heat_map.h"

namespace palimpsest {

class Application;

/// How many words a chunk holds, from the recurrence to the parallel form: a slider, and what each choice
/// costs and loses. A click on a bar chooses it.
void draw_knob(Application& application);

/// The numbers and bars of the knob as they were drawn last: what the tests look at.
struct KnobMap {
  std::vector<Rectangle> numbers;
  std::vector<Rectangle> bars;
  std::string one_word;  // what it says of the smallest chunk
};

/// That of the current Dear ImGui context.
KnobMap& knob_map();

}  // namespace palimpsest
