#include "app/views/view.h"

namespace palimpsest {

namespace {

constexpr std::size_t column_count = 3;

struct HelpLine {
  std::string key;
  std::string words;
};

struct Group {
  std::string_view name;
  std::vector<HelpLine> rows;
};

/// What the mouse does; these are no commands, as they depend on the pointer's place.
std::vector<Group> mouse() {
  return {{"Mouse",
           {{"drag over the tokens", "move the cursor"},
            {"Ctrl+click on a token", "query the memory with it too"},
            {"wheel on the floor", "wider or narrower tokens"},
            {"wheel sideways", "earlier or later tokens"},
            {"drag the bar below it", "scroll through the tokens"},
            {"drag a slider", "change it"},
            {"double-click a slider", "reset it"},
            {"Ctrl+click a slider", "type a number"},
            {"drag between panels", "resize them"},
            {"rest on a symbol or a term", "what it is"},
            {"drop a file", "open it"}}},
          {"Mouse in Step",
           {{"click a number", "hold it: its arithmetic"},
            {"click a picture's name", "enlarge it"},
            {"click a line or tile", "go to that step"},
            {"wheel on the lines", "the next line, or the one before"},
            {"drag the foot of a tile", "animate its result"}}},
          {"Mouse in Learn",
           {{"drag the dot", "the step size of this token"},
            {"drag the bars", "paint strengths or half-lives"},
            {"Shift+drag the bars", "paint a ramp"},
            {"drag the singular values", "fewer Newton–Schulz steps"},
            {"drag the sphere", "rotate it"}}},
          {"Mouse in Attend",
           {{"wheel on the weights", "zoom"},
            {"drag the weights", "scroll"},
            {"click a row", "go to that token"}}},
          {"Mouse in Compare",
           {{"drag the handle", "change one symbol"},
            {"click a stop", "move the handle there"},
            {"click a side's name", "another rule or form"}}},
          {"Mouse in Verify",
           {{"click a sentence", "inject this fault, or remove it"},
            {"rest on a token's lines", "their numbers"},
            {"click a cell of the grid", "go to its worst case"}}}};
}

/// Whether a group belongs to a workspace other than the current one: "Compare", "Mouse in Compare".
bool is_elsewhere(std::string_view group, const Application& application) {
  return std::ranges::any_of(application.workspaces(), [&](const Workspace& workspace) {
    return &workspace != &application.workspace() && group.ends_with(workspace.name);
  });
}

std::vector<Group> groups(const Application& application) {
  std::vector<Group> all;
  for (const Command& command : application.commands()) {
    if (command.key == 0 || is_elsewhere(command.group, application)) continue;
    const bool is_new = all.empty() || all.back().name != command.group;
    if (!is_new && command.group == "Workspace") {  // their keys are numbers in a row
      HelpLine& line = all.back().rows.front();
      line = {line.key.substr(0, line.key.find(' ')) + " … " + key_name(command.key), "the workspaces"};
      continue;
    }
    if (is_new) all.push_back({command.group, {}});
    all.back().rows.push_back({key_name(command.key), command.words});
  }
  for (Group& group : mouse()) {
    if (!is_elsewhere(group.name, application)) all.push_back(std::move(group));
  }
  return all;
}

/// The groups in order, in columns of at most `most` lines.
std::vector<std::vector<Group>> columns_of(const std::vector<Group>& groups, std::size_t most) {
  std::vector<std::vector<Group>> all(1);
  std::size_t height = 0;
  for (const Group& group : groups) {
    const std::size_t lines = group.rows.size() + 2;  // with its name and a gap
    if (height > 0 && height + lines > most) {
      all.emplace_back();
      height = 0;
    }
    height += lines;
    all.back().push_back(group);
  }
  return all;
}

Node column_of(const std::vector<Group>& groups) {
  Nodes cells;
  for (const Group& group : groups) {
    if (&group != &groups.front()) {
      cells += scene::space(Gap::small);
      cells += scene::space(Gap::small);
    }
    cells += scene::caption(std::string(group.name));
    cells += scene::space(Gap::none);
    for (const HelpLine& row : group.rows) {
      cells += scene::key(row.key);
      cells += scene::line(row.words).named(row.key);
    }
  }
  return scene::grid(2, std::move(cells), Gap::near, Gap::hair);
}

}  // namespace

Node keys_help(Application& application, bool is_new) {
  if (!is_new && scene::is_pressed(find_command(application, "help.keys").key)) application.show_keys = false;
  const std::vector<Group> shown = groups(application);
  std::size_t most = 1;  // as low as possible
  while (columns_of(shown, most).size() > column_count) ++most;
  Nodes all;
  for (const std::vector<Group>& column : columns_of(shown, most)) all += column_of(column);
  return scene::column(
             {scene::line("Keys and mouse", style::Text::title), scene::top_row(std::move(all), Gap::far)},
             Gap::near)
      .named("keys");
}

}  // namespace palimpsest
