#include "core/io/array_file.h"

#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Npz read_safetensors_in(const TemporaryFolder& folder, const std::string& bytes,
                        const NpzLimits& limits = {}) {
  write_file(folder / "x.safetensors", bytes);
  return read_safetensors(folder / "x.safetensors", limits);
}

/// Why the file, or the array "q" in it, cannot be read.
std::string refusal_of_safetensors(const std::string& bytes, const NpzLimits& limits = {}) {
  const TemporaryFolder folder;
  return input_error([&] { require_readable(read_safetensors_in(folder, bytes, limits).unreadable, "q"); });
}

/// Why a tensor with this description over eight bytes of data cannot be read.
std::string tensor_refusal(const std::string& description) {
  return refusal_of_safetensors(safetensors_with_header("{\"q\":" + description + "}", std::string(8, '\0')));
}

template <class Number>
void check_kept(const char* dtype, const std::vector<Number>& stored, const std::vector<double>& expected,
                bool is_f32) {
  INFO(dtype);
  const TemporaryFolder folder;
  const auto count = static_cast<Index>(stored.size());
  const Npz npz = read_safetensors_in(
      folder, safetensors({{"pad", {"U8", {1}, "x"}}, {"q", {dtype, {count}, number_bytes(stored)}}}));
  REQUIRE(npz.unreadable.empty());
  const Array& q = npz.arrays.at("q");
  CHECK(q.is_f32() == is_f32);
  REQUIRE(q.shape == std::vector<Index>{count});
  for (Index i = 0; i < count; ++i) CHECK(q[i] == entry(expected, i));
}

}  // namespace

TEST_CASE("every dtype of a .safetensors is kept exactly", "[safetensors]") {
  check_kept<double>("F64", {0.1, -1e300}, {0.1, -1e300}, false);
  check_kept<float>("F32", {0.1F, -3e38F}, {0.1F, -3e38F}, true);
  // 0x3C01 = 1 + 2^-10, 0x0001 = 2^-24, the least half
  check_kept<std::uint16_t>("F16", {0x3C01, 0x0001, 0xC000}, {1 + 0x1p-10, 0x1p-24, -2}, true);
  // 0x3F81 = 1 + 2^-7, 0x0001 = 2^-133, the least bfloat16
  check_kept<std::uint16_t>("BF16", {0x3F81, 0x0001, 0xC000}, {1 + 0x1p-7, 0x1p-133, -2}, true);
  check_kept<std::int64_t>("I64", {-3, std::int64_t{1} << 53}, {-3, 0x1p53}, false);
  check_kept<std::int32_t>("I32", {-3, 1 << 30}, {-3, 0x1p30}, false);
  check_kept<std::int16_t>("I16", {-300}, {-300}, false);
  check_kept<std::int8_t>("I8", {-3}, {-3}, false);
  check_kept<std::uint64_t>("U64", {std::uint64_t{1} << 63}, {0x1p63}, false);
  check_kept<std::uint32_t>("U32", {4000000000U}, {4e9}, false);
  check_kept<std::uint16_t>("U16", {60000}, {60000}, false);
  check_kept<std::uint8_t>("U8", {200}, {200}, false);
  check_kept<std::uint8_t>("BOOL", {0, 1}, {0, 1}, false);
  CHECK_THAT(refusal_of_safetensors(safetensors({{"q", {"F8_E4M3", {1}, "x"}}})),
             says("x.safetensors: array \"q\": dtype 'F8_E4M3'") && says("accepted are F16, BF16"));
  CHECK_THAT(refusal_of_safetensors(safetensors(
                 {{"q", {"I64", {1}, number_bytes<std::int64_t>({(std::int64_t{1} << 53) + 1})}}})),
             says("too large to be held exactly"));
}

TEST_CASE("shapes, empty tensors and texts of a .safetensors", "[safetensors]") {
  const TemporaryFolder folder;
  const std::string tokens = R"(["a","b"])";
  const Npz npz = read_safetensors_in(
      folder, safetensors({{"q", {"F32", {2, 1, 3}, number_bytes<float>({1, 2, 3, 4, 5, 6})}},
                           {"scale", {"F64", {}, number_bytes<double>({0.5})}},
                           {"none", {"F32", {0, 3}, ""}},
                           {"tokens", {"U8", {static_cast<Index>(tokens.size())}, tokens}}}));
  CHECK(npz.unreadable.empty());
  CHECK(npz.arrays.at("q").shape == std::vector<Index>{2, 1, 3});
  CHECK(npz.arrays.at("q")[5] == 6);
  CHECK(npz.arrays.at("scale").rank() == 0);
  CHECK(npz.arrays.at("none").shape == std::vector<Index>{0, 3});
  CHECK(npz.texts == Texts{{"tokens", tokens}});
  CHECK_FALSE(npz.arrays.contains("__metadata__"));
}

TEST_CASE("a .safetensors reads what is wanted alone", "[safetensors]") {
  const TemporaryFolder folder;
  write_file(folder / "x.safetensors",
             safetensors({{"q", {"F32", {1}, number_bytes<float>({1})}}, {"w", {"F8_E4M3", {1}, "x"}}}));
  const Npz npz =
      read_safetensors(folder / "x.safetensors", {}, [](std::string_view name) { return name == "q"; });
  CHECK(npz.arrays.size() == 1);
  CHECK(npz.unreadable.empty());
  CHECK(npz.unread == std::vector<std::string>{"w"});
}

TEST_CASE("a .safetensors that cannot be is refused before memory is asked for", "[safetensors]") {
  const std::string eight_bytes(8, '\0');
  const std::string q = R"("q":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})";
  check_refusals([](const std::string& bytes) { return refusal_of_safetensors(bytes); },
                 {{"", {"x.safetensors: is empty"}},
                  {"1234567", {"has 7 bytes"}},
                  {number_bytes<std::uint64_t>({10'000'000'000}), {"claims 10000000000 bytes, but only 0"}},
                  {number_bytes<std::uint64_t>({~std::uint64_t{0}}) + "{}", {"but only 2 follow"}},
                  {safetensors_with_header("", ""), {"not valid JSON"}},
                  {safetensors_with_header("[]", ""), {"expected an object, found array"}},
                  {safetensors_with_header("{\"q\":\xFF}", ""), {"not valid JSON"}},
                  {safetensors_with_header(std::string(1 << 20, '['), ""), {"lists in lists"}},
                  {safetensors_with_header("{" + q + "," + q + "}", eight_bytes), {"\"q\" appears twice"}}});
  const std::string whole = safetensors_with_header("{" + q + "}", eight_bytes);
  CHECK(refusal_of_safetensors(whole).empty());
  CHECK_THAT(refusal_of_safetensors(whole, {.total_bytes = 7}),
             says("array \"q\"") && says("more than 7 bytes"));
  check_refusals(
      tensor_refusal,
      {{"3", {"array \"q\": expected an object, found number"}},
       {R"({"shape":[1],"data_offsets":[0,8]})", {"expected a \"dtype\""}},
       {R"({"dtype":"F64","data_offsets":[0,8]})", {"expected a \"shape\""}},
       {R"({"dtype":"F64","shape":[-1],"data_offsets":[0,8]})", {"expected a \"shape\""}},
       {R"({"dtype":"F64","shape":[1.5],"data_offsets":[0,8]})", {"expected a \"shape\""}},
       {R"({"dtype":"F64","shape":[1]})", {"expected a \"data_offsets\""}},
       {R"({"dtype":"F64","shape":[1],"data_offsets":[8,0]})", {"where it begins and ends"}},
       {R"({"dtype":"F64","shape":[1],"data_offsets":[0]})", {"where it begins and ends"}},
       {R"({"dtype":"F64","shape":[1],"data_offsets":[8,16]})", {"outside the 8 bytes"}},
       {R"({"dtype":"F64","shape":[1250000000],"data_offsets":[0,10000000000]})", {"outside the 8 bytes"}},
       {R"({"dtype":"F64","shape":[2],"data_offsets":[0,8]})",
        {"shape [2] of dtype 'F64' does not fit the 8 bytes"}},
       // 2^61 doubles of 8 bytes are 2^64 bytes, which is 0 where nobody looks.
       {R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})", {"does not fit"}},
       {R"({"dtype":"F64","shape":[9223372036854775808],"data_offsets":[0,8]})", {"too long"}},
       {R"({"dtype":"F64","shape":[0,4611686018427387904,4],"data_offsets":[0,0]})", {"too large"}}});
}

TEST_CASE("no prefix of a .safetensors is read, and damage never crashes", "[safetensors]") {
  const std::string whole = safetensors({{"q", {"F32", {2, 2}, number_bytes<float>({1, 2, 3, 4})}}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(length);
    REQUIRE_THAT(refusal_of_safetensors(whole.substr(0, length)), says("x.safetensors"));
  }
  const TemporaryFolder folder;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x15);
    check_damaged(folder / "x.safetensors", damaged,
                  [](const std::filesystem::path& path) { return read_safetensors(path); });
  }
}
