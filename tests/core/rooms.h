#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::testing {

/// A source and where it stands.
struct SourceFile {
  std::string path;
  std::string text;
};

/// Every C++ and CUDA source in these folders of `root`, with paths that start there.
std::vector<SourceFile> sources_below(const std::filesystem::path& root,
                                      const std::vector<std::string>& folders);

/// What a source that is laid out by clang-format says for the whole program, with namespaces: the types that
/// it defines, and the functions that it declares or defines, "palimpsest::Rule::cost". What stands in a
/// type, in a function or in an unnamed namespace is left out.
struct Definitions {
  std::vector<std::string> types;
  std::vector<std::string> declared;
  std::vector<std::string> defined;

  explicit Definitions(std::string_view source);
};

/// One line for each type that is defined more than once: "palimpsest::Rule: core/a.h, core/b.h".
std::vector<std::string> types_defined_twice(const std::vector<SourceFile>& sources);

/// A folder of sources with one idea, and the rooms whose headers it may include.
struct Room {
  std::string folder;
  std::string words;  // one sentence
  std::vector<std::string> uses;
};

/// The house, in the order of the story: a room uses only those before it.
const std::vector<Room>& rooms();

/// One line for every include from a room to one that it may not use, every file in no room, and every row of
/// `table` that uses a room not above it.
std::vector<std::string> wrong_arrows(const std::vector<Room>& table, const std::vector<SourceFile>& sources);

/// One line for every function that a header of one room declares and a source of another one defines: who
/// calls it uses a room that no include shows.
std::vector<std::string> hidden_arrows(const std::vector<Room>& table,
                                       const std::vector<SourceFile>& sources);

/// The page about the rooms: a drawing of the arrows that the includes make, but for those that go by way of
/// another room as well, and the sentence on each.
std::string rooms_page(const std::vector<Room>& table, const std::vector<SourceFile>& sources);

}  // namespace palimpsest::testing
