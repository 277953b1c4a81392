#include <zip.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>

#include "core/base/text.h"
#include "core/io/array_file.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;

constexpr std::string_view extension = ".npy";
constexpr std::string_view npy_magic = "\x93NUMPY";

std::string zip_problem(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string problem = zip_error_strerror(&error);
  zip_error_fini(&error);
  return problem;
}

/// Refuses whatever is plainly no .npz, with a better reason than the zip library could give.
void check_start(const fs::path& path) {
  require_readable_file(path);
  std::ifstream file(path, std::ios::binary);
  std::array<char, 6> buffer{};
  file.read(buffer.data(), buffer.size());
  const std::string_view start(buffer.data(), static_cast<std::size_t>(file.gcount()));
  if (start.empty()) refuse_file(path, "is empty; expected an .npz file");
  if (start == npy_magic)
    refuse_file(path, "is a single array (.npy); give an .npz with named arrays (numpy.savez)");
  if (!start.starts_with("PK")) refuse_file(path, "is not an .npz file (a zip archive of .npy arrays)");
}

Archive open_to_read(const fs::path& path) {
  check_start(path);
  int error = 0;
  Archive archive(zip_open(path.string().c_str(), ZIP_RDONLY, &error));
  if (!archive) refuse_file(path, "broken or truncated .npz: {}", zip_problem(error));
  return archive;
}

/// Inflates one member. Memory grows with the actual size, not with the size that the archive claims.
std::vector<std::byte> inflate(zip_t* archive, zip_uint64_t index, const Budget& budget,
                               std::string_view what) {
  zip_stat_t claim;
  zip_stat_init(&claim);
  if (zip_stat_index(archive, index, 0, &claim) != 0 || (claim.valid & ZIP_STAT_SIZE) == 0)
    refuse("{}: {}", what, zip_strerror(archive));
  Budget(budget).take(claim.size, what);
  const Member member(zip_fopen_index(archive, index, 0));
  if (!member) refuse("{}: cannot be inflated: {}", what, zip_strerror(archive));

  constexpr std::size_t first_bytes = 1 << 16;
  std::vector<std::byte> bytes;
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(std::max(first_bytes, 2 * filled));
    const zip_int64_t count = zip_fread(member.get(), &bytes[filled], bytes.size() - filled);
    if (count < 0) refuse("{}: cannot be inflated: {}", what, zip_file_strerror(member.get()));
    if (count == 0) break;  // the library has now compared the checksum
    filled += static_cast<std::size_t>(count);
    if (filled > claim.size) break;
  }
  if (filled != claim.size)
    refuse("{}: inflates to {} bytes, but the archive claims {}", what,
           filled > claim.size ? "more" : fmt::to_string(filled), claim.size);
  bytes.resize(filled);
  return bytes;
}

bool begins_as_npy(zip_t* archive, zip_uint64_t index) {
  const Member member(zip_fopen_index(archive, index, 0));
  std::array<char, npy_magic.size()> start{};
  return member && zip_fread(member.get(), start.data(), start.size()) == std::ssize(start) &&
         std::string_view(start.data(), start.size()) == npy_magic;
}

/// The name without ".npy", unchanged for an array without that ending; nothing for other members.
std::optional<std::string> array_name(zip_t* archive, zip_uint64_t index) {
  const char* found = zip_get_name(archive, index, 0);
  if (found == nullptr) return std::nullopt;
  std::string_view name = found;
  if (name.ends_with(extension))
    name.remove_suffix(extension.size());
  else if (!begins_as_npy(archive, index))
    return std::nullopt;
  return valid_utf8(name);
}

zip_uint64_t member_count(zip_t* archive) {
  return static_cast<zip_uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(archive, 0)));
}

void add_member(zip_t* archive, const fs::path& path, const std::string& name,
                const std::vector<std::byte>& bytes) {
  const auto check = [&](bool done) {
    if (!done) refuse("{}: cannot be written: {}", array_words(path, name), zip_strerror(archive));
  };
  zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  check(source != nullptr);
  const zip_int64_t index =
      zip_file_add(archive, (name + std::string(extension)).c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) zip_source_free(source);
  check(index >= 0);
  const auto member = static_cast<zip_uint64_t>(index);
  check(zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) == 0);
  constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;
  check(zip_file_set_dostime(archive, member, 0, first_of_january_1980, 0) == 0);
}

}  // namespace

Npz read_npz(const fs::path& path, const NpzLimits& limits, const Wanted& wanted) {
  const Archive archive = open_to_read(path);
  Budget budget(limits);
  Npz npz;
  for (zip_uint64_t index = 0; index < member_count(archive.get()); ++index) {
    const auto name = array_name(archive.get(), index);
    if (!name) continue;
    add_array(npz, path, *name, wanted, budget,
              [&](std::string_view what) { return inflate(archive.get(), index, budget, what); });
  }
  return npz;
}

std::optional<std::string> read_npz_text(const fs::path& path, std::string_view name) {
  const Archive archive = open_to_read(path);
  for (zip_uint64_t index = 0; index < member_count(archive.get()); ++index) {
    if (array_name(archive.get(), index) != name) continue;
    const std::string what = array_words(path, name);
    return parse_npy_text(inflate(archive.get(), index, Budget({}), what), what);
  }
  return std::nullopt;
}

void write_npz(const fs::path& path, const Arrays& arrays, const Texts& texts) {
  if (arrays.empty() && texts.empty()) refuse_file(path, "cannot be written: there are no arrays");
  const fs::path target = writable_target(path);
  // The library reads these when the archive is closed. It then writes a temporary file beside the target and
  // renames it.
  std::vector<std::vector<std::byte>> members;
  members.reserve(arrays.size() + texts.size());
  int error = 0;
  Archive archive(zip_open(target.string().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) refuse_file(path, "cannot be written: {}", zip_problem(error));
  for (const auto& [name, array] : arrays)
    add_member(archive.get(), path, name, members.emplace_back(format_npy(array)));
  for (const auto& [name, text] : texts)
    add_member(archive.get(), path, name, members.emplace_back(format_npy_text(text)));
  if (zip_close(archive.get()) != 0) refuse_file(path, "cannot be written: {}", zip_strerror(archive.get()));
  archive.release();
}

}  // namespace palimpsest
