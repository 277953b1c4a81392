#include "tests/core/rooms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

namespace palimpsest::testing {

namespace {

/// The innermost room that `path` lies in; null if none.
const Room* room_of(const std::vector<Room>& table, std::string_view path) {
  const Room* innermost = nullptr;
  for (const Room& room : table) {
    if (path.starts_with(room.folder + "/") &&
        (innermost == nullptr || room.folder.size() > innermost->folder.size()))
      innermost = &room;
  }
  return innermost;
}

std::vector<std::string> includes_of(const std::string& text) {
  static const std::regex include(R"re(#include "((core|kernels|app)/[^"]+)")re");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

using Arrows = std::map<std::string, std::set<std::string>>;

Arrows arrows(const std::vector<Room>& table, const std::vector<SourceFile>& sources) {
  Arrows found;
  for (const SourceFile& source : sources) {
    const Room* from = room_of(table, source.path);
    for (const std::string& included : includes_of(source.text)) {
      const Room* to = room_of(table, included);
      if (from != nullptr && to != nullptr && from != to) found[from->folder].insert(to->folder);
    }
  }
  return found;
}

/// Whether there is a way from one room to another of at least `steps` arrows.
bool leads(const Arrows& arrows, const std::string& from, const std::string& to, int steps) {
  const auto next = arrows.find(from);
  if (next == arrows.end()) return false;
  return std::ranges::any_of(next->second, [&](const std::string& room) {
    return (room == to && steps <= 1) || leads(arrows, room, to, steps - 1);
  });
}

}  // namespace

std::vector<std::string> wrong_arrows(const std::vector<Room>& table,
                                      const std::vector<SourceFile>& sources) {
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (const std::string& used : table[i].uses) {
      const auto at = std::ranges::find(table, used, &Room::folder) - table.begin();
      if (static_cast<std::size_t>(at) >= i)
        wrong.push_back(fmt::format("{} may use {}, which does not stand before it", table[i].folder, used));
    }
  }
  for (const SourceFile& source : sources) {
    const Room* from = room_of(table, source.path);
    if (from == nullptr) {
      wrong.push_back(source.path + " stands in no room");
      continue;
    }
    for (const std::string& included : includes_of(source.text)) {
      const Room* to = room_of(table, included);
      if (to == nullptr) {
        wrong.push_back(fmt::format("{} includes {}, which stands in no room", source.path, included));
      } else if (to != from && std::ranges::find(from->uses, to->folder) == from->uses.end()) {
        wrong.push_back(fmt::format("{} includes {}: {} may not use {}", source.path, included, from->folder,
                                    to->folder));
      }
    }
  }
  return wrong;
}

std::vector<std::string> hidden_arrows(const std::vector<Room>& table,
                                       const std::vector<SourceFile>& sources) {
  std::map<std::string, std::set<std::string>> headers;  // by the functions that they declare
  for (const SourceFile& source : sources) {
    if (!source.path.ends_with("h")) continue;
    const FunctionNames found = function_names(source.text);
    for (const auto* names : {&found.declared, &found.defined})
      for (const std::string& name : *names) headers[name].insert(source.path);
  }
  std::vector<std::string> hidden;
  for (const SourceFile& source : sources) {
    if (source.path.ends_with("h")) continue;
    for (const std::string& name : function_names(source.text).defined) {
      const auto declared = headers.find(name);
      if (declared == headers.end()) continue;
      const bool is_own = std::ranges::any_of(declared->second, [&](const std::string& header) {
        return room_of(table, header) == room_of(table, source.path);
      });
      if (!is_own)
        hidden.push_back(
            fmt::format("{}: declared in {}, defined in {}", name, *declared->second.begin(), source.path));
    }
  }
  return hidden;
}

std::string rooms_page(const std::vector<Room>& table, const std::vector<SourceFile>& sources) {
  const Arrows all = arrows(table, sources);
  std::string page =
      "# The rooms\n\n"
      "Every folder of sources is a room with one idea. A room includes headers only from rooms that stand "
      "before it,\n"
      "and only from those that its row in `tests/core/rooms_table.cpp` allows; `tests/core/house_test.cpp` "
      "reads the\n"
      "includes. The drawing is made from them too (`PALIMPSEST_WRITE_DOCS=1 build/tests_core \"[rooms]\"` "
      "draws it anew);\n"
      "an arrow that goes by way of another room as well is left out.\n\n"
      "```mermaid\nflowchart BT\n";
  const auto id = [](std::string folder) {
    std::ranges::replace(folder, '/', '_');
    return folder;
  };
  for (const Room& room : table) page += fmt::format("  {}[{}]\n", id(room.folder), room.folder);
  for (const Room& room : table) {
    const auto found = all.find(room.folder);
    if (found == all.end()) continue;
    for (const std::string& used : found->second) {
      if (!leads(all, room.folder, used, 2)) page += fmt::format("  {} --> {}\n", id(room.folder), id(used));
    }
  }
  page += "```\n\n| room | what stands there |\n| --- | --- |\n";
  for (const Room& room : table) page += fmt::format("| `{}` | {} |\n", room.folder, room.words);
  return page;
}

}  // namespace palimpsest::testing
