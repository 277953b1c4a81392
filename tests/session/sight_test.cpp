#include "app/session/sight.h"

#include <future>
#include <latch>

#include "app/session/step_questions.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// One phase of two operations, and a record that tells its block. What happens meanwhile is said by the
/// test.
class ToldTrace : public Trace {
 public:
  explicit ToldTrace(std::function<void(Index)> meanwhile = [](Index) {}) : meanwhile_(std::move(meanwhile)) {
    tokens = 100;
  }

  Index block_count() const override { return tokens; }
  Block block(Index index) const override { return {0, index}; }
  Index block_of(Index token, Index) const override { return token; }
  const Record& record(Index) override { throw std::logic_error("the window computes a record"); }
  NamedStates states(const Record&) const override { return {}; }
  void prepare(std::stop_token) override {}

  std::shared_ptr<const Record> shared_record(Index index, std::stop_token) const override {
    meanwhile_(index);
    auto record = std::make_shared<Record>();
    record->set("number", Matrix<double>::Constant(1, 1, static_cast<double>(index)));
    return record;
  }

 private:
  std::function<void(Index)> meanwhile_;
};

/// Which block is seen, by its record; -1: none.
Index seen_block(const Lookout& lookout) {
  const Sight& sight = lookout.seen();
  return sight.record ? static_cast<Index>(sight.record->at("number")(0, 0)) : -1;
}

Sight place(const std::shared_ptr<const Trace>& trace, Index block, Index operation = 0) {
  return {.computation = nullptr, .trace = trace, .cursor = {block, operation}};
}

}  // namespace

TEST_CASE("until a record is there, the last one is seen with its own cursor", "[sight]") {
  std::latch free(1);
  std::thread::id computed_in;
  const auto trace = std::make_shared<const ToldTrace>([&](Index block) {
    computed_in = std::this_thread::get_id();
    if (block == 7) free.wait();
  });
  Answers answers(1);
  Lookout lookout;
  lookout.look(place(trace, 3), answers);
  CHECK(lookout.is_stale());
  CHECK(seen_block(lookout) == -1);
  answers.wait();
  lookout.look(place(trace, 3), answers);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == 3);
  lookout.look(place(trace, 3, 1), answers);  // in a block one steps at once
  CHECK(lookout.seen() == [&] {
    Sight sight = place(trace, 3, 1);
    sight.record = lookout.seen().record;
    return sight;
  }());
  CHECK(computed_in != std::this_thread::get_id());

  lookout.look(place(trace, 7), answers);
  CHECK(lookout.is_stale());
  CHECK(seen_block(lookout) == 3);
  CHECK(lookout.seen().cursor == Cursor{3, 1});
  CHECK(lookout.awaited().under_way);
  free.count_down();
  answers.wait();
  lookout.look(place(trace, 7, 1), answers);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == 7);
  CHECK(lookout.seen().cursor == Cursor{7, 1});
}

TEST_CASE("a cursor that runs is seen to run", "[sight]") {
  const auto trace = std::make_shared<const ToldTrace>();
  Answers answers(1);
  Lookout lookout;
  for (Index block = 0; block < 20; ++block) {
    answers.frame();
    lookout.look(place(trace, block), answers);  // every time another place is wanted
    CHECK(lookout.is_stale());
    CHECK(seen_block(lookout) == block - 1);
    CHECK(lookout.seen().cursor.block == std::max<Index>(block - 1, 0));
    answers.wait();
  }
}

TEST_CASE("a form without steps is seen at once, and a record that fails says why", "[sight]") {
  const auto trace = std::make_shared<const ToldTrace>([](Index block) {
    if (block == 5) throw Unsupported("it takes too much");
  });
  Answers answers(1);
  Lookout lookout;
  lookout.look(place(trace, 4), answers);
  answers.wait();
  lookout.look(place(trace, 4), answers);
  CHECK(seen_block(lookout) == 4);
  lookout.look(place(trace, 5), answers);
  answers.wait();
  lookout.look(place(trace, 5), answers);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == -1);
  CHECK(lookout.seen().cursor.block == 5);
  CHECK(lookout.awaited().reason == "it takes too much");
  lookout.look(place(trace, 4), answers);  // still known
  CHECK(seen_block(lookout) == 4);
  lookout.look(place(nullptr, 0), answers);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == -1);
}

TEST_CASE("records of a trace that is no more are forgotten", "[sight]") {
  auto trace = std::make_shared<const ToldTrace>();
  Answers answers(1);
  {
    Lookout lookout;
    lookout.look(place(trace, 1), answers);
    answers.wait();
    lookout.look(place(trace, 1), answers);
    CHECK(seen_block(lookout) == 1);
  }
  answers.frame();
  CHECK(answers.bytes() > 0);
  trace = nullptr;
  answers.frame();
  CHECK(answers.bytes() == 0);
}

TEST_CASE("wherever one goes in a session, record and cursor belong together", "[sight]") {
  Session session;
  REQUIRE(session.open_named("capture:gated_deltanet_overwrite_l1"));
  session.wait();
  for (int round = 0; round < 40; ++round) {
    Choice choice = session.choice();
    choice.form = all_forms[round % 3];
    choice.chunk_size = round % 7 == 0 ? 5 : 8;
    session.choose(std::move(choice));
    session.go_to_token(round * 13 % 90);
    session.step(Session::Grain::operation, 1);
    if (round % 5 == 4) session.wait();
    session.update();
    const Sight& sight = session.sight();
    REQUIRE(sight.record);
    CAPTURE(round, name(sight.trace->form), sight.cursor.block);
    const Record& expected = *sight.trace->shared_record(sight.cursor.block);
    CHECK(std::ranges::equal(sight.record->tensors(), expected.tensors()));
    if (!session.lookout().is_stale()) CHECK(sight.cursor == session.cursor());
  }
  session.wait();
  CHECK_FALSE(session.lookout().is_stale());
  CHECK(session.sight().cursor == session.cursor());
}
