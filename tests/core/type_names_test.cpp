// No two types of one name: in one program they would be taken for each other, and no compiler has to say so.

#include "tests/core/type_names.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "tests/catch.h"
#include "tests/folders.h"

using namespace palimpsest::testing;

namespace {

namespace fs = std::filesystem;

const fs::path root = fs::path(assets_folder()).parent_path();

/// What every program of ours is linked from.
std::vector<SourceFile> program() { return sources_below(root, {"core", "kernels", "app"}); }

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("no type of the program, of its tests or of its benchmarks is defined twice", "[names]") {
  const std::vector<SourceFile> shared = program();
  CHECK(types_defined_twice(shared) == Names{});
  std::vector<fs::path> further = {"bench"};
  for (const auto& entry : fs::directory_iterator(root / "tests"))
    if (entry.is_directory()) further.push_back(entry.path().lexically_relative(root));
  CHECK(further.size() > 6);
  for (const fs::path& folder : further) {
    CAPTURE(folder.string());
    std::vector<SourceFile> sources = shared;
    std::ranges::copy(sources_below(root, {folder.string()}), std::back_inserter(sources));
    CHECK(types_defined_twice(sources) == Names{});
  }
}

TEST_CASE("the types of the program are found, and a second one of the same name is told", "[names]") {
  std::vector<SourceFile> sources = program();
  Names all;
  for (const SourceFile& source : sources)
    for (std::string& name : type_names(source.text)) all.push_back(std::move(name));
  // A template, a class with a base, a scoped enumeration, a nested type, an alias; in core and in app.
  for (const char* name :
       {"palimpsest::Program", "palimpsest::RowRule", "palimpsest::Cause", "palimpsest::InnerProblem::After",
        "palimpsest::NamedStates", "palimpsest::Session", "palimpsest::style::Palette"}) {
    CAPTURE(name);
    CHECK(std::ranges::count(all, name) == 1);
  }
  CHECK(all.size() > 250);

  sources.push_back({"app/injected.h", "namespace palimpsest { struct Divergence { int token; }; }"});
  CHECK(types_defined_twice(sources) ==
        Names{"palimpsest::Divergence: core/insight/stability.h, app/injected.h"});
}

TEST_CASE("what counts as the definition of a type", "[names]") {
  const auto names = [](const char* source) { return type_names(source); };
  CHECK(names("namespace a { struct X {}; }  namespace a::b { class X final : public a::X {}; }") ==
        Names{"a::X", "a::b::X"});
  CHECK(names("template <class T, class U = int> struct X { enum class Kind : char { one }; union { int i; "
              "}; };") == Names{"X", "X::Kind"});
  CHECK(names("template <> struct X<int> {}; struct X<std::vector<int>> {}; struct A::X {};") ==
        Names{"X<int>", "X<std::vector<int>>", "A::X"});
  CHECK(names("struct [[nodiscard]] X {}; struct alignas(8) Y {}; enum Z { a }; using W = int;") ==
        Names{"X", "Y", "Z", "W"});
  CHECK(names("extern \"C\" { struct X {}; } inline namespace v { struct Y {}; }") == Names{"X", "v::Y"});
  // Local to its file.
  CHECK(
      names("namespace { struct X { struct Y {}; }; } namespace a { namespace { using Z = int; } }").empty());
  CHECK(names("int f(struct S s) { struct X {}; using Y = X; return [] { struct Z {}; return 1; }(); }")
            .empty());
  // No body, or not a type's.
  CHECK(
      names("struct X; class Y; enum class Z : int; friend class W; using namespace a; using a::V;").empty());
  CHECK(names("struct X f(int i) { return {}; } struct X x = {}; const struct X y{1};").empty());
  CHECK(names("template <class T> bool operator<(const T& a, const T& b) { return a.x < b.x; }").empty());
  // Not code at all.
  CHECK(
      names("// struct A {};\n/* struct B {}; */ auto s = \"struct C {};\"; auto r = R\"(\" struct D {};)\";")
          .empty());
  CHECK(names("#define E \\\n  struct E {};\nint million = 1'000'000; char quote = '\\'';").empty());
  CHECK(names("int million = 1'000'000; char c = '{'; struct X {};") == Names{"X"});
}
