#include "core/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_writing(const fs::path& path, std::string_view problem) {
  refuse_file(path, "cannot be written: {}", problem);
}

/// Permissions of the file that is replaced, or those of any new file.
mode_t mode_of(const fs::path& target) {
  struct stat present {};
  if (stat(target.c_str(), &present) == 0) return present.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// Writes everything; returns errno, 0 if all went well.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

void require_readable_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) refuse_file(path, "no such file");
  if (!fs::status_known(status)) refuse_file(path, "cannot be opened: {}", error.message());
  if (fs::is_directory(status)) refuse_file(path, "is a folder, not a file");
  if (!fs::is_regular_file(status)) refuse_file(path, "is not a regular file");
  errno = 0;
  if (!std::ifstream(path, std::ios::binary)) refuse_file(path, "cannot be opened: {}", std::strerror(errno));
}

std::string read_text_file(const fs::path& path, std::uintmax_t most_bytes) {
  require_readable_file(path);
  std::ifstream file(path, std::ios::binary);
  constexpr std::uintmax_t first_bytes = 1 << 16;
  std::string text;
  while (file && text.size() <= most_bytes) {  // memory grows with what is there, not with the limit
    const std::uintmax_t before = text.size();
    text.resize(before + std::min(std::max(first_bytes, before), most_bytes + 1 - before));
    file.read(&text[before], static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::uintmax_t>(file.gcount()));
  }
  if (file.bad()) refuse_file(path, "cannot be read");
  if (text.size() > most_bytes) refuse_file(path, "has more than {} bytes, the limit", most_bytes);
  return text;
}

std::vector<std::byte> read_bytes(const fs::path& path, std::uint64_t first, std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(first));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  if (!file) refuse_file(path, "ends before the byte {}", first + count);
  return bytes;
}

std::string file_start(const fs::path& path, std::size_t count) {
  std::string start(count, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(count));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

std::vector<fs::path> files_ending(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->path().extension() == ending && !entry->is_directory(unknown)) files.push_back(entry->path());
  }
  if (error) refuse_file(folder, "the folder cannot be read: {}", error.message());
  std::ranges::sort(files);
  return files;
}

fs::path writable_target(const fs::path& path) {
  constexpr int most_links = 40;  // as the system counts
  std::error_code ignored;
  fs::path target = path;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, ignored)); ++links) {
    if (links == most_links) refuse_writing(path, "is a link that leads nowhere");
    target = target.parent_path() / fs::read_symlink(target, ignored);
  }
  const fs::file_status status = fs::status(target, ignored);
  if (path.empty()) refuse_writing(path, "is no file's name");
  if (fs::is_directory(status) || target.filename().empty()) refuse_writing(path, "is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse_writing(path, "is not a regular file");
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored))
    refuse_writing(path, fmt::format("there is no folder {}", folder.string()));
  // Writing creates a new file in the folder first and then renames it.
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    refuse_writing(path, fmt::format("in {}: {}", folder.string(), std::strerror(errno)));
  return target;
}

void replace_file(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path target = writable_target(path);
  std::string temporary = target.string() + ".XXXXXX";
  const int file = mkstemp(temporary.data());
  if (file < 0) refuse_writing(path, std::strerror(errno));
  int problem = write_all(file, bytes);
  if (problem == 0 && fchmod(file, mode_of(target)) != 0) problem = errno;
  if (close(file) != 0 && problem == 0) problem = errno;
  if (problem == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) problem = errno;
  if (problem == 0) return;
  unlink(temporary.c_str());
  refuse_writing(path, std::strerror(problem));
}

}  // namespace palimpsest
