#include "app/scene/plot.h"

#include <fmt/format.h>

#include "app/widgets/chart.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr double least_minor = 3;  // pixels between minor ticks, where they are closest

/// "10⁻⁷", and 1 as "1".
std::string decade_words(double value) {
  const int power = static_cast<int>(std::lround(std::log10(value)));
  return power == 0 ? "1" : power == 1 ? "10" : power_of_ten(power);
}

std::vector<PlotTick> linear_ticks(const PlotAxis& axis, double low, double high, double length, int most) {
  const std::vector<double> numbers = round_numbers(low, high, most);
  const double distance = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
  std::vector<PlotTick> ticks;
  for (const double number : numbers)
    ticks.push_back({.at = number, .words = axis.words ? axis.words(number) : axis_number(number, distance)});
  // Between them fifths, or of a distance of 2, 20, … quarters.
  const double leading = distance / std::pow(10, std::floor(std::log10(distance) + 1e-9));
  const int parts = leading > 1.5 && leading < 3 ? 4 : 5;
  const double minor = distance / parts;
  if (numbers.size() < 2 || length * minor < least_minor * (high - low)) return ticks;
  for (double i = std::ceil(low / minor - 1e-9); i * minor <= high; ++i) {
    if (std::remainder(i, parts) != 0) ticks.push_back({.at = i * minor});
  }
  return ticks;
}

/// Powers of `base`, as many of them with numbers as fit; and, between powers of ten, their multiples.
std::vector<PlotTick> power_ticks(const PlotAxis& axis, double base, double low, double high, float length,
                                  int most) {
  const double powers = std::log(high / low) / std::log(base);
  const double slack = 1e-9 * powers;
  const int first = static_cast<int>(std::ceil(std::log(low) / std::log(base) - slack));
  const int last = static_cast<int>(std::floor(std::log(high) / std::log(base) + slack));
  const int every = std::max(1, static_cast<int>(std::ceil(powers / std::max(most, 1))));
  const double decade = static_cast<double>(length) / powers;
  const bool has_all = (1 - std::log10(9)) * decade >= least_minor;
  const bool has_some = (1 - std::log10(5)) * decade >= least_minor;  // 2 and 5
  std::vector<PlotTick> ticks;
  for (int power = first - 1; power <= last; ++power) {
    const double at = std::pow(base, power);
    if (power >= first) {
      const bool is_told = power % every == 0;
      std::string words;
      if (is_told)
        words = axis.words ? axis.words(at) : base == 10 ? decade_words(at) : fmt::format("{:g}", at);
      ticks.push_back({.at = at, .words = words});
    }
    for (int digit = 2; digit < 10 && base == 10 && has_some; ++digit) {
      if (!has_all && digit != 2 && digit != 5) continue;
      if (digit * at >= low && digit * at <= high) ticks.push_back({.at = digit * at});
    }
  }
  return ticks;
}

}  // namespace

PlotMark picture_mark(std::string name, PlotPlace from, PlotPlace to,
                      std::shared_ptr<const Matrix<double>> numbers, std::uint64_t version, double range,
                      ImU32 frame) {
  return {.kind = PlotMark::Kind::picture,
          .name = std::move(name),
          .x = from.x,
          .y = from.y,
          .to_x = to.x,
          .to_y = to.y,
          .look = {.colour = frame},
          .outline = frame != 0 ? style::line : 0,
          .numbers = std::move(numbers),
          .version = version,
          .heat = {.range = static_cast<float>(range)}};
}

std::vector<PlotTick> plot_ticks(const PlotAxis& axis, double low, double high, float length, float room) {
  std::vector<PlotTick> ticks;
  const int most = std::max(1, static_cast<int>(length / std::max(room, 1.0F)));
  if (axis.has_round) {
    ticks = axis.scale == PlotAxis::Scale::linear
                ? linear_ticks(axis, low, high, static_cast<double>(length), most)
                : power_ticks(axis, axis.scale == PlotAxis::Scale::octaves ? 2 : 10, low, high, length, most);
  }
  std::erase_if(ticks, [&](const PlotTick& tick) { return axis.gap && tick.at < *axis.gap; });
  for (const PlotTick& tick : axis.named) {
    if (tick.at >= low && tick.at <= high) ticks.push_back(tick);
  }
  return ticks;
}

}  // namespace palimpsest
