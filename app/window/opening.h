#pragma once

#include "app/commands/options.h"
#include "app/studio/application.h"

namespace palimpsest {

/// What a start is told, by a command line or a link.
struct Look {
  std::map<std::string, std::string, std::less<>> given = {};  // by the option, such as "--variant"
  std::vector<std::string> races = {};                         // reports of bench
  std::string first = {};  // data that a first start opens; empty: the first text

  const std::string* operator[](std::string_view name) const { return value_at(given, name); }
};

/// Lets a command take all that a Look has.
void add_look(CommandOptions& command);

/// What a command was told. Throws InputError.
Look look_of(const CommandOptions& command);

/// Whether nothing was asked for that says what is to be seen.
bool asks_for_nothing(const Look& look);

/// Whether what is opened has a theme and a level of its own.
bool has_own_looks(const Look& look);

/// The size of everything that was asked for, else `standard`. Throws InputError.
float scale_of(const Look& look, float standard);

/// Throws the session's message as an InputError where something did not work; or where there is one.
void require(bool good, const Session& session);
void require_no_problem(const Session& session);

/// Sets the theme, the level, the reports and the workspace. Throws InputError.
void dress(Application& application, const Look& look);

/// Opens what was asked for; the first text if nothing was. Waits until its place can be seen, not until its
/// forms are compared. Throws InputError or Unsupported.
void prepare(Application& application, const Look& look);

}  // namespace palimpsest
