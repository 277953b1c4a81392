// Updates of whole batches, written to be read (spec 3.11): what is no product of two matrices.
//
// A thread computes one element of a result where it needs no other; a norm takes one warp per column or a
// whole block. Squares are taken of numbers of at most 1, so that none overflows or underflows.

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/engine.h"

namespace palimpsest::cuda {

namespace {

constexpr int threads_of_norm = 1024;
constexpr int neighbours_of_norm = 8;  // neighbours, which lie in the same pieces of memory

/// G_kc <- G_kc + sum_i eta_i K_ik R_ic
template <class Scalar>
__global__ void gather_elements(std::int64_t heads, const HeadMatrices<const Scalar> K,
                                const HeadMatrices<const Scalar> R, const HeadMatrices<const Scalar> eta,
                                bool adds, const HeadMatrices<Scalar> G) {
  each_of(heads, G.rows * G.columns, [&](std::int64_t head, std::int64_t index) {
    const std::int64_t k = index / G.columns;
    const std::int64_t c = index % G.columns;
    Scalar sum = 0;
    for (std::int64_t i = 0; i < K.rows; ++i) sum += eta(head, i, 0) * K(head, i, k) * R(head, i, c);
    G(head, k, c) = adds ? G(head, k, c) + sum : sum;
  });
}

/// Z_kc = f X_kc + Y_kc
template <class Scalar>
__global__ void add_elements(std::int64_t heads, const HeadMatrices<const Scalar> f,
                             const HeadMatrices<const Scalar> X, const HeadMatrices<const Scalar> Y,
                             const HeadMatrices<Scalar> Z) {
  each_of(heads, Z.rows * Z.columns, [&](std::int64_t head, std::int64_t index) {
    const std::int64_t k = index / Z.columns;
    const std::int64_t c = index % Z.columns;
    const Scalar x = f.data ? f(head, 0, 0) * X(head, k, c) : X(head, k, c);
    Z(head, k, c) = Y.data ? x + Y(head, k, c) : x;
  });
}

/// `largest`, unless there is nothing to divide by.
template <class Scalar>
__device__ Scalar unit_of(Scalar largest) {
  return largest > 0 ? largest : Scalar(1);
}

/// norm = u sqrt(sum_kc (M_kc / u)^2) with u = max |M_kc|, X_kc = M_kc / (norm + eps): a block for each head.
template <class Scalar>
__global__ void __launch_bounds__(threads_of_norm)
    divide_elements(std::int64_t heads, const HeadMatrices<const Scalar> M, Scalar eps,
                    const HeadMatrices<Scalar> norm, const HeadMatrices<Scalar> X) {
  for (std::int64_t head = blockIdx.x; head < heads; head += gridDim.x) {
    const Scalar unit = unit_of(block_reduce(
        M.rows, M.columns, Scalar(0), [&](std::int64_t k, std::int64_t c) { return fabs(M(head, k, c)); },
        [](Scalar a, Scalar b) { return a > b ? a : b; }));
    const Scalar squares = block_reduce(
        M.rows, M.columns, Scalar(0),
        [&](std::int64_t k, std::int64_t c) { return M(head, k, c) / unit * (M(head, k, c) / unit); },
        [](Scalar a, Scalar b) { return a + b; });
    const Scalar size = unit * sqrt(squares);
    if (threadIdx.x == 0) norm(head, 0, 0) = size;
    each(M.rows, M.columns,
         [&](std::int64_t k, std::int64_t c) { X(head, k, c) = M(head, k, c) / (size + eps); });
  }
}

/// norm_c = u sqrt(sum_k (S_kc / u)^2) with u = max_k |S_kc|, factor_c = wanted_c / (norm_c + eps), S_kc <-
/// factor_c S_kc: a warp for each column.
template <class Scalar>
__global__ void __launch_bounds__(neighbours_of_norm* warp_size)
    restore_columns(std::int64_t heads, const HeadMatrices<const Scalar> wanted, Scalar eps,
                    const HeadMatrices<Scalar> norms, const HeadMatrices<Scalar> factors,
                    const HeadMatrices<Scalar> S) {
  const int lane = threadIdx.x % warp_size;
  const std::int64_t c = std::int64_t{blockIdx.x} * neighbours_of_norm + threadIdx.x / warp_size;
  if (c >= S.columns) return;
  for (std::int64_t head = blockIdx.y; head < heads; head += gridDim.y) {
    const Scalar unit = unit_of(warp_reduce(
        S.rows, Scalar(0), [&](std::int64_t k) { return fabs(S(head, k, c)); },
        [](Scalar a, Scalar b) { return a > b ? a : b; }));
    const Scalar squares = warp_sum<Scalar>(
        S.rows, [&](std::int64_t k) { return S(head, k, c) / unit * (S(head, k, c) / unit); });
    const Scalar norm = unit * sqrt(squares);
    const Scalar factor = wanted(head, 0, c) / (norm + eps);
    if (lane == 0) {
      norms(head, 0, c) = norm;
      factors(head, 0, c) = factor;
    }
    for (std::int64_t k = lane; k < S.rows; k += warp_size) S(head, k, c) *= factor;
  }
}

/// G_kc = sum_i eta_i K_ik R_ic over the rows [n, K], [n, V], [n, 1] of every head; with `adds` that is added
/// to G.
template <class Scalar>
void gather_gradient(Index heads, const HeadMatrices<const Scalar>& K, const HeadMatrices<const Scalar>& R,
                     const HeadMatrices<const Scalar>& eta, bool adds, const HeadMatrices<Scalar>& G) {
  launch(gather_elements<Scalar>, grid_of_each(heads, G.rows * G.columns), heads, K, R, eta, adds, G);
}

/// Z = f X + Y with one number f [1, 1] for each head; without data f is 1, and Y is 0. Z may be X or Y.
template <class Scalar>
void add_scaled(Index heads, const HeadMatrices<const Scalar>& f, const HeadMatrices<const Scalar>& X,
                const HeadMatrices<const Scalar>& Y, const HeadMatrices<Scalar>& Z) {
  launch(add_elements<Scalar>, grid_of_each(heads, Z.rows * Z.columns), heads, f, X, Y, Z);
}

/// Newton-Schulz steps on a matrix [K, V] of every head, and room for them; or none.
template <class Scalar>
class NewtonSchulzSteps {
 public:
  NewtonSchulzSteps(Index heads, Index K, Index V, const std::optional<NewtonSchulz>& steps)
      : steps_(steps), is_tall_(K > V) {
    if (!steps) return;
    const auto [rows, columns] = std::minmax({K, V});
    norm_ = DeviceMatrices<Scalar>(heads, 1, 1);
    for (auto* const room : {&X_, &next_}) *room = DeviceMatrices<Scalar>(heads, rows, columns);
    for (auto* const room : {&B_, &polynomial_}) *room = DeviceMatrices<Scalar>(heads, rows, rows);
  }

  /// newton_schulz() of M, [K, V], valid until the next call; M itself without steps.
  HeadMatrices<Scalar> operator()(const HeadMatrices<Scalar>& M, Recorder* recorder = nullptr) {
    if (!steps_) return M;
    const NewtonSchulz& steps = *steps_;
    const Index heads = X_.heads();
    launch(divide_elements<Scalar>, {blocks_for(std::min(heads, most_grid_blocks)), threads_of_norm}, heads,
           is_tall_ ? M.transposed() : M, static_cast<Scalar>(newton_schulz_eps), norm_, X_);
    Matrix<double> spectra(X_.rows(), recorder ? steps.size() + 1 : 0);
    const auto record = [&](const std::string& name, Index column) {
      const Matrix<Scalar> X = X_.matrix();
      (*recorder)(name, X);
      spectra.col(column) = singular_values(X.template cast<double>());
    };
    if (recorder) (*recorder)("norm", norm_.matrix());
    if (recorder) record("X_0", 0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto a = static_cast<Scalar>(steps[i].a);
      const auto b = static_cast<Scalar>(steps[i].b);
      const auto c = static_cast<Scalar>(steps[i].c);
      multiply(heads, 1, X_, X_.all().transposed(), 0, {}, B_.all());
      multiply(heads, c, B_, B_, b, B_, polynomial_.all());
      multiply(heads, 1, polynomial_, X_, a, X_, next_.all());
      std::swap(X_, next_);
      if (!recorder) continue;
      (*recorder)("B_" + std::to_string(i + 1), B_.matrix());
      record("X_" + std::to_string(i + 1), static_cast<Index>(i) + 1);
    }
    if (recorder) (*recorder)("spectra", spectra);
    return is_tall_ ? X_.all().transposed() : X_.all();
  }

 private:
  std::optional<NewtonSchulz> steps_;
  bool is_tall_;
  DeviceMatrices<Scalar> norm_, X_, next_, B_, polynomial_;
};

/// Updates of all heads at batch ends, and room for them.
template <class Scalar>
class Updates {
 public:
  Updates(Index heads, Index K, Index V, const std::optional<NewtonSchulz>& muon)
      : heads_(heads), steps_(heads, K, V, muon) {}

  /// The norms that columns keep: [H, 1, V].
  void keep_column_norms(DeviceMatrices<Scalar> wanted) {
    norms_ = DeviceMatrices<Scalar>(heads_, 1, wanted.columns());
    factors_ = DeviceMatrices<Scalar>(heads_, 1, wanted.columns());
    wanted_ = std::move(wanted);
  }

  /// LactOnProcessor::update() of every head; `momentum` [1, 1].
  void operator()(const HeadMatrices<Scalar>& G, const HeadMatrices<Scalar>& momentum,
                  DeviceMatrices<Scalar>& S, DeviceMatrices<Scalar>& M, Recorder* recorder = nullptr) {
    add_scaled<Scalar>(heads_, momentum, M, G, M);
    add_scaled<Scalar>(heads_, {}, steps_(M, recorder), S, S);
    if (wanted_.heads() == 0) return;
    if (recorder) (*recorder)("S_free", S.matrix());
    launch(restore_columns<Scalar>,
           {{blocks_for(S.columns(), neighbours_of_norm), blocks_for(std::min(heads_, most_grid_blocks))},
            neighbours_of_norm * warp_size},
           heads_, wanted_, static_cast<Scalar>(column_norm_eps), norms_, factors_, S);
    if (!recorder) return;
    (*recorder)("column_norms", norms_.matrix().transpose());
    (*recorder)("column_factors", factors_.matrix().transpose());
  }

 private:
  Index heads_;
  NewtonSchulzSteps<Scalar> steps_;
  DeviceMatrices<Scalar> wanted_, norms_, factors_;
};

/// Tokens of all heads on the device.
template <class Scalar>
struct Tokens {
  HeadMatrices<Scalar> Q, K, V, eta;
  HeadMatrices<Scalar> momentum;  // [H, N, 1]; without data: none

  explicit Tokens(HeadsOnDevice<LactTokens, Scalar>& device)
      : Q(device.rows(&LactTokens<Scalar>::Q)),
        K(device.rows(&LactTokens<Scalar>::K)),
        V(device.rows(&LactTokens<Scalar>::V)),
        eta(device.upload(&LactTokens<Scalar>::eta)) {
    if (device.first().momentum.size() > 0) momentum = device.upload(&LactTokens<Scalar>::momentum);
  }

  /// The gradient of `count` tokens from `first` on, R the desired changes of the predictions: [K, V].
  void gather(Index heads, Index first, Index count, const HeadMatrices<Scalar>& R,
              const HeadMatrices<Scalar>& G) const {
    gather_gradient<Scalar>(heads, K.middle_rows(first, count), R.middle_rows(first, count),
                            eta.middle_rows(first, count), false, G);
  }
};

/// What LactOnProcessor::scan() makes of every head: the matrices of all batches, stacked, and room for it.
template <class Scalar>
class Scan {
 public:
  DeviceMatrices<Scalar> gradients, momenta, steps, weights;

  Scan(Index heads, std::vector<Index> first, Index dk, Index dv, const std::optional<NewtonSchulz>& muon)
      : gradients(heads, std::ssize(first) * dk, dv),
        momenta(heads, std::ssize(first) * dk, dv),
        steps(heads, std::ssize(first) * dk, dv),
        weights(heads, (std::ssize(first) + 1) * dk, dv),
        heads_(heads),
        dk_(dk),
        dv_(dv),
        newton_schulz_(heads * std::ssize(first), dk, dv, muon),
        first_(std::move(first)) {}

  /// Matrix c of those stacked, of every head: [dk, V].
  HeadMatrices<Scalar> of(DeviceMatrices<Scalar>& stacked, Index c) const {
    return stacked.all().middle_rows(c * dk_, dk_);
  }

  void run(const Tokens<Scalar>& tokens, DeviceMatrices<Scalar>& S_0, DeviceMatrices<Scalar>& M_0,
           const std::stop_token& stop) {
    const Index N = std::ssize(first_);
    for (Index c = 0; c < N; ++c) {
      stop_if_asked(stop);
      const Index begin = first_[static_cast<std::size_t>(c)];
      const Index end = c + 1 < N ? first_[static_cast<std::size_t>(c) + 1] : tokens.K.rows;
      tokens.gather(heads_, begin, end - begin, tokens.V, of(gradients, c));
      // M_c = m_c M_{c-1} + G_c
      if (!tokens.momentum.data) {
        add_scaled<Scalar>(heads_, {}, of(gradients, c), {}, of(momenta, c));
      } else {
        add_scaled<Scalar>(heads_, tokens.momentum.middle_rows(c, 1), c == 0 ? M_0.all() : of(momenta, c - 1),
                           of(gradients, c), of(momenta, c));
      }
    }
    stop_if_asked(stop);
    add_scaled<Scalar>(heads_ * N, {}, newton_schulz_(each(momenta)), {}, each(steps));
    // S_c = S_{c-1} + step_c
    add_scaled<Scalar>(heads_, {}, S_0, {}, of(weights, 0));
    for (Index c = 0; c < N; ++c) {
      stop_if_asked(stop);
      add_scaled<Scalar>(heads_, {}, of(weights, c), of(steps, c), of(weights, c + 1));
    }
  }

 private:
  /// All batches of all heads lie one after the other: as many heads.
  HeadMatrices<Scalar> each(DeviceMatrices<Scalar>& stacked) const {
    return {stacked.data(), dk_, dv_, dv_, 1, dk_ * dv_};
  }

  Index heads_, dk_, dv_;
  NewtonSchulzSteps<Scalar> newton_schulz_;  // of all batches at once
  std::vector<Index> first_;                 // tokens of the batches
};

/// What a block takes of the device, one thing after the other.
template <class Scalar>
struct LactStepsOnDevice {
  Rounding rounding;

  Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S) const {
    return cuda::read(Q, S, rounding);
  }

  void gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R, const Vector<Scalar>& eta,
              Matrix<Scalar>& G) const {
    DeviceMatrices<Scalar> keys(K), rows(R), rates{Matrix<Scalar>(eta)}, sum(G);
    keys.round(rounding);
    rows.round(rounding);
    gather_gradient<Scalar>(1, keys, rows, rates, true, sum);
    G = sum.matrix();
  }

  void update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G, Scalar momentum, Matrix<Scalar>& S,
              Matrix<Scalar>& M, Recorder* recorder) const {
    DeviceMatrices<Scalar> gradient(G), weights(S), direction(M);
    DeviceMatrices<Scalar> factor{Matrix<Scalar>(Matrix<Scalar>::Constant(1, 1, momentum))};
    Updates<Scalar> updates(1, S.rows(), S.cols(), update.muon);
    if (update.column_norm)
      updates.keep_column_norms(DeviceMatrices<Scalar>(Matrix<Scalar>(*update.column_norm)));
    updates(gradient, factor, weights, direction, recorder);
    S = weights.matrix();
    M = direction.matrix();
  }

  LactScan<Scalar> scan(const LactTokens<Scalar>& given, const std::vector<Index>& first,
                        const Matrix<Scalar>& S_0, const Matrix<Scalar>& M_0,
                        const std::stop_token& stop) const {
    const EngineRequest request = {.stop = stop};
    HeadsOnDevice<LactTokens, Scalar> device(request, {&given, 1}, {}, rounding);
    DeviceMatrices<Scalar> S(S_0), M(M_0);
    Scan<Scalar> scan(1, first, S.rows(), S.columns(), given.way.muon);
    scan.run(Tokens<Scalar>(device), S, M, stop);
    return {scan.gradients.matrix(), scan.momenta.matrix(), scan.steps.matrix(), scan.weights.matrix()};
  }
};

}  // namespace

template <class Scalar>
class FamilyRun<LactTokens, Scalar> : public AnyFamily {
 public:
  using Rows = LactTokens<Scalar>;

  explicit FamilyRun(HeadsOnDevice<LactTokens, Scalar>& device)
      : device_(device), way_(device.first().way), batches_(device.first().batches()) {}

  static double bytes(const EngineRequest& request, const Rows& head, const Carried<Scalar>&) {
    const auto T = static_cast<double>(head.K.rows());
    const auto K = static_cast<double>(head.K.cols());
    const auto V = static_cast<double>(head.V.cols());
    const double batches = request.form == Form::parallel ? T / static_cast<double>(head.way.batch) + 1 : 1;
    return sizeof(Scalar) *
           (T * (2 * K + 3 * V + 2) + 10 * batches * (K * V + std::min(K, V) * std::min(K, V)) + 1);
  }

  std::vector<Matrix<Scalar>> run() {
    if (device_.request.phase)
      return {lact_block(LactStepsOnDevice<Scalar>{device_.rounding()}, device_.request, device_.first(),
                         device_.states().front())};
    const Tokens<Scalar> tokens(device_);
    DeviceMatrices<Scalar>& S = device_.state(0);
    DeviceMatrices<Scalar>& M = device_.state(1);
    DeviceMatrices<Scalar>& O = device_.outputs(tokens.Q.rows, S.columns());
    if (device_.request.form == Form::parallel)
      run_scan(tokens, S, M, O);
    else
      run_batches(tokens, S, M, O);
    return device_.finish();
  }

 private:
  /// The scan over all batches, then all reads.
  void run_scan(const Tokens<Scalar>& tokens, DeviceMatrices<Scalar>& S, DeviceMatrices<Scalar>& M,
                DeviceMatrices<Scalar>& O) {
    const Index N = batches_.batch_count();
    std::vector<Index> first;
    for (Index c = 0; c < N; ++c) first.push_back(batches_.piece(c).first);
    if (N == 0) return;
    Scan<Scalar> scan(heads(), first, S.rows(), S.columns(), way_.muon);
    device_.compute([&] {
      scan.run(tokens, S, M, device_.request.stop);
      device_.in_parts(N, 1, [&](Index c, Index) {
        read(tokens, batches_.piece(c), scan.of(scan.weights, way_.update_first ? c + 1 : c), O);
      });
      add_scaled<Scalar>(heads(), {}, scan.of(scan.weights, N), {}, S);
      add_scaled<Scalar>(heads(), {}, scan.of(scan.momenta, N - 1), {}, M);
    });
  }

  void run_batches(const Tokens<Scalar>& tokens, DeviceMatrices<Scalar>& S, DeviceMatrices<Scalar>& M,
                   DeviceMatrices<Scalar>& O) {
    const Index dk = S.rows();
    const Index dv = S.columns();
    Updates<Scalar> updates(heads(), dk, dv, way_.muon);
    if (device_.first().column_norm)
      updates.keep_column_norms(
          std::move(device_.upload([](const Rows& head) { return Matrix<Scalar>(*head.column_norm); })));
    DeviceMatrices<Scalar>& G = device_.make("", dk, dv);
    const HeadMatrices<Scalar> R = way_.squared_loss ? device_.make("", O.rows(), dv).all() : tokens.V;
    const HeadMatrices<Scalar> no_momentum =
        device_.upload([](const Rows&) -> Matrix<Scalar> { return Matrix<Scalar>::Zero(1, 1); });
    const auto take = [&](Index c) {
      const Piece batch = batches_.piece(c);
      if (!way_.update_first) read(tokens, batch, S, O);
      // v, or v - S^T k
      if (way_.squared_loss)
        multiply(heads(), -1, rows(tokens.K, batch), S, 1, rows(tokens.V, batch), rows(R, batch));
      tokens.gather(heads(), batch.first, batch.count, R, G);
      updates(G, tokens.momentum.data ? tokens.momentum.middle_rows(c, 1) : no_momentum, S, M);
      if (way_.update_first) read(tokens, batch, S, O);
    };
    constexpr Index batches_between_stops = 16;
    device_.compute([&] {
      device_.in_parts(batches_.batch_count(), batches_between_stops, [&](Index first, Index count) {
        for (Index c = first; c < first + count; ++c) take(c);
        await_device();
      });
    });
  }

  Index heads() const { return device_.count(); }

  static HeadMatrices<Scalar> rows(const HeadMatrices<Scalar>& all, const Piece& batch) {
    return all.middle_rows(batch.first, batch.count);
  }

  /// Q S of a batch.
  void read(const Tokens<Scalar>& tokens, const Piece& batch, const HeadMatrices<Scalar>& S,
            DeviceMatrices<Scalar>& O) const {
    multiply(heads(), 1, rows(tokens.Q, batch), S, 0, {}, rows(O, batch));
  }

  HeadsOnDevice<LactTokens, Scalar>& device_;
  LactWay way_;
  InnerBatches batches_;
};

PALIMPSEST_CUDA_ENGINES(, LactTokens);

}  // namespace palimpsest::cuda
