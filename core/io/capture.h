#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/array.h"
#include "core/io/array_file.h"

namespace palimpsest {

/// One line of a picker: what a capture says of itself, as far as its meta does.
struct CaptureSummary {
  std::filesystem::path file;
  std::string name;
  std::string rule;  // the id of the variant that the layer is
  std::string model;
  std::string text;
  std::optional<int> layer;
  // The largest difference between o and the rule computed in float64, as a share of max|o|.
  std::optional<double> reproduction_error;
  std::string error;  // why the file cannot be read; empty if all is well as far as was looked
};

/// What flowed through one layer of a model. Only `file` and `arrays` are always there: any file of arrays
/// will do, and what its `meta` does not say is empty.
struct Capture : CaptureSummary {
  Arrays arrays;
  Unreadable unreadable;            // arrays that are there and broken
  std::vector<std::string> unread;  // arrays that were not wanted
  std::vector<std::string> tokens;  // none, or one for each of the T positions; valid UTF-8
  std::string source;
  std::string licence;
  std::string notes;
  std::optional<double> scale;
  std::vector<int> heads;  // which heads of the layer these are
};

/// Reads a file of arrays (see read_array_file) with its tokens and meta. Without a name in meta it is called
/// as array_file_title() says. With `wanted`, other arrays are left out. Throws InputError, also where tokens
/// or meta are not the JSON they should be or there is not one token for each position.
Capture read_capture(const std::filesystem::path& path, const Wanted& wanted = {});

/// The .npz files of a folder by name, from their meta alone. Throws InputError if the folder cannot be read;
/// a broken file is listed with its error.
std::vector<CaptureSummary> list_captures(const std::filesystem::path& folder);

}  // namespace palimpsest
