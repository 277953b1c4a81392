#pragma once

namespace palimpsest {

/// A centred card over everything else while `open`; a click beside it closes it. True while it is there:
/// draw its content, then call end_card.
bool begin_card(const char* name, bool& open);
void end_card();

}  // namespace palimpsest
