#include "app/session/read_answers.h"

#include <fmt/format.h>

namespace palimpsest {

std::shared_ptr<const ReadMoments> ReadNow::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = present();
  return std::make_shared<const Value>(
      read_moments(*foundation->variant, foundation->sequence, token, effort.stop));
}

std::size_t ReadNow::bytes(const Value& read) {
  return static_cast<std::size_t>(read.before.size() + read.after.size()) * sizeof(double);
}

std::string reading_in_words(const Foundation& foundation, const ReadMoments* read) {
  const auto& options = foundation.sequence.settings.options;
  const auto is = [&](const char* name, const char* value) {
    const auto found = options.find(name);
    return found != options.end() && found->second == value;
  };
  if (is("causal", "false")) return "Read after the last word: every word sees all of them.";
  const std::string apart =
      read ? fmt::format(": {:.2g} % of this output apart", 100 * read->difference()) : std::string();
  if (is("order", "apply_first"))
    return fmt::format("Read before the batch is written. With the order update_first it is read after it{}.",
                       apart);
  if (is("order", "update_first"))
    return fmt::format("Read after the batch is written. With the order apply_first it is read before it{}.",
                       apart);
  return fmt::format(
      "Read after the write, so the word sees itself. Some papers read before it{}. This rule has no such "
      "setting.",
      apart);
}

}  // namespace palimpsest
