#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/race/findings.h"
#include "core/race/lines.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// A crossing as it stands in a picture.
struct NamedCrossing {
  LineCrossing crossing = {};
  std::string words = {};     // "recurrent overtakes softmax"
  std::string sentence = {};  // "From n ≈ 820 tokens on, the recurrent form is faster than softmax."
  std::string where = {};     // "cpu, f32, B 1 · H 4 · D 64": what both have in common
  bool is_told = false;       // the headline speaks of it
};

/// What a chart of some reports shows. One of them leads: its curves are compared with each other.
struct RaceFigures {
  std::vector<std::vector<RaceLine>> lines = {};  // of every report
  std::vector<NamedCrossing> crossings = {};      // of the leading one, short lengths first
  std::vector<FastestSpan> fastest = {};          // of the leading one
  std::string headline = {};                      // the answer in a sentence; empty: nothing to compare
  std::string detail = {};                        // how much faster, at the ends
};

/// Makes the figures of `reports`, of which `leading` leads.
RaceFigures race_figures(std::span<const RaceReport* const> reports, std::size_t leading,
                         const RaceSelection& selection, bool whole = false,
                         std::span<const Variant> table = variants());

/// "8,192": a length in digits.
std::string in_digits(Index tokens);

/// "0.52 s", "79.9 ms", "404 µs": a time to three digits; "1,234 s" to whole seconds.
std::string duration(double seconds);

}  // namespace palimpsest
