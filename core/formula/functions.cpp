#include "core/formula/functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "core/base/table.h"

namespace palimpsest {

namespace {

/// `pattern` with "#1", "#2", … replaced by the arguments.
std::string filled(const std::string& pattern, std::span<const std::string> arguments) {
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '#') {
      result += pattern[i];
      continue;
    }
    const auto argument = static_cast<std::size_t>(pattern[++i] - '1');
    result += argument < arguments.size() ? arguments[argument] : "?";
  }
  return result;
}

class Signature {
 public:
  explicit Signature(const std::string& text) : text_(text) {
    const std::size_t arrow = text.find(" -> ");
    arguments_ = parse(text.substr(0, arrow));
    result_ = parse(text.substr(arrow)).at(0);
  }

  /// The shape of the value for `arguments`; throws Error naming `function` and all shapes if they do not
  /// fit.
  Shape result(const std::string& function, std::span<const Shape> arguments) const {
    Letters letters;
    bool all_fit = arguments.size() == arguments_.size();
    for (const bool products : {false, true}) {  // the letters of a product may stand alone further right
      for (std::size_t i = 0; all_fit && i < arguments.size(); ++i) {
        for (const auto& [size, actual] : {std::pair(arguments_[i].rows, arguments[i].rows),
                                           std::pair(arguments_[i].columns, arguments[i].columns)})
          all_fit = all_fit && (products != (size.sign == '*') || letters.fits(size, actual));
      }
    }
    if (all_fit) return {letters.of(result_.rows), letters.of(result_.columns)};
    const auto actual = arguments | std::views::transform([](Shape shape) { return to_string(shape); });
    throw Error(fmt::format("{}: shapes do not fit: it computes {} but was given {}", function, text_,
                            fmt::join(actual, ", ")));
  }

 private:
  /// A letter or a number; or a letter with another one or a number, which is added or, after '*', a factor.
  struct Size {
    std::string left;
    char sign = 0;
    std::string right = {};
  };
  struct Sizes {
    Size rows;
    Size columns;
  };

  class Letters {
   public:
    /// Whether `size` can equal `actual`; if so, fixes a letter that was unknown.
    bool fits(const Size& size, Index actual) {
      if (is_number(size.left)) return actual == of(size);
      std::optional<Index>& known = sizes_[size.left];
      if (size.sign == '*') {
        std::optional<Index>& factor = sizes_[size.right];
        if (!factor && known) factor = *known > 0 ? actual / *known : 0;
        if (!known && factor) known = *factor > 0 ? actual / *factor : 0;
        return known && *known * *factor == actual;
      }
      const Index more = size.sign ? number_of(size.right) : 0;
      if (!known) known = actual - more;
      return *known >= 0 && *known + more == actual;
    }

    Index of(const Size& size) {
      const Index left = number_of(size.left);
      if (!size.sign) return left;
      return size.sign == '*' ? left * number_of(size.right) : left + number_of(size.right);
    }

   private:
    static bool is_number(const std::string& text) { return text[0] >= '0' && text[0] <= '9'; }
    Index number_of(const std::string& text) { return is_number(text) ? std::stoi(text) : *sizes_[text]; }

    std::map<std::string, std::optional<Index>> sizes_;
  };

  static Size parse_size(const std::string& text) {
    return text.size() < 3 ? Size{text} : Size{text.substr(0, 1), text[1], text.substr(2)};
  }

  static std::vector<Sizes> parse(const std::string& text) {
    std::vector<Sizes> shapes;
    for (std::size_t at = text.find('['); at != std::string::npos; at = text.find('[', at + 1)) {
      const std::size_t comma = text.find(", ", at);
      const std::size_t end = text.find(']', at);
      shapes.push_back({parse_size(text.substr(at + 1, comma - at - 1)),
                        parse_size(text.substr(comma + 2, end - comma - 2))});
    }
    return shapes;
  }

  std::string text_;
  std::vector<Sizes> arguments_;
  Sizes result_;
};

}  // namespace

std::vector<Shape> shapes_of(Arguments arguments) {
  return made_of(arguments, [](const Matrix<double>& each) { return Shape{each.rows(), each.cols()}; });
}

Function function(std::string name, const std::string& signature, Pattern pattern,
                  std::function<Matrix<double>(Arguments)> evaluate, std::function<Term(CallCell&)> explain) {
  Function row;
  row.name = name;
  row.signature = signature;
  row.latex = [latex = std::move(pattern.latex)](std::span<const std::string> arguments) {
    return filled(latex, arguments);
  };
  row.binds = pattern.binds;
  row.arguments_bind = pattern.arguments_bind;
  row.shape = [name = std::move(name), parsed = Signature(signature)](std::span<const Shape> arguments) {
    return parsed.result(name, arguments);
  };
  row.evaluate = std::move(evaluate);
  row.explain = std::move(explain);
  return row;
}

Function only_where(Function row, std::function<bool(std::span<const Shape>)> fits, std::string why_not) {
  row.shape = [name = row.name, by_signature = row.shape, fits = std::move(fits),
               why_not = std::move(why_not)](std::span<const Shape> arguments) {
    const Shape shape = by_signature(arguments);
    if (!fits(arguments)) throw Error(fmt::format("{}: shapes do not fit: {}", name, why_not));
    return shape;
  };
  return row;
}

Matrix<double> first_rows(CallCell& cell, std::size_t argument, Index count) {
  return cell.read(argument, 0, 0, count, cell.shape(argument).columns);
}

Matrix<double> whole(CallCell& cell, std::size_t argument) {
  return first_rows(cell, argument, cell.shape(argument).rows);
}

Function by_number(std::string name, const std::string& signature, Pattern pattern,
                   Matrix<double> (*evaluate)(Arguments), std::size_t count,
                   std::function<std::string(const CallCell&)> words) {
  const auto explain = [evaluate, count, words = std::move(words)](CallCell& cell) {
    std::vector<Matrix<double>> arguments;
    for (std::size_t i = 0; i < count; ++i) arguments.push_back(whole(cell, i));
    return symbol(words(cell), evaluate(arguments)(cell.row(), cell.column()));
  };
  return function(std::move(name), signature, std::move(pattern), evaluate, explain);
}

Pattern applied(std::string_view name, int arguments) {
  std::string list = "#1";
  for (int i = 2; i <= arguments; ++i) list += fmt::format(", #{}", i);
  return {fmt::format(R"(\mathrm{{{}}}\left({}\right))", name, list)};
}

Pattern subscripted(std::string latex) { return {std::move(latex), Precedence::atom, Precedence::atom}; }

std::vector<Function> common_functions() {
  std::vector<Function> all;
  for (const auto& rows :
       {elementwise_functions(), activation_functions(), decay_functions(), vector_functions(),
        matrix_functions(), inner_batch_functions(), wrong_functions()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

const Function& find_function(std::string_view name) {
  const std::span<const Function> all = functions();
  if (const Function* const found = row_called(all, name, &Function::name)) return *found;
  throw Error(fmt::format("there is no function \"{}\"; known are: {}", name,
                          fmt::join(all | std::views::transform(&Function::name), ", ")));
}

}  // namespace palimpsest
