#pragma once

#include "core/formula/expression.h"

namespace palimpsest {

/// What something else takes around a picture, in screen pixels.
struct BoxAround {
  float left = 0;
  float right = 0;
  float top = 0;
  float bottom = 0;
};

/// An equation as pictures: a tree of what is shown, without sizes and places.
struct Box {
  enum class Kind { picture, number, glyph, bracket, row, stack, group };

  Kind kind = Kind::row;
  std::string tensor = {};  // picture, number; the result's name for a group
  std::string key = {};     // picture: tells it from all others on the Stage
  std::string latex = {};   // glyph; what stands under a picture or a number
  std::string digits = {};  // number
  Role role = Role::plain;  // picture, number: the colour of its symbol,
  std::string words = {};   // and what stands beside that
  bool transposed = false;  // picture
  bool is_bare = false;     // picture, number: its symbol stands elsewhere,
  BoxAround around = {};    // in what is around it
  bool right = false;       // bracket: the closing one
  bool square = false;
  Index rows = 0;  // picture, as drawn
  Index columns = 0;
  Index first_row_token = -1;  // picture, as drawn: the token of its first row, where rows are tokens
  Index first_column_token = -1;
  std::vector<std::string> row_words = {};     // what stands beside its rows where they are high enough,
  Index present_row = -1;                      // and otherwise beside this one: of the word at the cursor,
  std::string present_word = {};               // which is this
  std::vector<std::string> column_words = {};  // what stands below its columns, as many as there is room for;
  std::vector<Index> column_order = {};        // the first of these comes first
  std::vector<Box> parts = {};
};

/// The symbol of a tensor; a blank one where it has none, or one that is its name.
const Symbol& symbol_in(const Symbols& symbols, const std::string& tensor);
Symbol named_symbol(const Symbols& symbols, const std::string& tensor);

/// The picture of the tensor `name` of `record`, or its number. `key` tells it from all others.
Box picture_of(const std::string& name, bool transposed, const std::string& key, const Record& record,
               const Symbols& symbols);

/// The pictures of "result = expression", laid out from the expression alone: every tensor is the picture of
/// its matrix in `record`, [1, 1] is a number. Sums of flat vectors are stacked. `id` tells the pictures of
/// different equations apart.
Box boxes(const std::string& id, const Equation& equation, const Record& record, const Symbols& symbols);

/// The cells of the longest side of all pictures.
Index longest_side(const Box& box);

}  // namespace palimpsest
