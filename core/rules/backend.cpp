#include "core/rules/backend.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace palimpsest {

namespace {

class CpuBackend : public Backend {
 public:
  std::string name() const override { return "cpu"; }

  std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form form,
                                     Precision) const override {
    return variant.rule->missing(form, settings);
  }

  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    return variant.rule->run(sequence, form, precision, chunk_size, std::move(stop));
  }
};

class AskingBackend : public CpuBackend {
 public:
  Output run(const Variant& variant, const Sequence& sequence, Form form, Precision precision,
             Index chunk_size, std::stop_token stop) const override {
    try {
      return {variant.rule->answers(sequence, form, precision, chunk_size, std::move(stop)), {}};
    } catch (const Unsupported& reason) {
      throw Unsupported(fmt::format("{}: {}", variant.id, reason.what()));
    }
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

const Backend& asking_backend() {
  static const AskingBackend backend;
  return backend;
}

}  // namespace palimpsest
