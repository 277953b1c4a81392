#pragma once

#include <set>

#include "app/session/data_set.h"

namespace palimpsest {

/// A change of the data: a row of edit_kinds(), and what its fields hold.
struct Edit {
  std::string kind;
  std::string array = {};            // where the row changes an array of one's choice
  std::vector<double> numbers = {};  // one for each field of the row

  auto operator<=>(const Edit&) const = default;
};

/// Edits in the order in which they are made.
using Edits = std::vector<Edit>;

/// A number that a kind of edit asks for.
struct EditField {
  const char* name;
  double minimum;
  double maximum;
  bool is_index = false;  // a whole number
};

/// One head's arrays on their way to a variant, as edits meet them.
struct EditedHead {
  const DataSet& data;
  std::vector<Input> inputs;  // what the variant takes
  Arrays& arrays;             // of this head, without head and batch axes; a decay is alpha, or g
  std::function<void(const std::string& name)> make_up;  // adds an array that the variant needs
  std::set<std::string> made_up = {};                    // those added
};

/// A kind of edit.
struct EditKind {
  const char* id;
  const char* words;  // "every decay to this power": how a person knows a slider
  std::vector<EditField> fields;
  bool has_array = false;  // an edit says which array it changes
  std::optional<double> neutral =
      {};  // a slider: there is one such edit at most, and none where its number is this one
  void (*apply)(EditedHead&,
                const Edit&) = nullptr;  // null: the number is asked for where an array is made up
};

/// The table of edits.
std::span<const EditKind> edit_kinds();

inline constexpr std::size_t most_edits = 1000;  // each entry of the history holds them all

/// Makes the edits, in order. Throws InputError naming the edit, its field and what was expected.
void apply(const Edits& edits, EditedHead& head);

/// The number of the one edit of a slider's kind, or what leaves the data as they are.
double slider_value(const Edits& edits, std::string_view kind);

/// Sets it, in its place in the order. What leaves the data as they are takes the edit out.
void set_slider(Edits& edits, std::string_view kind, double value);

/// Paints a gate from one token to another, in every channel or in one, in place of what was painted there.
void paint(Edits& edits, const std::string& array, Index from, Index to, double value,
           std::optional<Index> channel = {});

/// Lets a gate run evenly from one token's value to another's, in place of what was painted there.
void ramp(Edits& edits, const std::string& array, Index from, Index to, double first, double last);

/// Makes a gate the same everywhere, in place of what was painted.
void set_constant(Edits& edits, const std::string& array, double value);

struct Foundation;

/// A gate or learning rate that one number can stand for, besides the decay and the strength.
struct PlainGate {
  std::string array;    // "eta"
  std::string meaning;  // what its variant says
  double value = 0;     // its mean
  bool is_constant = true;
  double maximum = 1;  // worth looking at
};

/// Those of the choice, in the order of the variant; what is absent stands at 0 or what its absence means.
std::vector<PlainGate> plain_gates(const Foundation& foundation);

}  // namespace palimpsest
