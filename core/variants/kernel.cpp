#include "core/base/refuse.h"
#include "core/numbers/features.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

Notation kernel_notation(const Settings& settings) {
  const std::string& map_q = settings.option("feature_map_q");
  const std::string& map_k = settings.option("feature_map_k");
  const auto mapped_by = [](const std::string& map, const char* prefix, const Expression& x) {
    if (map == "favor") return call(prefix + map, {x, tensor("directions")});
    return call(prefix + map, {x});
  };
  const auto before = [&](const char* prefix, const char* k, const char* v, const ProgramNames& mapped,
                          const char* ones) {
    return std::vector<Operation>{
        {"features_k", Purpose::prepare, "Key features",
         "The key is mapped to features; their inner products measure similarity.", mapped.k,
         mapped_by(map_k, prefix, tensor(k))},
        {"ones", Purpose::prepare, "A value and a 1", "A constant 1 beside the value sums the weights.",
         mapped.v, call(ones, {tensor(v)})}};
  };
  const auto asked = [&](const char* prefix, const char* q, const ProgramNames& mapped) {
    return std::vector<Operation>{{"features_q", Purpose::prepare, "Query features",
                                   "The query is mapped to features too.", mapped.q,
                                   mapped_by(map_q, prefix, query(settings, q))}};
  };
  const char* sentence = "Dividing by the sum of the weights gives a weighted mean.";
  const ProgramNames token = {"q_features", "k_features", "v_one", "read"};
  const ProgramNames rows = {"Q_features", "K_features", "V_ones", "READ"};
  return {
      .token = token,
      .rows = rows,
      .token_before = before("features/", "k", "v", token, "append_one"),
      .token_query = asked("features/", "q", token),
      .token_after = {{"normalise", Purpose::normalise, "Weighted mean", sentence, "o",
                       call("normalise", {tensor("read"), tensor("eps")})}},
      .rows_before = before("row_features/", "K", "V", rows, "append_ones"),
      .rows_query = asked("row_features/", "Q", rows),
      .rows_after = {{"normalise", Purpose::normalise, "Weighted mean", sentence, "O",
                      call("row_normalise", {tensor("READ"), tensor("eps")})}},
      .arrays = map_q == "favor" || map_k == "favor" ? std::vector<std::string>{"directions"}
                                                     : std::vector<std::string>{},
      .parameters = {"eps"},
      .symbols = {{"q_features", {"\\phi(q_t)", Role::query, "query features"}},
                  {"k_features", {"\\phi(k_t)", Role::key, "key features"}},
                  {"v_one", {"v_t^1", Role::value, "value, and a 1"}},
                  {"read", {"r_t", Role::output, "sum, and sum of weights"}},
                  {"Q_features", {"\\phi(Q)", Role::query, "query features"}},
                  {"K_features", {"\\phi(K)", Role::key, "key features"}},
                  {"V_ones", {"V^1", Role::value, "values, and a 1 each"}},
                  {"READ", {"R^o", Role::output, "sums, and sums of weights"}},
                  {"directions", {"\\Omega", Role::plain, "random directions"}},
                  {"eps", {"\\epsilon", Role::plain, "added to the denominator"}}},
  };
}

}  // namespace

/// Spec 3.3: o_t = S_t^T phi(q_t) / (z_t^T phi(q_t) + eps), with S_t and z_t sums over the past.
Variant kernel() {
  const auto encode = []<class Scalar>(const Rows<Scalar>& rows) {
    const std::string& map_q = rows.sequence.option("feature_map_q");
    const std::string& map_k = rows.sequence.option("feature_map_k");
    const Index dk = rows.sequence.dk;
    const auto count = [&](const std::string& map) {
      return map == "favor" ? rows.sequence.at("directions").rows() : feature_count(map, dk);
    };
    const auto mapped = [&](const std::string& map, const Matrix<Scalar>& x) {
      if (map != "favor") return features<Scalar>(map, x);
      return random_features<Scalar>(x, rows.sequence.at("directions").template all<Scalar>());
    };
    if (count(map_q) != count(map_k)) {
      refuse(
          "feature_map_q = {} makes {} features of {} channels but feature_map_k = {} makes "
          "{}; both must give the same number",
          map_q, count(map_q), dk, map_k, count(map_k));
    }
    require_state(rows.sequence, count(map_k), rows.sequence.dv + 1);
    Matrix<Scalar> v(rows.count, rows.sequence.dv + 1);
    v << rows("v"), rows.repeated(1);  // the constant channel collects the denominator
    return Program<Scalar>{.q = mapped(map_q, rows.scaled_q()), .k = mapped(map_k, rows("k")), .v = v};
  };
  return {
      .id = "kernel",
      .label = "Kernelised attention",
      .words = "Linear attention on features of q and k, divided by the sum of the weights.",
      .paper = "Katharopoulos et al., Transformers are RNNs, 2020; Arora et al., Based, 2024 (taylor2)",
      .text =
          "memory z: key\n"
          "phi = elu(k) + 1\n"
          "S = S + phi v^T\n"
          "z = z + phi\n"
          "o = S^T (elu(q) + 1) / (z^T (elu(q) + 1))\n",
      .options = {{"feature_map", feature_maps(), "map of q and k"},
                  {"feature_map_q", feature_maps(), "map of q", "feature_map"},
                  {"feature_map_k", feature_maps(), "map of k; both must give the same number m of features",
                   "feature_map"}},
      .inputs = {demonstrated({.name = "directions",
                               .shape = {"m", "dk"},
                               .range = Range::finite,
                               .meaning = "random directions of FAVOR+",
                               .when = {{"feature_map_q", "feature_map_k"}, "favor"}},
                              {.value = 1, .random = true}),
                 {"initial_S", {"m", "dv"}, Range::finite, "feature memory", "0"},
                 {"initial_z", {"m"}, Range::finite, "sum of key features", "0"}},
      .parameters = {{.name = "eps",
                      .minimum = 0,
                      .maximum = 1e300,
                      .meaning = "added to the denominator",
                      .standard_words = "1e-6 if a map is relu, squared or taylor1, else 0"}},
      .states = {{"S"}, {"z"}},
      .loss = {.words = "Linear attention on features; the sum of weights is a second memory with value 1. "
                        "Their quotient is not a step on one loss.",
               .latex = "-\\langle S^{\\top}\\phi(k_t), v_t\\rangle",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = dot_problems},
      .rule =
          std::make_shared<RowRule>(RowDeclaration{.structure = [](const Settings&) { return Structure{}; },
                                                   .encoder = encode,
                                                   .notation = kernel_notation,
                                                   .normalised = true}),
      .complete =
          [](Settings& settings) {
            const bool needed =
                needs_eps(settings.options["feature_map_q"]) || needs_eps(settings.options["feature_map_k"]);
            settings.parameters.emplace("eps", needed ? 1e-6 : 0.0);
          },
      .go_together =
          [](const Settings& settings) {
            return same_feature_count(settings.option("feature_map_q"), settings.option("feature_map_k"));
          },
  };
}

}  // namespace palimpsest
