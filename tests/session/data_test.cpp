#include "app/session/data_set.h"

#include <fmt/format.h>
#include <cmath>

#include "app/session/computation.h"
#include "app/session/first_place.h"
#include "app/session/inputs.h"
#include "app/session/memory_questions.h"
#include "app/session/presets.h"
#include "core/base/error.h"
#include "core/base/random_numbers.h"
#include "core/cases/random_case.h"
#include "core/io/array_file.h"
#include "core/proof/verify.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/computed.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Inputs inputs_for(const DataSet& data, const char* variant, Index head = 0) {
  return make_inputs(data, head, find_variant(variant), {}, {});
}

}  // namespace

TEST_CASE("data without a sequence in them are refused") {
  const auto refused = [](Arrays arrays, const std::string& words) {
    CHECK_THROWS_WITH(data_of(std::move(arrays)), says(words));
  };
  refused({}, "array \"q\" is missing");
  refused({{"q", numbers({4, 2})}}, "array \"k\" is missing");
  refused(three({4}), "array \"q\": shape [4] has rank 1");
  refused(three({1, 1, 4, 2, 2}, {4, 2}, {4, 2}), "has rank 5");
  refused(three({4, 2}, {4, 1, 2}, {4, 2}),
          "array \"k\": shape [4, 1, 2] has rank 3; expected 2 as in \"q\"");
  refused(three({0, 2}), "the sequence is empty");
  refused(three({4, 0}, {4, 2}, {4, 2}), "array \"q\": shape [4, 0] has an axis of size 0");
  refused(three({4, 0, 2}, {4, 1, 2}, {4, 1, 2}), "axis of size 0");
  refused(three({0, 4, 1, 2}), "axis of size 0");
  // No memory is asked for before the sizes are looked at.
  refused(three({Index{1} << 60, 0}, {4, 2}, {4, 2}), "axis of size 0");
  refused(three({most_tokens + 1, 1}, {4, 1}, {4, 1}), "at most 1048576 can be shown");
}

TEST_CASE("arrays that do not fit together are refused where a variant takes them") {
  const auto refused = [](Arrays arrays, const char* variant, const std::string& words) {
    const DataSet data = data_of(std::move(arrays));
    CHECK_THROWS_WITH(inputs_for(data, variant), says(words));
  };
  refused(three({4, 2}, {5, 2}, {4, 2}), "linear", "array \"k\": shape [5, 2] has 5 tokens; expected 4");
  refused(three({2, 4, 1, 2}, {3, 4, 1, 2}, {2, 4, 1, 2}), "linear", "has 3 batches; expected 2");
  refused(three({4, 3, 2}, {4, 2, 2}, {4, 3, 2}), "linear", "has 2 heads, which does not divide the 3 heads");

  const auto more = [](const char* name, std::vector<Index> shape) {
    return with_arrays(three({4, 3, 2}, {4, 1, 2}, {4, 3, 2}), {{name, numbers(std::move(shape))}});
  };
  refused(more("beta", {4}), "deltanet", "array \"beta\": shape [4] has rank 1; expected (n, H)");
  CHECK_NOTHROW(inputs_for(data_of(more("beta", {4})), "linear"));  // which has no beta
  refused(more("beta", {4, 1}), "deltanet", "has 1 heads; expected 3 (only q, k and v may share heads)");
  refused(more("g", {4, 3, 2, 1}), "gla", "array \"g\": shape [4, 3, 2, 1] has rank 4");
  refused(more("initial_state", {2, 2, 2}), "linear", "array \"initial_state\": shape [2, 2, 2] has 2 heads");
  refused(more("scale", {2}), "linear",
          "array \"scale\": shape [2]; expected one number or one for each head");
}

TEST_CASE("a head is cut out of grouped heads and batches") {
  Arrays arrays = with_arrays(
      three({2, 3, 4, 2}, {2, 3, 2, 2}, {2, 3, 1, 5}),
      {{"alpha", constant({2, 3, 4}, 0.5)}, {"scale", Array({4}, std::vector<double>{1, 2, 3, 4})}});
  const DataSet data = data_of(arrays);
  CHECK(data.batches == 2);
  CHECK(data.heads == 4);
  CHECK(data.tokens == 3);
  const Arrays head = head_arrays(data, 4 + 3, find_variant("scalar_decay"));  // the last of the second batch
  const Array& q = head.find("q")->second;
  const Array& k = head.find("k")->second;
  REQUIRE(q.shape == std::vector<Index>{3, 2});
  REQUIRE(k.shape == std::vector<Index>{3, 2});
  for (Index t = 0; t < 3; ++t) {
    for (Index d = 0; d < 2; ++d) {
      CHECK(q[t * 2 + d] == arrays["q"][((3 + t) * 4 + 3) * 2 + d]);
      CHECK(k[t * 2 + d] == arrays["k"][((3 + t) * 2 + 1) * 2 + d]);
    }
  }
  CHECK(head.find("scale")->second[0] == 4);
  CHECK(head.find("alpha")->second.shape == std::vector<Index>{3});
}

TEST_CASE("the only head shares the numbers of its data, and an edit takes its own") {
  const Arrays arrays = with_arrays(three({3, 1, 2}), {{"beta", constant({3, 1}, 0.5)}});
  const DataSet data = data_of(arrays);
  const Variant& variant = find_variant("deltanet");
  const Edits edits = {{"set_cell", "beta", {1, 0, 1}}};
  const Inputs inputs = make_inputs(data, 0, variant, {}, edits);
  for (const char* name : {"q", "k", "v"})
    CHECK(&inputs.arrays->at(name).values() == &data.arrays.at(name).values());
  CHECK(inputs.arrays->at("beta")[1] == 1);
  CHECK(data.arrays.at("beta")[1] == 0.5);
}

TEST_CASE("a head that there is not is refused") {
  const DataSet data = data_of(three({2, 3, 4, 2}, {2, 3, 2, 2}, {2, 3, 1, 5}));
  for (const Index head : {-1, 8}) {
    CHECK_THROWS_WITH(head_arrays(data, head, find_variant("linear")),
                      says(fmt::format("\"head\" is {}; expected a head of these data, 0 to 7", head)));
  }
}

TEST_CASE("without edits the numbers are those of the file, bit for bit") {
  for (const std::string& id : capture_ids()) {
    CAPTURE(id);
    const DataSet data = open_data(id);
    const Variant& variant = find_variant(data.rule);
    for (Index head = 0; head < data.heads; ++head) {
      const Inputs inputs = make_inputs(data, head, variant, {}, {});
      CHECK(inputs.notes.empty());
      for (const auto& [name, array] : head_arrays(data, head, variant)) {
        if (name == "g" && variant.id == "retnet") continue;  // a parameter now
        CAPTURE(name);
        CHECK(inputs.arrays->find(name)->second.values() == array.values());
      }
    }
  }
}

TEST_CASE("what a variant needs and the data lack is made up and said") {
  const DataSet data = data_of(three({4, 2}));
  const Inputs gated = inputs_for(data, "gated_deltanet");
  CHECK(gated.made_up_alpha);
  CHECK(gated.made_up_beta);
  CHECK(gated.notes == std::vector<std::string>{"Not in the data: alpha = 0.98, beta = 1."});
  CHECK(gated.lacking == std::vector<std::string>{"alpha = 0.98", "beta = 1"});
  CHECK(inputs_for(data, "kda").arrays->find("alpha")->second.shape == std::vector<Index>{4, 2});
  CHECK(inputs_for(data, "retnet").settings.parameters.at("gamma") == 0.98);
  CHECK(inputs_for(data, "linear").notes.empty());
}

TEST_CASE("files that are no sequence are refused with their name") {
  const TemporaryFolder folder;
  const auto refused = [&](const Arrays& arrays, const std::string& words) {
    const auto path = folder / "case.npz";
    write_npz(path, arrays);
    CHECK_THROWS_WITH(open_file(path), says(words) && says("case.npz"));
  };
  refused({{"x", numbers({2})}, {"beta", numbers({2})}},
          "arrays \"q\", \"k\" and \"v\" are missing; found: beta, x");
  refused(three({0, 2}), "the sequence is empty");
  CHECK_THROWS_AS(open_file(folder / "absent.npz"), InputError);
  CHECK_THROWS_AS(open_file(folder.path()), InputError);
}

TEST_CASE("a table with labels is a sequence, and one that lacks an array says where it was looked for") {
  const TemporaryFolder folder;
  write_file(folder / "mine.csv",
             "label,q0,q1,k0,k1,v0,beta,mood\nthe,1,2,3,4,5,1,good\njar,6,7,8,9,10,0.5,bad\n");
  const DataSet data = open_file(folder / "mine.csv");
  CHECK(data.labels == std::vector<std::string>{"the", "jar"});
  CHECK(data.title == "mine");
  CHECK(data.fits == "deltanet");
  CHECK(inputs_for(data, "deltanet").notes.empty());
  CHECK(data.id == (folder / "mine.csv").string());

  write_file(folder / "less.csv", "q0,query1\n1,2\n");
  CHECK_THROWS_WITH(open_file(folder / "less.csv"),
                    says("less.csv: arrays \"k\" and \"v\" are missing; expected the columns k0, k1, …"));
  std::filesystem::create_directory(folder / "layer");
  const std::vector<std::byte> bytes = format_npy(numbers({2, 2}));
  write_file(folder / "layer/q.npy", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  CHECK_THROWS_WITH(open_file(folder / "layer/q.npy"),
                    says("\"k\" and \"v\" are missing; expected k.npy, v.npy beside it"));
  CHECK_THROWS_WITH(open_file(folder / "layer"),
                    says("\"k\" and \"v\" are missing; expected k.npy, v.npy in this folder"));
}

TEST_CASE("a file that names no rule is first looked at with the one that takes just its gates") {
  const TemporaryFolder folder;
  const auto fits = [&](const Arrays& gates) {
    write_npz(folder / "gates.npz", with_arrays(three({6, 2, 4}, {6, 2, 4}, {6, 2, 3}), gates));
    return open_file(folder / "gates.npz").fits;
  };
  const Array each_head = numbers({6, 2});
  const Array each_channel = numbers({6, 2, 4});
  CHECK(fits({}) == "linear");
  CHECK(fits({{"beta", each_head}}) == "deltanet");
  CHECK(fits({{"alpha", each_head}}) == "scalar_decay");
  CHECK(fits({{"g", each_channel}}) == "gla");
  CHECK(fits({{"g", each_head}, {"beta", each_head}}) == "gated_deltanet");
  CHECK(fits({{"alpha", each_channel}, {"beta", each_head}}) == "kda");
  CHECK(open_data("capture:gla_recall_l1").fits.empty());  // it says so itself
}

TEST_CASE("every preset is a case that forms agree on, as far as what they lose on the way lets them") {
  for (const char* id : {"titans", "gated_deltanet2", "rwkv7"}) {
    std::vector<VerifyCase> cases = preset_cases(std::span(&find_variant(id), 1));
    std::erase_if(cases,
                  [](const VerifyCase& each) { return each.data.find("T=4096") != std::string::npos; });
    REQUIRE(cases.size() == 2 * presets().size());
    const VerifyReport report = verify({.cases = cases});
    INFO(to_table(report));
    CHECK(report.passed());
    for (const VerifyResult& result : report.results) {
      if (result.precision != Precision::f64) continue;
      INFO(id << " " << name(result.form));
      // These rules write zeros where presets only ask: that empties the memory, and all at once it cannot be
      // done without loss.
      CHECK((result.amplified.runs > 0) == (result.form == Form::parallel));
      if (result.form == Form::parallel)
        CHECK(result.amplified.reproduction.find("--case 'preset:") != std::string::npos);
    }
  }
}

TEST_CASE("the window says why a form that loses its state may") {
  const auto computed = compute(shared(make_preset("preset:random?T=1100&K=16&V=16&seed=1")),
                                {{.variant = "titans", .chunk_size = 16}});
  const FormResult& parallel = computed->form(Form::parallel);
  CHECK(computed->agree);
  CHECK(computed->worst_form == Form::parallel);
  CHECK_FALSE(parallel.judgement.says_nothing());
  CHECK(parallel.residual() > 1e-10);
  CHECK(parallel.judgement.disagreement.array == "final_S");
  CHECK_THAT(parallel.amplified, says("The solve over 1100 tokens multiplies rounding in the final S by"));
  CHECK_THAT(parallel.amplified, says("above the tolerance. The solve over 16 tokens multiplies it by"));
  CHECK(parallel.judgement.amplified_from > 550);  // where the asking begins
  for (const Form form : {Form::recurrent, Form::chunkwise, Form::two_pass})
    CHECK(computed->form(form).amplified.empty());
}

namespace {

Found<PreviewedData> preview(const std::string& id) { return find_out(DataPreview{id}); }

/// What an array has for a token of a head.
RowVector<double> numbers_of(const DataSet& data, const char* name, Index token, Index head) {
  const Array& array = data.arrays.at(name);
  const Index channels = array.rank() > 2 ? array.shape[2] : 1;
  return MatrixView(array, 0, array.size() / channels, channels, channels)
      .rows<double>(token * array.shape[1] + head, 1);
}

}  // namespace

TEST_CASE("a preview shows the keys, strengths and gates of every head as the file has them", "[preview]") {
  const auto shown = preview("capture:gated_deltanet_overwrite_l1");
  const DataSet& data = *shown->data;
  REQUIRE(shown->heads.size() == 4);
  CHECK(shown->variant->id == "gated_deltanet");
  CHECK(shown->tokens == 94);
  for (const Index head : {Index{0}, Index{3}}) {
    const HeadPreview& one = shown->heads[static_cast<std::size_t>(head)];
    REQUIRE(one.similarity.rows() == 94);
    REQUIRE(one.strength.size() == 94);
    REQUIRE(one.kept.size() == 94);
    for (const Index t : {Index{1}, Index{42}, Index{93}}) {
      const RowVector<double> own = numbers_of(data, "k", t, head);
      const RowVector<double> other = numbers_of(data, "k", 6, head);
      // Sums of 64 products in another order.
      CHECK(std::abs(one.similarity(t, 6) - own.dot(other) / (own.norm() * other.norm())) < 1e-13);
      const double strength = numbers_of(data, "beta", t, head)(0) * own.squaredNorm();
      CHECK(std::abs(one.strength[static_cast<std::size_t>(t)] - strength) < 1e-13);
      CHECK(one.kept[static_cast<std::size_t>(t)] == std::exp(numbers_of(data, "g", t, head)(0)));
    }
  }
}

TEST_CASE("a preview leaves out what data do not have, and is short", "[preview]") {
  const auto softmax = preview("capture:softmax_names_l16");
  CHECK(softmax->heads.size() == 9);
  CHECK(softmax->heads[0].strength.empty());
  CHECK(softmax->heads[0].kept.empty());
  CHECK(preview("capture:gla_recall_l1")->heads[0].strength.empty());
  CHECK(preview("capture:gla_recall_l1")->heads[0].kept.size() == 105);
  CHECK(preview("capture:retnet_overwrite_l2")->variant->id == "retnet");

  const auto longer = preview("preset:correlated?T=300&K=150&V=2&seed=1&cosine=0.5");
  CHECK(longer->tokens == most_previewed_tokens);
  REQUIRE(longer->heads.size() == 1);
  CHECK(longer->heads[0].similarity.rows() == most_previewed_tokens);
  CHECK(std::abs(longer->heads[0].similarity(3, 100) - 0.5) < 1e-12);
  CHECK(longer.bytes > sizeof(double) * most_previewed_tokens * most_previewed_tokens);
  CHECK(DataPreview{"preset:copy?T=9"}.subject() == DataPreview{"preset:copy?T=8"}.subject());
}

TEST_CASE("every rule has a preview of a file of its own, also one that makes its keys", "[preview]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "own.npz").string();
  int made = 0;
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    const Settings settings = random_settings(variant, {}, 1);
    Arrays arrays =
        random_arrays(variant, settings, fitted(variant, settings, {.tokens = 7, .dk = 6, .dv = 6}));
    const bool makes_keys = !arrays.contains("k");
    if (makes_keys) arrays["k"] = numbers({7, 6});  // no file is without; this rule does not look at it
    write_npz(file, arrays, {{"meta", R"({"rule": ")" + variant.id + R"("})"}});
    const auto shown = preview(file);
    CHECK(shown->variant->id == variant.id);
    const Matrix<double>& similarity = shown->heads.at(0).similarity;
    REQUIRE(similarity.rows() == 7);
    CHECK(similarity.allFinite());
    if (!makes_keys) continue;
    ++made;
    const Matrix<double> alpha = MatrixView(arrays.at("alpha"), 0, 7, 6, 6).all<double>();
    const Matrix<double> keys = (1 - alpha.array()).matrix().rowwise().normalized();
    for (Index t = 0; t < 7; ++t) CHECK(std::abs(similarity(t, 2) - keys.row(t).dot(keys.row(2))) < 1e-14);
  }
  CHECK(made == 1);  // HGRN2, whose key is 1 - alpha
}

TEST_CASE("what cannot be opened has no preview and says why", "[preview]") {
  CHECK_THROWS_WITH(preview("preset:nothing"), says("there is no preset"));
  CHECK_THROWS_WITH(preview("/no/such/file.npz"), says("/no/such/file.npz"));
  CHECK_THROWS_AS((find_out(DataPreview{"preset:copy"}, {.stop = asked_to_stop()})), Cancelled);
}

TEST_CASE("every capture and preset has a preview", "[preview]") {
  for (const std::string& id : shipped_ids()) {
    CAPTURE(id);
    const auto shown = preview(id);
    CHECK(!shown->heads.empty());
    for (const HeadPreview& head : shown->heads) CHECK(head.similarity.allFinite());
  }
}

namespace {

Place place_of(DataSet data, const Choice& choice = {}) {
  return first_place(*begin(shared(std::move(data)), choice), {});
}

/// Keys at right angles that come again after 64 tokens, each with another value; only `written` are.
DataSet written_at(Index tokens, std::initializer_list<Index> written) {
  Arrays arrays = {{"beta", constant({tokens}, 0)}};
  for (const char* const name : {"q", "k", "v"}) arrays[name] = constant({tokens, 64}, 0);
  for (Index t = 0; t < tokens; ++t) {
    std::get<0>(arrays["k"].own_values())[static_cast<std::size_t>(t * 64 + t % 64)] = 1;
    std::get<0>(arrays["v"].own_values())[static_cast<std::size_t>(t * 64 + t / 64 % 64)] = 1;
  }
  for (const Index t : written) std::get<0>(arrays["beta"].own_values())[static_cast<std::size_t>(t)] = 1;
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
  for (const std::string& id : shipped_ids()) {
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
    std::get<0>(arrays["beta"].own_values())[strong] = 1;
  const auto computation = begin(shared(data_of(std::move(arrays))), {});
  const Cursor cursor = after_write(*computation->recurrence, 2500);
  const auto answers = find_out(MemoryAnswers{computation, Form::recurrent, cursor});
  REQUIRE(answers->table.words.size() == 6);
  for (const AskedWord& word : answers->table.words) CHECK(word.token >= 2500 - 41);  // 3 x 13.5 tokens
  CHECK(answers->table.after.diagonal().minCoeff() > 0);
  CHECK(answers->table.after.cwiseAbs().maxCoeff() > noticed);
}
