#pragma once

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <typeindex>
#include <utility>
#include <vector>

namespace palimpsest {

/// The reason why there is no value where somebody stopped it.
inline constexpr std::string_view was_stopped = "Stopped.";

/// What a question has come to.
template <class Value>
struct Answer {
  std::shared_ptr<const Value> value;  // null: there is none yet, or none at all
  bool stale = false;                  // `value` is the last answer to another key of the same question
  bool under_way = false;              // it will come
  double progress = 0;                 // from 0 to 1, of what is under way
  double seconds = 0;                  // for how long it has been wanted while it was not there
  std::string reason;                  // why there is no value, in words
};

/// What a computation hears and tells while it runs.
struct Effort {
  std::stop_token stop;                  // nobody wants it any more: throw Cancelled
  std::function<void(double)> progress;  // tells how much is done, from 0 to 1
};

/// How soon an answer is wanted.
enum class Urgency {
  now,    // somebody looks at the place where it will stand
  later,  // may take long: leaves a thread to those that are wanted now
  aside   // the same, and nobody waits for it: no frame is drawn for its sake
};

/// What can be asked for. A key is a small value: what the answer depends on, in an order (<), and from where
/// it is computed, which it must not keep alive (std::weak_ptr) unless that is small.
template <class Key>
concept Answerable = std::copyable<Key> && requires(const Key& key, const typename Key::Value& value) {
  { key < key } -> std::convertible_to<bool>;
  // Runs in another thread. What it throws is the reason why there is no answer.
  { key.compute(Effort()) } -> std::convertible_to<std::shared_ptr<const typename Key::Value>>;
  // How much memory a value takes.
  { Key::bytes(value) } -> std::convertible_to<std::size_t>;
};

/// A key may also have `std::string question() const`: until its own answer is there, the last one with the
/// same question stands for it.
template <class Key>
concept HasQuestion = requires(const Key& key) {
  { key.question() } -> std::convertible_to<std::string>;
};

/// And `bool gone() const`: nobody can ask for it again, because what it is computed from is no more.
template <class Key>
concept MayBeGone = requires(const Key& key) {
  { key.gone() } -> std::convertible_to<bool>;
};

/// And `static constexpr std::size_t most_kept`: of such keys that stay as good as ever, the last used ones.
template <class Key>
concept KeepsFew = requires {
  { Key::most_kept } -> std::convertible_to<std::size_t>;
};

/// A key of any type, as Answers sees it.
class AnyKey {
 public:
  struct Result {
    std::shared_ptr<const void> value;
    std::size_t bytes = 0;
  };

  virtual ~AnyKey() = default;
  virtual std::type_index type() const = 0;
  /// The order among keys of one type.
  virtual bool is_before(const AnyKey& other) const = 0;
  virtual std::shared_ptr<const AnyKey> copy() const = 0;
  virtual Result compute(const Effort& effort) const = 0;
  virtual std::string question() const = 0;
  virtual bool gone() const = 0;
  virtual std::size_t most_kept() const = 0;
};

/// Answers everything that views ask for: a key says what the answer depends on and how it is computed. That
/// happens in threads of its own, the newest wish first; what nobody asks for any more is cancelled. Answers
/// are kept, within one budget of memory, for all who ask.
class Answers {
 public:
  static constexpr std::size_t usual_budget = std::size_t{512} << 20;

  /// `threads`: 0 for one less than the machine has, at least two. `budget`: bytes.
  explicit Answers(unsigned threads = 0, std::size_t budget = usual_budget);
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  /// What is known now. Never waits: asking again in every frame is how the answer is fetched, and how it
  /// stays wanted.
  template <Answerable Key>
  Answer<typename Key::Value> ask(const Key& key, Urgency urgency = Urgency::now) {
    Answer<void> any = ask_any(Known<Key>(key), urgency);
    return {std::static_pointer_cast<const typename Key::Value>(std::move(any.value)),
            any.stale,
            any.under_way,
            any.progress,
            any.seconds,
            std::move(any.reason)};
  }

  /// Ends what is under way for this key; until it is forgotten, the reason is that somebody stopped it.
  template <Answerable Key>
  void give_up(const Key& key) {
    give_up_any(Known<Key>(key));
  }

  /// Forgets the answer, or the reason why there is none: who asks again has it computed again.
  template <Answerable Key>
  void forget(const Key& key) {
    forget_any(Known<Key>(key));
  }

  /// Lets go of what nobody needs any more: to free much memory takes long, and is done in a thread too.
  void let_go(std::shared_ptr<const void> thing);

  /// Begins a frame: what was not asked for in the last one is cancelled, and what is gone is forgotten.
  void frame();

  /// Whether somebody who asked since frame() was told to wait, and waits.
  bool busy() const;

  /// Waits until everything that was asked for is there, or why not, and what was let go is gone.
  void wait();

  /// Waits for the answer to this key alone, if it was asked for.
  template <Answerable Key>
  void wait_for(const Key& key) {
    wait_for_any(Known<Key>(key));
  }

  /// Bytes of the answers that are kept.
  std::size_t bytes() const;

 private:
  struct Entry;
  using Entries = std::list<std::shared_ptr<Entry>>;
  struct ByKey {
    bool operator()(const AnyKey* x, const AnyKey* y) const {
      return x->type() == y->type() ? x->is_before(*y) : x->type() < y->type();
    }
  };

  template <Answerable Key>
  class Known final : public AnyKey {
   public:
    explicit Known(Key key) : key_(std::move(key)) {}
    std::type_index type() const override { return typeid(Key); }
    bool is_before(const AnyKey& other) const override {
      return key_ < static_cast<const Known&>(other).key_;
    }
    std::shared_ptr<const AnyKey> copy() const override { return std::make_shared<Known>(key_); }
    Result compute(const Effort& effort) const override {
      const std::shared_ptr<const typename Key::Value> value = key_.compute(effort);
      return {value, value ? Key::bytes(*value) : 0};
    }
    std::string question() const override {
      if constexpr (HasQuestion<Key>) return key_.question();
      return {};
    }
    bool gone() const override {
      if constexpr (MayBeGone<Key>) return key_.gone();
      return false;
    }
    std::size_t most_kept() const override {
      if constexpr (KeepsFew<Key>) return Key::most_kept;
      return std::numeric_limits<std::size_t>::max();
    }

   private:
    Key key_;
  };

  Answer<void> ask_any(const AnyKey& key, Urgency urgency);
  void give_up_any(const AnyKey& key);
  void forget_any(const AnyKey& key);
  void wait_for_any(const AnyKey& key);
  std::shared_ptr<Entry> find(const AnyKey& key) const;
  void start_threads();
  void remove(const std::shared_ptr<Entry>& entry);
  void sweep();
  bool is_wanted(const Entry& entry) const;
  void shrink();
  void free_released(std::unique_lock<std::mutex>& lock);
  std::shared_ptr<Entry> next() const;
  void work();

  const unsigned thread_count_;
  const std::size_t budget_;
  mutable std::mutex mutex_;  // of everything below
  std::condition_variable wished_;
  std::condition_variable finished_;
  Entries entries_;  // the least recently used first
  std::map<const AnyKey*, Entries::iterator, ByKey> places_;
  std::vector<std::shared_ptr<Entry>> waiting_;        // the newest last
  std::vector<std::shared_ptr<Entry>> running_;        // also those that are to stop
  std::vector<std::shared_ptr<const void>> released_;  // to be freed
  int freeing_ = 0;                                    // threads that free something
  std::map<std::pair<std::type_index, std::string>, std::weak_ptr<const void>> last_;  // by question
  std::size_t bytes_ = 0;
  std::uint64_t frame_ = 0;
  bool busy_ = false;
  bool closing_ = false;
  std::vector<std::thread> threads_;  // started with the first wish
};

}  // namespace palimpsest
