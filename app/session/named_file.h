#pragma once

#include "core/contract/variant.h"
#include "core/io/array_file.h"

namespace palimpsest {

/// A file of arrays and the inputs that they are: "layer.npz?q=query&beta=sigmoid(b)&scale=0.125&axes=HTD".
/// An array that is not mentioned there is the input of its own name.
struct NamedFile {
  std::filesystem::path file = {};
  Texts sources = {};        // by input: an array, sigmoid(ARRAY) or a number; empty: the input is left out
  bool heads_first = false;  // its arrays are [H, T, D] or [B, H, T, D]
  bool operator==(const NamedFile&) const = default;
};

/// The path in an id: all of it if such a file exists, else the part before the last "?" with names.
std::string path_in_id(const std::string& id);

/// The file that `id` names. Throws InputError where an input is none.
NamedFile named_file(const std::string& id);

/// The id of it: its path, and what is said of its arrays.
std::string file_id(const NamedFile& named);

/// Whether a rule takes arrays of this name, or they are the output: a file may hold others, and large ones.
bool is_input_name(std::string_view name);

/// The array that the input `name` is taken from: its own name, or what is said of it.
std::string source_array(const NamedFile& named, const std::string& name);

/// The inputs that are `wanted`, by their names; other arrays are listed as not read. Throws InputError
/// naming an array that does not exist.
Npz read_named(const NamedFile& named, const Wanted& wanted);

/// Throws InputError where some of `inputs` are missing, and tells which arrays could stand for them.
void require_inputs(const NamedFile& named, const std::vector<std::string>& inputs, const Npz& npz);

/// A doubt about a file, and the data if the user confirms the proposal.
struct Doubt {
  std::string words = {};                // "“b” is not used."
  std::string answer = {};               // "Use b as beta"; empty: no proposal
  std::string id = {};                   // of the data with the proposal applied
  std::vector<std::string> arrays = {};  // no doubt remains under a rule that takes all of them
  bool keeps_rule = false;               // the same arrays: rule and place stay
};

/// The doubts about arrays that were read, and names that were not: names, layout, ranges, scale. `rule`: the
/// current rule; null if the arrays cannot be opened.
std::vector<Doubt> doubts_about(const NamedFile& named, const Arrays& arrays,
                                const std::vector<std::string>& unread, const Variant* rule);

}  // namespace palimpsest
