// The kinds of files that --input and --data take.

#include "core/io/npy.h"
#include "tests/commands/cli.h"
#include "tests/core/io/safetensors_bytes.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::vector<double> q = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
const std::vector<double> k = {0.6, 0.8, 0, 1, 1, 0};
const std::vector<double> v = {1, -2, 1.0 / 3};
const std::vector<double> beta = {1, 0.5, 0.25};

/// What DeltaNet gives for the file.
Array output_of(const TemporaryFolder& folder, const std::filesystem::path& input) {
  const std::string output = folder / "out.npz";
  const Ran ran = palimpsest_with({"run", "deltanet", "--input", input, "--output", output});
  INFO(ran.error);
  REQUIRE(ran.status == exit_done);
  return read_npz(output).arrays.at("o");
}

std::string refusal_of(const TemporaryFolder& folder, const std::filesystem::path& input) {
  const Ran ran = palimpsest_with({"run", "deltanet", "--input", input, "--output", folder / "out.npz"});
  CHECK(ran.status == exit_bad_usage);
  CHECK(is_one_line(ran.error));
  CHECK_FALSE(std::filesystem::exists(folder / "out.npz"));
  return ran.error;
}

}  // namespace

TEST_CASE("run takes the same arrays from every kind of file", "[input files]") {
  const TemporaryFolder folder;
  const Arrays arrays{
      {"q", Array({3, 2}, q)}, {"k", Array({3, 2}, k)}, {"v", Array({3, 1}, v)}, {"beta", Array({3}, beta)}};
  write_npz(folder / "in.npz", arrays);
  const Array expected = output_of(folder, folder / "in.npz");

  write_file(folder / "in.safetensors", safetensors({{"q", {"F64", {3, 2}, number_bytes(q)}},
                                                     {"k", {"F64", {3, 2}, number_bytes(k)}},
                                                     {"v", {"F64", {3, 1}, number_bytes(v)}},
                                                     {"beta", {"F64", {3}, number_bytes(beta)}}}));
  CHECK(output_of(folder, folder / "in.safetensors").values == expected.values);

  write_file(folder / "in.csv",
             "label,q0,q1,k0,k1,v0,beta\na,0.1,0.2,0.6,0.8,1,1\nb,0.3,0.4,0,1,-2,0.5\n"
             "c,0.5,0.6,1,0,0.3333333333333333,0.25\n");
  CHECK(output_of(folder, folder / "in.csv").values == expected.values);

  std::filesystem::create_directory(folder / "layer");
  for (const auto& [name, array] : arrays) {
    const std::vector<std::byte> bytes = format_npy(array);
    write_file(folder / ("layer/" + name + ".npy"),
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  CHECK(output_of(folder, folder / "layer/v.npy").values == expected.values);
  CHECK(output_of(folder, folder / "layer").values == expected.values);

  const Ran shown = palimpsest_with({"show", "learning", "--data", folder / "in.csv"});
  INFO(shown.error);
  CHECK(shown.status == exit_done);
}

TEST_CASE("run refuses such files in one line that names the place", "[input files]") {
  const TemporaryFolder folder;
  write_file(folder / "in.csv", "q0,k0,v0,beta\n1,1,1,1\n1,nan,1,1\n");
  CHECK_THAT(refusal_of(folder, folder / "in.csv"),
             says("in.csv: line 3, column \"k0\": expected a finite number"));
  write_file(folder / "in.safetensors", number_bytes<std::uint64_t>({10'000'000'000}));
  CHECK_THAT(refusal_of(folder, folder / "in.safetensors"), says("claims 10000000000 bytes"));
  write_file(folder / "q.npy", "nonsense");
  CHECK_THAT(refusal_of(folder, folder / "q.npy"),
             says("palimpsest: " + std::string(folder / "q.npy") + ": array \"q\""));
}
