#include "app/session/read_questions.h"

#include <fmt/format.h>

#include <tuple>

#include "app/session/found.h"
#include "app/session/session.h"
#include "core/insight/written_together.h"
#include "core/rules/read_order.h"

namespace palimpsest {

static auto parts_of(const ReadMoments& read) { return std::tie(read.before, read.after); }

Found<ReadNow::Value> ReadNow::compute(const Foundation& foundation, const Effort& effort) const {
  return read_moments(*foundation.variant, foundation.sequence, token, effort.stop);
}

bool is_read_option(const Option& option) { return option.name == read_order_option; }

bool is_read_before(const Settings& settings) {
  const auto order = settings.options.find(read_order_option);
  return order != settings.options.end() && order->second == reads_before;
}

std::string no_read_choice(const Foundation& foundation) {
  return no_read_order(*foundation.variant, foundation.sequence.settings);
}

void choose_read(Session& session, bool before) {
  Choice choice = session.choice();
  choice.settings.options[read_order_option] = before ? reads_before : reads_after;
  session.choose(std::move(choice));
}

std::string reading_in_words(const Foundation& foundation, const ReadMoments* read) {
  const Sequence& sequence = foundation.sequence;
  const bool before = is_read_before(sequence.settings);
  std::string apart;
  if (const double own = read ? (before ? read->before : read->after).stableNorm() : 0; own > 0)
    apart =
        fmt::format(": {:.2g} % of this output apart", 100 * (read->after - read->before).stableNorm() / own);
  if (const std::string reason = no_read_choice(foundation); !reason.empty()) {
    const bool is_causal = foundation.variant->rule->is_causal(sequence);
    return read && is_causal ? fmt::format("Some papers read before the write{}. {}", apart, reason) : reason;
  }
  if (sequence.tokens > 0 && written_together(*foundation.variant, sequence, 0)) {
    return before ? fmt::format("Read before the batch is written. Other code reads after it{}.", apart)
                  : fmt::format("Read after the batch is written. Other code reads before it{}.", apart);
  }
  return before ? fmt::format(
                      "Read before the write, so the word does not see itself. Most papers read after it{}.",
                      apart)
                : fmt::format("Read after the write, so the word sees itself. Some papers read before it{}.",
                              apart);
}

}  // namespace palimpsest
