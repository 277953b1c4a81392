#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "app/commands/shown_place.h"

namespace palimpsest {

/// The numbers of a view, for programs and for people.
struct ShownNumbers {
  nlohmann::ordered_json json;
  std::string text;
};

/// A view that `show` writes.
struct ShownView {
  const char* id;
  const char* words;
  ShownNumbers (*show)(const ShownPlace&);
};

/// All of them.
std::span<const ShownView> shown_views();

/// What the memory answers at the place: `answers`.
ShownNumbers show_answers(const ShownPlace& place);

/// The step of learning that the token makes, and the pair that it harms most: `learning`.
ShownNumbers show_learning(const ShownPlace& place);

/// Who wrote a cell of the memory after the token: `provenance`.
ShownNumbers show_provenance(const ShownPlace& place);

/// What is left of the words over all tokens: `recall`.
ShownNumbers show_recall(const ShownPlace& place);

/// How much every token keeps, and how far it steps: `gates`.
ShownNumbers show_gates(const ShownPlace& place);

/// What the output of the token is made of, beside softmax: `attention`.
ShownNumbers show_attention(const ShownPlace& place);

/// The memories, answers and errors of the sides that Compare shows at first: `compare`.
ShownNumbers show_compare(const ShownPlace& place);
/// How far every form and precision is from the recurrence at every word, and what is lost: `lens`.
ShownNumbers show_lens(const ShownPlace& place);

/// What every fault does to the form, and where it is first seen: `faults`.
ShownNumbers show_faults(const ShownPlace& place);

/// Rows of numbers as nested lists.
nlohmann::ordered_json json_of(const Matrix<double>& rows);
nlohmann::ordered_json json_of(const Vector<double>& numbers);

}  // namespace palimpsest
