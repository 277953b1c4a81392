#include <thread>
#include <vector>

#include "app/window/pace.h"
#include "tests/catch.h"
#include "tests/soak.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("what a thread has freed is given back while it waits for more to do", "[memory]") {
  if (is_sanitized) return;  // its heap is not glibc's
  constexpr std::size_t pieces = 480;
  constexpr std::size_t piece = std::size_t{64} << 10;  // bytes: 30 MB in all
  keep_little_free_memory();
  double used = 0;
  double kept = 0;
  std::thread([&] {
    // glibc learns from this that blocks of its size come and go.
    used = static_cast<double>(std::vector<char>(std::size_t{24} << 20, 'x').back());
    give_back_free_memory();  // what other tests left free would be taken first
    const double before = resident_megabytes();
    std::vector<std::vector<char>> blocks;
    for (std::size_t i = 0; i < pieces; ++i) blocks.emplace_back(piece, 'x');
    used = resident_megabytes() - before;
    blocks = {};
    give_back_free_memory();
    kept = resident_megabytes() - before;
  }).join();
  CHECK(used > 28);
  CHECK(kept < 8);  // 4 MB at the end of the heap, and what else the process has taken meanwhile
}
