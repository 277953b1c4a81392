#include "app/session/computation.h"

#include <latch>

#include "app/session/step_questions.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* text = overwriting_capture;

void choose_decay(Session& session, double decay) {
  session.choose([&](Choice& choice) { set_slider(choice.edits, "scale_decay", decay); });
}

double computed_decay(const Session& session) {
  return slider_value(session.computed()->choice.edits, "scale_decay");
}

/// The next frame, when all that was asked for in this one is there.
void next_frame(Session& session) {
  session.questions().wait();
  session.update();
}

}  // namespace

TEST_CASE("nothing is waited for: neither small data nor a small change", "[completion]") {
  Session session;
  REQUIRE(session.open_named(text));
  CHECK(session.computed() == nullptr);
  CHECK(session.computing());
  session.wait();
  REQUIRE(session.computed());
  CHECK(session.computed()->is_complete());
  CHECK_FALSE(session.computing());
  const auto before = session.computed();
  choose_decay(session, 2);
  CHECK(session.computed() == before);
  CHECK(session.computing());
  session.wait();
  CHECK(computed_decay(session) == 2);
  CHECK(session.computed()->is_complete());
}

TEST_CASE("the steps are there first, and what takes longer fills in", "[completion]") {
  Session session;
  REQUIRE(session.open_named("preset:random?T=600&K=16&V=16"));
  next_frame(session);
  REQUIRE(session.computed());
  CHECK(session.trace() != nullptr);
  CHECK_FALSE(session.computed()->is_complete());
  for (const Form form : all_forms) {
    CHECK(session.computed()->form(form).missing.empty());
    CHECK(session.computed()->form(form).trace);
  }
  session.wait();
  CHECK(session.computed()->agree);
  for (const Form form : all_forms) CHECK(session.computed()->form(form).is_compared);
}

TEST_CASE("what the last choice had stands until the new one's is there", "[completion]") {
  Opened session(text);
  const double old_error = session.computed()->recalls->tokens.back().after;
  choose_decay(session, 3);
  next_frame(session);
  const Computation& now = *session.computed();
  REQUIRE(slider_value(now.choice.edits, "scale_decay") == 3);
  REQUIRE_FALSE(now.knows_recall);
  REQUIRE_FALSE(now.recalls->tokens.empty());
  CHECK(now.recalls->tokens.back().after == old_error);
  CHECK(now.form(Form::chunkwise).output().o.rows() == session.data().tokens);
  CHECK_FALSE(now.form(Form::chunkwise).is_compared);
  CHECK(now.form(Form::chunkwise).trace == now.trace(Form::chunkwise).get());
  session.wait();
  CHECK(session.computed()->recalls->tokens.back().after != old_error);

  session.open_named("preset:copy?T=12&K=4&V=4");  // other data have nothing to lend
  next_frame(session);
  REQUIRE(session.data().tokens == 12);
  CHECK(session.computed()->recalls->tokens.empty());
}

TEST_CASE("while a slider is dragged, pictures follow", "[completion]") {
  // So many that 2 takes longer than two more choices.
  Opened session("preset:random?T=40000&K=32&V=32");
  choose_decay(session, 2);
  choose_decay(session, 3);
  choose_decay(session, 4);
  next_frame(session);
  CHECK(computed_decay(session) == 2);
  CHECK(slider_value(session.choice().edits, "scale_decay") == 4);
  next_frame(session);
  CHECK(computed_decay(session) == 4);
}

TEST_CASE("somebody who does not want to wait stays where he is", "[completion]") {
  Opened session(text);
  session.go_to_token(20);
  session.wait();
  const std::string before = session.to_json();
  choose_decay(session, 2);
  session.stop();
  CHECK_FALSE(session.computing());
  CHECK(session.to_json() == before);
  session.open_named("preset:random?T=1000&K=32&V=32");
  session.stop();
  session.wait();
  CHECK(session.to_json() == before);

  session.go_to_token(30);
  session.look();
  CHECK(session.lookout().is_stale());
  session.stop();
  CHECK(session.token() == 20);
  const bool could_undo = session.can_undo();
  session.choose([](Choice& choice) { choice.form = Form::chunkwise; });
  session.look();
  CHECK(session.lookout().is_stale());
  session.stop();
  session.wait();
  CHECK(session.to_json() == before);
  CHECK(session.can_undo() == could_undo);  // what was given up is no entry
  CHECK_FALSE(session.can_redo());
  CHECK(session.message().empty());
  CHECK_FALSE(session.waiting());
}

TEST_CASE("a choice that was computed but is not wanted any more goes", "[completion]") {
  Opened session(text);
  choose_decay(session, 2);
  session.questions().wait();
  open(session, "preset:copy?T=12&K=4&V=4");
  CHECK(live_computations() == 2);  // somebody may still look at the one before
  session.update();
  session.questions().wait();
  CHECK(live_computations() == 1);
}

TEST_CASE("a computation that was shown with and without a fault goes", "[completion]") {
  Opened session(text);
  for (const char* fault : {"solve-sign", "", "solve-sign", ""}) {
    session.change(&SessionState::verify, {.fault = {fault, Form::chunkwise}});
    session.wait();
    session.update();
  }
  open(session, "preset:copy?T=12&K=4&V=4");
  for (int frame = 0; frame < 2; ++frame) next_frame(session);  // what the last one asked for is wanted in it
  session.questions().wait();
  CHECK(live_computations() == 1);
}

TEST_CASE("answers about former choices do not pile up", "[completion]") {
  Opened session(text);
  const auto bytes_after = [&](int choices) {
    for (int i = 0; i < choices; ++i) {
      choose_decay(session, slider_value(session.choice().edits, "scale_decay") == 1 ? 2 : 1);
      session.wait();
      session.update();
      session.step(Session::Grain::token, 1);
      session.update();
    }
    session.wait();
    session.update();
    session.update();
    return session.questions().bytes();
  };
  const std::size_t few = bytes_after(3);
  CHECK(few > 0);
  CHECK(bytes_after(30) < 2 * few);
}

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
  Questions questions(1);
  Lookout lookout;
  lookout.look(place(trace, 3), questions);
  CHECK(lookout.is_stale());
  CHECK(seen_block(lookout) == -1);
  questions.wait();
  lookout.look(place(trace, 3), questions);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == 3);
  lookout.look(place(trace, 3, 1), questions);  // in a block one steps at once
  CHECK(seen_block(lookout) == 3);
  CHECK(lookout.seen().cursor == Cursor{3, 1});
  CHECK(computed_in != std::this_thread::get_id());

  lookout.look(place(trace, 7), questions);
  CHECK(lookout.is_stale());
  CHECK(seen_block(lookout) == 3);
  CHECK(lookout.seen().cursor == Cursor{3, 1});
  CHECK(lookout.awaited().under_way);
  free.count_down();
  questions.wait();
  lookout.look(place(trace, 7, 1), questions);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == 7);
  CHECK(lookout.seen().cursor == Cursor{7, 1});
}

TEST_CASE("a cursor that runs is seen to run", "[sight]") {
  const auto trace = std::make_shared<const ToldTrace>();
  Questions questions(1);
  Lookout lookout;
  for (Index block = 0; block < 20; ++block) {
    questions.frame();
    lookout.look(place(trace, block), questions);  // every time another place is wanted
    CHECK(lookout.is_stale());
    CHECK(seen_block(lookout) == block - 1);
    CHECK(lookout.seen().cursor.block == std::max<Index>(block - 1, 0));
    questions.wait();
  }
}

TEST_CASE("a form without steps is seen at once, and a record that fails says why", "[sight]") {
  const auto trace = std::make_shared<const ToldTrace>([](Index block) {
    if (block == 5) throw Unsupported("it takes too much");
  });
  Questions questions(1);
  Lookout lookout;
  lookout.look(place(trace, 4), questions);
  questions.wait();
  lookout.look(place(trace, 4), questions);
  CHECK(seen_block(lookout) == 4);
  lookout.look(place(trace, 5), questions);
  questions.wait();
  lookout.look(place(trace, 5), questions);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == -1);
  CHECK(lookout.seen().cursor.block == 5);
  CHECK(lookout.awaited().reason == "it takes too much");
  lookout.look(place(trace, 4), questions);  // still known
  CHECK(seen_block(lookout) == 4);
  lookout.look(place(nullptr, 0), questions);
  CHECK_FALSE(lookout.is_stale());
  CHECK(seen_block(lookout) == -1);
}

TEST_CASE("records of a trace that is no more are forgotten", "[sight]") {
  auto trace = std::make_shared<const ToldTrace>();
  Questions questions(1);
  {
    Lookout lookout;
    lookout.look(place(trace, 1), questions);
    questions.wait();
    lookout.look(place(trace, 1), questions);
    CHECK(seen_block(lookout) == 1);
  }
  questions.frame();
  CHECK(questions.bytes() > 0);
  trace = nullptr;
  questions.frame();
  CHECK(questions.bytes() == 0);
}

TEST_CASE("wherever one goes in a session, record and cursor belong together", "[sight]") {
  Opened session("capture:gated_deltanet_overwrite_l1");
  for (int round = 0; round < 40; ++round) {
    session.choose([&](Choice& choice) {
      choice.form = all_forms[round % 3];
      choice.chunk_size = round % 7 == 0 ? 5 : 8;
    });
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
