#include <fmt/format.h>

#include "core/io/array_file.h"
#include "tests/capture_file.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

// Sums and quotients that no short decimal holds.
const Arrays arrays{{"q", Array({3, 2}, std::vector<double>{0.1 + 0.2, 1.0 / 3, -1e-300, 2, 3e200, -0.0})},
                    {"k", Array({3, 2}, std::vector<double>{1, 2, 3, 4, 5, 6})},
                    {"v", Array({3, 1}, std::vector<double>{7, 8, 9})},
                    {"beta", Array({3}, std::vector<double>{0.5, 0.25, 1.0 / 7})}};

void write_npy(const std::filesystem::path& path, const Array& array) {
  const std::vector<std::byte> bytes = format_npy(array);
  write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// An example as the four kinds of files have it; the paths to open.
std::vector<std::filesystem::path> written(const TemporaryFolder& folder) {
  write_npz(folder / "x.npz", arrays);
  std::map<std::string, Tensor> tensors;
  std::filesystem::create_directory(folder / "layer 3");
  for (const auto& [name, array] : arrays) {
    tensors[name] = {"F64", array.shape, number_bytes(std::get<0>(array.values()))};
    write_npy(folder / ("layer 3/" + name + ".npy"), array);
  }
  write_file(folder / "x.safetensors", safetensors(tensors));
  std::string csv = "q0,q1,k0,k1,v0,beta\n";
  for (Index t = 0; t < 3; ++t) {
    const auto number = [&](const char* name, Index place) { return arrays.at(name)[place]; };
    csv += fmt::format("{},{},{},{},{},{}\n", number("q", 2 * t), number("q", 2 * t + 1), number("k", 2 * t),
                       number("k", 2 * t + 1), number("v", t), number("beta", t));
  }
  write_file(folder / "x.csv", csv);
  return {folder / "x.npz",    folder / "layer 3/k.npy", folder / "layer 3",
          folder / "layer 3/", folder / "x.safetensors", folder / "x.csv"};
}

bool is_known(std::string_view name) { return arrays.contains(name); }

}  // namespace

TEST_CASE("the same arrays come out of every kind of file, bit by bit", "[array file]") {
  const TemporaryFolder folder;
  for (const auto& path : written(folder)) {
    INFO(path);
    const Npz npz = read_array_file(path);
    CHECK(npz.unreadable.empty());
    REQUIRE(npz.arrays.size() == arrays.size());
    for (const auto& [name, array] : arrays) {
      CHECK(npz.arrays.at(name).shape == array.shape);
      CHECK(number_bytes(std::get<0>(npz.arrays.at(name).values())) ==
            number_bytes(std::get<0>(array.values())));
    }
    CHECK(read_capture(path).name == (path.string().find("layer 3") == std::string::npos ? "x" : "layer 3"));
  }
}

TEST_CASE("an ending that says nothing is passed over for how the file begins", "[array file]") {
  const TemporaryFolder folder;
  written(folder);
  for (const auto& [from, to] : {std::pair("x.npz", "a.zip"),
                                 {"x.npz", "b"},
                                 {"x.safetensors", "c.bin"},
                                 {"x.safetensors", "d.SAFETENSORS"},
                                 {"x.csv", "e.CSV"}}) {
    std::filesystem::copy_file(folder / from, folder / to);
    CHECK(read_array_file(folder / to).arrays.size() == arrays.size());
  }
  write_file(folder / "f.txt", "once upon a time");
  CHECK_THAT(input_error([&] { read_array_file(folder / "f.txt"); }),
             says("f.txt: is none of .npz, .npy, .safetensors, .csv"));
  write_file(folder / "g", "");
  CHECK_THAT(input_error([&] { read_array_file(folder / "g"); }), says("is empty"));
  for (const char* absent : {"x", "x.npy", "y.csv", "y.safetensors", "y.npz"})
    CHECK_THAT(input_error([&] { read_array_file(folder / absent); }), says("no such file"));
}

TEST_CASE(".npy files of a folder: what is read, and what is wrong", "[array file]") {
  const TemporaryFolder folder;
  CHECK_THAT(input_error([&] { read_array_file(folder.path()); }), says("is a folder without .npy files"));
  write_npy(folder / "q.npy", arrays.at("q"));
  write_npy(folder / "other.npy", arrays.at("k"));
  write_npy(folder / ".k.npy", arrays.at("k"));
  write_file(folder / "v.npy", "nonsense");
  const Npz npz = read_array_file(folder / "q.npy", {}, is_known);
  CHECK(npz.arrays.size() == 1);
  CHECK(npz.unread == std::vector<std::string>{"other"});
  CHECK_THAT(npz.unreadable.at("v"), says("v.npy: array \"v\": not an .npy"));
  CHECK_THAT(input_error([&] { read_array_file(folder / "other.npy", {}, is_known); }),
             says("other.npy: is a single array (.npy)") && says("call such files q.npy, k.npy"));
  const Npz limited = read_array_file(folder / "q.npy", {.total_bytes = 100}, is_known);
  CHECK_THAT(limited.unreadable.at("q"), says("more than 100 bytes"));
}

namespace {

Npz read_table(const TemporaryFolder& folder, const std::string& text, const NpzLimits& limits = {}) {
  write_file(folder / "x.csv", text);
  return read_csv(folder / "x.csv", limits);
}

std::string refusal_of_table(const std::string& text, const NpzLimits& limits = {}) {
  const TemporaryFolder folder;
  return input_error([&] {
    const Npz npz = read_table(folder, text, limits);
    if (!npz.unreadable.empty()) require_readable(npz.unreadable, npz.unreadable.begin()->first);
  });
}

}  // namespace

TEST_CASE("columns of a .csv are arrays, in any order and either spelling", "[csv]") {
  const TemporaryFolder folder;
  const Npz npz = read_table(folder,
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
    CHECK(std::get<0>(npz.arrays.at(name).values()) == values);
  };
  check("q", {2, 2}, {1, -2.5, 5, 6});
  check("k", {2, 2}, {3, 1e-3, 7, 4});
  check("beta", {2}, {0.5, 1});
}

TEST_CASE("a .csv without labels, with one row and no line end", "[csv]") {
  const TemporaryFolder folder;
  const Npz npz = read_table(folder, "q0,q1\n0.1,7");
  CHECK(npz.texts.empty());
  CHECK(npz.arrays.at("q").shape == std::vector<Index>{1, 2});
  CHECK(npz.arrays.at("q")[0] == 0.1);
  write_file(folder / "x.csv", "q0,w0\n1,x\n");
  const Npz wanted = read_csv(folder / "x.csv", {}, [](std::string_view name) { return name == "q"; });
  CHECK(wanted.unreadable.empty());
  CHECK(wanted.unread == std::vector<std::string>{"w"});
}

TEST_CASE("a .csv that cannot be is refused by line and column", "[csv]") {
  check_refusals([](const std::string& text) { return refusal_of_table(text); },
                 {
                     {"", {"x.csv: is empty; expected a line of names such as label,q0"}},
                     {"\r\n \n", {"is empty"}},
                     {"q0,q1\n", {"no line below the names"}},
                     {"q0;q1\n1;2\n", {"line 1: expected commas"}},
                     {"q0,q1\n1,2\n3\n", {"line 3: has 1 fields; expected 2"}},
                     {"q0,q1\n1,2\n\n3,4\n", {"line 3: has 1 fields"}},
                     {"q0,label\n1,\"a\nb\"\n3,4,5\n", {"line 4: has 3 fields"}},
                     {"q0\n\"1\n", {"line 2: a quote is not closed"}},
                     {"q0\n\"1\"2\n", {"line 2: expected a comma after the quoted \"1\""}},
                     {"q0,q[0]\n1,2\n", {"line 1: the column \"q[0]\" appears twice"}},
                     {"q0,q2\n1,2\n", {"array \"q\"", "\"q[2]\" and none for q[1]"}},
                     {"q9223372036854775807\n1\n", {"none for q[0]"}},
                     {"q,q0\n1,2\n", {"column \"q\" has no number"}},
                 });
  for (const char* text : {"nan", "NaN", "inf", "", "1,5", "0x1", "1e999", "one", "1 2"}) {
    INFO(text);
    const std::string quoted = "\"" + std::string(text) + "\"";
    CHECK_THAT(refusal_of_table("q0\n1\n" + quoted + "\n"),
               says("line 3, column \"q0\": expected a finite number, found \"" + std::string(text) + "\""));
  }
  const std::string_view utf16(
      "\xFF\xFEq\0"
      "0\0\n\0"
      "1\0",
      10);
  CHECK_THAT(refusal_of_table(std::string(utf16)),
             says("x.csv: is no text in UTF-8") && says("save it as UTF-8"));
  CHECK_THAT(refusal_of_table("q0\n1\n2\n", {.total_bytes = 6}), says("more than 6 bytes"));
  CHECK_THAT(refusal_of_table("q0\n1\n2\n", {.total_bytes = 15}), says("more than 15 bytes"));
}
