#include "core/io/array_file.h"

#include <fmt/format.h>

#include "core/io/capture.h"
#include "core/io/npy.h"
#include "tests/core/io/files.h"
#include "tests/core/io/safetensors_bytes.h"

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
    tensors[name] = {"F64", array.shape, number_bytes(std::get<0>(array.values))};
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
      CHECK(number_bytes(std::get<0>(npz.arrays.at(name).values)) == number_bytes(std::get<0>(array.values)));
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
