#pragma once

#include <fmt/format.h>

#include <concepts>

#include "core/proof/verify.h"
#include "core/rules/effective_attention.h"
#include "core/steps/interpreted.h"
#include "tests/catch.h"

namespace palimpsest::testing {

/// One head of random inputs to a variant, ready to run.
struct Case {
  const Variant* variant = nullptr;
  Settings settings;  // resolved
  std::shared_ptr<const Arrays> arrays;
  Sequence sequence;

  std::string words;  // for INFO

  /// One token of an array, [1, numbers per token].
  Matrix<double> row(const char* name, Index token) const { return sequence.at(name).rows<double>(token, 1); }

  /// The forms that exist with these settings.
  std::vector<Form> forms() const {
    std::vector<Form> existing;
    for (const Form form : all_forms) {
      if (!variant->rule->missing(form, sequence.settings)) existing.push_back(form);
    }
    return existing;
  }

  /// How much more than `usual` forms may differ: the five steps of Newton and Schulz multiply what is tiny,
  /// rounding included, by up to 3.4445^5 = 485 (spec 3.11).
  double allowed(double usual) const {
    const std::string* optimizer = value_at(sequence.settings.options, "optimizer");
    return optimizer && *optimizer == "muon" ? 485 * usual : usual;
  }

  Output run(Form form, Precision precision = Precision::f64, Index chunk_size = 1) const {
    return variant->rule->run(sequence, form, precision, chunk_size);
  }
  Work cost(Form form, Index chunk_size) const {
    return variant->rule->cost(sequence, form, chunk_size).value();
  }
  std::unique_ptr<Trace> trace(Form form, Index chunk_size, Precision precision = Precision::f64,
                               std::size_t budget = std::size_t{1} << 24) const {
    return variant->rule->trace(sequence, form, precision, chunk_size, budget);
  }
};

/// Binds `arrays` of one head.
inline Case bound(const Variant& variant, const Settings& settings, Arrays arrays, std::string words = {}) {
  auto shared = std::make_shared<const Arrays>(std::move(arrays));
  SequenceBatch batch = palimpsest::bind(variant, shared, settings);
  return {&variant, settings, shared, batch.heads.front(), std::move(words)};
}

/// The trace's own equations, step by step.
inline Output interpret(const Trace& trace, const Interpreting& how = {}) {
  return palimpsest::interpret(trace, trace.phases, how);
}

/// The numbers of an array in f64.
inline std::vector<double>& numbers(Arrays& arrays, const std::string& name) {
  return std::get<0>(arrays.at(name).own_values());
}

/// An array of one number.
inline Array filled(std::vector<Index> shape, double value) {
  Array array;
  array.shape = std::move(shape);
  array.own_values() = std::vector<double>(static_cast<std::size_t>(array.size()), value);
  return array;
}

/// The same case after `change(arrays)`.
template <std::invocable<Arrays&> Change>
Case changed(const Case& each, const Change& change) {
  Arrays arrays = *each.arrays;
  change(arrays);
  return bound(*each.variant, each.settings, std::move(arrays), each.words);
}

/// The same case with these arrays in the place of its own.
inline Case with(const Case& each, const Arrays& changes) {
  return changed(each, [&](Arrays& arrays) {
    for (const auto& [name, array] : changes) arrays[name] = array;
  });
}

/// The same case with `change(number, i)` in the place of every number of an array.
template <class Change>
Case changed(const Case& each, const std::string& array, const Change& change) {
  Case other = changed(each, [&](Arrays& arrays) {
    std::vector<double>& all = numbers(arrays, array);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = change(all[i], i);
  });
  other.words += " changed " + array;
  return other;
}

/// The same case with an array times a factor.
inline Case scaled(const Case& each, const std::string& array, double factor) {
  return changed(each, array, [&](double number, std::size_t) { return factor * number; });
}

/// Somebody has asked to stop before anything began.
inline std::stop_token stopped() {
  std::stop_source stop;
  stop.request_stop();
  return stop.get_token();
}

/// The arrays of a case with tokens first .. first+count-1 alone, where they have an axis of tokens or of
/// inner batches. `first` is the start of a batch.
inline Arrays cut(const Case& each, Index first, Index count) {
  Arrays arrays = *each.arrays;
  for (const Input& input : inputs_of(*each.variant, each.settings)) {
    const bool by_batch = is_among("n_batches", input.shape);
    const bool in_logs = input.range == Range::decay && !arrays.contains(input.name);
    Array* const array = value_at(arrays, in_logs ? "g" : input.name);
    if (!array || !(has_tokens(input) || by_batch)) continue;
    const Index batch = by_batch ? inner_batch(each.settings) : 1;
    const Index width = array->shape[0] == 0 ? 0 : array->size() / array->shape[0];
    array->shape[0] = (count + batch - 1) / batch;
    auto& values = std::get<0>(array->own_values());
    values.erase(values.begin(), values.begin() + (first + batch - 1) / batch * width);
    values.resize(static_cast<std::size_t>(array->size()));
  }
  return arrays;
}

/// The same case as if it ended after `count` tokens.
inline Case first_tokens(const Case& each, Index count) {
  return bound(*each.variant, each.settings, cut(each, 0, count), each.words);
}

/// The first and the last token whose writes reach the memory together with that of `token`: LaCT's batches.
inline std::pair<Index, Index> written_with(const Case& each, Index token) {
  const Index size = each.variant->id == "lact" ? inner_batch(each.sequence.settings) : 1;
  const Index first = token / size * size;
  return {first, std::min(first + size, each.sequence.tokens) - 1};
}

/// A random case of one variant with these options.
inline Case random_case(const Variant& variant, const Settings& given, const RandomCase& random) {
  const Settings settings = random_settings(variant, given, random.seed);
  std::string words = variant.id + " " + to_string(random);
  for (const auto& [name, value] : settings.options) words += " " + name + "=" + value;
  return bound(variant, settings, random_arrays(variant, settings, random), std::move(words));
}

/// The same of a rule of the table, with its usual options.
inline Case random_case(const char* id, const RandomCase& random) {
  return random_case(find_variant(id), {}, random);
}

/// A case in which a fault can show: states to start from, a scale, several chunks and a short one, square
/// memories.
inline Case revealing(const Variant& variant, Settings given, std::uint64_t seed = 1) {
  given.parameters["scale"] = 0.625;
  return random_case(variant, given, {.tokens = 18, .dk = 6, .dv = 6, .initial_state = true, .seed = seed});
}

/// One of them for every choice of options.
inline std::vector<Case> revealing_cases(std::uint64_t seed = 1) {
  std::vector<Case> cases;
  for (const Variant& variant : variants())
    for (const Settings& given : option_choices(variant)) cases.push_back(revealing(variant, given, seed));
  return cases;
}

/// Every variant of the table with every choice of options, with and without initial state, gates as alpha
/// and as g, of one size. With an initial state the scale is not 1, and so is an inner batch that usually
/// is 1.
inline std::vector<Case> all_cases(RandomCase random) {
  std::vector<Case> cases;
  for (const Variant& variant : variants()) {
    for (Settings given : option_choices(variant)) {
      for (const bool initial_state : {false, true}) {
        for (const bool log_gates : {false, true}) {
          if (log_gates && !has_gates(variant)) continue;
          random.initial_state = initial_state;
          random.log_gates = log_gates;
          if (initial_state) given.parameters["scale"] = 0.375;
          const Parameter* batch = row_called(variant.parameters, "batch", &Parameter::name);
          if (initial_state && batch && batch->standard) given.parameters["batch"] = 4;
          cases.push_back(random_case(variant, given, random));
        }
      }
    }
  }
  return cases;
}

/// Calls `visit(case, form)` for every form of every case, with both in the message of what fails.
template <class Visit>
void in_every_form(const std::vector<Case>& cases, Visit visit) {
  for (const Case& each : cases) {
    for (const Form form : each.forms()) {
      INFO(each.words << " " << name(form));
      visit(each, form);
    }
  }
}

/// Where two outputs are furthest apart, for INFO.
inline std::string words(const Disagreement& worst) {
  return fmt::format("{}[{}, {}] is {}, expected {}", worst.array, worst.row, worst.column, worst.got,
                     worst.expected);
}

/// The rule `id` straight from its definition in spec 3, in f64, for one head: o and the final states as
/// `variant.states` names them. Where the rule has a published recurrence (Variant::recurrence) that is
/// carried out as it is written; else the definition is written down in oracles.cpp. Shares nothing with the
/// engines. `settings` are resolved.
Output direct(const std::string& id, const Arrays& arrays, const Settings& settings);

/// The numbers of a value channel that the rows write, w and v+, one below the other: [T h, 1] each.
struct WrittenColumns {
  Matrix<double> w;
  Matrix<double> v_plain;  // empty without plain writes
};

/// What a case's rows write in one value channel. Softmax has no memory with channels: its values themselves.
inline WrittenColumns written(const Case& each, Index channel) {
  try {
    const Program<double> rows =
        each.variant->rule->channel(each.sequence, channel).rows(0, each.sequence.tokens);
    return {rows.v, rows.v_plain};
  } catch (const Unsupported&) {
    return {each.sequence.at("v").all<double>().col(channel), {}};
  }
}

/// Why outputs are no weighted sums of values; empty where they are.
inline std::string refusal(const Case& each) {
  try {
    each.variant->rule->effective_attention(each.sequence, {});
    return {};
  } catch (const Unsupported& reason) {
    return reason.what();
  }
}

/// The same case with one number of an array changed.
inline Case with_changed(const Case& each, const std::string& array, Index at, double by) {
  return changed(each, array, [&](double value, std::size_t i) {
    return static_cast<Index>(i) == at ? value + by : value;
  });
}

/// Rules whose memory can grow without bound, of every structure that adds up a chunk in its own way.
inline constexpr const char* growing_rules[] = {"deltanet", "gated_deltanet", "kda",
                                                "titans",   "rwkv7",          "value_decay_delta"};

/// One of them whose numbers do, with what makes them grow.
inline Case growing(const char* id, double factor) {
  Case each = random_case(id, {.tokens = 200, .dk = 8, .dv = 8, .seed = 5});
  for (const char* name : {"k", "beta", "theta", "a", "b"})
    if (each.arrays->contains(name)) each = scaled(each, name, factor);
  return each;
}

/// The first token whose output is not finite; T if there is none.
inline Index first_bad(const Matrix<double>& o) {
  for (Index t = 0; t < o.rows(); ++t) {
    if (!o.row(t).allFinite()) return t;
  }
  return o.rows();
}

}  // namespace palimpsest::testing
