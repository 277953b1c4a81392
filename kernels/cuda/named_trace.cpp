#include "kernels/cuda/named_trace.h"

#include <utility>

#include "kernels/cuda/failed_run.h"

namespace palimpsest::cuda {

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
