#include <algorithm>

#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/mesa.h"

namespace palimpsest::cuda {

namespace {

/// Chunks of all heads, uploaded once, with their states and room for what they make.
template <class Scalar>
class MesaOnDevice {
 public:
  /// In chunks of L tokens; `tables`: for all but the recurrent form; `gradients`: for the chunkwise form.
  MesaOnDevice(std::span<const MesaRows<Scalar>> heads, std::span<const Carried<Scalar>> states, Index L,
               bool tables, bool gradients, Rounding rounding)
      : rounding_(rounding),
        heads_(static_cast<Index>(heads.size())),
        chunks_((heads.front().q.rows() + L - 1) / L),
        L_(L) {
    const Index K = heads.front().k.cols();
    const Index V = heads.front().v.cols();
    const Index N = heads_ * chunks_;
    view_ = {.heads = heads_, .chunks = chunks_, .L = L, .K = K, .V = V};
    view_.q = upload(q_, heads, &MesaRows<Scalar>::q, 0);
    view_.k = upload(k_, heads, &MesaRows<Scalar>::k, 0);
    view_.v = upload(v_, heads, &MesaRows<Scalar>::v, 0);
    for (DeviceMatrices<Scalar>* const rows : {&q_, &k_, &v_}) rows->round(rounding);
    view_.beta = upload(beta_, heads, &MesaRows<Scalar>::beta, 0);
    view_.gamma = upload(gamma_, heads, &MesaRows<Scalar>::gamma, 1);
    ridge_ = DeviceMatrices<Scalar>::of_heads(heads, &MesaRows<Scalar>::ridge);
    view_.ridge = ridge_.data();
    states_ = DeviceMatrices<Scalar>::of_heads(states, [&](const Carried<Scalar>& state) {
      Matrix<Scalar> all = Matrix<Scalar>::Zero((chunks_ + 1) * K, K + V);
      all.topRows(K) = state.front();
      return all;
    });
    view_.state = states_.data();
    view_.X = make(X_, N, L, K);
    view_.O = make(O_, N, L, V);
    if (!tables) return;
    view_.W = make(W_, N, L, L);
    view_.A = make(A_, N, L, L);
    view_.g_in = make(g_in_, N, L, 1);
    view_.g_out = make(g_out_, N, L, 1);
    if (!gradients) return;
    view_.R = make(R_, N, L, K);
    view_.P = make(P_, N, L, K);
    view_.MP = make(MP_, N, L, K);
    view_.preconditioner = make(preconditioner_, N, L, K);
  }

  const MesaChunks<Scalar>& view() const { return view_; }

  /// The states before and after every chunk, which are written.
  DeviceMatrices<Scalar>& all_states() { return states_; }

  /// Asks for what a trace shows besides.
  void tap() {
    view_.G = make(G_, heads_ * chunks_, L_, L_);
    view_.Q_back = make(Q_back_, heads_ * chunks_, L_, view_.K);
    view_.inter = make(inter_, heads_ * chunks_, L_, view_.V);
    view_.intra = make(intra_, heads_ * chunks_, L_, view_.V);
  }

  /// What a chunk made, all but its states; it is the only one.
  void record(Recorder& recorder) const {
    const Matrix<Scalar> g_in = g_in_.matrix();
    recorder("G", G_.matrix());
    recorder("W", W_.matrix());
    recorder("g_in", g_in);
    recorder("g_out", g_out_.matrix());
    recorder("g_total", static_cast<double>(g_in(g_in.rows() - 1, 0)));
    recorder("X", X_.matrix());
    recorder("Q_back", Q_back_.matrix());
    recorder("A", A_.matrix());
    recorder("O_inter", inter_.matrix());
    recorder("O_intra", intra_.matrix());
  }

  /// The solutions of the only chunk.
  Matrix<Scalar> X() const { return X_.matrix(); }

  /// What `tokens` tokens of every head answer.
  std::vector<Matrix<Scalar>> outputs(Index tokens) {
    O_.round(rounding_);
    const std::vector<Matrix<Scalar>> chunks = O_.download();
    std::vector<Matrix<Scalar>> all;
    for (Index head = 0; head < heads_; ++head) {
      Matrix<Scalar> o(chunks_ * L_, view_.V);
      for (Index c = 0; c < chunks_; ++c)
        o.middleRows(c * L_, L_) = chunks[static_cast<std::size_t>(head * chunks_ + c)];
      all.push_back(o.topRows(tokens));
    }
    return all;
  }

  /// Downloads the state of every head before chunk `chunk`: C is after the last.
  void download_states(Index chunk, std::span<Carried<Scalar>> to) const {
    const std::vector<MesaState<Scalar>> all = states_.download();
    for (std::size_t head = 0; head < all.size(); ++head)
      to[head].front() = all[head].middleRows(chunk * view_.K, view_.K);
  }

  Index chunks() const { return chunks_; }

 private:
  /// Rows of all heads; those that fill the last chunk hold `filler`.
  const Scalar* upload(DeviceMatrices<Scalar>& to, std::span<const MesaRows<Scalar>> heads,
                       Matrix<Scalar> MesaRows<Scalar>::*rows, Scalar filler) {
    to = DeviceMatrices<Scalar>::of_heads(heads, [&](const MesaRows<Scalar>& head) {
      const Matrix<Scalar>& given = head.*rows;
      Matrix<Scalar> filled = Matrix<Scalar>::Constant(chunks_ * L_, given.cols(), filler);
      filled.topRows(given.rows()) = given;
      return filled;
    });
    return to.data();
  }

  static Scalar* make(DeviceMatrices<Scalar>& to, Index heads, Index rows, Index columns) {
    to = DeviceMatrices<Scalar>(heads, rows, columns);
    return to.data();
  }

  Rounding rounding_;
  Index heads_;
  Index chunks_;
  Index L_;
  MesaChunks<Scalar> view_;
  DeviceMatrices<Scalar> q_, k_, v_, beta_, gamma_, ridge_, states_, X_, O_, W_, A_, g_in_, g_out_, R_, P_,
      MP_, preconditioner_, G_, Q_back_, inter_, intra_;
};

/// Room for solves of as many blocks.
template <class Scalar>
class Rooms {
 public:
  Rooms(Index blocks, Index K)
      : blocks_(blocks), M_(blocks, K, K), order_(static_cast<std::size_t>(blocks * K)) {}

  SolveRooms<Scalar> view() { return {blocks_, M_.data(), order_.data()}; }

 private:
  Index blocks_;
  DeviceMatrices<Scalar> M_;
  DeviceArray<std::int64_t> order_;
};

/// Chunkwise: all chunks at once, and what they answer.
template <class Scalar>
void solve_chunks(MesaOnDevice<Scalar>& device, const std::stop_token& stop) {
  constexpr Index most_blocks = 1024;  // more than a device holds at the same time
  constexpr Index queries = 16;        // of a block, in mesa.cu
  const MesaChunks<Scalar>& chunks = device.view();
  const Index wanted = chunks.heads * chunks.chunks * ((chunks.L + queries - 1) / queries);
  Rooms<Scalar> rooms(std::clamp<Index>(wanted, 1, most_blocks), chunks.K);
  computing<Scalar>({&device.all_states()}, [&] {
    make_mesa_states(chunks);
    stop_if_asked(stop);
    solve_mesa_chunks(chunks, rooms.view());
    CHECK_CUDA(cudaStreamSynchronize(nullptr));
    stop_if_asked(stop);
    read_mesa_chunks(chunks);
  });
}

/// Parallel: some tokens of all heads at once, and what they answer.
template <class Scalar>
void solve_tokens(MesaOnDevice<Scalar>& device, std::span<const Carried<Scalar>> states,
                  const std::stop_token& stop) {
  const MesaChunks<Scalar>& chunks = device.view();
  const Index K = chunks.K;
  const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(chunks.heads * K * K), chunks.L);
  auto Hkk = DeviceMatrices<Scalar>::of_heads(
      states, [&](const Carried<Scalar>& state) { return Matrix<Scalar>(state.front().leftCols(K)); });
  Rooms<Scalar> rooms(chunks.heads * at_once, K);
  computing<Scalar>({&device.all_states(), &Hkk}, [&] {
    make_mesa_states(chunks);
    for (Index first = 0; first < chunks.L; first += at_once) {
      stop_if_asked(stop);
      solve_mesa_tokens(chunks, rooms.view(), first, std::min<Index>(first + at_once, chunks.L), Hkk.data());
      CHECK_CUDA(
          cudaStreamSynchronize(nullptr));  // or all would be under way before anyone could ask to stop
    }
    read_mesa_chunks(chunks);
  });
}

/// Chunkwise or parallel: one chunk of one head.
template <class Scalar>
Matrix<Scalar> one_chunk(bool gradients, const MesaRows<Scalar>& rows, Carried<Scalar>& state,
                         Recorder* recorder, const std::stop_token& stop, Rounding rounding) {
  const Index L = rows.k.rows();
  const Index K = rows.k.cols();
  const Index V = rows.v.cols();
  if (L == 0) return Matrix<Scalar>(0, V);
  MesaOnDevice<Scalar> device({&rows, 1}, {&state, 1}, L, true, gradients, rounding);
  if (recorder) device.tap();
  if (gradients) {
    solve_chunks(device, stop);
  } else {
    solve_tokens<Scalar>(device, {&state, 1}, stop);
  }
  const MesaState<Scalar> H = state.front();
  device.download_states(1, {&state, 1});
  if (recorder) {
    (*recorder)("gamma", rows.gamma);
    (*recorder)("beta", rows.beta);
    (*recorder)("ridge", rows.ridge);
    (*recorder)("Hkk_in", H.leftCols(K));
    (*recorder)("Hkv_in", H.rightCols(V));
    device.record(*recorder);
    (*recorder)("Hkk_out", state.front().leftCols(K));
    (*recorder)("Hkv_out", state.front().rightCols(V));
  }
  return device.outputs(L).front();
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
  MesaOnDevice<Scalar> device({&rows, 1}, {&state, 1}, T, false, false, rounding);
  Rooms<Scalar> rooms(1, K);
  DeviceMatrices<Scalar> decayed(recorder ? 1 : 0, K, K + V);
  walk_mesa(device.view(), rooms.view(), 0, T, decayed.data());
  const MesaState<Scalar> H = state.front();
  device.download_states(0, {&state, 1});
  if (recorder) {
    const MesaState<Scalar>& after = state.front();
    const MesaState<Scalar> left = decayed.matrix();
    (*recorder)("gamma", static_cast<double>(rows.gamma(T - 1, 0)));
    (*recorder)("beta", static_cast<double>(rows.beta(T - 1, 0)));
    (*recorder)("ridge", rows.ridge);
    (*recorder)("Hkk_before", H.leftCols(K));
    (*recorder)("Hkv_before", H.rightCols(V));
    (*recorder)("Hkk_decayed", left.leftCols(K));
    (*recorder)("Hkv_decayed", left.rightCols(V));
    (*recorder)("Hkk_after", after.leftCols(K));
    (*recorder)("Hkv_after", after.rightCols(V));
    (*recorder)("x", device.X().transpose());
  }
  return device.outputs(T).front();
}

/// Some tokens at a time, so that a run can be stopped.
template <class Scalar>
void run_tokens(MesaOnDevice<Scalar>& device, Index T, const std::stop_token& stop) {
  constexpr Index tokens_between_stops = 64;
  Rooms<Scalar> rooms(device.view().heads, device.view().K);
  computing<Scalar>({&device.all_states()}, [&] {
    for (Index first = 0; first < T; first += tokens_between_stops) {
      stop_if_asked(stop);
      walk_mesa<Scalar>(device.view(), rooms.view(), first, std::min(first + tokens_between_stops, T),
                        nullptr);
      CHECK_CUDA(
          cudaStreamSynchronize(nullptr));  // or all would be under way before anyone could ask to stop
    }
  });
}

template <class Scalar>
class MesaEngine : public CudaEngine<MesaRows, Scalar> {
 public:
  using CudaEngine<MesaRows, Scalar>::CudaEngine;

 private:
  using Base = CudaEngine<MesaRows, Scalar>;
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const MesaRows<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    if (request.form == Form::recurrent) return recurrent(rows, state, request.tap, rounding_);
    return one_chunk(request.form == Form::chunkwise, rows, state, request.tap, request.stop, rounding_);
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
    const bool is_recurrent = request.form == Form::recurrent;
    const bool is_chunkwise = request.form == Form::chunkwise;
    MesaOnDevice<Scalar> device(heads, states, rows_of_chunk(request, T), !is_recurrent, is_chunkwise,
                                rounding_);
    if (is_recurrent) {
      run_tokens(device, T, request.stop);
    } else if (is_chunkwise) {
      solve_chunks(device, request.stop);
    } else {
      solve_tokens<Scalar>(device, states, request.stop);
    }
    device.download_states(is_recurrent ? 0 : device.chunks(), states);
    return device.outputs(T);
  }
};

}  // namespace

template <class Scalar>
OwnedEngine<MesaRows, Scalar> mesa_engine(Rounding rounding) {
  return std::make_unique<MesaEngine<Scalar>>(rounding);
}

template OwnedEngine<MesaRows, double> mesa_engine(Rounding);
template OwnedEngine<MesaRows, float> mesa_engine(Rounding);

}  // namespace palimpsest::cuda
