#include "core/rules/rule.h"

#include "core/rules/effective_attention.h"

namespace palimpsest {

Output Rule::run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                 std::stop_token stop, const DeviceEngines& engines) const {
  return std::move(run_heads({&sequence, 1}, form, precision, chunk_size, std::move(stop), engines).front());
}

std::optional<std::string> Rule::missing(Form form, const Settings&) const {
  if (form != Form::two_pass) return std::nullopt;
  return "A chunk makes its outputs on the way to the next memory here; no pass makes the memories alone.";
}

Matrix<double> Rule::answers(const Sequence&, Form, Precision, Index, std::stop_token) const {
  throw Unsupported(
      "A token that only queries is not defined here: only if tokens are rows of one linear memory can their "
      "writes be omitted without any other change.");
}

void Rule::walk_states(const Sequence&, const VisitStates&, std::stop_token) const {
  throw Unsupported("this rule does not show its state token by token");
}

Amplification Rule::amplification(const Sequence&, Form, Index, std::stop_token) const { return {}; }

Channel Rule::channel(const Sequence&, Index) const {
  throw Unsupported(
      "What this rule writes depends non-linearly on earlier values. So no output is a weighted sum of "
      "values, and no entry of the memory is a sum over tokens.");
}

EffectiveAttention Rule::effective_attention(const Sequence& sequence, const AttentionWindow& window,
                                             std::stop_token stop) const {
  require_window(window, sequence.tokens, sequence.dv);
  return palimpsest::effective_attention([&](Index column) { return channel(sequence, column); }, window,
                                         stop);
}

void require_chunk_size(Index chunk_size) {
  if (chunk_size < 1) refuse("the chunk size is {}; expected at least 1", chunk_size);
}

void Rule::require_form(Form form, const Settings& settings, Index chunk_size) const {
  require_chunk_size(chunk_size);
  if (const auto reason = missing(form, settings)) throw Unsupported(*reason);
}

}  // namespace palimpsest
