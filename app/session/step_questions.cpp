#include "app/session/step_questions.h"

#include <algorithm>
#include <tuple>

#include "app/session/found.h"
#include "core/base/error.h"
#include "core/insight/provenance.h"

namespace palimpsest {

static auto parts_of(const MatrixFigures& figures) {
  return std::tie(figures.counts, figures.singular_values);
}
static auto parts_of(const WhoWroteIt& made) { return std::tie(made.strongest); }

namespace {

/// All shares, the initial state's first.
std::vector<WriterShare> all_shares(const Foundation& foundation, const WrittenNumber& number, double& value,
                                    const std::stop_token& stop) {
  const Rule& rule = *foundation.variant->rule;
  std::vector<WriterShare> all;
  if (number.weights.empty()) {
    const StateEntry entry{.tokens = number.tokens, .row = number.row, .column = number.column};
    const Provenance made = provenance(rule, foundation.sequence, entry, stop);
    value = made.value;
    all.push_back({initial_token, made.initial.remaining, made.initial});
    for (const Share& share : made.shares)
      all.push_back({static_cast<Index>(all.size()) - 1, share.remaining, share});
    return all;
  }
  const Vector<double> weights =
      Eigen::Map<const Vector<double>>(number.weights.data(), static_cast<Index>(number.weights.size()));
  const ReadShares made = read_shares(rule, foundation.sequence, number.tokens, weights, number.column, stop);
  value = made.value;
  all.push_back({initial_token, made.initial});
  for (const double share : made.of_token) all.push_back({static_cast<Index>(all.size()) - 1, share});
  return all;
}

/// Finds out which token erased most of what a token wrote.
void find_eraser(WriterShare& writer, const Foundation& foundation, const WrittenNumber& number,
                 const std::stop_token& stop) {
  const StateEntry entry{.tokens = number.tokens, .row = number.row, .column = number.column};
  const std::vector<Share> past =
      history(*foundation.variant->rule, foundation.sequence, entry, writer.token, stop);
  for (std::size_t t = 0; t < past.size(); ++t) {
    if (std::abs(past[t].erased) <= std::abs(writer.erased_by)) continue;
    writer.eraser = static_cast<Index>(t);
    writer.erased_by = past[t].erased;
  }
}

}  // namespace

Found<BlockRecord::Value> BlockRecord::compute(const Trace& trace, const Effort& effort) const {
  std::shared_ptr<const Record> record = trace.shared_record(block, effort.stop);
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : record->tensors()) bytes += held_by(tensor);
  return {std::move(record), bytes};
}

Found<PictureFigures::Value> PictureFigures::compute(const Record& record, const Effort& effort) const {
  return matrix_figures(record.at(tensor), parts, effort.stop);
}

Found<WhoWrote::Value> WhoWrote::compute(const Foundation& foundation, const Effort& effort) const {
  WhoWroteIt made;
  std::vector<WriterShare> all = all_shares(foundation, number, made.value, effort.stop);
  effort.tell(0.5);
  std::erase_if(all, [](const WriterShare& writer) { return writer.remaining == 0; });
  std::ranges::stable_sort(all, [](const WriterShare& x, const WriterShare& y) {
    return std::abs(x.remaining) > std::abs(y.remaining);
  });
  const std::size_t named = std::min(all.size(), most);
  made.strongest.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(named));
  made.others = static_cast<Index>(all.size() - named);
  for (std::size_t i = named; i < all.size(); ++i) made.others_remaining += all[i].remaining;
  std::ranges::sort(made.strongest, {}, &WriterShare::token);
  if (!number.weights.empty()) return made;
  for (std::size_t i = 0; i < named; ++i) {
    find_eraser(made.strongest[i], foundation, number, effort.stop);
    effort.tell(0.5 + 0.5 * static_cast<double>(i + 1) / static_cast<double>(named));
  }
  return made;
}

}  // namespace palimpsest
