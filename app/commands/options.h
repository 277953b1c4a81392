#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

// The options of commands, of which options.cpp alone includes CLI11: that takes seconds to compile.

namespace palimpsest {

/// How an option is given.
struct GivenHow {
  bool required = false;
  bool by_commas = false;       // values separated by commas
  bool repeated = false;        // it may be given again
  bool one_at_a_time = false;   // one value each time
  const char* needs = nullptr;  // refused where this option is not given
};

/// A command of the command line. What it holds lives as long as the parser.
class CommandOptions {
 public:
  explicit CommandOptions(CLI::App& app) : app_(&app) {}

  /// An option; the help tells what stands in `value` as its default.
  void option(const std::string& name, std::string& value, const std::string& words,
              const GivenHow& how = {});
  void option(const std::string& name, std::optional<std::string>& value, const std::string& words);
  void option(const std::string& name, std::vector<std::string>& values, const std::string& words,
              const GivenHow& how = {.by_commas = true, .repeated = true});
  /// A number from `least` to `most`.
  void option(const std::string& name, double& value, double least, double most, const std::string& words);
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
