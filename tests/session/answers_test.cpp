#include "app/session/answers.h"

#include <future>
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

  int run(int number, const Effort& effort) {
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
  std::vector<int> begun_;
};

constexpr std::size_t bytes_of_one = 100'000;

/// An answer that only this test knows: this is all that it takes to add one.
struct Tenfold {
  using Value = int;

  int number = 0;
  std::weak_ptr<Script> script;

  bool operator<(const Tenfold& other) const { return number < other.number; }
  std::shared_ptr<const int> compute(const Effort& effort) const {
    const std::shared_ptr<Script> present = script.lock();
    if (!present) throw Cancelled();
    return std::make_shared<const int>(present->run(number, effort));
  }
  static std::size_t bytes(int) { return bytes_of_one; }
  bool gone() const { return script.expired(); }
};

/// The same for whatever number is the present one.
struct PresentTenfold : Tenfold {
  std::string question() const { return "the present number"; }
};

/// One of which few are kept.
struct Preview : Tenfold {
  static constexpr std::size_t most_kept = 3;
};

std::shared_ptr<Script> script_of(Script::Act act) { return std::make_shared<Script>(std::move(act)); }

/// Runs until nobody wants it.
void run_until_stopped(int, const Effort& effort) {
  while (!effort.stop.stop_requested()) std::this_thread::yield();
  throw Cancelled();
}

}  // namespace

TEST_CASE("an answer is computed once, for all who ask", "[answers]") {
  const auto script = std::make_shared<Script>();
  Answers answers(2);
  const Answer<int> first = answers.ask(Tenfold{4, script});
  CHECK(first.under_way);
  for (int i = 0; i < 5; ++i) answers.ask(Tenfold{4, script});
  answers.wait();
  const Answer<int> second = answers.ask(Tenfold{4, script});
  REQUIRE(second.value);
  CHECK(*second.value == 40);
  CHECK_FALSE(second.stale);
  CHECK_FALSE(second.under_way);
  CHECK(second.reason.empty());
  CHECK(answers.ask(Tenfold{4, script}).value == second.value);
  CHECK(script->begun() == std::vector{4});
  CHECK(answers.busy());  // somebody was told to wait and has to look again
  answers.frame();
  CHECK(answers.ask(Tenfold{4, script}).value);
  CHECK_FALSE(answers.busy());
}

TEST_CASE("keys of different types do not know of each other", "[answers]") {
  const auto script = std::make_shared<Script>();
  Answers answers(1);
  answers.ask(Tenfold{4, script});
  answers.ask(PresentTenfold{{4, script}});
  answers.wait();
  CHECK(script->begun() == std::vector{4, 4});
}

TEST_CASE("the newest wish is granted first, and what may take long comes after the rest", "[answers]") {
  std::latch free(1);
  std::latch busy(1);
  const auto script = script_of([&](int number, const Effort&) {
    if (number != 0) return;
    busy.count_down();
    free.wait();
  });
  Answers answers(1);
  answers.ask(Tenfold{0, script});
  busy.wait();
  for (const int number : {1, 2}) answers.ask(Tenfold{number, script});
  for (const int number : {8, 9}) answers.ask(Tenfold{number, script}, Urgency::later);
  answers.ask(Tenfold{3, script});
  answers.ask(Tenfold{1, script});  // wished before: asking again makes it no newer
  free.count_down();
  answers.wait();
  CHECK(script->begun() == std::vector{0, 3, 2, 1, 9, 8});
}

TEST_CASE("what may take long leaves a thread to the rest", "[answers]") {
  std::latch free(1);
  std::latch busy(1);
  const auto slow = script_of([&](int, const Effort&) {
    busy.count_down();
    free.wait();
  });
  const auto quick = std::make_shared<Script>();
  Answers answers(2);
  answers.ask(Tenfold{1, slow}, Urgency::later);
  busy.wait();
  answers.ask(Tenfold{2, slow}, Urgency::later);
  for (int number = 11; number < 20; ++number) {
    while (!answers.ask(Tenfold{number, quick}).value) std::this_thread::yield();
  }
  CHECK(slow->begun() == std::vector{1});
  CHECK(answers.busy());
  answers.forget(Tenfold{2, slow});
  free.count_down();
  answers.wait();
}

TEST_CASE("what nobody asks for any more is cancelled, and may be asked for again", "[answers]") {
  std::latch begun(1);
  std::atomic<bool> is_long = true;
  const auto script = script_of([&](int number, const Effort& effort) {
    if (!is_long) return;
    begun.count_down();
    run_until_stopped(number, effort);
  });
  Answers answers(1);
  answers.ask(Tenfold{1, script});
  begun.wait();
  answers.ask(Tenfold{2, script});  // waits
  answers.frame();
  CHECK(answers.ask(Tenfold{1, script}).under_way);
  answers.frame();  // nobody has asked for 2
  CHECK(answers.ask(Tenfold{1, script}).under_way);
  answers.frame();
  answers.frame();  // nor now for 1: else it would never end
  answers.wait();
  CHECK(script->begun() == std::vector{1});
  is_long = false;
  CHECK(answers.ask(Tenfold{1, script}).reason.empty());
  answers.wait();
  REQUIRE(answers.ask(Tenfold{1, script}).value);
  CHECK(script->begun() == std::vector{1, 1});
}

TEST_CASE("an answer that came although it was cancelled is not mixed up with the next", "[answers]") {
  std::latch begun(1);
  std::latch free(1);
  std::atomic<bool> is_first = true;
  const auto script = script_of([&](int, const Effort&) {
    if (!is_first.exchange(false)) return;
    begun.count_down();
    free.wait();  // deaf to being stopped
  });
  Answers answers(1);
  answers.ask(Tenfold{1, script});
  begun.wait();
  answers.frame();
  answers.frame();
  CHECK(answers.ask(Tenfold{1, script}).under_way);  // a new wish
  free.count_down();
  answers.wait();
  CHECK(script->begun() == std::vector{1, 1});
  CHECK(answers.ask(Tenfold{1, script}).value);
  CHECK(answers.bytes() < 2 * bytes_of_one);
}

TEST_CASE("answers are kept within the budget, the last used longest", "[answers]") {
  const auto script = std::make_shared<Script>();
  Answers answers(1, 3 * bytes_of_one + bytes_of_one / 2);
  const auto fetch = [&](int number) {
    answers.frame();
    answers.ask(Tenfold{number, script});
    answers.wait();
    return answers.ask(Tenfold{number, script}).value;
  };
  for (const int number : {1, 2, 3}) CHECK(fetch(number));
  CHECK(script->begun() == std::vector{1, 2, 3});
  CHECK(answers.bytes() >= 3 * bytes_of_one);
  CHECK(fetch(1));  // used again, as is 3: 2 is the oldest now
  CHECK(fetch(3));
  CHECK(fetch(4));
  CHECK(answers.bytes() < 4 * bytes_of_one);
  CHECK(script->begun() == std::vector{1, 2, 3, 4});
  for (const int number : {1, 3, 4}) CHECK(fetch(number));
  CHECK(script->begun() == std::vector{1, 2, 3, 4});
  CHECK(fetch(2));
  CHECK(script->begun() == std::vector{1, 2, 3, 4, 2});
}

TEST_CASE("what somebody holds is neither forgotten nor computed twice", "[answers]") {
  const auto script = std::make_shared<Script>();
  Answers answers(1, bytes_of_one / 2);  // less than one
  answers.ask(Tenfold{1, script});
  answers.wait();
  const std::shared_ptr<const int> held = answers.ask(Tenfold{1, script}).value;
  REQUIRE(held);
  for (int number = 2; number < 6; ++number) {
    answers.frame();
    answers.ask(Tenfold{number, script});
    answers.wait();
    CHECK(answers.ask(Tenfold{number, script}).value);  // too large, but it is looked at
  }
  answers.frame();
  answers.frame();
  CHECK(answers.ask(Tenfold{1, script}).value == held);
  CHECK(script->begun() == std::vector{1, 2, 3, 4, 5});
  CHECK(answers.bytes() < 2 * bytes_of_one);  // the one that is held, once
}

TEST_CASE("until an answer is there, the last one to the same question stands for it", "[answers]") {
  std::latch begun(1);
  std::latch free(1);
  const auto script = script_of([&](int number, const Effort&) {
    if (number != 2) return;
    begun.count_down();
    free.wait();
  });
  const auto ask = [&](Answers& answers, int number) {
    return answers.ask(PresentTenfold{{number, script}});
  };
  Answers answers(1);
  CHECK_FALSE(ask(answers, 1).value);
  answers.wait();
  const Answer<int> old = ask(answers, 1);
  CHECK_FALSE(old.stale);
  CHECK(ask(answers, 2).value == old.value);
  begun.wait();
  const Answer<int> meanwhile = ask(answers, 2);
  CHECK(meanwhile.value == old.value);
  CHECK(meanwhile.stale);
  CHECK(meanwhile.under_way);
  free.count_down();
  answers.wait();
  const Answer<int> fresh = ask(answers, 2);
  REQUIRE(fresh.value);
  CHECK(*fresh.value == 20);
  CHECK_FALSE(fresh.stale);
}

TEST_CASE("whatever a computation throws is the reason why there is no answer", "[answers]") {
  const auto script = script_of([](int number, const Effort&) {
    if (number == 1) throw InputError("array \"k\" is missing");
    if (number == 2) throw Unsupported("there is no such form");
    if (number == 3) throw std::bad_alloc();
    if (number == 4) throw 7;
  });
  Answers answers(2);
  const auto reason = [&](int number) {
    answers.ask(Tenfold{number, script});
    answers.wait();
    const Answer<int> answer = answers.ask(Tenfold{number, script});
    CHECK_FALSE(answer.value);
    CHECK_FALSE(answer.under_way);
    return answer.reason;
  };
  CHECK(reason(1) == "array \"k\" is missing");
  CHECK(reason(2) == "there is no such form");
  CHECK_THAT(reason(3), says("not enough memory"));
  CHECK(reason(4) == "something went wrong");
  CHECK(script->begun().size() == 4);  // what failed is not tried again
  answers.forget(Tenfold{1, script});  // but for somebody who says so
  CHECK(reason(1) == "array \"k\" is missing");
  CHECK(script->begun().size() == 5);
}

TEST_CASE("a computation tells how far it is", "[answers]") {
  std::latch told(1);
  std::latch free(1);
  const auto script = script_of([&](int, const Effort& effort) {
    effort.progress(0.25);
    told.count_down();
    free.wait();
  });
  Answers answers(1);
  CHECK(answers.ask(Tenfold{1, script}).progress == 0);
  told.wait();
  const Answer<int> answer = answers.ask(Tenfold{1, script});
  CHECK(answer.progress == 0.25);
  CHECK(answer.seconds >= 0);
  free.count_down();
}

TEST_CASE("somebody may stop what is under way, and ask for it again", "[answers]") {
  std::latch begun(1);
  const auto script = script_of([&](int number, const Effort& effort) {
    begun.count_down();
    if (number == 1) run_until_stopped(number, effort);
  });
  Answers answers(1);
  answers.ask(Tenfold{1, script});
  begun.wait();
  answers.give_up(Tenfold{1, script});
  const Answer<int> stopped = answers.ask(Tenfold{1, script});
  CHECK_FALSE(stopped.under_way);
  CHECK(stopped.reason == "Stopped.");
  answers.wait();
  CHECK(answers.ask(Tenfold{1, script}).reason == "Stopped.");
  answers.forget(Tenfold{1, script});
  CHECK(answers.ask(Tenfold{1, script}).under_way);
}

TEST_CASE("answers to what is no more are forgotten, whatever is kept beside them", "[answers]") {
  auto script = std::make_shared<Script>();
  const auto other = std::make_shared<Script>();
  Answers answers(1);
  answers.ask(Tenfold{2, other});  // used before, and still to be had
  answers.ask(Tenfold{1, script});
  answers.wait();
  answers.frame();
  CHECK(answers.bytes() >= 2 * bytes_of_one);
  script = nullptr;
  for (int frame = 0; frame < 70; ++frame) answers.frame();
  CHECK(answers.bytes() >= bytes_of_one);
  CHECK(answers.bytes() < 2 * bytes_of_one);
}

TEST_CASE("what is let go is freed in another thread", "[answers]") {
  Answers answers;
  std::thread::id freed_by;
  const auto thing = [&] {
    return std::shared_ptr<const void>(nullptr, [&](const void*) { freed_by = std::this_thread::get_id(); });
  };
  answers.let_go(thing());
  answers.wait();
  CHECK(freed_by != std::thread::id());
  CHECK(freed_by != std::this_thread::get_id());

  // An answer that is forgotten too.
  struct Held {
    using Value = int;
    std::shared_ptr<const int> value;
    bool operator<(const Held&) const { return false; }
    std::shared_ptr<const int> compute(const Effort&) const { return value; }
    static std::size_t bytes(int) { return bytes_of_one; }
  };
  freed_by = {};
  Held key;
  key.value = std::shared_ptr<const int>(new int(1), [&](const int* number) {
    freed_by = std::this_thread::get_id();
    delete number;
  });
  answers.ask(key);
  answers.wait();
  answers.forget(key);
  key.value = nullptr;
  answers.wait();
  CHECK(freed_by != std::thread::id());
}

TEST_CASE("one may wait for one answer while another goes on", "[answers]") {
  std::promise<void> may_end;
  const auto script =
      std::make_shared<Script>([end = may_end.get_future().share()](int number, const Effort&) {
        if (number == 1) end.wait();
      });
  Answers answers(2);
  answers.ask(Tenfold{1, script});
  answers.ask(Tenfold{2, script});
  answers.wait_for(Tenfold{2, script});
  CHECK(answers.ask(Tenfold{2, script}).value);
  CHECK_FALSE(answers.ask(Tenfold{1, script}).value);
  answers.wait_for(Tenfold{3, script});  // nobody asked for it
  may_end.set_value();
  answers.wait();
}

TEST_CASE("of a kind of which few are kept, the last used stay", "[answers]") {
  const auto script = std::make_shared<Script>();
  Answers answers(1);
  for (int number = 0; number < 10; ++number) {
    answers.ask(Preview{{number, script}});
    answers.ask(Tenfold{number, script});
    answers.wait();
  }
  for (int frame = 0; frame < 70; ++frame) answers.frame();
  CHECK(answers.bytes() >= 13 * bytes_of_one);
  CHECK(answers.bytes() < 14 * bytes_of_one);
  CHECK(answers.ask(Preview{{9, script}}).value);
  CHECK_FALSE(answers.ask(Preview{{6, script}}).value);
  answers.wait();
}

TEST_CASE("one may go while answers are being computed and others wait", "[answers]") {
  std::latch begun(2);
  const auto script = script_of([&](int number, const Effort& effort) {
    begun.count_down();
    run_until_stopped(number, effort);
  });
  Answers answers(2);
  for (int number = 0; number < 10; ++number) answers.ask(Tenfold{number, script});
  begun.wait();
}

TEST_CASE("many may ask at once, from many threads, under a budget that is too small", "[answers]") {
  const auto script = std::make_shared<Script>();
  Answers answers(3, 10 * bytes_of_one);
  constexpr int numbers = 60;
  std::vector<std::thread> askers;
  std::atomic<int> wrong = 0;
  for (int asker = 0; asker < 3; ++asker) {
    askers.emplace_back([&, asker] {
      for (int i = 0; i < numbers; ++i) {
        const int number = (7 * i + asker) % numbers;
        Answer<int> answer;
        while (!answer.value) {
          answer = answers.ask(Tenfold{number, script});
          if (i % 10 == 0) answers.frame();
          std::this_thread::yield();
        }
        if (*answer.value != 10 * number) ++wrong;
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
  CHECK(wrong == 0);
  const std::vector<int> begun = script->begun();
  CHECK(std::set(begun.begin(), begun.end()).size() == numbers);
}
