#include "app/session/worker.h"

#include <utility>

namespace palimpsest {

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
    waiting_ = nullptr;
    running_.request_stop();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::start(Task task) {
  {
    const std::scoped_lock lock(mutex_);
    std::swap(waiting_, task);  // the replaced task is destroyed here, outside the lock
    running_.request_stop();
  }
  changed_.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void Worker::run() {
  while (true) {
    Task task;
    std::stop_token stop;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closing_ || waiting_; });
      if (closing_) return;
      task = std::exchange(waiting_, nullptr);
      running_ = std::stop_source();
      stop = running_.get_token();
    }
    task(stop);
  }
}

}  // namespace palimpsest
