#pragma once

#include "core/insight/answers.h"

namespace palimpsest {

class Session;

enum class AskedBy { strength, guide, person };

/// Which words the memory is asked about where a session stands, and who chose them. A person's stay; those
/// of a story hold at the word that asks in it alone, which asks with its query.
struct AskedChoice {
  WordChoice words = {};
  AskedBy by = AskedBy::strength;
};

AskedChoice asked_choice(const Session& session);

}  // namespace palimpsest
