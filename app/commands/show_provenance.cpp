#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/who_wrote.h"
#include "core/base/text.h"
#include "core/insight/memory_change.h"
#include "core/insight/provenance.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

/// The largest number of the memory after the token: of S, or of what MesaNet has of the values.
std::pair<Index, Index> largest_cell(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const NamedStates memory = memory_after(*computation.variant, computation.sequence, *computation.recurrence,
                                          place.token + 1, place.stop);
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

/// "at the start" or "42 drum".
std::string writer_words(const ShownPlace& place, Index token) {
  return token == initial_token ? "at the start" : place.numbered(token);
}

std::string eraser_words(const ShownPlace& place, const WriterShare& writer) {
  return writer.eraser < 0
             ? ""
             : fmt::format("mostly by {}: {:.4f}", place.numbered(writer.eraser), writer.erased_by);
}

}  // namespace

ShownNumbers show_provenance(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const Rule& rule = *computation.variant->rule;
  const auto [row, column] = place.cell ? *place.cell : largest_cell(place);
  const Provenance made = provenance(rule, computation.sequence,
                                     {.tokens = place.token + 1, .row = row, .column = column}, place.stop);
  const WhoWrote key{place.computation, {.tokens = place.token + 1, .row = row, .column = column}};
  const auto writers = key.compute({.stop = place.stop, .progress = {}});
  ShownNumbers shown;
  Json shares = Json::array();
  for (std::size_t t = 0; t < made.shares.size(); ++t) {
    Json share = share_json(made.shares[t]);
    share["token"] = t;
    share["text"] = place.text(static_cast<Index>(t));
    shares.push_back(std::move(share));
  }
  Json strongest = Json::array();
  std::vector<std::vector<std::string>> rows = {{"", "written", "decayed", "erased", "left", ""}};
  for (const WriterShare& writer : writers->strongest) {
    const Share& share = writer.share;
    strongest.push_back({{"token", writer.token},
                         {"remaining", writer.remaining},
                         {"eraser", writer.eraser < 0 ? Json(nullptr) : Json(writer.eraser)},
                         {"erased_by", writer.erased_by}});
    rows.push_back({writer_words(place, writer.token), fmt::format("{:.4f}", share.written),
                    fmt::format("{:.4f}", share.decayed), fmt::format("{:.4f}", share.erased),
                    fmt::format("{:.4f}", writer.remaining), eraser_words(place, writer)});
  }
  if (writers->others > 0) {
    rows.push_back({fmt::format("{} others", writers->others), "", "", "",
                    fmt::format("{:.4f}", writers->others_remaining), ""});
  }
  shown.json = {{"row", row},
                {"column", column},
                {"value", made.value},
                {"strongest", std::move(strongest)},
                {"others", writers->others},
                {"others_remaining", writers->others_remaining},
                {"initial", share_json(made.initial)},
                {"shares", std::move(shares)}};
  shown.text = fmt::format("row {}, column {} of the memory after token {} is {:.4f}:\n", row, column,
                           one_line(place.numbered(place.token)), made.value) +
               columns(rows);
  return shown;
}

}  // namespace palimpsest
