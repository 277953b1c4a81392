#include "core/formula/functions/signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>

#include "core/base/error.h"

namespace palimpsest {

namespace {

constexpr Index unknown = -1;

/// What the letters of a signature stand for.
using Letters = std::array<Index, 128>;

Index& of(Letters& letters, char letter) { return letters[static_cast<unsigned char>(letter) & 127U]; }

}  // namespace

Signature::Signature(const std::string& text) : text_(text) {
  const std::size_t arrow = text.find(" -> ");
  arguments_ = parse(text.substr(0, arrow));
  result_ = parse(text.substr(arrow)).at(0);
}

Signature::Size Signature::parse_size(const std::string& text) {
  if (std::isdigit(static_cast<unsigned char>(text[0])) != 0) return {0, std::stoi(text)};
  if (text.find('*') != std::string::npos) return {text[0], 0, text[2]};
  return {text[0], text.size() > 2 ? std::stoi(text.substr(2)) : 0};
}

std::vector<Signature::Sizes> Signature::parse(const std::string& text) {
  std::vector<Sizes> shapes;
  for (std::size_t at = text.find('['); at != std::string::npos; at = text.find('[', at + 1)) {
    const std::size_t comma = text.find(", ", at);
    const std::size_t end = text.find(']', at);
    shapes.push_back({parse_size(text.substr(at + 1, comma - at - 1)),
                      parse_size(text.substr(comma + 2, end - comma - 2))});
  }
  return shapes;
}

Shape Signature::result(const std::string& function, std::span<const Shape> arguments) const {
  Letters letters;
  letters.fill(unknown);
  const auto fits = [&](const Size& size, Index actual) {
    if (!size.letter) return actual == size.more;
    Index& known = of(letters, size.letter);
    if (size.factor) {
      Index& factor = of(letters, size.factor);
      if (factor == unknown && known > 0) factor = actual / known;
      return known != unknown && factor != unknown && known * factor == actual;
    }
    if (known == unknown) known = actual - size.more;
    return known >= 0 && known + size.more == actual;
  };
  bool all_fit = arguments.size() == arguments_.size();
  for (std::size_t i = 0; all_fit && i < arguments.size(); ++i) {
    all_fit =
        fits(arguments_[i].rows, arguments[i].rows) && fits(arguments_[i].columns, arguments[i].columns);
  }
  if (!all_fit) {
    std::vector<std::string> actual;
    for (const Shape& shape : arguments) actual.push_back(to_string(shape));
    throw Error(fmt::format("{}: shapes do not fit: it computes {} but was given {}", function, text_,
                            fmt::join(actual, ", ")));
  }
  const auto size = [&](const Size& s) {
    if (s.factor) return of(letters, s.letter) * of(letters, s.factor);
    return s.letter ? of(letters, s.letter) + s.more : s.more;
  };
  return {size(result_.rows), size(result_.columns)};
}

std::optional<std::vector<Shape>> Signature::arguments(Shape result,
                                                       const std::function<Index()>& free) const {
  Letters letters;
  letters.fill(unknown);
  const auto fits = [&](const Size& size, Index actual) {
    if (size.factor) return false;  // a product leaves both of its factors open
    if (!size.letter) return size.more == actual;
    Index& known = of(letters, size.letter);
    if (known == unknown) known = actual - size.more;
    return known >= 0 && known + size.more == actual;
  };
  if (!fits(result_.rows, result.rows) || !fits(result_.columns, result.columns)) return std::nullopt;
  const auto letter = [&](char name) {
    Index& known = of(letters, name);
    if (known == unknown) known = free();
    return known;
  };
  const auto size = [&](const Size& s) {
    if (s.factor) return letter(s.letter) * letter(s.factor);
    return s.letter ? letter(s.letter) + s.more : s.more;
  };
  std::vector<Shape> shapes;
  for (const Sizes& sizes : arguments_) {
    const Index rows = size(sizes.rows);
    shapes.push_back({rows, size(sizes.columns)});
  }
  return shapes;
}

}  // namespace palimpsest
