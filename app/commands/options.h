#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The options of commands, of which options.cpp alone includes CLI11: that takes seconds to compile.

namespace palimpsest {

/// An option, to say more of it.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option& option) : option_(option) {}

  CommandOption& required();
  CommandOption& separated_by_commas();
  CommandOption& may_be_repeated();
  /// Takes one value each time it is given.
  CommandOption& one_at_a_time();
  /// Is refused where the option `other` is not given.
  CommandOption& needs(const char* other);

 private:
  CLI::Option& option_;
};

/// A command of the command line. What it holds lives as long as the parser.
class CommandOptions {
 public:
  explicit CommandOptions(CLI::App& app) : app_(&app) {}

  /// An option; the help tells what stands in `value` as its default.
  CommandOption option(const std::string& name, std::string& value, const std::string& words);
  CommandOption option(const std::string& name, std::optional<std::string>& value, const std::string& words);
  CommandOption option(const std::string& name, std::vector<std::string>& values, const std::string& words);
  /// A number from `least` to `most`.
  CommandOption option(const std::string& name, double& value, double least, double most,
                       const std::string& words);
  void flag(const std::string& name, bool& value, const std::string& words);

  /// Refuses the two together.
  void exclude(const char* option, const char* other);

  /// A command below this one, of which one may be given.
  CommandOptions subcommand(const std::string& name, const std::string& words);

  /// Takes whatever stands behind it.
  void allow_extras();

  bool was_given() const;
  bool gave_subcommand() const;

  /// Itself and its options as they were given: "bench --form chunkwise,parallel".
  std::string as_given() const;

 private:
  CLI::App* app_;
};

}  // namespace palimpsest
