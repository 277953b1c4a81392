#include "app/session/memory_answers.h"

#include "core/base/error.h"
#include "core/insight/answer_words.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::shared_ptr<Computation> opened(const char* capture, const char* variant, Index head = 0) {
  Choice choice;
  choice.variant = variant;
  choice.head = head;
  return begin(std::make_shared<const DataSet>(open_capture(capture)), choice);
}

const Effort nothing = {};

std::vector<std::string> texts(const AnswerTable& table) {
  std::vector<std::string> texts;
  for (const AskedWord& word : table.words) texts.push_back(word.text);
  return texts;
}

/// The first place of an operation at a token.
Cursor cursor_at(const Trace& trace, Index token, std::string_view operation) {
  for (Index phase = 0; phase < static_cast<Index>(trace.phases.size()); ++phase) {
    const auto& operations = trace.phases[static_cast<std::size_t>(phase)].operations;
    const auto found = std::ranges::find(operations, operation, &Operation::id);
    if (found == operations.end()) continue;
    const Index block = trace.block_of(token, phase);
    return {block, found - operations.begin(), token - trace.block(block).first_token};
  }
  throw std::logic_error("no such operation");
}

constexpr const char* overwrite = "capture:gated_deltanet_overwrite_l1";
const std::vector<std::string> objects = {"key", "shell", "map", "bell", "book", "drum"};

}  // namespace

TEST_CASE("in every form the place of a token answers what the recurrence has there", "[answers]") {
  const auto computation = opened(overwrite, "gated_deltanet");
  const auto& recurrence = computation->trace(Form::recurrent);
  const auto table_at = [&](Form form, std::string_view operation, Index token = 42) {
    const Cursor cursor = cursor_at(*computation->trace(form), token, operation);
    return *MemoryAnswers{computation, form, cursor}.compute(nothing);
  };
  const AnswersAtPlace written = table_at(Form::recurrent, "write");
  CHECK(texts(written.table) == objects);
  CHECK(written.token == 42);
  CHECK(written.sentence == answer_sentence(written.table));
  CHECK(written.legibility == legibility(written.table.after));
  CHECK(written.output.amounts.size() == 6);

  // The parts of a token follow each other; before the write nothing but the decay has happened.
  const AnswersAtPlace decayed = table_at(Form::recurrent, "decay");
  CHECK(decayed.table.after == written.table.before);
  CHECK(decayed.table.change.cwiseAbs().maxCoeff() < 0.01);
  CHECK(decayed.table.change.cwiseAbs().maxCoeff() > 0);
  const AnswersAtPlace next = table_at(Form::recurrent, "decay", 43);
  CHECK(next.table.before.row(0) == written.table.after.row(0));

  const AnswersAtPlace chunk = table_at(Form::chunkwise, "solve");
  CHECK(chunk.table.before == decayed.table.before);
  CHECK(chunk.table.after == written.table.after);
  // Where the chunk of tokens 40 to 47 is carried on, all of them change it.
  const AnswersAtPlace carried = table_at(Form::chunkwise, "carry");
  const NamedStates before = memory_after(*computation->variant, computation->sequence, *recurrence, 40);
  const NamedStates after = memory_after(*computation->variant, computation->sequence, *recurrence, 48);
  const AnswerTable expected =
      answer_table(*computation->variant, computation->sequence, {before, after}, carried.table.words);
  CHECK(carried.table.before == expected.before);
  CHECK(carried.table.after == expected.after);
}

TEST_CASE("every rule is asked with the words of the rule that the data belong to", "[answers]") {
  for (const char* variant : {"linear", "retnet", "deltanet", "softmax", "titans", "mesanet"}) {
    const auto computation = opened(overwrite, variant);
    const Cursor cursor{computation->trace(Form::recurrent)->block_of(42, 0)};
    const auto answers = MemoryAnswers{computation, Form::recurrent, cursor}.compute(nothing);
    INFO(variant);
    CHECK(texts(answers->table) == objects);
  }
  // Pinned words are asked instead.
  const auto computation = opened(overwrite, "linear");
  const auto answers =
      MemoryAnswers{computation, Form::recurrent, {50}, {.pinned = {42, 6}}}.compute(nothing);
  CHECK(texts(answers->table) == std::vector<std::string>{"key", "drum"});
  CHECK_THROWS_WITH((MemoryAnswers{computation, Form::recurrent, {50}, {.pinned = {94}}}.compute(nothing)),
                    says("token 94"));
}

TEST_CASE("a capture has its most legible head where its notes see words", "[answers]") {
  const auto best = [](const char* capture, const char* variant) {
    Choice choice;
    choice.variant = variant;
    return opening_head(open_capture(capture), choice);
  };
  CHECK(best(overwrite, "gated_deltanet") == 0);
  CHECK(best("capture:gated_deltanet_recall_l1", "gated_deltanet") == 0);
  CHECK(best("capture:kda_recall_l1", "kda") == 1);
  Session session;
  REQUIRE(session.open_named("capture:kda_recall_l1"));
  session.wait();
  CHECK(session.choice().head == 1);
  CHECK(session.computed()->choice.head == 1);
  // Other data begin with their first head.
  DataSet copied = open_capture("capture:kda_recall_l1");
  copied.id = "copied.npz";
  REQUIRE(session.open(std::move(copied)));
  session.wait();
  CHECK(session.choice().head == 0);

  const auto computation = opened("capture:retnet_overwrite_l2", "retnet", 3);
  const auto tables = HeadTables{computation}.compute(nothing);
  REQUIRE(tables->heads.size() == 4);
  CHECK(tables->most_legible == 0);
  CHECK(tables->heads[0].legibility > 0.6);
  CHECK(tables->heads[3].legibility < 0.2);
  for (const HeadAnswers& head : tables->heads) CHECK(head.reason.empty());

  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(HeadTables{computation}.compute({.stop = stop.get_token(), .progress = {}}), Cancelled);
}
