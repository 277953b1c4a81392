#include "app/views/recalled_words.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/text.h"
#include "core/insight/recall.h"

namespace palimpsest {

namespace {

constexpr double seen = 0.005;  // of a share: what two digits show

std::string found(double share, bool is_alignment) {
  if (!std::isfinite(share)) return "The answer is no number any more.";
  if (is_alignment) {
    const char* way = share < -seen ? ": it points the other way" : "";
    return fmt::format("The answer to its key points along its value by {:.0f} %{}.", 100 * share, way);
  }
  std::string off;
  if (share > 1 + seen) off = fmt::format(", {} too much", fixed_number(share - 1, 2));
  if (share < -seen) off = ": it points the other way";
  return fmt::format("Its key finds {} of its value{}.", fixed_number(share, 2), off);
}

}  // namespace

std::string recalled_words(const RecalledAt& at) {
  if (!at.is_there) return fmt::format("{} is not in the memory yet.", at.word);
  std::string words =
      fmt::format("{} after {}.\n{}\n", at.word, at.present, found(at.after, at.is_alignment));
  if (at.beside > 0) words += fmt::format("Fitted together with the other {} shown here.\n", at.beside);
  const double change = recalled_part(at.after).right - recalled_part(at.before).right;
  const char* verb = at.is_own ? "writes it" : change < 0 ? "damages it" : "repairs it";
  if (!(std::abs(at.after - at.before) > seen))
    return words + fmt::format("{} leaves it as it is.", at.present);
  return words + fmt::format("{} {}: {} before, {} now.", at.present, verb, fixed_number(at.before, 2),
                             fixed_number(at.after, 2));
}

const RecalledLegend& recalled_legend(bool is_alignment) {
  static constexpr RecalledLegend shares = {
      "What each stored word still answers", "recalled, 0 to 100 %", "too much",
      "Asked with the key of a stored word, how much of that word's own value is in the answer, beside the "
      "values of the other words shown. Step and Compare fit the answer to all words asked about at their "
      "token: beside other words a share comes out a little different. 100 % is the value itself; what is "
      "beyond it is as wrong as what is missing."};
  static constexpr RecalledLegend directions = {
      "Which way each stored word's answer points", "along its value, 0 to 100 %", "the other way",
      "Asked with the key of a stored word, the cosine between the answer and that word's value: 100 % "
      "where it points the same way, however short it is. Step measures how much of the value is in the "
      "answer, which can be little where the direction is right."};
  return is_alignment ? directions : shares;
}

std::string recalled_measure(bool is_alignment, const Variant& variant) {
  std::string words(recalled_legend(is_alignment).measure);
  if (is_alignment) words += " " + compared_by_direction(variant);
  return words;
}

}  // namespace palimpsest
