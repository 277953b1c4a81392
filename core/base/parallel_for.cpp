#include "core/base/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace palimpsest {

namespace {

unsigned given_threads = 0;  // 0: as many as the processor runs

/// Threads that help with loops. They stay: beginning one takes longer than many a loop, and in a page one
/// that cannot begin leaves its stack behind (Emscripten 3.1.69, pthread_create.c).
class Helpers {
 public:
  /// Never destroyed, as they wait until the process ends.
  static Helpers& all() {
    static Helpers& helpers = *new Helpers;
    return helpers;
  }

  /// Does `work` in this thread and in up to `wanted` others that have nothing to do, until all have ended.
  void share(Index wanted, const std::function<void()>& work) {
    Job job = {work, wanted};
    {
      const std::scoped_lock lock(mutex_);
      grow(wanted);
      jobs_.push_back(&job);
    }
    offered_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    ended_.wait(lock, [&] { return job.helping == 0; });
  }

 private:
  struct Job {
    const std::function<void()>& work;  // throws nothing
    Index wanted = 0;                   // further threads
    Index helping = 0;
  };

  void grow(Index wanted) {
    try {
      for (; count_ < wanted && can_grow_; ++count_) std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {
      can_grow_ = false;  // fewer threads only take longer
    }
  }

  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      offered_.wait(lock, [&] { return !jobs_.empty(); });
      Job& job = *jobs_.front();
      if (--job.wanted == 0) std::erase(jobs_, &job);
      ++job.helping;
      lock.unlock();
      job.work();
      lock.lock();
      if (--job.helping == 0) ended_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable offered_;
  std::condition_variable ended_;
  std::vector<Job*> jobs_;  // that want help
  Index count_ = 0;
  bool can_grow_ = true;
};

}  // namespace

void parallel_for(Index count, unsigned threads, const std::function<void(Index)>& body) {
  std::atomic<Index> next = 0;
  std::mutex mutex;
  Index failed = count;
  std::exception_ptr failure;
  // Indices are handed out in order, so every index below a failing one is tried as well.
  const auto work = [&] {
    for (Index i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        next = count;
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
      }
    }
  };
  const Index wanted = std::min<Index>(count, threads) - 1;
  if (wanted > 0)
    Helpers::all().share(wanted, work);
  else
    work();
  if (failure) std::rethrow_exception(failure);
}

unsigned processor_threads() {
  return given_threads > 0 ? given_threads : std::max(1U, std::thread::hardware_concurrency());
}

void use_threads(unsigned count) { given_threads = count; }

}  // namespace palimpsest
