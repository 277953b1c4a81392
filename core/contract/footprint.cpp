#include "core/contract/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/contract/sequence.h"

namespace palimpsest {

namespace {

constexpr double largest_state = 1e9;  // bytes as double; a run holds a few copies of it

constexpr double giga = 1e9;

/// Throws Unsupported with `verb` in front where `needed` is above `limit`.
void require_less(const char* verb, double limit, const Footprint& needed, const Sequence& sequence,
                  Form form, Index chunk_size) {
  if (needed.work <= limit) return;
  const std::string too_much =
      fmt::format("{:.1f} GB at its peak{}{}, above the limit of {:.0f} GB", needed.work / giga,
                  needed.what.empty() ? "" : " for ", needed.what, limit / giga);
  if (form == Form::parallel) {
    throw Unsupported(fmt::format(
        "{}the parallel form of {} tokens needs {}. The chunkwise form gives the same result in small chunks",
        verb, sequence.tokens, too_much));
  }
  if (form == Form::two_pass) {
    throw Unsupported(fmt::format(
        "{}the two passes of {} tokens in chunks of {} need {}. The chunkwise form gives the same result",
        verb, sequence.tokens, std::min(chunk_size, sequence.tokens), too_much));
  }
  if (form == Form::chunkwise) {
    throw Unsupported(fmt::format(
        "{}the chunkwise form in chunks of {} tokens needs {}. Smaller chunks give the same result", verb,
        std::min(chunk_size, sequence.tokens), too_much));
  }
  throw Unsupported(
      fmt::format("{}the recurrent form of {} tokens needs {}", verb, sequence.tokens, too_much));
}

}  // namespace

void require_footprint(const Footprint& needed, const Sequence& sequence, Form form, Index chunk_size) {
  require_less("", byte_limit, needed, sequence, form, chunk_size);
}

void require_record_footprint(const Footprint& needed, const Sequence& sequence, Form form,
                              Index chunk_size) {
  require_less("to show ", record_limit, needed, sequence, form, chunk_size);
}

void require_state(const Sequence& sequence, Index rows, Index columns) {
  const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
  if (bytes <= largest_state) return;
  const auto shape = [&](const char* name) {
    return to_string(std::vector<Index>{sequence.at(name).rows(), sequence.at(name).columns()});
  };
  throw InputError(fmt::format(
      R"(array "k" with shape {} and array "v" with shape {} for each head make a state of {} rows )"
      "and {} columns, {:.1f} GB; the limit is {:.0f} GB",
      shape("k"), shape("v"), rows, columns, bytes / giga, largest_state / giga));
}

}  // namespace palimpsest
