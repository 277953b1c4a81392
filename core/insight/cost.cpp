#include "core/insight/cost.h"

#include <algorithm>

#include "core/rules/rule.h"

namespace palimpsest {

namespace {

CostRow row(const Variant& variant, const Sequence& sequence, Form form, Index chunk_size,
            double bytes_per_number) {
  CostRow row = {.form = form};
  if (const auto reason = variant.rule->missing(form, sequence.settings)) {
    row.missing = *reason;
    return row;
  }
  const std::optional<Work> work = variant.rule->cost(sequence, form, chunk_size);
  if (!work) {
    row.missing = "this rule does not say what it takes";
    return row;
  }
  const auto tokens = static_cast<double>(std::max<Index>(sequence.tokens, 1));
  row.flops = work->flops() / tokens;
  row.exponentials = work->exponentials / tokens;
  row.steps = steps_in_a_row(form, sequence.tokens, chunk_size);
  row.bytes =
      (given_bytes(sequence, bytes_per_number, bytes_per_number) + bytes_per_number * work->moved) / tokens;
  return row;
}

}  // namespace

Index steps_in_a_row(Form form, Index tokens, Index chunk_size) {
  const Index chunks = (tokens + chunk_size - 1) / chunk_size;
  switch (form) {
    case Form::recurrent:
      return tokens;
    case Form::chunkwise:
      return chunks;
    case Form::two_pass:
      return chunks + 1;
    case Form::parallel:
      break;
  }
  return tokens > 0 ? 1 : 0;
}

double given_bytes(const Sequence& sequence, double of_rows, double of_others) {
  double of_a_token = of_rows * static_cast<double>(sequence.dv);
  for (const std::string& name : sequence.names_with_tokens()) {
    const bool is_row = name == "q" || name == "k" || name == "v";
    of_a_token += (is_row ? of_rows : of_others) * static_cast<double>(sequence.at(name).columns());
  }
  return of_a_token * static_cast<double>(sequence.tokens);
}

std::vector<CostRow> costs(const Variant& variant, const Sequence& sequence, Index chunk_size,
                           double bytes_per_number) {
  std::vector<CostRow> rows;
  for (const Form form : all_forms)
    rows.push_back(row(variant, sequence, form, chunk_size, bytes_per_number));
  return rows;
}

}  // namespace palimpsest
