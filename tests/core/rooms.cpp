#include "tests/core/rooms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

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

/// `line` without what stands in < >.
std::string without_templates(std::string_view line) {
  std::string plain;
  int depth = 0;
  for (const char c : line) {
    if (c == '<') ++depth;
    if (depth == 0) plain += c;
    if (c == '>' && depth > 0) --depth;
  }
  return plain;
}

/// Whether the function whose arguments begin in `text` has its body here.
bool has_body(std::string_view text) {
  std::size_t end = text.find('(');
  for (int depth = 0; end < text.size(); ++end) {
    if (text[end] == '(' || text[end] == '{') ++depth;
    if ((text[end] == ')' || text[end] == '}') && --depth == 0) break;
  }
  const std::string_view rest = text.substr(std::min(end, text.size()));
  const std::size_t next = rest.find_first_of("{;");
  return next != rest.npos && (rest[next] == '{' || rest.substr(0, next).ends_with("= default"));
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

std::vector<SourceFile> sources_below(const std::filesystem::path& root,
                                      const std::vector<std::string>& folders) {
  static constexpr std::string_view endings[] = {".h", ".cpp", ".cu", ".cuh"};
  std::vector<SourceFile> sources;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (std::ranges::find(endings, entry.path().extension().string()) == std::end(endings)) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      sources.push_back(
          {entry.path().lexically_relative(root).string(), {std::istreambuf_iterator<char>(stream), {}}});
    }
  }
  return sources;
}

Definitions::Definitions(std::string_view source) {
  static const std::regex space(R"((?:inline )?namespace ?([\w:]*) ?\{)");
  static const std::regex type(R"((?:struct|class|union|enum class|enum) (?:\[\[.*?\]\] |alignas\(.*?\) )?)"
                               R"((\w[\w:<>]*)(?: final)?(?: :[^:].*)? \{.*)");
  static const std::regex alias(R"(using (\w+) =.*)");
  static const std::regex function(R"re((?:[^=("]*[ *&])?([A-Za-z_][\w:]*)\(.*)re");
  std::vector<std::string> spaces;
  for (; !source.empty(); source.remove_prefix(std::min(source.find('\n'), source.size() - 1) + 1)) {
    const std::string line(source.substr(0, source.find('\n')));
    if (line.starts_with("}  // namespace") && !spaces.empty()) spaces.pop_back();
    if (line.empty() || std::isalpha(static_cast<unsigned char>(line[0])) == 0) continue;
    std::smatch match;
    if (std::regex_match(line, match, space)) spaces.push_back(match[1].str() + "::");
    if (std::ranges::find(spaces, "::") != spaces.end()) continue;
    const std::string inside = fmt::format("{}", fmt::join(spaces, ""));
    const std::string plain = without_templates(line);
    if (std::regex_match(line, match, type) || std::regex_match(line, match, alias))
      types.push_back(inside + match[1].str());
    else if (!line.starts_with("static ") &&
             plain.substr(0, plain.find('(')).find("operator") == plain.npos &&
             std::regex_match(plain, match, function))
      (has_body(source) ? defined : declared).push_back(inside + match[1].str());
  }
}

std::vector<std::string> types_defined_twice(const std::vector<SourceFile>& sources) {
  std::map<std::string, std::vector<std::string>> places;
  for (const SourceFile& source : sources)
    for (const std::string& name : Definitions(source.text).types) places[name].push_back(source.path);
  std::vector<std::string> twice;
  for (const auto& [name, paths] : places)
    if (paths.size() > 1) twice.push_back(fmt::format("{}: {}", name, fmt::join(paths, ", ")));
  return twice;
}

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
  std::map<std::string, std::set<std::string>> headers;  // by what they declare
  for (const SourceFile& source : sources) {
    if (!source.path.ends_with("h")) continue;
    const Definitions found(source.text);
    for (const auto* names : {&found.types, &found.declared, &found.defined})
      for (const std::string& name : *names) headers[name].insert(source.path);
  }
  std::vector<std::string> hidden;
  for (const SourceFile& source : sources) {
    if (source.path.ends_with("h")) continue;
    for (const std::string& name : Definitions(source.text).defined) {
      auto declared = headers.find(name);
      if (declared == headers.end()) declared = headers.find(name.substr(0, name.rfind("::")));  // a member
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
      "Every folder of sources is a room with one idea. A room includes headers only from rooms listed "
      "before it,\n"
      "and only from those that its row in `tests/core/rooms_table.cpp` allows; `tests/core/house_test.cpp` "
      "reads the\n"
      "includes. The drawing is made from them too (`PALIMPSEST_WRITE_DOCS=1 build/tests_core \"[rooms]\"` "
      "redraws it);\n"
      "an arrow to a room that is also reached through another room is omitted.\n\n"
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
  page += "```\n\n| room | what it contains |\n| --- | --- |\n";
  for (const Room& room : table) page += fmt::format("| `{}` | {} |\n", room.folder, room.words);
  return page;
}

}  // namespace palimpsest::testing
