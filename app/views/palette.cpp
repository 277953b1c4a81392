#include <algorithm>
#include <string>
#include <vector>

#include "app/gl/context_local.h"
#include "app/scene/window.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/views/commands_here.h"
#include "app/views/found_list.h"
#include "app/views/panels.h"

namespace palimpsest {

namespace {

using scene::Node;

constexpr std::size_t most_remembered = 8;

struct PaletteState {
  FoundList list;
  std::vector<Command> here = {};  // what is found in what is open
  std::string looked_for = {};     // and by which words
};

/// Its group, its words, why it cannot be done now, its key.
Node words_of(const Command& command, const std::string& reason) {
  return scene::row({scene::caption(command.group).fixed(72),
                     scene::line(command.words, style::Text::body, reason.empty() ? 0 : scene::dim_ink),
                     scene::note(reason).filling(), scene::tag(key_name(command.key))});
}

/// Why the chosen command cannot be done, or what it does; else how to choose another.
std::string explained(const Command* command, const Application& application) {
  if (command) {
    if (std::string reason = why_not(*command, application); !reason.empty()) return reason;
    if (!command->explained.empty()) return command->explained;
  }
  return "↑ and ↓ choose, Enter does it, Esc closes.";
}

void remember(std::vector<std::string>& recent, const std::string& id) {
  std::erase(recent, id);
  recent.insert(recent.begin(), id);
  recent.resize(std::min(recent.size(), most_remembered));
}

/// The line to type in, the commands that have these words, what is said of the chosen one. `wanted` becomes
/// what is to be done.
Node content(Application& application, PaletteState& palette, const Command*& wanted) {
  FoundList& list = palette.list;
  if (palette.looked_for != list.filter.typed) {
    palette.here = commands_here(application, list.filter.typed);
    palette.looked_for = list.filter.typed;
  }
  const auto found = search({application.commands(), palette.here}, list.filter.typed,
                            application.recent_commands, more_words);
  std::vector<std::string> ids;
  for (const Command* command : found) ids.push_back(command->id);
  list.follow(ids, false);
  const auto want = [&wanted, &application](const Command& command) {
    if (!why_not(command, application).empty()) return;  // its reason is in sight
    wanted = &command;
    application.show_palette = false;
  };
  scene::Nodes rows;
  const Command* chosen = nullptr;
  for (const Command* command : found) {
    if (command->id == list.at) chosen = command;
    rows.push_back(list.row(command->id, words_of(*command, why_not(*command, application)),
                            [want, command] { want(*command); })
                       .when_pointed([&list, id = command->id] {
                         if (scene::pointer_moves()) list.at = id;
                       }));
  }
  if (found.empty()) rows.push_back(scene::caption("Nothing has these words."));
  return scene::column({Node{scene::Filter{.box = &list.filter,
                                           .hint = "What is to be done, or found?",
                                           .entered =
                                               [want, chosen] {
                                                 if (chosen) want(*chosen);
                                               },
                                           .keeps_keyboard = true}}
                            .named("typed"),
                        scene::scroll("list", scene::column(std::move(rows), scene::Gap::none)).filling(),
                        scene::framed(scene::caption(explained(chosen, application)), scene::Gap::near,
                                      scene::Gap::none)
                            .fixed(36)},
                       scene::Gap::near)
      .named("commands");
}

}  // namespace

void draw_palette(Application& application) {
  auto& palette = context_local<PaletteState>();
  const Command* wanted = nullptr;
  scene::show_card({.name = "Commands", .widest = 680, .highest = 446, .beside = 96, .on_top = true},
                   application.show_palette, [&](bool is_new) {
                     if (is_new)
                       palette = {};
                     else if (scene::is_pressed(find_command(application, "help.commands").key))
                       application.show_palette = false;
                     return content(application, palette, wanted);
                   });
  if (!wanted) return;
  remember(application.recent_commands, wanted->id);
  perform(*wanted, application);
}

}  // namespace palimpsest
