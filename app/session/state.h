#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/session/attention_view.h"
#include "app/session/compare_view.h"
#include "app/session/edits.h"
#include "app/session/measure_view.h"
#include "app/session/prove_view.h"
#include "app/session/view_options.h"
#include "core/base/matrix.h"
#include "core/contract/variant.h"

namespace palimpsest {

inline bool operator==(const Settings& x, const Settings& y) {
  return x.options == y.options && x.parameters == y.parameters;
}

/// One way to compute the data; workspaces that compare show several.
struct Side {
  std::string variant = "gated_deltanet";
  Form form = Form::recurrent;
  std::string device = "cpu";
  Precision precision = Precision::f64;
  Index chunk_size = 8;
  Settings settings = {};
  // Sliders of its own in the place of the data's (edits.h), by kind; the first side has none.
  std::map<std::string, double, std::less<>> sliders = {};

  bool operator==(const Side&) const = default;
};

inline constexpr std::size_t most_sides = 4;

/// Everything that decides what is computed for one side; nothing about where one looks.
struct Choice : Side {
  Index head = 0;  // over batches and heads: batch * heads + head
  Edits edits = {};
  InjectedFault fault = {};
};

/// Where one looks, in words that outlast a change of variant, form or chunk size.
struct Place {
  Index token = 0;
  std::string operation = {};  // empty: the first
  Index phase = 0;
  Index tile = 0;  // softmax, chunkwise: which tile of keys

  bool operator==(const Place&) const = default;
};

/// Everything that a person can change, as one value.
struct SessionState {
  std::string data = {};  // "capture:NAME", "preset:NAME?…" or the path of a file; empty: nothing is open
  Edits edits = {};
  Index head = 0;
  std::vector<Side> sides = {Side()};  // one to four; the first is the one that is stepped through
  Place place = {};
  std::vector<Index> words = {};  // tokens that the memory is asked about, ascending; empty: the strongest
  std::vector<Index> repeated =
      {};  // the first and the last token that playing repeats, or one alone; empty: none
  std::string workspace = "step";
  ViewOptions view = {};
  AttentionView attention = {};
  CompareView compare = {};
  ProveState prove = {};
  MeasureState measure = {};

  bool operator==(const SessionState&) const = default;

  /// The first side, with what it shares with the others.
  Choice choice() const;
  void set_choice(Choice choice);
};

/// Whether two states are the same but for where and how one looks: place, workspace, views.
bool same_but_place(const SessionState& x, const SessionState& y);

}  // namespace palimpsest
