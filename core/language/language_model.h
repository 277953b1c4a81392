#pragma once

#include <filesystem>

#include "core/rules/backend.h"

namespace palimpsest {

struct LayerKind;

/// What enters the rule of one head of a layer: a variant, its settings, and the arrays that it takes,
/// q [T, K], k [T, K], v [T, V], beta [T] and so on.
struct HeadInputs {
  std::string rule;
  Settings settings = {};
  Arrays arrays = {};
  std::string fault = {};  // injected into the equations of the form (core/proof/faults.h); empty: none
};

/// The outputs [T, V] of head `head` of layer `layer`.
using RunHead = std::function<Matrix<double>(Index layer, Index head, const HeadInputs& inputs)>;

/// The decay of a head of RetNet (Sun et al., 2023, section 2.2).
double retnet_gamma(Index head);

/// How the rule of a head is run.
struct HeadForm {
  Form form = Form::recurrent;
  Precision precision = Precision::f32;
  Index chunk_size = 64;
  const Backend* device = &cpu_backend();
};

/// Runs heads in this form; a head with a fault by its equations, in f64. Throws as Backend::run() does, and
/// InputError where the fault does not apply to the form.
RunHead run_as_trained(const HeadForm& how, std::stop_token stop = {});

/// A product x W^T.
template <class Scalar>
struct KeptProduct {
  Matrix<Scalar> x = {};
  Matrix<Scalar> y = {};
  Index known = 0;  // rows that were there before
};

/// The products of the last text by their weights: of the next text only the rows that differ are computed.
/// Of one model, for one thread at a time.
template <class Scalar>
struct KeptProducts {
  std::map<const Matrix<Scalar>*, KeptProduct<Scalar>> of = {};
  Index known_logits = 0;  // rows that are those of the text before
};

/// A small language model: pieces become vectors; blocks of a linear attention layer and a gated MLP, each
/// behind an RMSNorm, add to them; the output matrix (by default the embedding) gives the logits. f64 or f32.
template <class Scalar>
class LanguageModel {
 public:
  /// An .npz or .safetensors of weights, named as flash-linear-attention names those of its layers
  /// (assets/models/README.md). Throws InputError naming the file and the tensor that is missing, of another
  /// shape or holds a number that is not finite.
  explicit LanguageModel(const std::filesystem::path& weights);
  Index layers() const { return static_cast<Index>(blocks_.size()); }
  Index heads() const { return heads_; }
  Index pieces() const { return embedding_.rows(); }
  /// The id of the variant that a layer was trained with.
  const std::string& rule(Index layer) const;

  /// The logits of the piece after each of `ids`: [T, pieces]. Throws InputError for an id that does not
  /// exist, and what `run` throws. `kept` changes no number.
  Matrix<Scalar> logits(const std::vector<Index>& ids, const RunHead& run,
                        KeptProducts<Scalar>* kept = nullptr) const;

 private:
  using Weights = std::map<std::string, Matrix<Scalar>, std::less<>>;
  struct Block {
    const LayerKind* kind = nullptr;
    Weights weights;  // "n1", "n2", "up", "down", and of its layer "mix.q_proj.weight"
  };

  Matrix<Scalar> layer(Index index, const Matrix<Scalar>& x, const RunHead& run,
                       KeptProducts<Scalar>* kept) const;

  Matrix<Scalar> embedding_;  // [pieces, width]
  Matrix<Scalar> norm_;       // [1, width]
  Matrix<Scalar> output_;     // [pieces, width]; empty: the embedding
  std::vector<Block> blocks_;
  Index heads_ = 0;
  double norm_epsilon_ = 0;
};

/// log p of a piece after token `token`, in nats.
template <class Scalar>
double log_probability(const Matrix<Scalar>& logits, Index token, Index piece);

struct Continuation {
  Index piece = 0;
  double probability = 0;
};

/// The likeliest pieces after token `token`, the likeliest first.
template <class Scalar>
std::vector<Continuation> continuations(const Matrix<Scalar>& logits, Index token, Index count);

}  // namespace palimpsest
