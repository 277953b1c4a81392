#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/matrix.h"
#include "core/contract/sequence.h"
#include "core/contract/variant.h"
#include "core/engines/device_engines.h"
#include "core/rules/run_times.h"

namespace palimpsest {

/// Of some durations: the middle one, and between which the middle half lies.
struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;

  bool operator==(const Quartiles&) const = default;

  /// Whether all of the middle half lies below that of `other`.
  bool below(const Quartiles& other) const { return high < other.low; }
};

/// The quartiles of `values`, in between interpolated linearly; zeros of none.
Quartiles quartiles(std::vector<double> values);

/// What an entry has at most: no more is raced, and no report holds more.
inline constexpr Index most_raced_tokens = Index{1} << 24;
inline constexpr Index most_raced_heads = most_heads_in_all;
inline constexpr Index most_raced_channels = 8192;

/// What is measured: one variant in one form on one device, over B x H heads of T tokens.
struct RaceEntry {
  std::string variant = {};
  Form form = Form::recurrent;
  std::string device = "cpu";
  Precision precision = Precision::f32;
  Index tokens = 0;      // T
  Index batches = 1;     // B
  Index heads = 1;       // H, of every batch
  Index dk = 64;         // K
  Index dv = 64;         // V
  Index chunk_size = 0;  // of a form that has chunks, else 0

  bool operator==(const RaceEntry&) const = default;
};

/// What all heads together take by the cost model (core/operator/work.h).
struct RaceWork {
  double flops = 0;         // as the form counts them
  double needed_flops = 0;  // without those that a mask leaves out
  double exponentials = 0;
  double bytes = 0;  // of inputs and outputs, each once
  double moved = 0;  // bytes that the form as counted moves besides: states, n x n matrices

  bool operator==(const RaceWork&) const = default;
};

/// What an entry took.
struct RacePoint {
  RaceEntry entry;
  std::string missing = {};  // why it was not measured; empty: it was
  Index repeats = 0;         // times that it was computed, and measured
  bool warmed = false;       // by computing before them that does not count
  Quartiles compute = {};    // in seconds, like the following: see RunTimes
  Quartiles transfers = {};
  Quartiles allocations = {};
  Quartiles whole = {};
  RaceWork work = {};
  std::optional<KernelKind> kernel = {};  // what a GPU computed it with, where the report says so

  bool measured() const { return missing.empty(); }
  bool operator==(const RacePoint&) const = default;
};

/// A device of a machine, and what it does at most.
struct RaceRoof {
  std::string device = {};
  Precision precision = Precision::f32;
  Roof roof = {};

  bool operator==(const RaceRoof&) const = default;
};

/// Where a report comes from. Reports of two machines or programs never become one.
struct RaceMachine {
  std::string processor = {};
  Index threads = 0;
  std::string gpu = {};      // its name; empty: none could be used
  std::string driver = {};   // the newest CUDA that its driver knows
  std::string clocks = {};   // of the GPU, in words
  std::string program = {};  // "palimpsest 0.1.0 (8b2397777cd2), GCC 12.2.0"

  bool operator==(const RaceMachine&) const = default;
};

/// A start of the program that added to a report.
struct RaceStart {
  std::string date = {};     // "2026-11-22 09:30 UTC"
  std::string command = {};  // that was given, or "window"

  bool operator==(const RaceStart&) const = default;
};

/// How a device was timed, in its own words.
struct RaceTiming {
  std::string device = {};
  std::string words = {};

  bool operator==(const RaceTiming&) const = default;
};

/// What a race found so far.
struct RaceReport {
  RaceMachine machine = {};
  std::vector<RaceStart> starts = {};
  std::string data = {};  // what was computed on, in words
  std::vector<RaceTiming> timing = {};
  std::vector<RaceRoof> roofs = {};
  std::vector<RacePoint> points = {};  // in the order in which they were measured
  Index left = 0;                      // entries of the last plan that are not among them

  bool complete() const { return left == 0; }

  /// The point of an entry; null where there is none.
  const RacePoint* find(const RaceEntry& entry) const;

  /// The roof that a point stands under; null where it was not measured.
  const Roof* roof_of(const RaceEntry& entry) const;

  bool operator==(const RaceReport&) const = default;
};

/// The least time in seconds that this work takes under a roof: the longer one of that for its bytes and that
/// for its FLOPs.
double least_seconds(const RaceWork& work, const Roof& roof);

/// The part of what the machine can do that a point reaches; 0 where there is no roof or no time.
double roof_fraction(const RacePoint& point, const RaceReport& report);

/// Throws InputError naming what differs, where a report of `machine` must not go on here.
void require_same_machine(const RaceMachine& machine, const RaceMachine& here);

/// The id of softmax attention, beside which every other rule is raced.
inline constexpr const char* race_peer = "softmax";

/// The label of a variant; its id where the table does not have it, as in a report of another program.
std::string race_label(const std::string& id, std::span<const Variant> table);

/// "1,048,576": digits in groups of three.
std::string in_groups(std::string digits);

}  // namespace palimpsest
