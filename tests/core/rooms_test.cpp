// Arrows between the rooms of the house go one way, and the page about them is true.

#include "tests/core/rooms.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/catch.h"
#include "tests/folders.h"

using namespace palimpsest::testing;

namespace {

const std::filesystem::path root = std::filesystem::path(assets_folder()).parent_path();

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("no room includes what it may not", "[rooms]") {
  CHECK(wrong_arrows(rooms(), sources_below(root, {"core", "kernels", "app"})) == Lines{});
}

TEST_CASE("no room defines what another one declares", "[rooms]") {
  const Lines known = {
      // Whoever looks up what a formula calls must know all functions, and some are a variant's own.
      "palimpsest::functions: declared in core/formula/expression.h, defined in core/variants/variants.cpp",
      // A frame calls for what lies around the panels, and for the workspaces; the views stand after it.
      "palimpsest::draw_overlays: declared in app/studio/bars.h, defined in app/views/overlays.cpp",
      "palimpsest::draw_top_bar: declared in app/studio/bars.h, defined in app/views/top_bar.cpp",
      "palimpsest::draw_status: declared in app/studio/bars.h, defined in app/views/status.cpp",
      "palimpsest::workspaces: declared in app/studio/workspaces.h, defined in app/views/workspaces.cpp"};
  const Lines found = hidden_arrows(rooms(), sources_below(root, {"core", "kernels", "app"}));
  CHECK(std::ranges::is_permutation(found, known));
}

TEST_CASE("the page about the rooms shows the arrows that there are", "[rooms]") {
  const auto page = root / "docs/rooms.md";
  const std::string expected = rooms_page(rooms(), sources_below(root, {"core", "kernels", "app"}));
  if (std::getenv("PALIMPSEST_WRITE_DOCS") != nullptr) std::ofstream(page, std::ios::binary) << expected;
  CHECK(text_of(page) == expected);
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
  const SourceFile header{"core/a/x.h",
                          "namespace p {\nint one(int x = 1);\nstruct S { void two() const; };\n"
                          "std::vector<int> three(std::span<const int> of = {}, int more = {});\n}\n"};
  const auto hidden = [&](const std::string& path, const std::string& body) {
    return hidden_arrows(table, {header, {path, "namespace p {\n" + body + "\n}\n"}});
  };
  CHECK(hidden("core/a/x.cpp", "int one(int x) { return x; } void S::two() const {}") == Lines{});
  CHECK(hidden("core/b/y.cpp", "namespace { int one(int x) { return x; } }") == Lines{});
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
  CHECK(page.find("core_b --> core_a") != std::string::npos);
  CHECK(page.find("core_c --> core_b") != std::string::npos);
  CHECK(page.find("core_c --> core_a") == std::string::npos);
  CHECK(page.find("| `core/c` | Third. |") != std::string::npos);
}
