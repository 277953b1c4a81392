#pragma once

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "core/io/array_file.h"
#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"

namespace palimpsest::testing {

/// What a command line gave.
struct Ran {
  int status = 0;
  std::string out;
  std::string error;
};

/// Runs `palimpsest ARGUMENTS...` in this process.
inline Ran palimpsest_with(const std::vector<std::string>& arguments,
                           const WindowCommands& window_commands = {}) {
  std::vector<const char*> argv = {"palimpsest"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream error;
  const int status =
      run_command_line(static_cast<int>(argv.size()), argv.data(), out, error, window_commands);
  return {status, out.str(), error.str()};
}

/// The same where all goes well.
inline Ran done(const std::vector<std::string>& arguments) {
  const Ran ran = palimpsest_with(arguments);
  INFO(ran.error);
  REQUIRE(ran.status == exit_done);
  return ran;
}

inline bool is_one_line(const std::string& text) {
  return std::ranges::count(text, '\n') == 1 && text.back() == '\n' && text.size() > 1;
}

/// Checks that a command failed with this status and with one line that says these words.
template <class... Words>
void check_failure(const Ran& ran, int status, const Words&... words) {
  INFO(ran.error);
  CHECK(ran.status == status);
  CHECK(is_one_line(ran.error));
  for (const std::string& said : std::initializer_list<std::string>{words...})
    CHECK_THAT(ran.error, says(said));
}

/// The same of the command with these arguments.
template <class... Words>
void check_failure(const std::vector<std::string>& arguments, int status, const Words&... words) {
  check_failure(palimpsest_with(arguments), status, words...);
}

/// Checks that it fails so before it writes anything else.
template <class... Words>
void check_refused(const std::vector<std::string>& arguments, int status, const Words&... words) {
  const Ran ran = palimpsest_with(arguments);
  check_failure(ran, status, words...);
  CHECK(ran.out.empty());
}

/// The arguments of a command line without quotes.
inline std::vector<std::string> arguments(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

/// `first`, then `more`.
inline std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// A folder with an input, and `palimpsest run` on it.
class Run {
 public:
  std::string input() const { return folder_ / "in.npz"; }
  std::string output() const { return folder_ / "out.npz"; }
  const TemporaryFolder& folder() const { return folder_; }

  /// Writes `arrays` as the input and runs `variant` on it.
  Ran operator()(const std::string& variant, const Arrays& arrays,
                 const std::vector<std::string>& more = {}) const {
    write_npz(input(), arrays);
    return on_input(variant, more);
  }

  /// Runs `variant` on the input that is there.
  Ran on_input(const std::string& variant, const std::vector<std::string>& more = {}) const {
    return palimpsest_with(command(variant, more));
  }

  /// What the last run wrote.
  Arrays result() const { return read_npz(output()).arrays; }

  /// The arrays that a run gives; requires that all goes well.
  Arrays results(const std::string& variant, const Arrays& arrays,
                 const std::vector<std::string>& more = {}) const {
    write_npz(input(), arrays);
    done(command(variant, more));
    return result();
  }

 private:
  /// The command; what the last one wrote goes.
  std::vector<std::string> command(const std::string& variant, const std::vector<std::string>& more) const {
    std::filesystem::remove(output());
    return joined({"run", variant, "--input", input(), "--output", output()}, more);
  }

  TemporaryFolder folder_;
};

}  // namespace palimpsest::testing
