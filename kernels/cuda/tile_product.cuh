#pragma once

#include <cstdint>

namespace palimpsest {

/// Which numbers of a factor are contiguous, so that neighbouring threads read neighbouring numbers.
enum class Neighbours { along_the_sum, across_the_sum };

/// A tile of a matrix product, D_mn = sum_j left(m, j) right(j, n), which a block of tile_threads makes
/// together: 64 rows by 16 `width` columns. Pieces of both factors pass through shared memory; a thread has 4
/// by `width` elements of D, every 16th row and every 16th column.
template <class Scalar, int width>
class Tile {
 public:
  static constexpr int side = 16;
  static constexpr int threads = side * side;
  static constexpr int rows_of_a_thread = 4;
  static constexpr int height = side * rows_of_a_thread;
  static constexpr int columns = side * width;

  /// How many tiles such a matrix has, in all and next to each other.
  static __host__ __device__ std::int64_t tiles_along(std::int64_t n) { return (n + columns - 1) / columns; }
  static __host__ __device__ std::int64_t tiles(std::int64_t m, std::int64_t n) {
    return (m + height - 1) / height * tiles_along(n);
  }

  /// What a block needs of shared memory, once for all of its tiles.
  struct Room {
    Scalar left[side][height + 1];
    Scalar right[side][columns + 1];
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
    Scalar next_left[rows_of_a_thread];
    Scalar next_right[width];
    const auto left_place = [&](int i, int& m, int& j) {
      const bool along = of_left == Neighbours::along_the_sum;
      m = along ? thread / side + i * side : thread % height;
      j = along ? thread % side : thread / height + i * (threads / height);
    };
    const auto right_place = [&](int i, int& j, int& n) {
      const bool along = of_right == Neighbours::along_the_sum;
      n = along ? thread / side + i * side : thread % columns;
      j = along ? thread % side : thread / columns + i * (threads / columns);
    };
    // Beyond an edge the number there is read again and left out: no load waits for a branch.
    const auto fetch = [&](std::int64_t first) {
#pragma unroll
      for (int i = 0; i < rows_of_a_thread; ++i) {
        int m = 0;
        int j = 0;
        left_place(i, m, j);
        const Scalar number = left(min(m, rows_ - 1), min(first + j, depth - 1));
        next_left[i] = m < rows_ && first + j < depth ? number : Scalar(0);
      }
#pragma unroll
      for (int i = 0; i < width; ++i) {
        int j = 0;
        int n = 0;
        right_place(i, j, n);
        const Scalar number = right(min(first + j, depth - 1), min(n, columns_ - 1));
        next_right[i] = n < columns_ && first + j < depth ? number : Scalar(0);
      }
    };

    if (depth > 0) fetch(0);
    for (std::int64_t first = 0; first < depth; first += side) {
#pragma unroll
      for (int i = 0; i < rows_of_a_thread; ++i) {
        int m = 0;
        int j = 0;
        left_place(i, m, j);
        room_.left[j][m] = next_left[i];
      }
#pragma unroll
      for (int i = 0; i < width; ++i) {
        int j = 0;
        int n = 0;
        right_place(i, j, n);
        room_.right[j][n] = next_right[i];
      }
      __syncthreads();
      if (first + side < depth) fetch(first + side);  // on their way while these are multiplied
#pragma unroll
      for (int j = 0; j < side; ++j) {
#pragma unroll
        for (int i = 0; i < rows_of_a_thread; ++i) {
#pragma unroll
          for (int w = 0; w < width; ++w)
            sums_[i][w] += room_.left[j][thread / side + i * side] * room_.right[j][thread % side + w * side];
        }
      }
      __syncthreads();
    }
  }

  /// Calls visit(m, n, sum) for every element that is there, each by the thread that has it.
  template <class Visit>
  __device__ void each(Visit visit) {
#pragma unroll
    for (int i = 0; i < rows_of_a_thread; ++i) {
#pragma unroll
      for (int w = 0; w < width; ++w) {
        const int m = threadIdx.x / side + i * side;
        const int n = threadIdx.x % side + w * side;
        if (m < rows_ && n < columns_) visit(m, n, sums_[i][w]);
      }
    }
  }

 private:
  Room& room_;
  int rows_;
  int columns_;
  Scalar sums_[rows_of_a_thread][width] = {};
};

}  // namespace palimpsest
