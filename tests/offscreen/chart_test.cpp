// The numbers beside an axis, however narrow its range.

#include "app/widgets/chart.h"

#include <imgui.h>

#include <cmath>
#include <limits>
#include <random>

#include "app/widgets/style.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("an axis has round numbers between its ends, about as many as are asked for", "[chart]") {
  CHECK(round_numbers(0, 1, 4) == std::vector<double>{0, 0.5, 1});
  CHECK(round_numbers(-3, 12, 7) == std::vector<double>{0, 5, 10});
  CHECK(round_numbers(0, 1, 0).empty());
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> part(-1, 1);
  std::uniform_int_distribution<int> exponent(-300, 300);
  for (int i = 0; i < 20000; ++i) {
    const double from = part(bits) * std::pow(10, exponent(bits));
    const double to = from + std::abs(part(bits)) * std::pow(10, exponent(bits));
    CAPTURE(from, to);
    const std::vector<double> numbers = round_numbers(from, to, 7);
    REQUIRE(numbers.size() <= 8);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double slack = 1e-8 * (to - from);  // an end that is round but for its last digits counts
      REQUIRE(numbers[k] >= from - slack);
      REQUIRE(numbers[k] <= to + slack);
      if (k > 0) REQUIRE(numbers[k] > numbers[k - 1]);
    }
    if (!is_flat(from, to)) REQUIRE(numbers.size() >= 2);
  }
}

TEST_CASE("a range that is made of rounding is flat and has no numbers", "[chart]") {
  for (const double from : {1.0, -1.0, 3e-5, 7e200, 1e-310, 0.0}) {
    double to = from;
    for (int ulps = 0; ulps < 8; ++ulps) {
      CAPTURE(from, ulps);
      CHECK(is_flat(from, to));
      CHECK(round_numbers(from, to, 7).empty());
      to = std::nextafter(to, std::numeric_limits<double>::infinity());
    }
    CHECK_FALSE(is_flat(from, from + std::max(1e-250, 1e-9 * std::abs(from))));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [from, to] :
       {std::pair(1.0, 0.0), {0.0, infinity}, {-infinity, 0.0}, {std::nan(""), 1.0}}) {
    CHECK(is_flat(from, to));
    CHECK(round_numbers(from, to, 7).empty());
  }
}

TEST_CASE("of a dashed line that leads far away the dashes are made that are seen", "[chart]") {
  Offscreen offscreen(300, 200);
  style::apply(style::Theme::dark, 1);
  const auto points_of = [&](ImVec2 from, ImVec2 to) {
    int points = 0;
    offscreen.pass([&] {
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize({300, 200});
      ImGui::Begin("test", nullptr, ImGuiWindowFlags_NoDecoration);
      ImDrawList* list = ImGui::GetWindowDrawList();
      const int before = list->VtxBuffer.Size;
      dashed_line(list, from, to, style::colours().text, 1);
      points = list->VtxBuffer.Size - before;
      ImGui::End();
    });
    return points;
  };
  const int across = points_of({20, 100}, {280, 100});
  CHECK(across > 0);
  const int most = 2 * points_of({0, 0}, {300, 200});
  for (const ImVec2 far : {ImVec2{1e6F, 1e6F}, {-1e6F, 1e6F}, {280, -1e6F}, {1e6F, 100}}) {
    CAPTURE(far.x, far.y);
    CHECK(points_of({150, 100}, far) > 0);
    CHECK(points_of({150, 100}, far) <= most);
    CHECK(points_of(far, {150, 100}) > 0);
    CHECK(points_of(far, {150, 100}) <= most);
  }
  CHECK(points_of({-1e6F, 100}, {1e6F, 100}) >= across);
  CHECK(points_of({-1e6F, 100}, {1e6F, 100}) <= most);
  CHECK(points_of({400, 0}, {400, 1e6F}) == 0);
  CHECK(points_of({150, 100}, {150, 100}) == 0);
}
