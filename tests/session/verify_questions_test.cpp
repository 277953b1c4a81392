// What Verify shows: lines that equal a plain definition, faults where verify finds them, and a fault in the
// session.

#include "app/session/verify_questions.h"

#include <cmath>

#include "app/session/inputs.h"
#include "app/session/session.h"
#include "core/base/error.h"
#include "core/proof/faults.h"
#include "core/proof/verify.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* square_overwrite = "preset:overwrite?T=21&K=5&V=5&seed=4";

/// max over the channels of |o - o'|, by the largest |o'|.
std::vector<double> plainly(const Matrix<double>& o, const Matrix<double>& expected) {
  std::vector<double> errors;
  for (Index t = 0; t < expected.rows(); ++t)
    errors.push_back((o - expected).row(t).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff());
  return errors;
}

void put_fault(Session& session, const char* id, Form form) {
  change(session, [&](SessionState& state) { state.verify = {.fault = {id, form}}; });
}

}  // namespace

TEST_CASE("proof lines: every form's differences word by word are the plain definition", "[verify]") {
  for (const char* variant : {"linear", "gated_deltanet", "gla", "softmax", "titans"}) {
    const auto computation = begun(variant, square_overwrite);
    const Sequence& sequence = computation->sequence;
    const Rule& rule = *computation->variant->rule;
    const Matrix<double> expected = rule.run(sequence, Form::recurrent, Precision::f64, 1).o;
    for (const Form form : forms_of(*computation)) {
      ProofLine key{.of = without_fault(computation), .form = form};
      const auto line = find_out(key);
      const Matrix<double> o = rule.run(sequence, form, Precision::f64, computation->choice.chunk_size).o;
      INFO(variant << " " << name(form));
      CHECK(line->errors == plainly(o, expected));
      CHECK(line->worst.error >= std::ranges::max(line->errors));
    }
  }
}

TEST_CASE("proof lines: coarser arithmetics are farther, and what is missing says why", "[verify]") {
  const auto computation = begun("gated_deltanet", overwriting_capture);
  ProofLine key{.of = without_fault(computation), .form = Form::chunkwise};
  double before = 0;
  for (const Arithmetic arithmetic : {Arithmetic::f64, Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16}) {
    key.arithmetic = arithmetic;
    const auto line = find_out(key);
    REQUIRE(std::ssize(line->errors) == computation->sequence.tokens);
    CHECK(line->worst.error > before);
    before = line->worst.error;
  }
  const auto mlp = begun("ttt_mlp", square_overwrite);
  CHECK_FALSE(find_out(ProofLine{.of = mlp, .form = Form::two_pass})->message.empty());
}

TEST_CASE("faults here: every fault in every form of every variant lands where verify finds it", "[verify]") {
  FaultPlan plan;
  Index compared_places = 0;
  for (const Variant& variant : variants()) {
    const Settings given = random_settings(variant, {}, 1);
    Settings settings = given;
    settings.parameters["scale"] = 0.625;
    VerifyCase verified{.variant = &variant,
                        .given = settings,
                        .random = fitted(variant, settings,
                                         {.tokens = 18, .dk = 6, .dv = 6, .initial_state = true, .seed = 1}),
                        .chunk_sizes = {4}};
    plan.cases = revealing_plan();
    plan.cases.cases = {verified};
    std::shared_ptr<const DataSet> data;
    try {
      data = shared(data_of_case(verified));
    } catch (const InputError&) {  // several keys a token: no file of heads holds them
      CHECK(variant.id == "deltaproduct");
      continue;
    }
    const FaultReport report = verify_faults(plan);
    const auto computation = begin(data, {{.variant = variant.id, .chunk_size = 4, .settings = settings}});
    for (const FaultyResult& result : report.results) {
      INFO(result.fault << " in " << result.variant << " " << name(result.form));
      FaultHere key{.of = without_fault(computation), .form = result.form, .fault = result.fault};
      const auto figures = find_out(key);
      CHECK(figures->noticed() == result.noticed());
      REQUIRE(figures->departure.has_value() == result.departure.has_value());
      if (!result.departure) continue;
      CHECK(figures->departure->token == result.departure->token);
      CHECK(figures->departure->operation == result.departure->operation);
      CHECK(figures->departure->block == result.departure->block);
      ++compared_places;
    }
    for (const FaultlessForm& without : report.without) {
      FaultHere key{.of = without_fault(computation), .form = without.form, .fault = without.fault};
      INFO(without.fault << " in " << without.variant << " " << name(without.form));
      CHECK_FALSE(find_out(key)->without.empty());
    }
  }
  CHECK(compared_places > 400);
}

TEST_CASE("wrong place: the first wrong tensor of the sketch", "[verify]") {
  const auto computation = begun("gated_deltanet", overwriting_capture);
  WrongHere key{.of = without_fault(computation), .form = Form::chunkwise, .fault = "solve-sign"};
  const auto place = find_out(key);
  REQUIRE(place->has_value());
  const WrongTensor& wrong = (*place)->tensor;
  CHECK(wrong.departure.operation == "solve");
  CHECK(wrong.departure.token == 1);
  CHECK(wrong.is.rows() == computation->choice.chunk_size);
  CHECK((wrong.is - wrong.should_be).row(0).cwiseAbs().maxCoeff() <= 1e-12);
  CHECK((*place)->apart.rows() == wrong.is.rows());
  CHECK((*place)->range > 0);
  key.fault = "multiplicative-mask";
  CHECK_FALSE(find_out(key)->has_value());
}

TEST_CASE("the first difference is none of rounding, and agrees with the outputs and the badge", "[verify]") {
  // What is not erased here is 1e-17 until a key comes again: no difference of that size counts.
  const auto computation = begun("gated_deltanet", "preset:overwrite?T=32&K=16&V=16");
  const FaultHere key{.of = without_fault(computation), .form = Form::recurrent, .fault = "nothing-erased"};
  const auto figures = find_out(key);
  REQUIRE(figures->departure);
  REQUIRE(figures->first_wrong >= 0);
  CHECK(figures->departure->token == figures->first_wrong);
  CHECK(std::abs(figures->departure->got - figures->departure->expected) > 1e-3);
  const std::vector<double>& errors = figures->errors;
  for (Index t = 0; t < figures->first_wrong; ++t) CHECK(errors[static_cast<std::size_t>(t)] < 1e-10);
}

TEST_CASE("the last full check ships with a date and cells of every rule", "[verify]") {
  const ShippedCheck& last = shipped_check();
  CHECK(last.date.starts_with("20"));
  CHECK(last.runs > 10000);
  CHECK(last.failed == 0);
  for (const Variant& variant : variants()) {
    INFO(variant.id);
    const auto row = last.found.reports.find(variant.id);
    REQUIRE(row != last.found.reports.end());
    for (std::size_t i = 0; i < grid_columns().size(); ++i) {
      if (!is_cpu(*grid_columns()[i].backend)) continue;
      const std::size_t rule = static_cast<std::size_t>(&variant - variants().data());
      CHECK((row->second.cells[i] == nullptr) == missing_forms()[rule][i]);
    }
  }
  const TemporaryFolder folder;
  write_file(folder / "check.json", R"({"results": [{"variant": "linear", "runs": "many"}]})");
  CHECK_THROWS_WITH(read_verify_report(folder / "check.json"),
                    says("\"runs\" is string; expected a whole number"));
}

TEST_CASE("fragile forms here: they break on the words that are open, and hold on them", "[verify]") {
  for (const char* variant : {"gated_deltanet", "linear", "softmax"}) {
    const auto computation = begun(variant, "preset:random?T=70&K=16&V=4&seed=2");
    for (const FragileForm& fragile : fragile_forms()) {
      for (const bool breaks : {true, false}) {
        FragileHere key{.of = without_fault(computation), .fragile = fragile.way.id, .breaks = breaks};
        INFO(variant << " " << fragile.way.id << " " << breaks);
        const auto figures = find_out(key);
        REQUIRE(figures->run);
        CHECK(std::ssize(figures->run->errors) == 70);
        CHECK(figures->holds() == (!breaks && !fragile.always_wrong));
      }
    }
  }
}

TEST_CASE("a fault in the session makes its form wrong and no other; taken out, all is as before",
          "[verify]") {
  Opened session(overwriting_capture);
  choose(session, [&](Choice& choice) { choice.form = Form::chunkwise; });
  const auto right = session.computed();
  const Matrix<double> before = right->form(Form::chunkwise).output().o;
  REQUIRE(right->agree);
  put_fault(session, "solve-sign", Form::chunkwise);
  const auto wrong = session.computed();
  CHECK(wrong != right);
  CHECK(wrong->right == right);
  CHECK(wrong->no_fault.empty());
  CHECK_FALSE(wrong->agree);
  CHECK(wrong->form(Form::chunkwise).first_bad_token == 1);
  CHECK(wrong->worst_form == Form::chunkwise);
  CHECK(wrong->form(Form::recurrent).judgement.passed());
  CHECK(wrong->form(Form::parallel).judgement.passed());
  // What is stepped through has the fault in it.
  REQUIRE(dynamic_cast<const EditedTrace*>(session.trace()));
  REQUIRE(session.sight().record);
  const auto& operations = session.trace()->phases.front().operations;
  const auto solve = std::ranges::find(operations, "solve", &Operation::id);
  REQUIRE(solve != operations.end());
  CHECK_THAT(to_string(solve->equation.expression), says("negative"));
  // It is a change that can be taken back, and made again.
  undo(session);
  CHECK(session.computed() == right);
  CHECK(session.computed()->agree);
  CHECK(session.computed()->form(Form::chunkwise).output().o == before);
  redo(session);
  CHECK_FALSE(session.computed()->agree);
  // Another fault starts from the same numbers.
  put_fault(session, "no-solve", Form::parallel);
  CHECK(session.computed()->right == right);
  CHECK(session.computed()->form(Form::chunkwise).judgement.passed());
  CHECK_FALSE(session.computed()->form(Form::parallel).judgement.passed());
  // Other data are opened without it.
  open(session, square_overwrite);
  CHECK(session.state().verify.fault.id.empty());
  CHECK_FALSE(session.computed()->right);
}

TEST_CASE("a fault that a form cannot have says why and changes nothing", "[verify]") {
  const auto computation =
      begun(Choice{{.variant = "linear"}, 0, {}, {"solve-sign", Form::chunkwise}}, square_overwrite);
  CHECK_THAT(computation->no_fault, says("a triangular system"));
  CHECK(computation->trace(Form::chunkwise) == computation->right->trace(Form::chunkwise));
  const auto missing =
      begun(Choice{{.variant = "ttt_mlp"}, 0, {}, {"write-sign", Form::two_pass}}, square_overwrite);
  CHECK_FALSE(missing->no_fault.empty());
}

TEST_CASE("where outputs are not finite anyway no fault is told", "[verify]") {
  const Edits edits = {{.kind = "set_cell", .array = "k", .numbers = {3, 0, 1e300}}};
  const auto computation = begun(Choice{{.variant = "deltanet"}, 0, edits, {}}, square_overwrite);
  FaultHere key{.of = without_fault(computation), .form = Form::chunkwise, .fault = "solve-sign"};
  CHECK_THAT(find_out(key)->without, says("not finite"));
}

TEST_CASE("a fault is put in beside what was known when it was asked for, whatever is found meanwhile",
          "[verify]") {
  // The window's thread adds to the right ones while another puts the fault in.
  const auto right = begun("ttt_mlp", square_overwrite);
  const Earlier earlier = as_earlier(right);
  const std::string known = right->form(Form::two_pass).missing;
  REQUIRE_FALSE(known.empty());
  FormResult later;
  later.missing = "found later";
  right->forms[static_cast<std::size_t>(Form::two_pass)] = std::make_shared<const FormResult>(later);
  Choice choice = right->choice;
  choice.fault = {"write-sign", Form::two_pass};
  const auto wrong = begin(right->data, choice, {}, earlier);
  REQUIRE(wrong->right == right);
  CHECK(wrong->no_fault == known);
  CHECK(wrong->form(Form::two_pass).missing == known);
}

TEST_CASE("how Verify looks is no change; its fault is", "[verify]") {
  Opened session(square_overwrite);
  session.start_history();
  VerifyState verify{.lens = ProofLens::forms, .fragile = "late-mask", .breaks = false};
  session.change(&SessionState::verify, verify);
  CHECK_FALSE(session.can_undo());
  verify.fault = {"write-sign", Form::recurrent};
  session.change(&SessionState::verify, verify);
  session.wait();
  CHECK(session.can_undo());
  const std::string text = session.to_json();
  Session other;
  come_back(other, text);
  CHECK(other.message().empty());
  CHECK(other.state().verify == verify);
  CHECK(other.computed()->right);
  std::string bad = text;
  bad.replace(bad.find("write-sign"), 10, "typo-sign!");
  CHECK_FALSE(open_json(other, bad));
  CHECK_THAT(other.message(), says("there is no fault \"typo-sign!\""));
}

TEST_CASE("what Verify asks for can be cancelled", "[verify]") {
  const Effort effort{.stop = asked_to_stop()};
  const auto computation = begun("gated_deltanet", square_overwrite);
  ProofLine line{.of = without_fault(computation), .form = Form::chunkwise, .arithmetic = Arithmetic::bf16};
  CHECK_THROWS_AS(find_out(line, effort), Cancelled);
  FaultHere fault{.of = without_fault(computation), .fault = "solve-sign"};
  CHECK_THROWS_AS(find_out(fault, effort), Cancelled);
  CHECK_THROWS_AS((find_out(VerifiedVariant{"linear", false}, effort)), Cancelled);
}

TEST_CASE("the worst case of every cell can be opened, with just its numbers", "[verify]") {
  VerifyPlan plan{.lengths = {17}, .sizes = {{5, 4}}};
  for (const Variant& variant : variants()) {
    plan.variants = {variant.id};
    const VerifyReport report = verify(plan);
    for (const VerifyResult& result : report.results) {
      INFO(result.reproduction);
      REQUIRE(result.worst_case);
      const DataSet data = data_of_case(*result.worst_case);
      CHECK(data.tokens == 17);
      CHECK(data.rule == variant.id);
      const auto computation = begin(shared(data), {{.variant = data.rule,
                                                     .form = result.form,
                                                     .precision = result.precision,
                                                     .chunk_size = std::min<Index>(result.worst_chunk, 17),
                                                     .settings = result.worst_case->given}});
      const auto form = find_out(ComparedForm{computation, result.form});
      CHECK(form->judgement.disagreement.error == result.worst.error);
    }
  }
}
