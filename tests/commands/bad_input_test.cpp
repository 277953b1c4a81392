// The kinds of files that --input and --data take.

#include "core/io/array_file.h"
#include "tests/commands/cli.h"
#include "tests/commands/raw_npz.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Three tokens for gated_deltanet.
Arrays good() {
  return {{"q", constant({3, 2}, 0.5)}, {"k", constant({3, 2}, 0.25)},
          {"v", constant({3, 4}, 1)},   {"alpha", constant({3}, 0.5)},
          {"beta", constant({3}, 0.5)}, {"initial_state", constant({2, 4}, 0.5)}};
}

Arrays with(const std::string& name, const Array& array) {
  Arrays arrays = good();
  arrays[name] = array;
  return arrays;
}

Arrays with_element(const std::string& name, Index flat, double value) {
  Arrays arrays = good();
  std::get<0>(arrays.at(name).own_values())[static_cast<std::size_t>(flat)] = value;
  return arrays;
}

Arrays without(const std::string& name) {
  Arrays arrays = good();
  arrays.erase(name);
  return arrays;
}

void check_refusal(const Run& run, const Ran& ran, const std::string& message) {
  check_failure(ran, exit_bad_usage, "palimpsest: " + run.input() + ": ", message);
  CHECK_FALSE(std::filesystem::exists(run.output()));
}

void refused(const Arrays& arrays, const std::string& message) {
  const Run run;
  check_refusal(run, run("gated_deltanet", arrays), message);
}

void refused_bytes(std::string_view bytes, const std::string& message) {
  const Run run;
  write_file(run.input(), bytes);
  check_refusal(run, run.on_input("gated_deltanet"), message);
}

}  // namespace

// What is wrong in arrays and files is told in core; here that it is told with the file's name and nothing is
// written.
TEST_CASE("arrays that are no input are refused in one line that names the file", "[bad input]") {
  refused(without("beta"), "array \"beta\"");
  refused({{"query", constant({3, 2}, 1)}, {"beta", constant({3}, 1)}},
          "arrays \"q\", \"k\", \"v\" and \"alpha\" are missing; found: beta, query; to use query as q, open "
          "in.npz?q=query");
  refused(with("initial_state", constant({4, 2}, 1)), "\"initial_state\": shape [4, 2] has dk = 4");
  refused(with_element("initial_state", 1, infinity), "array \"initial_state\": index [0, 1] is inf");
  refused(with_element("alpha", 2, 1.5), "\"alpha\": index [2] is 1.5; expected [0, 1]");
  refused({{"q", constant({3, 0, 2}, 1)},
           {"k", constant({3, 0, 2}, 1)},
           {"v", constant({3, 0, 2}, 1)},
           {"alpha", constant({3, 0}, 1)},
           {"beta", constant({3, 0}, 1)}},
          "nothing to compute");
}

TEST_CASE("the ends of the gates' range are legal", "[bad input]") {
  Arrays logs = without("alpha");
  logs["g"] = constant({3}, -infinity);
  for (const Arrays& arrays : {with_element("alpha", 0, 0), with_element("alpha", 0, 1), logs})
    Run().results("gated_deltanet", arrays);
}

TEST_CASE("what is no .npz is refused", "[bad input]") {
  const Run run;
  check_refusal(run, run.on_input("linear"), "no such file");
  refused_bytes("", "is empty");
  refused_bytes("PK\x03\x04 but nothing else", "truncated");
  const std::string plain = npy("<f8", false, "(1, 2)", number_bytes<double>({1, 2}));
  refused_bytes(plain, "single array");
  write_zip(run.input(), {{"q.npy", "not an array"}, {"k.npy", plain}, {"v.npy", plain}});
  check_refusal(run, run.on_input("linear"), "array \"q\"");
  check_failure({"run", "linear", "--input", run.folder().path(), "--output", run.output()}, exit_bad_usage,
                "is a folder");
}

TEST_CASE("shapes that ask for more heads or larger states than there is memory are refused", "[bad input]") {
  const Run run;
  const auto refused_shapes = [&](const char* variant, const char* q, const char* v, const std::string& data,
                                  const std::vector<std::string>& more, const std::string& message) {
    write_zip(run.input(), {{"q.npy", npy("<f8", false, q, data)},
                            {"k.npy", npy("<f8", false, q, data)},
                            {"v.npy", npy("<f8", false, v, data)}});
    check_refusal(run, run.on_input(variant, more), message);
  };
  refused_shapes("linear", "(10000000000000, 0, 1, 1)", "(10000000000000, 0, 1, 1)", "", {},
                 "\"q\": shape [10000000000000, 0, 1, 1] makes 10000000000000 batches");
  refused_shapes("linear", "(0, 1000000)", "(0, 1000000)", "", {}, "\"k\" with shape [0, 1000000]");
  refused_shapes("kernel", "(0, 10000000000)", "(0, 1)", "", {}, "10000000000 channels");
  const std::string wide = number_bytes(std::vector<double>(30000, 0.5));
  for (const char* form : {"recurrent", "chunkwise", "parallel"}) {
    refused_shapes("kernel", "(1, 30000)", "(1, 30000)", wide,
                   {"--param", "feature_map=squared", "--form", form}, "make a state of 450015000 rows");
  }
}

TEST_CASE("an array that the variant does not take may be anything", "[bad input]") {
  const Run run;
  const std::string plain = npy("<f8", false, "(1, 2)", number_bytes<double>({1, 2}));
  const std::map<std::string, std::string> good = {{"q.npy", plain}, {"k", plain}, {"v.npy", plain}};
  const auto with_one_more = [&](const std::string& name, const std::string& bytes) {
    std::map<std::string, std::string> members = good;
    members[name] = bytes;
    write_zip(run.input(), members);
    return run.on_input("linear");
  };
  for (const std::string& bytes :
       {npy("|O", false, "(1,)", "x"), npy("<U4", false, "(2,)", std::string(32, 'x')),
        npy("<c16", false, "(1,)", std::string(16, 'x')), npy("<f8", false, "(9,)", "short"),
        std::string()}) {
    const Ran ran = with_one_more("beta.npy", bytes);
    CHECK(ran.status == exit_done);
    CHECK(ran.error == "palimpsest: " + run.input() + ": linear does not use: beta\n");
    check_refusal(run, with_one_more("initial_state.npy", bytes), "array \"initial_state\"");
  }
}

TEST_CASE("what f32 cannot hold is bad input", "[bad input]") {
  const Run run;
  const std::vector<std::string> f32 = {"--precision", "f32"};
  for (const char* name : {"q", "k", "v", "beta", "initial_state"})
    check_refusal(run, run("gated_deltanet", with_element(name, 1, 1e39), f32),
                  std::string("array \"") + name + "\": index [");
  check_refusal(run, run("gated_deltanet", good(), joined(f32, {"--param", "scale=1e300"})),
                "parameter scale is 1e+300");
  check_refusal(run, run("kernel", good(), joined(f32, {"--param", "eps=1e-60"})), "parameter eps is 1e-60");
  run.results("kernel", good(), {"--param", "eps=1e-60"});
}

namespace {

const std::vector<double> q = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
const std::vector<double> k = {0.6, 0.8, 0, 1, 1, 0};
const std::vector<double> v = {1, -2, 1.0 / 3};
const std::vector<double> beta = {1, 0.5, 0.25};
const Arrays plain = {
    {"q", Array({3, 2}, q)}, {"k", Array({3, 2}, k)}, {"v", Array({3, 1}, v)}, {"beta", Array({3}, beta)}};

/// What DeltaNet gives for the file.
Array output_of(const TemporaryFolder& folder, const std::filesystem::path& input) {
  const std::string output = folder / "out.npz";
  done({"run", "deltanet", "--input", input, "--output", output});
  return read_npz(output).arrays.at("o");
}

template <class... Words>
void file_refused(const TemporaryFolder& folder, const std::string& input, const Words&... words) {
  check_failure({"run", "deltanet", "--input", input, "--output", folder / "none.npz"}, exit_bad_usage,
                words...);
  CHECK_FALSE(std::filesystem::exists(folder / "none.npz"));
}

}  // namespace

TEST_CASE("run takes the same arrays from every kind of file", "[input files]") {
  const TemporaryFolder folder;
  write_npz(folder / "in.npz", plain);
  const Array expected = output_of(folder, folder / "in.npz");

  write_file(folder / "in.safetensors", safetensors({{"q", {"F64", {3, 2}, number_bytes(q)}},
                                                     {"k", {"F64", {3, 2}, number_bytes(k)}},
                                                     {"v", {"F64", {3, 1}, number_bytes(v)}},
                                                     {"beta", {"F64", {3}, number_bytes(beta)}}}));
  CHECK(output_of(folder, folder / "in.safetensors").values() == expected.values());

  write_file(folder / "in.csv",
             "label,q0,q1,k0,k1,v0,beta\na,0.1,0.2,0.6,0.8,1,1\nb,0.3,0.4,0,1,-2,0.5\n"
             "c,0.5,0.6,1,0,0.3333333333333333,0.25\n");
  CHECK(output_of(folder, folder / "in.csv").values() == expected.values());

  std::filesystem::create_directory(folder / "layer");
  for (const auto& [name, array] : plain) {
    const std::vector<std::byte> bytes = format_npy(array);
    write_file(folder / ("layer/" + name + ".npy"),
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  CHECK(output_of(folder, folder / "layer/v.npy").values() == expected.values());
  CHECK(output_of(folder, folder / "layer").values() == expected.values());
  done({"show", "learning", "--data", folder / "in.csv"});
}

TEST_CASE("run and show take arrays by other names", "[input files]") {
  const TemporaryFolder folder;
  const std::string input = folder / "in.npz";
  const auto column_first = [](std::vector<double> values) {  // [H, T, D] of one head
    const auto tokens = static_cast<Index>(values.size()) / 2;
    return Array({1, tokens, 2}, std::move(values));
  };
  write_npz(input, plain);
  const Array expected = output_of(folder, input);
  std::vector<double> logits;
  for (const double each : {0.75, 0.5, 0.25}) logits.push_back(std::log(each / (1 - each)));
  write_npz(input, {{"query", column_first(q)},
                    {"k", column_first(k)},
                    {"v", Array({1, 3, 1}, v)},
                    {"b", Array({1, 3}, beta)},
                    {"gate", Array({1, 3}, logits)}});
  const Array named = output_of(folder, input + "?q=query&beta=b&axes=HTD");
  CHECK(named.shape == std::vector<Index>{3, 1, 1});
  CHECK(named.values() == expected.values());
  CHECK(output_of(folder, input + "?q=query&beta=sigmoid(gate)&axes=HTD").values() != expected.values());
  file_refused(folder, input, "arrays \"q\" and \"beta\" are missing",
               "to use query as q and b as beta, open in.npz?beta=b&q=query");
  file_refused(folder, input + "?q=query&beta=c", "array \"c\" is missing");
  done({"show", "gates", "--data", input + "?q=query&beta=b&axes=HTD"});
  check_failure({"run", "deltanet", "--input", input + "?q=query", "--output", input}, exit_bad_usage,
                "is the input and would be lost");
}

TEST_CASE("run refuses such files in one line that names the place", "[input files]") {
  const TemporaryFolder folder;
  write_file(folder / "in.csv", "q0,k0,v0,beta\n1,1,1,1\n1,nan,1,1\n");
  file_refused(folder, folder / "in.csv", "in.csv: line 3, column \"k0\": expected a finite number");
  write_file(folder / "in.safetensors", number_bytes<std::uint64_t>({10'000'000'000}));
  file_refused(folder, folder / "in.safetensors", "claims 10000000000 bytes");
  write_file(folder / "q.npy", "nonsense");
  file_refused(folder, folder / "q.npy", "palimpsest: " + std::string(folder / "q.npy") + ": array \"q\"");
}
