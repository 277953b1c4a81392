#pragma once

#include "core/contract/output.h"
#include "core/contract/variant.h"

namespace palimpsest {

/// Everything that fixes a random case: the same values give the same numbers on every machine.
struct RandomCase {
  Index tokens = 17;
  Index dk = 12;
  Index dv = 7;
  Index earlier = 5;           // tokens before the sequence, for variants that keep them all
  bool initial_state = false;  // give the optional arrays too
  bool log_gates = false;      // g = log alpha instead of alpha
  bool keeps = false;          // no decay: every alpha is 1
  std::uint64_t seed = 1;
  Index hidden = 3;  // units of an inner network; a case by name cannot change it

  bool operator==(const RandomCase&) const = default;
};

/// "random:T=17,K=12,V=7,p=5,seed=1,state,g,keeps": a case as `palimpsest run --input` takes it.
std::string to_string(const RandomCase& random);

/// The case that `text` describes; throws InputError showing what is expected.
RandomCase parse_random_case(std::string_view text);

/// `random` with as many value channels as key channels where the rule needs it. They are the channels of a
/// layer norm, and with fewer than six its gradient multiplies rounding by up to a million (spec 3.10).
RandomCase fitted(const Variant& variant, const Settings& settings, RandomCase random);

/// One head of arrays, made only from what `variant` declares (names, shapes, ranges): k of norm 1, q /
/// sqrt(K) and v normal, decays as a gate network gives them with now and then an exact 0 or 1, strengths in
/// (0, 1), states as an earlier random text leaves them. `settings` are resolved ones.
Arrays random_arrays(const Variant& variant, const Settings& settings, const RandomCase& random);

/// Sets the parameters that make the state decay so that it does not.
void keep_everything(const Variant& variant, Settings& settings);

/// `given`, resolved, with random values for the required parameters that it lacks.
Settings random_settings(const Variant& variant, const Settings& given, std::uint64_t seed);

/// The final states of `output` as arrays under the names of the initial ones: matrices, or vectors where the
/// variant takes one.
Arrays initial_states(const Variant& variant, const Settings& settings, const Output& output);

/// The arrays of one head copied for every head of every batch: [B, T, H, ...], those without tokens
/// [B, H, ...]. As held_in(precision) holds them.
Arrays repeated_heads(const Variant& variant, const Settings& settings, const Arrays& head, Index batches,
                      Index heads, Precision precision);

}  // namespace palimpsest
