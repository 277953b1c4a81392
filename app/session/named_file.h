#pragma once

#include "core/contract/variant.h"
#include "core/io/array_file.h"

namespace palimpsest {

/// A file of arrays and what they are taken for: "layer.npz?q=query&beta=sigmoid(b)&scale=0.125&axes=HTD". An
/// array that is not named there is taken for what it is called.
struct NamedFile {
  std::filesystem::path file = {};
  Texts sources = {};        // by input: an array, sigmoid(ARRAY) or a number; empty: the input is left out
  bool heads_first = false;  // its arrays are [H, T, D] or [B, H, T, D]

  bool operator==(const NamedFile&) const = default;
};

/// The path in an id: all of it where a file is called so, else what stands before the last "?" with names.
std::string path_in_id(const std::string& id);

/// The file that `id` names. Throws InputError where an input is none.
NamedFile named_file(const std::string& id);

/// The id of it: its path, and what is said of its arrays.
std::string file_id(const NamedFile& named);

/// Whether a rule takes arrays of this name, or they are the output: a file may hold others, and large ones.
bool is_input_name(std::string_view name);

/// The array that the input `name` is taken from: its own name, or what is said of it.
std::string source_array(const NamedFile& named, const std::string& name);

/// The inputs that are `wanted`, by their names. Others, and arrays that stand for an input, are among those
/// not read. Throws InputError naming an array that there is not.
Npz read_named(const NamedFile& named, const Wanted& wanted);

/// Throws InputError where some of `inputs` are missing, and tells which arrays could stand for them.
void require_inputs(const NamedFile& named, const std::vector<std::string>& inputs, const Npz& npz);

/// What a file leaves open, and the data if the answer is yes.
struct Doubt {
  std::string words = {};                // "“b” is not used."
  std::string answer = {};               // "Use b as beta"; empty: nobody can guess
  std::string id = {};                   // of the data that it makes
  std::vector<std::string> arrays = {};  // there is no doubt under a rule that takes them
  bool keeps_rule = false;               // the same arrays: rule and place stay
};

/// What one should ask about arrays as they were read, and names that were not: names, layout, ranges, scale.
/// `rule`: what they are looked at with; null where they cannot be opened.
std::vector<Doubt> doubts_about(const NamedFile& named, const Arrays& arrays,
                                const std::vector<std::string>& unread, const Variant* rule);

}  // namespace palimpsest
