#include "core/insight/network_pass.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/engines/inner_network.h"
#include "core/rules/network_rule.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

std::vector<StrongLink> strong_links(const Matrix<double>& amounts, std::size_t count) {
  std::vector<StrongLink> links;
  for (Index i = 0; i < amounts.rows(); ++i) {
    for (Index j = 0; j < amounts.cols(); ++j) {
      const double amount = amounts(i, j);
      if (amount != 0 && std::isfinite(amount)) links.push_back({i, j, amount});
    }
  }
  const auto is_stronger = [](const StrongLink& a, const StrongLink& b) {
    return std::abs(a.amount) > std::abs(b.amount);
  };
  const std::size_t kept = std::min(count, links.size());
  std::ranges::partial_sort(links, links.begin() + static_cast<std::ptrdiff_t>(kept), is_stronger);
  links.resize(kept);
  std::ranges::reverse(links);
  return links;
}

std::vector<StrongLink> strong_links(const Matrix<double>& W, const Vector<double>& x, std::size_t count) {
  return strong_links(x.asDiagonal() * W, count);
}

namespace {

/// What the engine does with one pair that begins a batch: its gradients are the sums that it leaves.
Record engine_record(const StoredPairs& pair, const Weights<double>& W,
                     const std::optional<LayerNorm<double>>& norm) {
  const InnerNetwork<double> network({{"W1", "W2"}, {"b1", "b2"}}, norm);
  Carried<double> carried = {W[0], W[1].transpose(), W[2], W[3].transpose()};
  for (std::size_t parameter = 0; parameter < W.size(); ++parameter)
    carried.push_back(Matrix<double>::Zero(carried[parameter].rows(), carried[parameter].cols()));
  const Matrix<double> key = pair.keys.bottomRows(1);
  const Vector<double> one = Vector<double>::Ones(1);
  Record record;
  Recorder recorder(record);
  network.primal({key, key, pair.values.bottomRows(1), one, one}, carried, &recorder);
  return record;
}

}  // namespace

NetworkPaths strongest_paths(const Matrix<double>& in, const Matrix<double>& out, std::size_t count) {
  return {strong_links(in, count), strong_links(out, count)};
}

NetworkPass network_pass(const Variant& variant, const Sequence& sequence, Index token,
                         const Weights<double>& W, std::size_t count) {
  if (W.size() != 4) throw InputError("a network of one hidden layer has the weights W1, b1, W2, b2");
  const StoredPairs pair = stored_pairs(variant, sequence, token, 1);
  const std::optional<LayerNorm<double>> norm = network_norm(sequence);
  const Record record = engine_record(pair, W, norm);
  NetworkPass pass{.key = pair.keys.bottomRows(1).transpose(),
                   .hidden = record.at("h"),
                   .output = record.at("y"),
                   .answer = {},
                   .value = pair.values.bottomRows(1).transpose(),
                   .error = {},
                   .output_gradient = record.at("g2"),
                   .hidden_gradient = record.at("g1")};
  pass.error = norm ? record.at("e") : record.at("g2");
  pass.answer = norm ? Vector<double>(pass.value + pass.error) : pass.output;
  for (const char* name : {"sum_W1_after", "sum_b1_after", "sum_W2_after", "sum_b2_after"})
    pass.weight_gradients.push_back(record.at(name));
  pass.sent = strongest_paths(pass.key.asDiagonal() * W[0], pass.hidden.asDiagonal() * W[2], count);
  pass.taught = strongest_paths(pass.weight_gradients[0], pass.weight_gradients[2], count);
  return pass;
}

}  // namespace palimpsest
