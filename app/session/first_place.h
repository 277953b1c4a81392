#pragma once

#include "app/session/computation.h"

namespace palimpsest {

/// A token of a text at which something happens.
struct WordToSee {
  Index token = 0;
  std::string label = {};          // as in the text
  std::string what = {};           // what happens there
  std::vector<Index> stored = {};  // for a query: the tokens that stored the answer
};

/// The story of one of our texts, for new users, from assets/captures/stories.json.
struct FirstLook {
  std::string captures = {};  // a part of the names of the captures of this text
  std::string story = {};     // what the text says, in one line
  std::string watch = {};     // what to watch
  std::vector<WordToSee> words = {};
};

/// The story of the data with this id; null if there is none.
const FirstLook* first_look(std::string_view id);

/// The step after which a token is written: the write to the memory; in the recurrent form without such a
/// step the output; else the token's first step.
Cursor after_write(const Trace& trace, Index token);

/// Where data are looked at first, after the token's write: the last of a typed text's facts; the last word
/// of a guide that overwrites something, or else that is stored, if this head writes it; the first strong
/// write of a new label where the memory returns something else already, or else the one that differs most
/// from what it returns; the last token. Of long data only the first tokens are looked at, as many as take no
/// time that one notices. Throws Cancelled.
Place first_place(const Computation& computation, const std::stop_token& stop);

/// A token at which something happens, and what: "erases and writes strongly, fades more than most".
struct EventMark {
  Index token = 0;
  std::string words;
};

/// What counts as an event, in a sentence.
const char* events_in_words();

/// The nearest marked token after `token`, or before it where `direction` is -1; nothing if there is none.
/// Marked are writes among the strongest 5 % and at least half as strong as the strongest; writes that
/// overshoot; decays and errors before the write among the largest 5 %; divergence of the memory with its
/// cause; and the first token at which a form differs. Only the known part of `computed` counts.
std::optional<EventMark> next_mark(const Computation& computed, Index token, int direction);

}  // namespace palimpsest
