#include <algorithm>

#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/mesa.h"

namespace palimpsest::cuda {

namespace {

/// Chunks of all heads, uploaded once, with their states and room for what they make.
template <class Scalar>
struct MesaOnDevice {
  HeadsOnDevice<MesaRows, Scalar> device;
  MesaChunks<Scalar> chunks;

  /// In chunks of L tokens.
  MesaOnDevice(std::span<const MesaRows<Scalar>> heads, std::span<Carried<Scalar>> states, Form form, Index L,
               Rounding rounding, Recorder* tap = nullptr)
      : device(heads, states, rounding, tap), states_(states) {
    using Rows = MesaRows<Scalar>;
    const Index H = device.count();
    const Index C = (heads.front().q.rows() + L - 1) / L;
    const Index K = heads.front().k.cols();
    const Index V = heads.front().v.cols();
    // Those that fill the last chunk hold `filler`.
    const auto filled = [&](Matrix<Scalar> Rows::*rows, Scalar filler) {
      return [=](const Rows& head) {
        const Matrix<Scalar>& given = head.*rows;
        Matrix<Scalar> all = Matrix<Scalar>::Constant(C * L, given.cols(), filler);
        all.topRows(given.rows()) = given;
        return all;
      };
    };
    const auto make = [&](const char* name, Index columns) {
      return device.make(name, H * C, L, columns).data();
    };
    chunks = {.heads = H,
              .chunks = C,
              .L = L,
              .K = K,
              .V = V,
              .q = device.rows(filled(&Rows::q, 0)).data(),
              .k = device.rows(filled(&Rows::k, 0)).data(),
              .v = device.rows(filled(&Rows::v, 0)).data(),
              .beta = device.upload(filled(&Rows::beta, 0)).data(),
              .gamma = device.upload(filled(&Rows::gamma, 1)).data(),
              .ridge = device.upload(&Rows::ridge).data()};
    states_on_device_ = &device.changed([&](const Carried<Scalar>& state) {
      Matrix<Scalar> all = Matrix<Scalar>::Zero((C + 1) * K, K + V);
      all.topRows(K) = state.front();
      return all;
    });
    chunks.state = states_on_device_->data();
    chunks.X = make("X", K);
    chunks.O = device.outputs(C * L, V).data();
    if (form == Form::recurrent) return;
    chunks.W = make("W", L);
    chunks.A = make("A", L);
    chunks.g_in = make("g_in", 1);
    chunks.g_out = make("g_out", 1);
    chunks.G = device.tapped("G", L, L);
    chunks.Q_back = device.tapped("Q_back", L, K);
    chunks.inter = device.tapped("O_inter", L, V);
    chunks.intra = device.tapped("O_intra", L, V);
    if (form == Form::parallel) return;
    chunks.R = make("", K);
    chunks.P = make("", K);
    chunks.MP = make("", K);
    chunks.preconditioner = make("", K);
  }

  /// Downloads the state of every head before chunk `chunk`, C after the last, and what `tokens` tokens of
  /// every head answer.
  std::vector<Matrix<Scalar>> finish(Index chunk, Index tokens) {
    const std::vector<MesaState<Scalar>> all = states_on_device_->download();
    for (std::size_t head = 0; head < all.size(); ++head)
      states_[head].front() = all[head].middleRows(chunk * chunks.K, chunks.K);
    std::vector<Matrix<Scalar>> answers = device.finish();
    for (Matrix<Scalar>& o : answers) o.conservativeResize(tokens, Eigen::NoChange);
    return answers;
  }

 private:
  std::span<Carried<Scalar>> states_;
  DeviceMatrices<Scalar>* states_on_device_ = nullptr;
};

/// Room for solves of as many blocks.
template <class Scalar>
SolveRooms<Scalar> make_rooms(MesaOnDevice<Scalar>& mesa, Index blocks) {
  const Index K = mesa.chunks.K;
  return {blocks, mesa.device.make("", blocks, K, K).data(), mesa.device.make_indices(blocks * K)};
}

/// Chunkwise: all chunks at once, and what they answer.
template <class Scalar>
void solve_chunks(MesaOnDevice<Scalar>& mesa, const std::stop_token& stop) {
  constexpr Index most_blocks = 1024;  // more than a device holds at the same time
  constexpr Index queries = 16;        // of a block, in mesa.cu
  const MesaChunks<Scalar>& chunks = mesa.chunks;
  const Index wanted = chunks.heads * chunks.chunks * ((chunks.L + queries - 1) / queries);
  const SolveRooms<Scalar> rooms = make_rooms(mesa, std::clamp<Index>(wanted, 1, most_blocks));
  mesa.device.compute([&] {
    chunks.make_states();
    stop_if_asked(stop);
    chunks.solve(rooms);
    await_device();
    stop_if_asked(stop);
    chunks.read();
  });
}

/// Parallel: some tokens of all heads at once, and what they answer.
template <class Scalar>
void solve_tokens(MesaOnDevice<Scalar>& mesa, const std::stop_token& stop) {
  const MesaChunks<Scalar>& chunks = mesa.chunks;
  const Index K = chunks.K;
  const Index L = chunks.L;
  const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(chunks.heads * K * K), L);
  Scalar* const Hkk =
      mesa.device
          .changed([&](const Carried<Scalar>& state) { return Matrix<Scalar>(state.front().leftCols(K)); })
          .data();
  const SolveRooms<Scalar> rooms = make_rooms(mesa, chunks.heads * at_once);
  mesa.device.compute([&] {
    chunks.make_states();
    for (Index first = 0; first < L; first += at_once) {
      stop_if_asked(stop);
      chunks.solve_tokens(rooms, first, std::min(first + at_once, L), Hkk);
      await_device();
    }
    chunks.read();
  });
}

/// Hands both halves of a state to a tap.
template <class Scalar>
void record_state(const MesaState<Scalar>& H, const std::string& when, Recorder& record) {
  record("Hkk_" + when, H.leftCols(H.rows()));
  record("Hkv_" + when, H.rightCols(H.cols() - H.rows()));
}

/// Chunkwise or parallel: one chunk of one head.
template <class Scalar>
Matrix<Scalar> one_chunk(Form form, const MesaRows<Scalar>& rows, Carried<Scalar>& state, Recorder* recorder,
                         const std::stop_token& stop, Rounding rounding) {
  const Index L = rows.k.rows();
  if (L == 0) return Matrix<Scalar>(0, rows.v.cols());
  MesaOnDevice<Scalar> mesa({&rows, 1}, {&state, 1}, form, L, rounding, recorder);
  if (form == Form::chunkwise) {
    solve_chunks(mesa, stop);
  } else {
    solve_tokens(mesa, stop);
  }
  if (recorder) {
    (*recorder)("gamma", rows.gamma);
    (*recorder)("beta", rows.beta);
    (*recorder)("ridge", rows.ridge);
    record_state<Scalar>(state.front(), "in", *recorder);
    mesa.device.record();
    (*recorder)("g_total", static_cast<double>(mesa.device["g_in"](L - 1, 0)));
  }
  const Matrix<Scalar> o = mesa.finish(1, L).front();
  if (recorder) record_state<Scalar>(state.front(), "out", *recorder);
  return o;
}

/// What the tables and rows of one head take, rather too much.
template <class Scalar>
double numbers(Form form, const MesaRows<Scalar>& rows, Index L) {
  const auto T = static_cast<double>(rows.q.rows());
  const auto n = static_cast<double>(L);
  const auto K = static_cast<double>(rows.k.cols());
  const auto V = static_cast<double>(rows.v.cols());
  const double tables = form == Form::recurrent ? 0 : 2 * n;
  return (T + n) * (tables + 7 * K + 2 * V + 4) + (T / n + 2) * K * (K + V);
}

/// One token after the other; a tap receives the last.
template <class Scalar>
Matrix<Scalar> recurrent(const MesaRows<Scalar>& rows, Carried<Scalar>& state, Recorder* recorder,
                         Rounding rounding) {
  const Index T = rows.q.rows();
  const Index K = rows.k.cols();
  const Index V = rows.v.cols();
  if (T == 0) return Matrix<Scalar>(0, V);
  MesaOnDevice<Scalar> mesa({&rows, 1}, {&state, 1}, Form::recurrent, T, rounding, recorder);
  Scalar* const decayed = mesa.device.tapped("decayed", K, K + V);
  mesa.chunks.walk(make_rooms(mesa, 1), 0, T, decayed);
  if (recorder) {
    (*recorder)("gamma", static_cast<double>(rows.gamma(T - 1, 0)));
    (*recorder)("beta", static_cast<double>(rows.beta(T - 1, 0)));
    (*recorder)("ridge", rows.ridge);
    record_state<Scalar>(state.front(), "before", *recorder);
    record_state<Scalar>(mesa.device["decayed"], "decayed", *recorder);
    (*recorder)("x", mesa.device["X"].transpose());
  }
  const Matrix<Scalar> o = mesa.finish(0, T).front();
  if (recorder) record_state<Scalar>(state.front(), "after", *recorder);
  return o;
}

/// Some tokens at a time, so that a run can be stopped.
template <class Scalar>
void run_tokens(MesaOnDevice<Scalar>& mesa, const std::stop_token& stop) {
  constexpr Index at_once = 64;
  const MesaChunks<Scalar>& chunks = mesa.chunks;
  const SolveRooms<Scalar> rooms = make_rooms(mesa, chunks.heads);
  const Index T = chunks.L;
  mesa.device.compute([&] {
    for (Index first = 0; first < T; first += at_once) {
      stop_if_asked(stop);
      chunks.walk(rooms, first, std::min(first + at_once, T), nullptr);
      await_device();
    }
  });
}

}  // namespace

template <class Scalar>
class FamilyEngine<MesaRows, Scalar> : public CudaEngine<MesaRows, Scalar> {
 public:
  using Base = CudaEngine<MesaRows, Scalar>;
  using Base::Base;

 private:
  Matrix<Scalar> step(const EngineRequest& request, const MesaRows<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    if (request.form == Form::recurrent) return recurrent(rows, state, request.tap, this->rounding_);
    return one_chunk(request.form, rows, state, request.tap, request.stop, this->rounding_);
  }

  static Index rows_of_chunk(const EngineRequest& request, Index T) {
    return request.form == Form::chunkwise ? std::min(request.chunk_size, T) : T;
  }

  double bytes(const EngineRequest& request, const MesaRows<Scalar>& head,
               const Carried<Scalar>&) const override {
    const Index T = std::max<Index>(head.q.rows(), 1);
    return sizeof(Scalar) * numbers(request.form, head, rows_of_chunk(request, T));
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    const Index T = heads.front().q.rows();
    if (T == 0) return typename Base::Outputs(heads.size(), Matrix<Scalar>(0, heads.front().v.cols()));
    MesaOnDevice<Scalar> mesa(heads, states, request.form, rows_of_chunk(request, T), this->rounding_);
    if (request.form == Form::recurrent) {
      run_tokens(mesa, request.stop);
      return mesa.finish(0, T);
    }
    if (request.form == Form::chunkwise) {
      solve_chunks(mesa, request.stop);
    } else {
      solve_tokens(mesa, request.stop);
    }
    return mesa.finish(mesa.chunks.chunks, T);
  }
};

template OwnedEngine<MesaRows, double> make_engine(Rounding);
template OwnedEngine<MesaRows, float> make_engine(Rounding);

}  // namespace palimpsest::cuda
