#pragma once

#include <string>
#include <string_view>

namespace palimpsest {

/// The letters of both alphabets, but for the last two.
inline constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Bytes in base64 (RFC 4648), without padding: 62 and 63 are + and /, or - and _ for links and file names.
std::string base64(std::string_view bytes, bool is_for_links = false);

}  // namespace palimpsest
