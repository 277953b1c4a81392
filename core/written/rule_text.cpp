#include "core/written/rule_text.h"

#include <fmt/format.h>

#include <set>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/written/formula_reader.h"

namespace palimpsest {

RuleTextError::RuleTextError(Index at_line, Index at_column, const std::string& words)
    : InputError(fmt::format("line {}, column {}: {}", at_line, at_column, words)),
      line(at_line),
      column(at_column) {}

std::string in_words(Shape specimen) {
  const auto size = [](Index n) {
    return n == specimen_dk ? "dk" : n == specimen_dv ? "dv" : std::to_string(n);
  };
  return fmt::format("[{}, {}]", size(specimen.rows), size(specimen.columns));
}

std::string before(std::string_view memory) { return fmt::format("{}_before", memory); }
std::string after(std::string_view memory) { return fmt::format("{}_after", memory); }

namespace {

/// What a text may say of an input: the words before "per".
struct InputKind {
  const char* word;
  Range range;
  StandIn stand_in;
};

const std::array<InputKind, 6> input_kinds = {{
    {"gate", Range::decay, {.value = 0.95}},
    {"decay", Range::decay, {.value = 0.95}},
    {"strength", Range::strength, {.value = 0.5, .learning_rate = true}},
    {"rate", Range::non_negative, {.value = 0.1}},
    {"key", Range::finite, {.value = 1, .like = "k"}},
    {"number", Range::finite, {.value = 1}},
}};

/// Along what an input has entries: the words after "per".
const std::map<std::string_view, std::vector<std::string>> input_axes = {
    {"token", {"n"}}, {"key channel", {"n", "dk"}}, {"value channel", {"n", "dv"}}};

/// Names that mean something by themselves.
constexpr std::array reserved = {"q", "k", "v", "o", "S", "I", "T"};

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}

  RuleText read() {
    if (rest_.size() > most_rule_bytes)
      throw RuleTextError(
          1, 1, fmt::format("a rule has at most {} bytes; this one has {}", most_rule_bytes, rest_.size()));
    rule_.memories = {{"S", {specimen_dk, specimen_dv}}};
    struct Assignment {
      Index line;
      std::string_view text;
      std::string_view comment;
    };
    std::vector<Assignment> assignments;
    while (!rest_.empty()) {
      ++line_;
      std::string_view comment = take_until(rest_, '\n');
      std::string_view text = take_until(comment, '#');
      if (const std::size_t end = text.find_last_not_of(" \t\r"); end == std::string_view::npos)
        continue;
      else
        text = text.substr(0, end + 1);
      whole_line_ = text;
      if (!read_declaration(text)) assignments.push_back({line_, text, trimmed(comment)});
    }
    for (const auto& [line, text, comment] : assignments) {
      line_ = line;
      whole_line_ = text;
      assign(text);
      if (!rule_.lines.empty() && rule_.lines.back().line == line) name_step(comment);
    }
    finish();
    return std::move(rule_);
  }

 private:
  [[noreturn]] void wrong(std::string_view at, const std::string& words) const {
    const auto column =
        at.data() >= whole_line_.data() && at.data() <= whole_line_.data() + whole_line_.size()
            ? at.data() - whole_line_.data()
            : 0;
    const auto letters = letter_count(whole_line_.substr(0, static_cast<std::size_t>(column)));
    throw RuleTextError(line_, static_cast<Index>(letters) + 1, words);
  }

  static std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return text.substr(text.size());
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
  }

  bool read_declaration(std::string_view text) {
    text = trimmed(text);
    const std::size_t length = std::min(text.find_first_of(" \t:"), text.size());
    const std::string_view word = text.substr(0, length);
    std::string_view said = trimmed(text.substr(length));
    if (is_among(word, {"title", "paper", "words"}) && said.starts_with(':')) {
      std::string& field = word == "title" ? rule_.title : word == "paper" ? rule_.paper : rule_.words;
      field = trimmed(said.substr(1));
      return true;
    }
    if (said.starts_with('=')) return false;
    const auto each = [&](auto read_one) {
      if (said.starts_with(':')) said.remove_prefix(1);
      while (!said.empty()) {
        const std::string_view one = trimmed(take_until(said, ';'));
        if (!one.empty()) (this->*read_one)(one);
      }
      return true;
    };
    if (is_among(word, {"input", "inputs"})) return each(&RuleReader::read_input);
    if (is_among(word, {"setting", "settings"})) return each(&RuleReader::read_setting);
    if (is_among(word, {"memory", "memories"})) return each(&RuleReader::read_memory);
    return false;
  }

  /// A name that a declaration makes, in ASCII.
  std::string new_name(std::string_view written) {
    const std::string name = plain_name(written);
    if (name.empty() || name.find('\'') != std::string::npos)
      wrong(written, fmt::format("\"{}\" is no name; a name has letters, digits and _{}", written,
                                 written.find(',') == std::string_view::npos
                                     ? ""
                                     : ". Several are parted by \";\", each with its kind, as in \"inputs "
                                       "lambda: gate per token; eta: strength per token\""));
    if (is_among(name, reserved))
      wrong(written, fmt::format("\"{}\" means something already: q, k, v, o, S, I and T do", name));
    if (is_among(name, formula_functions())) wrong(written, fmt::format("\"{}\" is a function", name));
    if (!declared_.insert(name).second) wrong(written, fmt::format("\"{}\" is declared twice", name));
    return name;
  }

  /// "alpha: gate per key channel".
  void read_input(std::string_view one) {
    std::string_view rest = one;
    const std::string_view written = trimmed(take_until(rest, ':'));
    const std::string name = new_name(written);
    if (name == "g") wrong(written, "g is the logarithm of alpha in files of data: call the input otherwise");
    const std::size_t per = rest.find("per ");
    const std::string_view kind = trimmed(rest.substr(0, std::min(per, rest.size())));
    const InputKind* const known = row_called(input_kinds, kind, &InputKind::word);
    if (!known)
      wrong(rest, fmt::format("what is {0}? expected \"{0}: gate per token\"; the kinds are gate, decay, "
                              "strength, rate, key and number",
                              name));
    const std::string_view along =
        per == std::string_view::npos ? std::string_view() : trimmed(rest.substr(per + 4));
    const auto axes = input_axes.find(along);
    if (axes == input_axes.end())
      wrong(rest, fmt::format("{} per what? expected token, key channel or value channel", name));
    Input input = {name, axes->second, known->range, std::string(kind)};
    if (known->range == Range::decay) {  // alpha alone may come as logarithms
      const bool is_alpha = name == "alpha" && axes->second.back() != "dv";
      if (is_alpha)
        input = decay_input(axes->second);
      else
        input.range = mu_input().range;
      input.keeps = 1;
    }
    StandIn stand_in = known->stand_in;
    if (!stand_in.like.empty())  // of the same size
      stand_in.like = along == "token" ? "" : along == "key channel" ? "k" : "v";
    rule_.inputs.push_back(demonstrated(std::move(input), std::move(stand_in)));
  }

  /// "gamma = 0.9 in [0, 1]: decay".
  void read_setting(std::string_view one) {
    std::string_view meaning = one;
    std::string_view said = take_until(meaning, ':');
    const std::string_view written = trimmed(take_until(said, '='));
    Parameter setting = {.name = new_name(written),
                         .minimum = -std::numeric_limits<double>::max(),
                         .maximum = std::numeric_limits<double>::max(),
                         .meaning = std::string(trimmed(meaning)),
                         .per_head = true};
    const std::size_t in = said.find(" in ");
    setting.standard = number(trimmed(said.substr(0, std::min(in, said.size()))));
    setting.stand_in = *setting.standard;
    if (in != std::string_view::npos) {
      std::string_view range = trimmed(said.substr(in + 4));
      if (!range.starts_with('[') || !range.ends_with(']')) wrong(range, "expected a range such as [0, 1]");
      range = range.substr(1, range.size() - 2);
      setting.minimum = number(trimmed(take_until(range, ',')));
      setting.maximum = number(trimmed(range));
    }
    if (setting.minimum > *setting.standard || *setting.standard > setting.maximum)
      wrong(written, fmt::format("{} is outside of its range", *setting.standard));
    rule_.parameters.push_back(std::move(setting));
  }

  double number(std::string_view text) const {
    const std::optional<double> value = parse_all<double>(text);
    if (!value || !std::isfinite(*value)) wrong(text, fmt::format("\"{}\" is no number", text));
    return *value;
  }

  /// "z: key" or "M: key x value".
  void read_memory(std::string_view one) {
    std::string_view kind = one;
    const std::string name = new_name(trimmed(take_until(kind, ':')));
    kind = trimmed(kind);
    if (!is_among(kind, {"key", "key x value"}))
      wrong(kind.empty() ? one : kind, fmt::format("what is {}? expected \"key x value\" or \"key\"", name));
    rule_.memories.push_back({name, {specimen_dk, kind == "key" ? 1 : specimen_dv}});
  }

  void assign(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      wrong(text, "expected an assignment such as S = S + k v^T, or a declaration: inputs, setting, memory");
    const std::string_view written = trimmed(text.substr(0, equals));
    const std::string name = plain_name(written);
    if (name.empty()) wrong(written, fmt::format("\"{}\" is no name", written));
    if (declared_.contains(name) && !memory(name))
      wrong(written, fmt::format("{} is given: it cannot be assigned", name));
    if (is_among(name, {"q", "k", "v", "I", "T"}) || is_among(name, formula_functions()))
      wrong(written, fmt::format("{} means something already: call the result otherwise", name));
    if (!assigned_.insert(name).second)
      wrong(written, fmt::format("{} is assigned twice; call the earlier one {}'", name, name));
    if (specimens_.tensors().empty()) specimens_ = specimen(rule_);
    const bool is_loss = name == "loss";
    if (is_loss)
      for (const RuleMemory& each : rule_.memories) present_.erase(each.name);
    Formula formula = read_formula(text.substr(equals + 1), specimens_, present_,
                                   [&](std::string_view at, const std::string& words) { wrong(at, words); });
    const RuleMemory* const kept = memory(name);
    const Shape expected = kept          ? kept->shape
                           : name == "o" ? Shape{specimen_dv, 1}
                           : is_loss     ? Shape{1, 1}
                                         : formula.shape;
    if (formula.shape != expected)
      wrong(written,
            fmt::format("{} is {}, but this is {}", name, in_words(expected), in_words(formula.shape)));
    if (is_loss) {
      rule_.loss = RuleLine{{name, std::move(formula.expression)}, line_, expected};
      for (const RuleMemory& each : rule_.memories)
        if (assigned_.contains(each.name)) present_[each.name] = after(each.name);
      return;
    }
    const std::string result = kept ? after(name) : name;
    specimens_.set(result, Matrix<double>::Zero(expected.rows, expected.columns));
    present_[name] = result;
    rule_.lines.push_back({{result, std::move(formula.expression)}, line_, expected});
  }

  /// "Title: sentence", or a sentence alone.
  void name_step(std::string_view comment) {
    RuleLine& line = rule_.lines.back();
    const std::size_t colon = comment.find(':');
    if (colon != std::string_view::npos) line.title = trimmed(comment.substr(0, colon));
    line.sentence = trimmed(comment.substr(colon == std::string_view::npos ? 0 : colon + 1));
  }

  const RuleMemory* memory(std::string_view name) const {
    return row_called(rule_.memories, name, &RuleMemory::name);
  }

  void finish() const {
    for (const RuleMemory& each : rule_.memories) {
      if (!assigned_.contains(each.name))
        throw RuleTextError(
            std::max<Index>(line_, 1), 1,
            fmt::format("{} is never assigned: say what the memory becomes, {} = ...", each.name, each.name));
    }
    if (!assigned_.contains("o"))
      throw RuleTextError(std::max<Index>(line_, 1), 1, "o is never assigned: say what is read, o = S^T q");
  }

  std::string_view rest_;
  Index line_ = 0;
  std::string_view whole_line_;
  RuleText rule_;
  Record specimens_;
  std::set<std::string, std::less<>> declared_;
  std::set<std::string, std::less<>> assigned_;
  std::map<std::string, std::string, std::less<>>
      present_;  // what a name stands for, where that is not itself
};

}  // namespace

Record specimen(const RuleText& rule) {
  Record record;
  const auto add = [&](std::string_view name, Index rows, Index columns) {
    record.set(name, Matrix<double>::Zero(rows, columns));
  };
  add("q", specimen_dk, 1);
  add("k", specimen_dk, 1);
  add("v", specimen_dv, 1);
  add(identity_of_keys, specimen_dk, specimen_dk);
  add(identity_of_values, specimen_dv, specimen_dv);
  for (const Input& input : rule.inputs) {
    const Index rows = input.shape.size() == 1 ? 1 : input.shape.back() == "dk" ? specimen_dk : specimen_dv;
    add(input.name, rows, 1);
  }
  for (const Parameter& setting : rule.parameters) add(setting.name, 1, 1);
  for (const RuleMemory& memory : rule.memories)
    add(before(memory.name), memory.shape.rows, memory.shape.columns);
  for (const RuleLine& line : rule.lines) add(line.equation.result, line.shape.rows, line.shape.columns);
  return record;
}

const RuleLine* line_of(const RuleText& rule, std::string_view result) {
  return row_called(
      rule.lines, result, [](const RuleLine& line) -> auto& { return line.equation.result; });
}

bool is_memory_after(const RuleText& rule, std::string_view result) {
  return std::ranges::any_of(rule.memories,
                             [&](const RuleMemory& memory) { return result == after(memory.name); });
}

bool is_fixed(const RuleText& rule, const Expression& x) {
  const auto is_setting = [&](const auto& name) { return is_among(name, rule.parameters, &Parameter::name); };
  return std::ranges::all_of(operands(x), is_setting);
}

RuleText parse_rule_text(std::string_view text) { return RuleReader(text).read(); }

}  // namespace palimpsest
