#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <vector>

#include "app/scene/node.h"
#include "app/session/prove_questions.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"
#include "app/widgets/heat_map.h"

// What the panels of Prove share.

namespace palimpsest {

/// The panels of Prove.
std::span<const Panel> prove_panels();

void draw_prove(Application& application);
void draw_prove_faults(Application& application);
void draw_prove_grid(Application& application);
void draw_prove_floor(Application& application);

/// What Prove drew last: what the tests look at.
struct ProveMap {
  struct Line {
    std::string words;
    Rectangle label = {};
  };
  struct Cells {
    int agree = 0;
    int part = 0;
    int no_form = 0;
    int no_device = 0;
    int waiting = 0;
  };
  std::vector<Line> lines;            // on the floor
  Index flag = -1;                    // the token at the flag
  std::string flag_words;             // on it
  Rectangle chart = {};               // what the lines lie in
  float highest = 0;                  // where the highest of them comes to
  std::vector<Rectangle> marks;       // of numbers that are lost
  std::string headline;               // beside the question
  std::string operation;              // the first that is off
  std::vector<Rectangle> tensors;     // should be, is, the difference
  Cells cells;                        // of the grid
  std::vector<Rectangle> form_names;  // above its columns
  float heads_top = 0;                // below the names of precisions, which stand over them
  Rectangle cancel = {};              // the button that ends the check; empty while none runs
  std::size_t checked = 0;            // rules of which it is known whether they agree
  std::string marks_legend;           // what the marks of lost numbers mean
};

/// That of the current Dear ImGui context.
ProveMap& prove_map();

/// Goes on with a check of everything that was begun in Prove, wherever one looks: once in every frame.
void keep_checking(Application& application);

/// Ends it, as *cancel* does: what is known stays.
void stop_checking();

/// The form that Prove looks at: the one with the fault, else the one that is stepped through.
Form proof_form(const Application& application);

/// Looks at another one; a fault goes with it.
void choose_proof_form(Application& application, Form form);

/// Puts a fault into the form that is looked at; an empty id takes it out.
void inject(Application& application, const std::string& fault);

/// An answer's key about the numbers without a fault.
template <class Key>
Key about_proof(const Application& application) {
  Key key;
  key.of = without_fault(application.session.computed());
  return key;
}

/// What the present fault does; nothing where none is in.
Known<FaultFigures> ask_present_fault(Application& application);

/// A fragile form as it is looked at.
Known<FragileFigures> ask_present_fragile(Application& application);

/// The centre while a fragile form is looked at, and while nothing is wrong.
scene::Node fragile_form(Application& application);
scene::Node proof(Application& application);

/// What an array of results is called: "the outputs", "the memory", "the memory's Hkk".
std::string array_words(const std::string& array);

/// "What is written" as it stands in a sentence: "what is written". Symbols keep their letters.
std::string with_small_letter(std::string words);

/// "f16: what is written underflows to 0 at …": what became of a number on its way through an arithmetic.
std::string lost_words(const Application& application, const Seen& seen, const LostNumber& lost);

/// "12 holds": a token with its word.
std::string numbered_word(const Computation& computed, Index token);

}  // namespace palimpsest
