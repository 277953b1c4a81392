#pragma once

#include <fmt/ranges.h>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string_view>
#include <variant>

#include "core/base/error.h"
#include "core/base/matrix.h"
#include "tests/catch.h"
#include "tests/commands/raw_npz.h"
#include "tests/folders.h"

namespace palimpsest::testing {

/// A folder of this test alone, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto name =
        "palimpsest-" + std::to_string(std::random_device{}()) + std::to_string(std::random_device{}());
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::create_directory(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::filesystem::path data(std::string_view name) {
  return std::filesystem::path(test_data_folder()) / "io" / name;
}

inline std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// The message of the InputError that `action` throws; "" if it throws none.
template <class Action>
std::string input_error(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// What is given, and all that the message says by which it is refused.
using RefusedRows = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Holds that `refusal(given)` says so, row by row.
template <class Refusal>
void check_refusals(Refusal refusal, const RefusedRows& rows) {
  for (const auto& [given, parts] : rows) {
    INFO(given.substr(0, 200));
    const std::string message = refusal(given);
    for (const std::string& part : parts) CHECK_THAT(message, says(part));
  }
}

/// Holds that damaged bytes give an InputError that names the file, or arrays as large as their shapes say.
template <class Read>
void check_damaged(const std::filesystem::path& path, std::string_view bytes, Read read) {
  write_file(path, bytes);
  try {
    for (const auto& [name, array] : read(path).arrays) {
      const auto stored = std::visit([](const auto& values) { return std::ssize(values); }, array.values());
      REQUIRE(stored == array.size());
    }
  } catch (const InputError& error) {
    REQUIRE_THAT(error.what(), says(path.string()));
  }
}

/// The bytes of a .safetensors with this header and these data.
inline std::string safetensors_with_header(const std::string& header, const std::string& data) {
  return number_bytes<std::uint64_t>({header.size()}) + header + data;
}

/// A tensor as a .safetensors has it.
struct Tensor {
  std::string dtype;
  std::vector<Index> shape;
  std::string data;
};

/// The bytes of a .safetensors of these tensors, with the metadata that a library writes.
inline std::string safetensors(const std::map<std::string, Tensor>& tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, tensor.dtype,
                          fmt::join(tensor.shape, ","), data.size(), data.size() + tensor.data.size());
    data += tensor.data;
  }
  return safetensors_with_header(header + "}  ", data);
}

}  // namespace palimpsest::testing
