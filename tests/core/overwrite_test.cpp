#include "core/steps/recognised.h"

#include <set>

#include "core/steps/turned.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

double largest(const Matrix<double>& values) { return values.size() == 0 ? 0 : values.cwiseAbs().maxCoeff(); }

/// Each entry of the update is a product of at most four factors, rounded in another order.
constexpr double rounding = 1e-15;

}  // namespace

TEST_CASE("what a write erases and what it writes add up to its update", "[overwrite]") {
  std::set<std::string> variants_with;
  for (const Case& each : all_cases({.tokens = 9, .dk = 4, .dv = 3, .seed = 8})) {
    bool erases = false;
    const auto trace = each.trace(Form::recurrent, 4);
    for (Index index = 0; index < trace->block_count(); ++index) {
      const Record plain = trace->record(index);
      const Phase& phase = trace->phase(trace->block(index));
      for (const bool is_turned : {false, true}) {
        const Record record = is_turned ? turned(plain, trace->symbols) : plain;
        const Phase steps = is_turned ? turned(phase, trace->symbols, plain) : phase;
        for (const Operation& operation : steps.operations) {
          const auto overwrite = overwrite_of(steps, operation);
          if (!overwrite) continue;
          INFO(each.words << " block " << index << ", " << operation.id << ", turned: " << is_turned);
          erases = true;
          const Matrix<double> erased = evaluate(overwrite->erased, record);
          const Matrix<double> written = evaluate(overwrite->written, record);
          const Matrix<double> update = evaluate(overwrite->update, record);
          const double scale = std::max(largest(erased), largest(written));
          CHECK(largest(erased + written - update) <= rounding * scale);
          if (overwrite->is_one_step) CHECK(update == record.at(operation.equation.result));
        }
      }
    }
    if (erases) variants_with.insert(each.variant->id);
  }
  for (const char* id : {"deltanet", "gated_deltanet", "kda", "comba", "titans", "rls", "rwkv7"}) {
    CAPTURE(id);
    CHECK(variants_with.contains(id));
  }
  for (const char* id : {"linear", "retnet", "gla", "mamba2", "softmax", "mesanet"}) {
    CAPTURE(id);
    CHECK_FALSE(variants_with.contains(id));
  }
}

TEST_CASE("what is erased lies along what was there, what is written along what should be", "[overwrite]") {
  const Case each = random_case(find_variant("gated_deltanet"), {}, {.tokens = 3, .dk = 4, .dv = 3});
  const auto trace = each.trace(Form::recurrent, 1);
  const Phase& phase = trace->phases[0];
  for (const Operation& operation : phase.operations) {
    const auto overwrite = overwrite_of(phase, operation);
    CHECK(overwrite.has_value() == (operation.id == "update"));
    if (!overwrite) continue;
    CHECK(to_string(overwrite->erased) == "negative(((beta * k) * old^T))");
    CHECK(to_string(overwrite->written) == "((beta * k) * v^T)");
  }
}
