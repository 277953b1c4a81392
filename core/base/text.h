#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// `text` with every byte sequence that is not UTF-8 replaced by U+FFFD; valid text comes back unchanged.
std::string valid_utf8(std::string_view text);

/// `text` made safe for a terminal: valid UTF-8 in one line, with a space for each control character.
std::string one_line(std::string_view text);

/// Text from a file made safe for a message: valid UTF-8, no control characters, at most 80 bytes.
std::string shown(std::string_view text);

/// The number of code points of a UTF-8 text: of its bytes that are not continuation bytes.
std::size_t letter_count(std::string_view text);

/// Appends one code point as UTF-8; what is no code point becomes U+FFFD.
void append_utf8(std::string& text, char32_t code_point);

/// A number as on screen, with `digits` significant digits: from 0.001 to 999 plain, "0.382", "140", else
/// with a power of ten, "6.24 × 10⁻¹⁶"; "0", "∞", "not a number".
std::string plain_number(double value, int digits = 3);

/// The same with its sign before it: "+0.188".
std::string signed_number(double value, int digits = 3);

/// Numbers for a right-aligned column with aligned decimal points: all with as many decimals as give the
/// largest three digits. "≈ 0" for what rounds to 0, "0" for what is not above `dust`. Where the largest
/// needs a power of ten, each number is written on its own.
std::vector<std::string> number_column(const std::vector<double>& values, double dust = 0);

/// "10⁻⁷".
std::string power_of_ten(int power);

/// `value` with `decimals` decimals, "0.67"; from 100,000 on with a power of ten. No sign before zeros.
std::string fixed_number(double value, int decimals);

/// The same rounded away from 0, for "by no more than": 0.0148 with two decimals is "0.02".
std::string bound_number(double value, int decimals);

/// A share in whole percent, "17 %": "0 %" below half of one.
std::string in_percent(double share);

/// A share from -1 to 1 in few letters, ".97", "-.01", so that only 1 is written as 1: ".998", "<1".
std::string share_of_one(double value);

/// "1 token", "3 tokens".
std::string counted(std::ptrdiff_t count, std::string_view one, std::string_view many);

/// "q, k and v".
std::string listed(const std::vector<std::string>& words);

/// Names from a file, made safe for a message, as many as fit into one: "q, k, v" or "q, ..., v and 3 more".
std::string few_of(const std::vector<std::string>& names);

/// A token's label as one line without the space before a word; white space alone is made visible: "␣", "⏎".
/// What marks the start of a text is "start".
std::string visible_label(std::string_view label);

/// The label without spaces around it: what makes two tokens the same word.
std::string_view word_text(std::string_view label);

/// Whether nothing before this label belongs to the same sentence.
bool ends_sentence(std::string_view label);

/// The first token of the sentence that a token is in.
std::ptrdiff_t sentence_begin(std::span<const std::string> labels, std::ptrdiff_t token);

/// Whether a label is only the token's number from 1 (`token` counts from 0), as for data without labels.
bool only_counts(std::string_view label, std::ptrdiff_t token);

/// How sentences name a token: “drum”; or "token 43" where its label is only its number.
std::string quoted_label(std::string_view label, std::ptrdiff_t token);

/// The same with its number: “drum” (token 43); or "token 43".
std::string quoted_and_numbered(std::string_view label, std::ptrdiff_t token);

/// The same, the number first: "43 “drum”"; or "43".
std::string numbered_label(std::string_view label, std::ptrdiff_t token);

/// "What is written" as it stands in a sentence: "what is written". Symbols keep their letters.
std::string with_small_letter(std::string words);

/// `text` as a part of an id: %, &, ?, control characters and those of `also` as % and two hexadecimal
/// digits.
std::string escaped(std::string_view text, std::string_view also = {});

/// Undoes escaped(). Throws InputError.
std::string unescaped(std::string_view id);

/// The letters of both alphabets of base64, but for the last two.
inline constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Bytes in base64 (RFC 4648), without padding: 62 and 63 are + and /, or - and _ for links and file names.
std::string base64(std::string_view bytes, bool is_for_links = false);

/// Removes the text up to and including the first `end` (or all) from `rest`; returns it without the `end`.
std::string_view take_until(std::string_view& rest, char end);

/// std::from_chars() for a double, which libc++ has only from version 20 on.
std::from_chars_result number_from_chars(const char* first, const char* last, double& number);

/// All of `text` parsed as one number; nothing if it is not a number or does not fit the type.
template <class Number>
std::optional<Number> parse_all(std::string_view text) {
  Number number{};
  const char* const last = text.data() + text.size();
  std::from_chars_result result;
  if constexpr (std::is_same_v<Number, double>)
    result = number_from_chars(text.data(), last, number);
  else
    result = std::from_chars(text.data(), last, number);
  const auto [end, error] = result;
  if (error != std::errc() || end != last) return {};
  return number;
}

constexpr std::ptrdiff_t no_limit = std::numeric_limits<std::ptrdiff_t>::max();

/// All of `text` parsed as a whole number from `least` to `most`; throws InputError calling it `what`.
std::ptrdiff_t parse_count(std::string_view text, std::string_view what, std::ptrdiff_t least = 0,
                           std::ptrdiff_t most = no_limit);

/// The message for the user of the exception that is being handled. Call it in a catch block.
std::string problem_in_words();

}  // namespace palimpsest
