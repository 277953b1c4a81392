#include "app/gl/context_local.h"

#include <memory>
#include <utility>

#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

template <int>
struct Numbered {
  int value = 0;
};

template <int... numbers>
void make_all(std::integer_sequence<int, numbers...>) {
  ((context_local<Numbered<numbers>>().value = numbers), ...);
}

}  // namespace

TEST_CASE("what is made while Dear ImGui goes through its hooks moves none of them", "[context]") {
  const Offscreen offscreen(64, 64);
  const auto& hooks = ImGui::GetCurrentContext()->Hooks;
  const ImGuiContextHook* const before = hooks.Data;
  const int count = hooks.Size;
  make_all(std::make_integer_sequence<int, 64>());
  CHECK(hooks.Size == count + 64);
  CHECK(hooks.Data == before);
  CHECK(context_local<Numbered<42>>().value == 42);
}

TEST_CASE("every context has its own, also while they take turns, and a new one begins anew", "[context]") {
  const auto number = []() -> int& { return context_local<Numbered<1000>>().value; };
  auto first = std::make_unique<Offscreen>(64, 64);
  first->pass([&] { number() = 1; });
  Offscreen second(64, 64);
  second.pass([&] {
    CHECK(number() == 0);
    number() = 2;
  });
  first->pass([&] { CHECK(number() == 1); });
  second.pass([&] { CHECK(number() == 2); });
  first->pass([&] { CHECK(number() == 1); });
  first.reset();
  Offscreen third(64, 64);  // where the first one lay, as likely as not
  third.pass([&] { CHECK(number() == 0); });
  second.pass([&] { CHECK(number() == 2); });
}
