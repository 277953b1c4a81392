#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/contract/variant.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The whole number that all of `text` spells; throws InputError calling it `what`.
Index parse_count(std::string_view text, std::string_view what);

/// The same, from `least` to `most`.
Index parse_count(std::string_view text, std::string_view what, Index least, Index most);

/// What parse_count() makes of each of `texts`.
std::vector<Index> parse_counts(const std::vector<std::string>& texts, std::string_view what, Index least,
                                Index most);

/// What `parse` makes of every text; `otherwise` where there is none.
template <class Value, class Parse>
std::vector<Value> parsed(const std::vector<std::string>& texts, std::vector<Value> otherwise, Parse parse) {
  if (texts.empty()) return otherwise;
  std::vector<Value> values;
  for (const std::string& text : texts) values.push_back(parse(text));
  return values;
}

/// Key and value channels side by side, from --dk and --dv, `most` at most: as many of each where one of the
/// two is left out. Throws InputError where they are not as many.
std::vector<std::pair<Index, Index>> parse_channels(const std::vector<std::string>& dk,
                                                    const std::vector<std::string>& dv, Index most);

/// The finite number that all of `text` spells; throws InputError calling it `what`.
double parse_number(std::string_view text, std::string_view what);

/// "NAME=VALUE" for each option or parameter of `variant`. Values of options are checked by resolve().
Settings parse_settings(const Variant& variant, const std::vector<std::string>& assignments);

/// The names of all forms: "recurrent, chunkwise, ...".
std::string form_names();

/// The form called `text`; throws InputError listing all.
Form parse_form(std::string_view text);

/// The precision called `text`; throws InputError listing all.
Precision parse_precision(std::string_view text);

/// "1280x800" as width and height of a picture in pixels; throws InputError unless both are from 16 to 8192.
std::pair<int, int> parse_size(const std::string& text);

/// What --at says: TOKEN or TOKEN:OPERATION.
struct PlaceOption {
  Index token = 0;
  std::optional<std::string> operation = {};
};

/// Throws InputError unless `at` is a token of `tokens`, with or without an operation.
PlaceOption parse_place(std::string_view at, Index tokens);

/// The cursor at an operation of a form. Throws InputError listing its operations where it has no such one.
Cursor cursor_at(Index token, const std::string& operation, const Trace& trace);

}  // namespace palimpsest
