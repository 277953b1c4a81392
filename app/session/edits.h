#pragma once

#include <set>

#include "app/session/data_set.h"

namespace palimpsest {

/// A change of the data: a row of edit_kinds(), and the values of its fields.
struct Edit {
  std::string kind;
  std::string array = {};            // if the row changes an array of the user's choice
  std::vector<double> numbers = {};  // one for each field of the row
  auto operator<=>(const Edit&) const = default;
};

/// Edits in the order in which they are made.
using Edits = std::vector<Edit>;

/// A number of a kind of edit.
struct EditField {
  const char* name;
  double minimum;
  double maximum;
  bool is_index = false;  // a whole number
};

/// One head's arrays as edits see them, before they are adapted to the variant.
struct EditedHead {
  const DataSet& data;
  std::vector<Input> inputs;  // what the variant takes
  Arrays& arrays;             // of this head, without head and batch axes; a decay is alpha, or g
  std::function<void(const std::string& name)> make_up;  // adds an array that the variant needs
  std::set<std::string> made_up = {};                    // the added arrays
};

struct EditKind {
  const char* id;
  const char* words;  // "every decay to this power": the user's name of a slider
  std::vector<EditField> fields;
  bool has_array = false;  // an edit says which array it changes
  std::optional<double> neutral =
      {};  // a slider: at most one such edit exists, and none if its number equals this one
  void (*apply)(EditedHead&,
                const Edit&) = nullptr;  // null: the number is used when an array is filled in
};

/// The table of edits.
std::span<const EditKind> edit_kinds();

inline constexpr std::size_t most_edits = 1000;  // each entry of the history holds them all

/// Makes the edits, in order. Throws InputError naming the edit, its field and what was expected.
void apply(const Edits& edits, EditedHead& head);

/// The number of the edit of a slider's kind, or its neutral value.
double slider_value(const Edits& edits, std::string_view kind);

/// Sets it in its place in the order. The neutral value removes the edit.
void set_slider(Edits& edits, std::string_view kind, double value);

/// Paints a gate between two tokens, in every channel or in one; replaces what was painted there.
void paint(Edits& edits, const std::string& array, Index from, Index to, double value,
           std::optional<Index> channel = {});

/// Paints a linear ramp between the values at two tokens; replaces what was painted there.
void ramp(Edits& edits, const std::string& array, Index from, Index to, double first, double last);

/// Sets a gate to one value everywhere; replaces what was painted.
void set_constant(Edits& edits, const std::string& array, double value);

struct Foundation;

/// A gate or learning rate that a slider can set, other than decay and write strength.
struct PlainGate {
  std::string array;    // "eta"
  std::string meaning;  // from its variant
  double value = 0;     // its mean
  bool is_constant = true;
  bool makes_decay = false;
  double maximum = 1;  // end of the slider
};

/// The gates of the choice, in the variant's order; an absent one has 0 or the value that its absence means.
std::vector<PlainGate> plain_gates(const Foundation& foundation);

}  // namespace palimpsest
