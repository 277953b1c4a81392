#pragma once

#include <span>
#include <string>

#include "core/operator/program.h"

namespace palimpsest::cpu {

/// An array of one head whose row r begins at data + r stride; without data where the head has no such array.
struct StridedRows {
  const float* data = nullptr;
  Index stride = 0;

  const float* row(Index r) const { return data + r * stride; }
};

/// The rows of one head as they lie in memory, with the outputs and the state that they advance. Shapes and
/// meaning are those of Program.
struct HeadRows {
  Structure structure = {};
  Index rows = 0;
  Index reads = 0;
  Index K = 0;
  Index V = 0;
  StridedRows q = {};
  StridedRows k = {};
  StridedRows v = {};
  StridedRows a = {};
  StridedRows gate = {};
  StridedRows beta = {};
  StridedRows k_plain = {};
  StridedRows v_plain = {};
  float* o = nullptr;  // [reads, V], row s begins at o + s o_stride
  Index o_stride = 0;
  float* S = nullptr;  // [K, V]
};

/// Advances the states of heads of one structure (fit_vectors()) and one size over all their rows, and writes
/// the outputs; heads, and columns where heads are few, in up to `threads` threads. The results are the same
/// to the bit for any number of them.
void recurrent_rows(std::span<const HeadRows> heads, unsigned threads);

/// The vector instructions that recurrent_rows() takes on this processor, as Highway names them: "AVX2".
std::string vector_instructions();

}  // namespace palimpsest::cpu
