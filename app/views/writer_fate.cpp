#include "app/views/writer_fate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/text.h"

namespace palimpsest {

namespace {

/// Of three digits nothing is seen of what is smaller.
constexpr double unseen = 5e-4;

std::string called(Index token, const std::vector<std::string>& labels) {
  if (token == initial_token) return "the start";
  return fmt::format("{} “{}”", token, visible_label(labels[static_cast<std::size_t>(token)]));
}

/// "took 0.2" or "gave back 0.2": what erasing did to the size of what was written.
std::string did(double taken) {
  return fmt::format("{} {:.3g}", taken >= 0 ? "took" : "gave back", std::abs(taken));
}

/// "erased 0.000563 in all: 21 “.” took 0.00102, others gave back 0.00046": parts may be larger than the
/// whole, so each says which way it went. `sense` is the sign of what was written.
std::string erased_words(const WriterShare& writer, double sense, const std::vector<std::string>& labels) {
  const double all = sense * writer.share.erased;
  const double largest = sense * writer.erased_by;
  const double others = all - largest;
  const std::string whole = all >= 0 ? fmt::format("erased {:.3g}", all)
                                     : fmt::format("what others erased made it larger by {:.3g}", -all);
  if (writer.eraser < 0) return whole;
  const std::string eraser = called(writer.eraser, labels);
  if (std::abs(others) <= unseen * std::abs(all)) return fmt::format("{}, by {}", whole, eraser);
  return fmt::format("{} in all: {} {}, others {}", whole, eraser, did(largest), did(others));
}

}  // namespace

std::string writer_fate(const WriterShare& writer, const std::vector<std::string>& labels) {
  const Share& share = writer.share;
  if (share.written == 0 && share.mixed == 0 && share.decayed == 0 && share.erased == 0) return {};
  const double sense = share.written + share.mixed < 0 ? -1 : 1;
  std::string words = writer.token == initial_token
                          ? fmt::format("At the start: {:+.3g}", share.written)
                          : fmt::format("{} wrote {:+.3g}", called(writer.token, labels), share.written);
  if (share.mixed != 0) words += fmt::format(", {:+.3g} came from other parts", share.mixed);
  if (share.decayed != 0) words += fmt::format("; decayed {:.3g}", sense * share.decayed);
  if (share.erased != 0) words += "; " + erased_words(writer, sense, labels);
  return words + fmt::format("; left {:+.3g}.", writer.remaining);
}

int largest_share(const std::vector<WriterShare>& writers) {
  if (writers.empty()) return -1;
  const auto largest = std::ranges::max_element(
      writers, {}, [](const WriterShare& writer) { return std::abs(writer.remaining); });
  return static_cast<int>(largest - writers.begin());
}

}  // namespace palimpsest
