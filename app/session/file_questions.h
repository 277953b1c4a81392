#pragma once

#include "app/session/data_set.h"
#include "app/session/questions.h"

// Questions about a file before it is opened, or if it cannot be opened.

namespace palimpsest {

/// The doubts about a file that is refused: a question.
struct DoubtsAboutFile {
  std::string id = {};

  auto operator<=>(const DoubtsAboutFile&) const = default;
  Found<std::vector<Doubt>> compute(const Effort&) const { return doubts_about_file(id); }
};

/// A preview of an array in a file.
struct FileArray {
  std::string name = {};
  std::vector<Index> shape = {};
  double least = 0;
  double most = 0;
  Index not_finite = 0;         // number of its entries that are not finite
  Matrix<double> picture = {};  // the first channels of the first head, along the first tokens
  std::uint64_t version = 0;    // unique
  std::string problem = {};     // why it cannot be read; empty if it can

  auto parts() const { return std::tie(name, shape, picture, problem); }
};

/// All arrays of a file, read one after the other: a question.
struct ArraysOfFile {
  static constexpr std::size_t most_kept = 4;

  std::string file = {};
  bool heads_first = false;  // as NamedFile::heads_first

  auto operator<=>(const ArraysOfFile&) const = default;
  Found<std::vector<FileArray>> compute(const Effort& effort) const;
};

}  // namespace palimpsest
