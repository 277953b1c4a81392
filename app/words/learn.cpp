#include "app/words/learn.h"

namespace palimpsest {

namespace {

constexpr double seen_share = 0.005;  // visible with two decimals

std::string recalled_sentence(double share, bool is_alignment) {
  if (!std::isfinite(share)) return "The returned value is not finite.";
  if (is_alignment)
    return fmt::format("The cosine of the returned value and its own is {}.", fixed_number(share, 2));
  std::string off;
  if (share > 1 + seen_share) off = fmt::format(", {} too much", fixed_number(share - 1, 2));
  if (share < -seen_share) off = ", with the opposite sign";
  return fmt::format("Its key retrieves {} of its value{}.", fixed_number(share, 2), off);
}

}  // namespace

std::string moment_words(const LearningMoment* moment, const std::string& token, const std::string& before) {
  if (moment && moment->step.problem.token_count > 1) {
    const InnerProblem& problem = moment->step.problem;
    const Index last = problem.first_token + problem.token_count;
    return fmt::format("tokens {} to {} make one step together, after token {}", problem.first_token + 1,
                       last, last);
  }
  std::string words = token;
  if (moment && moment->step_count > 1)
    words += fmt::format(", the last of its {} steps", moment->step_count);
  return before.empty() ? words : fmt::format("{}, after “… {}”", words, before);
}

std::string step_sentence(const LearningMoment& moment, const std::string& rate) {
  const LearningStep& step = moment.step;
  if (step.problem.muon) return "Muon gives all singular directions nearly the same step.";
  if (!std::isfinite(step.loss_after)) return "The loss after the step is not finite.";
  if (step.loss_after > step.loss_before && std::isfinite(moment.edge))
    return fmt::format("The step is {:.3g} times its stability limit: it increases the loss.",
                       step.taken / moment.edge);
  const bool is_of_token = is_error_of_token(moment);
  if (step.stability && step.stability->exact && is_of_token && step.problem.kept == 1 &&
      step.problem.moving.empty() && step.stability->reach > 0 && step.along.value > 0) {
    const double left = step.stability->eigenvalue;
    const std::string factor = fmt::format("1 − {}‖k‖²", rate.empty() ? "β" : unicode(rate));
    if (std::abs(left) < 5e-4) return fmt::format("The step removes the error: {} = 0.", factor);
    return fmt::format("The error is multiplied by {} = {}{:.3g}, the loss by {:.2g}.", factor,
                       left < 0 ? "−" : "", std::abs(left), left * left);
  }
  // A factor makes sense only for a loss that is not negative.
  if ((is_of_token || step.problem.token_count > 1) && step.loss_before > 0 && step.loss_after >= 0)
    return fmt::format("The step multiplies the loss by {:.3g}.", step.loss_after / step.loss_before);
  if (step.along.curvature > 0)
    return fmt::format("The step decreases the loss by {:.3g}.", step.loss_before - step.loss_after);
  return "This loss is unbounded below: a larger step always decreases it.";
}

std::vector<std::string> step_axis_titles(const LearningMoment& moment, double unit) {
  std::vector<std::string> titles = {"step size along the gradient",
                                     moment.strength ? "drag the dot" : "it is fixed here"};
  const auto& stability = moment.step.stability;
  if (moment.edge != moment.parabola_edge && std::isfinite(moment.parabola_edge)) {
    titles.push_back(
        fmt::format("dashed: the parabola at this point, its limit {:.3g}", moment.parabola_edge * unit));
    return titles;
  }
  if (!stability || !std::isfinite(stability->largest_rate) || !moment.outer) return titles;
  const bool is_this_step = std::abs(stability->largest_rate / moment.edge - 1) < 1e-6;
  const char* const limit = !moment.step.problem.moving.empty() ? "red: limit of one step; with momentum"
                            : is_this_step                      ? "limit 2 / ‖k‖² ="
                                                                : "limit of the rule's own step:";
  titles.push_back(fmt::format("{} {:.3g}", limit, stability->largest_rate * unit));
  return titles;
}

std::string decrease_words(const LearningMoment& moment, double edge, bool is_seen) {
  if (is_seen) return "loss decreases";
  if (std::isfinite(edge)) return fmt::format("loss decreases up to {:.3g}", edge);
  if (!std::isfinite(moment.losses.front())) return "the loss is not finite";
  const bool always_lower = moment.losses.back() <= std::ranges::min(moment.losses);
  return always_lower ? "loss decreases throughout" : "no step increases the loss";
}

std::vector<std::string> interference_words(const std::string& token, const HarmedPair& pair) {
  const bool is_over = pair.cosine >= same_key;
  const std::string losses = fmt::format("{} → {}", plain_number(pair.before), plain_number(pair.after));
  return {fmt::format("{}: {}, loss {}", is_over ? "overwritten" : "most interference", token, losses),
          fmt::format("{}: {} {}", is_over ? "overwritten" : "interference", token, losses),
          fmt::format("{}: {}", token, losses)};
}

std::vector<std::string> orthogonalise_words(Index steps, double growth) {
  return {fmt::format("the rule takes {} steps: drag to see fewer", steps),
          fmt::format("step 1 multiplies the smallest σ by {:.3g}", growth)};
}

std::vector<std::string> solve_words(const ConvergingSolve& solve) {
  if (solve.course.is_direct)
    return {fmt::format("{} steps were not enough: the engine used Cholesky", solve.steps())};
  std::vector<std::string> words = {fmt::format("{} steps in the chunkwise form", solve.steps()),
                                    "green: Cholesky, as in the other forms"};
  if (solve.token_count > 1)
    words.push_back(fmt::format("the {} tokens of a chunk together", solve.token_count));
  return words;
}

std::vector<std::string> margin_words(bool is_difference, bool is_step) {
  if (!is_difference && is_step) return {"v: target of this loss", "v"};
  if (!is_difference) return {"−v: this loss has no prediction", "−v"};
  if (is_step) return {"error e = v − v̂", "v − v̂"};
  return {"−e = v̂ − v", "v̂ − v"};
}

std::vector<std::string> network_words(const LearningMoment& moment, NetworkSide side) {
  const NetworkPass& pass = *moment.network;
  const auto strongest = [](const NetworkPaths& paths) {
    return fmt::format("the {} strongest", paths.in.size() + paths.out.size());
  };
  if (side == NetworkSide::forward)
    return {"a line: unit × weight", strongest(pass.sent),
            fmt::format("{} hidden units", pass.hidden.size())};
  if (side == NetworkSide::backward)
    return {"a line: a weight's gradient", strongest(pass.taught), "before η and σ"};
  std::vector<std::string> words = {fmt::format("loss {:.3g} → {:.3g}", pass.error.squaredNorm() / 2,
                                                moment.network_after->error.squaredNorm() / 2),
                                    "a line: a weight's change"};
  if (moment.step.problem.token_count > 1) words.push_back("the batch so far");
  return words;
}

std::string capacity_words(const std::string& rule, Index channels, Index given) {
  std::string words = fmt::format(
      "1 to {} pairs of {} channels are written to an empty memory of {}, with decay 1 and step "
      "size 1. Then every key is queried. Each kind of keys is drawn four times.",
      4 * channels, channels, rule);
  if (channels < given)
    words += fmt::format(
        " The data have {} channels; {} are faster and show the same: only pairs per channel matter.", given,
        channels);
  return words;
}

std::string recalled_words(const RecalledAt& at) {
  if (!at.state.is_there) return fmt::format("{} is not in the memory yet.", at.word);
  std::string words = fmt::format("{} after {}.\n{}\n", at.word, at.present,
                                  recalled_sentence(at.state.now, at.is_alignment));
  if (at.beside > 0) words += fmt::format("Fitted jointly with the other {} shown here.\n", at.beside);
  const double change = recalled_part(at.state.now).right - recalled_part(at.state.before).right;
  const char* verb = at.state.is_own ? "writes it" : change < 0 ? "damages it" : "repairs it";
  if (!(std::abs(at.state.now - at.state.before) > seen_share))
    return words + fmt::format("{} does not change it.", at.present);
  return words + fmt::format("{} {}: {} before, {} now.", at.present, verb, fixed_number(at.state.before, 2),
                             fixed_number(at.state.now, 2));
}

const RecalledLegend& recalled_legend(bool is_alignment) {
  static constexpr RecalledLegend shares = {
      "Recall of stored tokens", "recalled, 0 to 100 %", "too much",
      "The memory is queried with the key of a stored token. A bar is the share of the token's value in what "
      "it returns. The share is fitted jointly with the values of the other tokens shown. Step and Compare "
      "show other tokens, so their shares differ slightly. 100 % is the value itself; more is as wrong as "
      "less."};
  static constexpr RecalledLegend directions = {
      "Direction of the recalled value (cosine)", "along its value, 0 to 100 %", "opposite direction",
      "The memory is queried with the key of a stored token. A bar is the cosine of what it returns and the "
      "token's value. 100 % is the same direction, whatever the norm. Step shows the share of the value, "
      "which can be small although the direction is right."};
  return is_alignment ? directions : shares;
}

std::string recalled_measure(bool is_alignment, const Variant& variant) {
  std::string words(recalled_legend(is_alignment).measure);
  if (is_alignment) words += " " + compared_by_direction(variant);
  return words;
}

std::string step_size_words(const StepReach& strengths, Index token) {
  const double reach = strengths.reach[token];
  std::string words = fmt::format("{} = {:.3g}: effective step size.", reach_symbol(strengths), reach);
  if (strengths.has_edge) words += "\n1 removes the error; above 2 the loss increases.";
  if (strengths.has_edge && strengths.has_momentum) words += "\nMomentum moves this limit.";
  const std::string letter = unicode(strengths.symbol);
  const double squares = strengths.squares[token];
  if (!letter.empty() && squares > 0) words += fmt::format("\n{} = {:.3g}", letter, reach / squares);
  return words;
}

std::string keeping_words(const Keeping& keeping, Index channel, Index token, const std::string& half_life) {
  const double kept = keeping.mean[token];
  std::string words = keeping.forgets ? fmt::format("f = {:.4g}: keeps {:.4g} of the memory", 1 - kept, kept)
                                      : fmt::format("{} = {:.4g}", unicode(keeping.symbol), kept);
  if (keeping.channels > 1 && channel < 0)
    words += fmt::format(" on average, {:.4g} to {:.4g} in its {} channels", keeping.least[token],
                         keeping.most[token], keeping.channels);
  else if (keeping.channels > 1)
    words += fmt::format(" in {} {}", keeping.is_of_values ? "column" : "row", channel + 1);
  return words + ": " + half_life;
}

}  // namespace palimpsest
