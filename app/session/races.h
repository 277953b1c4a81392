#pragma once

#include "app/session/session.h"

namespace palimpsest {

/// What a race in another thread has come to, for those who look on.
struct RaceBoard {
  std::mutex mutex = {};                          // of everything below
  std::shared_ptr<const RaceReport> report = {};  // what is measured so far; another whenever there is more
  std::string under_way = {};                     // what is being measured now, in words
  std::function<void()> told = {};                // called in the race's thread whenever there is more to see
};

/// A race that goes on by itself: what its board shows is kept when it is cancelled.
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

/// A report that can be seen in Measure.
struct SeenReport {
  enum class From { own_race, shipped, file };

  std::string id;    // "race", the name of a file that ships, or a path
  std::string name;  // "Intel Xeon, 2 threads, 2026-11-22"
  From from = From::file;
  std::shared_ptr<const RaceReport> report;
};

/// The reports of Measure: those that ship, those that were opened, and what is measured here.
class Races {
 public:
  /// `folder` holds what ships; one that is not there holds nothing.
  explicit Races(std::filesystem::path folder = shipped_folder());

  /// assets/races, or an empty path where there is none.
  static std::filesystem::path shipped_folder();

  /// What runs here, in words, as reports say it: "palimpsest 0.1.0 (8b2397777cd2), GCC 12.2.0".
  std::string program = "palimpsest";

  /// Called in another thread when there is more to see, until leave(): asks for a frame. Dear ImGui draws
  /// none for the sake of a race, which would take part in what is measured.
  std::function<void()> wake = {};

  /// Ends the race of a program that closes: `wake` is not called any more.
  void leave(Session& session);

  /// Goes on with the race that runs. Once in every frame: what is not asked for is given up.
  void keep_racing(Session& session);

  /// Asks for the reports that Measure shows, and takes out what cannot be read: session.message() then names
  /// the file and what was expected. Once in every frame that shows them.
  void look(Session& session);

  /// Opens the report in a file, or brings it to the front: others stay as they are, but for one with the
  /// same content, whose place it takes.
  void open(Session& session, const std::filesystem::path& file);

  /// Takes a report that is made elsewhere in the program for what was measured here: its rules and lengths
  /// are wished for, so that nothing seems to be missing.
  void adopt(Session& session, RaceReport report);

  /// Takes a report out of sight; of the own race its points.
  void take_away(Session& session, const SeenReport& report);

  /// All that is there, the own race first, then files, then what ships.
  const std::vector<SeenReport>& seen() const { return seen_; }

  /// Whether more of them are being read.
  bool reads() const { return reads_; }

  /// The one that the sentence is about: the chosen one, else the first that has a selected point. The number
  /// of reports where there is none.
  std::size_t leading(const Session& session) const;

  /// Races what is wished for and not measured yet, in another thread. Throws InputError where there is
  /// nothing to race.
  void start(Session& session);

  /// Ends it; what is measured stays.
  void cancel(Session& session);

  /// Forgets what was measured here.
  void forget(Session& session);

  bool runs() const { return race_.has_value(); }

  /// How far the race is, from 0 to 1, and what is being measured.
  double progress() const { return progress_; }
  std::string under_way() const;

  /// What was measured here; null: nothing was.
  std::shared_ptr<const RaceReport> own() const;

  /// How many entries of the wish the own race lacks.
  Index left(const Session& session);

 private:
  std::filesystem::path folder_;
  std::vector<std::string> shipped_;  // names of files
  std::vector<std::string> broken_;   // of them, those that cannot be read
  std::shared_ptr<RaceBoard> board_;
  std::optional<OwnRace> race_;
  double progress_ = 0;
  std::vector<SeenReport> seen_;
  bool reads_ = false;
  // What left() found last, and of what.
  std::tuple<RaceWish, std::string, std::vector<const Backend*>, std::shared_ptr<const RaceReport>> asked_;
  Index left_ = -1;
};

/// The rules that Measure shows, by their ids: those wished for, or the one that is open; softmax last where
/// it is to be beside them.
std::vector<std::string> wished_variants(const SessionState& state);

/// The curves that a state of Measure shows.
RaceSelection wished_curves(const SessionState& state);

/// Changes what Measure shows so that a report that has none of its curves has some.
void show_what_it_has(SessionState& state, const RaceReport& report);

/// The devices of a session that can be used, as far as their drivers have answered.
std::vector<const Backend*> usable_devices(const Session& session);

/// What a state of Measure races on those of `devices` that are wished for, quickly enough to wait for it.
RacePlan wished_plan(const SessionState& state, Devices devices);

/// "Intel Xeon, 2 threads": where a report was made; the GPU where it was used.
std::string machine_words(const RaceReport& report);

/// "Intel Xeon, 2 threads, 2026-11-22": where and when a report was made; the GPU where it was used.
std::string machine_and_date(const RaceReport& report);

/// Choices of what is raced that are made at once, on all devices.
struct RacePreset {
  const char* id;
  const char* words;             // "this rule, all forms"
  const char* explained;         // a sentence
  bool peer;                     // as RaceWish has it, and
  std::vector<Form> forms = {};  // these too
  std::vector<std::string> variants = {};

  RaceWish wish(RaceWish before) const;
};

std::span<const RacePreset> race_presets();

/// A report as JSON (docs/bench.md): all that it holds, and what follows from it for other readers.
std::string race_json(const RaceReport& report);

/// The points of a report as CSV, one a line, with a line of names first.
std::string race_csv(const RaceReport& report);

/// The report in JSON. Throws InputError naming the point, the field and what is expected.
RaceReport parse_race(const std::string& text);

/// The report in a file. Throws InputError naming it, too.
RaceReport read_race(const std::filesystem::path& file);

}  // namespace palimpsest
