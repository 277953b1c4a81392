#include "core/base/parallel_for.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("every index is visited once, whatever the number of threads", "[parallel_for]") {
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const Index count : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](Index i) { ++visits[static_cast<std::size_t>(i)]; });
      for (const auto& visited : visits) CHECK(visited == 1);
    }
  }
}

TEST_CASE("the exception of the lowest index is thrown, as in a plain loop", "[parallel_for]") {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::string message;
    try {
      parallel_for(64, 4, [](Index i) {
        if (i >= 11) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK(message == "11");
  }
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
