#pragma once

#include <Eigen/Core>
#include <compare>
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
#include <ranges>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/contract/sequence.h"

namespace palimpsest {

/// The reason why there is no value if the user stopped the computation.
inline constexpr std::string_view was_stopped = "Stopped.";

/// The current answer to a question.
template <class Value>
struct Known {
  std::shared_ptr<const Value> value;  // null: there is none yet, or none at all
  bool stale = false;                  // `value` belongs to another question about the same subject
  bool under_way = false;              // it will come
  double progress = 0;                 // from 0 to 1, of what is under way
  double seconds = 0;                  // since when it is awaited
  std::string reason;                  // why there is no value, in words
};

struct Effort {
  std::stop_token stop = {};                  // no longer wanted: throw Cancelled
  std::function<void(double)> progress = {};  // tells how much is done, from 0 to 1; may be empty

  void tell(double share) const {
    if (progress) progress(share);
  }
};

/// How soon something is wanted.
enum class Urgency {
  now,    // the user is waiting for it
  later,  // may take long: leaves a thread to those that are `now`
  aside,  // the same, but no frame waits for it, so it causes no new one
  ahead   // and wait() does not either
};

/// The thing that a question is about, without keeping it alive. Ordered by its identity.
template <class Thing>
struct Weak : std::weak_ptr<const Thing> {
  using std::weak_ptr<const Thing>::weak_ptr;

  /// The thing. Throws Cancelled if it no longer exists: who asked about it has gone on.
  std::shared_ptr<const Thing> present() const {
    if (auto thing = this->lock()) return thing;
    throw Cancelled();
  }

  std::strong_ordering operator<=>(const Weak& other) const {
    if (this->owner_before(other)) return std::strong_ordering::less;
    return other.owner_before(*this) ? std::strong_ordering::greater : std::strong_ordering::equal;
  }
  bool operator==(const Weak& other) const { return (*this <=> other) == 0; }
};

/// The bytes that a value holds outside of itself. A struct names its members that hold some:
/// `auto parts() const { return std::tie(weights, shares); }`; for other structs there is
/// `auto parts_of(const Struct&)` in their namespace.
template <class Value>
std::size_t held_by(const Value& value);

/// All that a value takes.
template <class Value>
std::size_t memory_of(const Value& value) {
  return sizeof(Value) + held_by(value);
}

template <class Value>
std::size_t held_by(const Value& value) {
  const auto of_all = [](const auto&... parts) { return (std::size_t{0} + ... + held_by(parts)); };
  if constexpr (requires { value.parts(); }) {
    return std::apply(of_all, value.parts());
  } else if constexpr (requires { parts_of(value); }) {
    return std::apply(of_all, parts_of(value));
  } else if constexpr (std::is_base_of_v<Eigen::EigenBase<Value>, Value>) {
    return static_cast<std::size_t>(value.size()) * sizeof(typename Value::Scalar);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return value.capacity() > sizeof(std::string) ? value.capacity() : 0;
  } else if constexpr (requires { value.has_value(); }) {
    return value ? held_by(*value) : 0;
  } else if constexpr (requires { value.second; }) {
    return held_by(value.first) + held_by(value.second);
  } else if constexpr (requires { value.get(); }) {
    return value ? memory_of(*value) : 0;
  } else if constexpr (std::ranges::sized_range<Value>) {
    std::size_t bytes = value.size() * sizeof(*value.begin());
    if constexpr (!std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*value.begin())>>) {
      for (const auto& entry : value) bytes += held_by(entry);
    }
    return bytes;
  } else {
    return 0;
  }
}

/// A value that was found, and how much memory it takes.
template <class Value>
struct Found {
  std::shared_ptr<const Value> value;
  std::size_t bytes = 0;

  template <class Given>
  requires std::convertible_to<Given, Value> Found(Given&& given)
      : Found(std::make_shared<const Value>(std::forward<Given>(given))) {}
  Found(std::shared_ptr<const Value> shared)
      : value(std::move(shared)), bytes(value ? memory_of(*value) : 0) {}
  Found(std::shared_ptr<const Value> shared, std::size_t size) : value(std::move(shared)), bytes(size) {}

  const Value& operator*() const { return *value; }
  const Value* operator->() const { return value.get(); }
  operator const std::shared_ptr<const Value>&() const { return value; }
};

template <class Key, class Value>
Value found_by(Found<Value> (Key::*)(const Effort&) const);
template <class Key, class Value, class Thing>
Value found_by(Found<Value> (Key::*)(const Thing&, const Effort&) const);

/// The value of a question. A question computes it by `Found<Value> compute(const Effort&) const` or, if it
/// is about a thing, in a field `Weak<Thing> of`, by `Found<Value> compute(const Thing&, const Effort&)
/// const`.
template <class Key>
using ValueOf = decltype(found_by(&Key::compute));

/// A question: a small value with an order (<), usually
/// `auto operator<=>(const X&) const = default`. It may also have
/// - `std::string subject() const`, or `subject(const Thing&)`: until its own value is there, the last one
/// with
///   the same subject is used; the default is subject_of() the thing that it is about;
/// - `static constexpr std::size_t most_kept`: of such values, those used last.
template <class Key>
concept Question = requires(const Key& key) {
  typename ValueOf<Key>;
  { key < key } -> std::convertible_to<bool>;
};

/// Computes the value of a question in this thread. Throws what its compute() throws, which is the reason why
/// there is no value, and Cancelled if the thing that it is about no longer exists.
template <Question Key>
Found<ValueOf<Key>> find_out(const Key& question, const Effort& effort = {}) {
  if constexpr (requires { question.compute(effort); }) {
    return question.compute(effort);
  } else {
    return question.compute(*question.of.present(), effort);
  }
}

/// The subject of questions about a thing; empty: nothing stands for them.
template <class Thing>
std::string subject_of(const Thing&) {
  return {};
}

/// A number that is unique in this process, for a value that is drawn.
std::uint64_t next_version();

/// A question of any type, as Questions sees it.
struct AskedQuestion {
  virtual ~AskedQuestion() = default;
  virtual bool is_before(const AskedQuestion& other) const = 0;  // of the same type
  virtual std::shared_ptr<const void> find(const Effort& effort, std::size_t& bytes) const = 0;
  virtual std::string subject() const = 0;
  virtual bool is_gone() const = 0;  // its subject no longer exists, so it cannot be asked again
  virtual std::size_t most_kept() const = 0;
};

template <Question Key>
struct AskedKey final : AskedQuestion {
  explicit AskedKey(const Key& asked) : key(asked) {}

  bool is_before(const AskedQuestion& other) const override {
    return key < static_cast<const AskedKey&>(other).key;
  }
  std::shared_ptr<const void> find(const Effort& effort, std::size_t& bytes) const override {
    Found<ValueOf<Key>> found = find_out(key, effort);
    bytes = found.bytes;
    return std::move(found.value);
  }
  std::string subject() const override {
    if constexpr (requires { key.subject(); }) {
      return key.subject();
    } else if constexpr (requires { key.of.lock(); }) {
      const auto thing = key.of.lock();
      if (!thing) return {};
      if constexpr (requires { key.subject(*thing); }) return key.subject(*thing);
      return subject_of(*thing);
    }
    return {};
  }
  bool is_gone() const override {
    if constexpr (requires { key.of.expired(); }) return key.of.expired();
    return false;
  }
  std::size_t most_kept() const override {
    if constexpr (requires { Key::most_kept; }) return Key::most_kept;
    return std::numeric_limits<std::size_t>::max();
  }

  Key key;
};

/// Any question, made of each by itself.
struct AnyQuestion : std::shared_ptr<const AskedQuestion> {
  template <Question Key>
  AnyQuestion(const Key& key) : std::shared_ptr<const AskedQuestion>(std::make_shared<AskedKey<Key>>(key)) {}

  std::type_index type() const { return typeid(**this); }
  bool operator<(const AnyQuestion& other) const {
    return type() == other.type() ? (*this)->is_before(*other) : type() < other.type();
  }
};

/// Computes answers to questions in threads of its own, the newest request first; where none can be started,
/// as in a page that is not isolated, one after the other in frame(). A question says what its value depends
/// on and how it is computed. What is no longer requested is cancelled. Values are cached within one budget
/// of memory.
class Questions {
 public:
  static constexpr std::size_t usual_budget = std::size_t{has_little_memory ? 48 : 512} << 20;

  static constexpr unsigned usual_threads = 0;  // one less than the machine has, at least two
  static constexpr unsigned no_threads = ~0U;

  /// `budget`: bytes.
  explicit Questions(unsigned threads = usual_threads, std::size_t budget = usual_budget);
  ~Questions();

  /// What is known now. Never waits: asking again in every frame is how the value is fetched, and how it
  /// stays wanted.
  template <Question Key>
  Known<ValueOf<Key>> ask(const Key& key, Urgency urgency = Urgency::now) {
    const auto [value, stale, under_way, progress, seconds, reason] = ask_any(key, urgency);
    return {std::static_pointer_cast<const ValueOf<Key>>(value), stale, under_way, progress, seconds, reason};
  }

  /// Stops the computation for this question; until it is forgotten, the reason is was_stopped.
  void give_up(const AnyQuestion& question);

  /// Forgets the value, or the reason why there is none: who asks again has it computed again.
  void forget(const AnyQuestion& question);

  /// Forgets the values of all questions of a type.
  template <Question Key>
  void forget_all() {
    forget_kind(typeid(AskedKey<Key>));
  }

  /// Frees a thing in another thread, as freeing much memory takes long.
  void let_go(std::shared_ptr<const void> thing);

  /// Begins a frame: what was not asked for in the last one is cancelled, and what is gone is forgotten.
  /// Without threads it computes for a few hundredths of a second, or one answer that takes longer.
  void frame();

  /// Without threads: does in this one what one of them would do next. Returns whether there was something.
  bool work();

  /// Whether somebody who asked since frame() was told to wait, and waits.
  bool busy() const;

  /// Waits until everything that was asked for is there, or why not, and what was let go is gone; not for
  /// what is computed ahead.
  void wait();

  /// Waits for this alone, if it was asked for.
  void wait_for(const AnyQuestion& question);

  /// Bytes of the values that are kept.
  std::size_t bytes() const;

 private:
  void forget_kind(std::type_index kind);
  struct Entry;
  using Entries = std::list<std::shared_ptr<Entry>>;

  Known<void> ask_any(const AnyQuestion& question, Urgency urgency);
  std::shared_ptr<Entry> find(const AnyQuestion& question) const;
  void start_threads();
  void remove(const std::shared_ptr<Entry>& entry);
  void sweep();
  bool is_wanted(const Entry& entry) const;
  void shrink();
  void free_released(std::unique_lock<std::mutex>& lock);
  std::shared_ptr<Entry> next() const;
  bool work_once(std::unique_lock<std::mutex>& lock);
  void work_on();
  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, const Condition& is_met);

  unsigned thread_count_;
  const std::size_t budget_;
  mutable std::mutex mutex_;  // of everything below
  std::condition_variable wished_;
  std::condition_variable finished_;
  Entries entries_;  // the least recently used first
  std::map<AnyQuestion, Entries::iterator> places_;
  std::vector<std::shared_ptr<Entry>> waiting_;        // the newest last
  std::vector<std::shared_ptr<Entry>> running_;        // also those that are to stop
  std::vector<std::shared_ptr<const void>> released_;  // to be freed
  int freeing_ = 0;                                    // threads that free something
  std::map<std::pair<std::type_index, std::string>, std::weak_ptr<const void>> last_;  // by subject
  std::size_t bytes_ = 0;
  std::uint64_t frame_ = 0;
  bool busy_ = false;
  bool is_awaited_ = false;  // all of it, by wait(): no thread is left to what is asked for meanwhile
  bool closing_ = false;
  std::vector<std::thread> threads_;  // started with the first wish
};

}  // namespace palimpsest
