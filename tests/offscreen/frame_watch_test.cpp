#include "tests/frame_watch.h"

#include <thread>

#include "tests/catch.h"

using namespace palimpsest::testing;
using namespace std::chrono_literals;

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
