// What stands beside the program: links lead somewhere, lists are whole.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/engines/device_engines.h"
#include "core/rules/row_rule.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"
#include "tests/folders.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

namespace fs = std::filesystem;

const fs::path root = fs::path(assets_folder()).parent_path();

/// Every match of the first group of `pattern`.
std::vector<std::string> all_matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), expression);
       match != std::sregex_iterator(); ++match)
    found.push_back((*match)[1]);
  return found;
}

}  // namespace

TEST_CASE("the README opens with a picture and the two commands, and stays short", "[documents]") {
  const std::string readme = read_file(root / "README.md");
  const std::size_t picture = readme.find("![");
  const std::size_t first_section = readme.find("\n## ");
  CHECK(picture < readme.find("./run.sh"));
  CHECK(readme.find("./run.sh") < readme.find("./test.sh"));
  CHECK(readme.find("./test.sh") < first_section);
  CHECK(std::ranges::count(readme, '\n') < 80);
}

TEST_CASE("every link in our documents leads to a file", "[documents]") {
  std::size_t links = 0;
  for (const char* name :
       {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/using.md", "docs/accuracy.md", "docs/info.md",
        "docs/bench.md", "docs/kernels.md", "docs/developing.md", "docs/NOTICES.md"}) {
    const fs::path file = root / name;
    for (const std::string& link : all_matches(read_file(file), R"(\]\(([^)#]+)\))")) {
      CAPTURE(name, link);
      if (link.starts_with("https://")) continue;
      CHECK(fs::exists(file.parent_path() / link));
      ++links;
    }
  }
  CHECK(links > 15);
}

namespace {

/// Holds that the lines of a document between "<!-- NAME -->" and the next comment are `expected`; writes
/// them instead where PALIMPSEST_WRITE_DOCS is set.
void check_written(const char* document, const std::string& name, const std::string& expected) {
  const fs::path file = root / document;
  std::string text = read_file(file);
  const std::string mark = "<!-- " + name + " -->\n";
  const std::size_t begin = text.find(mark) + mark.size();
  const std::size_t end = text.find("<!-- ", begin);
  REQUIRE(text.find(mark) != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::string written = text.substr(begin, end - begin);
  if (std::getenv("PALIMPSEST_WRITE_DOCS") != nullptr && written != expected)
    std::ofstream(file, std::ios::binary) << text.replace(begin, end - begin, expected);
  else
    CHECK(written == expected);
}

}  // namespace

TEST_CASE("the guide lists every variant as the program knows it", "[documents]") {
  std::string table = "| id | in the window | rule |\n| --- | --- | --- |\n";
  for (const Variant& variant : variants()) {
    std::string rule = variant.words;
    if (!variant.recurrence.empty()) rule += fmt::format(" `S = {}`", variant.recurrence);
    std::string options;
    for (const Option& option : variant.options) {
      if (option.name == read_order_option && option.values.front() == reads_after) continue;  // all have it
      options += fmt::format("{}`{}`: {}", options.empty() ? " With " : "; ", option.name,
                             fmt::join(option.values, ", "));
    }
    table += fmt::format("| `{}` | {} | {}{} |\n", variant.id, variant.label, rule, options);
  }
  check_written("docs/using.md", "variants", table);
}

TEST_CASE("the guide to the kernels lists every rule whose rows the tensor cores compute", "[documents]") {
  std::vector<std::string> computed;
  for (const Variant& variant : variants()) {
    const RowRule* const rows = variant.rule->row_program();
    if (rows && fit_tensor_cores(rows->structure(resolve(variant, {})), 1))
      computed.push_back("`" + variant.id + "`");
  }
  check_written("docs/kernels.md", "rules on tensor cores", fmt::format("{}\n", fmt::join(computed, ", ")));
}

TEST_CASE("every library that the build looks for and every file that ships has its notice", "[documents]") {
  const std::string notices = read_file(root / "docs/NOTICES.md");
  std::string build;
  for (const char* file :
       {"CMakeLists.txt", "core/CMakeLists.txt", "kernels/CMakeLists.txt", "app/CMakeLists.txt",
        "app/bundle.cmake", "tests/CMakeLists.txt", "bench/CMakeLists.txt"})
    build += read_file(root / file);
  std::vector<std::string> needed = all_matches(build, R"(find_package\((\w+))");
  for (const char* by_other_means : {"libzip", "libepoxy", "stb", "Dear ImGui Test Engine", "MicroTeX"})
    needed.push_back(by_other_means);
  std::erase_if(needed, [](const std::string& name) { return name == "Threads" || name == "PkgConfig"; });
  CHECK(needed.size() >= 12);
  for (const std::string& name : needed) {
    CAPTURE(name);
    CHECK_THAT(notices, says(name));
  }
  for (const auto& entry : fs::recursive_directory_iterator(root / "assets")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".otf" && extension != ".ttf") continue;
    CHECK_THAT(notices, says(entry.path().filename().string()));
  }
}
