#include "app/views/asked_choice.h"

#include <algorithm>

#include "app/session/session.h"
#include "app/views/what_to_look_at.h"

namespace palimpsest {

AskedChoice asked_choice(const Session& session) {
  const std::vector<Index>& own = session.state().words;
  if (!own.empty()) return {{.pinned = own}, AskedBy::person};
  const FirstLook* look = first_look(session.data().id);
  if (!look) return {};
  const Index token = session.token();
  const auto asking = std::ranges::find_if(
      look->words, [&](const WordToSee& word) { return word.token == token && !word.stored.empty(); });
  if (asking == look->words.end() || token >= session.data().tokens) return {};
  AskedChoice choice = {{.pinned = asking->stored, .query = token}, AskedBy::guide};
  choice.words.pinned.push_back(token);
  return choice;
}

}  // namespace palimpsest
