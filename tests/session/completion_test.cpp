#include "app/session/completion.h"

#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* text = "capture:gated_deltanet_overwrite_l1";

void choose_decay(Session& session, double decay) {
  Choice choice = session.choice();
  set_slider(choice.edits, "scale_decay", decay);
  session.choose(std::move(choice));
}

double computed_decay(const Session& session) {
  return slider_value(session.computed()->choice.edits, "scale_decay");
}

/// The next frame, when all that was asked for in this one is there.
void next_frame(Session& session) {
  session.answers().wait();
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
  Session session;
  session.open_named(text);
  session.wait();
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
  Session session;
  session.open_named(text);
  session.wait();
  choose_decay(session, 2);
  choose_decay(session, 3);  // before 2 is there
  choose_decay(session, 4);
  next_frame(session);
  CHECK(computed_decay(session) == 2);
  CHECK(slider_value(session.choice().edits, "scale_decay") == 4);
  next_frame(session);
  CHECK(computed_decay(session) == 4);
}

TEST_CASE("all that is answered about a choice is what is computed at once", "[completion]") {
  for (const char* variant : {"gated_deltanet", "softmax", "lact", "ttt_mlp"}) {
    CAPTURE(variant);
    Session session;
    session.open_named("preset:overwrite?T=40&K=6&V=5");
    session.wait();
    Choice choice = session.choice();
    choice.variant = variant;
    session.choose(choice);
    session.wait();
    const Computation& answered = *session.computed();
    const auto at_once = compute(answered.data, answered.choice);
    CHECK(answered.agree == at_once->agree);
    CHECK(answered.worst == at_once->worst);
    CHECK(answered.worst_form == at_once->worst_form);
    for (const Form form : all_forms) {
      CHECK(answered.form(form).missing == at_once->form(form).missing);
      CHECK(answered.form(form).output().o == at_once->form(form).output().o);
    }
    CHECK(answered.recalls->strong_state == at_once->recalls->strong_state);
    REQUIRE(answered.recalls->tokens.size() == at_once->recalls->tokens.size());
    for (std::size_t t = 0; t < answered.recalls->tokens.size(); ++t)
      CHECK(answered.recalls->tokens[t].after == at_once->recalls->tokens[t].after);
  }
}

TEST_CASE("somebody who does not want to wait stays where he is", "[completion]") {
  Session session;
  session.open_named(text);
  session.wait();
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
  Choice choice = session.choice();
  choice.form = Form::chunkwise;
  const bool could_undo = session.can_undo();
  session.choose(choice);
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
  Session session;
  session.open_named(text);
  session.wait();
  choose_decay(session, 2);
  session.answers().wait();
  session.open_named("preset:copy?T=12&K=4&V=4");
  session.wait();
  CHECK(live_computations() == 2);  // somebody may still look at the one before
  session.update();
  session.answers().wait();
  CHECK(live_computations() == 1);
}

TEST_CASE("answers about former choices do not pile up", "[completion]") {
  Session session;
  session.open_named(text);
  session.wait();
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
    return session.answers().bytes();
  };
  const std::size_t few = bytes_after(3);
  CHECK(few > 0);
  CHECK(bytes_after(30) < 2 * few);
}
