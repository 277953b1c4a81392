#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "core/insight/memory_change.h"
#include "core/insight/provenance.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_named = 12;  // of the tokens, in the text

/// The largest number of the memory after the token: of S, or of what MesaNet has of the values.
std::pair<Index, Index> largest_cell(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const NamedStates memory = memory_after(*computation.variant, computation.sequence,
                                          *computation.trace(Form::recurrent), place.token + 1, place.stop);
  std::pair<Index, Index> cell;
  const auto S = std::ranges::find(memory, "S", &NamedStates::value_type::first);
  const Matrix<double>& numbers = S == memory.end() ? memory.back().second : S->second;
  numbers.cwiseAbs().maxCoeff(&cell.first, &cell.second);
  return cell;
}

Json share_json(const Share& share) {
  return {{"written", share.written},
          {"mixed", share.mixed},
          {"decayed", share.decayed},
          {"erased", share.erased},
          {"remaining", share.remaining}};
}

std::vector<std::string> share_row(std::string who, const Share& share) {
  return {std::move(who), fmt::format("{:.4f}", share.written), fmt::format("{:.4f}", share.decayed),
          fmt::format("{:.4f}", share.erased), fmt::format("{:.4f}", share.remaining)};
}

}  // namespace

ShownNumbers show_provenance(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const Rule& rule = *computation.variant->rule;
  const auto [row, column] = place.cell ? *place.cell : largest_cell(place);
  const Provenance made = provenance(rule, computation.sequence,
                                     {.tokens = place.token + 1, .row = row, .column = column}, place.stop);
  ShownNumbers shown;
  Json shares = Json::array();
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < made.shares.size(); ++t) {
    Json share = share_json(made.shares[t]);
    share["token"] = t;
    share["text"] = place.text(static_cast<Index>(t));
    shares.push_back(std::move(share));
    order.push_back(t);
  }
  shown.json = {{"row", row},
                {"column", column},
                {"value", made.value},
                {"initial", share_json(made.initial)},
                {"shares", std::move(shares)}};
  std::ranges::stable_sort(order, [&](std::size_t x, std::size_t y) {
    return std::abs(made.shares[x].remaining) > std::abs(made.shares[y].remaining);
  });
  std::vector<std::vector<std::string>> rows = {{"", "written", "decayed", "erased", "left"}};
  rows.push_back(share_row("at the start", made.initial));
  double others = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Share& share = made.shares[order[i]];
    if (i < most_named) rows.push_back(share_row(place.numbered(static_cast<Index>(order[i])), share));
    if (i >= most_named) others += share.remaining;
  }
  if (order.size() > most_named)
    rows.push_back(
        {fmt::format("{} others", order.size() - most_named), "", "", "", fmt::format("{:.4f}", others)});
  shown.text = fmt::format("row {}, column {} of the memory after token {} is {:.4f}:\n", row, column,
                           place.numbered(place.token), made.value) +
               columns(rows);
  return shown;
}

}  // namespace palimpsest
