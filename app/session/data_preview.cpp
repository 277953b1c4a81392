#include "app/session/data_preview.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/session/found.h"
#include "app/session/inputs.h"
#include "app/session/presets.h"
#include "core/base/stop.h"
#include "core/insight/learning.h"
#include "core/proof/reference_run.h"
#include "core/rules/stored_pairs.h"
#include "core/variants/variants.h"

namespace palimpsest {

static auto parts_of(const HeadPreview& head) { return std::tie(head.similarity, head.strength, head.kept); }
static auto parts_of(const PreviewedData& preview) { return std::tie(preview.heads); }

namespace {

Matrix<double> first_rows(const Arrays& arrays, const char* name, Index rows) {
  const Array& array = arrays.find(name)->second;
  const Index columns = array.size() / array.shape.front();
  return MatrixView(array, 0, rows, columns, columns).all<double>();
}

/// alpha of the first tokens, from itself or its logarithm.
std::vector<double> kept(const Arrays& arrays, Index tokens) {
  const bool in_logs = arrays.contains("g");
  if (!in_logs && !arrays.contains("alpha")) return {};
  const Matrix<double> gates = first_rows(arrays, in_logs ? "g" : "alpha", tokens);
  std::vector<double> means;
  for (Index t = 0; t < tokens; ++t)
    means.push_back(in_logs ? gates.row(t).array().exp().mean() : gates.row(t).mean());
  return means;
}

std::vector<double> strength(const Variant& variant, const Sequence& sequence, Index tokens) {
  std::vector<double> reaches;
  for (Index t = 0; t < tokens; ++t) {
    const std::optional<Stability> known = stability_at(variant, sequence, t);
    if (!known) return {};
    reaches.push_back(known->reach);
  }
  return reaches;
}

HeadPreview preview_of(const DataSet& data, Index head, const Variant& variant, Index tokens) {
  HeadPreview result;
  const Inputs inputs = make_inputs(data, head, variant, {});
  const auto held = [&] {
    return held_inputs(variant, inputs.arrays, inputs.settings, Precision::f64).sequence;
  };
  const bool are_given = inputs.arrays->contains("k");  // else the rule makes its keys
  const StoredPairs keys = are_given ? StoredPairs{first_rows(*inputs.arrays, "k", tokens), {}}
                                     : stored_pairs(variant, held(), 0, tokens);
  result.similarity = interference(keys, keys, true);
  if (!inputs.made_up_alpha) result.kept = kept(*inputs.arrays, tokens);
  if (inputs.made_up_beta || !inputs.arrays->contains("beta")) return result;
  result.strength = strength(variant, held(), tokens);
  return result;
}

}  // namespace

const Variant& variant_of(const DataSet& data) {
  const auto table = variants();
  for (const std::string& id : {data.rule, data.fits}) {
    const auto found = std::ranges::find(table, id, &Variant::id);
    if (found != table.end()) return *found;
  }
  return find_variant("gated_deltanet");
}

Found<DataPreview::Value> DataPreview::compute(const Effort& effort) const {
  PreviewedData result;
  result.data = std::make_shared<const DataSet>(open_data(id));
  const DataSet& data = *result.data;
  result.variant = &variant_of(data);
  result.tokens = std::min(data.tokens, most_previewed_tokens);
  result.version = next_version();
  const Index heads = std::min(data.heads * data.batches, most_previewed_heads);
  for (Index head = 0; head < heads; ++head) {
    stop_if_asked(effort.stop);
    result.heads.push_back(preview_of(data, head, *result.variant, result.tokens));
    effort.tell(static_cast<double>(head + 1) / static_cast<double>(heads));
  }
  std::size_t bytes = memory_of(result);
  for (const auto& [name, array] : data.arrays)
    bytes += static_cast<std::size_t>(array.size()) * sizeof(double);
  return {std::make_shared<const PreviewedData>(std::move(result)), bytes};
}

}  // namespace palimpsest
