#include "core/cases/hand_over.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

namespace {

Array as_array(const Matrix<double>& matrix, std::vector<Index> shape) {
  return {std::move(shape), std::vector<double>(matrix.data(), matrix.data() + matrix.size())};
}

bool is_initial_state(const Variant& variant, const Settings& settings, const std::string& input) {
  return std::ranges::any_of(states_of(variant, settings), [&](const std::string& state) {
    return input == initial_name(variant, settings, state);
  });
}

/// Throws InputError where a sequence ends within an inner batch.
void require_whole_batches(const Variant& variant, const Sequence& finished) {
  const Index batch = inner_batch(finished.settings);
  if (finished.tokens % batch != 0) {
    throw InputError(
        fmt::format("{} tokens end within an inner batch of {}: {} can go on after a whole number of batches",
                    finished.tokens, batch, variant.id));
  }
}

/// Throws InputError unless more tokens may follow.
void require_extendable(const Variant& variant, const Sequence& finished) {
  if (!variant.rule->is_causal(finished)) {
    throw InputError(fmt::format(
        "{} reads the state after the last token, so that more tokens change every output: run all at once",
        variant.id));
  }
  require_whole_batches(variant, finished);
}

/// The new tokens with everything that the earlier ones leave them.
Arrays following(const Variant& variant, const Sequence& finished, const Output& output, Arrays more) {
  for (const Input& input : inputs_of(variant, finished.settings)) {
    const bool goes_on = has_tokens(input) || (!input.shape.empty() && input.shape.front() == "n_batches");
    if (goes_on || is_initial_state(variant, finished.settings, input.name) || !finished.has(input.name))
      continue;
    const MatrixView& view = finished.at(input.name);
    const bool is_diagonal = input.range == Range::positive_definite && view.columns() == 1;
    const bool is_vector = input.shape.size() == 1 || is_diagonal;
    more[input.name] =
        as_array(view.all<double>(), is_vector ? std::vector<Index>{view.rows()}
                                               : std::vector<Index>{view.rows(), view.columns()});
  }
  if (variant.hand_over) variant.hand_over(finished, more);
  for (auto& [name, array] : initial_states(variant, finished.settings, output)) more[name] = array;
  return more;
}

Sequence bound(const Variant& variant, const Sequence& finished, Arrays arrays) {
  const auto shared = std::make_shared<const Arrays>(std::move(arrays));
  return palimpsest::bind(variant, shared, finished.settings).heads.front();
}

}  // namespace

Arrays initial_states(const Variant& variant, const Settings& settings, const Output& output) {
  Arrays arrays;
  for (const Input& input : inputs_of(variant, settings)) {
    for (const auto& [state, value] : output.states) {
      if (input.name != initial_name(variant, settings, state)) continue;
      arrays[input.name] =
          as_array(value, input.shape.size() == 1 ? std::vector<Index>{value.size()}
                                                  : std::vector<Index>{value.rows(), value.cols()});
    }
  }
  return arrays;
}

Arrays continuation(const Variant& variant, const Sequence& finished, const Output& output, Arrays more) {
  require_extendable(variant, finished);
  return following(variant, finished, output, std::move(more));
}

Output extend(const Variant& variant, const Sequence& finished, const Output& output, Arrays more, Form form,
              Precision precision, Index chunk_size, std::stop_token stop) {
  const Sequence going_on =
      bound(variant, finished, continuation(variant, finished, output, std::move(more)));
  Output extended = variant.rule->run(going_on, form, precision, chunk_size, std::move(stop));
  Matrix<double> o(output.o.rows() + extended.o.rows(), output.o.cols());
  o << output.o, extended.o;
  extended.o = std::move(o);
  return extended;
}

Matrix<double> ask(const Variant& variant, const Sequence& finished, const Output& output, Arrays more,
                   Form form, Precision precision, Index chunk_size, std::stop_token stop) {
  require_whole_batches(variant, finished);
  const Sequence asking = bound(variant, finished, following(variant, finished, output, std::move(more)));
  return variant.rule->answers(asking, form, precision, chunk_size, std::move(stop));
}

}  // namespace palimpsest
