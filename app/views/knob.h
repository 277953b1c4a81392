#pragma once

namespace palimpsest {

class Application;

/// How many words a chunk holds, from the recurrence to the parallel form: a slider, and what each choice
/// costs and loses. A click on a bar chooses it. Notes the parts "bar", "number" and "one word", what it says
/// of the smallest chunk.
void draw_knob(Application& application);

}  // namespace palimpsest
