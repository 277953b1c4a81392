#include "app/commands/command_line.h"

#include <unistd.h>
#include <CLI/CLI.hpp>
#include <condition_variable>
#include <csignal>
#include <iostream>

#include "app/commands/options.h"
#include "commit.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

constexpr const char* exit_statuses =
    "Exit status: 0 done; 1 a check of verify failed; 2 bad usage or input;\n"
    "3 this variant has no such form, device or precision; 130 interrupted.";

int report(const Console& console, std::string_view message, int status) {
  tell(console, message);
  return status;
}

/// Runs `action`; whatever it throws becomes one line and an exit status.
int guarded(const Console& console, const Task& action) try {
  return action();
} catch (const Unsupported& error) {
  return report(console, error.what(), exit_unsupported);
} catch (const Cancelled&) {
  return report(console, "interrupted", exit_interrupted);
} catch (...) {
  return report(console, problem_in_words(), exit_bad_usage);
}

CliCommand needs_window(const char* name) {
  return [name](CommandOptions command, Console) {
    command.allow_extras();
    return failing(fmt::format("{} needs the program with a window (palimpsest)", name));
  };
}

/// The command line as CLI11 sees it, and what each command does.
class Parser {
 public:
  Parser(const Console& console, const WindowCommands& window_commands) : console_(console) {
    app_.set_version_flag("--version", fmt::format("palimpsest {} ({})", version(), commit()));
    app_.set_help_all_flag("--help-all", "Print the help of every command");
    app_.require_subcommand(0, 1);
    app_.footer(exit_statuses);
    without_command_ =
        window_commands.window
            ? window_commands.window(CommandOptions(app_), console)
            : failing(
                  "a command is missing: run, verify, bench, info, show or say (this program has no window; "
                  "see --help)");
    add("run", "Run one variant on the arrays of a file", add_run);
    add("verify", "Compare every form, device and precision with the f64 recurrence", add_verify);
    add("info", "List variants, forms and why one is missing, devices, versions", add_info);
    add("rule", "Check a rule of one's own, written as a text", add_rule);
    add("show", "Write the numbers of a view", add_show);
    add("say", "Show how a small language model continues a text, also with a changed layer", add_say);
    add("experiment", "Count a model's correct answers on made-up texts, also with a changed layer",
        add_experiment);
    add("render", "Draw a picture of the program without a window",
        window_commands.render ? window_commands.render : needs_window("render"));
    add("lesson", "Check lessons", window_commands.lesson ? window_commands.lesson : needs_window("lesson"));
    add("bench", "Measure the speed of forms, devices and lengths, or of the window",
        [&](CommandOptions command, Console to) { return add_bench(command, to, window_commands); });
  }

  int run(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
      return written(app_.exit(asked, console_.out, console_.error));
    } catch (const CLI::ParseError& error) {
      return report(console_, fmt::format("{} (see {} --help)", error.what(), asked_for()), exit_bad_usage);
    }
    if (const std::string option = window_option(); !option.empty())
      return report(console_,
                    fmt::format("{} before {} belongs to the window; give {} its options after its name",
                                option, asked_for(), asked_for()),
                    exit_bad_usage);
    return written(guarded(console_, given() ? tasks_.at(given()) : without_command_));
  }

 private:
  /// `status`, unless what was written has not arrived.
  int written(int status) const {
    console_.out.flush();
    if (!console_.out) return report(console_, "the output could not be written", exit_bad_usage);
    return status;
  }

  void add(const char* name, const char* words, const CliCommand& command) {
    CLI::App* subcommand = app_.add_subcommand(name, words);
    tasks_[subcommand] = command(CommandOptions(*subcommand), console_);
  }

  /// An option of the window that was given to a command; empty if none was.
  std::string window_option() const {
    if (!given()) return {};
    for (const CLI::Option* option : app_.get_options()) {
      if (option->count() > 0) return option->get_name();
    }
    return {};
  }

  /// The command; null where there is none.
  const CLI::App* given() const {
    const std::vector<CLI::App*> all = app_.get_subcommands();
    return all.empty() ? nullptr : all.front();
  }

  /// "palimpsest run": the command whose help fits.
  std::string asked_for() const { return given() ? "palimpsest " + given()->get_name() : "palimpsest"; }

  Console console_;
  CLI::App app_{"Palimpsest shows how linear attention works and verifies that its forms agree.",
                "palimpsest"};
  Task without_command_;
  std::map<const CLI::App*, Task> tasks_;
};

/// Appends `text` to a line of which `used` columns are taken, going on below where it does not fit.
void append_wrapped(std::string& lines, std::string_view text, std::size_t used) {
  std::size_t filled = used;
  while (!text.empty()) {
    const std::string_view word = take_until(text, ' ');
    if (filled > used && filled + 1 + letter_count(word) > text_width) {
      lines += '\n' + std::string(used, ' ');
      filled = used;
    } else if (filled > used) {
      lines += ' ';
      ++filled;
    }
    lines += word;
    filled += letter_count(word);
  }
}

/// Ctrl+C, and what `kill`, `timeout` and a machine that is shut down send.
sigset_t only_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

/// Few functions may be called in a signal handler, so the signal is blocked and a thread waits for it.
void watch(const std::stop_token& done, std::stop_source source) {
  const sigset_t signals = only_interrupts();
  const timespec moment{0, 50'000'000};
  while (!done.stop_requested()) {
    if (sigtimedwait(&signals, nullptr, &moment) < 0) continue;
    source.request_stop();
    break;
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // a second one reaches the program through this thread
  while (!done.stop_requested()) nanosleep(&moment, nullptr);
}

}  // namespace

Task failing(std::string message) {
  return [message]() -> int { throw InputError(message); };
}

void tell(const Console& console, std::string_view words) {
  console.error << "palimpsest: " << one_line(words) << std::endl;
}

int run_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& error,
                     const WindowCommands& window_commands) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow further is an error to tell, not the end
  const Console console{out, error, &error == &std::cerr && isatty(STDERR_FILENO) != 0};
  return Parser(console, window_commands).run(argc, argv);
}

std::string columns(TextRows rows, std::size_t indent) {
  for (auto& row : rows) std::ranges::transform(row, row.begin(), one_line);
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], letter_count(row[i]));
  }
  std::string lines;
  for (const auto& row : rows) {
    std::size_t used = indent;
    lines.append(indent, ' ');
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      lines += row[i] + std::string(widths[i] + 2 - letter_count(row[i]), ' ');
      used += widths[i] + 2;
    }
    if (!row.empty()) append_wrapped(lines, row.back(), used);
    lines.erase(lines.find_last_not_of(' ') + 1);
    lines += '\n';
  }
  return lines;
}

std::string paragraph(const std::string& text, std::size_t indent) { return columns({{text}}, indent); }

std::string version() { return PALIMPSEST_VERSION; }

std::string commit() { return PALIMPSEST_COMMIT; }

std::string compiler() {
#ifdef __clang__
  return fmt::format("Clang {}", __clang_version__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string program_in_words() {
  return fmt::format("palimpsest {} ({}), {}", version(), commit(), compiler());
}

std::string eigen_version() {
  return fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

void ProgressLine::show(std::string_view words) {
  constexpr std::chrono::milliseconds moment(100);
  const Clock::time_point time = Clock::now();
  if (time - last_ < moment) return;
  last_ = time;
  write(words);
}

void ProgressLine::show(Index done, Index total, std::string_view words) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  show(fmt::format("{} of {} cases, {:.0f}/s, {}", done, total, static_cast<double>(done) / seconds, words));
}

void ProgressLine::write(std::string_view line) const {
  constexpr std::size_t narrow_terminal = 79;  // a line that wraps cannot be replaced
  if (console_.shows_progress)
    console_.error << "\r\x1b[K" << one_line(line.substr(0, narrow_terminal)) << std::flush;
}

std::jthread show_waiting(const Console& console, std::function<std::string()> words) {
  if (!console.shows_progress) return {};
  return std::jthread([&console, words = std::move(words)](const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds moment(200);
    const Clock::time_point start = Clock::now();
    ProgressLine line(console);
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    do {
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      line.show(fmt::format("{}, {:.0f} s", words(), seconds));
      stopped.wait_for(lock, stop, moment, [&] { return stop.stop_requested(); });
    } while (!stop.stop_requested());
  });
}

Interrupt::Interrupt() {
  const sigset_t signals = only_interrupts();
  pthread_sigmask(SIG_BLOCK, &signals, &former_mask_);  // threads started from here on inherit it
  watcher_ = std::jthread([source = source_](const std::stop_token& done) { watch(done, source); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
}

}  // namespace palimpsest
