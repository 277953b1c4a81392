#pragma once

#include <fmt/ranges.h>
#include <filesystem>

#include "core/base/text.h"
#include "core/steps/trace.h"
#include "core/variants/variants.h"

namespace CLI {
class App;
}

// The options of commands, of which options.cpp alone includes CLI11: that takes seconds to compile. And what
// their texts mean.

namespace palimpsest {

struct WrittenRule;

struct GivenHow {
  bool required = false;
  bool by_commas = false;       // values separated by commas
  bool repeated = false;        // it may be given again
  bool one_at_a_time = false;   // one value each time
  const char* needs = nullptr;  // refused where this option is not given
};

/// A command of the command line: its options, and by their names what was given for them.
class CommandOptions {
 public:
  explicit CommandOptions(CLI::App& app) : app_(&app) {}

  /// An option; the help names its value if it is not given.
  void option(const char* name, const std::string& words, const char* standard = "",
              const GivenHow& how = {});
  /// One of several values.
  void list(const char* name, const std::string& words,
            const GivenHow& how = {.by_commas = true, .repeated = true});
  void number(const char* name, const std::string& words, double standard, double least, double most);
  void flag(const char* name, const std::string& words);

  bool gave(const std::string& name) const;
  std::string operator[](const std::string& name) const;
  std::optional<std::string> if_given(const std::string& name) const;
  const std::vector<std::string>& all(const std::string& name) const;
  double as_number(const std::string& name) const;
  bool is_set(const std::string& flag) const;

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

/// What parse_count() makes of each of `texts`.
std::vector<Index> parse_counts(const std::vector<std::string>& texts, std::string_view what, Index least,
                                Index most);

/// The texts in their order, each at its first place only.
std::vector<std::string> each_once(const std::vector<std::string>& texts);

/// What `parse` makes of each of the different texts; `otherwise` where there is none.
template <class Value, class Parse>
std::vector<Value> parsed(const std::vector<std::string>& texts, std::vector<Value> otherwise, Parse parse) {
  if (texts.empty()) return otherwise;
  return made_of(each_once(texts), parse);
}

/// Key and value channels side by side, from --dk and --dv, `most` at most: as many of each where one of the
/// two is left out. Throws InputError where they are not as many.
std::vector<std::pair<Index, Index>> parse_channels(const CommandOptions& options, Index most);

/// The finite number that all of `text` spells; throws InputError calling it `what`.
double parse_number(std::string_view text, std::string_view what);

/// "NAME=VALUE" for each option or parameter of `variant`. Values of options are checked by resolve().
Settings parse_settings(const Variant& variant, const std::vector<std::string>& assignments);

/// The names of forms or precisions: "recurrent, chunkwise, ...".
template <class Named>
std::string joined_names(const Named& values, std::string_view between = ", ") {
  const auto called = [](auto value) { return name(value); };
  return fmt::format("{}", fmt::join(values | std::views::transform(called), between));
}

/// The rule of a text in a file. Throws InputError, which names the file.
const WrittenRule& rule_in_file(const std::string& file);

/// The id of a variant as an option names it: by its id, or by a file of a rule's text, NAME.rule. Throws
/// InputError.
std::string variant_id(const std::string& given);

/// The form or the precision called `text`; throws InputError listing all.
Form parse_form(std::string_view text);
Precision parse_precision(std::string_view text);

/// The form called `text`, or none where that is `none`. Throws InputError listing all.
std::optional<Form> parse_form_or(std::string_view text, const char* none);

/// The variants, forms and precisions of a plan, where they are given. Throws InputError.
template <class Plan>
void choose_what(Plan& plan, const CommandOptions& options) {
  plan.variants = parsed(options.all("--variant"), plan.variants, variant_id);
  plan.forms = parsed(options.all("--form"), plan.forms, parse_form);
  plan.precisions = parsed(options.all("--precision"), plan.precisions, parse_precision);
}

/// The sizes of a plan, from parse_channels(). Returns whether any are given.
template <class Plan>
bool choose_sizes(Plan& plan, const CommandOptions& options, Index most) {
  const std::vector<std::pair<Index, Index>> channels = parse_channels(options, most);
  if (!channels.empty()) plan.sizes.clear();
  for (const auto& [dk, dv] : channels) plan.sizes.push_back({dk, dv});
  return !channels.empty();
}

/// ROW,COLUMN of --why; throws InputError with an `example`.
std::pair<Index, Index> parse_cell(const std::string& cell, const char* example = "");

/// Throws InputError where a file that `option` names is the `source`, a path or an id of data.
void require_other_file(const std::filesystem::path& file, const std::string& source,
                        const char* option = "--output");

/// "1280x800" as width and height of a picture in pixels; throws InputError unless both are from 16 to 8192.
std::pair<int, int> parse_size(const std::string& text);

/// A text as the data of a command: what it and its model are called by, and words for the help.
inline constexpr std::pair<const char*, const char*> text_options[] = {
    {"--text", "a text that a small language model reads: one of its heads is shown"},
    {"--model", "the model that reads it, as in say (default: delta_net)"},
    {"--layer", "its layer, counted from 0 (default: 2)"},
};

/// The data that --text asks for, with --head (usual: 2) and --do; nothing where it is not given. Throws
/// InputError, also for what belongs to a text and stands alone.
std::optional<std::string> text_data(const CommandOptions& options);

/// The cursor at an operation of a form. Throws InputError listing its operations where it has no such one.
Cursor cursor_at(Index token, std::string_view operation, const Trace& trace);

/// The one that --at asks for: TOKEN:OPERATION, or TOKEN, after its write. Throws the same.
Cursor cursor_at(std::string_view at, const Trace& trace);

}  // namespace palimpsest
