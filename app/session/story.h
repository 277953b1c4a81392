#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/data_set.h"
#include "app/session/presets.h"

namespace palimpsest {

/// Random numbers by arithmetic alone, so that they are the same everywhere: the distributions of <random>
/// and functions such as log differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  /// [0, 1).
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// About N(0, 1): the sum of twelve uniform numbers has variance 1.
  double normal();

  /// 0 .. count - 1.
  Index below(Index count) { return static_cast<Index>(uniform() * static_cast<double>(count)); }

  /// A direction: `size` numbers of length 1.
  std::vector<double> unit(Index size);

 private:
  std::mt19937_64 bits_;
};

/// Divides by the length.
void normalise(std::vector<double>& vector);

/// Takes out of `vector` what lies along `direction`, a vector of length 1.
void remove_part(std::vector<double>& vector, const std::vector<double>& direction);

/// `count` directions at right angles to each other as long as there is room for them (`size`), random ones
/// after that.
std::vector<std::vector<double>> apart(Random& random, Index count, Index size);

/// A made-up sequence as it is told, token by token. What is said after the last token is not heard.
class Story {
 public:
  explicit Story(const PresetSize& size);

  const PresetSize size;
  Random random;
  double least_kept = 0.98;  // alpha of a token is random between this and 1

  /// Tokens still to be told.
  Index left() const { return size.tokens - static_cast<Index>(labels_.size()); }

  /// Stores `value` under `key` with strength `beta`, and reads it back.
  void store(std::string label, const std::vector<double>& key, const std::vector<double>& value,
             double beta = 1);

  /// Reads what is stored under `key` and writes nothing.
  void ask(std::string label, const std::vector<double>& key);

  /// A word that does nothing: writes nothing, reads something random.
  void say(std::string word) { ask(std::move(word), random.unit(size.dk)); }

  /// Several such words, with spaces in between.
  void say_words(std::string_view words);

  /// Hands over the arrays, labels and text.
  DataSet finish();

 private:
  void tell(std::string label, const std::vector<double>& q, const std::vector<double>& k,
            const std::vector<double>& v, double beta);

  std::vector<double> q_, k_, v_, alpha_, beta_;
  std::vector<std::string> labels_;
};

}  // namespace palimpsest
