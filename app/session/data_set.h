#pragma once

#include "app/session/named_file.h"
#include "app/session/questions.h"

namespace palimpsest {

struct ReadText;

/// A recommended parameter of a variant for some data, unless the user chooses another.
struct Advice {
  std::string variant;
  std::string parameter;
  double value = 0;
  std::string why;
};

/// A sequence: a capture, a preset, or the user's file. Contains all heads.
struct DataSet {
  std::string id;  // "capture:NAME" of one we ship, "preset:NAME", "text:MODEL?…", or as file_id() has it
  std::string title;   // "a fact is overwritten · Gated DeltaNet, layer 1"
  std::string rule;    // id of the variant it belongs to; empty if unknown
  std::string fits;    // if unknown: the variant that takes exactly the gates of the file
  std::string text;    // what the model read
  std::string notes;   // what to look for
  std::string source;  // model, source and licence in a line
  Arrays arrays;
  Unreadable unreadable;               // broken arrays of the file; an error only if a rule takes them
  std::vector<Doubt> doubts;           // about the user's file
  std::vector<std::string> labels;     // one per token
  std::optional<double> stated_error;  // reproduction error stated by a capture
  std::vector<Advice> advice;
  std::shared_ptr<const ReadText> read = nullptr;  // of a typed text, what the model says; else null

  Index tokens = 0;
  Index batches = 1;
  Index heads = 1;
};

/// The subject under which old answers may be shown for new ones: the id and the number of tokens, as a file
/// may change between two openings.
std::string text_of(const DataSet& data);

/// Longer sequences are refused: a timeline cannot show them.
inline constexpr Index most_tokens = Index{1} << 20;

/// A capture or any other file with q, k and v, by its path or as file_id() names it; arrays that no rule
/// takes are left out. Throws InputError.
DataSet open_file(const std::string& id);

/// The doubts about a file that open_file() refuses. Throws InputError if it cannot be read.
std::vector<Doubt> doubts_about_file(const std::string& id);

/// The doubts about a file that is refused: a question.
struct DoubtsAboutFile {
  std::string id = {};
  auto operator<=>(const DoubtsAboutFile&) const = default;
  Found<std::vector<Doubt>> compute(const Effort&) const { return doubts_about_file(id); }
};

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

/// Fills in tokens, batches, heads and missing labels from the arrays; throws InputError if q, k and v do not
/// make a sequence.
void measure(DataSet& data);

/// What is wrong with an array of a file, which the words name.
class BrokenArray : public InputError {
 public:
  using InputError::InputError;
};

/// Whether a rule takes several of these for each token, one after the other.
bool has_steps(const Input& input);

/// Throws InputError unless there is this head, over batches and heads.
void require_head(const DataSet& data, Index head);

/// The inputs of `variant` for one head, without head and batch axes ([T, D]), and the layer's own output o.
/// Throws InputError for a head that does not exist, or with the name of an array whose batches, tokens or
/// heads do not fit; BrokenArray for one that could not be read.
Arrays head_arrays(const DataSet& data, Index head, const Variant& variant);

}  // namespace palimpsest
