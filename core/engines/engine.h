#pragma once

#include "core/contract/sequence.h"
#include "core/engines/device_engines.h"

namespace palimpsest {

/// The matrices that a rule carries from block to block.
template <class Scalar>
using Carried = std::vector<Matrix<Scalar>>;

/// How an engine is to compute, besides the numbers.
struct EngineRequest {
  Form form = Form::recurrent;
  Index chunk_size = 1;             // tokens of a chunk, where the form has chunks
  std::optional<Index> phase = {};  // the input is one block in this phase of the form, as in a trace, and
                                    // kernels compute every tensor. None: the whole form
  Recorder* tap = nullptr;          // receives every tensor of the block, which is of one head
  std::stop_token stop = {};        // throws Cancelled when asked to
};

/// One family of operators on one device, in one precision.
template <template <class> class Operator, class Scalar>
class Engine {
 public:
  virtual ~Engine() = default;

  /// Why operators like this one cannot be computed in this way; nothing if they can. Only its sizes matter.
  virtual std::optional<std::string> missing(const EngineRequest&, const Operator<Scalar>&) const {
    return {};
  }

  /// The kernel with which run() computes operators like this one. Only its sizes matter.
  virtual KernelKind kernel(const EngineRequest&, const Operator<Scalar>&) const { return KernelKind::plain; }

  /// The most bytes of the operators in one run of whole heads: a longer sequence is split into several runs.
  /// 0: heads are not run together, but one by one, block by block.
  virtual double most_bytes() const { return 0; }

  /// Advances the states over operators of one size and structure, a state each; returns the outputs. Throws
  /// Unsupported with the reason of missing(), Cancelled when asked to stop, Error with the device's words.
  std::vector<Matrix<Scalar>> run(const EngineRequest& request, std::span<const Operator<Scalar>> heads,
                                  std::span<Carried<Scalar>> states) const {
    if (heads.empty()) return {};
    if (const auto reason = missing(request, heads.front())) throw Unsupported(*reason);
    return compute(request, heads, states);
  }

  /// One block of one head.
  Matrix<Scalar> block(const EngineRequest& request, const Operator<Scalar>& rows,
                       Carried<Scalar>& state) const {
    return std::move(run(request, {&rows, 1}, {&state, 1}).front());
  }

 private:
  virtual std::vector<Matrix<Scalar>> compute(const EngineRequest& request,
                                              std::span<const Operator<Scalar>> heads,
                                              std::span<Carried<Scalar>> states) const = 0;
};

/// Part `index` of every state.
template <class Scalar>
auto part(std::size_t index) {
  return [index](const Carried<Scalar>& state) -> const Matrix<Scalar>& { return state[index]; };
}

}  // namespace palimpsest
