#include <fmt/format.h>

#include <cmath>

#include "core/base/text.h"
#include "core/io/array_file.h"
#include "core/io/file.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// An .npy with the given header text and data.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xFF);
  return bytes + header + data;
}

std::string header(const std::string& dtype, const std::vector<Index>& shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}\n", dtype,
                     fortran ? "True" : "False", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Array parse(const std::string& bytes) { return parse_npy(as_bytes(bytes), "x.npz: array \"q\""); }

std::string refusal_of_npy(const std::string& bytes) {
  return input_error([&] { parse(bytes); });
}

/// Reads `values` back in both byte orders.
template <class Value>
void check_dtype(const std::string& dtype, const std::vector<Value>& values, bool kept_as_float = false) {
  INFO(dtype);
  const auto length = static_cast<Index>(values.size());
  for (const char order : {'<', '>'}) {
    const Array array = parse(npy(header(order + dtype, {length}), number_bytes(values, order == '>')));
    REQUIRE(array.shape == std::vector<Index>{length});
    CHECK(array.is_f32() == kept_as_float);
    for (Index i = 0; i < length; ++i) CHECK(array[i] == static_cast<double>(entry(values, i)));
  }
}

template <class Integer>
void check_integers(const std::string& dtype) {
  using Limits = std::numeric_limits<Integer>;
  check_dtype<Integer>(dtype,
                       {0, 1, 100, Limits::min(), sizeof(Integer) < 8 ? Limits::max() : Integer{1} << 53});
}

double half_value(unsigned bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const double fraction = bits & 0x3FF;
  if (exponent == 31) return fraction > 0 ? quiet_nan : sign * infinity;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace

TEST_CASE("every accepted dtype is read in both byte orders", "[npy]") {
  check_integers<std::int8_t>("i1");
  check_integers<std::int16_t>("i2");
  check_integers<std::int32_t>("i4");
  check_integers<std::int64_t>("i8");
  check_integers<std::uint8_t>("u1");
  check_integers<std::uint16_t>("u2");
  check_integers<std::uint32_t>("u4");
  check_integers<std::uint64_t>("u8");
  const auto infinity = std::numeric_limits<float>::infinity();
  check_dtype<float>("f4", {1.5F, -0.1F, 1e-45F, infinity, -infinity}, true);
  check_dtype<double>("f8", {0.1, -5e-324, 1.7976931348623157e308, infinity});
  check_dtype<std::uint8_t>("b1", {0, 1, 1});
  CHECK(parse(npy(header("|b1", {2}), std::string("\x00\x07", 2)))[1] == 1);
}

TEST_CASE("all 65536 float16 numbers are exact", "[npy]") {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const Array array = parse(npy(header("<f2", {65536}), number_bytes(bits)));
  REQUIRE(array.is_f32());
  int wrong = 0;
  for (Index i = 0; i < array.size(); ++i) {
    const double expected = half_value(static_cast<unsigned>(i));
    const bool same = std::isnan(expected)
                          ? std::isnan(array[i])
                          : array[i] == expected && std::signbit(array[i]) == std::signbit(expected);
    wrong += same ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("an integer that a double cannot hold is refused with its index", "[npy]") {
  const std::vector<std::int64_t> odd{1, 2, 3, 4, (std::int64_t{1} << 53) + 1, 6};
  CHECK_THAT(refusal_of_npy(npy(header("<i8", {2, 3}), number_bytes(odd))),
             says("9007199254740993 at [1, 1]"));
  const std::vector<std::uint64_t> largest{~std::uint64_t{0}};
  CHECK_THAT(refusal_of_npy(npy(header("<u8", {}), number_bytes(largest))),
             says("18446744073709551615 at []"));
  // Even ones may be exact, down to the most negative.
  const std::vector<std::int64_t> even{std::numeric_limits<std::int64_t>::min(), std::int64_t{3} << 60};
  CHECK(parse(npy(header("<i8", {2}), number_bytes(even)))[0] == -std::ldexp(1.0, 63));
}

TEST_CASE("Fortran order becomes row-major at every rank", "[npy]") {
  const std::vector<std::int16_t> stored{0, 3, 1, 4, 2, 5};
  const Array matrix = parse(npy(header("<i2", {2, 3}, true), number_bytes(stored)));
  for (Index i = 0; i < 6; ++i) CHECK(matrix[i] == static_cast<double>(i));

  const std::vector<Index> shape{2, 3, 4, 5};
  std::vector<std::int16_t> values(120);
  for (std::int16_t i = 0; i < 120; ++i) {
    const std::vector<Index> at = index_of(shape, i);
    entry(values, at[0] + 2 * (at[1] + 3 * (at[2] + 4 * at[3]))) = i;
  }
  const Array array = parse(npy(header(">i2", shape, true), number_bytes(values, true)));
  REQUIRE(array.shape == shape);
  for (Index i = 0; i < array.size(); ++i) REQUIRE(array[i] == static_cast<double>(i));
}

TEST_CASE("empty and 0-d arrays, other versions and spellings of the header", "[npy]") {
  CHECK(parse(npy(header("<f4", {0, 3}), "")).size() == 0);
  CHECK(parse(npy(header("<f4", {3, 0, 2}, true), "")).shape == std::vector<Index>{3, 0, 2});
  const std::string one = number_bytes<double>({2.5});
  CHECK(parse(npy(header("<f8", {}), one)).rank() == 0);
  CHECK(parse(npy(header("<f8", {}), one))[0] == 2.5);
  for (const int version : {2, 3}) CHECK(parse(npy(header("<f8", {1}), one, version))[0] == 2.5);
  CHECK(parse(npy(R"({"shape":(1L,1L),"fortran_order":False,"descr":"<f8"})", one)).rank() == 2);
}

TEST_CASE("what cannot be read is refused by name", "[npy]") {
  for (const std::string dtype : {"<c8", "<c16", "|O", "<U3", "|S5", "<M8[s]", "|V4", "<f16", "<i3", "|b2",
                                  "", "<", "f", "<f99999999999"}) {
    INFO(dtype);
    const std::string message = refusal_of_npy(npy(header(dtype, {0}), ""));
    CHECK_THAT(message, says("x.npz: array \"q\": dtype '" + dtype + "'") && says("accepted are float16"));
  }
  CHECK_THAT(refusal_of_npy(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
             says("[('a', '<f4')]"));
}

TEST_CASE("hostile headers are refused before anything is allocated", "[npy]") {
  check_refusals(
      refusal_of_npy,
      {{npy(header("<f4", {1'000'000'000'000}), "1234"), {"needs 1000000000000 elements"}},
       {npy(header("<f4", {Index{1} << 40, Index{1} << 40}), "1234"), {"too large"}},
       {npy(header("<f4", {0, Index{1} << 40, Index{1} << 40}), ""), {"too large"}},
       {npy(header("<f4", {-1}), "1234"), {"negative"}},
       {npy(header("<f4", {2, -2}), "1234"), {"negative"}},
       {npy(header("<f4", {2}), "1234567"), {"7 bytes of data"}},
       {npy(header("<f4", {2}), "123456789"), {"9 bytes of data"}},
       {npy(header("<f4", std::vector<Index>(65, 1)), "1234"), {"more than 64 axes"}},
       {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", ""), {"too long"}},
       {std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F", 12) + std::string(1000, ' '),
        {"claims 2147483647 bytes, but only 1000 follow"}},
       {std::string("\x93NUMPY\x04\x00\x00\x00\x00\x00", 12), {"version 4.0"}}});
  for (const std::string text :
       {"", "{", "{}", "}", "{'descr'", "{'descr: '<f4'", "{'descr': '<f4'", "{'descr': [('a', '<f4')",
        "[1, 2]", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'fortran_order': False, 'shape': 4}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4",
        "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} and more", "\xFF\xFE\x00garbage"}) {
    INFO(text);
    CHECK_THAT(refusal_of_npy(npy(text, "1234")), says("broken .npy header"));
  }
}

TEST_CASE("no prefix and no damaged header of an .npy gets past the checks", "[npy]") {
  const std::string whole = npy(header("<f4", {2, 3}), std::string(24, 'x'));
  for (std::size_t length = 0; length < whole.size(); ++length)
    REQUIRE(refusal_of_npy(whole.substr(0, length)) != "");

  std::mt19937 random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string damaged = whole;
    for (int change = 0; change <= trial % 3; ++change) {
      damaged[random() % damaged.size()] =
          static_cast<char>(trial % 2 ? random() : "0123456789(){}[],:' "[random() % 20]);
    }
    try {
      const Array array = parse(damaged);
      REQUIRE(array.size() <= 24);
    } catch (const InputError&) {
    }
  }
}

TEST_CASE("format_npy and parse_npy are inverse", "[npy]") {
  const Array doubles({2, 1, 3}, std::vector<double>{0.1, -0.0, 5e-324, 1e308, -2, 3});
  const Array floats({3}, std::vector<float>{0.1F, 1e-45F, -7});
  for (const Array& array :
       {doubles, floats, Array({}, std::vector<double>{4}), Array({0, 5}, std::vector<float>{})}) {
    const auto bytes = format_npy(array);
    const Array back = parse_npy(bytes, "array");
    CHECK(back.shape == array.shape);
    CHECK(back.values() == array.values());
    CHECK((bytes.size() - static_cast<std::size_t>(array.size()) * (array.is_f32() ? 4 : 8)) % 64 == 0);
  }
}

TEST_CASE("text is read from bytes and from strings", "[npy]") {
  const auto text = [](const std::string& bytes) { return parse_npy_text(as_bytes(bytes), "array"); };
  CHECK(parse_npy_text(format_npy_text("na\xC3\xAFve"), "array") == "na\xC3\xAFve");
  CHECK(parse_npy_text(format_npy_text(""), "array") == "");
  CHECK(text(npy(header("|S4", {}), std::string("ab\0\0", 4))) == "ab");
  CHECK(text(npy(header("<U2", {}), number_bytes<std::uint32_t>({0x1F600, 0xE9}))) ==
        "\xF0\x9F\x98\x80\xC3\xA9");
  CHECK(text(npy(header(">U2", {1}), number_bytes<std::uint32_t>({0x110000, 'a'}, true))) ==
        "\xEF\xBF\xBD"
        "a");
  CHECK(text(npy(header("|S0", {}), "")) == "");
  CHECK(text(npy(header("<f4", {1}), "1234")) == std::nullopt);
  CHECK(text(npy(header("|S1", {2}), "ab")) == std::nullopt);
}

TEST_CASE("whatever is not UTF-8 is replaced visibly", "[npy]") {
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(valid_utf8("\xE6\xBC\xA2 ok \xF0\x9F\x98\x80") == "\xE6\xBC\xA2 ok \xF0\x9F\x98\x80");
  CHECK(valid_utf8("a\xFF"
                   "b") == "a" + mark + "b");
  CHECK(valid_utf8("\xC3") == mark);
  CHECK(valid_utf8("\xC0\xAF") == mark + mark);                        // overlong
  CHECK(valid_utf8("\xED\xA0\x80") == mark + mark + mark);             // a surrogate
  CHECK(valid_utf8("\xF4\x90\x80\x80") == mark + mark + mark + mark);  // beyond the last code point
}

TEST_CASE("a line for a terminal has no control characters, whatever it is made of", "[npy]") {
  CHECK(one_line("a\x1b[31m\nb\t\x7f") == "a [31m b  ");
  CHECK(one_line(std::string_view("\0x", 2)) == " x");
  CHECK(one_line("\xC2\x9B"
                 "31m \xC2\xA0\xC3\xA9") == " 31m \xC2\xA0\xC3\xA9");  // U+009B is a control, U+00A0 is not
  CHECK(one_line("\xFF\xC2") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(shown(std::string(79, 'x') + "\xC3\xA9") == std::string(79, 'x') + "\xEF\xBF\xBD...");
}

namespace {

/// Why a file, or the first array in it that has one, cannot be read.
std::string refusal_of_npz(const std::filesystem::path& path, const NpzLimits& limits = {}) {
  return input_error([&] {
    const Npz npz = read_npz(path, limits);
    if (!npz.unreadable.empty()) require_readable(npz.unreadable, npz.unreadable.begin()->first);
  });
}

const Arrays some_arrays{{"q", Array({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})},
                         {"alpha", Array({2}, std::vector<double>{0.1, 0.9})},
                         {"scale", Array({}, std::vector<double>{0.125})}};

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE("an .npz comes back as it was written", "[npz]") {
  const TemporaryFolder folder;
  write_npz(folder / "x.npz", some_arrays, {{"meta", "{}"}, {"tokens", "[\"\xC3\xA9\"]"}});
  const Npz npz = read_npz(folder / "x.npz");
  REQUIRE(npz.arrays.size() == 3);
  for (const auto& [name, array] : some_arrays) {
    CHECK(npz.arrays.at(name).shape == array.shape);
    CHECK(npz.arrays.at(name).values() == array.values());
  }
  CHECK(npz.texts == Texts{{"meta", "{}"}, {"tokens", "[\"\xC3\xA9\"]"}});
  CHECK(read_npz_text(folder / "x.npz", "meta") == "{}");
  CHECK(read_npz_text(folder / "x.npz", "q") == std::nullopt);
  CHECK(read_npz_text(folder / "x.npz", "absent") == std::nullopt);
}

TEST_CASE("the same arrays give the same bytes, and nothing else is left in the folder", "[npz]") {
  const TemporaryFolder folder;
  write_npz(folder / "x.npz", some_arrays);
  write_file(folder / "y.npz", "whatever was there before");
  write_npz(folder / "y.npz", some_arrays);
  CHECK(read_file(folder / "x.npz") == read_file(folder / "y.npz"));
  CHECK(names_in(folder.path()).size() == 2);
}

TEST_CASE("files of numpy are read: every dtype, byte order and element order, deflated", "[npz]") {
  const Npz npz = read_npz(data("numpy.npz"));
  for (const char* dtype : {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}) {
    for (const char* order : {"little_C", "little_F", "big_C", "big_F"}) {
      const Array& array = npz.arrays.at(fmt::format("{}_{}", dtype, order));
      REQUIRE(array.shape == std::vector<Index>{2, 3, 4});
      for (Index i = 0; i < 24; ++i) REQUIRE(array[i] == static_cast<double>(i));
    }
  }
  CHECK(npz.arrays.at("flags")[0] == 1);
  CHECK(npz.arrays.at("flags")[1] == 0);
  CHECK(npz.arrays.at("scalar")[0] == 2.5);
  CHECK(npz.arrays.at("empty").shape == std::vector<Index>{0, 3});
  CHECK(npz.arrays.at("signs")[0] == -128);
  CHECK(npz.texts.at("tokens") == R"(["\u00e9", "b"])");
  CHECK(npz.texts.at("meta") == R"({"name": "from numpy"})");
}

TEST_CASE("what is no .npz is refused with a reason", "[npz]") {
  const TemporaryFolder folder;
  const auto path = folder / "x.npz";
  CHECK_THAT(refusal_of_npz(path), says(path.string()) && says("no such file"));
  CHECK_THAT(refusal_of_npz(folder.path()), says("is a folder"));
  CHECK_THAT(refusal_of_npz("/dev/null"), says("not a regular file"));
  CHECK_THAT(refusal_of_npz(""), says("\"\": no such file"));
  CHECK_THAT(refusal_of_npz(std::string(300, 'x')), says(": cannot be opened: File name too long"));
  std::filesystem::create_symlink("there", folder / "here");
  std::filesystem::create_symlink("here", folder / "there");
  CHECK_THAT(refusal_of_npz(folder / "here"), says(": cannot be opened: Too many levels of symbolic links"));
  write_file(path, "");
  CHECK_THAT(refusal_of_npz(path), says("is empty"));
  write_file(path, "just some text");
  CHECK_THAT(refusal_of_npz(path), says("not an .npz"));
  write_file(path, "\x93NUMPY and so on");
  CHECK_THAT(refusal_of_npz(path), says("single array (.npy); give an .npz"));
  write_file(path, "PK\x03\x04 and so on");
  CHECK_THAT(refusal_of_npz(path), says("broken or truncated"));
}

TEST_CASE("a file without permission to read it is refused", "[npz]") {
  const TemporaryFolder folder;
  write_npz(folder / "x.npz", some_arrays);
  std::filesystem::permissions(folder / "x.npz", std::filesystem::perms::none);
  // The superuser may read it all the same.
  if (!std::ifstream(folder / "x.npz"))
    CHECK_THAT(refusal_of_npz(folder / "x.npz"), says("cannot be opened: Permission denied"));
}

TEST_CASE("a small file cannot ask for more memory than the limit", "[npz]") {
  // 4 MiB of uint8 zeros in 4 kB, which would be 32 MiB of doubles.
  CHECK(read_npz(data("zeros.npz"), {.total_bytes = 33 << 20}).arrays.at("zeros").size() == 4 << 20);
  CHECK_THAT(refusal_of_npz(data("zeros.npz"), {.total_bytes = 31 << 20}),
             says("array \"zeros\"") && says("limit"));
  CHECK_THAT(refusal_of_npz(data("zeros.npz"), {.total_bytes = 1 << 20}), says("more than 1048576 bytes"));
}

TEST_CASE("a member that inflates to something other than the archive claims is refused", "[npz]") {
  const TemporaryFolder folder;
  const std::string whole = read_file(data("zeros.npz"));
  const std::uint32_t true_size = (4 << 20) + 128;
  // The claim in the central directory is the last place where the size stands.
  const std::size_t claim = whole.rfind(std::string(reinterpret_cast<const char*>(&true_size), 4));
  REQUIRE(claim != std::string::npos);
  for (const std::uint32_t lie : {0U, 100U, true_size - 1, true_size + 1, 0xFFFFFFF0U}) {
    INFO(lie);
    std::string lying = whole;
    lying.replace(claim, 4, reinterpret_cast<const char*>(&lie), 4);
    write_file(folder / "x.npz", lying);
    CHECK_THAT(refusal_of_npz(folder / "x.npz"), says("array \"zeros\""));
  }
}

TEST_CASE("no prefix of an .npz is read", "[npz]") {
  const TemporaryFolder folder;
  write_npz(folder / "stored.npz", some_arrays, {{"meta", "{}"}});
  for (const auto& path : {folder / "stored.npz", data("small.npz")}) {
    const std::string whole = read_file(path);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      write_file(folder / "x.npz", std::string_view(whole).substr(0, length));
      INFO(length);
      REQUIRE_THAT(refusal_of_npz(folder / "x.npz"), says("x.npz"));
    }
  }
}

TEST_CASE("damaged bytes give an error or arrays, never a crash", "[npz]") {
  const auto read = [](const std::filesystem::path& path) { return read_npz(path); };
  const TemporaryFolder folder;
  write_npz(folder / "stored.npz", some_arrays, {{"meta", "{}"}});
  for (const auto& path : {folder / "stored.npz", data("small.npz")}) {
    const std::string whole = read_file(path);
    std::mt19937 random(7);
    for (int trial = 0; trial < 3000; ++trial) {
      std::string damaged = whole;
      for (int change = 0; change <= trial % 4; ++change)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      check_damaged(folder / "x.npz", damaged, read);
    }
    // The archive's index lies at the end: damage it more often than chance would.
    for (int trial = 0; trial < 3000; ++trial) {
      std::string damaged = whole;
      damaged[damaged.size() - 1 - random() % 200] = static_cast<char>(trial % 2 ? random() : 0xFF);
      check_damaged(folder / "x.npz", damaged, read);
    }
  }
}

TEST_CASE("where nothing can be written the path and the reason are named", "[npz]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::filesystem::path& path, const Arrays& arrays) {
    return input_error([&] { write_npz(path, arrays); });
  };
  CHECK_THAT(refused(folder / "absent/x.npz", some_arrays),
             says("absent/x.npz: cannot be written: there is no folder"));
  CHECK_THAT(refused(folder.path(), some_arrays), says("is a folder"));
  CHECK_THAT(refused("/dev/null", some_arrays), says("not a regular file"));
  CHECK_THAT(refused(folder / "x.npz", {}), says("no arrays"));
  CHECK(names_in(folder.path()).empty());
  if (std::filesystem::exists("/proc/self"))
    CHECK_THAT(refused("/proc/x.npz", some_arrays), says("/proc/x.npz: cannot be written"));
}

TEST_CASE("a link is written through", "[npz]") {
  const TemporaryFolder folder;
  write_file(folder / "target.npz", "old");
  std::filesystem::create_symlink("target.npz", folder / "link.npz");
  write_npz(folder / "link.npz", some_arrays);
  CHECK(std::filesystem::is_symlink(folder / "link.npz"));
  CHECK(read_npz(folder / "target.npz").arrays.size() == 3);
  std::filesystem::create_symlink("new.npz", folder / "dangling.npz");
  write_npz(folder / "dangling.npz", some_arrays);
  CHECK(std::filesystem::is_symlink(folder / "dangling.npz"));
  CHECK(read_npz(folder / "new.npz").arrays.size() == 3);
  std::filesystem::create_symlink("circle.npz", folder / "circle.npz");
  CHECK_THAT(input_error([&] { write_npz(folder / "circle.npz", some_arrays); }), says("leads nowhere"));
}

TEST_CASE("an array without the ending .npy is read, as numpy does", "[npz]") {
  const TemporaryFolder folder;
  const auto q = format_npy(some_arrays.at("q"));
  write_zip(folder / "x.npz",
            {{"q", {reinterpret_cast<const char*>(q.data()), q.size()}}, {"notes", "words"}});
  const Npz npz = read_npz(folder / "x.npz");
  CHECK(npz.arrays.at("q").values() == some_arrays.at("q").values());
  CHECK(npz.arrays.size() == 1);
}

TEST_CASE("a file takes the place of another only when it is complete", "[file]") {
  const TemporaryFolder folder;
  write_file(folder / "x", "old");
  std::filesystem::permissions(folder / "x",
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  replace_file(folder / "x", as_bytes("new"));
  CHECK(read_file(folder / "x") == "new");
  CHECK(std::filesystem::status(folder / "x").permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK_THAT(input_error([&] { replace_file("/dev/full", as_bytes("new")); }), says("not a regular file"));
  CHECK(names_in(folder.path()).size() == 1);
}

TEST_CASE("a text is read from a regular file of a sensible size alone", "[file]") {
  const TemporaryFolder folder;
  write_file(folder / "x", "words");
  CHECK(read_text_file(folder / "x", 5) == "words");
  CHECK_THAT(input_error([&] { read_text_file(folder / "x", 4); }), says("more than 4 bytes"));
  CHECK_THAT(input_error([&] { read_text_file("/dev/zero", 4); }), says("not a regular file"));
  CHECK_THAT(input_error([&] { read_text_file(folder.path(), 4); }), says("is a folder"));
}
