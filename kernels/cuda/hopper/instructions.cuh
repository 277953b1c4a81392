#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/hopper/tiles.h"

// The instructions of Hopper (compute capability 9.0, compiled for sm_90a) that tensor-core kernels are made
// of: barriers in shared memory, bulk copies of tiles, products of a warpgroup (PTX ISA 8.0: mbarrier,
// cp.async.bulk.tensor, wgmma).

namespace palimpsest::hopper {

inline constexpr int warpgroup_size = 128;
using Bfloat = __nv_bfloat16;
using Half = __half;

/// The address of something in shared memory, as instructions take it.
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Where the 8 numbers from (row, column) on lie in a tile, in bytes; column is a multiple of 8.
__device__ inline std::uint32_t place_in_tile(int row, int column) {
  return static_cast<std::uint32_t>(row * 128 + ((column * 2) ^ (row % 8 * 16)));
}

/// A barrier in shared memory; a phase ends when all threads and all announced bytes have arrived.
class Barrier {
 public:
  __device__ void initialize(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&word_)), "r"(arrivals));
  }

  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&word_)) : "memory");
  }

  /// Arrives, and announces `bytes` bytes of bulk copies.
  __device__ void arrive_expecting(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&word_)),
                 "r"(bytes)
                 : "memory");
  }

  /// Waits until the phase of this parity has ended: 0 for the first, 1 for the second, 0 for the third.
  __device__ void wait(std::uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(shared_address(&word_)),
        "r"(parity)
        : "memory");
  }

  __device__ const void* address() const { return &word_; }

 private:
  std::uint64_t word_;
};

/// Lets bulk copies see that barriers are initialized.
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;"); }

/// Lets tensor cores and bulk copies see what this thread wrote to shared memory.
__device__ inline void publish_to_tensor_cores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Waits for the other threads that name the same barrier, `threads` in all.
__device__ inline void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Where a tile begins in an array.
struct TilePlace {
  int channel;
  int token;
  int head;
};

/// Starts the copy of a tile into shared memory; what lies outside of the array is 0.
__device__ inline void load_tile(void* to, const CUtensorMap& from, const TilePlace& place,
                                 const Barrier& done) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
      "l"(&from), "r"(place.channel), "r"(place.token), "r"(place.head), "r"(shared_address(done.address()))
      : "memory");
}

/// Starts the copy of neighbouring bytes into shared memory, a multiple of 16 from such an address on.
__device__ inline void load_bytes(void* to, const void* from, int bytes, const Barrier& done) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(done.address()))
      : "memory");
}

/// Starts the copy of a tile to memory; what lies outside of the array is left out.
__device__ inline void store_tile(const CUtensorMap& to, const TilePlace& place, const void* from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&to),
               "r"(place.channel), "r"(place.token), "r"(place.head), "r"(shared_address(from))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;");
}

/// Waits until the tiles that this thread stores have been read out of shared memory.
__device__ inline void await_stored_tiles() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

/// Takes registers from, or gives them to, the other warpgroups of the block.
template <int count>
__device__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/// How a product reads tiles: which way the summed index runs.
enum class Along {
  rows,     // it counts the columns: neighbours along a row are summed over
  columns,  // it counts the rows: a tile read transposed
};

/// Tiles in shared memory as a product reads them. `next_tile`: bytes from one tile to the next along the
/// index that is not summed over; only those along columns take more than one.
__device__ inline std::uint64_t tiles_for_product(const void* tiles, Along along,
                                                  int next_tile = tile_bytes) {
  constexpr std::uint64_t swizzle_of_128_bytes = std::uint64_t{1} << 62;
  constexpr std::uint64_t eight_rows = 8 * 128;
  const auto from_tile_to_tile = static_cast<std::uint64_t>(along == Along::columns ? next_tile : 16);
  return swizzle_of_128_bytes | (eight_rows >> 4 << 32) | (from_tile_to_tile >> 4 << 16) |
         (shared_address(tiles) >> 4 & 0x3fff);
}

/// The same, `step` times 16 summed indices further, within one tile.
__device__ inline std::uint64_t further(std::uint64_t tiles, Along along, int step) {
  const int bytes = along == Along::rows ? 16 * 2 : 16 * 128;
  return tiles + static_cast<std::uint64_t>(step * bytes >> 4);
}

/// Columns 16 step to 16 step + 15 of 64 rows in two tiles side by side, summed over along rows.
__device__ inline std::uint64_t along_rows(const Tile* tiles, int step) {
  return further(tiles_for_product(&tiles[step / 4], Along::rows), Along::rows, step % 4);
}

/// Before the first product of a group, and after registers of one were written.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Sums of a warpgroup: [64, columns] in f32. Thread t has of row 16 (t / 32) + t % 32 / 4 the columns 8 n +
/// t % 4 * 2 and the next one in at[4 n], at[4 n + 1], and of the row 8 further in at[4 n + 2], at[4 n + 3].
template <int columns>
struct Sums {
  float at[columns / 2];
};

/// Waits until all products are done. Their sums are named, so that nobody reads one before.
template <int... columns>
__device__ void await_products(Sums<columns>&... sums) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  const auto settle = [](auto& of) {
#pragma unroll
    for (float& sum : of.at) asm volatile("" : "+f"(sum)::"memory");
  };
  (settle(sums), ...);
}

/// 16 columns of a left factor [64, 16] in registers; they lie as those of Sums do, two numbers in each.
struct Left {
  std::uint32_t at[4];
};

/// Two numbers in one register, the first in the lower half.
template <class Number>
__device__ std::uint32_t packed(float first, float second) {
  if constexpr (std::is_same_v<Number, Bfloat>) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    return reinterpret_cast<const std::uint32_t&>(both);
  } else {
    const __half2 both = __floats2half2_rn(first, second);
    return reinterpret_cast<const std::uint32_t&>(both);
  }
}

/// Two numbers out of one register.
template <class Number>
__device__ float2 unpacked(std::uint32_t both) {
  if constexpr (std::is_same_v<Number, Bfloat>)
    return {__uint_as_float(both << 16), __uint_as_float(both & 0xffff0000)};
  else
    return __half22float2(reinterpret_cast<const __half2&>(both));
}

/// Sums of 16 columns, which lie as those of Sums do, as a left factor.
template <class Number>
__device__ Left as_left(const float* sums, float sign = 1) {
  Left left;
  unrolled<4>([&](int i) { left.at[i] = packed<Number>(sign * sums[2 * i], sign * sums[2 * i + 1]); });
  return left;
}

/// Those of columns 16 step to 16 step + 15.
template <class Number, int columns>
__device__ Left left_factor(const Sums<columns>& sums, int step) {
  return as_left<Number>(sums.at + 8 * step);
}

#define PALIMPSEST_SUMS_16(d, i)                                                                        \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]),           \
      "+f"(d[i + 6]), "+f"(d[i + 7]), "+f"(d[i + 8]), "+f"(d[i + 9]), "+f"(d[i + 10]), "+f"(d[i + 11]), \
      "+f"(d[i + 12]), "+f"(d[i + 13]), "+f"(d[i + 14]), "+f"(d[i + 15])
#define PALIMPSEST_SUMS_32(d) PALIMPSEST_SUMS_16(d, 0), PALIMPSEST_SUMS_16(d, 16)
#define PALIMPSEST_SUMS_64(d) PALIMPSEST_SUMS_32(d), PALIMPSEST_SUMS_16(d, 32), PALIMPSEST_SUMS_16(d, 48)
#define PALIMPSEST_NAMES_32                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define PALIMPSEST_NAMES_64                                                            \
  PALIMPSEST_NAMES_32                                                                  \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/// sums = sums (if `adds`) + left right, over 16 summed indices. `left`: a Left, or a row in shared memory
/// for each row of the sums; `right`: [16, columns].
template <class Number, Along along, int columns, class Factor>
__device__ void multiply(Sums<columns>& sums, const Factor& left, std::uint64_t right, bool adds = true) {
  constexpr int is_transposed = along == Along::columns ? 1 : 0;
  constexpr bool is_bfloat = std::is_same_v<Number, Bfloat>;
  float(&d)[columns / 2] = sums.at;
  const int scale = adds ? 1 : 0;
  // `a` is the left factor as the instruction names it, `signs` what it says of it besides.
#define PALIMPSEST_PRODUCT(size, type, count, a, b, adds, signs, transposed, ...)                     \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " adds                                         \
               ", 0;\n"                                                                               \
               "wgmma.mma_async.sync.aligned.m64n" size "k16.f32." type "." type                      \
               " {" PALIMPSEST_NAMES_##count "}, " a ", " b ", adds, " signs ", " transposed ";\n}\n" \
               : PALIMPSEST_SUMS_##count(d)                                                           \
               : __VA_ARGS__, "l"(right), "r"(scale), "n"(is_transposed))
#define PALIMPSEST_REGISTERS "r"(left.at[0]), "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3])
  if constexpr (std::is_same_v<Factor, Left>) {
    static_assert(columns == 64 || (columns == 128 && is_bfloat));
    if constexpr (columns == 128)
      PALIMPSEST_PRODUCT("128", "bf16", 64, "{%64, %65, %66, %67}", "%68", "%69", "1, 1", "%70",
                         PALIMPSEST_REGISTERS);
    else if constexpr (is_bfloat)
      PALIMPSEST_PRODUCT("64", "bf16", 32, "{%32, %33, %34, %35}", "%36", "%37", "1, 1", "%38",
                         PALIMPSEST_REGISTERS);
    else
      PALIMPSEST_PRODUCT("64", "f16", 32, "{%32, %33, %34, %35}", "%36", "%37", "1, 1", "%38",
                         PALIMPSEST_REGISTERS);
  } else {
    static_assert(is_bfloat && (columns == 64 || columns == 128));
    if constexpr (columns == 128)
      PALIMPSEST_PRODUCT("128", "bf16", 64, "%64", "%65", "%66", "1, 1, 0", "%67", "l"(left));
    else
      PALIMPSEST_PRODUCT("64", "bf16", 32, "%32", "%33", "%34", "1, 1, 0", "%35", "l"(left));
  }
#undef PALIMPSEST_REGISTERS
#undef PALIMPSEST_PRODUCT
}

#undef PALIMPSEST_NAMES_64
#undef PALIMPSEST_NAMES_32
#undef PALIMPSEST_SUMS_64
#undef PALIMPSEST_SUMS_32
#undef PALIMPSEST_SUMS_16

/// Four bytes of shared memory at an address.
__device__ inline std::uint32_t load_word(std::uint32_t address) {
  std::uint32_t word = 0;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}
__device__ inline void store_word(std::uint32_t address, std::uint32_t word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(word));
}
__device__ inline void store_word(std::uint32_t address, std::uint32_t word, bool stores) {
  asm volatile(
      "{\n.reg .pred stores;\nsetp.ne.b32 stores, %2, 0;\n@stores st.shared.b32 [%0], %1;\n}" ::"r"(address),
      "r"(word), "r"(static_cast<int>(stores)));
}

/// Eight bytes likewise.
struct TwoWords {
  std::uint32_t at[2];
};
__device__ inline TwoWords load_two_words(std::uint32_t address) {
  TwoWords words;
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(words.at[0]), "=r"(words.at[1]) : "r"(address));
  return words;
}
__device__ inline void store_two_words(std::uint32_t address, const TwoWords& words) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(words.at[0]), "r"(words.at[1]));
}

/// What one warp reads or writes of a tile at a time: 16 x 16 numbers, four 8 x 8 squares. Its place for this
/// thread, in bytes; squares follow each other along columns, then rows.
__device__ inline std::uint32_t square_by_columns(int row, int column) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return place_in_tile(row + lane % 8 + lane / 16 * 8, column + lane / 8 % 2 * 8);
}

/// Likewise, but squares follow each other along rows, then columns.
__device__ inline std::uint32_t square_by_rows(int row, int column) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return place_in_tile(row + lane % 8 + lane / 8 % 2 * 8, column + lane / 16 * 8);
}

/// An address that is not computed before the loop around: nobody has registers for that many.
__device__ inline std::uint32_t not_before(std::uint32_t address) {
  asm volatile("" : "+r"(address));
  return address;
}

/// The address of this thread's row of squares of a tile from (0, 0) on.
__device__ inline std::uint32_t squares(const Tile* tile) {
  return not_before(shared_address(tile) + square_by_rows(0, 0));
}

/// That of those from (row, column) on, multiples of 16; beyond a tile's columns in the next tile.
__device__ inline std::uint32_t further(std::uint32_t squares, int row, int column) {
  return (squares ^ column % tile_columns * 2) + column / tile_columns * tile_bytes + row * 128;
}

/// The 16 x 16 numbers of which this thread's address names one row of 8, square by square, as a left factor.
__device__ inline Left load_squares(std::uint32_t row) {
  Left left;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(left.at[0]), "=r"(left.at[1]), "=r"(left.at[2]), "=r"(left.at[3])
               : "r"(row)
               : "memory");
  return left;
}

/// The same, every square transposed.
__device__ inline Left load_squares_transposed(std::uint32_t row) {
  Left left;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(left.at[0]), "=r"(left.at[1]), "=r"(left.at[2]), "=r"(left.at[3])
               : "r"(row)
               : "memory");
  return left;
}

/// By one warp: sums = sums + left [first, second], of 16 x 8 sums that lie as those of Sums do. `first` and
/// `second`: the upper and lower 8 rows of the right factor's 8 columns.
template <class Number>
__device__ void multiply_squares(float* sums, const Left& left, std::uint32_t first, std::uint32_t second) {
#define PALIMPSEST_PRODUCT(type)                                                                 \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                            \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                      \
               : "r"(left.at[0]), "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3]), "r"(first), \
                 "r"(second))
  if constexpr (std::is_same_v<Number, Bfloat>)
    PALIMPSEST_PRODUCT("bf16");
  else
    PALIMPSEST_PRODUCT("f16");
#undef PALIMPSEST_PRODUCT
}

/// sums += left right^T; `right` holds the 16 × 16 block, loaded by rows as a Left.
__device__ inline void multiply_by_rows(float (&sums)[8], const Left& left, const Left& right) {
  unrolled<2>(
      [&](int half) { multiply_squares<Bfloat>(sums + 4 * half, left, right.at[half], right.at[half + 2]); });
}

/// 16 rows of a tile, transposed, as a left factor: its row 16 warp + i holds column `column` + i of them.
__device__ inline Left transposed_left(const void* tile, int row, int column) {
  return load_squares_transposed(shared_address(tile) + square_by_columns(row, column));
}

/// Writes such a left factor back, transposed: column i of it becomes row `row` + i of the tile.
__device__ inline void store_transposed(void* tile, int row, int column, const Left& left) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(tile) + square_by_columns(row, column)),
               "r"(left.at[0]), "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3])
               : "memory");
}

/// Writes 16 x 16 numbers back to where load_squares() finds them.
__device__ inline void store_squares(std::uint32_t row, const Left& left) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(left.at[0]),
               "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3])
               : "memory");
}

/// Writes a left factor into a tile as it is: its rows of this warp become the rows from `row` on.
__device__ inline void store(void* tile, int row, int column, const Left& left) {
  store_squares(shared_address(tile) + square_by_rows(row, column), left);
}

}  // namespace palimpsest::hopper

// Gates of a chunk of 64 tokens: logarithms of decays, and sums of them, to base 2, which is what the device
// takes powers of.

namespace palimpsest {

inline constexpr float log2_e = 1.44269504F;

/// 2^x; what is not a normal number is 0.
__device__ inline float two_to(float x) {
  float power = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

/// log2 alpha of g = log alpha, but at least -144: 2^-144 is 0, and running sums stay finite and exact
/// enough.
__device__ inline float bounded(float g) { return fmaxf(log2_e * g, -144.0F); }

/// log2 alpha added up by one warp; a lane has the g of tokens 2 lane and 2 lane + 1, and gets their sums.
__device__ inline float2 add_up(float first, float second) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const float both = bounded(first) + bounded(second);
  float sum = both;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = __shfl_up_sync(0xffffffffU, sum, distance);
    if (lane >= distance) sum += before;
  }
  return {sum - both + bounded(first), sum};
}

}  // namespace palimpsest
