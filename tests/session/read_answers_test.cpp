// Which memory outputs read, and the setting for it.

#include "app/session/read_questions.h"

#include "app/session/session.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::shared_ptr<Computation> computed_for(const char* variant, Settings settings = {}) {
  Choice choice;
  choice.variant = variant;
  choice.settings = std::move(settings);
  return compute(std::make_shared<const DataSet>(make_preset("preset:random?T=9&K=4&V=4")), choice);
}

std::string words_of(const Computation& computed) {
  const ReadMoments read = read_moments(*computed.variant, computed.sequence, 3);
  return reading_in_words(computed, &read);
}

}  // namespace

TEST_CASE("the read before the own update is a setting of the rule, which is taken back as any other") {
  Session session;
  REQUIRE(session.open_named("preset:random?T=9&K=4&V=4"));
  Choice choice = session.choice();
  choice.variant = "gated_deltanet";
  choice.form = Form::recurrent;
  session.choose(choice);
  session.wait();
  const Index token = 3;
  session.go_to_token(token);
  const Index last = std::ssize(session.trace()->phases[0].operations) - 1;
  session.set_cursor({session.cursor().block, last, 0});
  const std::shared_ptr<const Computation> after = session.sight().computation;
  REQUIRE_FALSE(is_read_before(after->sequence.settings));

  choose_read(session, true);
  session.wait();
  const std::shared_ptr<const Computation> before = session.sight().computation;
  CHECK(is_read_before(before->sequence.settings));
  CHECK(session.token() == token);
  CHECK(session.trace()->operation(session.cursor()).purpose == Purpose::output);
  CHECK(session.cursor().operation == 0);  // the read comes first now
  const ReadMoments read = read_moments(*after->variant, after->sequence, token);
  const auto output = [&](const Computation& computed) {
    const Trace& trace = *computed.form(Form::recurrent).trace;
    return trace.shared_record(trace.block_of(token, 0))->at("o").col(0).eval();
  };
  CHECK((output(*before) - read.before).cwiseAbs().maxCoeff() <= 1e-12);
  CHECK((output(*after) - read.after).cwiseAbs().maxCoeff() <= 1e-12);

  session.undo();
  session.wait();
  CHECK_FALSE(is_read_before(session.computed()->sequence.settings));
}

TEST_CASE("a sentence says which memory is read, or why there is but one") {
  CHECK_THAT(words_of(*computed_for("deltanet")),
             says("Read after the write") && says("% of this output apart"));
  CHECK_THAT(words_of(*computed_for("deltanet", {.options = {{"order", "apply_first"}}})),
             says("Read before the write") && says("% of this output apart"));
  CHECK_THAT(words_of(*computed_for("lact")), says("Read before the batch is written"));
  CHECK_THAT(words_of(*computed_for("lact", {.options = {{"order", "update_first"}}})),
             says("Read after the batch is written"));
  CHECK_THAT(reading_in_words(*computed_for("linear", {.options = {{"causal", "false"}}}), nullptr),
             says("after the last one"));
  CHECK_THAT(reading_in_words(*computed_for("softmax"), nullptr), says("average"));
  CHECK_THAT(reading_in_words(*computed_for("kernel"), nullptr), says("average"));
  CHECK_THAT(reading_in_words(*computed_for("mesanet"), nullptr), says("always reads after"));
}
