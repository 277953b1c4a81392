#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/engines/inner_network.h"
#include "core/rules/inner_problem.h"
#include "core/rules/walk_rule.h"

namespace palimpsest {

/// What an inner network is made of with these settings.
using NetworkPlanOf = std::function<NetworkPlan(const Settings&)>;

/// The layer norm that the answers of a network go through; nothing where it has none.
std::optional<LayerNorm<double>> network_norm(const Sequence& sequence);

/// The rule of a memory that is a network and learns by gradient steps (spec 3.10, 3.12). Recurrent: primal,
/// every token with its own weights. Chunkwise: dual, in pieces of at most one chunk that never cross the end
/// of an inner batch, so that the chunk changes no result. There is no parallel form.
std::shared_ptr<const Rule> network_rule(NetworkPlanOf plan, std::optional<ParallelRule> parallel = {});

/// The inputs that such rules share: eta, sigma and the layer norm.
std::vector<Input> network_inputs();

/// The parameters that they share. The epsilon keeps a constant row finite in f32 too, so it has a smallest
/// value.
std::vector<Parameter> network_parameters();

/// InnerLoss::problems of such a rule: a step of sigma_t on sum_j eta_j / 2 |f(k_j) - v_j|^2 over the tokens
/// of the batch up to this one, from the weights that the batch began with.
std::function<std::vector<InnerProblem>(const InnerContext&)> network_problems(NetworkPlanOf plan);

/// MemoryAccess::answers of such a rule: f(k).
std::function<Matrix<double>(const Sequence&, const NamedStates&, const Matrix<double>&)> network_memory(
    NetworkPlanOf plan);

}  // namespace palimpsest
