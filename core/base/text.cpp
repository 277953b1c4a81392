#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <new>

#include "core/base/refuse.h"
#include "core/base/table.h"

namespace palimpsest {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Bounds of the magnitudes that are written without a power of ten, before rounding to three digits.
constexpr double least_plain = 0.0009995;
constexpr double most_plain = 999.5;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes of the sequence that starts `text`, or 0 if it is not UTF-8 (overlong forms and surrogates are not).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : (lead & 0xF0) == 0xE0        ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), is_continuation))
    return 0;
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

/// What stands in for a character that is not visible by itself.
constexpr std::pair<char, std::string_view> stand_ins[] = {{' ', "␣"}, {'\n', "⏎"}, {'\t', "⇥"}, {'\r', "␍"}};

/// What tokenizers call the token before a text.
constexpr std::string_view start_marks[] = {"<|doc|>", "<s>", "<bos>", "<|begin_of_text|>",
                                            "<|startoftext|>"};

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    result += length > 0 ? text.substr(0, length) : replacement;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string one_line(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string result;
  result.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(valid[place]); };
    const bool is_short_control = byte(i) < 0x20 || byte(i) == 0x7F;
    const bool is_long_control = byte(i) == 0xC2 && byte(i + 1) < 0xA0;  // U+0080 to U+009F, in two bytes
    result += is_short_control || is_long_control ? ' ' : valid[i];
    if (is_long_control) ++i;
  }
  return result;
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 80;
  const std::string result = one_line(text.substr(0, most));
  return text.size() > most ? result + "..." : result;
}

std::size_t letter_count(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}

void append_utf8(std::string& text, char32_t code_point) {
  const bool is_surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (is_surrogate || code_point >= 0x110000) {
    text += replacement;
    return;
  }
  constexpr char32_t leads[] = {0, 0xC0, 0xE0, 0xF0};  // by how many bytes follow
  const int following = code_point < 0x80 ? 0 : code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
  text += static_cast<char>(leads[following] | code_point >> 6 * following);
  for (int i = following - 1; i >= 0; --i) text += static_cast<char>(0x80 | (code_point >> 6 * i & 0x3F));
}

std::string power_of_ten(int power) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "10";
  for (const char letter : std::to_string(power)) text += letter == '-' ? "⁻" : digits[letter - '0'];
  return text;
}

std::string plain_number(double value, int digits) {
  if (value == 0) return "0";
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  const double size = std::abs(value);
  if (size >= least_plain && size < most_plain) {
    const bool is_whole = size >= std::pow(10, digits) - 0.5;
    return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits);
  }
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t end = text.find('e');
  std::string factor = text.substr(0, end);
  if (factor.find('.') != std::string::npos) factor.erase(factor.find_last_not_of("0.") + 1);
  const std::string power = power_of_ten(std::stoi(text.substr(end + 1)));
  if (factor == "1" || factor == "-1") return factor.substr(0, factor.size() - 1) + power;
  return factor + "\u00A0×\u00A0" + power;  // no line ends in it
}

std::string signed_number(double value, int digits) {
  return (value > 0 ? "+" : "") + plain_number(value, digits);
}

std::vector<std::string> number_column(const std::vector<double>& values, double dust) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const bool is_plain = largest >= least_plain && largest < most_plain;
  const int decimals = is_plain ? std::clamp(2 - static_cast<int>(std::floor(std::log10(largest))), 0, 5) : 0;
  std::vector<std::string> column;
  for (const double value : values) {
    const bool is_too_small = is_plain && std::abs(value) < std::pow(10, -decimals) / 2;
    column.push_back(std::abs(value) <= dust            ? "0"
                     : is_too_small                     ? "≈ 0"
                     : is_plain && std::isfinite(value) ? fixed_number(value, decimals)
                                                        : plain_number(value));
  }
  return column;
}

std::string fixed_number(double value, int decimals) {
  const double last = std::pow(10, -decimals);
  if (std::abs(value) < last / 2) value = 0;
  const bool is_short = std::abs(value) < 1e5 - last / 2;
  return is_short ? fmt::format("{:.{}f}", value, decimals) : plain_number(value, 2);
}

std::string bound_number(double value, int decimals) {
  const double last = std::pow(10, -decimals);
  return fixed_number(std::copysign(std::ceil(std::abs(value) / last - 1e-9) * last, value), decimals);
}

std::string in_percent(double share) {
  const double percent = std::round(100 * share);
  return fmt::format("{:.0f} %", percent == 0 ? 0 : percent);  // not "-0"
}

std::string share_of_one(double value) {
  if (value == 0 || value == 1) return fmt::format("{:.0f}", value);
  if (value < 0) return "-" + share_of_one(-value);
  if (value < 0.995) return fmt::format("{:.2f}", value).substr(1);
  return value < 0.9995 ? fmt::format("{:.3f}", value).substr(1) : "<1";
}

std::string counted(std::ptrdiff_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
  return all;
}

std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::string few;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    few += (i == 0 ? "" : ", ") + shown(names[i]);
  return names.size() > most ? few + fmt::format(" and {} more", names.size() - most) : few;
}

std::string visible_label(std::string_view label) {
  if (is_among(label, start_marks)) return "start";
  const std::size_t first = label.find_first_not_of(' ');
  if (first != std::string_view::npos) label.remove_prefix(first);
  std::string visible;
  for (const char character : label) {
    const auto shown = std::ranges::find(stand_ins, character, &std::pair<char, std::string_view>::first);
    const bool stays = shown == std::end(stand_ins) || (character == ' ' && first != std::string_view::npos);
    visible += stays ? std::string_view(&character, 1) : shown->second;
  }
  return visible;
}

std::string_view word_text(std::string_view label) {
  constexpr std::string_view spaces = " \t\n\r";
  const std::size_t first = label.find_first_not_of(spaces);
  if (first == std::string_view::npos) return label;
  return label.substr(first, label.find_last_not_of(spaces) - first + 1);
}

bool ends_sentence(std::string_view label) {
  const std::string_view text = word_text(label);
  return label.find('\n') != std::string_view::npos || text.ends_with('.') || text.ends_with('?') ||
         text.ends_with('!') || text.starts_with("<|");
}

std::ptrdiff_t sentence_begin(std::span<const std::string> labels, std::ptrdiff_t token) {
  while (token > 0 && !ends_sentence(labels[static_cast<std::size_t>(token - 1)])) --token;
  return token;
}

bool only_counts(std::string_view label, std::ptrdiff_t token) { return label == std::to_string(token + 1); }

std::string quoted_label(std::string_view label, std::ptrdiff_t token) {
  return only_counts(label, token) ? fmt::format("token {}", token + 1)
                                   : fmt::format("“{}”", visible_label(label));
}

std::string quoted_and_numbered(std::string_view label, std::ptrdiff_t token) {
  const std::string quoted = quoted_label(label, token);
  return only_counts(label, token) ? quoted : fmt::format("{} (token {})", quoted, token + 1);
}

std::string numbered_label(std::string_view label, std::ptrdiff_t token) {
  return only_counts(label, token) ? std::to_string(token + 1)
                                   : fmt::format("{} {}", token + 1, quoted_label(label, token));
}

std::string with_small_letter(std::string words) {
  const bool is_word = words.size() > 1 && std::islower(static_cast<unsigned char>(words[1])) != 0;
  if (is_word) words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  return words;
}

std::string escaped(std::string_view text, std::string_view also) {
  std::string id;
  for (const char c : text) {
    const bool is_special =
        is_among(c, {'%', '&', '?'}) || static_cast<unsigned char>(c) < 0x20 || is_among(c, also);
    id += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return id;
}

std::string unescaped(std::string_view id) {
  std::string text;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (id[i] != '%') {
      text += id[i];
      continue;
    }
    const std::string digits(id.substr(i + 1, 2));
    if (digits.size() != 2 || digits.find_first_not_of("0123456789ABCDEFabcdef") != std::string::npos)
      refuse("\"%{}\": expected two hexadecimal digits after a %", shown(digits));
    text += static_cast<char>(std::stoi(digits, nullptr, 16));
    i += 2;
  }
  return text;
}

std::string base64(std::string_view bytes, bool is_for_links) {
  const std::string letters = std::string(base64_letters) + (is_for_links ? "-_" : "+/");
  std::string text;
  unsigned held = 0;
  int bits = 0;
  for (const char byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += letters[held >> (bits - 6) & 63];
  }
  if (bits > 0) text += letters[held << (6 - bits) & 63];
  return text;
}

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

std::from_chars_result number_from_chars(const char* first, const char* last, double& number) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(first, last, number);
#else
  // Without what strtod() alone takes: spaces before, "+1", hexadecimal numbers.
  std::string text(first, last);
  text.resize(std::min(text.size(), text.find_first_of("xX")));
  char* end = text.data();
  errno = 0;
  const bool may_begin =
      !text.empty() && std::string_view("-.0123456789iInN").find(text[0]) != std::string_view::npos;
  const double value = may_begin ? std::strtod(text.c_str(), &end) : 0;
  if (end == text.data()) return {first, std::errc::invalid_argument};
  const char* const after = first + (end - text.data());
  if (errno == ERANGE && (value == 0 || std::isinf(value))) return {after, std::errc::result_out_of_range};
  number = value;
  return {after, {}};
#endif
}

std::ptrdiff_t parse_count(std::string_view text, std::string_view what, std::ptrdiff_t least,
                           std::ptrdiff_t most) {
  const auto count = parse_all<std::ptrdiff_t>(text);
  if (!count || *count < least || *count > most)
    refuse("{} is \"{}\"; expected a whole number from {}{}", what, shown(text), least,
           most == no_limit ? " on" : fmt::format(" to {}", most));
  return *count;
}

std::string problem_in_words() try { throw; } catch (const std::bad_alloc&) {
  return "there is not enough memory for this";
} catch (const std::logic_error& error) {
  return fmt::format("a bug in this program: {}", error.what());
} catch (const std::exception& error) {
  return error.what();
} catch (...) {
  return "something went wrong";
}

}  // namespace palimpsest
