#include "app/commands/info.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "app/commands/commands.h"

namespace palimpsest {

Task add_info(CLI::App& command, Console console) {
  struct Options {
    std::optional<std::string> variant;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  command.add_option("VARIANT", options->variant, "Tell everything about this variant");
  command.add_flag("--json", options->json, "Write JSON for programs");
  return [options, console]() -> int {
    if (!options->variant) {
      console.out << (options->json ? overview_json() : overview_text());
    } else {
      const Variant& variant = find_variant(*options->variant);
      console.out << (options->json ? variant_json(variant) : variant_text(variant));
    }
    return exit_done;
  };
}

}  // namespace palimpsest
