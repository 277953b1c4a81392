#pragma once

#include "app/session/fields.h"

namespace palimpsest {

enum class Theme { dark, light };

inline constexpr Theme all_themes[] = {Theme::dark, Theme::light};

/// "dark" or "light".
constexpr const char* name(Theme theme) { return theme == Theme::dark ? "dark" : "light"; }

/// How the program looks, apart from what it computes.
struct ViewOptions {
  Theme theme = Theme::dark;
  bool shared_scale = true;         // one colour scale per kind of tensor; otherwise each picture its own
  bool state_value_by_key = false;  // draw S as value x key, as some papers write it
  bool numbers = true;              // values as text in cells that are large enough
  bool growth = true;               // a step's result grows out of its operands

  template <class Visit>
  static void fields(Visit&& visit) {
    visit(Field{"theme"}, &ViewOptions::theme);
    visit(Field{"shared_scale"}, &ViewOptions::shared_scale);
    visit(Field{"state_value_by_key"}, &ViewOptions::state_value_by_key);
    visit(Field{"numbers"}, &ViewOptions::numbers);
    visit(Field{"growth"}, &ViewOptions::growth);
  }
  bool operator==(const ViewOptions&) const = default;
};

}  // namespace palimpsest
