// Ten thousand steps: nothing that lives from frame to frame may grow.

#include "tests/soak.h"

#include <thread>

#include "core/base/random_numbers.h"
#include "tests/core/io/files.h"
#include "tests/frame_watch.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;
using namespace std::chrono_literals;

namespace {

constexpr int tenths = 10;
constexpr int steps_in_a_tenth = 1000;
constexpr int steps_in_a_form = 8;
constexpr double most_megabytes = 2000;  // far more than is needed: a leak shall not take the machine with it

/// Goes through variants and forms, themes, data and sliders. A tenth of the steps goes through all variants
/// and forms once.
class LongWalk {
 public:
  explicit LongWalk(Application& application) : application_(application) {}

  void step() {
    if (count_ % steps_in_a_form == 0) next_form();
    if (count_ % 40 == 20) open();
    if (count_ % 5 == 3) drag();
    // Two forwards, one back, by each grain in turn.
    constexpr Session::Grain grains[] = {Session::Grain::operation, Session::Grain::operation,
                                         Session::Grain::token, Session::Grain::chunk};
    application_.step(grains[count_ / 3 % 4], count_ % 3 == 2 ? -1 : 1);
    ++count_;
  }

 private:
  void next_form() {
    const auto table = variants();
    const int turn = count_ / steps_in_a_form;
    application_.change_view(
        [&](ViewOptions& view) { view.theme = turn % 2 == 0 ? Theme::dark : Theme::light; });
    application_.session.choose([&](Choice& choice) {
      choice.variant = table[static_cast<std::size_t>(turn / 4) % table.size()].id;
      choice.form = all_forms[turn % 4];
      choice.precision = turn % 3 == 0 ? Precision::f32 : Precision::f64;
    });
    application_.session.wait();
  }

  void open() {
    const auto table = presets();
    const Preset& preset = table[static_cast<std::size_t>(count_ / 40) % table.size()];
    const std::string variant = application_.session.choice().variant;
    application_.session.open_named(
        preset_id(preset, {.tokens = std::max<Index>(12, preset.fewest_tokens), .dk = 4, .dv = 5}));
    application_.session.choose([&](Choice& choice) { choice.variant = variant; });
  }

  void drag() {
    application_.session.choose([&](Choice& choice) {
      set_slider(choice.edits, "scale_decay", 0.01 * static_cast<double>(count_ % 200));
      set_slider(choice.edits, "scale_keys", 0.5 + 0.005 * static_cast<double>(count_ % 97));
    });
  }

  Application& application_;
  int count_ = 0;
};

}  // namespace

// Every step lays out a frame; its pixels are filled once in a tenth.
TEST_CASE("ten thousand steps leave no more behind than a thousand", "[soak]") {
  Application application;
  Offscreen offscreen(1280, 800);
  const auto draw = [&] { application.draw(1); };
  Player player(application, [&] { offscreen.pass(draw); });
  LongWalk walk(application);
  open_overwriting(application.session);
  Holdings first;
  for (int tenth = 1; tenth <= tenths; ++tenth) {
    for (int i = 0; i < steps_in_a_tenth; ++i) {
      walk.step();
      offscreen.pass(draw);
      if (i % 50 == 0) player.drag_somewhere();
      REQUIRE(application.undrawn() == "");
      if (i % 100 == 0) REQUIRE(resident_megabytes() < most_megabytes);
    }
    offscreen.render(draw, 1);
    player.rest();
    const Holdings now = holdings();
    if (tenth == 1) first = now;
    INFO("after a tenth: " << words(first));
    INFO("after " << tenth << " tenths: " << words(now));
    constexpr int shown_by_chance =
        20;  // what was scrolled and clicked changes a little what rest looks like
    REQUIRE(now.faces == first.faces);
    REQUIRE(now.textures <= first.textures + shown_by_chance);
    REQUIRE(now.layouts <= first.layouts + shown_by_chance);
    REQUIRE(now.pictures <= first.pictures + shown_by_chance);
    REQUIRE(now.computations == 1);
    REQUIRE(now.windows <= first.windows + shown_by_chance);
    if (!is_sanitized) REQUIRE(now.mappings <= first.mappings + shown_by_chance);
    REQUIRE(now.heap <= first.heap + 4);
  }
}

TEST_CASE("the memory of long data is given back when shorter ones are opened", "[soak]") {
  keep_little_free_memory();  // as the program does
  const TemporaryFolder folder;
  constexpr Index tokens = 8192;
  Arrays arrays;
  for (const char* const name : {"q", "k", "v"})
    arrays[name] = array_of(RandomNumbers(1, name).normal(2 * tokens, 64) / 8, {tokens, 2, 64});
  arrays["g"] = Array({tokens, 2}, std::vector<double>(2 * tokens, -0.01));
  arrays["beta"] = Array({tokens, 2}, std::vector<double>(2 * tokens, 0.5));
  write_npz(folder / "long.npz", arrays);
  arrays.clear();

  Application application;
  Offscreen offscreen(1280, 800);
  const auto draw = [&] { application.draw(1); };
  Player player(application, [&] { offscreen.pass(draw); });
  const auto see_everything = [&] {
    for (const Workspace& workspace : application.workspaces()) {
      application.enter(workspace.id);
      for (int frame = 0; frame < 4; ++frame) {
        offscreen.pass(draw);
        application.session.wait();
      }
    }
    offscreen.render(draw, 1);
    application.enter("step");
  };
  open_overwriting(application.session);
  application.session.wait();
  see_everything();
  player.rest();
  const Holdings before = holdings();
  application.session.open_named((folder / "long.npz").string());
  application.session.wait();
  REQUIRE(application.session.message() == "");
  see_everything();
  const Holdings at_most = holdings();
  player.rest();
  const Holdings after = holdings();
  INFO("before: " << words(before) << "\nwith long data: " << words(at_most) << "\nafter: " << words(after));
  CHECK(at_most.heap > 1.5 * before.heap);
  CHECK(after.computations == 1);
  CHECK(after.heap <= 1.2 * before.heap);
  constexpr double kept = 12 * 4;  // MB: at the end of the heap of each thread, of at most a dozen
  if (!is_sanitized) CHECK(after.resident <= before.resident + kept);
}

// The soak test fails where a frame takes more than a second: what waits counts, and so does what computes.
TEST_CASE("the longest frames are named with the act that they came from", "[soak]") {
  FrameWatch watch;
  watch.built("nothing");
  watch.begin();
  std::this_thread::sleep_for(20ms);
  watch.built("waiting");
  watch.begin();
  std::this_thread::sleep_for(20ms);
  watch.begin();  // not a person's doing
  watch.built("afterwards");
  REQUIRE(watch.count() == 3);
  REQUIRE(watch.longest().size() == 3);
  CHECK(watch.longest().front().act == "waiting");
  CHECK(watch.longest().front().seconds > 0.01);
  CHECK(watch.longest().front().seconds <= watch.longest().front().by_clock);
  for (int i = 0; i < 100; ++i) watch.built("more");
  CHECK(watch.longest().size() == 5);
  CHECK(watch.longest().front().act == "waiting");
}

TEST_CASE("what a thread has freed is given back while it waits for more to do", "[memory]") {
  if (is_sanitized) return;  // its heap is not glibc's
  constexpr std::size_t pieces = 480;
  constexpr std::size_t piece = std::size_t{64} << 10;  // bytes: 30 MB in all
  keep_little_free_memory();
  double used = 0;
  double kept = 0;
  std::thread([&] {
    // glibc learns from this that blocks of its size come and go.
    used = static_cast<double>(std::vector<char>(std::size_t{24} << 20, 'x').back());
    give_back_free_memory();  // what other tests left free would be taken first
    const double before = resident_megabytes();
    std::vector<std::vector<char>> blocks;
    for (std::size_t i = 0; i < pieces; ++i) blocks.emplace_back(piece, 'x');
    used = resident_megabytes() - before;
    blocks = {};
    give_back_free_memory();
    kept = resident_megabytes() - before;
  }).join();
  CHECK(used > 28);
  CHECK(kept < 8);  // 4 MB at the end of the heap, and what else the process has taken meanwhile
}
