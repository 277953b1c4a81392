#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/commands/cli.h"
#include "tests/folders.h"

namespace palimpsest::testing {

/// The real program, started with its output going to files.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = joined({tested_program()}, arguments);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = folder_ / "out";
    const std::string error = folder_ / "error";
    process_ = fork();
    if (process_ == 0) {
      dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
      dup2(::open(error.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
      execv(argv.front(), argv.data());
      _exit(127);
    }
  }

  void interrupt(int signal = SIGINT) const { kill(process_, signal); }

  /// Waits until the program handles Ctrl+C itself: the signal is blocked in its first thread.
  void wait_until_it_takes_interrupts() const {
    const std::string status = "/proc/" + std::to_string(process_) + "/status";
    for (;;) {
      std::istringstream lines(read_file(status));
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("SigBlk:")) continue;
        if ((std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0) return;
      }
      REQUIRE(waitpid(process_, nullptr, WNOHANG) == 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// Waits until the program has had so much of the processor's time, however busy the machine is.
  void wait_until_it_has_worked(std::chrono::milliseconds wanted) const {
    const std::string stat = "/proc/" + std::to_string(process_) + "/stat";
    const auto worked = [&] {
      const std::string text = read_file(stat);
      std::istringstream fields(text.substr(text.rfind(')') + 1));  // the name before it may hold spaces
      std::string skipped;
      for (int field = 3; field < 14; ++field) fields >> skipped;
      long user = 0;
      long system = 0;
      fields >> user >> system;
      return std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
    };
    while (worked() < wanted) {
      REQUIRE(waitpid(process_, nullptr, WNOHANG) == 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  /// The exit status, or -1 for a program that did not end by itself.
  Ran wait() const {
    int status = 0;
    waitpid(process_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_ / "out"),
            read_file(folder_ / "error")};
  }

 private:
  TemporaryFolder folder_;
  pid_t process_ = 0;
};

inline Ran program(const std::vector<std::string>& arguments) { return Program(arguments).wait(); }

}  // namespace palimpsest::testing
