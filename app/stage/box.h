#pragma once

#include "core/formula/expression.h"

namespace palimpsest {

/// The room around a picture that something else takes, in screen pixels.
struct BoxAround {
  float left = 0;
  float right = 0;
  float top = 0;
  float bottom = 0;
};

/// An equation as pictures: a tree without sizes and places.
struct Box {
  enum class Kind { picture, number, glyph, bracket, row, stack, group };

  Kind kind = Kind::row;
  std::string tensor = {};  // picture, number; the result's name for a group
  std::string key = {};     // picture: unique on the Stage
  std::string latex = {};   // glyph; the symbol under a picture or a number
  std::string digits = {};  // number
  Role role = Role::plain;  // picture, number: the colour of its symbol
  std::string words = {};   // picture, number: the text beside its symbol
  bool transposed = false;  // picture
  bool is_bare = false;     // picture, number: without its symbol,
  BoxAround around = {};    // but with this room around it
  bool right = false;       // bracket: the closing one
  bool square = false;
  Index rows = 0;  // picture, as drawn
  Index columns = 0;
  Index first_row_token = -1;  // picture, as drawn: the token of its first row, where rows are tokens
  Index first_column_token = -1;
  std::vector<std::string> row_words = {};     // labels of its rows, if they are high enough;
  Index present_row = -1;                      // else only this row, of the token at the cursor,
  std::string present_word = {};               // has this label
  std::vector<std::string> column_words = {};  // labels below its columns, as many as fit,
  std::vector<Index> column_order = {};        // in this order of priority
  std::vector<Box> parts = {};
};

/// The symbol of a tensor; if it has none, a blank one, or one with its name.
const Symbol& symbol_in(const Symbols& symbols, const std::string& tensor);
Symbol named_symbol(const Symbols& symbols, const std::string& tensor);

/// The picture of the tensor `name` of `record`, or its number. `key` tells it from all others.
Box picture_of(const std::string& name, bool transposed, const std::string& key, const Record& record,
               const Symbols& symbols);

/// The pictures of "result = expression", from the expression alone: every tensor is the picture of its
/// matrix in `record`; [1, 1] is a number. Sums of flat vectors are stacked. `id` makes the keys of pictures
/// unique among equations.
Box boxes(const std::string& id, const Equation& equation, const Record& record, const Symbols& symbols);

}  // namespace palimpsest
