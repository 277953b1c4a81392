#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/npz.h"

namespace palimpsest {

/// What is left of NpzLimits::total_bytes while a file is read.
class Budget {
 public:
  explicit Budget(const NpzLimits& limits) : total_(limits.total_bytes), left_(limits.total_bytes) {}

  /// Throws InputError naming `what` where less is left.
  void take(std::uint64_t bytes, std::string_view what);

 private:
  std::uint64_t total_;
  std::uint64_t left_;
};

/// Whether arrays of this name are texts where they hold text: `tokens` and `meta`.
bool may_be_text(std::string_view name);

/// `x.npz: array "q"`, as messages name it.
std::string array_words(const std::filesystem::path& path, std::string_view name);

/// Adds the array or text `name` of a file to its contents. `read` gives it as the bytes of an .npy; what it
/// throws, and all else that is wrong with this array alone, goes into Npz::unreadable.
void add_array(Npz& npz, const std::filesystem::path& path, const std::string& name, Budget& budget,
               const std::function<std::vector<std::byte>(std::string_view what)>& read);

}  // namespace palimpsest
