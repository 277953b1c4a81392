#pragma once

#include "app/session/session.h"

namespace palimpsest {

/// The progress of a race in another thread, for the views that show it.
struct RaceBoard {
  std::mutex mutex = {};                          // guards everything below
  std::shared_ptr<const RaceReport> report = {};  // what is measured so far; replaced whenever there is more
  std::string under_way = {};                     // what is being measured now, in words
  std::function<void()> told = {};                // called in the race's thread when there is more to show
};

/// A race that runs in the background: the results on its board are kept when it is cancelled.
struct OwnRace {
  static constexpr std::size_t most_kept = 1;
  std::shared_ptr<RaceBoard> board;
  std::shared_ptr<const RacePlan> plan;
  auto operator<=>(const OwnRace&) const = default;
  Found<RaceReport> compute(const Effort& effort) const;
};

/// A report in a file.
struct RecordedRace {
  std::string file = {};
  auto operator<=>(const RecordedRace&) const = default;
  Found<RaceReport> compute(const Effort& effort) const;
};

/// The figures of some reports.
struct FiguresOfRaces {
  static constexpr std::size_t most_kept = 4;
  std::vector<std::shared_ptr<const RaceReport>> reports;
  std::size_t leading = 0;
  RaceSelection selection = {};
  bool whole = false;
  auto operator<=>(const FiguresOfRaces&) const = default;
  std::string subject() const { return "figures"; }
  Found<RaceFigures> compute(const Effort& effort) const;
};

/// A report that Measure shows.
struct SeenReport {
  enum class From { own_race, shipped, file };

  std::string id;    // "race", the name of a file that ships, or a path
  std::string name;  // "Intel Xeon, 2 threads, 2026-11-22"
  From from = From::file;
  std::shared_ptr<const RaceReport> report;
};

/// The reports of Measure: the shipped ones, the opened ones, and the results measured here.
class Races {
 public:
  /// `folder` holds the shipped reports; a folder that does not exist holds none.
  explicit Races(std::filesystem::path folder = shipped_folder());

  /// assets/races; an empty path if it does not exist.
  static std::filesystem::path shipped_folder();

  /// This program, as reports name it: "palimpsest 0.1.0 (8b2397777cd2), GCC 12.2.0".
  std::string program = "palimpsest";

  /// Called in another thread when there is more to show, until leave(): requests a frame. Otherwise no frame
  /// is drawn during a race, because drawing would disturb the measurement.
  std::function<void()> wake = {};

  /// Ends the race when the program closes; `wake` is no longer called.
  void leave(Session& session);

  /// Keeps the race running. Call it once per frame: a race that no frame asks for is cancelled.
  void keep_racing(Session& session);

  /// Asks for the reports that Measure shows, and removes those that cannot be read: session.message() then
  /// names the file and what was expected. Call it once in every frame that shows them.
  void look(Session& session);

  /// Opens the report in a file, or makes it primary if it is open. Other reports stay, except one with the
  /// same content, which it replaces.
  void open(Session& session, const std::filesystem::path& file);

  /// Takes a report that another part of the program made as the results measured here. Its rules and lengths
  /// are selected, so that no point seems to be missing.
  void adopt(Session& session, RaceReport report);

  /// Closes a report; for the race on this machine, forgets its points.
  void take_away(Session& session, const SeenReport& report);

  /// All reports: the race on this machine first, then files, then the shipped ones.
  const std::vector<SeenReport>& seen() const { return seen_; }
  /// Whether reports are still being read.
  bool reads() const { return reads_; }

  /// The index of the primary report: the chosen one, else the first that has a selected point. The number of
  /// reports if there is none.
  std::size_t leading(const Session& session) const;

  /// Measures, in another thread, the selected points that are not measured yet. Throws InputError if there
  /// are none.
  void start(Session& session);

  /// Stops the race and keeps its results.
  void cancel(Session& session);

  /// Forgets what was measured here.
  void forget(Session& session);

  bool runs() const { return race_.has_value(); }
  /// How far the race is, from 0 to 1, and what is being measured.
  double progress() const { return progress_; }
  std::string under_way() const;

  /// The report of this machine; null if nothing was measured.
  std::shared_ptr<const RaceReport> own() const;

  /// The number of selected points that are not measured yet on this machine.
  Index left(const Session& session);

 private:
  std::filesystem::path folder_;
  std::vector<std::string> shipped_;  // file names
  std::vector<std::string> broken_;   // those of them that cannot be read
  std::shared_ptr<RaceBoard> board_;
  std::optional<OwnRace> race_;
  double progress_ = 0;
  std::vector<SeenReport> seen_;
  bool reads_ = false;
  // The last result of left(), and what it was computed for.
  std::tuple<RaceWish, std::string, std::vector<const Backend*>, std::shared_ptr<const RaceReport>> asked_;
  Index left_ = -1;
};

/// The ids of the rules that Measure shows: the selected ones, or the open one; softmax last if it is shown
/// beside them.
std::vector<std::string> wished_variants(const SessionState& state);

/// The curves that Measure shows in this state.
RaceSelection wished_curves(const SessionState& state);

/// Selects curves that `report` has, if it has none of the selected ones.
void show_what_it_has(SessionState& state, const RaceReport& report);

/// The devices of a session that can be used, among those whose drivers have answered.
std::vector<const Backend*> usable_devices(const Session& session);

/// What Measure races in this state on the selected ones of `devices`; short enough to wait for.
RacePlan wished_plan(const SessionState& state, Devices devices);

/// "Intel Xeon, 2 threads": where a report was made; the GPU where it was used.
std::string machine_words(const RaceReport& report);

/// "Intel Xeon, 2 threads, 2026-11-22": where and when a report was made; the GPU where it was used.
std::string machine_and_date(const RaceReport& report);

/// A preset of what is raced, on all devices.
struct RacePreset {
  const char* id;
  const char* words;             // "this rule, all forms"
  const char* explained;         // a sentence
  bool peer;                     // as in RaceWish,
  std::vector<Form> forms = {};  // and so are these
  std::vector<std::string> variants = {};

  RaceWish wish(RaceWish before) const;
};

std::span<const RacePreset> race_presets();

/// A report as JSON (docs/bench.md): its contents, and values derived from them for other programs.
std::string race_json(const RaceReport& report);

/// The points of a report as CSV: a line of names, then one line per point.
std::string race_csv(const RaceReport& report);

/// Reads a report from JSON. Throws InputError naming the point, the field and what is expected.
RaceReport parse_race(const std::string& text, const std::stop_token& stop = {});

/// Reads a report from a file. The InputError also names the file.
RaceReport read_race(const std::filesystem::path& file, const std::stop_token& stop = {});

}  // namespace palimpsest
