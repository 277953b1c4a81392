// Two runs in a row are one run; heads and batches are separate runs.

#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Rows first .. first+count-1 of an array.
Array rows_of(const Array& whole, Index first, Index count) {
  const Index width = whole.shape[0] == 0 ? 0 : whole.size() / whole.shape[0];
  std::vector<double> values;
  for (Index i = first * width; i < (first + count) * width; ++i) values.push_back(whole[i]);
  std::vector<Index> shape = whole.shape;
  shape[0] = count;
  return {shape, std::move(values)};
}

/// Tokens of an inner batch of the rule; 1 where it has none.
Index batch_of(const Case& each) {
  const auto batch = each.sequence.settings.parameters.find("batch");
  return batch == each.sequence.settings.parameters.end() ? 1 : static_cast<Index>(batch->second);
}

/// Whether the array holds a state before the first token.
bool is_initial_state(const Case& each, const std::string& array) {
  return std::ranges::any_of(states_of(*each.variant, each.settings), [&](const std::string& state) {
    return array == initial_name(*each.variant, each.settings, state);
  });
}

/// Tokens first .. first+count-1 of every array that has an axis of tokens or batches, the arrays that hold
/// for all tokens, and no initial states. `first` is the start of a batch.
Arrays part_of(const Case& each, Index first, Index count) {
  const Index batch = batch_of(each);
  const auto batches = [&](Index tokens) { return (tokens + batch - 1) / batch; };
  Arrays part;
  for (const Input& input : inputs_of(*each.variant, each.settings)) {
    const std::string name = each.arrays->contains("g") && input.range == Range::decay ? "g" : input.name;
    if (!each.arrays->contains(name) || is_initial_state(each, name)) continue;
    const Array& whole = each.arrays->at(name);
    if (input.shape.front() == "n") {
      part[name] = rows_of(whole, first, count);
    } else if (input.shape.front() == "n_batches") {
      part[name] = rows_of(whole, batches(first), batches(count));
    } else {
      part[name] = whole;
    }
  }
  // What would be taken from the initial weights must stay that of the first ones.
  if (each.variant->id == "lact" && !part.contains("column_norm")) {
    const MatrixView S = each.sequence.at("initial_S");
    const Matrix<double> lengths = S.all<double>().colwise().norm();
    part["column_norm"] =
        Array({lengths.size()}, std::vector<double>(lengths.data(), lengths.data() + lengths.size()));
  }
  return part;
}

/// The final states of a run as the initial states of the next.
void add_states(const Case& each, const Output& output, Arrays& arrays) {
  for (const auto& [state, value] : output.states) {
    const std::string name = initial_name(*each.variant, each.settings, state);
    const auto input = std::ranges::find(each.variant->inputs, name, &Input::name);
    REQUIRE(input != each.variant->inputs.end());
    std::vector<Index> shape = {value.rows(), value.cols()};
    if (input->shape.size() == 1) shape = {value.size()};
    arrays[name] = Array(shape, std::vector<double>(value.data(), value.data() + value.size()));
  }
}

/// Lays arrays of single heads out as [T, H, ...] or [B, T, H, ...]: element (b, t, h) comes from head_of(b,
/// h).
template <class HeadOf>
Array joined(const Input& input, Index batches, Index heads, int head_axes, HeadOf head_of) {
  const Array& first = head_of(0, 0);
  const bool has_tokens = input.shape.front() == "n";
  const Index tokens = has_tokens ? first.shape[0] : 1;
  const Index width = tokens == 0 ? 0 : first.size() / tokens;
  std::vector<Index> shape;
  if (head_axes == 2) shape.push_back(batches);
  if (has_tokens) shape.push_back(tokens);
  shape.push_back(heads);
  shape.insert(shape.end(), first.shape.begin() + (has_tokens ? 1 : 0), first.shape.end());
  std::vector<double> values;
  for (Index b = 0; b < batches; ++b) {
    for (Index t = 0; t < tokens; ++t) {
      for (Index h = 0; h < heads; ++h) {
        for (Index i = 0; i < width; ++i) values.push_back(head_of(b, h)[t * width + i]);
      }
    }
  }
  return {shape, std::move(values)};
}

/// Runs `head_count` x `batch_count` different heads once joined and once apart; q has `q_heads` heads, k and
/// v have `kv_heads`.
void check_heads(const Variant& variant, int head_axes, Index batch_count, Index head_count, Index q_heads,
                 Index kv_heads, bool log_gates) {
  const Settings settings = random_settings(variant, {}, 1);
  const auto source = [&](Index b, Index h) {
    return random_arrays(variant, settings,
                         {.tokens = 6,
                          .dk = 3,
                          .dv = 2,
                          .initial_state = true,
                          .log_gates = log_gates,
                          .seed = static_cast<std::uint64_t>(100 + 10 * b + h)});
  };
  std::vector<std::vector<Arrays>> sources;
  for (Index b = 0; b < batch_count; ++b) {
    sources.emplace_back();
    for (Index h = 0; h < head_count; ++h) sources.back().push_back(source(b, h));
  }
  const auto heads_of = [&](const std::string& name) {
    return name == "q" ? q_heads : name == "k" || name == "v" ? kv_heads : head_count;
  };

  Arrays together;
  for (const Input& input : inputs_of(variant, settings)) {
    const std::string name = input.range == Range::decay && log_gates ? "g" : input.name;
    together[name] =
        joined(input, batch_count, heads_of(name), head_axes, [&](Index b, Index h) -> const Array& {
          return sources[static_cast<std::size_t>(b)][static_cast<std::size_t>(h)].at(name);
        });
  }
  const SequenceBatch batch = palimpsest::bind(variant, std::make_shared<const Arrays>(together), settings);
  REQUIRE(batch.head_count == head_count);
  REQUIRE(batch.batch_count == batch_count);
  REQUIRE(batch.rank == head_axes + 2);
  for (Index b = 0; b < batch_count; ++b) {
    for (Index h = 0; h < head_count; ++h) {
      Arrays apart;
      for (const auto& [name, array] : together) {
        const Index own = h * heads_of(name) / head_count;
        apart[name] = sources[static_cast<std::size_t>(b)][static_cast<std::size_t>(own)].at(name);
      }
      const Case alone = bound(variant, settings, apart);
      const Sequence& head = batch.heads[static_cast<std::size_t>(b * head_count + h)];
      const Output got = variant.rule->run(head, Form::chunkwise, Precision::f64, 4);
      INFO(variant.id << " batch " << b << " head " << h);
      CHECK(compare(got, alone.run(Form::chunkwise, Precision::f64, 4)).error == 0);
    }
  }
}

}  // namespace

TEST_CASE("a run handed over from one form to another is the run in one piece") {
  for (const Case& each : all_cases({.tokens = 29, .dk = 4, .dv = 3, .seed = 31})) {
    const auto causal = each.settings.options.find("causal");
    if (causal != each.settings.options.end() && causal->second == "false")
      continue;  // reads the end, not a prefix
    const Output whole = each.run(Form::recurrent);
    for (const Index wanted : {0, 1, 16, 29}) {
      const Index batch = batch_of(each);
      const Index split = std::min<Index>(29, (wanted + batch - 1) / batch * batch);
      Arrays first = part_of(each, 0, split);
      for (const auto& [name, array] : *each.arrays) {
        if (is_initial_state(each, name)) first[name] = array;
      }
      const Output before =
          bound(*each.variant, each.settings, first).run(Form::chunkwise, Precision::f64, 7);
      Arrays second = part_of(each, split, 29 - split);
      add_states(each, before, second);
      const Output after = bound(*each.variant, each.settings, second).run(Form::recurrent);

      Output joined = after;
      joined.o.resize(29, whole.o.cols());
      joined.o << before.o, after.o;
      INFO(each.words << " split at " << split);
      CHECK(compare(joined, whole).error <= each.allowed(1e-13));
    }
  }
}

TEST_CASE("heads and batches give what each of them gives alone") {
  for (const Variant& variant : variants()) {
    check_heads(variant, 1, 1, 4, 4, 4, false);
    check_heads(variant, 1, 1, 4, 4, 2, false);
    check_heads(variant, 1, 1, 4, 4, 1, false);
    check_heads(variant, 2, 3, 2, 2, 2, false);
    check_heads(variant, 2, 2, 6, 6, 3, false);
  }
  check_heads(find_variant("kda"), 1, 1, 4, 1, 1, true);
  check_heads(find_variant("scalar_decay"), 1, 1, 4, 1, 4, true);
}

TEST_CASE("a parameter may differ from head to head") {
  const Variant& variant = find_variant("retnet");
  const Case one = random_case(variant, {.parameters = {{"gamma", 0.5}}}, {.tokens = 6, .dk = 3, .dv = 2});
  const std::vector<Input> inputs = all_inputs(variant);
  Arrays two_heads;
  for (const Input& input : inputs) {
    if (input.absent) continue;
    two_heads[input.name] =
        joined(input, 1, 2, 1, [&](Index, Index) -> const Array& { return one.arrays->at(input.name); });
  }
  two_heads["gamma"] = Array({2}, std::vector<double>{0.5, 0.25});
  const SequenceBatch batch =
      palimpsest::bind(variant, std::make_shared<const Arrays>(two_heads), Settings{});
  const auto run = [&](std::size_t head) {
    return variant.rule->run(batch.heads[head], Form::recurrent, Precision::f64, 1);
  };
  const Case other = random_case(variant, {.parameters = {{"gamma", 0.25}}}, {.tokens = 6, .dk = 3, .dv = 2});
  CHECK(compare(run(0), one.run(Form::recurrent)).error == 0);
  CHECK(compare(run(1), other.run(Form::recurrent)).error == 0);
  CHECK(compare(run(1), one.run(Form::recurrent)).error > 1e-3);
}

TEST_CASE("arrays of f32 are computed as the numbers they hold") {
  for (const Case& each : all_cases({.tokens = 20, .dk = 4, .dv = 3, .seed = 32})) {
    const Arrays narrow = rounded_to_f32(*each.arrays);
    Arrays wide;
    for (const auto& [name, array] : narrow) {
      std::vector<double> values;
      for (Index i = 0; i < array.size(); ++i) values.push_back(array[i]);
      wide[name] = Array(array.shape, std::move(values));
    }
    INFO(each.words);
    const Output expected = bound(*each.variant, each.settings, wide).run(Form::chunkwise, Precision::f64, 8);
    CHECK(
        compare(bound(*each.variant, each.settings, narrow).run(Form::chunkwise, Precision::f64, 8), expected)
            .error == 0);
  }
}
