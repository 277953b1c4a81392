// The engines of the processor with kernels for whole heads in f32 where there is one; all else, and every
// tensor of a step, is core's.

#include "core/engines/engines.h"

#include <limits>

#include "core/base/parallel_for.h"
#include "core/engines/chunk_pieces.h"
#include "core/engines/lact_on_processor.h"
#include "core/engines/network_batch.h"
#include "core/rules/backend.h"
#include "kernels/cpu/chunk_rows.h"
#include "kernels/cpu/softmax_tiles.h"
#include "kernels/cpu/vector_products.h"
#include "kernels/device.h"

namespace palimpsest {

namespace {

/// Rows of a matrix, [R, C]; nothing where it has no columns.
cpu::StridedRows rows_of(const Matrix<float>& matrix) {
  return {matrix.size() == 0 ? nullptr : matrix.data(), matrix.cols()};
}

cpu::HeadRows head_rows(const Program<float>& program, Matrix<float>& S, Matrix<float>& o) {
  return {.structure = program.structure,
          .rows = program.rows(),
          .reads = program.reads(),
          .K = program.k.cols(),
          .V = program.v.cols(),
          .q = rows_of(program.q),
          .k = rows_of(program.k),
          .v = rows_of(program.v),
          .a = rows_of(program.a),
          .gate = rows_of(program.gate),
          .beta = rows_of(program.beta),
          .k_plain = rows_of(program.k_plain),
          .v_plain = rows_of(program.v_plain),
          .o = o.data(),
          .o_stride = o.cols(),
          .S = S.data()};
}

/// Bytes of a run for engines that take heads as a whole.
constexpr double whole_heads = std::numeric_limits<double>::infinity();

/// An engine in vector instructions for what it takes; all else is the clear engine's.
template <template <class> class Operator>
class FastEngine : public Engine<Operator, float> {
 public:
  explicit FastEngine(const Engine<Operator, float>& clear) : clear_(clear) {}

  KernelKind kernel(const EngineRequest& request, const Operator<float>& given) const final {
    return !request.phase && takes(request, given) ? KernelKind::vectors : KernelKind::plain;
  }

 private:
  using Heads = std::span<const Operator<float>>;
  using States = std::span<Carried<float>>;

  virtual bool takes(const EngineRequest& request, const Operator<float>& given) const = 0;
  virtual std::vector<Matrix<float>> run_whole(const EngineRequest& request, Heads heads,
                                               States states) const = 0;

  std::vector<Matrix<float>> compute(const EngineRequest& request, Heads heads, States states) const final {
    const bool is_taken = kernel(request, heads.front()) == KernelKind::vectors;
    return is_taken ? run_whole(request, heads, states) : clear_.run(request, heads, states);
  }

  const Engine<Operator, float>& clear_;
};

class FastRows : public FastEngine<Program> {
 public:
  using FastEngine::FastEngine;

  /// Rows that are computed together: their copies stay in the caches, and a run can be stopped.
  double most_bytes() const override { return 2e6; }

 private:
  bool takes(const EngineRequest& request, const Program<float>& program) const override {
    const Structure& structure = program.structure;
    const bool has_products = structure.reads_on_the_way() && !structure.value_decay;
    return request.form == Form::recurrent ? fit_vectors(structure)
                                           : request.form == Form::chunkwise && has_products;
  }

  std::vector<Matrix<float>> run_whole(const EngineRequest& request, std::span<const Program<float>> heads,
                                       std::span<Carried<float>> states) const override {
    const bool has_chunks = request.form == Form::chunkwise;
    if (has_chunks && !cpu::fit_chunks(heads.front().structure))
      return chunk_by_chunk(request, heads, states);
    std::vector<Matrix<float>> o;
    std::vector<cpu::HeadRows> rows;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      Matrix<float>& of_head = o.emplace_back(heads[h].reads(), heads[h].v.cols());
      rows.push_back(head_rows(heads[h], states[h].front(), of_head));
    }
    stop_if_asked(request.stop);
    if (has_chunks)
      cpu::chunk_rows(rows, request.chunk_size, processor_threads(), request.stop);
    else
      cpu::recurrent_rows(rows, processor_threads());
    return o;
  }

  /// By the equations of core's engine.
  static std::vector<Matrix<float>> chunk_by_chunk(const EngineRequest& request,
                                                   std::span<const Program<float>> heads,
                                                   std::span<Carried<float>> states) {
    return made_in_parallel(heads.size(), request.stop, [&](std::size_t h) {
      const Program<float>& head = heads[h];
      Matrix<float> o(head.reads(), head.v.cols());
      for (Index first = 0; first < o.rows(); first += request.chunk_size) {
        stop_if_asked(request.stop);
        const Index count = std::min(request.chunk_size, o.rows() - first);
        o.middleRows(first, count) =
            chunk_by<cpu::VectorProducts>(head.of_tokens(first, count), states[h].front());
      }
      return o;
    });
  }
};

class FastSoftmax : public FastEngine<CachedQueries> {
 public:
  using FastEngine::FastEngine;

 private:
  bool takes(const EngineRequest& request, const CachedQueries<float>& given) const override {
    return !request.tap && request.form == Form::chunkwise && !given.fades;
  }

  std::vector<Matrix<float>> run_whole(const EngineRequest& request,
                                       std::span<const CachedQueries<float>> heads,
                                       std::span<Carried<float>>) const override {
    std::vector<Matrix<float>> o;
    std::vector<cpu::HeadAttention> attention;
    for (const CachedQueries<float>& head : heads) {
      Matrix<float>& of_head = o.emplace_back(head.Q.rows(), head.V.cols());
      attention.push_back({.queries = head.Q.rows(),
                           .keys = head.K.rows(),
                           .channels = head.Q.cols(),
                           .value_channels = head.V.cols(),
                           .first_query = head.first_query,
                           .Q = rows_of(head.Q),
                           .K = rows_of(head.K),
                           .V = rows_of(head.V),
                           .o = of_head.data(),
                           .o_stride = of_head.cols()});
    }
    cpu::softmax_tiles(attention, processor_threads(), request.stop);
    return o;
  }
};

/// The equations of core's engine, with products in vector instructions.
class FastNetwork : public FastEngine<NetworkRows> {
 public:
  using FastEngine::FastEngine;

  double most_bytes() const override { return whole_heads; }

 private:
  bool takes(const EngineRequest& request, const NetworkRows<float>&) const override {
    return request.form == Form::chunkwise;
  }

  std::vector<Matrix<float>> run_whole(const EngineRequest& request,
                                       std::span<const NetworkRows<float>> heads,
                                       std::span<Carried<float>> states) const override {
    return made_in_parallel(heads.size(), request.stop, [&](std::size_t h) {
      const NetworkRows<float>& head = heads[h];
      const InnerBatches pieces(head.Q.rows(), head.batch, request.chunk_size);
      Matrix<float> o(head.Q.rows(), head.V.cols());
      for (Index i = 0; i < pieces.piece_count(); ++i) {
        stop_if_asked(request.stop);
        const Piece piece = pieces.piece(i);
        const NetworkRows<float> rows = rows_of_piece(head, piece);
        NetworkBatch<float, cpu::VectorProducts> batch{*rows.network, rows, states[h], nullptr, false};
        o.middleRows(piece.first, piece.count) = batch.dual();
      }
      return o;
    });
  }

  static NetworkRows<float> rows_of_piece(const NetworkRows<float>& head, const Piece& piece) {
    return {.Q = head.Q.middleRows(piece.first, piece.count),
            .K = head.K.middleRows(piece.first, piece.count),
            .V = head.V.middleRows(piece.first, piece.count),
            .eta = head.eta.segment(piece.first, piece.count),
            .sigma = head.sigma.segment(piece.first, piece.count),
            .starts_batch = piece.offset == 0,
            .ends_batch = piece.ends_batch,
            .batch = head.batch,
            .network = head.network};
  }
};

/// The same for LaCT, a whole inner batch at a time: chunks change no result.
class FastLact : public FastEngine<LactTokens> {
 public:
  using FastEngine::FastEngine;

  double most_bytes() const override { return whole_heads; }

 private:
  bool takes(const EngineRequest& request, const LactTokens<float>&) const override {
    return request.form == Form::chunkwise;
  }

  std::vector<Matrix<float>> run_whole(const EngineRequest& request, std::span<const LactTokens<float>> heads,
                                       std::span<Carried<float>> states) const override {
    return made_in_parallel(heads.size(), request.stop, [&](std::size_t h) {
      Matrix<float> o(heads[h].Q.rows(), heads[h].V.cols());
      for (Index batch = 0; batch < heads[h].batches().batch_count(); ++batch) {
        stop_if_asked(request.stop);
        take_batch(heads[h], batch, states[h], o);
      }
      return o;
    });
  }

  static void take_batch(const LactTokens<float>& head, Index batch, Carried<float>& state,
                         Matrix<float>& o) {
    const Piece piece = head.batches().piece(batch);
    const LactTokens<float> tokens = {.way = head.way,
                                      .Q = head.Q.middleRows(piece.first, piece.count),
                                      .K = head.K.middleRows(piece.first, piece.count),
                                      .V = head.V.middleRows(piece.first, piece.count),
                                      .eta = head.eta.segment(piece.first, piece.count),
                                      .momentum = Vector<float>::Constant(1, head.momentum_of(batch)),
                                      .column_norm = head.column_norm};
    for (Index phase = LactPhase::gathering; phase <= LactPhase::reading; ++phase) {
      if (phase == LactPhase::reading && !head.way.update_first) continue;
      const Matrix<float> read = lact_block(LactOnProcessor<float, cpu::VectorProducts>(),
                                            {.form = Form::chunkwise, .phase = phase}, tokens, state);
      if (read.rows() > 0) o.middleRows(piece.first, piece.count) = read;
    }
  }
};

const DeviceEngines& fast_engines() {
  static const Engines<float>& clear = cpu_engines().f32;
  static const FastRows rows(clear.rows);
  static const FastSoftmax softmax(clear.softmax);
  static const FastNetwork network(clear.network);
  static const FastLact lact(clear.lact);
  static const DeviceEngines all = {
      cpu_engines().f64, {rows, softmax, clear.mamba, network, lact, clear.mesa, clear.least_squares}};
  return all;
}

void multiply_square(const Matrix<float>& A, const Matrix<float>& B, Matrix<float>& C) {
  const Index n = A.rows();
  cpu::multiply({.M = n, .N = n, .K = n, .A = {A.data(), n}, .B = {B.data(), n}, .C = C.data(), .stride = n});
}

}  // namespace

const Backend& fast_cpu_backend() {
  static const std::unique_ptr<const Backend> backend =
      cpu_backend_with(fast_engines(), {"the product in vector instructions", multiply_square});
  return *backend;
}

std::string vector_instructions() { return cpu::vector_instructions(); }

}  // namespace palimpsest
