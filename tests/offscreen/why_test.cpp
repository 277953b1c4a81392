// "Why this number?" for the largest cell of every step: what is added up is what is there.

#include "app/stage/cell_words.h"
#include "app/views/floor.h"
#include "app/views/why_words.h"
#include "core/base/error.h"
#include "tests/offscreen/drawn.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Chooses a rule and a form, in chunks of 4, and goes to a word.
void look_at(Session& session, const std::string& variant, Form form, Index token) {
  choose(session, [&](Choice& choice) {
    choice.variant = variant;
    choice.form = form;
    choice.chunk_size = 4;
  });
  session.go_to_token(token);
  session.wait();
}

double sum_of(const std::vector<CellPart>& parts) {
  double sum = 0;
  for (const CellPart& part : parts) sum += part.value;
  return sum;
}

/// The first capture at a word.
class WhyProgram : public ShownProgram {
 public:
  explicit WhyProgram(const Size& size = usual_sizes[0], Index token = 42) : ShownProgram("step", {}, size) {
    session.go_to_token(token);
    draw();
  }

  void go_to_operation(Index operation) {
    Cursor cursor = session.cursor();
    cursor.operation = operation;
    session.set_cursor(cursor);
    draw();
  }

  /// Holds a cell as a click does.
  void hold(const CellFocus& cell) {
    application.pinned = cell;
    draw();
  }
};

/// What a part of the panel says; empty: it is not there.
std::string said(const std::string& part) { return words_at("step/why/" + part); }

/// Whether all of it is.
bool is_in_sight() { return parts().find("step/why")->is_whole(); }

}  // namespace

TEST_CASE("parts of the largest cell add up to it, and its writers to what was there", "[why]") {
  const Offscreen colours(64, 64);  // what formulas are coloured with
  int parts_seen = 0;
  int written_seen = 0;
  for (const Variant& variant : variants()) {
    Opened session("preset:overwrite?T=12&K=4&V=4&seed=1");
    for (const Form form : all_forms) {
      look_at(session, variant.id, form, 7);
      const Trace* trace = session.trace();
      if (!trace) continue;
      const Sight& sight = session.sight();
      const Block block = trace->block(sight.cursor.block);
      const Phase& phase = trace->phase(block);
      for (std::size_t i = 0; i < phase.operations.size(); ++i) {
        Cursor cursor = sight.cursor;
        cursor.operation = static_cast<Index>(i);
        const auto cell = largest_cell(phase, block, form, cursor, *sight.record);
        if (!cell) continue;
        INFO(variant.id << ' ' << name(form) << ' ' << phase.operations[i].id);
        const double value = sight.record->at(cell->tensor)(cell->row, cell->column);
        const auto parts = cell_parts(phase, block, trace->symbols, *sight.record, *cell);
        if (!parts.empty()) {
          CHECK(std::abs(sum_of(parts) - value) <= 1e-9 * std::max(1.0, std::abs(value)));
          ++parts_seen;
        }
        const auto written = written_cell(*trace, block, phase, *sight.record, *cell);
        if (!written) continue;
        try {
          const auto told = find_out(WhoWrote{.of = sight.computation, .number = written->number},
                                     {.stop = {}, .progress = [](double) {}});
          // Within a batch its words read and rewrite another memory than the one that is handed on; the
          // panel compares the two numbers, and says so.
          if (!written->shown || variant.id == "ttt_linear") continue;
          CHECK(std::abs(told->value - *written->shown) <= 1e-9 * std::max(1.0, std::abs(*written->shown)));
          ++written_seen;
        } catch (const Unsupported& reason) {
          CHECK(std::string(reason.what()) != "");
        }
      }
    }
  }
  CHECK(parts_seen > 100);
  CHECK(written_seen > 100);
}

TEST_CASE("of the parts of a sum as many are named as have room, what is no number first", "[why]") {
  const auto named = [](const std::vector<double>& values, std::size_t most) {
    std::vector<CellPart> parts;
    for (const double value : values)
      parts.push_back({.words = fmt::format("{}", parts.size()), .value = value});
    return named_parts(parts, most);
  };
  const auto words = [](const NamedParts& parts) {
    std::string all;
    for (const CellPart& part : parts.named) all += part.words;
    return all;
  };
  const double none = quiet_nan;
  const NamedParts some = named({1, -4, 2, -8, 0.5}, 3);
  CHECK(words(some) == "123");
  CHECK(some.others == 2);
  CHECK(some.rest == 1.5);
  CHECK(words(named({1, 1, 1, 1}, 3)) == "012");  // of those that are alike the first ones
  CHECK(named({1, 1, 1, 1}, 3).rest == 1);
  CHECK(words(named({1e308, none, 2, -infinity, -1e308}, 3)) == "013");
  CHECK(words(named({none, none, none, none}, 2)) == "01");
  CHECK(named({none, none, none, none}, 2).others == 2);
  CHECK(words(named({1, none}, 8)) == "01");
  CHECK(named({1, none}, 8).others == 0);
  CHECK(named({}, 3).named.empty());
}

TEST_CASE("without a pointer the largest number of the step is explained", "[why]") {
  WhyProgram program;
  Application& application = program.application;
  for (int operation = 0; operation < 6; ++operation) {
    program.go_to_operation(operation);
    CHECK(application.focus_is_usual());
    REQUIRE(application.focus().has_value());
    const CellFocus cell = *application.focus();
    const Sight& sight = application.session.sight();
    CHECK(cell.tensor == sight.trace->operation(sight.cursor).equation.result);
    const Matrix<double>& values = sight.record->at(cell.tensor);
    CHECK(std::abs(values(cell.row, cell.column)) == values.cwiseAbs().maxCoeff());
  }
  // A state that is shown the other way round keeps its number.
  program.go_to_operation(4);
  const CellFocus before = *application.focus();
  program.draw_after("view.turn");
  CHECK(application.focus()->row == before.column);
  CHECK(application.focus()->column == before.row);
  // A click holds another one, Esc lets go.
  program.hold({"S_after", 1, 2});
  CHECK_FALSE(application.focus_is_usual());
  CHECK(application.focus() == application.pinned);
  // A number that the words before left says who wrote it, and what became of that.
  perform(find_command(application, "view.turn"), application);
  for (const char* tensor : {"S_before", "S_decayed", "S_after"}) {
    CAPTURE(tensor);
    program.hold({tensor, 31, 27});
    CHECK_THAT(said("fate"), says(" wrote ") && says(" Remaining: "));
  }
  program.draw_after("view.release");
  CHECK(application.focus_is_usual());
}

TEST_CASE("what was erased says which way each part went", "[why]") {
  const std::vector<std::string> labels = {"The", " jar", " key", "."};
  WriterShare writer{.token = 1,
                     .remaining = 0.195437,
                     .share = {.written = 0.2, .decayed = 0.004, .erased = 0.000563, .remaining = 0.195437},
                     .eraser = 3,
                     .erased_by = 0.00102};
  CHECK(writer_fate(writer, labels) ==
        "Token 2 “jar” wrote +0.2. Decay: -0.004. Later corrections: -0.000563 (token 4 “.” -0.00102, "
        "others +0.000457). Remaining: +0.195.");
  // The same of a number below zero.
  writer.share = {.written = -0.2, .decayed = -0.004, .erased = -0.000563, .remaining = -0.195437};
  writer.remaining = -0.195437;
  writer.erased_by = -0.00102;
  CHECK(writer_fate(writer, labels) ==
        "Token 2 “jar” wrote -0.2. Decay: +0.004. Later corrections: +0.000563 (token 4 “.” +0.00102, "
        "others -0.000457). Remaining: -0.195.");
  writer.share.erased = -0.00102;  // nobody else
  CHECK_THAT(writer_fate(writer, labels), says("corrections: +0.00102 (token 4 “.”). Remaining"));
  writer.share.erased = 0.003;  // more was put there than taken
  CHECK_THAT(writer_fate(writer, labels),
             says("corrections: -0.003 (token 4 “.” +0.00102, others -0.00402)"));
  writer.share.erased = 1e-18;  // rounding
  CHECK(writer_fate(writer, labels) == "Token 2 “jar” wrote -0.2. Decay: +0.004. Remaining: -0.195.");
  CHECK(writer_fate({.token = 1, .remaining = 0.2}, labels) == "");  // of a reading
  CHECK(largest_share({{.token = 0, .remaining = 0.1}, {.token = 1, .remaining = -0.2}}) == 1);
  CHECK(largest_share({}) == -1);
}

TEST_CASE("which cell is explained stands beside the title, never on it", "[why]") {
  for (const int width : {1280, 960}) {
    const WhyProgram program({width, 800}, 6);
    CHECK(said("origin") == "largest entry, ringed");
  }
}

TEST_CASE("why a number is what it is stands in sight whole, in a small window too", "[why]") {
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    WhyProgram program(size);
    int fates = 0;
    for (int operation = 0; operation < 6; ++operation) {
      CAPTURE(operation);
      program.go_to_operation(operation);
      CHECK(is_in_sight());
      fates += said("fate").empty() ? 0 : 1;
    }
    CHECK(fates >= 2);
    // An inner product is explained by bars of its products.
    look_at(program.session, "softmax", Form::recurrent, 42);
    program.go_to_operation(0);
    CHECK(parts().below("step/why/parts").size() >= 1 + 3 + 1);  // with the list itself and the sum
    CHECK(is_in_sight());
  }
}

TEST_CASE("the terms of a cell that is an inner product or a sum add up to it", "[why]") {
  int seen = 0;
  std::set<std::string> explained;
  for (const auto& [variant, form] :
       {std::pair{"softmax", Form::recurrent}, std::pair{"fox", Form::parallel},
        std::pair{"fox", Form::recurrent}, std::pair{"gated_deltanet", Form::chunkwise},
        std::pair{"linear", Form::parallel}, std::pair{"kda", Form::two_pass}}) {
    Opened session("preset:overwrite?T=12&K=5&V=3&seed=1");
    look_at(session, variant, form, 7);
    const Sight& sight = session.sight();
    REQUIRE(sight.trace != nullptr);
    const Block block = sight.trace->block(sight.cursor.block);
    for (const Operation& operation : sight.trace->phase(block).operations) {
      const std::string& tensor = operation.equation.result;
      if (!sight.record->contains(tensor)) continue;
      const Matrix<double>& values = sight.record->at(tensor);
      for (Index at = 0; at < 2 * values.rows(); ++at) {  // in the first column and in the last
        const Index row = at / 2;
        const CellFocus cell{tensor, row, at % 2 == 0 ? 0 : values.cols() - 1};
        const auto parts = inner_terms(*sight.trace, block, *sight.record, cell);
        if (parts.empty()) continue;
        INFO(variant << ' ' << operation.id << ' ' << row);
        const double value = values(row, cell.column);
        CHECK(std::abs(sum_of(parts) - value) <= 1e-12 * std::max(1.0, std::abs(value)));
        ++seen;
        explained.insert(operation.id);
      }
    }
  }
  CHECK(seen > 40);
  for (const char* operation : {"decays", "denominator", "numerator"}) {
    CAPTURE(operation);
    CHECK(explained.contains(operation));
  }
}

TEST_CASE("of decays the one that keeps least is explained, not one that keeps everything", "[why]") {
  Opened session("preset:overwrite?T=12&K=4&V=4&seed=1");
  look_at(session, "retnet", Form::chunkwise, 6);
  const Sight& sight = session.sight();
  const Block block = sight.trace->block(sight.cursor.block);
  const Phase& phase = sight.trace->phase(block);
  Cursor cursor = sight.cursor;
  for (Index i = 0; i < std::ssize(phase.operations); ++i) {
    if (phase.operations[static_cast<std::size_t>(i)].equation.result == "G") cursor.operation = i;
  }
  const auto cell = largest_cell(phase, block, Form::chunkwise, cursor, *sight.record);
  REQUIRE(cell);
  REQUIRE(cell->tensor == "G");
  CHECK(cell->row == 2);     // the third token of its chunk,
  CHECK(cell->column == 0);  // which has lost most of the first; the cells right of its own are left out
  // Where nothing fades, one of those is explained all the same.
  Record record;
  record.set("G", Matrix<double>::Identity(4, 4));
  const auto kept = largest_cell(phase, block, Form::chunkwise, cursor, record);
  REQUIRE(kept);
  CHECK(kept->column == 2);
}

TEST_CASE("a line says the strength that its own formula has, and a single number as it is", "[why]") {
  const Symbols symbols = {{"beta", {"\\beta_t", Role::strength, ""}},
                           {"delta", {"\\delta_t", Role::strength, ""}}};
  Record record;
  record.set("beta", Matrix<double>::Constant(1, 1, 0.75));
  record.set("delta", Matrix<double>::Constant(1, 1, 0.5));
  record.set("k", Matrix<double>::Constant(2, 1, 3));
  record.set("update", Matrix<double>::Constant(2, 1, 1.5));
  const Operation step = {"step", Purpose::gates, "", "", "delta", tensor("beta")};
  const Operation update = {"update", Purpose::update, "", "", "update", tensor("delta") * tensor("k")};
  CHECK(line_number(step, record, symbols, nullptr) == "0.5");
  CHECK(line_number(update, record, symbols, nullptr) == "δ = 0.5, norm 2.1");
}

TEST_CASE("numbers of the correct run are told as such beside a faulty one", "[why]") {
  Opened session("preset:overwrite?T=24&K=6&V=6");
  for (const char* const fault : {"", "write-sign"}) {
    for (const Form form : {Form::recurrent, Form::chunkwise}) {
      choose(session, [&](Choice& choice) {
        choice.variant = "gated_deltanet";
        choice.form = form;
        choice.fault = {fault, Form::recurrent};
      });
      const bool is_in = *fault != '\0';
      INFO(fault << " " << name(form));
      CHECK(is_faulty(session.sight()) == (is_in && form == Form::recurrent));
      const std::string words = error_bar_words(*session.computed(), 3);
      CHECK((words.find("in the run without the fault") != std::string::npos) == is_in);
    }
  }
}
