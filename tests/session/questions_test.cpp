#include "app/session/questions.h"

#include <latch>
#include <new>
#include <set>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// What happens when numbers are computed, and what has happened.
class Script {
 public:
  using Act = std::function<void(int number, const Effort&)>;

  explicit Script(Act act = [](int, const Effort&) {}) : act_(std::move(act)) {}

  int run(int number, const Effort& effort) const {
    {
      const std::scoped_lock lock(mutex_);
      begun_.push_back(number);
    }
    act_(number, effort);
    return 10 * number;
  }

  /// The numbers whose computation began, in that order.
  std::vector<int> begun() const {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }

 private:
  Act act_;
  mutable std::mutex mutex_;
  mutable std::vector<int> begun_;
};

constexpr std::size_t bytes_of_one = 100'000;

/// A question that only this test knows: this is all that it takes to add one.
struct Tenfold {
  int number = 0;
  Weak<Script> of = {};

  bool operator<(const Tenfold& other) const { return number < other.number; }
  Found<int> compute(const Script& script, const Effort& effort) const {
    return {std::make_shared<const int>(script.run(number, effort)), bytes_of_one};
  }
};

/// The same for whatever number is the present one.
struct PresentTenfold : Tenfold {
  std::string subject() const { return "the present number"; }
};

/// One of which few are kept.
struct Preview : Tenfold {
  static constexpr std::size_t most_kept = 3;
};

std::shared_ptr<Script> script_of(Script::Act act) { return std::make_shared<Script>(std::move(act)); }

/// What is known after it was asked for and waited for.
Known<int> answer(Questions& questions, int number, const std::shared_ptr<Script>& script) {
  questions.ask(Tenfold{number, script});
  questions.wait();
  return questions.ask(Tenfold{number, script});
}

/// Holds whoever comes until it is opened, deaf to being stopped.
struct Gate {
  std::latch reached{1};
  std::latch opened{1};

  void pass() {
    reached.count_down();
    opened.wait();
  }
};

/// Runs until nobody wants it.
void run_until_stopped(int, const Effort& effort) {
  while (!effort.stop.stop_requested()) std::this_thread::yield();
  throw Cancelled();
}

}  // namespace

TEST_CASE("an answer is computed once, for all who ask", "[questions]") {
  const auto script = std::make_shared<Script>();
  Questions questions(2);
  const Known<int> first = questions.ask(Tenfold{4, script});
  CHECK(first.under_way);
  for (int i = 0; i < 5; ++i) questions.ask(Tenfold{4, script});
  questions.wait();
  const Known<int> second = questions.ask(Tenfold{4, script});
  REQUIRE(second.value);
  CHECK(*second.value == 40);
  CHECK_FALSE(second.stale);
  CHECK_FALSE(second.under_way);
  CHECK(second.reason.empty());
  CHECK(questions.ask(Tenfold{4, script}).value == second.value);
  CHECK(script->begun() == std::vector{4});
  CHECK(questions.busy());  // somebody was told to wait and has to look again
  questions.frame();
  CHECK(questions.ask(Tenfold{4, script}).value);
  CHECK_FALSE(questions.busy());
}

TEST_CASE("keys of different types do not know of each other", "[questions]") {
  const auto script = std::make_shared<Script>();
  Questions questions(1);
  questions.ask(Tenfold{4, script});
  questions.ask(PresentTenfold{{4, script}});
  questions.wait();
  CHECK(script->begun() == std::vector{4, 4});
}

TEST_CASE("the newest wish is granted first, then what may take long, and last what is computed ahead",
          "[questions]") {
  Gate gate;
  const auto script = script_of([&](int number, const Effort&) {
    if (number == 0) gate.pass();
  });
  Questions questions(1);
  questions.ask(Tenfold{0, script});
  gate.reached.wait();
  for (const int number : {1, 2}) questions.ask(Tenfold{number, script});
  for (const int number : {8, 9}) questions.ask(Tenfold{number, script}, Urgency::later);
  questions.ask(Tenfold{7, script}, Urgency::ahead);
  questions.ask(Tenfold{3, script});
  questions.ask(Tenfold{1, script});  // wished before: asking again makes it no newer
  gate.opened.count_down();
  questions.wait_for(Tenfold{7, script});
  CHECK(script->begun() == std::vector{0, 3, 2, 1, 9, 8, 7});
}

TEST_CASE("what may take long leaves a thread to the rest", "[questions]") {
  Gate gate;
  const auto slow = script_of([&](int, const Effort&) { gate.pass(); });
  const auto quick = std::make_shared<Script>();
  Questions questions(2);
  questions.ask(Tenfold{1, slow}, Urgency::later);
  gate.reached.wait();
  questions.ask(Tenfold{2, slow}, Urgency::later);
  for (int number = 11; number < 20; ++number) {
    while (!questions.ask(Tenfold{number, quick}).value) std::this_thread::yield();
  }
  CHECK(slow->begun() == std::vector{1});
  CHECK(questions.busy());
  questions.forget(Tenfold{2, slow});
  gate.opened.count_down();
  questions.wait();
}

TEST_CASE("who waits for all does not wait for what is computed ahead, and leaves no thread idle",
          "[questions]") {
  Gate gate;
  const auto ahead = script_of([&](int, const Effort&) { gate.pass(); });
  std::latch both(2);
  const auto together = script_of([&](int, const Effort&) { both.arrive_and_wait(); });
  Questions questions(3);
  questions.ask(Tenfold{1, ahead}, Urgency::ahead);
  gate.reached.wait();
  CHECK(!questions.busy());
  for (const int number : {2, 3}) questions.ask(Tenfold{number, together}, Urgency::later);
  questions.wait();  // 2 waits for 3, which begins although no thread is left
  CHECK(questions.ask(Tenfold{1, ahead}).under_way);
  CHECK(questions.ask(Tenfold{3, together}).value);
  gate.opened.count_down();
  questions.wait_for(Tenfold{1, ahead});
  CHECK(questions.ask(Tenfold{1, ahead}).value);
}

TEST_CASE("what nobody asks for any more is cancelled, and may be asked for again", "[questions]") {
  std::latch begun(1);
  std::atomic<bool> is_long = true;
  const auto script = script_of([&](int number, const Effort& effort) {
    if (!is_long) return;
    begun.count_down();
    run_until_stopped(number, effort);
  });
  Questions questions(1);
  questions.ask(Tenfold{1, script});
  begun.wait();
  questions.ask(Tenfold{2, script});  // waits
  questions.frame();
  CHECK(questions.ask(Tenfold{1, script}).under_way);
  questions.frame();  // nobody has asked for 2
  CHECK(questions.ask(Tenfold{1, script}).under_way);
  questions.frame();
  questions.frame();  // nor now for 1: else it would never end
  questions.wait();
  CHECK(script->begun() == std::vector{1});
  is_long = false;
  CHECK(questions.ask(Tenfold{1, script}).reason.empty());
  questions.wait();
  REQUIRE(questions.ask(Tenfold{1, script}).value);
  CHECK(script->begun() == std::vector{1, 1});
}

TEST_CASE("an answer that came although it was cancelled is not mixed up with the next", "[questions]") {
  Gate gate;
  std::atomic<bool> is_first = true;
  const auto script = script_of([&](int, const Effort&) {
    if (is_first.exchange(false)) gate.pass();
  });
  Questions questions(1);
  questions.ask(Tenfold{1, script});
  gate.reached.wait();
  questions.frame();
  questions.frame();
  CHECK(questions.ask(Tenfold{1, script}).under_way);  // a new wish
  gate.opened.count_down();
  questions.wait();
  CHECK(script->begun() == std::vector{1, 1});
  CHECK(questions.ask(Tenfold{1, script}).value);
  CHECK(questions.bytes() < 2 * bytes_of_one);
}

TEST_CASE("answers are kept within the budget, the last used longest", "[questions]") {
  const auto script = std::make_shared<Script>();
  Questions questions(1, 3 * bytes_of_one + bytes_of_one / 2);
  const auto fetch = [&](int number) {
    questions.frame();
    return answer(questions, number, script).value;
  };
  for (const int number : {1, 2, 3}) CHECK(fetch(number));
  CHECK(script->begun() == std::vector{1, 2, 3});
  CHECK(questions.bytes() >= 3 * bytes_of_one);
  CHECK(fetch(1));  // used again, as is 3: 2 is the oldest now
  CHECK(fetch(3));
  CHECK(fetch(4));
  CHECK(questions.bytes() < 4 * bytes_of_one);
  CHECK(script->begun() == std::vector{1, 2, 3, 4});
  for (const int number : {1, 3, 4}) CHECK(fetch(number));
  CHECK(script->begun() == std::vector{1, 2, 3, 4});
  CHECK(fetch(2));
  CHECK(script->begun() == std::vector{1, 2, 3, 4, 2});
}

TEST_CASE("what somebody holds is neither forgotten nor computed twice", "[questions]") {
  const auto script = std::make_shared<Script>();
  Questions questions(1, bytes_of_one / 2);  // less than one
  const std::shared_ptr<const int> held = answer(questions, 1, script).value;
  REQUIRE(held);
  for (int number = 2; number < 6; ++number) {
    questions.frame();
    CHECK(answer(questions, number, script).value);  // too large, but it is looked at
  }
  questions.frame();
  questions.frame();
  CHECK(questions.ask(Tenfold{1, script}).value == held);
  CHECK(script->begun() == std::vector{1, 2, 3, 4, 5});
  CHECK(questions.bytes() < 2 * bytes_of_one);  // the one that is held, once
}

TEST_CASE("until an answer is there, the last one to the same question stands for it", "[questions]") {
  Gate gate;
  const auto script = script_of([&](int number, const Effort&) {
    if (number == 2) gate.pass();
  });
  const auto ask = [&](Questions& questions, int number) {
    return questions.ask(PresentTenfold{{number, script}});
  };
  Questions questions(1);
  CHECK_FALSE(ask(questions, 1).value);
  questions.wait();
  const Known<int> old = ask(questions, 1);
  CHECK_FALSE(old.stale);
  CHECK(ask(questions, 2).value == old.value);
  gate.reached.wait();
  const Known<int> meanwhile = ask(questions, 2);
  CHECK(meanwhile.value == old.value);
  CHECK(meanwhile.stale);
  CHECK(meanwhile.under_way);
  gate.opened.count_down();
  questions.wait();
  const Known<int> fresh = ask(questions, 2);
  REQUIRE(fresh.value);
  CHECK(*fresh.value == 20);
  CHECK_FALSE(fresh.stale);
}

TEST_CASE("whatever a computation throws is the reason why there is no answer", "[questions]") {
  const auto script = script_of([](int number, const Effort&) {
    if (number == 1) throw InputError("array \"k\" is missing");
    if (number == 2) throw Unsupported("there is no such form");
    if (number == 3) throw std::bad_alloc();
    if (number == 4) throw 7;
  });
  Questions questions(2);
  const auto reason = [&](int number) {
    const Known<int> known = answer(questions, number, script);
    CHECK_FALSE(known.value);
    CHECK_FALSE(known.under_way);
    return known.reason;
  };
  CHECK(reason(1) == "array \"k\" is missing");
  CHECK(reason(2) == "there is no such form");
  CHECK_THAT(reason(3), says("not enough memory"));
  CHECK(reason(4) == "something went wrong");
  CHECK(script->begun().size() == 4);    // what failed is not tried again
  questions.forget(Tenfold{1, script});  // but for somebody who says so
  CHECK(reason(1) == "array \"k\" is missing");
  CHECK(script->begun().size() == 5);
}

TEST_CASE("a computation tells how far it is", "[questions]") {
  Gate gate;
  const auto script = script_of([&](int, const Effort& effort) {
    effort.progress(0.25);
    gate.pass();
  });
  Questions questions(1);
  CHECK(questions.ask(Tenfold{1, script}).progress == 0);
  gate.reached.wait();
  const Known<int> known = questions.ask(Tenfold{1, script});
  CHECK(known.progress == 0.25);
  CHECK(known.seconds >= 0);
  gate.opened.count_down();
}

TEST_CASE("somebody may stop what is under way, and ask for it again", "[questions]") {
  std::latch begun(1);
  const auto script = script_of([&](int number, const Effort& effort) {
    begun.count_down();
    if (number == 1) run_until_stopped(number, effort);
  });
  Questions questions(1);
  questions.ask(Tenfold{1, script});
  begun.wait();
  questions.give_up(Tenfold{1, script});
  const Known<int> stopped = questions.ask(Tenfold{1, script});
  CHECK_FALSE(stopped.under_way);
  CHECK(stopped.reason == "Stopped.");
  questions.wait();
  CHECK(questions.ask(Tenfold{1, script}).reason == "Stopped.");
  questions.forget(Tenfold{1, script});
  CHECK(questions.ask(Tenfold{1, script}).under_way);
}

TEST_CASE("answers to what is no more are forgotten, whatever is kept beside them", "[questions]") {
  auto script = std::make_shared<Script>();
  const auto other = std::make_shared<Script>();
  Questions questions(1);
  questions.ask(Tenfold{2, other});  // used before, and still to be had
  questions.ask(Tenfold{1, script});
  questions.wait();
  questions.frame();
  CHECK(questions.bytes() >= 2 * bytes_of_one);
  script = nullptr;
  for (int frame = 0; frame < 70; ++frame) questions.frame();
  CHECK(questions.bytes() >= bytes_of_one);
  CHECK(questions.bytes() < 2 * bytes_of_one);
}

TEST_CASE("what is let go is freed in another thread", "[questions]") {
  Questions questions;
  std::thread::id freed_by;
  const auto thing = [&] {
    return std::shared_ptr<const void>(nullptr, [&](const void*) { freed_by = std::this_thread::get_id(); });
  };
  questions.let_go(thing());
  questions.wait();
  CHECK(freed_by != std::thread::id());
  CHECK(freed_by != std::this_thread::get_id());

  // An answer that is forgotten too.
  struct Held {
    std::shared_ptr<const int> value;
    bool operator<(const Held&) const { return false; }
    Found<int> compute(const Effort&) const { return {value, bytes_of_one}; }
  };
  freed_by = {};
  Held key;
  key.value = std::shared_ptr<const int>(new int(1), [&](const int* number) {
    freed_by = std::this_thread::get_id();
    delete number;
  });
  questions.ask(key);
  questions.wait();
  questions.forget(key);
  key.value = nullptr;
  questions.wait();
  CHECK(freed_by != std::thread::id());
}

TEST_CASE("one may wait for one answer while another goes on", "[questions]") {
  Gate gate;
  const auto script = script_of([&](int number, const Effort&) {
    if (number == 1) gate.pass();
  });
  Questions questions(2);
  questions.ask(Tenfold{1, script});
  questions.ask(Tenfold{2, script});
  questions.wait_for(Tenfold{2, script});
  CHECK(questions.ask(Tenfold{2, script}).value);
  CHECK_FALSE(questions.ask(Tenfold{1, script}).value);
  questions.wait_for(Tenfold{3, script});  // nobody asked for it
  gate.opened.count_down();
  questions.wait();
}

TEST_CASE("of a kind of which few are kept, the last used stay", "[questions]") {
  const auto script = std::make_shared<Script>();
  Questions questions(1);
  for (int number = 0; number < 10; ++number) {
    questions.ask(Preview{{number, script}});
    questions.ask(Tenfold{number, script});
    questions.wait();
  }
  for (int frame = 0; frame < 70; ++frame) questions.frame();
  CHECK(questions.bytes() >= 13 * bytes_of_one);
  CHECK(questions.bytes() < 14 * bytes_of_one);
  CHECK(questions.ask(Preview{{9, script}}).value);
  CHECK_FALSE(questions.ask(Preview{{6, script}}).value);
  questions.wait();
}

TEST_CASE("one may go while answers are being computed and others wait", "[questions]") {
  std::latch begun(2);
  const auto script = script_of([&](int number, const Effort& effort) {
    begun.count_down();
    run_until_stopped(number, effort);
  });
  Questions questions(2);
  for (int number = 0; number < 10; ++number) questions.ask(Tenfold{number, script});
  begun.wait();
}

TEST_CASE("many may ask at once, from many threads, under a budget that is too small", "[questions]") {
  const auto script = std::make_shared<Script>();
  Questions questions(3, 10 * bytes_of_one);
  constexpr int numbers = 60;
  std::vector<std::thread> askers;
  std::atomic<int> wrong = 0;
  for (int asker = 0; asker < 3; ++asker) {
    askers.emplace_back([&, asker] {
      for (int i = 0; i < numbers; ++i) {
        const int number = (7 * i + asker) % numbers;
        Known<int> known;
        while (!known.value) {
          known = questions.ask(Tenfold{number, script});
          if (i % 10 == 0) questions.frame();
          std::this_thread::yield();
        }
        if (*known.value != 10 * number) ++wrong;
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
  CHECK(wrong == 0);
  const std::vector<int> begun = script->begun();
  CHECK(std::set(begun.begin(), begun.end()).size() == numbers);
}

TEST_CASE("without threads an answer comes when somebody lets it be computed", "[questions]") {
  std::set<std::thread::id> computed_in;
  const auto script = script_of([&](int, const Effort&) { computed_in.insert(std::this_thread::get_id()); });
  Questions questions(Questions::no_threads);
  CHECK_FALSE(questions.work());
  questions.ask(Tenfold{1, script}, Urgency::later);
  questions.ask(Tenfold{2, script});
  questions.frame();
  CHECK(script->begun().empty());
  CHECK(questions.ask(Tenfold{1, script}, Urgency::later).under_way);
  CHECK(questions.work());
  CHECK(script->begun() == std::vector{2});  // the user waits for it
  CHECK(*questions.ask(Tenfold{2, script}).value == 20);
  questions.wait_for(Tenfold{1, script});
  CHECK(*questions.ask(Tenfold{1, script}).value == 10);
  questions.ask(Tenfold{3, script});
  questions.wait();
  CHECK(script->begun() == std::vector{2, 1, 3});
  CHECK_FALSE(questions.work());
  CHECK(computed_in == std::set{std::this_thread::get_id()});
  questions.ask(Tenfold{4, script});  // one may go with a question open
}

TEST_CASE("a computation lets others go on where it may be stopped, but not where it is measured",
          "[questions]") {
  static int turns = 0;
  turns = 0;
  let_others_go_on = [] { ++turns; };
  CHECK_FALSE(is_asked_to_stop({}));
  stop_if_asked({});
  CHECK(turns == 2);
  {
    const Undisturbed alone;
    stop_if_asked({});
    CHECK(turns == 2);
  }
  stop_if_asked({});
  CHECK(turns == 3);
  let_others_go_on = nullptr;
}
