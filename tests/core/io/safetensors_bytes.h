#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "core/base/matrix.h"
#include "tests/commands/raw_npz.h"

namespace palimpsest::testing {

/// The bytes of a .safetensors with this header and these data.
inline std::string safetensors_with_header(const std::string& header, const std::string& data) {
  return number_bytes<std::uint64_t>({header.size()}) + header + data;
}

/// A tensor as a .safetensors has it.
struct Tensor {
  std::string dtype;
  std::vector<Index> shape;
  std::string data;
};

/// The bytes of a .safetensors of these tensors, with the metadata that a library writes.
inline std::string safetensors(const std::map<std::string, Tensor>& tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, tensor.dtype,
                          fmt::join(tensor.shape, ","), data.size(), data.size() + tensor.data.size());
    data += tensor.data;
  }
  return safetensors_with_header(header + "}  ", data);
}

}  // namespace palimpsest::testing
