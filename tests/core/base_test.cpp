#include <sys/resource.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/colour_map.h"
#include "core/base/free_memory.h"
#include "core/base/parallel_for.h"
#include "tests/catch.h"
#include "tests/vision.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr float infinity_f32 = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

double lightness(Rgb8 c) { return as_seen(c)[0]; }

}  // namespace

TEST_CASE("colour map: steps of ordinary and odd values") {
  CHECK(colour_step(0.0F, 1.0F) == 0);
  CHECK(colour_step(-0.0F, 1.0F) == 0);
  CHECK(colour_step(1.0F, 1.0F) == colour_steps);
  CHECK(colour_step(-1.0F, 1.0F) == -colour_steps);
  CHECK(colour_step(0.5F, 1.0F) == (colour_steps + 1) / 2);
  CHECK(colour_step(7.0F, 1.0F) == colour_steps);
  CHECK(colour_step(infinity_f32, 1.0F) == colour_steps);
  CHECK(colour_step(-infinity_f32, 1.0F) == -colour_steps);
  CHECK(colour_step(nan_value, 1.0F) == nan_step);
  CHECK(colour_step(std::numeric_limits<float>::denorm_min(), 1.0F) == 0);
  for (const float range : {1e-29F, 0.001F, 0.3F, 3.0F, 12345.678F, 3e38F}) {
    INFO("range " << range);
    CHECK(colour_step(range, range) == colour_steps);
    CHECK(colour_step(-range, range) == -colour_steps);
  }
}

TEST_CASE("colour map: without a range every number is the paper") {
  for (const float range : {0.0F, -1.0F, 1e-38F, nan_value, infinity_f32}) {
    for (const float value : {0.0F, 1.0F, -1.0F, infinity_f32, 1e-40F}) {
      CHECK(colour_step(value, range) == 0);
    }
    CHECK(colour_step(nan_value, range) == nan_step);
  }
}

TEST_CASE("colour map: it passes through its stops") {
  for (const ColourMap& map : {dark_colour_map, light_colour_map}) {
    CHECK(colour(map, 0, 1) == map.zero);
    CHECK(colour(map, 1, 1) == map.positive[2]);
    CHECK(colour(map, -1, 1) == map.negative[2]);
    CHECK(colour(map, nan_value, 1) == map.nan);
    // A third of the range lies between two steps.
    const Rgb8 third = colour(map, 1.0F / 3, 1);
    CHECK(std::abs(third.red - map.positive[0].red) <= 1);
    CHECK(std::abs(third.green - map.positive[0].green) <= 1);
    CHECK(std::abs(third.blue - map.positive[0].blue) <= 1);
  }
}

TEST_CASE("colour map: lightness alone tells the magnitude") {
  for (const ColourMap& map : {dark_colour_map, light_colour_map}) {
    const double direction = lightness(map.positive[2]) > lightness(map.zero) ? 1 : -1;
    for (const int sign : {-1, 1}) {
      for (int step = 8; step <= colour_steps; ++step) {
        // Over 8 steps, as bytes are too coarse for neighbours.
        const double change =
            lightness(colour_of_step(map, sign * step)) - lightness(colour_of_step(map, sign * (step - 8)));
        INFO("step " << sign * step);
        CHECK(direction * change > 0);
      }
      CHECK(direction * (lightness(colour_of_step(map, sign * colour_steps)) - lightness(map.zero)) > 60);
    }
  }
}

TEST_CASE("colour map: the signs stay apart for the colour blind") {
  for (const ColourMap& map : {dark_colour_map, light_colour_map}) {
    for (int step = colour_steps / 10; step <= colour_steps; ++step) {
      INFO("step " << step);
      const Rgb8 negative = colour_of_step(map, -step);
      const Rgb8 positive = colour_of_step(map, step);
      for (const Vision& vision : {trichromacy, deuteranopia, protanopia})
        CHECK(distance(as_seen(negative, vision), as_seen(positive, vision)) > 5);
    }
  }
}

TEST_CASE("colour map: a faded one keeps the paper") {
  for (const ColourMap& map : {dark_colour_map, light_colour_map}) {
    CHECK(faded(map, 1) == map);
    const ColourMap half = faded(map, 0.5F);
    CHECK(half.zero == map.zero);
    CHECK(std::abs(lightness(half.positive[2]) - lightness(map.zero)) <
          std::abs(lightness(map.positive[2]) - lightness(map.zero)));
    CHECK(colour(faded(map, 0), 1, 1) == map.zero);
  }
}

TEST_CASE("every index is visited once, whatever the number of threads", "[parallel_for]") {
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const Index count : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](Index i) { ++entry(visits, i); });
      for (const auto& visited : visits) CHECK(visited == 1);
    }
  }
}

TEST_CASE("loops inside of loops share the threads of the largest one", "[parallel_for]") {
  constexpr unsigned threads = 16;
  std::mutex mutex;
  std::set<std::thread::id> seen;
  Index visits = 0;
  parallel_for(40, threads, [&](Index) {
    parallel_for(40, threads, [&](Index) {
      const std::scoped_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
      ++visits;
    });
  });
  CHECK(visits == 40 * 40);
  CHECK(seen.size() <= threads);
}

TEST_CASE("the exception of the lowest index is thrown, as in a plain loop", "[parallel_for]") {
  const auto fail_late = [](Index i) {
    if (i >= 11) throw std::runtime_error(std::to_string(i));
  };
  for (int repeat = 0; repeat < 50; ++repeat) CHECK_THROWS_WITH(parallel_for(64, 4, fail_late), "11");
}

TEST_CASE("what is made in parallel comes in order, or not at all when somebody asks to stop",
          "[parallel_for]") {
  const auto squares = made_in_parallel(100, {}, [](std::size_t i) { return i * i; });
  REQUIRE(squares.size() == 100);
  for (std::size_t i = 0; i < squares.size(); ++i) CHECK(squares[i] == i * i);
  CHECK(made_in_parallel(0, {}, [](std::size_t i) { return i; }).empty());

  std::stop_source source;
  std::atomic<int> made = 0;
  CHECK_THROWS_AS(made_in_parallel(100, source.get_token(),
                                   [&](std::size_t) {
                                     source.request_stop();
                                     return ++made;
                                   }),
                  Cancelled);
  CHECK(made <= static_cast<int>(processor_threads()));
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("memory that is kept is taken again without the system") {
  const auto faults = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  constexpr std::size_t bytes = 20 << 20;  // 5,120 pages
  const auto take = [] { return std::vector<char>(bytes, 1); };
  const auto faults_of_the_second = [&] {
    const char first = take().back();
    const auto before = faults();
    return first == take().back() ? faults() - before : 0;
  };
  keep_little_free_memory();  // whatever tests before have freed
  CHECK(faults_of_the_second() > 5000);
  {
    const KeptMemory kept;
    CHECK(faults_of_the_second() < 100);
  }
  CHECK(faults_of_the_second() > 5000);
}
#endif
