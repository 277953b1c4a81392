#pragma once

#include "app/session/computation.h"

namespace palimpsest {

/// The magnitude with the strongest colour for tensors of one kind, so that a colour means the same at every
/// token: a bound of all but a few of its numbers in the sequence, as an outlier must not leave the rest
/// blank. 0 if a kind has no common scale, and for a memory that diverges: then each picture uses its largest
/// number.
double kind_range(const Computation& computation, Role role);

/// The magnitude with the strongest colour.
struct ColourRange {
  double largest = 0;
  bool is_own = false;    // of this picture alone; else of all tensors of its kind in the whole sequence
  bool is_joint = false;  // of the pictures that are added up in this step
};

/// The ranges of the tensors of one block, for one view of it after another.
class ColourRanges {
 public:
  ColourRanges() = default;

  /// `shared`: tensors of one kind have one scale. `computation` and `trace` must outlive it.
  ColourRanges(const Computation& computation, const Trace& trace, const Phase& phase, Record record,
               bool shared);

  /// Begins another view: `made` are the tensors that are made for its pictures alone; none follows another
  /// or is joined any more. The ranges of what was recorded stay.
  void begin_view(Record made);

  ColourRange of(const std::string& tensor);

  /// The share of the entries of `tensor` that are clipped.
  double beyond(const std::string& tensor);

  /// Numbers of `tensor` up to this magnitude are rounding, and shown as 0.
  double dust(const std::string& tensor) const;

  /// From now on `tensor` has the colours of `other`.
  void follow(const std::string& tensor, const std::string& other) { view_.followed[tensor] = other; }

  /// From now on `tensor`, which is shown only with its own operands, has its own scale if that of its kind
  /// leaves 95 % of it nearly blank.
  void stand_alone(const std::string& tensor);

  /// From now on `tensors`, which are added up, have one scale of their own, which nearly all of their
  /// numbers stay below.
  void join(const std::vector<std::string>& tensors);

 private:
  const Matrix<double>& values_of(const std::string& tensor) const;
  double of_kind(const std::string& tensor) const;
  ColourRange found(const std::string& tensor) const;

  const Computation* computation_ = nullptr;
  const Trace* trace_ = nullptr;
  Record record_;
  bool shared_ = true;
  bool output_follows_ = false;  // outputs become the output by a further operation, such as a division
  std::map<std::string, Expression> made_;  // how
  std::set<std::string> steps_of_states_;
  std::map<std::string, ColourRange> known_;  // of what was recorded; found when they are first asked for

  struct OfView {
    Record made = {};
    std::map<std::string, std::string> followed = {};
    std::map<std::string, ColourRange> known = {};  // of what is made for it, and of what is joined
    std::map<std::string, double> beyond = {};
  } view_;
};

/// Whether a tensor of this name holds decay factors: what is left, from 0 to 1.
bool holds_decays(const std::string& tensor, const Matrix<double>& values);

/// Whether fading_cells() colours it: it holds decay factors, and is not too large for that.
bool shows_fading(const std::string& tensor, const Matrix<double>& values);

/// The colour values of decay factors, from -1 to 1: a factor 1 is blank, 0 is the end of the scale, and
/// entries outside a triangle are -inf, which is hatched. Null if `tensor` is not named as decay factors, or
/// has numbers outside 0 to 1. Cached for `key` while `version` stays.
const Matrix<double>* fading_cells(std::string_view key, const std::string& tensor,
                                   const Matrix<double>& values, std::uint64_t version);

}  // namespace palimpsest
