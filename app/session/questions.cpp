#include "app/session/questions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>

#include "core/base/parallel_for.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t frames_between_sweeps = 64;  // there may be thousands of values

}  // namespace

std::uint64_t next_version() {
  static std::atomic<std::uint64_t> version{0};
  return ++version;
}

/// One question and its state.
struct Questions::Entry {
  AnyQuestion question;
  Urgency urgency;
  bool is_under_way = true;
  std::uint64_t wanted_in = 0;  // the last frame in which it was asked
  Clock::time_point since = Clock::now();
  std::stop_source stop = {};
  std::atomic<double> progress = 0;
  std::shared_ptr<const void> value = {};
  std::size_t bytes = 0;
  std::string reason = {};
};

Questions::Questions(unsigned threads, std::size_t budget)
    // Questions that take long leave one thread to the others.
    : thread_count_(threads == no_threads      ? 0
                    : threads == usual_threads ? std::max(processor_threads(), 3U) - 1
                                               : threads),
      budget_(budget) {}

Questions::~Questions() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
    for (const auto& entry : running_) entry->stop.request_stop();
  }
  wished_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Known<void> Questions::ask_any(const AnyQuestion& question, Urgency urgency) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<Entry> entry = find(question);
  if (!entry) {
    entry = std::make_shared<Entry>(question, urgency);
    places_.emplace(question, entries_.insert(entries_.end(), entry));
    waiting_.push_back(entry);
    start_threads();
    wished_.notify_one();
  }
  entry->wanted_in = frame_;
  entry->urgency = std::min(entry->urgency, urgency);
  entries_.splice(entries_.end(), entries_, places_.at(question));
  Known<void> known = {.value = entry->value,
                       .under_way = entry->is_under_way,
                       .progress = entry->progress,
                       .reason = entry->reason};
  if (!known.under_way) return known;
  if (urgency < Urgency::aside) busy_ = true;
  known.seconds = std::chrono::duration<double>(Clock::now() - entry->since).count();
  if (const auto last = last_.find({question.type(), question->subject()}); last != last_.end()) {
    known.value = last->second.lock();
    known.stale = known.value != nullptr;
  }
  return known;
}

void Questions::give_up(const AnyQuestion& question) {
  const std::scoped_lock lock(mutex_);
  const std::shared_ptr<Entry> entry = find(question);
  if (!entry || !entry->is_under_way) return;
  entry->stop.request_stop();
  std::erase(waiting_, entry);
  entry->is_under_way = false;
  entry->reason = was_stopped;
  finished_.notify_all();
}

void Questions::forget(const AnyQuestion& question) {
  const std::scoped_lock lock(mutex_);
  if (const std::shared_ptr<Entry> entry = find(question)) remove(entry);
}

void Questions::forget_kind(std::type_index kind) {
  const std::scoped_lock lock(mutex_);
  for (auto place = entries_.begin(); place != entries_.end();) {
    const std::shared_ptr<Entry> entry = *place++;
    if (entry->question.type() == kind) remove(entry);
  }
}

void Questions::let_go(std::shared_ptr<const void> thing) {
  const std::scoped_lock lock(mutex_);
  released_.push_back(std::move(thing));
  start_threads();
  wished_.notify_one();
}

void Questions::frame() {
  const std::scoped_lock lock(mutex_);
  for (const auto& list : {waiting_, running_}) {
    for (const auto& entry : list) {
      if (entry->is_under_way && entry->wanted_in < frame_) remove(entry);
    }
  }
  ++frame_;
  busy_ = false;
  // Most of them come first, since they have not been used for long.
  while (!entries_.empty() && entries_.front()->question->is_gone())
    remove(std::shared_ptr(entries_.front()));
  if (frame_ % frames_between_sweeps == 0) sweep();
  shrink();
}

bool Questions::busy() const {
  const std::scoped_lock lock(mutex_);
  return busy_;
}

/// Waits until threads have done what is awaited, or does it.
template <class Condition>
void Questions::wait_until(std::unique_lock<std::mutex>& lock, const Condition& is_met) {
  while (threads_.empty() && !is_met() && work_once(lock)) continue;
  finished_.wait(lock, is_met);
}

void Questions::wait() {
  std::unique_lock lock(mutex_);
  is_awaited_ = true;
  wished_.notify_all();
  wait_until(lock, [this] {
    // What was given up ends soon, and is waited for.
    const auto is_ahead = [](const auto& entry) {
      return entry->urgency == Urgency::ahead && entry->is_under_way;
    };
    return std::ranges::all_of(waiting_, is_ahead) && std::ranges::all_of(running_, is_ahead) &&
           released_.empty() && freeing_ == 0;
  });
  is_awaited_ = false;
  wished_.notify_all();
}

void Questions::wait_for(const AnyQuestion& question) {
  std::unique_lock lock(mutex_);
  wait_until(lock, [&] {
    const std::shared_ptr<Entry> entry = find(question);
    return !entry || !entry->is_under_way;
  });
}

std::size_t Questions::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

std::shared_ptr<Questions::Entry> Questions::find(const AnyQuestion& question) const {
  const auto place = places_.find(question);
  return place == places_.end() ? nullptr : *place->second;
}

void Questions::start_threads() {
  try {
    while (threads_.size() < thread_count_) threads_.emplace_back([this] { work_on(); });
  } catch (const std::system_error&) {
    thread_count_ = static_cast<unsigned>(threads_.size());
  }
}

/// Removes an entry, and stops it if it is running. A running computation ends later; its value is dropped.
void Questions::remove(const std::shared_ptr<Entry>& entry) {
  if (entry->is_under_way) {
    entry->stop.request_stop();
    entry->is_under_way = false;
    std::erase(waiting_, entry);
  }
  bytes_ -= entry->bytes;
  const auto place = places_.find(entry->question);
  released_.push_back(entry);
  entries_.erase(place->second);
  places_.erase(place);
  finished_.notify_all();
  wished_.notify_one();
}

/// Forgets questions whose subject is gone, and those that exceed most_kept of their kind.
void Questions::sweep() {
  std::map<std::type_index, std::size_t> seen;
  for (auto place = entries_.end(); place != entries_.begin();) {
    const std::shared_ptr<Entry> entry = *--place;
    const bool is_one_too_many =
        ++seen[entry->question.type()] > entry->question->most_kept() && !is_wanted(*entry);
    if (!entry->question->is_gone() && !is_one_too_many) continue;
    ++place;  // stays where it is when the one before it goes
    remove(entry);
  }
}

/// Whether it is under way, or was asked for in the last frame.
bool Questions::is_wanted(const Entry& entry) const {
  return entry.is_under_way || entry.wanted_in + 1 >= frame_;
}

/// Shrinks to the budget. Values that were requested in the last frame stay, and so do values that someone
/// holds: forgetting them would free nothing.
void Questions::shrink() {
  for (auto place = entries_.begin(); place != entries_.end() && bytes_ > budget_;) {
    const std::shared_ptr<Entry> entry = *place++;
    if (!is_wanted(*entry) && entry->value.use_count() <= 1) remove(entry);
  }
}

/// Frees what was let go or taken out, while others may work.
void Questions::free_released(std::unique_lock<std::mutex>& lock) {
  std::vector<std::shared_ptr<const void>> things;
  things.swap(released_);
  ++freeing_;
  lock.unlock();
  things.clear();
  lock.lock();
  --freeing_;
  std::erase_if(last_, [](const auto& last) { return last.second.expired(); });
  finished_.notify_all();
}

/// The newest of the most urgent wishes that may be begun; null if there is none.
std::shared_ptr<Questions::Entry> Questions::next() const {
  const auto rank = [](const std::shared_ptr<Entry>& entry) {
    return entry->urgency == Urgency::ahead ? 2 : entry->urgency == Urgency::now ? 0 : 1;
  };
  const auto late = static_cast<unsigned>(
      std::ranges::count_if(running_, [&](const std::shared_ptr<Entry>& entry) { return rank(entry) > 0; }));
  const bool leaves_a_thread = thread_count_ <= 1 || late + 1 < thread_count_;
  const int most = is_awaited_ ? 1 : leaves_a_thread ? 2 : 0;  // who waits for all waits for none ahead
  std::shared_ptr<Entry> latest;
  for (const std::shared_ptr<Entry>& entry : waiting_)
    if (rank(entry) <= (latest ? rank(latest) : most)) latest = entry;
  return latest;
}

bool Questions::work() {
  std::unique_lock lock(mutex_);
  return threads_.empty() && work_once(lock);
}

/// What each thread does.
void Questions::work_on() {
  std::unique_lock lock(mutex_);
  while (true) {
    wished_.wait(lock, [&] { return closing_ || !released_.empty() || next(); });
    if (closing_) return;
    work_once(lock);
  }
}

/// Frees what was released, or answers one question; without the lock meanwhile. Returns whether there was
/// something to do.
bool Questions::work_once(std::unique_lock<std::mutex>& lock) {
  if (!released_.empty()) {
    free_released(lock);
    return true;
  }
  std::shared_ptr<Entry> entry = next();
  if (!entry) return false;
  std::erase(waiting_, entry);
  running_.push_back(entry);
  const Effort effort = {entry->stop.get_token(), [&progress = entry->progress](double share) {
                           progress = std::clamp(share, 0.0, 1.0);
                         }};
  lock.unlock();

  std::shared_ptr<const void> value;
  std::size_t bytes = 0;
  std::string reason;
  bool is_cancelled = false;
  try {
    value = entry->question->find(effort, bytes);
  } catch (const Cancelled&) {
    is_cancelled = true;
  } catch (...) {
    reason = problem_in_words();
  }

  lock.lock();
  std::erase(running_, entry);
  const bool is_wanted = entry->is_under_way;
  if (is_wanted && is_cancelled) {
    remove(entry);
  } else if (is_wanted) {
    entry->is_under_way = false;
    entry->reason = std::move(reason);
    entry->value = std::move(value);
    entry->bytes = bytes + sizeof(Entry);
    bytes_ += entry->bytes;
    const std::string subject = entry->question->subject();
    if (entry->value && !subject.empty()) last_[{entry->question.type(), subject}] = entry->value;
    shrink();
  }
  wished_.notify_one();  // a thread is free: one that may take long may begin
  finished_.notify_all();
  released_.insert(released_.end(), {std::move(entry), std::move(value)});
  return true;
}

}  // namespace palimpsest
