// Arrows between the rooms of the house go one way, and the page about them is true.

#include "tests/core/rooms.h"

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
