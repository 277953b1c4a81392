#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/views/timeline_columns.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

/// The program in a window, with one of its data open.
struct Drawn {
  Application application;
  Offscreen offscreen{1280, 800};

  Drawn() {
    application.open_first_capture();
    application.session.wait();
  }

  void choose(const std::string& variant, Form form) {
    Choice choice = application.session.choice();
    choice.variant = variant;
    choice.form = form;
    choice.chunk_size = 4;
    application.session.choose(std::move(choice));
    application.session.wait();
    REQUIRE(application.session.trace() != nullptr);
    offscreen.render([&] { application.draw(1); });
  }
};

}  // namespace

TEST_CASE("the floor draws the groups that the form takes together", "[timeline]") {
  Drawn drawn;
  struct Expected {
    const char* variant;
    Form form;
    const char* word;  // of the captions, with the number of the group
    Index size;
  };
  const Expected all[] = {
      {"gated_deltanet", Form::recurrent, "chunk ", 4}, {"gated_deltanet", Form::chunkwise, "chunk ", 4},
      {"softmax", Form::chunkwise, "chunk ", 4},        {"lact", Form::recurrent, "batch ", 16},
      {"lact", Form::chunkwise, "batch ", 16},          {"ttt_linear", Form::recurrent, "batch ", 8},
      {"ttt_linear", Form::chunkwise, "batch ", 8}};
  for (const Expected& each : all) {
    CAPTURE(each.variant, name(each.form));
    drawn.choose(each.variant, each.form);
    const TimelineMap& map = timeline_map();
    CHECK(map.groups.size() > 1);
    const Trace& trace = *drawn.application.session.trace();
    for (const TimelineMap::Group& group : map.groups) {
      CHECK(group.count == std::min(each.size, trace.tokens - group.first));
      CHECK(group.words == each.word + std::to_string(group.first / each.size));
    }
  }
  drawn.choose("gated_deltanet", Form::parallel);
  REQUIRE(timeline_map().groups.size() == 1);
  CHECK(timeline_map().groups.front().words == "the whole sequence");
  CHECK(timeline_map().groups.front().count == drawn.application.session.trace()->tokens);
}

TEST_CASE("the floor's bars have one scale for all rules", "[timeline]") {
  Drawn drawn;
  std::vector<double> scales;
  for (const char* variant : {"linear", "deltanet", "gated_deltanet", "lact"}) {
    drawn.choose(variant, Form::recurrent);
    scales.push_back(context_local<TimelineView>().largest_error);
  }
  CHECK(scales.front() > 0);
  for (const double scale : scales) CHECK(scale == scales.front());
}
