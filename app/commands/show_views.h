#pragma once

#include "app/commands/command_line.h"
#include "app/session/computation.h"
#include "app/session/json_fields.h"

// What the program knows about a place, as numbers with names: `palimpsest show` writes them, and lessons ask
// for them.

namespace palimpsest {

/// A place of some data under one rule, which a view shows.
struct ShownPlace {
  std::shared_ptr<const Computation> computation;
  Form form = Form::recurrent;
  Cursor cursor = {};
  Index token = 0;
  std::vector<Index> words = {};                     // pinned ones
  std::optional<std::pair<Index, Index>> cell = {};  // row and column of the memory
  std::vector<Side> beside = {};                     // what it is compared with; empty: the usual sides
  double sharpness = 0;                              // of softmax beside a rule; 0: the usual one
  std::stop_token stop = {};

  /// "drum": the text of a token.
  std::string text(Index of_token) const;

  /// The id of the operation at the cursor.
  const std::string& operation() const;

  /// "42 drum".
  std::string numbered(Index of_token) const;

  /// Finds out what is asked about the computation.
  template <class Key>
  auto find(Key key) const {
    key.of = computation;
    return find_out(key, {.stop = stop});
  }
};

/// The numbers of a view, for programs and for people.
struct ShownNumbers {
  Json json;
  std::string text = {};
};

/// What the place is, in names and numbers.
Json place_json(const ShownPlace& place);

/// A view by its name.
struct FactView {
  const char* id;
  const char* words;  // what it shows
  ShownNumbers (*show)(const ShownPlace&);
};
std::span<const FactView> fact_views();

/// The numbers of some views at a place, and "place" itself: its token, tokens, dk, dv, chunk_size, head.
struct Facts {
  Json views = Json::object();  // by the ids of the views
};

/// Views at a place, computed aside. Throws Unsupported and InputError as the views do.
struct FactsAtPlace {
  Weak<Computation> of = {};
  Form form = Form::recurrent;
  Cursor cursor = {};
  std::vector<Index> words = {};        // that the memory is queried for; empty: the strongest writes
  std::vector<Side> beside = {};        // of "compare"; empty: the usual sides
  double sharpness = 0;                 // of softmax; 0: the usual one
  std::vector<std::string> views = {};  // ids

  auto operator<=>(const FactsAtPlace&) const = default;
  Found<Facts> compute(const Effort& effort) const;
};

}  // namespace palimpsest
