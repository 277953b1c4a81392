#pragma once

#include "core/rules/backend.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// The median of some durations, and the bounds of their middle half.
struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;

  bool operator==(const Quartiles&) const = default;
  /// Whether all of the middle half lies below that of `other`.
  bool below(const Quartiles& other) const { return high < other.low; }
};

/// The quartiles of `values`, interpolated linearly between values; zeros for none.
Quartiles quartiles(std::vector<double> values);

/// Upper limits of an entry, both measured and in a report.
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

/// The cost of all heads together by the cost model (core/operator/work.h).
struct RaceWork {
  double flops = 0;         // as the form counts them
  double needed_flops = 0;  // without those that a mask leaves out
  double exponentials = 0;
  double bytes = 0;  // of inputs and outputs, each once
  double moved = 0;  // further bytes that the form moves: states, n x n matrices

  bool operator==(const RaceWork&) const = default;
};

struct RacePoint {
  RaceEntry entry;
  std::string missing = {};  // why it was not measured; empty: it was
  Index repeats = 0;         // times that it was computed, and measured
  bool warmed = false;       // by runs before them that do not count
  Quartiles compute = {};    // in seconds, like the following: see RunTimes
  Quartiles transfers = {};
  Quartiles allocations = {};
  Quartiles whole = {};
  RaceWork work = {};
  std::optional<KernelKind> kernel = {};  // what computed it, where the report says so; the
                                          // processor by core's engines if it does not

  bool measured() const { return missing.empty(); }
  bool operator==(const RacePoint&) const = default;
};

/// A device of a machine, and its measured limits.
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

/// A run of the program that added to a report.
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
  /// The roof that applies to a point; null where it was not measured.
  const Roof* roof_of(const RaceEntry& entry) const;
  bool operator==(const RaceReport&) const = default;
};

/// The fraction of the machine's limit that a point reaches: the larger of the least times for its bytes and
/// for its FLOPs, divided by its time; 0 without a roof or a time.
double roof_fraction(const RacePoint& point, const RaceReport& report);

/// Throws InputError naming what differs, where a report of `machine` must not go on here.
void require_same_machine(const RaceMachine& machine, const RaceMachine& here);

/// The id of softmax attention, beside which every other rule is raced.
inline constexpr const char* race_peer = "softmax";

/// The label of a variant; its id for an unknown variant, as in a report of another program.
std::string race_label(const std::string& id);

/// "1,048,576": digits in groups of three.
std::string in_groups(std::string digits);

/// What is raced, and how often: every combination of what is listed.
struct RacePlan {
  struct Size {
    Index dk;
    Index dv;
  };

  std::vector<std::string> variants = {};  // ids; none: the whole table
  bool peer = true;                        // softmax too, whether it is listed or not
  std::vector<Form> forms = {std::begin(all_forms), std::end(all_forms)};
  std::vector<const Backend*> backends = {&cpu_backend()};
  std::vector<Precision> precisions = {Precision::f32};
  std::vector<Index> lengths = {128, 256, 512, 1024, 2048, 4096};
  std::vector<Index> batches = {1};
  std::vector<Index> heads = {4};
  std::vector<Size> sizes = {{64, 64}};
  std::vector<Index> chunk_sizes = {64};
  Index repeats = 11;       // of every point, at most
  Index least_repeats = 3;  // however long they take
  double seconds = 2;       // after which a point is not repeated further
  double longest = 60;      // seconds of one run; what would take longer is left out
  std::uint64_t seed = 1;
  bool roofs = true;  // measure what the devices do at most
};

/// The entries of a plan in the order in which they are measured, short lengths first. Throws InputError for
/// an unknown variant.
std::vector<RaceEntry> race_entries(const RacePlan& plan, std::span<const Variant> table = variants());

/// Where a race is: `done` of `total` entries are in the report, `last` the newest of them.
struct RaceProgress {
  const RaceReport& report;
  const RacePoint& last;
  Index done = 0;
  Index total = 0;
};

/// Measures the limits of the devices, then the entries of `plan` one after the other: a warm-up that does
/// not count, then repeated runs. What `begun` holds is not measured again; an entry that cannot run is a
/// point that says why. `measured` may be empty and is called after every new point. When asked to stop, it
/// drops the current point and returns the others. Throws InputError for an unknown variant.
RaceReport race(const RacePlan& plan, RaceReport begun = {},
                const std::function<void(const RaceProgress&)>& measured = {}, std::stop_token stop = {},
                std::span<const Variant> table = variants());

/// The cost per token in one form.
struct CostRow {
  Form form = Form::recurrent;
  std::string missing = {};  // why the form does not exist; empty: it does
  double flops = 0;          // per token
  double exponentials = 0;   // per token
  double bytes = 0;          // read and written per token: inputs, outputs, states, n x n matrices
  Index steps = 0;           // sequential steps, over all tokens
};

/// The cost of every form of `variant` over this sequence, in chunks of `chunk_size`, one row per form. The
/// state is counted as written back and read again at every block (token, chunk), as if it did not fit into
/// registers.
std::vector<CostRow> costs(const Variant& variant, const Sequence& sequence, Index chunk_size);

}  // namespace palimpsest
