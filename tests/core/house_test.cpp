// Arrows between the rooms of the house go one way, and the page about them is true.

#include <cstdlib>
#include <regex>

#include "core/rules/row_rule.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"
#include "tests/core/rooms.h"

using namespace palimpsest::testing;
using namespace palimpsest;

namespace {

namespace fs = std::filesystem;

const fs::path house = fs::path(assets_folder()).parent_path();

/// What every program of ours is linked from.
/// What is compiled together: the window of a page stands in place of that of a desktop.
std::vector<SourceFile> program() {
  std::vector<SourceFile> sources = sources_below(house, {"core", "kernels", "app"});
  std::erase_if(sources, [](const SourceFile& source) { return source.path == "app/web/window.cpp"; });
  return sources;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("no room includes what it may not", "[rooms]") {
  CHECK(wrong_arrows(rooms(), program()) == Lines{});
}

TEST_CASE("no room defines what another one declares", "[rooms]") {
  const Lines known = {
      // Whoever looks up what a formula calls must know all functions, and some are a variant's own.
      "palimpsest::functions: declared in core/formula/expression.h, defined in core/variants/variants.cpp",
      // A frame calls for what lies around the panels, and for the workspaces; the views stand after it.
      "palimpsest::draw_overlays: declared in app/studio/workspaces.h, defined in app/views/workspaces.cpp",
      "palimpsest::draw_top_bar: declared in app/studio/workspaces.h, defined in app/views/bars.cpp",
      "palimpsest::draw_text_bar: declared in app/studio/workspaces.h, defined in app/views/text_bar.cpp",
      "palimpsest::has_doubts: declared in app/studio/workspaces.h, defined in app/views/doubts.cpp",
      "palimpsest::draw_doubts: declared in app/studio/workspaces.h, defined in app/views/doubts.cpp",
      "palimpsest::draw_status: declared in app/studio/workspaces.h, defined in app/views/bars.cpp",
      "palimpsest::lesson_panel: declared in app/studio/workspaces.h, defined in app/views/workspaces.cpp",
      "palimpsest::workspaces: declared in app/studio/workspaces.h, defined in app/views/workspaces.cpp"};
  const Lines found = hidden_arrows(rooms(), program());
  CHECK(std::ranges::is_permutation(found, known));
}

TEST_CASE("the page about the rooms shows the arrows that there are", "[rooms]") {
  const auto page = house / "docs/rooms.md";
  const std::string expected = rooms_page(rooms(), program());
  if (std::getenv("PALIMPSEST_WRITE_DOCS") != nullptr) write_file(page, expected);
  CHECK(read_file(page) == expected);
}

TEST_CASE("a wrong arrow, a file without a room and a table that goes back are found", "[rooms]") {
  const std::vector<Room> table = {{"core/a", "", {}}, {"core/b", "", {"core/a"}}};
  const SourceFile down{"core/b/x.h", "#include \"core/a/y.h\"\n#include <vector>\n"};
  CHECK(wrong_arrows(table, {down}) == Lines{});
  CHECK(wrong_arrows(table, {{"core/a/y.cpp", "#include \"core/b/x.h\"\n"}}) ==
        Lines{"core/a/y.cpp includes core/b/x.h: core/a may not use core/b"});
  CHECK(wrong_arrows(table, {{"core/z.h", ""}}) == Lines{"core/z.h stands in no room"});
  CHECK(wrong_arrows(table, {{"core/a/y.h", "#include \"core/z.h\"\n"}}) ==
        Lines{"core/a/y.h includes core/z.h, which stands in no room"});
  CHECK(wrong_arrows({{"core/a", "", {"core/b"}}, {"core/b", "", {}}}, {}) ==
        Lines{"core/a may use core/b, which does not stand before it"});
}

TEST_CASE("a function that another room defines is found", "[rooms]") {
  const std::vector<Room> table = {{"core/a", "", {}}, {"core/b", "", {"core/a"}}};
  const SourceFile header{
      "core/a/x.h",
      "namespace p {\nint one(int x = 1);\nstruct S {\n  void two() const;\n};\n"
      "std::vector<int> three(std::span<const int> of = {}, int more = {});\n}  // namespace p\n"};
  const auto hidden = [&](const std::string& path, const std::string& body) {
    return hidden_arrows(table, {header, {path, "namespace p {\n" + body + "\n}  // namespace p\n"}});
  };
  CHECK(hidden("core/a/x.cpp", "int one(int x) { return x; }\nvoid S::two() const {}") == Lines{});
  CHECK(hidden("core/b/y.cpp", "namespace {\nint one(int x) { return x; }\n}  // namespace") == Lines{});
  CHECK(hidden("core/b/y.cpp", "int four() { return one(); }") == Lines{});
  CHECK(hidden("core/b/y.cpp", "int one(int x) { return x; }") ==
        Lines{"p::one: declared in core/a/x.h, defined in core/b/y.cpp"});
  CHECK(hidden("core/b/y.cpp", "void S::two() const {}") ==
        Lines{"p::S::two: declared in core/a/x.h, defined in core/b/y.cpp"});
  CHECK(hidden("core/b/y.cpp", "std::vector<int> three(std::span<const int> of, int) { return {}; }") ==
        Lines{"p::three: declared in core/a/x.h, defined in core/b/y.cpp"});
}

TEST_CASE("the drawing leaves out arrows that go by way of another room", "[rooms]") {
  const std::vector<Room> table = {{"core/a", "First.", {}},
                                   {"core/b", "Second.", {"core/a"}},
                                   {"core/c", "Third.", {"core/a", "core/b"}}};
  const std::string page = rooms_page(table, {{"core/b/b.h", "#include \"core/a/a.h\"\n"},
                                              {"core/c/c.h",
                                               "#include \"core/a/a.h\"\n"
                                               "#include \"core/b/b.h\"\n"}});
  CHECK_THAT(page, says("core_b --> core_a") && says("core_c --> core_b") && !says("core_c --> core_a") &&
                       says("| `core/c` | Third. |"));
}

// No two types of one name: in one program they would be taken for each other, and no compiler has to say so.

TEST_CASE("no type of the program, of its tests or of its benchmarks is defined twice", "[names]") {
  const std::vector<SourceFile> shared = program();
  CHECK(types_defined_twice(shared) == Lines{});
  std::vector<fs::path> further = {"bench"};
  for (const auto& entry : fs::directory_iterator(house / "tests"))
    if (entry.is_directory()) further.push_back(entry.path().lexically_relative(house));
  CHECK(further.size() > 6);
  for (const fs::path& folder : further) {
    CAPTURE(folder.string());
    std::vector<SourceFile> sources = shared;
    std::ranges::copy(sources_below(house, {folder.string()}), std::back_inserter(sources));
    CHECK(types_defined_twice(sources) == Lines{});
  }
}

TEST_CASE("the types of the program are found, and a second one of the same name is told", "[names]") {
  std::vector<SourceFile> sources = program();
  Lines all;
  for (const SourceFile& source : sources)
    std::ranges::copy(Definitions(source.text).types, std::back_inserter(all));
  // A template, a class with a base, a scoped enumeration, an alias; in core and in app.
  for (const char* name : {"palimpsest::Program", "palimpsest::RowRule", "palimpsest::Form",
                           "palimpsest::NamedStates", "palimpsest::Session", "palimpsest::style::Palette"}) {
    CAPTURE(name);
    CHECK(std::ranges::count(all, name) == 1);
  }
  CHECK(all.size() > 250);

  sources.push_back(
      {"app/injected.h",
       "namespace palimpsest {\nstruct Divergence {\n  int token;\n};\n}  // namespace palimpsest\n"});
  CHECK(types_defined_twice(sources) ==
        Lines{"palimpsest::Divergence: core/insight/learning.h, app/injected.h"});
}

TEST_CASE("what counts as the definition of a type", "[names]") {
  const auto names = [](const std::string& source) { return Definitions(source).types; };
  CHECK(names("namespace a {\nstruct X {};\n}  // namespace a\nnamespace a::b {\nclass X final : public a::X "
              "{\n") == Lines{"a::X", "a::b::X"});
  CHECK(names("template <class T>\nstruct X<std::vector<T>> {\n  enum class Kind { one };\n};\nenum class Z "
              ": char { a };\n"
              "struct [[nodiscard]] Y {\n};\nusing W = int;\n") == Lines{"X<std::vector<T>>", "Z", "Y", "W"});
  // Local to its file, without a body, or not a type's.
  CHECK(names("namespace {\nstruct X {};\n}  // namespace\nnamespace a {\nnamespace {\nusing Z = int;\n")
            .empty());
  CHECK(names("int f() {\n  struct X {};\n}\nstruct X;\nenum class Z : int;\nusing a::V;\n").empty());
  CHECK(names("struct X f(int i) {\n  return {};\n}\n// struct A {};\n").empty());
}

// What stands beside the program: links lead somewhere, lists are whole.

namespace {

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
  const std::string readme = read_file(house / "README.md");
  CHECK(readme.find("![") < readme.find("./run.sh"));
  CHECK(readme.find("./run.sh") < readme.find("./test.sh"));
  CHECK(readme.find("./test.sh") < readme.find("\n## "));
  CHECK(std::ranges::count(readme, '\n') < 80);
}

TEST_CASE("every link in our documents leads to a file", "[documents]") {
  std::size_t links = 0;
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/using.md",
                           "docs/accuracy.md", "docs/info.md", "docs/bench.md", "docs/kernels.md",
                           "docs/developing.md", "docs/NOTICES.md", "docs/web.md", "docs/rules.md"}) {
    const fs::path file = house / name;
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
  const fs::path file = house / document;
  std::string text = read_file(file);
  const std::string mark = "<!-- " + name + " -->\n";
  const std::size_t begin = text.find(mark) + mark.size();
  const std::size_t end = text.find("<!-- ", begin);
  REQUIRE(text.find(mark) != std::string::npos);
  REQUIRE(end != std::string::npos);
  if (std::getenv("PALIMPSEST_WRITE_DOCS") != nullptr)
    write_file(file, text.replace(begin, end - begin, expected));
  else {
    INFO("PALIMPSEST_WRITE_DOCS=1 build/tests_core \"[documents]\" writes it into " << document);
    CHECK(text.substr(begin, end - begin) == expected);
  }
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
  const std::string notices = read_file(house / "docs/NOTICES.md");
  std::string build;
  for (const char* file :
       {"CMakeLists.txt", "core/CMakeLists.txt", "kernels/CMakeLists.txt", "app/CMakeLists.txt",
        "app/bundle.cmake", "tests/CMakeLists.txt", "bench/CMakeLists.txt"})
    build += read_file(house / file);
  std::vector<std::string> needed = all_matches(build, R"(find_package\((\w+))");
  for (const char* by_other_means : {"libzip", "pcre2", "highway", "libepoxy", "stb",
                                     "Dear ImGui Test Engine", "MicroTeX", "ImGuiColorTextEdit"})
    needed.push_back(by_other_means);
  std::erase_if(needed, [](const std::string& name) { return name == "Threads" || name == "PkgConfig"; });
  CHECK(needed.size() >= 12);
  for (const std::string& name : needed) {
    CAPTURE(name);
    CHECK_THAT(notices, says(name));
  }
  for (const auto& entry : fs::recursive_directory_iterator(house / "assets")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".otf" && extension != ".ttf") continue;
    CHECK_THAT(notices, says(entry.path().filename().string()));
  }
}
