#pragma once

namespace palimpsest {

/// The few pictures on buttons, drawn from lines on whole pixels so that they are sharp at any scale.
enum class Icon {
  to_start,
  back,
  play,
  pause,
  forwards,
  to_end,
  mark_back,
  mark_forward,
  minus,
  plus,
  close
};

/// A button with a picture; `label` is its identity and not drawn. True when pressed. Give it a tooltip: no
/// icon speaks for itself.
bool icon_button(const char* label, Icon icon, float design_size = 28);

}  // namespace palimpsest
