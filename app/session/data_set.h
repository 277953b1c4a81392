#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/array.h"
#include "core/variant.h"

namespace palimpsest {

/// A sequence to look at: a capture, a preset, or somebody's own file. Holds all heads.
struct DataSet {
  std::string id;      // "capture:NAME" of one we ship, "preset:NAME", or the path of a file
  std::string title;   // "a fact is overwritten · Gated DeltaNet, layer 1"
  std::string rule;    // id of the variant it belongs to; empty if nobody says
  std::string text;    // what the model read
  std::string notes;   // what to look for
  std::string source;  // model, source and licence in a line
  Arrays arrays;
  std::vector<std::string> labels;  // one per token
  std::optional<double> stated_error;  // reproduction error stated by a capture

  Index tokens = 0;
  Index batches = 1;
  Index heads = 1;
};

/// A capture or any other npz with q, k and v. Throws InputError naming the file.
DataSet open_file(const std::filesystem::path& path);

/// Fills in tokens, batches, heads and missing labels from the arrays; throws InputError if q, k and v do not make a
/// sequence.
void measure(DataSet& data);

/// The arrays of one head, without head and batch axes: [T, D]. Arrays that no variant knows are left out, except the
/// layer's own output o.
Arrays head_arrays(const DataSet& data, Index head);

}  // namespace palimpsest
