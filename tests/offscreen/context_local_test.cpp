#include "app/gl/context_local.h"

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
  make_all(std::make_integer_sequence<int, 200>());
  CHECK(hooks.Size == count + 200);
  CHECK(hooks.Data == before);
  CHECK(context_local<Numbered<42>>().value == 42);
}
