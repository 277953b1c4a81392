#include "core/base/base64.h"

namespace palimpsest {

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

}  // namespace palimpsest
