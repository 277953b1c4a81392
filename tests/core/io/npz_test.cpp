#include "core/io/npz.h"

#include <fmt/format.h>

#include "core/io/file.h"
#include "core/io/npy.h"
#include "tests/commands/raw_npz.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Why a file, or the first array in it that has one, cannot be read.
std::string refusal(const std::filesystem::path& path, const NpzLimits& limits = {}) {
  return input_error([&] {
    const Npz npz = read_npz(path, limits);
    if (!npz.unreadable.empty()) require_readable(npz.unreadable, npz.unreadable.begin()->first);
  });
}

const Arrays some_arrays{{"q", Array({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})},
                         {"alpha", Array({2}, std::vector<double>{0.1, 0.9})},
                         {"scale", Array({}, std::vector<double>{0.125})}};

/// Every result of reading damaged bytes is an InputError or arrays as large as their shapes say.
void read_damaged(const std::filesystem::path& path, std::string_view bytes) {
  write_file(path, bytes);
  try {
    for (const auto& [name, array] : read_npz(path).arrays) {
      const auto stored = std::visit([](const auto& values) { return values.size(); }, array.values);
      REQUIRE(stored == static_cast<std::size_t>(array.size()));
    }
  } catch (const InputError& error) {
    REQUIRE_THAT(error.what(), says(path.string()));
  }
}

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
    CHECK(npz.arrays.at(name).values == array.values);
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
  CHECK_THAT(refusal(path), says(path.string()) && says("no such file"));
  CHECK_THAT(refusal(folder.path()), says("is a folder"));
  CHECK_THAT(refusal("/dev/null"), says("not a regular file"));
  CHECK_THAT(refusal(""), says("\"\": no such file"));
  CHECK_THAT(refusal(std::string(300, 'x')), says(": cannot be opened: File name too long"));
  std::filesystem::create_symlink("there", folder / "here");
  std::filesystem::create_symlink("here", folder / "there");
  CHECK_THAT(refusal(folder / "here"), says(": cannot be opened: Too many levels of symbolic links"));
  write_file(path, "");
  CHECK_THAT(refusal(path), says("is empty"));
  write_file(path, "just some text");
  CHECK_THAT(refusal(path), says("not an .npz"));
  write_file(path, "\x93NUMPY and so on");
  CHECK_THAT(refusal(path), says("single array (.npy); give an .npz"));
  write_file(path, "PK\x03\x04 and so on");
  CHECK_THAT(refusal(path), says("broken or truncated"));
}

TEST_CASE("a file without permission to read it is refused", "[npz]") {
  const TemporaryFolder folder;
  write_npz(folder / "x.npz", some_arrays);
  std::filesystem::permissions(folder / "x.npz", std::filesystem::perms::none);
  // The superuser may read it all the same.
  if (!std::ifstream(folder / "x.npz"))
    CHECK_THAT(refusal(folder / "x.npz"), says("cannot be opened: Permission denied"));
}

TEST_CASE("a small file cannot ask for more memory than the limit", "[npz]") {
  // 4 MiB of uint8 zeros in 4 kB, which would be 32 MiB of doubles.
  CHECK(read_npz(data("zeros.npz"), {.total_bytes = 33 << 20}).arrays.at("zeros").size() == 4 << 20);
  CHECK_THAT(refusal(data("zeros.npz"), {.total_bytes = 31 << 20}), says("array \"zeros\"") && says("limit"));
  CHECK_THAT(refusal(data("zeros.npz"), {.total_bytes = 1 << 20}), says("more than 1048576 bytes"));
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
    CHECK_THAT(refusal(folder / "x.npz"), says("array \"zeros\""));
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
      REQUIRE_THAT(refusal(folder / "x.npz"), says("x.npz"));
    }
  }
}

TEST_CASE("damaged bytes give an error or arrays, never a crash", "[npz]") {
  const TemporaryFolder folder;
  write_npz(folder / "stored.npz", some_arrays, {{"meta", "{}"}});
  for (const auto& path : {folder / "stored.npz", data("small.npz")}) {
    const std::string whole = read_file(path);
    std::mt19937 random(7);
    for (int trial = 0; trial < 3000; ++trial) {
      std::string damaged = whole;
      for (int change = 0; change <= trial % 4; ++change)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      read_damaged(folder / "x.npz", damaged);
    }
    // The archive's index lies at the end: damage it more often than chance would.
    for (int trial = 0; trial < 3000; ++trial) {
      std::string damaged = whole;
      damaged[damaged.size() - 1 - random() % 200] = static_cast<char>(trial % 2 ? random() : 0xFF);
      read_damaged(folder / "x.npz", damaged);
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
  CHECK(npz.arrays.at("q").values == some_arrays.at("q").values);
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
