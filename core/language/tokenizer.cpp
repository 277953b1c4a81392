#include "core/language/tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <nlohmann/json.hpp>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

using Json = nlohmann::json;

/// How GPT-2 cuts a text into words (Radford et al., 2019, encoder.py).
constexpr const char* words_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20;

/// The bytes that a piece is written with, by the code points that stand for them: those of printable Latin-1
/// for themselves, all others in their order from U+0100 on.
std::map<char32_t, char> bytes_of_letters() {
  std::map<char32_t, char> bytes;
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool is_itself = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    bytes[is_itself ? byte : next++] = static_cast<char>(byte);
  }
  return bytes;
}

std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t j = 1; j < length && i + j < text.size(); ++j)
      point = point << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3F);
    points += point;
    i += length;
  }
  return points;
}

std::vector<std::string_view> words_of(std::string_view text) {
  static const std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> code(
      [] {
        int error = 0;
        PCRE2_SIZE where = 0;
        return pcre2_compile(reinterpret_cast<PCRE2_SPTR>(words_pattern), PCRE2_ZERO_TERMINATED,
                             PCRE2_UTF | PCRE2_UCP, &error, &where, nullptr);
      }(),
      &pcre2_code_free);
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(code.get(), nullptr), &pcre2_match_data_free);
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(match.get());
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size(); at = ends[1]) {
    if (pcre2_match(code.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK, match.get(), nullptr) < 0)
      throw Error("a text could not be cut into words");
    words.push_back(text.substr(ends[0], ends[1] - ends[0]));
  }
  return words;
}

}  // namespace

Tokenizer::Tokenizer(const std::filesystem::path& path) try {
  const auto require = [&](bool is_so, std::string_view wanted) {
    if (!is_so) refuse_file(path, "cannot be read as a tokenizer: {}", wanted);
  };
  const Json file = Json::parse(read_text_file(path, most_bytes), nullptr, false);
  require(file.is_object(), "it is not JSON");
  const auto at = [&](const char* pointer) { return file.value(Json::json_pointer(pointer), Json()); };
  require(at("/model/type") == "BPE", "its model is not BPE");
  require(at("/pre_tokenizer/type") == "ByteLevel" && at("/pre_tokenizer/use_regex") != false,
          "it does not cut words as byte-level BPE does");
  require(at("/pre_tokenizer/add_prefix_space") != true, "it adds a space in front");
  require(at("/normalizer").is_null(), "it changes the text before it cuts it");
  const Json vocabulary = at("/model/vocab");
  const Json merges = at("/model/merges");
  require(vocabulary.is_object() && !vocabulary.empty(), "it has no model/vocab");
  require(merges.is_array(), "it has no model/merges");

  const std::map<char32_t, char> bytes = bytes_of_letters();
  std::map<std::string, Index> written;  // as the file writes them
  pieces_.resize(vocabulary.size());
  for (const auto& [letters, id] : vocabulary.items()) {
    const bool has_number = id.is_number_unsigned() && id.get<std::size_t>() < pieces_.size();
    require(has_number, fmt::format("the number of \"{}\" is not below {}", shown(letters), pieces_.size()));
    written[letters] = id.get<Index>();
  }
  for (const Json& added : at("/added_tokens")) {
    whole_.push_back(added.value("content", ""));
    require(written.contains(whole_.back()), fmt::format("\"{}\" has no number", shown(whole_.back())));
  }
  for (const auto& [letters, id] : written) {
    std::string& piece = entry(pieces_, id);
    require(piece.empty(), fmt::format("two pieces have the number {}", id));
    if (is_among(letters, whole_)) {
      piece = letters;
    } else {
      for (const char32_t letter : code_points(letters)) {
        require(bytes.contains(letter), fmt::format("\"{}\" is not written in bytes", shown(letters)));
        piece += bytes.at(letter);
      }
    }
    numbers_[piece] = id;
  }
  for (int byte = 0; byte < 256; ++byte)
    require(find(std::string(1, static_cast<char>(byte))) >= 0, fmt::format("byte {} is no piece", byte));
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const Json& merge = merges[rank];
    std::string first, second;
    if (merge.is_string()) {
      const std::string both = merge.get<std::string>();
      first = both.substr(0, both.find(' '));
      second = both.substr(std::min(both.size(), first.size() + 1));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      first = merge[0].get<std::string>();
      second = merge[1].get<std::string>();
    }
    const Index* const one = value_at(written, first);
    const Index* const other = value_at(written, second);
    const Index* const both = value_at(written, first + second);
    require(one && other && both, fmt::format("merge {} does not consist of pieces", rank));
    joins_.try_emplace({*one, *other}, Join{rank, *both});
  }
} catch (const Json::exception&) {
  refuse_file(path, "cannot be read as a tokenizer: what it holds is of another type than expected");
}

Index Tokenizer::find(std::string_view bytes) const {
  const Index* const number = value_at(numbers_, bytes);
  return number ? *number : -1;
}

std::vector<Index> Tokenizer::encode(std::string_view text) const {
  const std::string valid = valid_utf8(text);
  if (const auto bad = std::ranges::mismatch(text, valid).in1; bad != text.end())
    refuse("the text is not UTF-8: byte {}", bad - text.begin());
  std::vector<Index> ids;
  while (!text.empty()) {
    std::size_t end = text.size();  // of what stands before the next whole piece
    const std::string* whole = nullptr;
    for (const std::string& each : whole_) {
      const std::size_t at = each.empty() ? std::string_view::npos : text.find(each);
      if (at >= end) continue;
      end = at;
      whole = &each;
    }
    for (const std::string_view word : words_of(text.substr(0, end))) encode_word(word, ids);
    if (whole) ids.push_back(find(*whole));
    text.remove_prefix(end + (whole ? whole->size() : 0));
  }
  return ids;
}

void Tokenizer::encode_word(std::string_view word, std::vector<Index>& ids) const {
  std::vector<Index> parts = made_of(word, [&](const char& byte) { return find({&byte, 1}); });
  while (parts.size() > 1) {
    const Join* best = nullptr;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = joins_.find({parts[i], parts[i + 1]});
      if (found == joins_.end() || (best && best->rank <= found->second.rank)) continue;
      best = &found->second;
      place = i;
    }
    if (!best) break;
    parts[place] = best->joined;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  ids.insert(ids.end(), parts.begin(), parts.end());
}

void require_same_pieces(const Tokenizer& tokenizer, Index pieces) {
  if (tokenizer.size() == pieces) return;
  refuse("the tokenizer has {} pieces and the model {}: they do not belong together", tokenizer.size(),
         pieces);
}

}  // namespace palimpsest
