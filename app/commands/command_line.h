#pragma once

#include <chrono>
#include <ostream>
#include <thread>

#include "core/contract/sequence.h"

namespace palimpsest {

class CommandOptions;
struct RaceReport;

/// What a command returns to whoever started the program.
enum ExitStatus {
  exit_done = 0,
  exit_failed_checks = 1,
  exit_bad_usage = 2,
  exit_unsupported = 3,
  exit_interrupted = 130
};

/// Where a command writes.
struct Console {
  std::ostream& out;
  std::ostream& error;
  bool shows_progress = false;  // error is a terminal
};

/// One line on the standard error, whatever `words` hold: names of files and texts of data may hold anything.
void tell(const Console& console, std::string_view words);

inline constexpr std::size_t text_width = 100;

using TextRows = std::vector<std::vector<std::string>>;

/// Rows of cells, each column as wide as its widest cell and two spaces from the next; the last cell of a row
/// is wrapped at text_width. A cell is shown in one line, whatever it holds. Every line starts with `indent`
/// spaces and ends with a newline.
std::string columns(TextRows rows, std::size_t indent = 2);

/// `text` wrapped at text_width, ending with a newline.
std::string paragraph(const std::string& text, std::size_t indent = 0);

/// What a command does once its options are parsed; returns the exit status. May throw any Error.
using Task = std::function<int()>;

/// Adds the options of a command to `command` and gives its action.
using CliCommand = std::function<Task(CommandOptions command, Console console)>;

/// The action of a command that cannot be done: throws InputError.
Task failing(std::string message);

/// What only the program with a window has.
struct WindowCommands {
  CliCommand window = {};  // without a command
  CliCommand render = {};
  CliCommand lesson = {};
  CliCommand bench = {};
  // Draws a report of `bench` as Measure shows it. Throws Error.
  std::function<void(const RaceReport& report, const std::string& file)> picture_of_race = {};
};

/// Parses the arguments and runs what they ask for. Returns the exit status; every error is one line on
/// `error`.
int run_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& error,
                     const WindowCommands& window_commands = {});

// The commands. Each adds its options and gives what it does; without what only `window` has, `bench` says
// so.
Task add_run(CommandOptions command, Console console);
Task add_verify(CommandOptions command, Console console);
Task add_rule(CommandOptions command, Console console);
Task add_bench(CommandOptions command, Console console, const WindowCommands& window);
Task add_show(CommandOptions command, Console console);
Task add_say(CommandOptions command, Console console);
Task add_experiment(CommandOptions command, Console console);
Task add_info(CommandOptions command, Console console);

/// The version of this program: "0.1.0".
std::string version();

/// The commit that it was built from: "8b2397777cd2", "8b2397777cd2-dirty" with changes on top of it,
/// "unknown" where neither git nor the source archive says.
std::string commit();

/// The compiler that built it: "GCC 12.2.0".
std::string compiler();

/// All of these: "palimpsest 0.1.0 (8b2397777cd2), GCC 12.2.0".
std::string program_in_words();

std::string eigen_version();

/// The progress of a command: a line on a terminal, replaced by the next one and removed in the end.
class ProgressLine {
 public:
  explicit ProgressLine(const Console& console) : console_(console) {}
  ~ProgressLine() { write(""); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// "12 of 40 cases, 30/s, " and `words`; not more often than it can be read.
  void show(Index done, Index total, std::string_view words);

  /// `words` alone, as often.
  void show(std::string_view words);

 private:
  using Clock = std::chrono::steady_clock;

  void write(std::string_view line) const;

  const Console& console_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

/// Shows how long a command has been working, "4 heads of 1024 tokens on cpu, 12 s", until the returned
/// thread is destroyed: for work that does not report progress. `words` is called repeatedly from that
/// thread.
[[nodiscard]] std::jthread show_waiting(const Console& console, std::function<std::string()> words);

/// "3 of 4 heads of 1024 tokens done on cpu": where a run of the batch is; without the heads that are done,
/// of which a device may tell nothing, "4 heads of 1024 tokens on cuda".
std::string describe_progress(const SequenceBatch& batch, const std::string& device, Index done);

/// While it exists, the first Ctrl+C or SIGTERM requests a stop instead of ending the program; a second one
/// ends it.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  sigset_t former_mask_{};
  std::jthread watcher_;
};

}  // namespace palimpsest
