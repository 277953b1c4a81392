#include "core/race/taken_kernel.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "core/base/error.h"
#include "core/cases/random_case.h"
#include "core/engines/fast_kernels.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

/// Of the programs of a rule of rows.
struct ProgramSize {
  Structure structure;
  Index K = 0;  // with the columns that the rule adds
};

const Variant* variant_of(const RaceEntry& entry, std::span<const Variant> table) {
  const auto found = std::ranges::find(table, entry.variant, &Variant::id);
  return found == table.end() ? nullptr : &*found;
}

/// What the programs are that an entry runs; nothing where its rule has none, or not at this size.
std::optional<ProgramSize> programs_of(const Variant& variant, const RaceEntry& entry) try {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows) return std::nullopt;
  const Settings settings = random_settings(variant, {}, 1);
  const Arrays head = random_arrays(variant, settings, {.tokens = 1, .dk = entry.dk, .dv = entry.dv});
  const auto one =
      std::make_shared<const Arrays>(repeated_heads(variant, settings, head, 1, 1, Precision::f32));
  const SequenceBatch batch = bind(variant, one, settings);
  const Program<float> empty = rows->encode<float>(batch.heads.front(), 0, 0);
  return ProgramSize{empty.structure, empty.k.cols()};
} catch (const Error&) {
  return std::nullopt;
}

bool hands_on(const Variant& variant, std::string_view state) {
  return std::ranges::find(variant.states, state, &State::name) != variant.states.end();
}

}  // namespace

bool has_tensor_cores(const RaceEntry& entry, std::span<const Variant> table) {
  const Variant* const variant = variant_of(entry, table);
  if (!variant || entry.form != Form::chunkwise) return false;
  if (hands_on(*variant, "k_cache"))  // softmax, whose keys fade where their gates are handed on
    return fits_tensor_cores(entry.dk, entry.dv, hands_on(*variant, "g_cache"));
  const std::optional<ProgramSize> programs = programs_of(*variant, entry);
  return programs && fit_tensor_cores(programs->structure, programs->K);
}

}  // namespace palimpsest
