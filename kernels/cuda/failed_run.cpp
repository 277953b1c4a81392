#include "kernels/cuda/failed_run.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <utility>

#include "kernels/cuda/check.h"

namespace palimpsest::cuda {

std::string run_words(const Variant& variant, std::span<const Sequence> heads, Form form, Precision precision,
                      Index chunk_size) {
  const Sequence& head = heads.front();
  const std::string chunks = has_chunks(form) ? fmt::format(" in chunks of {}", chunk_size) : "";
  return fmt::format("{}, {} in {} on cuda, {} {} of {} tokens, K {}, V {}{}", variant.id, name(form),
                     name(precision), heads.size(), heads.size() == 1 ? "head" : "heads", head.tokens,
                     head.dk, head.dv, chunks);
}

Error failed_run(const Error& error, std::string_view run) {
  // After a kernel that broke off every call fails, also of what had nothing to do with it.
  const cudaError_t now = cudaStreamSynchronize(nullptr);
  const std::string lost = succeeded(now)
                               ? ""
                               : fmt::format(
                                     ". The device does not answer any more ({}): start the program again, "
                                     "or go on with the CPU",
                                     cudaGetErrorName(now));
  return Error(fmt::format("{}: {}{}", run, error.what(), lost));
}

namespace {

class NamedTrace : public Trace {
 public:
  NamedTrace(std::string words, std::unique_ptr<Trace> trace)
      : Trace(*trace), words_(std::move(words)), trace_(std::move(trace)) {}

  Index block_count() const override { return trace_->block_count(); }
  Block block(Index index) const override { return trace_->block(index); }
  Index block_of(Index token, Index phase) const override { return trace_->block_of(token, phase); }
  const Output* output() const override { return trace_->output(); }
  NamedStates states(const Record& latest) const override { return trace_->states(latest); }

  const Record& record(Index index) override {
    return *naming(words_, [&] { return &trace_->record(index); });
  }

  std::shared_ptr<const Record> shared_record(Index index, std::stop_token stop) const override {
    return naming(words_, [&] { return trace_->shared_record(index, std::move(stop)); });
  }

  void prepare(std::stop_token stop) override {
    naming(words_, [&] { trace_->prepare(std::move(stop)); });
  }

 private:
  std::string words_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace

std::unique_ptr<Trace> named_trace(std::string words, std::unique_ptr<Trace> trace) {
  return std::make_unique<NamedTrace>(std::move(words), std::move(trace));
}

}  // namespace palimpsest::cuda
