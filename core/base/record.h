#pragma once

#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/matrix.h"

namespace palimpsest {

/// The named tensors of one token, chunk or sequence, exactly as an engine recorded them.
/// A number is [1, 1], a vector of one token is a column [D, 1], rows of many tokens are [L, D]. Cheap to
/// copy: the tensors are shared and never change.
///
/// A name stands for the same numbers throughout a record:
///   - an input of the variant, as the table of its inputs calls it; q, k and v in capitals where they are
///     rows; alpha whether alpha or its logarithm g came in (softmax keeps g, for all keys so far); q before
///     its scale;
///   - a parameter or an array without tokens, where Notation names it; the scale, unless it is 1;
///   - what a rule makes of them, under the names that its Notation gives (ProgramNames): never that of an
///     input, or the input's equations would show numbers that it does not have. A trace throws Error then;
///   - what the engines make, each a result of the steps of the form: S_before, S_decayed, old, error,
///     update, plain_update, S_after, o of a token; G, G_before, G_erase, g_in, g_before, g_erase, g_out,
///     g_total, m_in, m_out, m_total, P, P_plain, N, N_plain, R, U, O_inter, O_intra, O, S_in, S_written,
///     S_out of a chunk or the sequence, S_final where all is read at the end; a state X in parts is X_before
///     and X_after; x, m, w, l, y and X, m, E, l, Y, A of softmax, with m_in, l_in, Y_in of the tile before,
///     decays, K_cache, V_cache, first_query, first_key, queries, keys. No input may be called so.
class Record {
 public:
  /// Keeps a copy of `value` under `name`, replacing an earlier one.
  void set(std::string_view name, Matrix<double> value);

  /// The tensor called `name`; throws Error naming it if it was not recorded.
  const Matrix<double>& at(std::string_view name) const;

  bool contains(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }

  /// Pairs of a name and its tensor, by name.
  auto tensors() const {
    return std::views::transform(tensors_, [](const auto& entry) {
      return std::pair<const std::string&, const Matrix<double>&>(entry.first, *entry.second);
    });
  }

 private:
  std::map<std::string, std::shared_ptr<const Matrix<double>>, std::less<>> tensors_;
};

}  // namespace palimpsest
