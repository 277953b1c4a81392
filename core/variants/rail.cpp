#include "core/base/refuse.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// What makes the state decay, from the least to the most detailed.
enum class Fade { none, fixed, token, channel };

/// The symbols of a row program besides q, k and v.
struct Makeup {
  Fade fade = Fade::none;
  bool strength = false;
  bool erases = false;
};

bool takes(const Variant& variant, std::string_view input) {
  return is_among(input, variant.inputs, &Input::name);
}

Fade fade_of(const Variant& variant, const Structure& structure) {
  if (structure.decay == Decay::none) return Fade::none;
  if (structure.decay == Decay::key) return Fade::channel;
  return takes(variant, "alpha") ? Fade::token : Fade::fixed;
}

/// The symbols of a rule; nothing for a rule with more than these, such as momentum or batches.
std::optional<Makeup> makeup(const Variant& variant) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows || rows->normalised()) return std::nullopt;
  const Structure structure = rows->structure(resolve(variant, {}));
  const Fade fade = fade_of(variant, structure);
  const bool has_batches = fade != Fade::fixed && !variant.parameters.empty();
  if (has_batches || !structure.parts.empty()) return std::nullopt;
  return Makeup{fade, structure.beta, structure.erase == Erase::decayed};
}

enum class Moved { fade, strength, erase };

/// How one row program becomes another: one symbol after the other, removals before additions.
struct Path {
  Makeup from;
  Makeup to;
  std::vector<Moved> moves = {};

  Path(const Makeup& lower, const Makeup& upper) : from(lower), to(upper) {
    const bool fades_otherwise = from.fade != to.fade;
    if (fades_otherwise && to.fade == Fade::none) moves.push_back(Moved::fade);
    if (from.strength != to.strength) moves.push_back(Moved::strength);
    if (from.erases != to.erases) moves.push_back(Moved::erase);
    if (fades_otherwise && to.fade != Fade::none) moves.push_back(Moved::fade);
  }

  /// How far a symbol is from the lower rule to the upper one, in [0, 1].
  double part(Moved moved, double position) const {
    const auto found = std::ranges::find(moves, moved);
    if (found == moves.end()) return 0;
    const double scaled = position * static_cast<double>(moves.size());
    return std::clamp(scaled - static_cast<double>(found - moves.begin()), 0.0, 1.0);
  }

  /// The symbol that changes at a position.
  Moved moving(double position) const {
    const auto count = static_cast<double>(moves.size());
    return moves[static_cast<std::size_t>(std::clamp(std::floor(position * count), 0.0, count - 1))];
  }
};

/// The amount of each symbol at a position, from 0 (off) to 1.
struct Amounts {
  double fade = 0;        // from the lower rule's decay to the upper one's: see `has_both`
  bool has_both = false;  // the lower rule decays too: 0 is its decay
  double strength = 0;
  double erase = 0;
};

double amount(bool from, bool to, double part) {
  if (from == to) return from ? 1 : 0;
  return to ? part : 1 - part;
}

Amounts amounts(const Path& path, double position) {
  const bool has_both = path.from.fade != Fade::none && path.to.fade != Fade::none;
  const double fade = path.part(Moved::fade, position);
  const bool goes_over = has_both && path.from.fade != path.to.fade;
  return {.fade = goes_over ? fade : amount(path.from.fade != Fade::none, path.to.fade != Fade::none, fade),
          .has_both = has_both,
          .strength = amount(path.from.strength, path.to.strength, path.part(Moved::strength, position)),
          .erase = amount(path.from.erases, path.to.erases, path.part(Moved::erase, position))};
}

double position_of(const Settings& settings) { return settings.parameters.find(rail_parameter)->second; }

bool is_between(double part) { return part > 0 && part < 1; }

/// alpha^amount, or amount g for logarithms: 1 (or 0) for amount 0, even if the gate is 0.
Matrix<double> powered(const Matrix<double>& gates, bool are_logs, double amount) {
  if (amount == 1) return gates;
  if (amount == 0) return Matrix<double>::Constant(gates.rows(), gates.cols(), are_logs ? 0 : 1);
  if (are_logs) return amount * gates;
  return gates.array().pow(amount).matrix();
}

/// The mean over the channels: [T, 1].
Matrix<double> mean_of_channels(const Matrix<double>& gates) {
  Matrix<double> mean = Matrix<double>::Zero(gates.rows(), 1);
  for (Index channel = 0; channel < gates.cols(); ++channel)
    mean += gates.col(channel) / static_cast<double>(gates.cols());
  return mean;
}

/// The gates at a position, as the data give them: alpha or its logarithm.
void move_gates(const Path& path, double fade, Sequence& sequence) {
  if (path.from.fade == Fade::fixed && fade == 0) sequence.gates_are_logs = false;  // gamma itself
  const bool are_logs = sequence.gates_are_logs;
  const Matrix<double> given = sequence.at("alpha").all<double>();
  if (path.from.fade == Fade::fixed) {  // gamma^(1 - fade) alpha^fade
    const double gamma = sequence.parameter("gamma");
    const double rest = fade == 1 ? 1 : std::pow(gamma, 1 - fade);
    const Matrix<double> own = powered(given, are_logs, fade);
    sequence.add("alpha",
                 are_logs ? Matrix<double>(own.array() + std::log(rest)) : Matrix<double>(rest * own));
  } else if (path.from.fade == Fade::token && path.to.fade == Fade::channel) {
    const Matrix<double> mean = mean_of_channels(given);
    if (fade == 0) return sequence.add("alpha", mean);
    Matrix<double> between = fade * given;  // of log 0 too
    between.colwise() += ((1 - fade) * mean.col(0)).eval();
    sequence.add("alpha", between);
  } else {
    sequence.add("alpha", powered(given, are_logs, fade));
  }
}

void move_symbols(const Path& path, Sequence& sequence) {
  const Amounts now = amounts(path, position_of(sequence.settings));
  if (sequence.has("alpha") && now.fade < 1) move_gates(path, now.fade, sequence);
  if (sequence.has("beta") && now.strength < 1) {
    Matrix<double> beta = sequence.at("beta").all<double>();
    for (double& strength : beta.reshaped()) strength = std::lerp(1.0, strength, now.strength);
    sequence.add("beta", beta);
  }
  if (is_between(now.erase)) sequence.add("p", now.erase * sequence.at("k").all<double>());
}

/// What makes the state decay with these amounts.
Fade fade_at(const Path& path, const Amounts& now) {
  if (!now.has_both && now.fade == 0) return Fade::none;
  return now.fade > 0 && path.to.fade != Fade::none ? path.to.fade : path.from.fade;
}

Structure structure_on(const Path& path, const Settings& settings) {
  const Amounts now = amounts(path, position_of(settings));
  const Fade fade = fade_at(path, now);
  return {.decay = fade == Fade::none      ? Decay::none
                   : fade == Fade::channel ? Decay::key
                                           : Decay::scalar,
          .erase = now.erase > 0 ? Erase::decayed : Erase::none,
          .erase_key = is_between(now.erase),
          .beta = now.strength > 0};
}

template <class Scalar>
Program<Scalar> rows_on(const Path& path, const Rows<Scalar>& rows) {
  const Amounts now = amounts(path, position_of(rows.sequence.settings));
  const Fade fade = fade_at(path, now);
  Program<Scalar> program{.q = rows.scaled_q(), .k = rows("k"), .v = rows("v")};
  if (is_between(now.erase)) program.a = rows("p");
  if (fade == Fade::token || fade == Fade::channel) program.gate = rows("alpha");
  if (fade == Fade::fixed) {
    const double gamma = rows.sequence.parameter("gamma");
    program.gate = rows.repeated(now.has_both || now.fade == 1 ? gamma : std::pow(gamma, now.fade));
  }
  if (now.strength > 0) program.beta = rows("beta");
  return program;
}

/// How the changing symbols are written: with their exponent or their factor.
Notation notation_on(const Path& path, const Settings& settings) {
  const Amounts now = amounts(path, position_of(settings));
  Notation written{.token = {"q", "k", "v", "o", "p"}, .rows = {"Q", "K", "V", "O", "p"}};
  const auto power = [](const char* symbol, double amount) {
    if (amount == 1) return std::string(symbol);
    return amount == 0 ? std::string() : fmt::format("{}^{{{:.2f}}}", symbol, amount);
  };
  const bool is_fixed = path.from.fade == Fade::fixed || path.to.fade == Fade::fixed;
  std::string gate = "\\alpha_t";
  if (path.from.fade == Fade::fixed && path.to.fade != Fade::fixed)
    gate = power("\\gamma", 1 - now.fade) + power("\\alpha_t", now.fade);
  else if (is_fixed)
    gate = power("\\gamma", now.fade);
  else if (now.has_both && is_between(now.fade))
    gate = fmt::format("\\alpha_t^{{({:.2f})}}", now.fade);
  else
    gate = power("\\alpha_t", now.fade);
  if (!gate.empty()) written.symbols["alpha"] = {gate, Role::gate, "decay"};
  if (is_between(now.strength)) {
    written.symbols["beta"] = {fmt::format("\\beta_t^{{({:.2f})}}", now.strength), Role::strength,
                               "write strength"};
  }
  written.symbols["p"] = {fmt::format("{:.2f}\\,k_t", now.erase), Role::key, "erase key"};
  return written;
}

const Variant& family_member(const RailStop& stop) {
  return *row_called(variants(), stop.variant, &Variant::id);
}

Parameter position_parameter(const RailStop& lower, const RailStop& upper) {
  return {.name = rail_parameter,
          .minimum = 0,
          .maximum = 1,
          .meaning = fmt::format("from {} (0) to {} (1)", lower.name, upper.name),
          .standard = 0.5};
}

/// The rule between two rules of rows.
Variant joined(const RailStop& lower, const RailStop& upper, const Path& path) {
  const Variant& one = family_member(lower);
  const Variant& other = family_member(upper);
  Variant joint = other;  // its loss is not: the joint has none
  joint.id = fmt::format("{}_to_{}", lower.variant, upper.variant);
  joint.label = fmt::format("{} → {}", lower.name, upper.name);
  joint.words =
      fmt::format("Between {} and {}: one symbol at a time moves from off to on.", lower.name, upper.name);
  joint.paper = one.paper + "; " + other.paper;
  joint.recurrence = {};
  joint.loss = {};
  joint.loss.words =
      fmt::format("The rules between {} and {} have no loss of their own.", lower.name, upper.name);
  for (const Input& input : one.inputs) {
    if (!takes(joint, input.name)) joint.inputs.insert(joint.inputs.begin(), input);
  }
  for (const Parameter& parameter : one.parameters) {
    if (!is_among(parameter.name, joint.parameters, &Parameter::name)) joint.parameters.push_back(parameter);
  }
  joint.parameters.push_back(position_parameter(lower, upper));
  joint.derive = [path](Sequence& sequence) { move_symbols(path, sequence); };
  joint.rule = std::make_shared<RowRule>(in_either_order(
      {.structure = [path](const Settings& settings) { return structure_on(path, settings); },
       .encoder = [path]<class Scalar>(const Rows<Scalar>& rows) { return rows_on(path, rows); },
       .notation = [path](const Settings& settings) { return notation_on(path, settings); }}));
  return joint;
}

/// The same with the full strength at every position.
Variant with_whole_strength(const RailStop& lower, const RailStop& upper, Makeup from, Makeup to) {
  from.strength = to.strength = true;
  Variant joint = joined(lower, upper, Path(from, to));
  joint.id += strength_suffix;
  if (!takes(joint, "beta")) joint.inputs.insert(joint.inputs.begin(), beta_input());
  return joint;
}

/// A rule whose momentum grows from 0. No rule joins its start to the lower stop: the rail jumps there.
Variant with_momentum(const RailStop& lower, const RailStop& upper) {
  Variant joint = family_member(upper);
  joint.id = fmt::format("{}_to_{}", lower.variant, upper.variant);
  joint.label = fmt::format("{} → {}", lower.name, upper.name);
  joint.words = fmt::format("{} with less momentum: it moves from 0 to its value.", upper.name);
  joint.parameters.push_back(position_parameter(lower, upper));
  joint.derive = [](Sequence& sequence) {
    const double part = position_of(sequence.settings);
    if (part < 1) sequence.add("eta", part * sequence.at("eta").all<double>());
  };
  RowDeclaration rows = joint.rule->row_program()->declaration();
  rows.notation = [whole = rows.notation](const Settings& settings) {
    Notation written = whole(settings);
    if (const double part = position_of(settings); part < 1)
      written.symbols["eta"].latex = fmt::format("{:.2f}\\,\\eta_t", part);
    return written;
  };
  joint.rule = std::make_shared<RowRule>(std::move(rows));
  return joint;
}

/// What joins two neighbouring stops.
struct Stretch {
  std::optional<Path> path = {};   // symbol after symbol, from one to the other
  const Variant* joint = nullptr;  // without a path the upper rule with less momentum; null: nothing
};

/// All rules between neighbouring stops, and which stops each of them joins.
struct Joints {
  std::vector<Variant> table;
  std::vector<Variant> strengthened;
  std::vector<Stretch> stretches;

  Joints() {
    const auto stops = rail();
    table.reserve(stops.size());  // where a joint is stays the same
    for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
      Stretch& stretch = stretches.emplace_back();
      const Variant& next = family_member(stops[i + 1]);
      const auto lower = makeup(family_member(stops[i]));
      const auto upper = makeup(next);
      if (lower && upper)
        table.push_back(joined(stops[i], stops[i + 1], stretch.path.emplace(*lower, *upper)));
      else if (next.rule->row_program() && takes(next, "eta"))
        table.push_back(with_momentum(stops[i], stops[i + 1]));
      else
        continue;
      stretch.joint = &table.back();
      if (lower && upper && !(lower->strength && upper->strength))
        strengthened.push_back(with_whole_strength(stops[i], stops[i + 1], *lower, *upper));
    }
  }
};

const Joints& all_joints() {
  static const Joints joints;
  return joints;
}

/// The stop before `place` and how far it is beyond it, in [0, 1).
std::pair<std::size_t, double> split(double place) {
  const auto last = static_cast<double>(rail().size() - 1);
  if (!(place >= 0 && place <= last))
    refuse("{} is not a place on the rail; expected a number from 0 to {:.0f}", place, last);
  const double stop = std::floor(place);
  return {static_cast<std::size_t>(stop), place - stop};
}

std::string moving_sentence(const Path& path, double position) {
  const Amounts now = amounts(path, position);
  const Moved moving = path.moving(position);
  if (moving == Moved::strength)
    return fmt::format("The write strength β moves from 1 to its value: {:.2f} of the way.", now.strength);
  if (moving == Moved::erase)
    return fmt::format("The erase moves from 0 to 1: {:.2f} v̂ is subtracted.", now.erase);
  if (path.to.fade == Fade::none)
    return fmt::format("The decay is removed: α moves to 1 and is now α to the power of {:.2f}.", now.fade);
  if (path.from.fade == Fade::fixed)
    return fmt::format("The decay moves from γ, equal for all tokens, to α of each token: {:.2f} of the way.",
                       now.fade);
  if (path.from.fade == Fade::token)
    return fmt::format("The decays move from their mean to one per channel: {:.2f} of the way.", now.fade);
  return fmt::format("The decay {0} moves from 1 to its value: it is now {0} to the power of {1:.2f}.",
                     path.to.fade == Fade::fixed ? "γ" : "α", now.fade);
}

}  // namespace

std::span<const RailStop> rail() {
  static constexpr RailStop stops[] = {
      {"linear", "linear", "adds all writes"},
      {"retnet", "RetNet", "one fixed decay"},
      {"scalar_decay", "Mamba-2", "one decay per token"},
      {"gla", "GLA", "one decay per channel"},
      {"deltanet", "DeltaNet", "erases before it writes"},
      {"gated_deltanet", "Gated DeltaNet", "erases and decays"},
      {"kda", "KDA", "erases, decay per channel"},
      {"titans", "Titans", "erases, with momentum"},
      {"lact", "LaCT", "one update per batch"},
  };
  return stops;
}

std::span<const Variant> joints() { return all_joints().table; }

std::span<const Variant> strengthened_joints() { return all_joints().strengthened; }

std::optional<double> rail_place(const std::string& variant, const Settings& settings) {
  const auto stops = rail();
  for (std::size_t i = 0; i < stops.size(); ++i) {
    if (variant == stops[i].variant) return static_cast<double>(i);
    if (i + 1 == stops.size()) continue;
    const Variant* joint = all_joints().stretches[i].joint;
    if (!joint || joint->id != variant) continue;
    const double* const given = value_at(settings.parameters, rail_parameter);
    return static_cast<double>(i) + (given ? *given : *joint->parameters.back().standard);
  }
  return std::nullopt;
}

RailRule rule_at(double place) {
  const auto [stop, part] = split(place);
  if (part == 0) return {rail()[stop].variant};
  if (const Variant* joint = all_joints().stretches[stop].joint) return {joint->id, part};
  return {rail()[part < 0.5 ? stop : stop + 1].variant};
}

std::string rail_sentence(double place) {
  const auto [stop, part] = split(place);
  const RailStop& lower = rail()[stop];
  if (part == 0) return fmt::format("{}: {}.", lower.name, lower.words);
  const RailStop& upper = rail()[stop + 1];
  const Stretch& stretch = all_joints().stretches[stop];
  if (stretch.path) return moving_sentence(*stretch.path, part);
  if (stretch.joint)
    return fmt::format(
        "A jump after {}: {} has one decay for all channels and reads before the decay. Then the momentum η "
        "moves from 0 to its value: {:.2f} of it.",
        lower.name, upper.name, part);
  return fmt::format(
      "A jump between {} and {}: {} takes one step per batch of tokens, which no symbol of {} gives.",
      lower.name, upper.name, upper.name, lower.name);
}

}  // namespace palimpsest
