#include "core/steps/trace.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <tuple>

#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Whether two records hold the same tensors, bit for bit.
bool identical(const Record& a, const Record& b) {
  if (a.tensors().size() != b.tensors().size()) return false;
  for (const auto& [name, x] : a.tensors()) {
    if (!b.contains(name)) return false;
    const Matrix<double>& y = b.at(name);
    if (x.rows() != y.rows() || x.cols() != y.cols()) return false;
    const std::size_t bytes = static_cast<std::size_t>(x.size()) * sizeof(double);
    if (bytes > 0 && std::memcmp(x.data(), y.data(), bytes) != 0) return false;
  }
  return true;
}

std::vector<Record> records_forward(const Case& each, Form form, Index chunk_size, Precision precision) {
  const auto trace = each.trace(form, chunk_size, precision);
  std::vector<Record> records;
  for (Index index = 0; index < trace->block_count(); ++index) records.push_back(trace->record(index));
  return records;
}

/// The rows of tensor `name` of all blocks that have it, one below the other.
Matrix<double> stacked(const std::vector<Record>& records, const std::string& name, bool columns) {
  std::vector<Matrix<double>> parts;
  Index rows = 0;
  for (const Record& record : records) {
    if (!record.contains(name)) continue;
    parts.push_back(columns ? Matrix<double>(record.at(name).transpose()) : record.at(name));
    rows += parts.back().rows();
  }
  Matrix<double> all(rows, parts.empty() ? 0 : parts.front().cols());
  Index row = 0;
  for (const Matrix<double>& part : parts) {
    all.middleRows(row, part.rows()) = part;
    row += part.rows();
  }
  return all;
}

/// The state called S as a record holds it: with z as its last column where the rule has one.
Matrix<double> whole_state(const Output& output) {
  const Matrix<double>& S = output.states[0].second;
  if (output.states.size() == 1 || output.states[1].first != "z") return S;
  Matrix<double> both(S.rows(), S.cols() + 1);
  both << S, output.states[1].second;
  return both;
}

/// A trace of blocks without a tensor. Its first takes until another was asked for, and a while more.
class SlowTrace : public ComputedTrace {
 public:
  Index block_count() const override { return 3; }
  Block block(Index) const override { return {}; }
  Index block_of(Index, Index) const override { return 0; }
  NamedStates states(const Record&) const override { return {}; }

  mutable std::atomic<bool> has_begun = false;
  std::atomic<bool> another_is_asked_for = false;
  mutable std::vector<Index> computed;

 private:
  Record compute(Index index) const override {
    computed.push_back(index);
    has_begun = true;
    while (index == 0 && !another_is_asked_for) std::this_thread::yield();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    while (index == 0 && std::chrono::steady_clock::now() < end) continue;
    return {};
  }
};

}  // namespace

TEST_CASE("stepping back, jumping and a tiny budget give the same bits as stepping forward") {
  std::mt19937 shuffle(3);
  for (const Case& each : all_cases({.tokens = 16, .dk = 4, .dv = 3, .seed = 21})) {
    for (const Form form : each.forms()) {
      for (const Precision precision : scalar_precisions) {
        const std::vector<Record> forward = records_forward(each, form, 5, precision);
        const auto count = static_cast<Index>(forward.size());
        for (const std::size_t budget : {std::size_t{0}, std::size_t{300}, std::size_t{1} << 20}) {
          // What is kept is found the same way in either precision: f32 has the hardest budget alone.
          if (precision == Precision::f32 && budget != 0) continue;
          INFO(each.words << " " << name(form) << " " << name(precision) << " budget " << budget);
          const auto trace = each.trace(form, 5, precision, budget);
          const auto prepared = each.trace(form, 5, precision, budget);
          prepared->prepare({});
          const auto agrees = [&](Trace& other, Index index) {
            return identical(other.record(index), entry(forward, index));
          };
          bool backward = true;
          bool jumping = true;
          bool ahead = true;
          for (Index index = count; index-- > 0;) {
            backward = backward && agrees(*trace, index);
            ahead = ahead && agrees(*prepared, index);
          }
          for (int jump = 0; jump < 10; ++jump)
            jumping = jumping && agrees(*trace, static_cast<Index>(shuffle() % static_cast<unsigned>(count)));
          CHECK(backward);
          CHECK(jumping);
          CHECK(ahead);
        }
      }
    }
  }
}

TEST_CASE("who waits for a block gets it before one who goes on from block to block") {
  Index first = 0;  // of 20 times: now and then the waiting one comes late
  for (int time = 0; time < 20; ++time) {
    SlowTrace trace;
    std::thread ahead([&] {
      for (const Index index : {0, 1}) trace.shared_record(index);
    });
    while (!trace.has_begun) std::this_thread::yield();
    trace.another_is_asked_for = true;
    trace.shared_record(2);
    ahead.join();
    first += trace.computed[1] == 2 ? 1 : 0;
  }
  CHECK(first >= 17);
}

TEST_CASE("the states kept for stepping fit their budget") {
  constexpr std::size_t state_bytes = 8 * 8 * sizeof(double);
  for (const Index blocks : {1, 9, 10, 1000, 4096}) {
    for (const std::size_t affordable :
         {std::size_t{1}, std::size_t{10}, std::size_t{99}, std::size_t{5000}}) {
      const Checkpoints<double> states({Matrix<double>::Zero(8, 8)}, blocks, affordable * state_bytes);
      const Index kept = (blocks - 1) / states.spacing() + 1;
      INFO(blocks << " blocks, " << affordable << " states affordable, one kept every " << states.spacing());
      CHECK(kept <= static_cast<Index>(affordable));
      CHECK((states.spacing() == 1 || 2 * kept >= static_cast<Index>(affordable)));
    }
  }
}

namespace {

bool has_row(const Block& block, Index token) {
  return token >= block.first_token && token < block.first_token + block.count;
}

/// What is wrong with going from one place to the next; empty if nothing is. Places are ordered by block,
/// operation and row. The token stays wherever the operation has a row for it, and goes on row by row where
/// rows are made one by one. It goes back only to the first token of a block of another phase, which passes
/// once more over tokens that were passed.
std::string wrong_step(const Trace& trace, const Cursor& from, const Cursor& to) {
  const auto order = [](const Cursor& at) { return std::tuple(at.block, at.operation, at.row); };
  if (order(to) <= order(from)) return "not forwards";
  const Block block = trace.block(to.block);
  const Index before = trace.token(from);
  const Index after = trace.token(to);
  const bool by_rows =
      trace.operation(from).by_row && from.block == to.block && from.operation == to.operation;
  if (by_rows) return after == before + 1 ? "" : "a row was left out";
  if (has_row(block, before)) return after == before ? "" : "the token was thrown elsewhere";
  if (to.row != 0 || to.operation != 0) return "a new block does not begin at its beginning";
  const bool new_pass = block.phase != trace.block(from.block).phase;
  return after > before || new_pass ? "" : "the token went back";
}

/// All sizes of chunks and batches against each other: shorter, longer, not divided evenly.
std::vector<Case> stepped_cases() {
  std::vector<Case> cases = all_cases({.tokens = 11, .dk = 3, .dv = 2, .seed = 26});
  for (const Variant& variant : variants()) {
    if (std::ranges::find(variant.parameters, "batch", &Parameter::name) == variant.parameters.end())
      continue;
    for (Settings given : option_choices(variant)) {
      for (const double batch : {2, 6, 16}) {
        given.parameters["batch"] = batch;
        cases.push_back(random_case(variant, given, {.tokens = 11, .dk = 3, .dv = 2}));
        cases.back().words += fmt::format(" batch={}", batch);
      }
    }
  }
  return cases;
}

/// Calls `visit(case, form, trace)` for every form of every case.
template <class Visit>
void for_every_trace(const std::vector<Case>& cases, Visit visit) {
  for (const Case& each : cases) {
    for (const Form form : each.forms()) {
      INFO(each.words << " " << name(form));
      visit(each, form, *each.trace(form, 4));
    }
  }
}

}  // namespace

TEST_CASE(
    "stepping goes forwards in every form, keeps the token where there is a row for it, and is undone") {
  for_every_trace(stepped_cases(), [](const Case&, Form, const Trace& trace) {
    Cursor cursor = trace.first();
    CHECK(trace.previous(cursor) == cursor);
    for (Cursor next = trace.next(cursor); next != cursor; cursor = next, next = trace.next(cursor)) {
      const std::string wrong = wrong_step(trace, cursor, next);
      INFO("block " << cursor.block << ", " << trace.operation(cursor).id << ", row " << cursor.row);
      REQUIRE(wrong == "");
      REQUIRE(next.block <= cursor.block + 1);
      REQUIRE(trace.previous(next) == cursor);
    }
    CHECK(cursor == trace.last());
    CHECK(cursor.block == trace.block_count() - 1);
    CHECK(cursor.operation + 1 == std::ssize(trace.phase(trace.block(cursor.block)).operations));
  });
}

TEST_CASE("wherever one stands, a step back undoes a step on inside a block") {
  for_every_trace(stepped_cases(), [](const Case&, Form, const Trace& trace) {
    for (Index index = 0; index < trace.block_count(); ++index) {
      for (Index row = 0; row < trace.block(index).count; ++row) {
        Cursor cursor{index, 0, row, trace.operation({index, 0, row}).by_row ? row : 0};
        Cursor next = trace.next(cursor);
        for (; next.block == index && next != cursor; cursor = next, next = trace.next(cursor)) {
          REQUIRE(trace.token(next) >= trace.token(cursor));
          const Cursor back = trace.previous(next);
          REQUIRE(std::tuple(back.block, back.operation, back.row) ==
                  std::tuple(cursor.block, cursor.operation, cursor.row));
        }
        REQUIRE((next == cursor || wrong_step(trace, cursor, next) == ""));
      }
    }
  });
}

TEST_CASE("entering an operation that goes through the rows keeps the token, and leaving it backwards too") {
  const Case each = random_case("deltanet", {.tokens = 12});
  const auto trace = each.trace(Form::chunkwise, 8);
  Cursor cursor = trace->at_token(trace->first(), 5);
  while (!trace->operation(trace->next(cursor)).by_row) cursor = trace->next(cursor);
  const Cursor solve = trace->next(cursor);
  CHECK(trace->token(solve) == 5);
  CHECK(trace->token(trace->next(solve)) == 6);
  CHECK(trace->previous(solve) == cursor);
  const Cursor after = trace->next(trace->next(trace->next(solve)));
  CHECK_FALSE(trace->operation(after).by_row);
  CHECK(trace->token(after) == 7);
  // Chosen afterwards, a token is kept on the way back.
  CHECK(trace->token(trace->previous(trace->at_token(after, 3))) == 3);
}

TEST_CASE("the update of an inner batch is made at the last token that was gathered") {
  const Case each = random_case(find_variant("lact"), {.parameters = {{"batch", 4}}}, {.tokens = 10});
  const auto trace = each.trace(Form::recurrent, 1);
  Cursor cursor = trace->at_token(trace->first(), 7);
  while (trace->block(cursor.block).phase == 0) cursor = trace->next(cursor);
  CHECK(trace->token(cursor) == 7);
  CHECK(trace->token(trace->last()) == 9);
}

TEST_CASE("tokens are grouped as the form takes them") {
  for_every_trace(stepped_cases(), [](const Case& each, Form form, const Trace& trace) {
    const auto batch = each.sequence.settings.parameters.find("batch");
    const bool has_parameter = batch != each.sequence.settings.parameters.end();
    const bool has_batches = has_parameter && batch->second > 1;
    const Groups& groups = trace.groups;
    INFO("groups of " << groups.size);
    if (groups.kind == Groups::Kind::batches) {
      CHECK(has_batches);
      CHECK(groups.size == static_cast<Index>(batch->second));
    } else {
      CHECK((groups.kind == Groups::Kind::whole) == (form == Form::parallel));
      CHECK(groups.size == (form == Form::parallel ? 11 : 4));
    }
    if (form == Form::recurrent) CHECK((groups.kind == Groups::Kind::batches) == has_batches);
    if (form == Form::parallel) return;
    for (Index index = 0; index < trace.block_count(); ++index) {
      const Block block = trace.block(index);
      CHECK(block.first_token / groups.size == (block.first_token + block.count - 1) / groups.size);
      const bool are_chunks = !has_parameter && form != Form::recurrent;
      if (are_chunks) CHECK(block.count == std::min<Index>(groups.size, 11 - block.first_token));
    }
  });
}

TEST_CASE("at_token goes to every token, keeps the operation and stops at the ends") {
  for_every_trace(all_cases({.tokens = 11, .dk = 3, .dv = 2, .seed = 23}),
                  [](const Case&, Form, const Trace& trace) {
                    const Cursor start{0, 1, 0};
                    for (Index token = 0; token < 11; ++token) {
                      const Cursor cursor = trace.at_token(start, token);
                      CHECK(trace.token(cursor) == token);
                      CHECK(cursor.operation == 1);
                      CHECK(trace.block(cursor.block).phase == 0);
                      CHECK(trace.at_token(cursor, token) == cursor);
                    }
                    CHECK(trace.token(trace.at_token(start, -5)) == 0);
                    CHECK(trace.token(trace.at_token(start, 500)) == 10);
                  });
}

TEST_CASE("at_chunk goes to the starts of chunks") {
  const Case each = random_case("gated_deltanet", {.tokens = 11});
  const auto trace = each.trace(Form::recurrent, 1);
  const auto from = [&](Index token) { return trace->at_token({0, 2, 0}, token); };
  CHECK(trace->token(trace->at_chunk(from(0), 4, 1)) == 4);
  CHECK(trace->token(trace->at_chunk(from(5), 4, 1)) == 8);
  CHECK(trace->token(trace->at_chunk(from(9), 4, 1)) == 10);
  CHECK(trace->token(trace->at_chunk(from(6), 4, -1)) == 4);
  CHECK(trace->token(trace->at_chunk(from(4), 4, -1)) == 0);
  CHECK(trace->token(trace->at_chunk(from(0), 4, -1)) == 0);
  CHECK(trace->at_chunk(from(5), 4, 1).operation == 2);
}

TEST_CASE("an empty sequence has no blocks and its cursor stays") {
  for_every_trace(all_cases({.tokens = 0, .dk = 3, .dv = 2}), [](const Case&, Form, const Trace& trace) {
    CHECK(trace.block_count() == 0);
    for (const Cursor& cursor :
         {trace.last(), trace.next({}), trace.previous({}), trace.at_token({}, 3), trace.at_chunk({}, 4, 1)})
      CHECK(cursor == Cursor{});
  });
}

TEST_CASE("the blocks' outputs are those of the run, the last block's state is the final state") {
  for (const Index tokens : {1, 11}) {
    for (const Case& each : all_cases({.tokens = tokens, .dk = 3, .dv = 2, .seed = 24})) {
      for (const Form form : each.forms()) {
        for (const Precision precision : scalar_precisions) {
          INFO(each.words << " " << name(form) << " " << name(precision));
          const std::vector<Record> records = records_forward(each, form, 4, precision);
          const Output run = each.run(form, precision, 4);
          const bool by_token = form == Form::recurrent;
          const double rounding = precision == Precision::f64 ? 1e-14 : 1e-6;
          CHECK(deviation(stacked(records, by_token ? "o" : "O", by_token), run.o) <= rounding);

          for (const auto& [state, value] : run.states) {
            const std::string after = state + (by_token ? "_after" : "_out");
            const Record* last = nullptr;
            for (const Record& record : records) {
              if (record.contains(after)) last = &record;
            }
            if (!last) continue;
            const Matrix<double> expected = state == "S" ? whole_state(run) : value;
            const Matrix<double>& recorded = last->at(after);
            // All parts of a state may be recorded before they are added up.
            if (recorded.rows() == expected.rows()) CHECK(deviation(recorded, expected) <= rounding);
          }
        }
      }
    }
  }
}

TEST_CASE("a chunk solves for the very errors that the recurrence meets one by one") {
  for (const Case& each : all_cases({.tokens = 21, .dk = 4, .dv = 3, .seed = 25})) {
    const std::vector<Record> tokens = records_forward(each, Form::recurrent, 1, Precision::f64);
    if (!tokens.front().contains("error")) continue;
    const Matrix<double> errors = stacked(tokens, "error", true);
    for (const Form form : each.forms()) {
      if (form == Form::recurrent) continue;
      INFO(each.words << " " << name(form));
      Matrix<double> U = stacked(records_forward(each, form, 8, Precision::f64), "U", false);
      if (form == Form::two_pass) {  // the second pass fetches what the first has solved for
        REQUIRE(U.rows() == 2 * errors.rows());
        CHECK(U.topRows(errors.rows()) == U.bottomRows(errors.rows()));
        U.conservativeResize(errors.rows(), U.cols());
      }
      CHECK(deviation(U, errors) <= 1e-12);
    }
  }
}
