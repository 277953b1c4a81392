#include "core/io/csv.h"

#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Npz read(const TemporaryFolder& folder, const std::string& text, const NpzLimits& limits = {}) {
  write_file(folder / "x.csv", text);
  return read_csv(folder / "x.csv", limits);
}

std::string refusal(const std::string& text, const NpzLimits& limits = {}) {
  const TemporaryFolder folder;
  return input_error([&] {
    const Npz npz = read(folder, text, limits);
    if (!npz.unreadable.empty()) require_readable(npz.unreadable, npz.unreadable.begin()->first);
  });
}

}  // namespace

TEST_CASE("columns of a .csv are arrays, in any order and either spelling", "[csv]") {
  const TemporaryFolder folder;
  const Npz npz = read(folder,
                       "\xEF\xBB\xBF,label, k[1] ,q0,q1,k[0],beta,note\r\n"
                       "0,the,1e-3,1,-2.5,+3,0.5,x\r\n"
                       "1,\"a \"\"b\"\",\nc\",4,5, 6 ,7,1,y\r\n"
                       "\r\n");
  CHECK(npz.unreadable.size() == 1);
  CHECK_THAT(npz.unreadable.at("note"),
             says("x.csv: line 2, column \"note\": expected a finite number, found \"x\""));
  CHECK(npz.texts == Texts{{"tokens", R"(["the","a \"b\",\nc"])"}});
  CHECK(npz.arrays.size() == 3);
  const auto check = [&](const char* name, std::vector<Index> shape, const std::vector<double>& values) {
    CHECK(npz.arrays.at(name).shape == shape);
    CHECK(std::get<0>(npz.arrays.at(name).values) == values);
  };
  check("q", {2, 2}, {1, -2.5, 5, 6});
  check("k", {2, 2}, {3, 1e-3, 7, 4});
  check("beta", {2}, {0.5, 1});
}

TEST_CASE("a .csv without labels, with one row and no line end", "[csv]") {
  const TemporaryFolder folder;
  const Npz npz = read(folder, "q0,q1\n0.1,7");
  CHECK(npz.texts.empty());
  CHECK(npz.arrays.at("q").shape == std::vector<Index>{1, 2});
  CHECK(npz.arrays.at("q")[0] == 0.1);
  write_file(folder / "x.csv", "q0,w0\n1,x\n");
  const Npz wanted = read_csv(folder / "x.csv", {}, [](std::string_view name) { return name == "q"; });
  CHECK(wanted.unreadable.empty());
  CHECK(wanted.unread == std::vector<std::string>{"w"});
}

TEST_CASE("a .csv that cannot be is refused by line and column", "[csv]") {
  CHECK_THAT(refusal(""), says("x.csv: is empty; expected a line of names such as label,q0"));
  CHECK_THAT(refusal("\r\n \n"), says("is empty"));
  CHECK_THAT(refusal("q0,q1\n"), says("no line below the names"));
  CHECK_THAT(refusal("q0;q1\n1;2\n"), says("line 1: expected commas"));
  CHECK_THAT(refusal("q0,q1\n1,2\n3\n"), says("line 3: has 1 fields; expected 2"));
  CHECK_THAT(refusal("q0,q1\n1,2\n\n3,4\n"), says("line 3: has 1 fields"));
  CHECK_THAT(refusal("q0,label\n1,\"a\nb\"\n3,4,5\n"), says("line 4: has 3 fields"));
  CHECK_THAT(refusal("q0\n\"1\n"), says("line 2: a quote is not closed"));
  CHECK_THAT(refusal("q0\n\"1\"2\n"), says("line 2: expected a comma after the quoted \"1\""));
  CHECK_THAT(refusal("q0,q[0]\n1,2\n"), says("line 1: the column \"q[0]\" is there twice"));
  CHECK_THAT(refusal("q0,q2\n1,2\n"), says("array \"q\"") && says("\"q[2]\" and none for q[1]"));
  CHECK_THAT(refusal("q9223372036854775807\n1\n"), says("none for q[0]"));
  CHECK_THAT(refusal("q,q0\n1,2\n"), says("column \"q\" has no number"));
  for (const char* text : {"nan", "NaN", "inf", "", "1,5", "0x1", "1e999", "one", "1 2"}) {
    INFO(text);
    const std::string quoted = "\"" + std::string(text) + "\"";
    CHECK_THAT(refusal("q0\n1\n" + quoted + "\n"),
               says("line 3, column \"q0\": expected a finite number, found \"" + std::string(text) + "\""));
  }
  const std::string_view utf16(
      "\xFF\xFEq\0"
      "0\0\n\0"
      "1\0",
      10);
  CHECK_THAT(refusal(std::string(utf16)), says("x.csv: is no text in UTF-8") && says("save it as UTF-8"));
  CHECK_THAT(refusal("q0\n1\n2\n", {.total_bytes = 6}), says("more than 6 bytes"));
  CHECK_THAT(refusal("q0\n1\n2\n", {.total_bytes = 15}), says("more than 15 bytes"));
}
