#include "app/stage/ranges.h"

#include "app/gl/context_local.h"
#include "app/stage/box.h"
#include "app/stage/cell_words.h"
#include "core/numbers/between.h"
#include "core/steps/recognised.h"

namespace palimpsest {

double kind_range(const Computation& computation, Role role) {
  const KindScales& scales = computation.scales;
  switch (role) {
    case Role::gate:
      return 1;
    case Role::key:
      return scales.key;
    case Role::query:
      return scales.query;
    case Role::value:
    case Role::error:
      return computation.divergence ? 0 : scales.value;
    case Role::output:
      return computation.divergence ? 0 : scales.output;
    case Role::state:
      return computation.divergence ? 0 : computation.recalls->strong_state;
    default:
      return 0;
  }
}

namespace {

constexpr double most_beyond = 0.05;  // of a picture's numbers, on a scale that it shares

constexpr double least_share = 0.1;  // of a scale: below, cells can hardly be told from the paper

/// What part of the numbers is larger than `range`; what is not finite does not count.
double share_beyond(const Matrix<double>& values, double range) {
  if (values.size() == 0) return 0;
  const auto sizes = values.array().abs();
  const Index count = (sizes.isFinite() && sizes > range).count();
  return static_cast<double>(count) / static_cast<double>(values.size());
}

/// What nearly all numbers of some matrices stay below; of few numbers, the largest.
double nearly_largest(const std::vector<const Matrix<double>*>& matrices) {
  constexpr Index few = 256;
  std::vector<double> sizes;
  double largest = 0;
  for (const Matrix<double>* values : matrices) {
    for (const double value : values->reshaped()) sizes.push_back(std::abs(value));
    largest = std::max(largest, largest_finite(*values));
  }
  if (static_cast<Index>(sizes.size()) <= few) return largest;
  const double most = quantile(std::move(sizes), nearly_all);
  return most > 0 ? most : largest;
}

/// Whether what has the role of an output becomes the output only by what follows.
bool output_follows(const Phase& phase) {
  const Operation* maker = maker_of(phase, "o");
  if (!maker) maker = maker_of(phase, "O");
  return maker && maker->id != "output";
}

constexpr Index most_cells = Index{1} << 20;  // remaking larger pictures would take too long

struct FadingCells {
  std::optional<std::tuple<std::uint64_t, Index, Index>> of = {};  // the version and the size of the values
  bool are_factors = false;
  Matrix<double> cells = {};
};

bool is_decay(const std::string& tensor) {
  return is_among(tensor, {"alpha", "mu", "gamma", "G", "G_before", "g_in", "g_before", "g_out", "g_total",
                           "m_in", "m_out", "m_total", "E", "E_bar"});
}

}  // namespace

ColourRanges::ColourRanges(const Computation& computation, const Trace& trace, const Phase& phase,
                           Record record, bool shared)
    : computation_(&computation),
      trace_(&trace),
      record_(std::move(record)),
      shared_(shared),
      output_follows_(output_follows(phase)),
      steps_of_states_(state_steps(trace)) {
  for (const Operation& operation : phase.operations)
    made_.emplace(operation.equation.result, operation.equation.expression);
}

void ColourRanges::begin_view(Record made) { view_ = {.made = std::move(made)}; }

const Matrix<double>& ColourRanges::values_of(const std::string& tensor) const {
  return (view_.made.contains(tensor) ? view_.made : record_).at(tensor);
}

/// The scale of the tensor's kind in the whole sequence; 0 where it has one of its own. Features of keys,
/// queries and values are of no kind: they are not what the data give. What a state is moved by is of the
/// state's kind: the two are compared.
double ColourRanges::of_kind(const std::string& tensor) const {
  if (!shared_) return 0;
  const Matrix<double>& value = values_of(tensor);
  const bool moves_state = value.rows() > 1 && value.cols() > 1 && steps_of_states_.contains(tensor);
  const Role role = moves_state ? Role::state : symbol_in(trace_->symbols, tensor).role;
  const bool given = is_among(role, {Role::key, Role::query, Role::value});
  if (given && made_.contains(tensor)) return 0;
  const bool is_output = tensor == "o" || tensor == "O";
  if (role == Role::output && output_follows_ && !is_output) return 0;
  return kind_range(*computation_, role);
}

ColourRange ColourRanges::found(const std::string& tensor) const {
  const Matrix<double>& values = values_of(tensor);
  const double kind = of_kind(tensor);
  if (kind > 0 && share_beyond(values, kind) <= most_beyond) return {kind, false};
  const double largest = largest_finite(values);
  if (largest <= dust(tensor)) return {dust(tensor) / dust_share, true};
  return {kind > 0 ? std::min(nearly_largest({&values}), largest) : largest, true};
}

ColourRange ColourRanges::of(const std::string& tensor) {
  if (const auto other = view_.followed.find(tensor); other != view_.followed.end()) return of(other->second);
  if (const auto own = view_.known.find(tensor); own != view_.known.end()) return own->second;
  const auto [known, is_new] = (view_.made.contains(tensor) ? view_.known : known_).try_emplace(tensor);
  if (is_new) known->second = found(tensor);
  return known->second;
}

double ColourRanges::beyond(const std::string& tensor) {
  const auto [known, is_new] = view_.beyond.try_emplace(tensor, 0);
  if (is_new) known->second = share_beyond(values_of(tensor), of(tensor).largest);
  return known->second;
}

double ColourRanges::dust(const std::string& tensor) const {
  if (const auto other = view_.followed.find(tensor); other != view_.followed.end())
    return dust(other->second);
  const auto how = made_.find(tensor);
  return how == made_.end() ? 0 : dust_of(how->second, record_);
}

void ColourRanges::stand_alone(const std::string& tensor) {
  const Matrix<double>& values = values_of(tensor);
  const ColourRange shared = of(tensor);
  if (shared.is_own || share_beyond(values, least_share * shared.largest) >= most_beyond) return;
  const double own = nearly_largest({&values});
  if (own > dust(tensor)) view_.known[tensor] = {own, true};
}

void ColourRanges::join(const std::vector<std::string>& tensors) {
  std::vector<const Matrix<double>*> values;
  double rounding = 0;
  for (const std::string& tensor : tensors) {
    values.push_back(&values_of(tensor));
    rounding = std::max(rounding, dust(tensor));
  }
  const double largest = nearly_largest(values);
  const ColourRange joint{largest > rounding ? largest : rounding / dust_share, true, true};
  for (const std::string& tensor : tensors) view_.known[tensor] = joint;
}

bool holds_decays(const std::string& tensor, const Matrix<double>& values) {
  return is_decay(tensor) && (values.array() >= 0).all() && (values.array() <= 1).all();
}

bool shows_fading(const std::string& tensor, const Matrix<double>& values) {
  return values.size() <= most_cells && holds_decays(tensor, values);
}

const Matrix<double>* fading_cells(std::string_view key, const std::string& tensor,
                                   const Matrix<double>& values, std::uint64_t version) {
  if (!is_decay(tensor) || values.size() > most_cells) return nullptr;
  FadingCells& kept = context_local<FrameCache<std::string, FadingCells>>()[key];
  if (const auto of = std::tuple(version, values.rows(), values.cols()); kept.of != of) {
    kept = {.of = of, .are_factors = holds_decays(tensor, values)};
    if (kept.are_factors) {
      kept.cells = values.unaryExpr([](double factor) { return -forgotten_part(factor); });
      const bool is_triangle =
          tensor == "G" || tensor == "G_before";  // only one side of the diagonal is there
      for (Index i = 0; is_triangle && i < values.rows(); ++i) {
        for (Index j = i; j < values.cols(); ++j) {
          if (values(i, j) == 0) kept.cells(i, j) = -std::numeric_limits<double>::infinity();
        }
      }
    }
  }
  return kept.are_factors ? &kept.cells : nullptr;
}

}  // namespace palimpsest
