#pragma once

#include <span>
#include <string>
#include <type_traits>

#include "core/operator/program.h"
#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// A kernel: what it computes and how it is started.
struct Kernel {
  std::string name;   // its file is kernels/cuda/NAME.cu
  std::string words;  // "no decay or one decay per token, with or without erase"
  Form form = Form::recurrent;
  bool (*covers)(const Structure&) = nullptr;
  Index largest_K = 0;  // more key channels than this do not fit
  // Start the kernel on the current device, once for all heads; null: no such precision. Throw Error with
  // CUDA's words.
  void (*f64)(const RowPrograms<double>&) = nullptr;
  void (*f32)(const RowPrograms<float>&) = nullptr;

  bool has(Precision precision) const {
    return precision == Precision::f64 ? f64 != nullptr : f32 != nullptr;
  }

  template <class Scalar>
  auto launch() const {
    if constexpr (std::is_same_v<Scalar, double>)
      return f64;
    else
      return f32;
  }
};

/// Every kernel, best first. The only list there is (kernels.cpp).
std::span<const Kernel> cuda_kernels();

/// The first kernel for programs of this structure; null if there is none.
const Kernel* find_kernel(const Structure& structure, Form form, Precision precision);

/// Why find_kernel() finds none, for someone who has not met the table.
std::string no_kernel_reason(const Structure& structure, Form form, Precision precision);

}  // namespace palimpsest
