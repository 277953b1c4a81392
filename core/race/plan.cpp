#include "core/race/plan.h"

#include <algorithm>

#include "core/race/naming.h"

namespace palimpsest {

namespace {

std::vector<const Variant*> raced_variants(const RacePlan& plan, std::span<const Variant> table) {
  std::vector<const Variant*> all;
  const auto add = [&](const Variant& variant) {
    if (std::ranges::find(all, &variant) == all.end()) all.push_back(&variant);
  };
  if (plan.peer) add(find_variant(race_peer, table));
  for (const std::string& id : plan.variants) add(find_variant(id, table));
  if (plan.variants.empty()) std::ranges::for_each(table, add);
  return all;
}

/// Calls visit(entry) for every shape of a plan.
template <class Visit>
void for_every_shape(const RacePlan& plan, Visit visit) {
  for (const Index tokens : plan.lengths) {
    for (const Index batches : plan.batches) {
      for (const Index heads : plan.heads) {
        for (const RacePlan::Size& size : plan.sizes)
          visit(
              RaceEntry{.tokens = tokens, .batches = batches, .heads = heads, .dk = size.dk, .dv = size.dv});
      }
    }
  }
}

}  // namespace

std::vector<RaceEntry> race_entries(const RacePlan& plan, std::span<const Variant> table) {
  const std::vector<const Variant*> raced = raced_variants(plan, table);
  std::vector<RaceEntry> entries;
  const auto add = [&](const RaceEntry& entry) {
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  };
  const auto add_forms = [&](RaceEntry entry) {
    for (const Form form : plan.forms) {
      entry.form = form;
      entry.chunk_size = 0;
      if (!has_chunks(form)) add(entry);
      for (const Index chunk_size : plan.chunk_sizes) {
        entry.chunk_size = chunk_size;
        if (has_chunks(form)) add(entry);
      }
    }
  };
  // What shares its data follows each other.
  for_every_shape(plan, [&](RaceEntry entry) {
    for (const Variant* const variant : raced) {
      for (const Precision precision : plan.precisions) {
        for (const Backend* const backend : plan.backends) {
          entry.variant = variant->id;
          entry.precision = precision;
          entry.device = backend->name();
          add_forms(entry);
        }
      }
    }
  });
  return entries;
}

}  // namespace palimpsest
