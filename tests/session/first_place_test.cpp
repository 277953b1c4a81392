// Where data are opened.

#include "app/session/first_place.h"

#include "app/session/memory_questions.h"
#include "core/base/random_numbers.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Place place_of(DataSet data, const Choice& choice = {}) {
  return first_place(*begin(shared(std::move(data)), choice), {});
}

/// Keys at right angles that come again after 64 tokens, each with another value; only `written` are.
DataSet written_at(Index tokens, std::initializer_list<Index> written) {
  Arrays arrays = {{"beta", constant({tokens}, 0)}};
  for (const char* const name : {"q", "k", "v"}) arrays[name] = constant({tokens, 64}, 0);
  for (Index t = 0; t < tokens; ++t) {
    std::get<0>(arrays["k"].values)[static_cast<std::size_t>(t * 64 + t % 64)] = 1;
    std::get<0>(arrays["v"].values)[static_cast<std::size_t>(t * 64 + t / 64 % 64)] = 1;
  }
  for (const Index t : written) std::get<0>(arrays["beta"].values)[static_cast<std::size_t>(t)] = 1;
  return data_of(std::move(arrays));
}

}  // namespace

TEST_CASE("data open where something is overwritten, else where the memory returned most, else at the end",
          "[first place]") {
  const auto token_of = [](const std::string& id) { return place_of(open_data(id)).token; };
  CHECK(token_of("preset:one_fact") == 3);                       // red → drum, over red → key
  CHECK(token_of("preset:overwrite") == 8);                      // the first of the second round
  CHECK(token_of("preset:copy") == 16);                          // the first word of the second line
  CHECK(token_of("preset:orthonormal") == 31);                   // no key touches another
  CHECK(token_of("capture:gated_deltanet_overwrite_l1") == 42);  // as its guide says
  CHECK(token_of("capture:gla_recall_l1") == 20);                // the last that is stored

  const Choice delta{{.variant = "deltanet"}};
  CHECK(place_of(written_at(200, {0, 1, 64, 130}), delta).token == 64);
  CHECK(place_of(written_at(200, {0, 1, 2}), delta).token == 199);
  // 2048 memories of 64 x 64 are looked at.
  CHECK(place_of(written_at(2050, {0, 1984}), delta).token == 1984);
  CHECK(place_of(written_at(2200, {0, 2112}), delta).token == 2199);
}

TEST_CASE("what opens has something in its memory, after a write", "[first place]") {
  std::vector<std::string> ids = capture_ids();
  for (const Preset& one : presets()) ids.push_back(usual_preset_id(one));
  for (const std::string& id : ids) {
    CAPTURE(id);
    Opened session(id);
    const Trace& trace = *session.trace();
    CHECK(session.token() > 0);
    CHECK(session.cursor() == after_write(trace, session.token()));
    const Purpose purpose = trace.operation(session.cursor()).purpose;
    CHECK(purpose == (session.choice().variant == "softmax" ? Purpose::output : Purpose::write));
    const auto computed = session.computed();
    const auto answers = find_out(MemoryAnswers{computed, Form::recurrent, session.cursor()});
    CHECK(answers->table.after.cwiseAbs().maxCoeff() > noticed);
  }
}

TEST_CASE("a place after a write stays one under another rule and form", "[first place]") {
  Opened session("capture:gated_deltanet_overwrite_l1");
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    change(session, [&](SessionState& state) {
      state.place = {.token = 42, .operation = "write"};
      state.sides.front().variant = variant.id;
      state.sides.front().form = Form::recurrent;
    });
    if (!session.trace()) continue;
    CHECK(session.token() == 42);
    const bool has_write = session.trace()->operation(session.cursor()).id == "write";
    CHECK((has_write || session.cursor() == after_write(*session.trace(), 42)));
  }
}

TEST_CASE("on long data the memory is asked about what it still returns", "[first place]") {
  constexpr Index tokens = 3000;
  Arrays arrays;
  for (const char* const name : {"q", "k", "v"})
    arrays[name] = array_of(RandomNumbers(7, name).normal(tokens, 32) / std::sqrt(32.0), {tokens, 32});
  arrays["alpha"] = constant({tokens}, 0.95);
  arrays["beta"] = constant({tokens}, 0.6);
  for (const std::size_t strong : {3, 100, 500})  // forgotten long ago
    std::get<0>(arrays["beta"].values)[strong] = 1;
  const auto computation = begin(shared(data_of(std::move(arrays))), {});
  const Cursor cursor = after_write(*computation->recurrence, 2500);
  const auto answers = find_out(MemoryAnswers{computation, Form::recurrent, cursor});
  REQUIRE(answers->table.words.size() == 6);
  for (const AskedWord& word : answers->table.words) CHECK(word.token >= 2500 - 41);  // 3 x 13.5 tokens
  CHECK(answers->table.after.diagonal().minCoeff() > 0);
  CHECK(answers->table.after.cwiseAbs().maxCoeff() > noticed);
}
