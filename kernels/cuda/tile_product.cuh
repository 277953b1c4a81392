#pragma once

#include "kernels/cuda/grid.cuh"

namespace palimpsest {

/// Which numbers of a factor are contiguous, so that neighbouring threads read neighbouring numbers.
enum class Neighbours { along_the_sum, across_the_sum };

/// A tile of a matrix product, D_mn = sum_j left(m, j) right(j, n), which a block of tile_threads makes
/// together: 16 `rows_of_a_thread` rows by 16 `width` columns. Pieces of both factors, `piece` numbers along
/// the sum, pass through shared memory. A thread has every 16th column, and four rows side by side of every
/// 64, which it loads at once.
template <class Scalar, int width, int rows_of_a_thread = 4, int piece = 16>
class Tile {
 public:
  static constexpr int side = 16;
  static constexpr int together = 4;  // rows of a thread side by side
  static constexpr int threads = side * side;
  static constexpr int height = side * rows_of_a_thread;
  static constexpr int columns = side * width;

  /// How many tiles such a matrix has, in all and next to each other.
  static __host__ __device__ std::int64_t tiles_along(std::int64_t n) { return (n + columns - 1) / columns; }
  static __host__ __device__ std::int64_t tiles(std::int64_t m, std::int64_t n) {
    return (m + height - 1) / height * tiles_along(n);
  }

  /// What a block needs of shared memory, once for all of its tiles.
  struct Room {
    alignas(16) Scalar left[piece][height + together];
    Scalar right[piece][columns + 1];
  };

  /// `rows_here` by `columns_here` elements exist, at least one: no others are read from the factors.
  __device__ Tile(Room& room, std::int64_t rows_here, std::int64_t columns_here)
      : room_(room),
        rows_(static_cast<int>(min(rows_here, std::int64_t{height}))),
        columns_(static_cast<int>(min(columns_here, std::int64_t{columns}))) {}

  /// Adds sum_{j < depth} left(m, j) right(j, n). All threads call it; it ends with a barrier.
  template <Neighbours of_left, Neighbours of_right, class Left, class Right>
  __device__ void add(std::int64_t depth, Left left, Right right) {
    const int thread = threadIdx.x;
    Scalar next_left[left_numbers];
    Scalar next_right[right_numbers];
    const auto fetch_all = [&](std::int64_t first) {
      unrolled<left_numbers>([&](int i) {
        const auto [m, j] = place<of_left, height>(i);
        next_left[i] = left(m, first + j);
      });
      unrolled<right_numbers>([&](int i) {
        const auto [n, j] = place<of_right, columns>(i);
        next_right[i] = right(first + j, n);
      });
    };
    // Beyond an edge the number there is read again and left out: no load waits for a branch.
    const auto fetch_some = [&](std::int64_t first) {
      unrolled<left_numbers>([&](int i) {
        const auto [m, j] = place<of_left, height>(i);
        const Scalar number = left(min(m, rows_ - 1), min(first + j, depth - 1));
        next_left[i] = m < rows_ && first + j < depth ? number : Scalar(0);
      });
      unrolled<right_numbers>([&](int i) {
        const auto [n, j] = place<of_right, columns>(i);
        const Scalar number = right(min(first + j, depth - 1), min(n, columns_ - 1));
        next_right[i] = n < columns_ && first + j < depth ? number : Scalar(0);
      });
    };
    const auto fetch = [&](std::int64_t first) {
      if (rows_ == height && columns_ == columns && first + piece <= depth)
        fetch_all(first);
      else
        fetch_some(first);
    };

    if (depth > 0) fetch(0);
    for (std::int64_t first = 0; first < depth; first += piece) {
      unrolled<left_numbers>([&](int i) {
        const auto [m, j] = place<of_left, height>(i);
        room_.left[j][m] = next_left[i];
      });
      unrolled<right_numbers>([&](int i) {
        const auto [n, j] = place<of_right, columns>(i);
        room_.right[j][n] = next_right[i];
      });
      __syncthreads();
      if (first + piece < depth) fetch(first + piece);  // on their way while these are multiplied
      if (row(0) < rows_) {
#pragma unroll 8
        for (int j = 0; j < piece; ++j) {
          unrolled<rows_of_a_thread, width>([&](int i, int w) {
            sums_[i][w] += room_.left[j][row(i)] * room_.right[j][thread % side + w * side];
          });
        }
      }
      __syncthreads();
    }
  }

  /// Calls visit(m, n, sum) for every element that is there, each by the thread that has it.
  template <class Visit>
  __device__ void each(Visit visit) {
    unrolled<rows_of_a_thread, width>([&](int i, int w) {
      const int m = row(i);
      const int n = threadIdx.x % side + w * side;
      if (m < rows_ && n < columns_) visit(m, n, sums_[i][w]);
    });
  }

 private:
  static constexpr int left_numbers = height * piece / threads;
  static constexpr int right_numbers = columns * piece / threads;

  /// Row i of this thread.
  static __device__ int row(int i) {
    return i / together * side * together + static_cast<int>(threadIdx.x) / side * together + i % together;
  }

  /// Number i of a factor that this thread brings: its row or column of the tile, and its place in the sum.
  struct Place {
    int across;
    int along;
  };
  template <Neighbours neighbours, int extent>
  static __device__ Place place(int i) {
    const int number = static_cast<int>(threadIdx.x) + i * threads;
    if (neighbours == Neighbours::along_the_sum) return {number / piece, number % piece};
    return {number % extent, number / extent};
  }

  Room& room_;
  int rows_;
  int columns_;
  Scalar sums_[rows_of_a_thread][width] = {};
};

}  // namespace palimpsest
