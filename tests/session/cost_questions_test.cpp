// What the knob shows: costs counted and errors measured for every chunk size.

#include "app/session/step_questions.h"

#include "app/session/presets.h"
#include "core/base/error.h"
#include "core/insight/provenance.h"
#include "core/race/race.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* few_words = "preset:random?T=13&K=4&V=3&seed=1";

}  // namespace

TEST_CASE("the knob goes from one word in a chunk to all of them", "[chunk_sweep]") {
  CHECK(swept_chunks(1) == std::vector<Index>{1});
  CHECK(swept_chunks(8) == std::vector<Index>{1, 2, 4, 8});
  CHECK(swept_chunks(13) == std::vector<Index>{1, 2, 4, 8, 13});
}

TEST_CASE("costs of chunk sizes are those that cost counts, and steps the chunks", "[chunk_sweep]") {
  const auto computation = begun("gated_deltanet", few_words);
  const std::vector<Index> sizes = swept_chunks(13);
  const std::vector<CostRow> counted = *find_out(ChunkCosts{computation, Form::chunkwise});
  REQUIRE(counted.size() == sizes.size());
  CHECK(counted.front().steps == 13);
  CHECK(counted[2].steps == 4);
  CHECK(counted.back().steps == 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto rows = costs(*computation->variant, computation->sequence, sizes[i]);
    const auto row = std::ranges::find(rows, Form::chunkwise, &CostRow::form);
    CHECK(counted[i].flops == row->flops);
    CHECK(counted[i].bytes == row->bytes);
  }
  CHECK(counted.front().bytes > counted.back().bytes);  // the state is written back less often
}

TEST_CASE("the two-pass form has costs of its own", "[chunk_sweep]") {
  const auto computation = begun("gated_deltanet", few_words);
  const std::vector<Index> sizes = swept_chunks(13);
  const auto chunkwise = find_out(ChunkCosts{computation, Form::chunkwise});
  const auto two_pass = find_out(ChunkCosts{computation, Form::two_pass});
  REQUIRE(two_pass->size() == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    CHECK((*two_pass)[i].flops > (*chunkwise)[i].flops);  // decays are made again
    CHECK((*two_pass)[i].bytes > (*chunkwise)[i].bytes);  // states and U are fetched again
    CHECK((*two_pass)[i].steps == (*chunkwise)[i].steps + 1);
  }
  const ChunkCosts first{computation, Form::chunkwise};
  const ChunkCosts second{computation, Form::two_pass};
  CHECK(first < second);
  CHECK_FALSE(second < first);
}

TEST_CASE("every form's cost is told for the data and the chunk size at hand", "[chunk_sweep]") {
  const auto computation = begun("gated_deltanet", few_words);
  const auto told = find_out(FormCosts{computation, 5});
  const auto counted = costs(*computation->variant, computation->sequence, 5);
  REQUIRE(told->size() == std::size(all_forms));
  const Index steps[] = {13, 3, 4, 1};
  for (std::size_t i = 0; i < told->size(); ++i) {
    CHECK((*told)[i].form == all_forms[i]);
    CHECK((*told)[i].flops == counted[i].flops);
    CHECK((*told)[i].bytes == counted[i].bytes);
    CHECK((*told)[i].steps == steps[i]);
  }
}

TEST_CASE("errors in float32 are measured for every chunk size, or the reason is said", "[chunk_sweep]") {
  const auto computation = begun("gated_deltanet", "preset:random?T=40&K=8&V=8&seed=3");
  double told = 0;
  const auto errors = find_out(ChunkErrors{computation}, {.progress = [&](double part) { told = part; }});
  CHECK(told == 1);
  REQUIRE(errors->size() == swept_chunks(40).size());
  for (const double error : *errors) {
    CHECK(error > 0);
    CHECK(error < 1e-5);  // sixty times the rounding of float32
  }
  CHECK_THROWS_AS(find_out(ChunkErrors{computation}, {.stop = asked_to_stop()}), Cancelled);
  const auto long_one = begun("linear", "preset:random?T=4097&K=2&V=2&seed=1");
  CHECK_THROWS_WITH(find_out(ChunkErrors{long_one}), says("4096"));
}

TEST_CASE("who wrote a number: the strongest by name, the rest together", "[who_wrote]") {
  const auto computation = begun("gated_deltanet", "preset:overwrite?T=24&K=8&V=8&seed=1");
  const WrittenNumber entry{.tokens = 20, .row = 3, .column = 2};
  const auto told = find_out(WhoWrote{.of = computation, .number = entry, .most = 4});
  const Provenance all =
      provenance(*computation->variant->rule, computation->sequence, {.tokens = 20, .row = 3, .column = 2});
  CHECK(told->value == all.value);
  REQUIRE(told->strongest.size() == 4);
  double sum = told->others_remaining;
  for (std::size_t i = 0; i < 4; ++i) {
    const WriterShare& writer = told->strongest[i];
    if (i > 0) CHECK(writer.token > told->strongest[i - 1].token);
    CHECK(writer.remaining == all.shares[static_cast<std::size_t>(writer.token)].remaining);
    sum += writer.remaining;
    if (writer.eraser < 0) continue;
    CHECK(writer.eraser > writer.token);
    CHECK(std::abs(writer.erased_by) > 0);
  }
  CHECK(std::abs(sum - all.value) <= 1e-12);
  const auto none = begun("softmax", "preset:overwrite?T=24&K=8&V=8&seed=1");
  CHECK_THROWS_AS((find_out(WhoWrote{.of = none, .number = entry})), Unsupported);
}
