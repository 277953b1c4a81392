#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace palimpsest {

/// `text` with every byte sequence that is not UTF-8 replaced by U+FFFD; valid text comes back unchanged.
std::string valid_utf8(std::string_view text);

/// `text` as a terminal may be given it: valid UTF-8 in one line, with a space for each control character.
std::string one_line(std::string_view text);

/// Text from a file as a message may show it: valid UTF-8, no control characters, at most 80 bytes.
std::string shown(std::string_view text);

/// How many code points a text in UTF-8 has: the bytes that do not continue another.
std::size_t letter_count(std::string_view text);

/// Appends one code point as UTF-8; what is no code point becomes U+FFFD.
void append_utf8(std::string& text, char32_t code_point);

/// `value` with so many significant digits, "3.6", and as a whole number from there to 100,000: "102", not
/// "1e+02".
std::string plain_number(double value, int digits);

/// `value` with so many decimals, "0.67"; a power of ten from 100,000 on: "1.9e+13". No sign before zeros.
std::string fixed_number(double value, int decimals);

/// A share from 0 to 1 in at most four letters, ".97", so that only 1 is written as 1: ".998", "<1".
std::string share_of_one(double value);

/// "1 token", "3 tokens".
std::string counted(std::ptrdiff_t count, std::string_view one, std::string_view many);

/// "What is written" as it stands in a sentence: "what is written". Symbols keep their letters.
std::string with_small_letter(std::string words);

/// What the exception that is being handled tells a person. Call it in a catch block.
std::string problem_in_words();

}  // namespace palimpsest
