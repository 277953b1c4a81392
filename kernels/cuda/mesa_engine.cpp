#include <algorithm>

#include "kernels/cuda/engine.h"
#include "kernels/cuda/mesa.h"

namespace palimpsest::cuda {

/// Whole heads in chunks, or all tokens of a block as one.
template <class Scalar>
class FamilyRun<MesaRows, Scalar> : public AnyFamily {
 public:
  using Rows = MesaRows<Scalar>;

  explicit FamilyRun(HeadsOnDevice<MesaRows, Scalar>& device)
      : device_(device), request_(device.request), T_(device.first().q.rows()) {}

  static double bytes(const EngineRequest& request, const Rows& head, const Carried<Scalar>&) {
    const Index rows = std::max<Index>(head.q.rows(), 1);
    const auto T = static_cast<double>(head.q.rows());
    const auto n = static_cast<double>(rows_of_chunk(request, rows));
    const auto K = static_cast<double>(head.k.cols());
    const auto V = static_cast<double>(head.v.cols());
    const double tables = request.form == Form::recurrent ? 0 : 2 * n;
    return sizeof(Scalar) * ((T + n) * (tables + 7 * K + 2 * V + 4) + (T / n + 2) * K * (K + V));
  }

  std::vector<Matrix<Scalar>> run() {
    if (T_ == 0)
      return std::vector<Matrix<Scalar>>(device_.states().size(),
                                         Matrix<Scalar>(0, device_.first().v.cols()));
    upload(rows_of_chunk(request_, T_));
    if (request_.form == Form::recurrent)
      walk();
    else if (request_.form == Form::chunkwise)
      solve_chunks();
    else
      solve_tokens();
    if (request_.tap) record();
    return finish();
  }

 private:
  static Index rows_of_chunk(const EngineRequest& request, Index T) {
    return request.form == Form::chunkwise && !request.phase ? std::min(request.chunk_size, T) : T;
  }

  /// In chunks of L tokens, with room for what they make.
  void upload(Index L) {
    const Index H = device_.count();
    const Index C = (T_ + L - 1) / L;
    const Index K = device_.first().k.cols();
    const Index V = device_.first().v.cols();
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
      return device_.make(name, H * C, L, columns).data();
    };
    chunks_ = {.heads = H,
               .chunks = C,
               .L = L,
               .K = K,
               .V = V,
               .q = device_.rows(filled(&Rows::q, 0)).data(),
               .k = device_.rows(filled(&Rows::k, 0)).data(),
               .v = device_.rows(filled(&Rows::v, 0)).data(),
               .beta = device_.upload(filled(&Rows::beta, 0)).data(),
               .gamma = device_.upload(filled(&Rows::gamma, 1)).data(),
               .ridge = device_.upload(&Rows::ridge).data()};
    states_ = &device_.changed([&](const Carried<Scalar>& state) {
      Matrix<Scalar> all = Matrix<Scalar>::Zero((C + 1) * K, K + V);
      all.topRows(K) = state.front();
      return all;
    });
    chunks_.state = states_->data();
    chunks_.X = make("X", K);
    chunks_.O = device_.outputs(C * L, V).data();
    if (request_.form == Form::recurrent) return;
    chunks_.W = make("W", L);
    chunks_.A = make("A", L);
    chunks_.g_in = make("g_in", 1);
    chunks_.g_out = make("g_out", 1);
    chunks_.G = device_.tapped("G", L, L);
    chunks_.Q_back = device_.tapped("Q_back", L, K);
    chunks_.inter = device_.tapped("O_inter", L, V);
    chunks_.intra = device_.tapped("O_intra", L, V);
    if (request_.form == Form::parallel) return;
    for (Scalar** const room : {&chunks_.R, &chunks_.P, &chunks_.MP, &chunks_.preconditioner})
      *room = make("", K);
  }

  /// Room for solves of as many blocks.
  SolveRooms<Scalar> make_rooms(Index blocks) {
    const Index K = chunks_.K;
    return {blocks, device_.make("", blocks, K, K).data(), device_.make_indices(blocks * K)};
  }

  /// Recurrent; a tap receives what the last token makes.
  void walk() {
    constexpr Index at_once = 64;
    Scalar* const decayed = device_.tapped("decayed", chunks_.K, chunks_.K + chunks_.V);
    const SolveRooms<Scalar> rooms = make_rooms(chunks_.heads);
    device_.compute([&] {
      device_.in_parts(T_, at_once, [&](Index first, Index count) {
        chunks_.walk(rooms, first, first + count, decayed);
        await_device();
      });
    });
  }

  /// Chunkwise: all chunks at once, and what they answer.
  void solve_chunks() {
    constexpr Index most_blocks = 1024;  // more than a device holds at the same time
    constexpr Index queries = 16;        // of a block, in mesa.cu
    const Index wanted = chunks_.heads * chunks_.chunks * ((chunks_.L + queries - 1) / queries);
    const SolveRooms<Scalar> rooms = make_rooms(std::clamp<Index>(wanted, 1, most_blocks));
    device_.compute([&] {
      chunks_.make_states();
      stop_if_asked(request_.stop);
      chunks_.solve(rooms);
      await_device();
      stop_if_asked(request_.stop);
      chunks_.read();
    });
  }

  /// Parallel: some tokens of all heads at once, and what they answer.
  void solve_tokens() {
    const Index K = chunks_.K;
    const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(chunks_.heads * K * K), chunks_.L);
    Scalar* const Hkk =
        device_
            .changed([&](const Carried<Scalar>& state) { return Matrix<Scalar>(state.front().leftCols(K)); })
            .data();
    const SolveRooms<Scalar> rooms = make_rooms(chunks_.heads * at_once);
    device_.compute([&] {
      chunks_.make_states();
      device_.in_parts(chunks_.L, at_once, [&](Index first, Index count) {
        chunks_.solve_tokens(rooms, first, first + count, Hkk);
        await_device();
      });
      chunks_.read();
    });
  }

  /// What a block has been given and has made, for a tap; of tokens one after the other the last.
  void record() const {
    const Rows& rows = device_.first();
    device_.record("ridge", rows.ridge);
    if (request_.form == Form::recurrent) {
      device_.record("gamma", rows.gamma.bottomRows(1));
      device_.record("beta", rows.beta.bottomRows(1));
      record_state("_decayed", device_["decayed"]);
      device_.record("x", device_["X"].transpose());
    } else {
      device_.record("gamma", rows.gamma);
      device_.record("beta", rows.beta);
      device_.record_all();
      device_.record("g_total", device_["g_in"].bottomRows(1));
    }
  }

  /// Both halves of a state for the tap.
  void record_state(const std::string& when, const MesaState<Scalar>& H) const {
    device_.record("Hkk" + when, H.leftCols(H.rows()));
    device_.record("Hkv" + when, H.rightCols(H.cols() - H.rows()));
  }

  /// Downloads the states, and returns what the tokens of every head answer.
  std::vector<Matrix<Scalar>> finish() {
    const auto states = device_.states();
    record_state(device_.before(), states.front().front());
    const Index last = request_.form == Form::recurrent ? 0 : chunks_.chunks;
    const std::vector<MesaState<Scalar>> all = states_->download();
    for (std::size_t head = 0; head < all.size(); ++head)
      states[head].front() = all[head].middleRows(last * chunks_.K, chunks_.K);
    record_state(device_.after(), states.front().front());
    std::vector<Matrix<Scalar>> answers = device_.finish();
    for (Matrix<Scalar>& o : answers) o.conservativeResize(T_, Eigen::NoChange);
    return answers;
  }

  HeadsOnDevice<MesaRows, Scalar>& device_;
  const EngineRequest& request_;
  Index T_;
  MesaChunks<Scalar> chunks_;
  DeviceMatrices<Scalar>* states_ = nullptr;
};

PALIMPSEST_CUDA_ENGINES(, MesaRows);

}  // namespace palimpsest::cuda
