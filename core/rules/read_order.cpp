#include "core/rules/read_order.h"

#include <algorithm>

#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

/// The program with its reads before their rows, where the settings want that and it reads on the way.
template <class Scalar>
Program<Scalar> in_order(Program<Scalar> program, const Settings& settings) {
  const auto order = settings.options.find(read_order_option);
  const bool is_before = order != settings.options.end() && order->second == reads_before;
  if (is_before && program.structure.reads_on_the_way()) program.structure.read_at = ReadAt::before_row;
  return program;
}

const Option* option_of(const Variant& variant, std::string_view name) {
  const auto found = std::ranges::find(variant.options, name, &Option::name);
  return found == variant.options.end() ? nullptr : &*found;
}

}  // namespace

Encoder in_either_order(const Encoder& encoder) {
  return {[encode = encoder.f64](const Sequence& sequence, Index first, Index count) {
            return in_order(encode(sequence, first, count), sequence.settings);
          },
          [encode = encoder.f32](const Sequence& sequence, Index first, Index count) {
            return in_order(encode(sequence, first, count), sequence.settings);
          }};
}

Variant with_read_order(Variant variant) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows || rows->normalised() || option_of(variant, read_order_option)) return variant;
  std::string meaning = "read after or before the own update";
  if (option_of(variant, "causal")) meaning += ", where causal";
  variant.options.push_back({read_order_option, {reads_after, reads_before}, meaning});
  variant.rule = std::make_shared<RowRule>(
      in_either_order(rows->encoder()),
      [whole = variant.rule, rows](const Settings& settings) { return rows->notation(settings); },
      rows->normalised(), rows->state_names());
  return variant;
}

std::string no_read_order(const Variant& variant, const Settings& settings) {
  const auto causal = settings.options.find("causal");
  if (causal != settings.options.end() && causal->second == "false")
    return "Every word reads the memory after the last one: there is no own update to read before.";
  if (option_of(variant, read_order_option)) return "";
  const RowRule* const rows = variant.rule->row_program();
  if ((rows && rows->normalised()) || !variant.memory.none.empty())
    return "What comes out is an average over the words so far: before the first there is none.";
  return "This rule always reads after its own update.";
}

}  // namespace palimpsest
