#include "kernels/cuda/kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace palimpsest {

template <class Scalar>
void recurrent_scalar_decay(const RowPrograms<Scalar>& programs);

namespace {

bool one_decay_per_token(const Structure& structure) {
  // All fields by name: whoever adds one to Structure is asked here whether the kernel knows it.
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return decay != Decay::key && !value_decay && erase != Erase::undecayed && !erase_key && writes_value &&
         !plain_write && read_at == ReadAt::after_row && rows_per_read == 1 && parts.empty();
}

std::string describe(const Structure& structure) {
  std::string words;
  switch (structure.decay) {
    case Decay::none:
      words = "no decay";
      break;
    case Decay::scalar:
      words = "one decay per token";
      break;
    case Decay::key:
      words = "one decay per key channel";
      break;
  }
  if (structure.value_decay) words += ", one decay per value channel";
  if (structure.erase != Erase::none) words += ", with erase";
  if (structure.erase == Erase::undecayed) words += " before the decay";
  if (structure.erase_key) words += " by a key of its own";
  if (structure.plain_write) words += ", with a second write";
  if (structure.rows_per_read > 1) words += ", several steps per token";
  if (!structure.parts.empty()) words += ", with momentum";
  if (structure.read_at == ReadAt::end) words += ", read after the last token";
  return words;
}

}  // namespace

std::span<const Kernel> cuda_kernels() {
  static const Kernel kernels[] = {
      {.name = "recurrent_scalar_decay",
       .words = "no decay or one decay per token, with or without erase",
       .form = Form::recurrent,
       .covers = one_decay_per_token,
       .largest_K = 896,
       .f64 = recurrent_scalar_decay<double>,
       .f32 = recurrent_scalar_decay<float>},
  };
  return kernels;
}

const Kernel* find_kernel(const Structure& structure, Form form, Precision precision) {
  const auto found = std::ranges::find_if(cuda_kernels(), [&](const Kernel& kernel) {
    return kernel.form == form && kernel.has(precision) && kernel.covers(structure);
  });
  return found == cuda_kernels().end() ? nullptr : &*found;
}

std::string no_kernel_reason(const Structure& structure, Form form, Precision precision) {
  std::vector<std::string> known;
  for (const Kernel& kernel : cuda_kernels())
    known.push_back(fmt::format("the {} form with {}", name(kernel.form), kernel.words));
  return fmt::format(
      "no CUDA kernel computes the {} form with {} in {} yet; there are kernels for: {}. The CPU computes it",
      name(form), describe(structure), name(precision), fmt::join(known, "; "));
}

}  // namespace palimpsest
