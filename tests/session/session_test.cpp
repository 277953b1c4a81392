#include "app/session/session.h"

#include "core/io/array_file.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* first = overwriting_capture;

/// A session in the middle of something, and what must not change when something fails.
struct Begun : Opened {
  explicit Begun(const std::string& id = first) : Opened(id) {
    go_to_token(19);
    step(Session::Grain::operation, 1);
  }
};

/// Runs `action`, which must fail with `words`, and checks that everything is as it was.
template <class Action>
void fails(Session& session, const std::string& words, Action action) {
  const std::string before = session.to_json();
  const bool could_undo = session.can_undo();
  const Cursor cursor = session.cursor();
  const auto computed = session.computed();
  action();
  session.wait();
  CHECK_THAT(session.message(), says(words));
  CHECK(session.to_json() == before);
  CHECK(session.can_undo() == could_undo);
  CHECK(session.cursor() == cursor);
  CHECK(session.computed() == computed);
  CHECK(has_valid_cursor(session));
}

}  // namespace

TEST_CASE("a session in which nothing is open can be asked anything") {
  Session session;
  CHECK(session.computed() == nullptr);
  CHECK(session.trace() == nullptr);
  CHECK(session.token() == 0);
  CHECK(!session.step(Session::Grain::token, 1));
  CHECK(!session.update());
  session.go_to_token(4);
  session.set_cursor({3, 1, 2});
  CHECK(session.cursor() == Cursor{});
  CHECK(session.data().tokens == 0);
  choose(session, [](Choice& choice) { choice.form = Form::chunkwise; });
  CHECK(session.choice().form == Form::chunkwise);
  open_json(session, session.to_json());
  session.wait();
  CHECK_FALSE(session.message().empty());
}

TEST_CASE("opening takes over the rule of a capture") {
  Session session;
  open(session, "capture:kda_overwrite_l1");
  REQUIRE(session.computed() != nullptr);
  CHECK(session.choice().variant == "kda");
  CHECK(session.data().heads == 4);
  open(session, "preset:copy");
  CHECK(session.choice().variant == "kda");  // a preset belongs to no rule
}

TEST_CASE("what cannot be opened leaves everything as it was") {
  Begun opened;
  choose(opened, [](Choice& choice) { set_slider(choice.edits, "scale_strength", 0.5); });
  const TemporaryFolder folder;
  fails(opened, "absent.npz", [&] { CHECK_NOTHROW(opened.open_named(folder / "absent.npz")); });
  write_file(folder / "noise.npz", "this is no zip file");
  fails(opened, "noise.npz", [&] { CHECK_NOTHROW(opened.open_named(folder / "noise.npz")); });
  fails(opened, "there is no preset", [&] { CHECK_NOTHROW(opened.open_named("preset:nonsense")); });
  fails(opened, "there is no capture", [&] { CHECK_NOTHROW(opened.open_named("capture:nonsense")); });

  const auto open_with = [&](const char* name, const Array& array) {
    write_npz(folder / "case.npz", with_arrays(three({6, 4}), {{name, array}}));
    CHECK_NOTHROW(opened.open_named(folder / "case.npz"));
  };
  fails(opened, "case.npz", [&] { open_with("q", numbers({6})); });
  fails(opened, "array \"k\"", [&] { open_with("k", numbers({5, 4})); });
  fails(opened, "array \"k\"", [&] { open_with("k", numbers({6, 3})); });
  fails(opened, "case.npz", [&] { open_with("v", numbers({6, 0})); });
  fails(opened, "is nan", [&] { open_with("v", constant({6, 4}, quiet_nan)); });
  fails(opened, "array \"alpha\": index [0] is 1.5", [&] { open_with("alpha", constant({6}, 1.5)); });
  fails(opened, "array \"beta\"", [&] { open_with("beta", numbers({7})); });
}

TEST_CASE("a choice that cannot be computed leaves everything as it was") {
  Begun opened;
  fails(opened, "there is no variant",
        [&] { opened.choose([](Choice& choice) { choice.variant = "nonsense"; }); });
  fails(opened, "has no parameter \"nonsense\"",
        [&] { opened.choose([](Choice& choice) { choice.settings.parameters["nonsense"] = 1; }); });
  fails(opened, "every decay to this power: it is -1; expected a number from 0 to 1e+06",
        [&] { opened.choose([](Choice& choice) { set_slider(choice.edits, "scale_decay", -1); }); });
  fails(opened, "edit 1 (set_cell): \"row\" is 94; expected one of k, 0 to 93", [&] {
    opened.choose([](Choice& choice) { choice.edits = {{"set_cell", "k", {94, 0, 1}}}; });
  });
  choose(opened, [](Choice& choice) { set_slider(choice.edits, "scale_strength", 0.5); });
  CHECK(opened.message().empty());
  CHECK(slider_value(opened.computed()->choice.edits, "scale_strength") == 0.5);
}

TEST_CASE("whatever is chosen in whatever order, the cursor is a place of the present trace") {
  for (const char* id :
       {first, "capture:softmax_names_l17", "capture:mamba2_recall_l2", "preset:overwrite?T=33&K=5&V=3"}) {
    Begun opened(id);
    std::uint64_t number = 1;
    const auto random = [&](Index below) {
      number = number * 6364136223846793005U + 1442695040888963407U;
      return static_cast<Index>((number >> 33) % static_cast<std::uint64_t>(below));
    };
    for (int round = 0; round < 150; ++round) {
      choose(opened, [&](Choice& choice) {
        switch (random(6)) {
          case 0:
            choice.variant = variants()[static_cast<std::size_t>(random(std::ssize(variants())))].id;
            break;
          case 1:
            choice.form = all_forms[random(std::size(all_forms))];
            break;
          case 2:
            choice.chunk_size = random(120) - 3;
            break;
          case 3:
            choice.head = random(20) - 3;
            break;
          case 4:
            choice.precision = all_precisions[random(2)];
            break;
          default:
            set_slider(choice.edits, "scale_decay", 0.5 * static_cast<double>(random(4)));
        }
      });
      if (random(3) == 0) opened.update();
      if (random(3) == 0) opened.wait();
      switch (random(4)) {
        case 0:
          opened.go_to_token(random(200) - 20);
          break;
        case 1:
          opened.set_cursor({random(300) - 20, random(20) - 3, random(100) - 9});
          break;
        default:
          opened.step(static_cast<Session::Grain>(random(4)), random(2) == 0 ? -1 : 1);
      }
      CAPTURE(id, round, opened.choice().variant, name(opened.choice().form));
      REQUIRE(has_valid_cursor(opened));
    }
    opened.wait();
    CHECK(opened.message().empty());
    CHECK_FALSE(opened.computing());
    CHECK(opened.computed()->variant->id == opened.choice().variant);
    CHECK(opened.computed()->choice.chunk_size == opened.choice().chunk_size);
    CHECK(opened.computed()->choice.edits == opened.choice().edits);
  }
}

TEST_CASE("the token and the operation survive a change of variant, form and chunk size") {
  Begun opened;
  opened.go_to_token(29);
  while (opened.trace()->operation(opened.cursor()).id != "write") opened.step(Session::Grain::operation, 1);
  choose(opened, [](Choice& choice) { choice.variant = "kda"; });
  CHECK(opened.token() == 30);
  CHECK(opened.trace()->operation(opened.cursor()).id == "write");
  opened.choose([](Choice& choice) { choice.form = Form::chunkwise; });
  CHECK(opened.token() == 30);
  choose(opened, [](Choice& choice) { choice.chunk_size = 17; });
  CHECK(opened.token() == 30);
  CHECK(opened.trace()->block(opened.cursor().block).first_token == 17);
}

TEST_CASE("the end is the last token of every form, and everything is done there") {
  Begun opened;
  for (const Variant& variant : variants()) {
    for (const Form form : all_forms) {
      opened.choose([&](Choice& choice) {
        choice.variant = variant.id;
        choice.form = form;
      });
      if (!opened.trace()) continue;
      CAPTURE(variant.id, name(form));
      const Trace& trace = *opened.trace();
      opened.go_to_token(60);
      opened.step(Session::Grain::end, 1);
      CHECK(opened.token() == trace.tokens - 1);
      const Cursor end = opened.cursor();
      CHECK(end.block == trace.block_count() - 1);
      CHECK(trace.operation(end).id == trace.phase(trace.block(end.block)).operations.back().id);
      for (const Session::Grain grain :
           {Session::Grain::operation, Session::Grain::token, Session::Grain::chunk, Session::Grain::end})
        CHECK_FALSE(opened.step(grain, 1));
      CHECK(opened.cursor() == end);
      opened.step(Session::Grain::end, -1);
      CHECK(opened.cursor() == Cursor{});
    }
  }
}

TEST_CASE("stepping by chunk goes by inner batches where the rule has them") {
  Begun opened;
  opened.choose([](Choice& choice) { choice.variant = "lact"; });
  for (const Form form : {Form::recurrent, Form::chunkwise, Form::parallel}) {
    choose(opened, [&](Choice& choice) { choice.form = form; });
    if (!opened.trace()) continue;
    CAPTURE(name(form));
    REQUIRE(opened.choice().chunk_size == 8);
    opened.step(Session::Grain::end, -1);
    opened.step(Session::Grain::chunk, 1);
    CHECK(opened.token() == 16);
    // The last batch holds tokens 80 to 93; its update comes after the last of them.
    opened.go_to_token(93);
    for (Index token = 93; opened.step(Session::Grain::operation, 1); token = opened.token())
      REQUIRE(opened.token() >= token);
    CHECK(opened.token() == 93);
  }
}

TEST_CASE("what was shown stays alive until the next update") {
  Begun opened;
  const auto before = opened.computed();
  const std::uint64_t version = before->version;
  for (int i = 0; i < 5; ++i) {
    opened.choose([&](Choice& choice) { choice.chunk_size = 20 + i; });
    CHECK(before->version == version);  // a panel that is being drawn may still read it
    CHECK(before->reference->expected().o.allFinite());
  }
  opened.update();
}

TEST_CASE("a choice is computed, whatever is still under way when it is made") {
  struct Meanwhile {
    const char* id;
    Index tokens;
    const char* variant;
    Form form;
    bool are_open;  // the data; else it is made for them
  };
  for (const Meanwhile& each :
       {Meanwhile{"preset:drift?T=3000&K=32&V=32", 3000, "deltanet", Form::chunkwise, false},
        Meanwhile{"preset:drift?T=2000&K=32&V=32", 2000, "kda", Form::parallel, true}}) {
    CAPTURE(each.id);
    Begun opened;
    CHECK(opened.open_named(each.id));
    while (each.are_open && opened.data().tokens != each.tokens) opened.update();
    opened.choose([&](Choice& choice) { choice.variant = each.variant; });
    opened.choose([&](Choice& choice) { choice.form = each.form; });
    CHECK(has_valid_cursor(opened));
    opened.wait();
    CHECK(opened.data().tokens == each.tokens);
    CHECK(opened.computed()->variant->id == each.variant);
    CHECK(opened.choice().form == each.form);
    CHECK(opened.computed()->form(Form::parallel).missing.empty());
    CHECK(opened.trace() != nullptr);
    CHECK(opened.computed()->agree);
    CHECK(has_valid_cursor(opened));
  }
}

TEST_CASE("words of the text before that are clicked while another is being opened stay with it") {
  for (const std::string id :
       {"preset:drift?T=3000&K=32&V=32&seed=1", "preset:overwrite?T=9&K=3&V=2&seed=1"}) {
    CAPTURE(id);
    Begun opened;
    CHECK(opened.open_named(id));
    REQUIRE(opened.data().id == first);  // nothing is taken over before the next update
    opened.change([](SessionState& clicked) {
      clicked.words = {5, 90};
      clicked.repeated = {7, 80};
    });
    choose(opened, [](Choice& choice) { choice.form = Form::chunkwise; });
    CHECK(opened.data().id == id);
    CHECK(opened.state().words.empty());
    CHECK(opened.state().repeated.empty());
    CHECK(opened.choice().form == Form::chunkwise);
  }
}

TEST_CASE("when opening fails, what was chosen meanwhile is computed for what is still open") {
  Begun opened;
  const TemporaryFolder folder;
  write_npz(folder / "long.npz", with_arrays(three({40000, 8}), {{"v", constant({40000, 8}, infinity)}}));
  opened.open_named(folder / "long.npz");
  const bool was_under_way = opened.computing();
  choose(opened, [](Choice& choice) { choice.chunk_size = 30; });
  if (was_under_way) CHECK_THAT(opened.message(), says("array \"v\""));
  CHECK(opened.data().id == first);
  CHECK(opened.computed()->choice.chunk_size == 30);
}

TEST_CASE("one may close the program, or open something else, in the middle of a long computation") {
  for (int i = 0; i < 3; ++i) {
    Session session;
    session.open_named("preset:random?T=2000&K=32&V=32");
    if (i == 1) session.open_named("preset:copy?T=1000");
    if (i == 2) open(session, first);
    if (i == 2) CHECK(session.data().id == first);
  }
}

TEST_CASE("a session file comes back to the same place in every phase and tile") {
  struct Case {
    const char* data;
    const char* variant;
    Form form;
    bool causal;
  };
  const Case cases[] = {{first, "gated_deltanet", Form::recurrent, true},
                        {"capture:kda_overwrite_l1", "kda", Form::chunkwise, true},
                        {"capture:softmax_names_l17", "softmax", Form::chunkwise, true},
                        {"preset:copy?T=20&K=4&V=3&seed=7", "linear", Form::recurrent, false},
                        {"preset:copy?T=20&K=4&V=3&seed=7", "linear", Form::chunkwise, false},
                        {"preset:copy?T=20&K=4&V=3&seed=7", "linear", Form::parallel, false}};
  for (const Case& one : cases) {
    Begun opened(one.data);
    opened.choose([&](Choice& choice) {
      choice.variant = one.variant;
      choice.form = one.form;
      choice.chunk_size = 7;
      choice.head = 3;
    });
    choose(opened, [&](Choice& choice) {
      set_slider(choice.edits, "scale_keys", 0.9);
      choice.settings.parameters["scale"] = 0.3;
      if (!one.causal) choice.settings.options["causal"] = "false";
    });
    REQUIRE(opened.message().empty());
    for (Cursor cursor = opened.trace()->first();; cursor = opened.trace()->next(cursor)) {
      opened.set_cursor(cursor);
      if (cursor == opened.trace()->last()) break;
      if ((cursor.block * 31 + cursor.operation * 7 + cursor.row) % 23 != 0) continue;
      CAPTURE(one.data, name(one.form), cursor.block, cursor.operation, cursor.row);
      Session other;
      come_back(other, opened.to_json());
      CHECK(other.cursor() == opened.cursor());
      CHECK(other.to_json() == opened.to_json());
    }
    Session other;
    come_back(other, opened.to_json());
    CHECK(other.cursor() == opened.trace()->last());
  }
}

TEST_CASE("a session file that is wrong leaves everything as it was") {
  Begun opened;
  const auto wrong = [&](const std::string& text, const std::string& words) {
    CAPTURE(text);
    fails(opened, words, [&] { CHECK_NOTHROW(open_json(opened, text)); });
  };
  wrong("", "not valid JSON");
  wrong("{}", "\"data\"");
  wrong(R"({"data": 4})", "\"data\" is number; expected a string");
  wrong(R"({"data": "/no/such/file.npz"})", "file.npz");
  wrong(R"({"data": "preset:copy?T=0"})", "T is 0");
  wrong(R"({"data": "preset:copy", "form": "diagonal"})",
        "expected one of: recurrent, chunkwise, two-pass, parallel");
  wrong(R"({"data": "preset:copy", "chunk_size": 2.5})", "\"chunk_size\" is number; expected a whole number");
  wrong(R"({"data": "preset:copy", "chunk_size": -1})", "expected a whole number from 0");
  wrong(R"({"data": "preset:copy", "head": 1e300})", "\"head\"");
  wrong(R"({"data": "preset:copy", "token": 99999999999999999999999})", "\"token\"");
  wrong(R"({"data": "preset:copy", "options": [1]})", "\"options\" is array; expected an object");
  wrong(R"({"data": "preset:copy", "options": {"a": 1}})", "\"a\" is number; expected a string");
  wrong(R"({"data": "preset:copy", "parameters": {"scale": "x"}})", "\"scale\" is string");
  wrong(R"({"data": "preset:copy", "parameters": {"nonsense": 1}})", "has no parameter");
  wrong(R"({"data": "preset:copy", "adjustments": 3})", "\"adjustments\" is number");
  wrong(R"({"data": "preset:copy", "adjustments": {"decay": -2}})", "every decay to this power: it is -2");
}

TEST_CASE("a session file finds data beside it and may ask for a larger chunk than there is") {
  const TemporaryFolder folder;
  write_npz(folder / "mine.npz", three({6, 4}));
  Session session;
  come_back(session, R"({"data": "mine.npz", "variant": "linear", "chunk_size": 1000, "token": 5})", folder);
  CHECK(session.message().empty());
  CHECK(session.choice().chunk_size == 6);
  CHECK(session.token() == 5);
  CHECK(has_valid_cursor(session));
  CHECK(std::filesystem::path(session.data().id).is_absolute());
}

TEST_CASE("a session file that asks for a place that is not there is refused") {
  Begun opened;
  const auto wrong = [&](const std::string& more, const std::string& words) {
    CAPTURE(more);
    fails(opened, words,
          [&] { open_json(opened, R"({"data": "preset:copy?T=20", "variant": "deltanet", )" + more + "}"); });
  };
  wrong(R"("chunk_size": 0)", "\"chunk_size\" is 0; expected a whole number from 1");
  wrong(R"("head": 99)", "\"head\" is 99; expected a head of these data, 0 to 0");
  wrong(R"("token": 9007199254740992)", "\"token\" is 9007199254740992");
  wrong(R"("phase": 9)", "\"phase\" is 9");
  wrong(R"("tile": 3)", "\"tile\" is 3");
  wrong(R"("operation": "nonsense")", "\"operation\" is \"nonsense\"; expected one of: ");
  wrong(R"("form": "parallel", "operation": "decay")", "\"operation\" is \"decay\"");
  wrong(R"("version": 99)", "\"version\" is no field of the session; known: data, ");
  wrong(R"("adjustments": {"gain": 1})", "\"gain\" is no field of \"adjustments\"");
  wrong(R"("parameters": {"scale": 1e999})", "not valid JSON");
  wrong(R"("options": {}, "data": "a\u0000b")", "no file can have this name");
}

TEST_CASE("what is wrong with a saved place names its file") {
  Begun opened;
  const TemporaryFolder folder;
  const auto wrong = [&](const std::string& text, const std::string& words) {
    write_file(folder / "place.json", text);
    fails(opened, (folder / "place.json").string() + ": " + words,
          [&] { opened.open_saved(folder / "place.json"); });
  };
  wrong("{", "it is not valid JSON");
  wrong(R"({"data": "preset:copy", "head": 1e999})", "it is not valid JSON");
  wrong(R"({"data": "preset:copy", "head": 7})", "\"head\" is 7");
  wrong(R"({"data": "preset:copy", "token": 99})", "\"token\" is 99");
  wrong(std::string(2 << 20, ' '), "has more than 1048576 bytes");
  fails(opened, "/dev/zero: is not a regular file", [&] { CHECK_NOTHROW(opened.open_saved("/dev/zero")); });
  fails(opened, "absent.json: no such file",
        [&] { CHECK_NOTHROW(opened.open_saved(folder / "absent.json")); });
}

TEST_CASE("what is wrong with the arrays of a file names it, when its rule takes them") {
  Begun opened;
  const TemporaryFolder folder;
  const auto open_with = [&](const Arrays& more, const std::string& rule) {
    write_npz(folder / "case.npz", with_arrays(three({6, 4}), more),
              {{"meta", R"({"rule": ")" + rule + R"("})"}});
    opened.open_named(folder / "case.npz");
    opened.wait();
    return opened.message().empty();
  };
  const std::string name = (folder / "case.npz").string();
  fails(opened, name, [&] { open_with({{"alpha", numbers({6})}, {"g", numbers({6})}}, "scalar_decay"); });
  fails(opened, name, [&] { open_with({}, "x"); });
  fails(opened, "array \"alpha\": shape [6, 0] has an axis of size 0", [&] {
    open_with({{"alpha", numbers({6, 0})}}, "scalar_decay");
  });
  CHECK(open_with({{"alpha", numbers({6, 0})}}, "linear"));
}
