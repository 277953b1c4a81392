#include "core/io/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/io/npy.h"
#include "core/io/npy_header.h"

namespace palimpsest {

namespace {

void take_npy(Npz& npz, const std::vector<std::byte>& bytes, const std::string& name, std::string_view what,
              Budget& budget) {
  if (may_be_text(name)) {
    if (auto text = parse_npy_text(bytes, what)) {
      budget.take(bytes.size(), what);
      if (!npz.texts.emplace(name, std::move(*text)).second)
        throw InputError(fmt::format("{}: is there twice", what));
      return;
    }
  }
  const NpyHeader header = parse_npy_header(bytes, what);
  const std::size_t kept_bytes =
      header.kind == 'f' && header.item_bytes <= sizeof(float) ? sizeof(float) : sizeof(double);
  budget.take(std::max(bytes.size(), static_cast<std::size_t>(header.size) * kept_bytes), what);
  if (!npz.arrays.emplace(name, parse_npy(bytes, what)).second)
    throw InputError(fmt::format("{}: is there twice", what));
}

}  // namespace

void Budget::take(std::uint64_t bytes, std::string_view what) {
  if (bytes > left_)
    throw InputError(fmt::format("{}: the file holds more than {} bytes in all, the limit", what, total_));
  left_ -= bytes;
}

bool may_be_text(std::string_view name) { return name == "tokens" || name == "meta"; }

std::string array_words(const std::filesystem::path& path, std::string_view name) {
  return fmt::format("{}: array \"{}\"", path.string(), shown(name));
}

void add_array(Npz& npz, const std::filesystem::path& path, const std::string& name, Budget& budget,
               const std::function<std::vector<std::byte>(std::string_view what)>& read) {
  const std::string what = array_words(path, name);
  try {
    take_npy(npz, read(what), name, what, budget);
  } catch (const InputError& error) {
    npz.unreadable.emplace(name, error.what());
  } catch (const std::bad_alloc&) {
    npz.unreadable.emplace(name, fmt::format("{}: does not fit into memory", what));
  }
}

}  // namespace palimpsest
