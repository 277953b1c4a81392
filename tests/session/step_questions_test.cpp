// What Step shows: what the memory answers and which one outputs read, the costs and errors that the knob
// tells for every chunk size, and who wrote a number.

#include "app/session/memory_questions.h"

#include <fmt/format.h>

#include "app/commands/options.h"
#include "app/session/session.h"
#include "app/session/step_questions.h"
#include "core/base/error.h"
#include "core/insight/answers.h"
#include "core/insight/provenance.h"
#include "core/race/race.h"
#include "tests/catch.h"
#include "tests/computed.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::vector<std::string> texts(const std::vector<AskedWord>& words) {
  return texts_of(words, &AskedWord::text);
}

const std::vector<std::string> objects = {"key", "shell", "map", "bell", "book", "drum"};

}  // namespace

TEST_CASE("in every form the place of a token answers what the recurrence has there", "[answers]") {
  const auto computation = begun("gated_deltanet", overwriting_capture);
  const auto& recurrence = computation->trace(Form::recurrent);
  const auto table_at = [&](Form form, const std::string& operation, Index token = 42) {
    const Cursor cursor = cursor_at(token, operation, *computation->trace(form));
    return *find_out(MemoryAnswers{computation, form, cursor});
  };
  const AnswersAtPlace written = table_at(Form::recurrent, "write");
  CHECK(texts(written.table.words) == objects);
  CHECK(written.token == 42);
  CHECK(written.sentence == answer_sentence(written.table));
  CHECK(written.legibility == legibility(written.table.after));
  CHECK(written.output.amounts.size() == 6);

  // The parts of a token follow each other; before the write nothing but the decay has happened.
  const AnswersAtPlace decayed = table_at(Form::recurrent, "decay");
  CHECK(decayed.table.after == written.table.before);
  CHECK(decayed.table.change.cwiseAbs().maxCoeff() < 0.01);
  CHECK(decayed.table.change.cwiseAbs().maxCoeff() > 0);
  // What one token leaves the next one finds, asked with the same words: its own is among those of the other.
  const auto pinned_at = [&](const std::string& operation, Index token) {
    const Cursor cursor = cursor_at(token, operation, *recurrence);
    const WordChoice same = {.pinned = {6, 13, 20, 27, 34, 42}};
    return *find_out(MemoryAnswers{computation, Form::recurrent, cursor, same});
  };
  CHECK(pinned_at("decay", 43).table.before == pinned_at("write", 42).table.after);
  CHECK(std::ranges::any_of(table_at(Form::recurrent, "decay", 43).table.words, &AskedWord::is_present));

  const AnswersAtPlace chunk = table_at(Form::chunkwise, "solve");
  CHECK(chunk.table.before == decayed.table.before);
  CHECK(chunk.table.after == written.table.after);
  // Where the chunk of tokens 40 to 47 is carried on, all of them change it.
  const AnswersAtPlace carried = table_at(Form::chunkwise, "carry");
  const RecurrentMemory memory(*computation->variant, computation->sequence, *recurrence);
  const AnswerTable expected = answer_table(*computation->variant, computation->sequence,
                                            {memory.after(40), memory.after(48)}, carried.table.words);
  CHECK(carried.table.before == expected.before);
  CHECK(carried.table.after == expected.after);
}

TEST_CASE("every rule is asked with the words of the rule that the data belong to", "[answers]") {
  for (const char* variant : {"linear", "retnet", "deltanet", "softmax", "titans", "mesanet"}) {
    const auto computation = begun(variant, overwriting_capture);
    const Cursor cursor{computation->trace(Form::recurrent)->block_of(42, 0)};
    const auto answers = find_out(MemoryAnswers{computation, Form::recurrent, cursor});
    INFO(variant);
    CHECK(texts(answers->table.words) == objects);
  }
  // Pinned words are asked instead.
  const auto computation = begun("linear", overwriting_capture);
  const auto answers = find_out(MemoryAnswers{computation, Form::recurrent, {50}, {.pinned = {42, 6}}});
  CHECK(texts(answers->table.words) == std::vector<std::string>{"key", "drum"});
  CHECK_THROWS_WITH((find_out(MemoryAnswers{computation, Form::recurrent, {50}, {.pinned = {94}}})),
                    says("token 94"));
}

TEST_CASE("no edit or setting changes which words are asked", "[answers]") {
  Choice choice;
  const auto data = shared(open_capture(overwriting_capture));
  const auto texts_of = [&](const std::shared_ptr<const DataSet>& of, Index token) {
    return texts(words_asked(*begin(of, choice), token));
  };
  paint(choice.edits, "beta", 42, 42, 2.26);  // as when a strength is dragged
  set_slider(choice.edits, "scale_keys", 1.7);
  CHECK(texts_of(data, 42) == objects);
  choice.variant = "titans";
  CHECK(texts_of(data, 42) == objects);
  choice.edits.clear();
  set_constant(choice.edits, "theta", 0);
  CHECK(texts_of(data, 42) == objects);

  // Where data name no rule, those that are made up count as they are made up at first.
  choice = {};
  const auto made = shared(open_data("preset:overwrite?T=12&K=4&V=3&seed=3"));
  const std::vector<std::string> first = texts_of(made, 9);
  REQUIRE(first.size() > 1);
  set_slider(choice.edits, "missing_strength", 0.01);
  set_constant(choice.edits, "beta", 0.01);
  paint(choice.edits, "beta", 3, 3, 1);
  CHECK(texts_of(made, 9) == first);
}

TEST_CASE("the word at the cursor is asked wherever one looks", "[answers]") {
  for (const char* variant : {"gated_deltanet", "titans", "lact"}) {
    const auto computation = begun(variant, overwriting_capture);
    const Vector<double>& strengths = strengths_in(*computation).written;
    for (Index token = 0; token < computation->sequence.tokens; ++token) {
      CAPTURE(variant, token);
      const std::vector<AskedWord> words = words_asked(*computation, token);
      CHECK((strengths(token) > 0) == std::ranges::any_of(words, &AskedWord::is_present));
    }
  }
}

TEST_CASE("what a step changes is called what it is", "[answers]") {
  const auto said = [](const char* variant, Form form, const std::string& operation) {
    const auto computation = begun(variant, overwriting_capture);
    const Cursor cursor = cursor_at(42, operation, *computation->trace(form));
    return find_out(MemoryAnswers{computation, form, cursor})->change;
  };
  CHECK(said("gated_deltanet", Form::recurrent, "decay") == "change by the decay");
  CHECK(said("gated_deltanet", Form::recurrent, "read") == "change by the write");
  CHECK(said("gated_deltanet", Form::recurrent, "write") == "change by the write");
  CHECK(said("gated_deltanet", Form::recurrent, "output") == "change by this token");
  CHECK(said("gated_deltanet", Form::chunkwise, "solve") == "change by this token");
  CHECK(said("gated_deltanet", Form::chunkwise, "carry") == "change by this chunk");
}

TEST_CASE("inside a batch the memory says after which word it is written", "[answers]") {
  const auto computation = begun("lact", overwriting_capture);
  const Index size = inner_batch(computation->sequence.settings);
  const auto sentence_at = [&](Index token, Index phase) {
    const Cursor cursor{computation->trace(Form::recurrent)->block_of(token, phase)};
    return find_out(MemoryAnswers{computation, Form::recurrent, cursor})->sentence;
  };
  const std::string together =
      fmt::format("tokens {} to {} take one step, after token {}.", size + 1, 2 * size, 2 * size);
  CHECK(sentence_at(size + 1, 0) == "This step changes no stored association: " + together);
  CHECK(sentence_at(size + 1, 1).find("This step changes no stored association") == std::string::npos);
}

TEST_CASE("a capture has its most legible head where its notes see words", "[answers]") {
  const auto best = [](const char* capture, const char* variant) {
    return opening_head(open_capture(capture), {{.variant = variant}});
  };
  CHECK(best(overwriting_capture, "gated_deltanet") == 0);
  CHECK(best("capture:gated_deltanet_recall_l1", "gated_deltanet") == 0);
  CHECK(best("capture:kda_recall_l1", "kda") == 1);
  Opened session("capture:kda_recall_l1");
  CHECK(session.choice().head == 1);
  CHECK(session.computed()->choice.head == 1);
  // Other data begin with their first head.
  DataSet copied = open_capture("capture:kda_recall_l1");
  copied.id = "copied.npz";
  REQUIRE(session.open(std::move(copied)));
  session.wait();
  CHECK(session.choice().head == 0);

  const auto computation = begun(Choice{{.variant = "retnet"}, 3}, "capture:retnet_overwrite_l2");
  const auto tables = find_out(HeadTables{computation});
  REQUIRE(tables->heads.size() == 4);
  CHECK(tables->most_legible == 0);
  CHECK(tables->heads[0].legibility > 0.6);
  CHECK(tables->heads[3].legibility < 0.2);
  for (const HeadAnswers& head : tables->heads) CHECK(head.reason.empty());
  CHECK_THROWS_AS(find_out(HeadTables{computation}, {.stop = asked_to_stop()}), Cancelled);
}

namespace {

std::shared_ptr<Computation> computed_for(const char* variant, Settings settings = {}) {
  return compute(shared(make_preset("preset:random?T=9&K=4&V=4")),
                 {{.variant = variant, .settings = std::move(settings)}});
}

std::string words_of(const Computation& computed) {
  const ReadMoments read = read_moments(*computed.variant, computed.sequence, 3);
  return reading_in_words(computed, &read);
}

}  // namespace

TEST_CASE("the read before the own update is a setting of the rule, which is taken back as any other") {
  Opened session("preset:random?T=9&K=4&V=4");
  choose(session, [&](Choice& choice) {
    choice.variant = "gated_deltanet";
    choice.form = Form::recurrent;
  });
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

  undo(session);
  CHECK_FALSE(is_read_before(session.computed()->sequence.settings));
}

TEST_CASE("a sentence says which memory is read, or why there is but one") {
  CHECK_THAT(words_of(*computed_for("deltanet")), says("Read after the write") && says("% of this output"));
  CHECK_THAT(words_of(*computed_for("deltanet", {.options = {{"order", "apply_first"}}})),
             says("Read before the write") && says("% of this output"));
  CHECK_THAT(words_of(*computed_for("lact")), says("Read before the batch is written"));
  CHECK_THAT(words_of(*computed_for("lact", {.options = {{"order", "update_first"}}})),
             says("Read after the batch is written"));
  CHECK_THAT(reading_in_words(*computed_for("linear", {.options = {{"causal", "false"}}}), nullptr),
             says("after the last token"));
  CHECK_THAT(reading_in_words(*computed_for("softmax"), nullptr), says("mean"));
  CHECK_THAT(reading_in_words(*computed_for("kernel"), nullptr), says("mean"));
  CHECK_THAT(reading_in_words(*computed_for("mesanet"), nullptr), says("always reads after"));
}

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
