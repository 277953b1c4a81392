#include "core/rules/fastest_form.h"

namespace palimpsest {

namespace {

// So many operations of a chunk, most of them within products of matrices, take as long in the clear engines
// as one of the recurrence: between 1.33 (faster in chunks) and 1.48 (not) for all rules with 32 to 256
// channels, but for MesaNet, whose cost in chunks is an upper bound.
constexpr double per_operation = 1.4;

double operations(const Work& work) { return 2 * work.seen + work.multiplications; }

}  // namespace

FastestForm fastest_form(const Backend& backend, const Variant& variant, const Sequence& sequence,
                         Precision precision, Index chunk_size) {
  const auto exists = [&](Form form) {
    return !backend.missing(variant, sequence.settings, form, precision);
  };
  if (!exists(Form::chunkwise)) return {.form = Form::recurrent, .why = Faster::alone};
  if (!exists(Form::recurrent)) return {.form = Form::chunkwise, .why = Faster::alone};

  const auto is_fast = [&](Form form) {
    return variant.rule->kernel(sequence, form, held_in(precision), backend.engines(precision)) !=
           KernelKind::plain;
  };
  const bool recurrent_is_fast = is_fast(Form::recurrent);
  if (recurrent_is_fast != is_fast(Form::chunkwise))
    return {.form = recurrent_is_fast ? Form::recurrent : Form::chunkwise, .why = Faster::kernel};

  const bool is_device = !is_cpu(backend);
  if (recurrent_is_fast) {
    if (!is_device) return {.form = Form::recurrent, .why = Faster::one_pass};
    if (sequence.tokens <= chunk_size) return {.form = Form::recurrent, .why = Faster::few_tokens};
    return {.form = Form::chunkwise, .why = Faster::side_by_side};
  }
  const auto work_of = [&](Form form) {
    return variant.rule->cost(sequence, form, chunk_size).value_or(Work{});
  };
  const Work recurrent = work_of(Form::recurrent);
  const Work chunkwise = work_of(Form::chunkwise);
  if (is_device && chunkwise.seen > recurrent.seen)
    return {.form = Form::chunkwise, .why = Faster::side_by_side};
  const double tokens = static_cast<double>(std::max<Index>(sequence.tokens, 1));
  const double row_by_row = operations(recurrent) / tokens;
  const double in_chunks = operations(chunkwise) / tokens;
  if (in_chunks <= per_operation * row_by_row)
    return {Form::chunkwise, Faster::less_work, in_chunks, row_by_row};
  return {Form::recurrent, Faster::less_work, row_by_row, in_chunks};
}

}  // namespace palimpsest
