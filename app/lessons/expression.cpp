#include "app/lessons/expression.h"

#include <fmt/ranges.h>
#include <cmath>

namespace palimpsest {

/// A term: what it does with its operands.
struct FactExpression::Term {
  enum class Kind { constant, name, field, index, call, unary, binary };
  Kind kind = Kind::constant;
  std::string word = {};  // the name, field, function or operator
  Json constant = {};
  std::vector<std::shared_ptr<const Term>> operands = {};
};

namespace {

using Term = FactExpression::Term;
using TermPointer = std::shared_ptr<const Term>;

constexpr int deepest = 64;  // brackets in brackets
constexpr std::string_view functions[] = {"abs", "sqrt", "exp",  "log",    "min",
                                          "max", "sum",  "size", "largest"};

/// Operators that are taken together, from loosest to tightest.
const std::vector<std::vector<std::string_view>>& operators() {
  static const std::vector<std::vector<std::string_view>> levels = {
      {"or"}, {"and"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}, {"^"}};
  return levels;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads an expression by recursive descent.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, std::set<std::string>& views) : text_(text), views_(views) {}

  TermPointer whole() {
    TermPointer term = level(0);
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

  static TermPointer made(Term::Kind kind, std::string word, std::vector<TermPointer> operands) {
    return std::make_shared<const Term>(
        Term{.kind = kind, .word = std::move(word), .operands = std::move(operands)});
  }

  static TermPointer made(Json constant) {
    return std::make_shared<const Term>(Term{.constant = std::move(constant)});
  }

  TermPointer level(std::size_t loosest) {
    if (loosest == operators().size()) return unary();
    TermPointer term = level(loosest + 1);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const std::string_view sign : operators()[loosest]) {
        if (!takes(sign)) continue;
        term = made(Term::Kind::binary, std::string(sign), {term, level(loosest + 1)});
        goes_on = true;
        break;
      }
    }
    return term;
  }

  TermPointer unary() {
    if (++depth_ > deepest) refuse("column {}: more than {} levels of brackets", at_ + 1, deepest);
    TermPointer term;
    if (takes("not") || takes("-")) {
      const bool is_not = text_[at_ - 1] == 't';
      term = made(Term::Kind::unary, is_not ? "not" : "-", {is_not ? level(2) : level(4)});
    } else {
      term = primary();
    }
    --depth_;
    return term;
  }

  TermPointer primary() {
    const std::string_view next = left();
    if (next.empty()) fail("a number, a name or a bracket");
    if (takes("(")) {
      TermPointer term = level(0);
      require(")");
      return term;
    }
    if (next.front() == '"') return made(Json(quoted()));
    if (is_digit(next.front()) || next.front() == '.') return made(Json(number()));
    if (!is_letter(next.front())) fail("a number, a name or a bracket");
    std::string word = name();
    if (word == "true" || word == "false") return made(Json(word == "true"));
    if (word == "i" || word == "j") return made(Term::Kind::name, std::move(word), {});
    if (is_among(word, functions)) return called(std::move(word));
    views_.insert(word);
    return followed(made(Term::Kind::name, std::move(word), {}));
  }

  TermPointer called(std::string function) {
    require("(");
    std::vector<TermPointer> operands = {level(0)};
    while (takes(",")) operands.push_back(level(0));
    require(")");
    return made(Term::Kind::call, std::move(function), std::move(operands));
  }

  /// The fields and entries of a view.
  TermPointer followed(TermPointer term) {
    for (;;) {
      if (takes(".")) {
        if (left().empty() || !is_letter(left().front())) fail("a field");
        term = made(Term::Kind::field, name(), {term});
      } else if (takes("[")) {
        std::vector<TermPointer> operands = {term, entry()};
        while (takes(",")) operands.push_back(entry());
        require("]");
        term = made(Term::Kind::index, {}, std::move(operands));
      } else {
        return term;
      }
    }
  }

  /// An index, or the bare text of a token.
  TermPointer entry() {
    const std::size_t before = at_;
    const std::string_view next = left();
    if (!next.empty() && is_letter(next.front())) {
      const std::string word = name();
      const bool is_alone = left().starts_with(',') || left().starts_with(']');
      if (is_alone && word != "i" && word != "j") return made(Json(word));
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

/// Works a tree out.
struct ExpressionWorker {
  const Json& views;
  const FactExpression::AtCell at;

  Json operator()(const Term& term) const {
    switch (term.kind) {
      case Term::Kind::constant:
        return term.constant;
      case Term::Kind::name:
        return named(term.word);
      case Term::Kind::field:
        return field(value(term, 0), term.word);
      case Term::Kind::index:
        return indexed(term);
      case Term::Kind::call:
        return called(term);
      case Term::Kind::unary:
        if (term.word == "not") return !truth(value(term, 0), "not");
        return -number(value(term, 0), "-");
      case Term::Kind::binary:
        return joined(term);
    }
    return {};
  }

  Json value(const Term& term, std::size_t operand) const { return (*this)(*term.operands.at(operand)); }

  static double number(const Json& value, std::string_view where) {
    if (!value.is_number()) refuse("\"{}\" takes numbers, not {}", where, seems(value));
    return value.get<double>();
  }

  static bool truth(const Json& value, std::string_view where) {
    if (!value.is_boolean()) refuse("\"{}\" takes true or false, not {}", where, seems(value));
    return value.get<bool>();
  }

  static std::string seems(const Json& value) {
    if (value.is_null()) return "a number that is not finite, or nothing";
    return shown(dumped(value, -1));
  }

  Json named(const std::string& word) const {
    if (word == "i") return at.i;
    if (word == "j") return at.j;
    const auto found = views.find(word);
    if (found == views.end()) refuse("there is no view \"{}\"", word);
    return *found;
  }

  static Json field(const Json& from, const std::string& word) {
    if (!from.is_object()) refuse("there is no field \"{}\" in {}", word, seems(from));
    const auto found = from.find(word);
    if (found != from.end()) return *found;
    std::string fields;
    for (const auto& each : from.items()) fields += (fields.empty() ? "" : ", ") + each.key();
    refuse("there is no field \"{}\"; there are {}", word, fields);
  }

  /// The words that the rows and columns of a view's tables stand for.
  Json words_of(const Term& term) const {
    const Term* first = &term;
    while (!first->operands.empty()) first = first->operands.front().get();
    const Json view = named(first->word);
    if (!view.is_object() || !view.contains("words"))
      refuse("the entries of \"{}\" have no names, only numbers", first->word);
    return view.at("words");
  }

  Json indexed(const Term& term) const {
    Json from = value(term, 0);
    for (std::size_t k = 1; k < term.operands.size(); ++k) {
      const Json index = value(term, k);
      if (!from.is_array()) refuse("{} has no entries", seems(from));
      const auto place_named = [&](const std::string& name) {
        const bool is_list_of_things = !from.empty() && from.front().is_object();
        return static_cast<double>(place_of(name, is_list_of_things ? from : words_of(term)));
      };
      const double place = index.is_string() ? place_named(index.get<std::string>()) : number(index, "[ ]");
      if (!(place >= 0 && place < static_cast<double>(from.size())) || place != std::floor(place))
        refuse("there is no entry {}; the list has {}", place, from.size());
      Json next = from[static_cast<std::size_t>(place)];
      from = std::move(next);
    }
    return from;
  }

  /// The first of `things` with this text in a field.
  static Index place_of(const std::string& name, const Json& things) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < things.size(); ++i) {
      const auto called = std::ranges::find(things[i], Json(name));
      if (called != things[i].end()) return static_cast<Index>(i);
      const auto first = std::ranges::find_if(things[i], &Json::is_string);
      if (first != things[i].end()) all.push_back(first->get<std::string>());
    }
    refuse("there is no \"{}\"; there are {}", name, fmt::join(all, ", "));
  }

  Json called(const Term& term) const {
    const std::string& function = term.word;
    Json first = value(term, 0);
    if (function == "size") {
      if (!first.is_array()) refuse("\"size\" takes a list, not {}", seems(first));
      return first.size();
    }
    if (function == "largest") {
      const Json words = words_of(*term.operands.front());
      if (!first.is_array() || first.size() != words.size())
        refuse("\"largest\" takes a row with an entry for every queried token");
      const auto most =
          std::ranges::max_element(first, {}, [](const Json& entry) { return number(entry, "largest"); });
      return words[static_cast<std::size_t>(most - first.begin())].at("text");
    }
    if (function == "min" || function == "max" || function == "sum") return over_all(term, function);
    const double x = number(first, function);
    if (function == "abs") return std::abs(x);
    if (function == "sqrt") return std::sqrt(x);
    return function == "exp" ? std::exp(x) : std::log(x);
  }

  Json over_all(const Term& term, const std::string& function) const {
    std::vector<double> numbers;
    for (std::size_t k = 0; k < term.operands.size(); ++k) {
      const Json each = value(term, k);
      if (!each.is_array())
        numbers.push_back(number(each, function));
      else
        for (const Json& entry : each) numbers.push_back(number(entry, function));
    }
    if (numbers.empty()) refuse("\"{}\" takes at least one number", function);
    if (function == "min") return std::ranges::min(numbers);
    if (function == "max") return std::ranges::max(numbers);
    double sum = 0;
    for (const double each : numbers) sum += each;
    return sum;
  }

  Json joined(const Term& term) const {
    const std::string& sign = term.word;
    const Json first = value(term, 0);
    if (sign == "and") return truth(first, sign) && truth(value(term, 1), sign);
    if (sign == "or") return truth(first, sign) || truth(value(term, 1), sign);
    const Json second = value(term, 1);
    if (sign == "==" || sign == "!=") {
      if (first.type_name() != std::string_view(second.type_name()))
        refuse("{} and {} cannot be equal: they are of two kinds", seems(first), seems(second));
      return (first == second) == (sign == "==");
    }
    const double x = number(first, sign);
    const double y = number(second, sign);
    if (sign == "<") return x < y;
    if (sign == "<=") return x <= y;
    if (sign == ">") return x > y;
    if (sign == ">=") return x >= y;
    if (sign == "+") return x + y;
    if (sign == "-") return x - y;
    if (sign == "*") return x * y;
    return sign == "/" ? x / y : std::pow(x, y);
  }
};

}  // namespace

FactExpression::FactExpression(std::string_view text) : text_(text) {
  root_ = ExpressionReader(text_, views_).whole();
}

Json FactExpression::value(const Json& views, AtCell at) const { return ExpressionWorker{views, at}(*root_); }

double FactExpression::number(const Json& views) const {
  const double number = ExpressionWorker::number(value(views), text_);
  if (!std::isfinite(number)) refuse("\"{}\" is not finite", text_);
  return number;
}

bool FactExpression::is_true(const Json& views, AtCell at) const {
  return ExpressionWorker::truth(value(views, at), text_);
}

}  // namespace palimpsest
