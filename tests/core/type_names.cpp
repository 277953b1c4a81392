#include "tests/core/type_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

namespace palimpsest::testing {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Where a literal or raw literal at the begin of `text` ends; 0 if there is none. A quote in a number
/// separates its digits.
std::size_t literal_length(std::string_view text, std::string_view before) {
  if (text.starts_with("R\"")) {
    const std::size_t bracket = text.find('(');
    const std::string end = ")" + std::string(text.substr(2, bracket - 2)) + "\"";
    return text.find(end, bracket) + end.size();
  }
  while (before.size() > 1 && is_word(before[before.size() - 2])) before.remove_suffix(1);
  const bool is_in_number = !before.empty() && std::isdigit(static_cast<unsigned char>(before.back())) != 0;
  if (text.front() != '"' && (text.front() != '\'' || is_in_number)) return 0;
  std::size_t end = 1;
  while (end < text.size() && text[end] != text.front()) end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

/// How much of `text` is a comment or, at the begin of a line, for the preprocessor.
std::size_t unread_length(std::string_view text, bool begins_line) {
  if (text.starts_with("/*")) return text.find("*/", 2) + 2;
  if (text.starts_with("//")) return std::min(text.find('\n'), text.size());
  if (text.front() != '#' || !begins_line) return 0;
  std::size_t end = text.find('\n');
  while (end < text.size() && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

/// A source without comments, literals and lines of the preprocessor, with one space where there are some.
std::string bare(std::string_view text) {
  std::string code;
  bool begins_line = true;
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = unread_length(text, begins_line);
    if (length == 0) length = literal_length(text, code);
    if (length == 0) {
      const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (!is_space || (!code.empty() && code.back() != ' ')) code += is_space ? ' ' : c;
      begins_line = c == '\n' || (begins_line && is_space);
      length = 1;
    }
    text.remove_prefix(std::min(length, text.size()));
  }
  return code;
}

/// The name of the type whose body follows `head`; empty if the body is of something else.
std::string type_of(const std::string& head) {
  static const std::regex type(
      R"re((?:^|.*[ >])(?:struct|class|union|enum(?: class| struct)?) )re"
      R"re((?:(?:\[\[.*?\]\]|alignas\(.*?\)) )*((?:[\w:]|<.*?>)*\w(?:<.*?>)?)(?: final)?(?: ?:[^:].*)? ?)re");
  if (head.find("struct ") == head.npos && head.find("class ") == head.npos &&
      head.find("union ") == head.npos && head.find("enum ") == head.npos)
    return {};
  std::smatch match;
  return std::regex_match(head, match, type) ? match[1].str() : std::string();
}

/// The alias that a statement defines; empty if it is another statement.
std::string alias_of(const std::string& statement) {
  static const std::regex alias(R"re((?:template ?<.*> ?)?using (\w+) ?(?:\[\[.*\]\] ?)?=.*)re");
  std::smatch match;
  const bool may_be = statement.find("using ") != statement.npos;
  return may_be && std::regex_match(statement, match, alias) ? match[1].str() : std::string();
}

/// The function that a statement declares or whose body follows it, "Rule::cost"; empty if it is none.
std::string function_of(const std::string& statement) {
  std::string plain;  // without what stands in < >
  int depth = 0;
  for (const char c : statement) {
    if (c == '<') ++depth;
    if (depth == 0) plain += c;
    if (c == '>') --depth;
  }
  const std::size_t end = plain.find('(');
  if (end == plain.npos || plain.find('=') < end || plain.find("operator") != plain.npos) return {};
  std::size_t begin = end;
  while (begin > 0 && (is_word(plain[begin - 1]) || plain[begin - 1] == ':')) --begin;
  return plain.substr(begin, end - begin);
}

struct Scope {
  std::string name;
  bool is_local;
};

/// Follows the braces of a source and notes what is defined between them, local to its file or not.
struct Definitions {
  std::vector<std::string> types;
  FunctionNames functions;
  std::vector<Scope> scopes;

  explicit Definitions(std::string_view source) {
    std::string statement;
    for (const char c : bare(source)) {
      if (c != '{' && c != '}' && c != ';') {
        if (c != ' ' || !statement.empty()) statement += c;
        if (statement == "public:" || statement == "private:" || statement == "protected:") statement.clear();
        continue;
      }
      if (statement.ends_with(' ')) statement.pop_back();
      if (c == '{') open(statement);
      if (c == '}' && !scopes.empty()) scopes.pop_back();
      if (c == ';') {
        note(alias_of(statement), types);
        note(function_of(statement), functions.declared);
      }
      statement.clear();
    }
  }

  void open(const std::string& head) {
    constexpr std::string_view space = "namespace";
    if (const std::size_t found = head.find(space); found != head.npos) {
      const std::size_t name = std::min(found + space.size() + 1, head.size());
      scopes.push_back({head.substr(name), name == head.size()});
    } else if (const std::string type = type_of(head); !type.empty()) {
      note(type, types);
      scopes.push_back({type, false});
    } else {
      note(function_of(head), functions.defined);
      scopes.push_back({"", head != "extern"});
    }
  }

  void note(const std::string& name, std::vector<std::string>& names) {
    if (name.empty() || std::ranges::any_of(scopes, &Scope::is_local)) return;
    std::string full;
    for (const Scope& scope : scopes) full += scope.name.empty() ? "" : scope.name + "::";
    names.push_back(full + name);
  }
};

}  // namespace

std::vector<std::string> type_names(std::string_view source) { return Definitions(source).types; }

FunctionNames function_names(std::string_view source) { return Definitions(source).functions; }

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

std::vector<std::string> types_defined_twice(const std::vector<SourceFile>& sources) {
  std::map<std::string, std::vector<std::string>> places;
  for (const SourceFile& source : sources)
    for (const std::string& name : type_names(source.text)) places[name].push_back(source.path);
  std::vector<std::string> twice;
  for (const auto& [name, paths] : places) {
    if (paths.size() < 2) continue;
    std::string line = name + ": " + paths.front();
    for (std::size_t i = 1; i < paths.size(); ++i) line += ", " + paths[i];
    twice.push_back(line);
  }
  return twice;
}

}  // namespace palimpsest::testing
