#pragma once

namespace palimpsest {

/// Where a card lies: in the middle, or so that its upper edge stays where it is.
enum class CardPlace { middle, top };

/// A card over everything else while `open`; a click beside it or Esc closes it. True while it is there: draw
/// its content, then call end_card.
bool begin_card(const char* name, bool& open, CardPlace place = CardPlace::middle);
void end_card();

}  // namespace palimpsest
