#pragma once

#include "core/rules/rule.h"
#include "core/rules/run_times.h"

namespace palimpsest {

/// Called after each finished head of a batch, from any thread.
using HeadDone = std::function<void()>;

/// A device that runs variants, and what it supports.
class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu" or "cuda".
  virtual std::string name() const = 0;

  /// Why this variant, form and precision cannot run here; nothing if it can.
  virtual std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                             Precision precision) const = 0;

  /// Why nothing can be computed here in this precision; nothing if it can, where the device can be used.
  virtual std::optional<std::string> missing_precision(Precision precision) const;

  /// The engines that it computes with. For bf16 those in f32 round inputs and outputs, for tf32 the factors
  /// of products; rules then run in held_in(precision). Throws Unsupported with the reason where none can be
  /// used.
  virtual const DeviceEngines& engines(Precision precision) const = 0;

  /// Runs one head. Throws Unsupported with the reason of missing().
  virtual Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
                     Index chunk_size, std::stop_token stop = {}) const;

  /// Runs all heads of a batch, several at once as memory allows: [B H]. Calls `head_done` after each head; a
  /// device that computes them together never does. Throws as run() does.
  virtual std::vector<Output> run_heads(const Variant& variant, std::span<const Sequence> heads, Form form,
                                        Precision precision, Index chunk_size, std::stop_token stop = {},
                                        const HeadDone& head_done = {}) const = 0;

  /// The steps of one form of one head as they are computed here (Rule::trace()), checkpoints in about
  /// `budget` bytes. Throws as run() does, a record too.
  virtual std::unique_ptr<Trace> trace(const Variant& variant, const Sequence& sequence, Form form,
                                       Precision precision, Index chunk_size, std::size_t budget) const;

  /// Runs all heads of a batch once, discards the results, and returns the times. A device with its own
  /// memory repeats the computation as `repeats` says between upload and download. Throws as run() does.
  virtual RunTimes measure(const Variant& variant, std::span<const Sequence> heads, Form form,
                           Precision precision, Index chunk_size, const Repeats& repeats,
                           std::stop_token stop = {}) const;

  /// What the times of measure() include, and what they do not.
  virtual std::string what_is_timed() const;
  /// The limits of the device in this precision, measured within seconds; nothing where they are unknown.
  virtual std::optional<Roof> roof(Precision precision) const;
};

/// The precisions in which the device computes.
std::vector<Precision> precisions_of(const Backend& backend);

/// How many heads, each taking `work` bytes, may be computed at the same time by `threads` threads.
unsigned heads_at_once(double work, unsigned threads);

/// The engines of core on the processor: every form that exists.
const Backend& cpu_backend();

/// C = A B of square matrices in f32, in one thread.
struct SquareProduct {
  const char* words = "";  // "Eigen's product"
  void (*multiply)(const Matrix<float>& A, const Matrix<float>& B, Matrix<float>& C) = nullptr;
};

/// The same under the same name, but whole heads are taken to these engines where they have a fast kernel,
/// and `product` is the best of the processor: roof() measures it.
std::unique_ptr<const Backend> cpu_backend_with(const DeviceEngines& engines, const SquareProduct& product);

/// Whether this is the processor, which computes whatever another device cannot.
bool is_cpu(const Backend& backend);

/// The same for tokens that only query (Rule::answers()): outputs and no states.
const Backend& asking_backend();

/// A sentence if a run of this sequence on `device` uses a fused kernel, which does not produce the tensors
/// of a step: those of a trace then come from plain kernels. Empty if both use the same kernels, or the form
/// does not run there.
std::string fused_kernel(const Backend& device, const Variant& variant, const Sequence& sequence, Form form,
                         Precision precision);

}  // namespace palimpsest
