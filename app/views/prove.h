#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/scene/node.h"
#include "app/scene/plot.h"
#include "app/session/prove_questions.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"

// What the panels of Prove share.

namespace palimpsest {

/// The panels of Prove.
std::span<const Panel> prove_panels();

void draw_prove(Application& application);
void draw_prove_faults(Application& application);
void draw_prove_grid(Application& application);
void draw_prove_floor(Application& application);

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

/// A line over the words: how far something is from the recurrence at each.
struct ProofCurve {
  std::string words;
  std::shared_ptr<const void> owner;  // of what follows
  const std::vector<double>* errors = nullptr;
  PlotLook look = {};
  bool is_wrong = false;
};

/// The lines that are wanted and there by now, and how many are still computed.
struct ProofLines {
  std::vector<ProofCurve> lines;
  std::vector<std::shared_ptr<const Seen>> seen;  // through an arithmetic: what is lost there
  int awaited = 0;
};

ProofLines proof_lines(Application& application);

/// They as a plot over the words, with what is lost and a flag at the first wrong word, whose pole goes on
/// for `below` design pixels.
Plot difference_plot(Application& application, const ProofLines& all, const WordPlaces& places, float below);

/// What became of numbers that are lost there: each kind that has a mark of its own once.
std::vector<LostNumber::As> lost_kinds(const ProofLines& all);

/// The mark of a number that is lost: down where it underflows, up where it overflows, a lozenge where its
/// digits cancel.
PlotLook lost_look(LostNumber::As as);

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
