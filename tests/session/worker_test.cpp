#include "app/session/worker.h"

#include <atomic>
#include <future>

#include "tests/catch.h"

using palimpsest::Worker;

TEST_CASE("of many tasks the last runs, and the running one is asked to stop") {
  std::promise<void> began;
  std::promise<int> last;
  std::atomic<int> ran = 0;
  std::atomic<bool> stopped = false;
  Worker worker;
  worker.start([&](const std::stop_token& stop) {
    began.set_value();
    while (!stop.stop_requested()) std::this_thread::yield();
    stopped = true;
  });
  began.get_future().wait();
  for (int i = 0; i < 100; ++i) {
    worker.start([&, i](const std::stop_token&) {
      ++ran;
      if (i == 99) last.set_value(i);
    });
  }
  CHECK(last.get_future().get() == 99);
  CHECK(stopped);
  CHECK(ran >= 1);
}

TEST_CASE("a worker that goes asks its task to stop and waits for it") {
  std::atomic<bool> ended = false;
  {
    Worker worker;
    std::promise<void> began;
    worker.start([&](const std::stop_token& stop) {
      began.set_value();
      while (!stop.stop_requested()) std::this_thread::yield();
      ended = true;
    });
    began.get_future().wait();
  }
  CHECK(ended);
}
