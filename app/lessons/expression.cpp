#include "app/lessons/expression.h"

#include <fmt/ranges.h>
#include <cmath>

namespace palimpsest {

namespace {

using Cell = FactExpression::Cell;
using Work = std::function<Json(const Json& views, const Cell& at)>;

/// A part of an expression: how it is worked out, and the name that it begins with.
struct Term {
  Work value;
  std::string first = {};  // a view, i or j; empty: a constant
};

constexpr int deepest = 64;  // brackets in brackets
constexpr std::string_view functions[] = {"abs", "sqrt", "exp",  "log",    "min",
                                          "max", "sum",  "size", "largest"};

/// Operators that are taken together, from loosest to tightest.
const std::vector<std::vector<std::string_view>> operators = {
    {"or"}, {"and"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}, {"^"}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string seems(const Json& value) {
  if (value.is_null()) return "a number that is not finite, or nothing";
  return shown(dumped(value, -1));
}

double number_of(const Json& value, std::string_view where) {
  if (!value.is_number()) refuse("\"{}\" takes numbers, not {}", where, seems(value));
  return value.get<double>();
}

bool truth_of(const Json& value, std::string_view where) {
  if (!value.is_boolean()) refuse("\"{}\" takes true or false, not {}", where, seems(value));
  return value.get<bool>();
}

Json named(const std::string& word, const Json& views, const Cell& at) {
  if (word == "i") return at.first;
  if (word == "j") return at.second;
  const auto found = views.find(word);
  if (found == views.end()) refuse("there is no view \"{}\"", word);
  return *found;
}

Json field_of(const Json& from, const std::string& word) {
  if (!from.is_object()) refuse("there is no field \"{}\" in {}", word, seems(from));
  const auto found = from.find(word);
  if (found != from.end()) return *found;
  std::string fields;
  for (const auto& each : from.items()) fields += (fields.empty() ? "" : ", ") + each.key();
  refuse("there is no field \"{}\"; there are {}", word, fields);
}

/// The words that the rows and columns of a view's tables stand for.
Json words_of(const std::string& name, const Json& views, const Cell& at) {
  const Json view = named(name, views, at);
  if (!view.is_object() || !view.contains("words"))
    refuse("the entries of \"{}\" have no names, only numbers", name);
  return view.at("words");
}

/// The first of `things` with this text in a field.
Index place_of(const std::string& name, const Json& things) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < things.size(); ++i) {
    const auto called = std::ranges::find(things[i], Json(name));
    if (called != things[i].end()) return static_cast<Index>(i);
    const auto first = std::ranges::find_if(things[i], &Json::is_string);
    if (first != things[i].end()) all.push_back(first->get<std::string>());
  }
  refuse("there is no \"{}\"; there are {}", name, fmt::join(all, ", "));
}

/// The entry of a list by its index or, where it has words or consists of things, by a name.
Json entry_of(const Json& from, const Json& index, const std::string& view, const Json& views,
              const Cell& at) {
  if (!from.is_array()) refuse("{} has no entries", seems(from));
  const auto place_named = [&](const std::string& name) {
    const bool is_list_of_things = !from.empty() && from.front().is_object();
    return static_cast<double>(place_of(name, is_list_of_things ? from : words_of(view, views, at)));
  };
  const double place = index.is_string() ? place_named(index.get<std::string>()) : number_of(index, "[ ]");
  if (!(place >= 0 && place < static_cast<double>(from.size())) || place != std::floor(place))
    refuse("there is no entry {}; the list has {}", place, from.size());
  return from[static_cast<std::size_t>(place)];
}

Json over_all(const std::vector<Json>& operands, const std::string& function) {
  std::vector<double> numbers;
  for (const Json& each : operands) {
    if (!each.is_array())
      numbers.push_back(number_of(each, function));
    else
      for (const Json& entry : each) numbers.push_back(number_of(entry, function));
  }
  if (numbers.empty()) refuse("\"{}\" takes at least one number", function);
  if (function == "min") return std::ranges::min(numbers);
  if (function == "max") return std::ranges::max(numbers);
  double sum = 0;
  for (const double each : numbers) sum += each;
  return sum;
}

Json called(const std::string& function, const std::vector<Term>& operands, const Json& views,
            const Cell& at) {
  const Json first = operands.front().value(views, at);
  if (function == "size") {
    if (!first.is_array()) refuse("\"size\" takes a list, not {}", seems(first));
    return first.size();
  }
  if (function == "largest") {
    const Json words = words_of(operands.front().first, views, at);
    if (!first.is_array() || first.size() != words.size())
      refuse("\"largest\" takes a row with an entry for every queried token");
    const auto most =
        std::ranges::max_element(first, {}, [](const Json& entry) { return number_of(entry, "largest"); });
    return words[static_cast<std::size_t>(most - first.begin())].at("text");
  }
  if (is_among(function, {"min", "max", "sum"}))
    return over_all(made_of(operands, [&](const Term& each) { return each.value(views, at); }), function);
  const double x = number_of(first, function);
  if (function == "abs") return std::abs(x);
  if (function == "sqrt") return std::sqrt(x);
  return function == "exp" ? std::exp(x) : std::log(x);
}

Json joined(std::string_view sign, const Json& first, const std::function<Json()>& other) {
  if (sign == "and") return truth_of(first, sign) && truth_of(other(), sign);
  if (sign == "or") return truth_of(first, sign) || truth_of(other(), sign);
  const Json second = other();
  if (sign == "==" || sign == "!=") {
    if (first.type_name() != std::string_view(second.type_name()))
      refuse("{} and {} cannot be equal: they are of two kinds", seems(first), seems(second));
    return (first == second) == (sign == "==");
  }
  const double x = number_of(first, sign);
  const double y = number_of(second, sign);
  if (sign == "<") return x < y;
  if (sign == "<=") return x <= y;
  if (sign == ">") return x > y;
  if (sign == ">=") return x >= y;
  if (sign == "+") return x + y;
  if (sign == "-") return x - y;
  if (sign == "*") return x * y;
  return sign == "/" ? x / y : std::pow(x, y);
}

/// Reads an expression by recursive descent.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, std::set<std::string>& views) : text_(text), views_(views) {}

  Term whole() {
    Term term = level(0);
    if (!left().empty()) fail("an operator, or the end");
    return term;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    refuse("column {}: expected {}, not \"{}\"", at_ + 1, expected, shown(text_.substr(at_, 12)));
  }

  std::string_view left() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return text_.substr(at_);
  }

  /// Whether `sign` comes next, and goes past it. A word ends where letters end.
  bool takes(std::string_view sign) {
    const std::string_view next = left();
    if (!next.starts_with(sign)) return false;
    if (is_letter(sign.front()) && next.size() > sign.size() &&
        (is_letter(next[sign.size()]) || is_digit(next[sign.size()])))
      return false;
    at_ += sign.size();
    return true;
  }

  void require(std::string_view sign) {
    if (!takes(sign)) fail(fmt::format("\"{}\"", sign));
  }

  static Term constant(Json value) {
    return {[value](const Json&, const Cell&) { return value; }};
  }

  Term level(std::size_t loosest) {
    if (loosest == operators.size()) return unary();
    Term term = level(loosest + 1);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const std::string_view sign : operators[loosest]) {
        if (!takes(sign)) continue;
        term.value = [sign, first = term.value, second = level(loosest + 1).value](const Json& views,
                                                                                   const Cell& at) {
          return joined(sign, first(views, at), [&] { return second(views, at); });
        };
        goes_on = true;
        break;
      }
    }
    return term;
  }

  Term unary() {
    if (++depth_ > deepest) refuse("column {}: more than {} levels of brackets", at_ + 1, deepest);
    Term term;
    if (takes("not") || takes("-")) {
      const bool is_not = text_[at_ - 1] == 't';
      term = level(is_not ? 2 : 4);
      term.value = [is_not, of = term.value](const Json& views, const Cell& at) -> Json {
        if (is_not) return !truth_of(of(views, at), "not");
        return -number_of(of(views, at), "-");
      };
    } else {
      term = primary();
    }
    --depth_;
    return term;
  }

  Term primary() {
    const std::string_view next = left();
    if (next.empty()) fail("a number, a name or a bracket");
    if (takes("(")) {
      Term term = level(0);
      require(")");
      return term;
    }
    if (next.front() == '"') return constant(quoted());
    if (is_digit(next.front()) || next.front() == '.') return constant(number());
    if (!is_letter(next.front())) fail("a number, a name or a bracket");
    const std::string word = name();
    if (word == "true" || word == "false") return constant(word == "true");
    if (is_among(word, functions)) return call(word);
    const auto value = [word](const Json& views, const Cell& at) { return named(word, views, at); };
    if (word == "i" || word == "j") return {value, word};
    views_.insert(word);
    return followed({value, word});
  }

  Term call(const std::string& function) {
    require("(");
    std::vector<Term> operands = {level(0)};
    while (takes(",")) operands.push_back(level(0));
    require(")");
    return {[function, operands](const Json& views, const Cell& at) {
              return called(function, operands, views, at);
            },
            operands.front().first};
  }

  /// The fields and entries of a view.
  Term followed(Term term) {
    for (;;) {
      if (takes(".")) {
        if (left().empty() || !is_letter(left().front())) fail("a field");
        term.value = [field = name(), of = term.value](const Json& views, const Cell& at) {
          return field_of(of(views, at), field);
        };
      } else if (takes("[")) {
        do {
          term.value = [view = term.first, of = term.value, index = entry().value](const Json& views,
                                                                                   const Cell& at) {
            const Json from = of(views, at);
            return entry_of(from, index(views, at), view, views, at);
          };
        } while (takes(","));
        require("]");
      } else {
        return term;
      }
    }
  }

  /// An index, or the bare text of a token.
  Term entry() {
    const std::size_t before = at_;
    const std::string_view next = left();
    if (!next.empty() && is_letter(next.front())) {
      const std::string word = name();
      const bool is_alone = left().starts_with(',') || left().starts_with(']');
      if (is_alone && word != "i" && word != "j") return constant(word);
      at_ = before;
    }
    return level(0);
  }

  std::string name() {
    std::string word;
    for (left(); at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])); ++at_)
      word += text_[at_];
    return word;
  }

  std::string quoted() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) refuse("column {}: the quotation mark is not closed", at_ + 1);
    const std::string words(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return words;
  }

  double number() {
    double value = 0;
    const auto [end, problem] = number_from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem != std::errc()) fail("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  const std::string_view text_;
  std::set<std::string>& views_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

FactExpression::FactExpression(std::string_view text) : text_(text) {
  work_ = ExpressionReader(text_, views_).whole().value;
}

double FactExpression::number(const Json& views) const {
  const double number = number_of(value(views), text_);
  if (!std::isfinite(number)) refuse("\"{}\" is not finite", text_);
  return number;
}

bool FactExpression::is_true(const Json& views, Cell at) const { return truth_of(value(views, at), text_); }

}  // namespace palimpsest
