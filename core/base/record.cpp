#include "core/base/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"

namespace palimpsest {

void Record::set(std::string_view name, Matrix<double> value) {
  tensors_.insert_or_assign(std::string(name), std::make_shared<const Matrix<double>>(std::move(value)));
}

const Matrix<double>& Record::at(std::string_view name) const {
  if (const auto found = tensors_.find(name); found != tensors_.end()) return *found->second;
  std::vector<std::string_view> known;
  for (const auto& [known_name, value] : tensors_) known.push_back(known_name);
  throw Error(fmt::format("no tensor \"{}\" was recorded; recorded are: {}", name, fmt::join(known, ", ")));
}

std::vector<std::pair<const std::string&, const Matrix<double>&>> Record::tensors() const {
  std::vector<std::pair<const std::string&, const Matrix<double>&>> all;
  all.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) all.emplace_back(name, *tensor);
  return all;
}

std::span<const TensorName> tensor_names() {
  static constexpr TensorName table[] = {
      // One token of a row program.
      {"S_before", "the memory before the token"},
      {"S_decayed", "what is kept of it"},
      {"old", "what it answers for the key"},
      {"error", "what that answer lacks, or takes away"},
      {"update", "what is written"},
      {"plain_update", "what a second write adds"},
      {"S_after", "the memory after the token"},
      {"o", "the output of the token"},
      // A chunk or the sequence; X_before and X_after are a state X in parts.
      {"G", "what each row's query finds left of each write"},
      {"G_before", "the same just before its write"},
      {"G_erase", "what each row's erase finds left of each write"},
      {"g_in", "what each query finds left of the memory carried in"},
      {"g_before", "the same just before its write"},
      {"g_erase", "what each erase finds left of it"},
      {"g_out", "what is left of each write at the end"},
      {"g_total", "what is left of the memory carried in at the end"},
      {"m_in", "g_in of values; of a tile of softmax: the peak so far"},
      {"m_before", "g_before of values"},
      {"m_out", "g_out of values"},
      {"m_total", "g_total of values"},
      {"P", "who reads whom"},
      {"P_plain", "who reads the second writes"},
      {"N", "what each erase finds of earlier writes"},
      {"N_plain", "the same of the second writes"},
      {"R", "what would be written if no row of the block wrote"},
      {"U", "what is written"},
      {"read_times", "after how many rows each query reads"},
      {"erase_times", "after how many rows each erase reads"},
      {"last_steps", "picks the last row of each token"},
      {"first_steps", "picks the first row of each token"},
      {"O_inter", "outputs from the memory carried in"},
      {"O_intra", "outputs from inside the block"},
      {"O", "the outputs of the block"},
      {"S_in", "the memory carried in"},
      {"S_written", "all writes of the block, as far as they are left at its end"},
      {"S_out", "the memory carried on"},
      {"S_final", "the memory after the last token, which all read"},
      // How the parts of a state move.
      {"transition", "how the parts mix"},
      {"inject", "which parts are written"},
      {"read_sight", "which parts are read"},
      {"erase_sight", "which parts are corrected"},
      // Softmax: a token, and in capitals a tile or the sequence.
      {"x", "scores"},
      {"m", "the largest score"},
      {"w", "what each value counts"},
      {"l", "the sum of the weights"},
      {"y", "the weighted values"},
      {"X", "scores of a tile"},
      {"E", "what each value counts"},
      {"Y", "weighted values of the tiles so far"},
      {"A", "weights divided by their sums"},
      {"l_in", "the sum of the tiles before"},
      {"Y_in", "the weighted values of the tiles before"},
      {"decays", "logarithms of the gates of all keys so far"},
      {"K_cache", "all keys so far"},
      {"V_cache", "all values so far"},
      {"first_query", "token of the first row of the tile"},
      {"first_key", "token of its first column"},
      {"queries", "how many rows the tile has"},
      {"keys", "how many columns"},
  };
  return table;
}

bool is_tensor_name(std::string_view name) {
  return std::ranges::find(tensor_names(), name, &TensorName::name) != tensor_names().end();
}

}  // namespace palimpsest
