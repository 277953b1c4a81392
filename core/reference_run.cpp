#include "core/reference_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/backend.h"
#include "core/engines/recurrent.h"
#include "core/error.h"
#include "core/row_rule.h"

namespace palimpsest {

namespace {

/// Rounds numbers once more, each towards zero by a random part of `unit` of itself: no range excludes that.
class Rounding {
 public:
  Rounding(double unit, std::uint64_t seed) : unit_(unit), bits_(seed) {}

  double operator()(double value) {
    return value * (1 - unit_ * static_cast<double>(bits_() >> 11) * 0x1p-53);
  }

  Matrix<double> operator()(const Matrix<double>& values) {
    return values.unaryExpr([this](double value) { return (*this)(value); });
  }

  Arrays operator()(const Arrays& arrays) {
    Arrays moved;
    for (const auto& [name, array] : arrays) {
      std::vector<double> values(static_cast<std::size_t>(array.size()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = (*this)(array[static_cast<Index>(i)]);
      moved[name] = Array(array.shape, std::move(values));
    }
    return moved;
  }

 private:
  double unit_;
  std::mt19937_64 bits_;
};

/// The f64 recurrence of a row program whose rows, and whose state after every row, are rounded once more:
/// what a rule makes of its inputs is rounded too, and so is what it keeps, every column by itself.
Output with_rounding(const RowRule& rule, const Sequence& sequence, Rounding rounding) {
  Program<double> program = rule.encoder().encode<double>(sequence, 0, sequence.tokens);
  for (Matrix<double>* rows :
       {&program.q, &program.k, &program.v, &program.a, &program.k_plain, &program.v_plain})
    *rows = rounding(*rows);
  const bool reads_own_state = program.structure.parts.empty() && program.read_after.empty();
  Matrix<double> S = rule.initial_state<double>(sequence);
  Matrix<double> read(program.reads(), S.cols());
  if (!reads_own_state) read = recurrent(program, S);
  for (Index r = 0, reads = 0; reads_own_state && r < program.rows(); ++r) {
    const Program<double> row = program.row(r);
    recurrent(row, S);
    S = rounding(S);
    read.middleRows(reads, row.reads()) = row.q * S;
    reads += row.reads();
  }
  if (program.structure.read_at == ReadAt::end) read = program.q * S;
  return {rule.finish<double>(read, sequence), rule.named_states<double>(S, sequence)};
}

/// Settings whose parameters are as f32 holds them.
Settings rounded_to_f32(Settings settings) {
  for (auto& [name, value] : settings.parameters) value = static_cast<double>(static_cast<float>(value));
  return settings;
}

Sequence bind_one(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& settings) {
  return std::move(palimpsest::bind(variant, std::move(arrays), settings).heads.front());
}

}  // namespace

Arrays rounded_to_f32(const Arrays& arrays) {
  Arrays rounded;
  for (const auto& [name, array] : arrays) {
    std::vector<float> values(static_cast<std::size_t>(array.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(array[static_cast<Index>(i)]);
    rounded[name] = Array(array.shape, std::move(values));
  }
  return rounded;
}

Output reference(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  const Form form =
      variant.rule->missing(Form::recurrent, sequence.settings) ? Form::chunkwise : Form::recurrent;
  return cpu_backend().run(variant, sequence, form, Precision::f64, 1, std::move(stop));
}

HeldInputs held_inputs(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& given,
                       Precision precision) {
  Sequence sequence = bind_one(variant, arrays, given);
  if (precision == Precision::f64) return {std::move(arrays), std::move(sequence)};
  // Arrays from a file are mostly held in f32 already, and may be long.
  const bool all_are = std::ranges::all_of(*arrays, [](const auto& each) { return each.second.is_f32(); });
  if (!all_are) arrays = std::make_shared<const Arrays>(rounded_to_f32(*arrays));
  try {
    return {arrays, bind_one(variant, arrays, rounded_to_f32(sequence.settings))};
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}, also as f32 holds it", error.what()));
  }
}

ReferenceRun::ReferenceRun(const Variant& variant, HeldInputs inputs, Precision precision,
                           std::stop_token stop)
    : variant_(&variant),
      precision_(precision),
      inputs_(std::move(inputs)),
      expected_(reference(variant, inputs_.sequence, std::move(stop))) {}

Judgement ReferenceRun::judge(const Output& got, const Tolerance& tolerance, std::stop_token stop) {
  Judgement judgement{.disagreement = compare(got, expected_), .tolerance = tolerance};
  const bool may_need_more =
      precision_ == Precision::f32 && std::isfinite(judgement.disagreement.error) && !judgement.passed();
  if (may_need_more) judgement.amplification = amplification(std::move(stop));
  return judgement;
}

double ReferenceRun::amplification(std::stop_token stop) {
  if (!amplification_) amplification_ = measured_amplification(stop);
  return *amplification_;
}

double ReferenceRun::measured_amplification(const std::stop_token& stop) const {
  constexpr int draws = 8;
  const double unit = precision_ == Precision::f64 ? 0x1p-53 : 0x1p-24;
  double largest = 1;
  const auto consider = [&](const Output& moved) {
    const double change = compare(moved, expected_).error;
    if (std::isfinite(change)) largest = std::max(largest, change / unit);
  };
  for (std::uint64_t draw = 1; draw <= draws; ++draw) {
    const auto moved = std::make_shared<const Arrays>(Rounding(unit, draw)(*inputs_.arrays));
    consider(reference(*variant_, bind_one(*variant_, moved, inputs_.sequence.settings), stop));
    if (const auto* rule = dynamic_cast<const RowRule*>(variant_->rule.get()))
      consider(with_rounding(*rule, inputs_.sequence, Rounding(unit, draw)));
  }
  return largest;
}

}  // namespace palimpsest
