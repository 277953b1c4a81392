#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::testing {

/// The types that a C++ source defines for the whole program: every struct, class, union, enum and alias with
/// its namespaces and enclosing types, "palimpsest::Rule". What is local to the file, in an unnamed namespace
/// or a function, is left out, and so are declarations without a body.
std::vector<std::string> type_names(std::string_view source);

/// The functions that a C++ source declares, and those that it defines, for the whole program, with their
/// namespaces and classes: "palimpsest::Rule::cost". Operators are left out. A declaration in whose arguments
/// braces stand counts as defined.
struct FunctionNames {
  std::vector<std::string> declared;
  std::vector<std::string> defined;
};
FunctionNames function_names(std::string_view source);

/// A source and where it stands.
struct SourceFile {
  std::string path;
  std::string text;
};

/// Every C++ and CUDA source in these folders of `root`, with paths that start there.
std::vector<SourceFile> sources_below(const std::filesystem::path& root,
                                      const std::vector<std::string>& folders);

/// One line for each type that is defined more than once: "palimpsest::Rule: core/a.h, core/b.h".
std::vector<std::string> types_defined_twice(const std::vector<SourceFile>& sources);

}  // namespace palimpsest::testing
