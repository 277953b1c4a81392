#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/steps/trace.h"

namespace palimpsest {

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
