// Which form `run --form auto` takes, by what computes it and how much there is to compute.

#include "core/rules/fastest_form.h"
#include "kernels/device.h"
#include "tests/core/cases.h"
#include "tests/told_device.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr Index whole_chunk = 64;

FastestForm choice(const Backend& backend, const char* id, const RandomCase& random, Precision precision,
                   const Settings& given = {}) {
  const Variant& variant = find_variant(id);
  return fastest_form(backend, variant, random_case(variant, resolve(variant, given), random).sequence,
                      precision, whole_chunk);
}

void check(const FastestForm& found, Form form, Faster why) {
  CHECK(std::string(name(found.form)) == name(form));
  CHECK(found.why == why);
}

/// A device that has the processor's kernels.
class DeviceOfKernels : public ToldDevice {
 public:
  std::string name() const override { return "cuda"; }
  const DeviceEngines& engines(Precision precision) const override {
    return fast_cpu_backend().engines(precision);
  }
};

}  // namespace

TEST_CASE("on the processor the faster form is the one with a kernel, else the one with less work") {
  const auto on_cpu = [](const char* id, Index channels, Precision precision) {
    return choice(fast_cpu_backend(), id, {.tokens = 130, .dk = channels, .dv = channels}, precision);
  };
  check(on_cpu("softmax", 16, Precision::f32), Form::chunkwise, Faster::kernel);
  check(on_cpu("titans", 16, Precision::f32), Form::chunkwise, Faster::kernel);
  check(on_cpu("gated_deltanet", 16, Precision::f32), Form::recurrent, Faster::one_pass);

  // More channels make the pairs of a chunk cheap beside its products with the memory.
  check(on_cpu("gated_deltanet", 32, Precision::f64), Form::recurrent, Faster::less_work);
  const FastestForm wide = on_cpu("gated_deltanet", 128, Precision::f64);
  check(wide, Form::chunkwise, Faster::less_work);
  CHECK(wide.others < wide.operations);
  CHECK(wide.operations < 1.4 * wide.others);
  check(on_cpu("ttt_mlp", 48, Precision::f64), Form::chunkwise, Faster::less_work);
  check(on_cpu("mamba", 48, Precision::f64), Form::recurrent, Faster::less_work);
}

TEST_CASE("a device takes chunks where they have products, but for few tokens") {
  const DeviceOfKernels device;
  const auto on_device = [&](const char* id, Index tokens, Precision precision) {
    return choice(device, id, {.tokens = tokens, .dk = 8, .dv = 8}, precision);
  };
  check(on_device("linear", whole_chunk, Precision::f32), Form::recurrent, Faster::few_tokens);
  check(on_device("linear", whole_chunk + 1, Precision::f32), Form::chunkwise, Faster::side_by_side);
  check(on_device("linear", 0, Precision::f32), Form::recurrent, Faster::few_tokens);
  check(on_device("linear", 2, Precision::f64), Form::chunkwise, Faster::side_by_side);
  // Mamba's chunks are a scan, six passes of multiplications.
  check(on_device("mamba", 500, Precision::f64), Form::recurrent, Faster::less_work);
}

TEST_CASE("a form that exists alone is taken, and so says the choice") {
  class OnlyChunks : public DeviceOfKernels {
    std::optional<std::string> missing(const Variant&, const Settings&, Form form, Precision) const override {
      return form == Form::chunkwise ? std::nullopt : std::optional<std::string>("no kernel");
    }
  };
  check(choice(OnlyChunks(), "linear", {.tokens = 1, .dk = 8, .dv = 8}, Precision::tf32), Form::chunkwise,
        Faster::alone);
}
