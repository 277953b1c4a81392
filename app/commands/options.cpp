#include "app/commands/options.h"

#include <CLI/CLI.hpp>

#include "app/session/first_place.h"
#include "app/session/typed_text.h"
#include "core/io/file.h"
#include "core/written/written_rule.h"

namespace palimpsest {

namespace {

void be_given(CLI::Option& option, const GivenHow& how) {
  if (how.required) option.required();
  if (how.by_commas) option.delimiter(',');
  if (how.repeated) option.take_all();
  if (how.one_at_a_time) option.allow_extra_args(false);
  if (how.needs) option.needs(how.needs);
}

/// A picture with such sides takes some twenty seconds and 1 GB; both grow with its area.
constexpr Index most_pixels_a_side = 8192;

constexpr auto own_name = [](auto value) { return name(value); };

template <class All, class Name>
auto parse_name(std::string_view text, const char* what, const All& all, Name name) {
  return find_row(all, text, name, fmt::format("there is no {} \"{}\"; expected one of", what, shown(text)));
}

}  // namespace

void CommandOptions::option(const char* name, const std::string& words, const char* standard,
                            const GivenHow& how) {
  be_given(*app_->add_option(name, words)->type_name("TEXT")->default_str(standard), how);
}

void CommandOptions::list(const char* name, const std::string& words, const GivenHow& how) {
  constexpr int any = CLI::detail::expected_max_vector_size;
  be_given(*app_->add_option(name, words)->type_name("TEXT")->expected(any), how);
}

void CommandOptions::number(const char* name, const std::string& words, double standard, double least,
                            double most) {
  app_->add_option(name, words)
      ->type_name("FLOAT")
      ->check(CLI::Range(least, most))
      ->default_str(CLI::detail::to_string(standard));
}

void CommandOptions::flag(const char* name, const std::string& words) { app_->add_flag(name, words); }

bool CommandOptions::gave(const std::string& name) const { return app_->get_option(name)->count() > 0; }

std::string CommandOptions::operator[](const std::string& name) const {
  return gave(name) ? all(name).front() : app_->get_option(name)->get_default_str();
}

std::optional<std::string> CommandOptions::if_given(const std::string& name) const {
  return gave(name) ? std::optional((*this)[name]) : std::nullopt;
}

const std::vector<std::string>& CommandOptions::all(const std::string& name) const {
  return app_->get_option(name)->results();
}

double CommandOptions::as_number(const std::string& name) const { return parse_number((*this)[name], name); }

bool CommandOptions::is_set(const std::string& flag) const {
  return gave(flag) && app_->get_option(flag)->as<bool>();
}

void CommandOptions::exclude(const char* option, const char* other) {
  app_->get_option(option)->excludes(other);
}

CommandOptions CommandOptions::subcommand(const std::string& name, const std::string& words) {
  app_->require_subcommand(0, 1);
  return CommandOptions(*app_->add_subcommand(name, words));
}

void CommandOptions::allow_extras() { app_->allow_extras(); }

bool CommandOptions::was_given() const { return app_->parsed(); }

bool CommandOptions::gave_subcommand() const { return !app_->get_subcommands().empty(); }

std::string CommandOptions::as_given() const {
  std::string words = app_->get_name();
  for (const CLI::Option* const option : std::as_const(*app_).get_options()) {
    if (option->count() == 0) continue;
    words += ' ' + option->get_name();
    if (option->get_items_expected_max() > 0) words += fmt::format(" {}", fmt::join(option->results(), ","));
  }
  return words;
}

std::vector<Index> parse_counts(const std::vector<std::string>& texts, std::string_view what, Index least,
                                Index most) {
  const auto count = [&](const std::string& text) -> Index { return parse_count(text, what, least, most); };
  return made_of(texts, count);
}

std::vector<std::string> each_once(const std::vector<std::string>& texts) {
  std::vector<std::string> once;
  for (const std::string& text : texts) {
    if (!is_among(text, once)) once.push_back(text);
  }
  return once;
}

std::vector<std::pair<Index, Index>> parse_channels(const CommandOptions& options, Index most) {
  const std::vector<std::string>& dk = options.all("--dk");
  const std::vector<std::string>& dv = options.all("--dv");
  const std::vector<Index> keys = parse_counts(dk.empty() ? dv : dk, dk.empty() ? "--dv" : "--dk", 1, most);
  const std::vector<Index> values = dv.empty() ? keys : parse_counts(dv, "--dv", 1, most);
  if (keys.size() != values.size())
    refuse("--dk has {} sizes and --dv {}; expected as many, they go together", keys.size(), values.size());
  std::vector<std::pair<Index, Index>> sizes;
  for (std::size_t i = 0; i < keys.size(); ++i) sizes.emplace_back(keys[i], values[i]);
  return sizes;
}

double parse_number(std::string_view text, std::string_view what) {
  const auto number = parse_all<double>(text);
  if (!number || !std::isfinite(*number))
    refuse("{} is \"{}\"; expected a number such as 0.5", what, shown(text));
  return *number;
}

Settings parse_settings(const Variant& variant, const std::vector<std::string>& assignments) {
  const std::vector<Parameter> parameters = all_parameters(variant);
  Settings settings;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      refuse("--param \"{}\": expected NAME=VALUE", shown(assignment));
    const std::string name = assignment.substr(0, equals);
    const std::string value = assignment.substr(equals + 1);
    if (settings.options.contains(name) || settings.parameters.contains(name))
      refuse("--param {} is given twice", shown(name));
    // An unknown name is kept as an option, so that resolve() lists what there is.
    if (!is_among(name, parameters, &Parameter::name)) {
      settings.options[name] = value;
    } else {
      settings.parameters[name] = parse_number(value, "--param " + name);
    }
  }
  return settings;
}

const WrittenRule& rule_in_file(const std::string& file) {
  const std::string text = read_text_file(file, most_rule_bytes);
  return *naming_input(file, [&] { return &written_rule(text); });
}

std::string variant_id(const std::string& given) {
  if (given.ends_with(".rule")) return rule_in_file(given).variant.id;
  return find_variant(given).id;
}

Form parse_form(std::string_view text) { return parse_name(text, "form", all_forms, own_name); }

std::optional<Form> parse_form_or(std::string_view text, const char* none) {
  std::vector<std::optional<Form>> all(std::begin(all_forms), std::end(all_forms));
  all.push_back({});
  return parse_name(text, "form", all, [&](std::optional<Form> form) { return form ? name(*form) : none; });
}

Precision parse_precision(std::string_view text) {
  return parse_name(text, "precision", all_precisions, own_name);
}

std::pair<Index, Index> parse_cell(const std::string& cell, const char* example) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string::npos) refuse("--why is \"{}\"; expected ROW,COLUMN{}", shown(cell), example);
  return {parse_count(cell.substr(0, comma), "the row of --why"),
          parse_count(cell.substr(comma + 1), "the column of --why")};
}

void require_other_file(const std::filesystem::path& file, const std::string& source, const char* option) {
  std::error_code absent;
  if (std::filesystem::equivalent(path_in_id(source), file, absent))
    refuse("{} is the input and would be lost; give another {}", file.string(), option);
}

std::pair<int, int> parse_size(const std::string& text) {
  const auto is_side = [](std::optional<int> side) {
    return side && *side >= 16 && *side <= most_pixels_a_side;
  };
  std::string_view rest = text;
  const auto width = parse_all<int>(take_until(rest, 'x'));
  const auto height = parse_all<int>(rest);
  if (is_side(width) && is_side(height)) return {*width, *height};
  refuse("--size is \"{}\"; expected WIDTHxHEIGHT from 16x16 to {}x{}", shown(text), most_pixels_a_side,
         most_pixels_a_side);
}

Cursor cursor_at(std::string_view at, const Trace& trace) {
  const std::size_t colon = at.find(':');
  const Index token = parse_count(at.substr(0, colon), "the token of --at", 0, trace.tokens - 1);
  return colon == std::string_view::npos ? after_write(trace, token)
                                         : cursor_at(token, at.substr(colon + 1), trace);
}

Cursor cursor_at(Index token, std::string_view operation, const Trace& trace) {
  std::vector<std::string_view> known;
  for (std::size_t phase = 0; phase < trace.phases.size(); ++phase) {
    const std::vector<Operation>& operations = trace.phases[phase].operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      known.emplace_back(operations[i].id);
      if (operations[i].id != operation) continue;
      const Index block = trace.block_of(token, static_cast<Index>(phase));
      return {block, static_cast<Index>(i), token - trace.block(block).first_token};
    }
  }
  refuse("--at: there is no operation \"{}\"; this form has: {}", shown(operation), fmt::join(known, ", "));
}

std::optional<std::string> text_data(const CommandOptions& options) {
  const std::vector<std::string>& interventions = options.all("--do");
  if (!options.gave("--text")) {
    for (const char* const other : {"--model", "--layer"}) {
      if (options.gave(other)) refuse("{} belongs to a text: give --text, too", other);
    }
    if (!interventions.empty()) refuse("--do changes what a model reads: give --text, too");
    return std::nullopt;
  }
  TypedText typed = usual_text();
  typed.text = options["--text"];
  if (options.gave("--model")) typed.model = options["--model"];
  if (options.gave("--layer")) typed.layer = parse_count(options["--layer"], "--layer");
  if (options.gave("--head")) typed.head = parse_count(options["--head"], "--head");
  for (const std::string& each : interventions) typed.interventions.push_back(parse_intervention(each));
  return text_id(typed);
}

}  // namespace palimpsest
