#include "app/window/start_times.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace palimpsest {

namespace {

/// The seconds between the machine's start and the process's, as /proc/self/stat has them.
double process_began() {
  std::ifstream file("/proc/self/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name in parentheses, which may hold spaces; the time is the 22nd.
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  for (int number = 3; number < 22; ++number) fields >> field;
  double ticks = 0;
  fields >> ticks;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

StartMoment start_moment() {
  static const double began = process_began();
  const auto milliseconds = [](clockid_t clock, double from) {
    timespec now{};
    clock_gettime(clock, &now);
    return (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - from) * 1e3;
  };
  return {milliseconds(CLOCK_BOOTTIME, began), milliseconds(CLOCK_THREAD_CPUTIME_ID, 0)};
}

}  // namespace palimpsest
