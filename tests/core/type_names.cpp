#include "tests/core/type_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>

namespace palimpsest::testing {

namespace {

using Tokens = std::vector<std::string_view>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_word(std::string_view token) { return !token.empty() && is_word(token.front()); }

/// Cuts a source into words, "::" and single signs; drops comments and lines of the preprocessor, and leaves
/// an empty token for each literal in quotes.
class Reader {
 public:
  explicit Reader(std::string_view source) : rest_(source) {}

  Tokens tokens() {
    Tokens all;
    while (!rest_.empty()) {
      if (rest_.starts_with('\n')) {
        line_begins_ = true;
        rest_.remove_prefix(1);
      } else if (std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
        rest_.remove_prefix(1);
      } else if (rest_.starts_with("//")) {
        drop_until("\n", 0);
      } else if (rest_.starts_with("/*")) {
        drop_until("*/", 2);
      } else if (rest_.starts_with('#') && line_begins_) {
        drop_directive();
      } else {
        line_begins_ = false;
        all.push_back(token());
      }
    }
    return all;
  }

 private:
  void drop_until(std::string_view end, std::size_t and_so_many) {
    rest_.remove_prefix(std::min(rest_.size(), rest_.find(end, and_so_many)));
    if (end != "\n") rest_.remove_prefix(std::min(rest_.size(), end.size()));
  }

  /// Up to the end of the line that no backslash continues.
  void drop_directive() {
    bool goes_on = true;
    while (goes_on) {
      const std::size_t end = std::min(rest_.size(), rest_.find('\n'));
      goes_on = end > 0 && end < rest_.size() && rest_[end - 1] == '\\';
      rest_.remove_prefix(goes_on ? end + 1 : end);
    }
  }

  std::string_view token() {
    if (rest_.starts_with("R\"")) {
      const std::size_t bracket = rest_.find('(');
      const std::string end = ")" + std::string(rest_.substr(2, bracket - 2)) + "\"";
      drop_until(end, bracket);
      return {};
    }
    if (rest_.front() == '"' || rest_.front() == '\'') return literal(rest_.front());
    std::size_t length = rest_.starts_with("::") ? 2 : 1;
    // A quote inside a number separates its digits.
    const bool is_number = std::isdigit(static_cast<unsigned char>(rest_.front())) != 0;
    while (is_word(rest_.front()) && length < rest_.size() &&
           (is_word(rest_[length]) || (is_number && rest_[length] == '\'')))
      ++length;
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return found;
  }

  std::string_view literal(char quote) {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != quote) end += rest_[end] == '\\' ? 2 : 1;
    rest_.remove_prefix(std::min(rest_.size(), end + 1));
    return {};
  }

  std::string_view rest_;
  bool line_begins_ = true;
};

/// How deep in brackets one is.
class Depth {
 public:
  void pass(std::string_view token) {
    if (token == "<" || token == "(" || token == "[") ++depth_;
    if (token == ">" || token == ")" || token == "]") --depth_;
  }
  bool is_outside() const { return depth_ <= 0; }

 private:
  int depth_ = 0;
};

using Statement = std::span<const std::string_view>;

/// What follows the first of `words` that stands outside of all brackets; empty if none does.
Statement after_any(Statement statement, std::initializer_list<std::string_view> words) {
  Depth depth;
  for (std::size_t i = 0; i < statement.size(); ++i) {
    if (depth.is_outside() && std::ranges::find(words, statement[i]) != words.end())
      return statement.subspan(i + 1);
    depth.pass(statement[i]);
  }
  return {};
}

/// Without attributes and alignas at its beginning.
Statement without_attributes(Statement statement) {
  while (!statement.empty() && (statement.front() == "[" || statement.front() == "alignas")) {
    const std::string_view end = statement.front() == "[" ? "]" : ")";
    const auto last = std::ranges::find(statement, end);
    statement = statement.subspan(
        std::min<std::size_t>(static_cast<std::size_t>(last - statement.begin()) + 1, statement.size()));
    if (!statement.empty() && statement.front() == end) statement = statement.subspan(1);
  }
  return statement;
}

/// The name of the type whose body follows `head`; nothing if the body is of something else or of a type
/// without a name.
std::optional<std::string> defined_by(Statement head) {
  Statement rest = after_any(head, {"struct", "class", "union", "enum"});
  if (!rest.empty() && (rest.front() == "class" || rest.front() == "struct")) rest = rest.subspan(1);
  rest = without_attributes(rest);
  std::string name;
  Depth depth;
  bool after_word = false;
  for (const std::string_view token : rest) {
    if (depth.is_outside()) {
      if (token == ":" || token == "final") break;
      // A function that returns such a type, or a variable of it.
      if (token == "(" || token == "=" || (after_word && is_word(token))) return std::nullopt;
    }
    after_word = is_word(token);
    depth.pass(token);
    name += token;
  }
  if (name.empty()) return std::nullopt;
  return name;
}

/// "a::b" of the namespace whose body follows `head`; empty if it has no name.
std::string namespace_of(Statement head) {
  std::string name;
  for (const std::string_view token : without_attributes(after_any(head, {"namespace"}))) name += token;
  return name;
}

/// The alias that a statement defines; empty if it is another statement.
std::string alias_of(Statement statement) {
  const Statement rest = after_any(statement, {"using"});
  const bool is_alias = rest.size() > 2 && (rest[1] == "=" || rest[1] == "[");
  return is_alias ? std::string(rest.front()) : std::string();
}

/// The function that a statement declares or whose body follows it, "Rule::cost"; empty if it is none.
std::string function_of(Statement statement) {
  if (std::ranges::find(statement, "operator") != statement.end()) return {};
  Depth depth;
  std::size_t end = 0;
  while (end < statement.size() && !(depth.is_outside() && statement[end] == "(")) {
    if (depth.is_outside() && statement[end] == "=") return {};
    depth.pass(statement[end++]);
  }
  if (end == statement.size()) return {};
  std::size_t begin = end;
  while (begin > 0 && (begin == end ? is_word(statement[begin - 1])
                                    : (statement[begin - 1] == "::") != (statement[begin] == "::") &&
                                          (statement[begin - 1] == "::" || statement[begin] == "::")))
    --begin;
  std::string name;
  for (const std::string_view token : statement.subspan(begin, end - begin)) name += token;
  return name;
}

bool is_namespace(Statement head) { return std::ranges::find(head, "namespace") != head.end(); }

/// Follows the braces of a source and notes what is defined between them.
class Definitions {
 public:
  std::vector<std::string> of(const Tokens& tokens) {
    for (const std::string_view token : tokens) {
      if (token == "{") {
        open();
      } else if (token == "}") {
        if (!scopes_.empty()) scopes_.pop_back();
      } else if (token == ";") {
        note(alias_of(statement_), names_);
        note(function_of(statement_), functions_.declared);
      } else {
        statement_.push_back(token);
        continue;
      }
      statement_.clear();
    }
    return std::move(names_);
  }

  FunctionNames functions(const Tokens& tokens) {
    of(tokens);
    return std::move(functions_);
  }

 private:
  void open() {
    if (is_namespace(statement_)) {
      const std::string name = namespace_of(statement_);
      scopes_.push_back({name, name.empty()});
    } else if (const std::optional<std::string> type = defined_by(statement_)) {
      note(*type, names_);
      scopes_.push_back({*type, false});
    } else {
      note(function_of(statement_), functions_.defined);
      const bool only_linkage = !statement_.empty() && statement_.front() == "extern";
      scopes_.push_back({"", !only_linkage});
    }
  }

  void note(const std::string& name, std::vector<std::string>& names) {
    if (name.empty() || std::ranges::any_of(scopes_, &Scope::is_local)) return;
    std::string full;
    for (const Scope& scope : scopes_) full += scope.name.empty() ? "" : scope.name + "::";
    names.push_back(full + name);
  }

  struct Scope {
    std::string name;
    bool is_local;
  };
  std::vector<Scope> scopes_;
  Tokens statement_;
  std::vector<std::string> names_;
  FunctionNames functions_;
};

}  // namespace

std::vector<std::string> type_names(std::string_view source) {
  return Definitions().of(Reader(source).tokens());
}

FunctionNames function_names(std::string_view source) {
  return Definitions().functions(Reader(source).tokens());
}

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
