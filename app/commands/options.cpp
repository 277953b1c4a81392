#include "app/commands/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <utility>

namespace palimpsest {

namespace {

void be_given(CLI::Option& option, const GivenHow& how) {
  if (how.required) option.required();
  if (how.by_commas) option.delimiter(',');
  if (how.repeated) option.take_all();
  if (how.one_at_a_time) option.allow_extra_args(false);
  if (how.needs) option.needs(how.needs);
}

}  // namespace

void CommandOptions::option(const std::string& name, std::string& value, const std::string& words,
                            const GivenHow& how) {
  be_given(*app_->add_option(name, value, words)->capture_default_str(), how);
}

void CommandOptions::option(const std::string& name, std::optional<std::string>& value,
                            const std::string& words) {
  app_->add_option_function<std::string>(
      name, [&value](const std::string& text) { value = text; }, words);
}

void CommandOptions::option(const std::string& name, std::vector<std::string>& values,
                            const std::string& words, const GivenHow& how) {
  be_given(*app_->add_option(name, values, words), how);
}

void CommandOptions::option(const std::string& name, double& value, double least, double most,
                            const std::string& words) {
  app_->add_option(name, value, words)->check(CLI::Range(least, most))->capture_default_str();
}

void CommandOptions::flag(const std::string& name, bool& value, const std::string& words) {
  app_->add_flag(name, value, words);
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

}  // namespace palimpsest
