#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace palimpsest {

/// Runs one task at a time in a thread of its own. A new task asks the running one to stop and takes the
/// place of the waiting one, so that of many only the last is sure to run. Nobody waits for a task but the
/// destructor.
class Worker {
 public:
  using Task = std::function<void(std::stop_token)>;

  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Hands over a task that must not throw.
  void start(Task task);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  Task waiting_;
  std::stop_source running_{std::nostopstate};
  bool closing_ = false;
  std::thread thread_;  // started with the first task
};

}  // namespace palimpsest
