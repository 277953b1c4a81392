#include "app/session/story.h"

#include <algorithm>
#include <cmath>

namespace palimpsest {

namespace {

constexpr std::size_t longest_text = 1200;

/// Plain loops instead of Eigen: its order of summation depends on the processor.
double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// "The red box holds a key. …" from words, "red → key, blue → coin, …" from longer labels.
std::string text_of(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) {
    if (text.size() > longest_text) return text + " …";
    const bool is_word = label.find(' ') == std::string::npos;
    if (!text.empty() && label != "." && label != "?") text += is_word ? " " : ", ";
    text += label;
  }
  return text;
}

}  // namespace

double Random::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum;
}

std::vector<double> Random::unit(Index size) {
  std::vector<double> vector(static_cast<std::size_t>(size));
  for (double& number : vector) number = normal();
  normalise(vector);
  return vector;
}

void normalise(std::vector<double>& vector) {
  const double length = std::sqrt(dot(vector, vector));
  for (double& number : vector) number /= length;
}

void remove_part(std::vector<double>& vector, const std::vector<double>& direction) {
  const double part = dot(vector, direction);
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] -= part * direction[i];
}

std::vector<std::vector<double>> apart(Random& random, Index count, Index size) {
  std::vector<std::vector<double>> directions;
  for (Index i = 0; i < count; ++i) {
    std::vector<double> vector = random.unit(size);
    for (int pass = 0; pass < 2 && i < size; ++pass) {  // the second pass takes out what rounding left
      for (const std::vector<double>& direction : directions) remove_part(vector, direction);
      normalise(vector);
    }
    directions.push_back(std::move(vector));
  }
  return directions;
}

Story::Story(const PresetSize& story_size) : size(story_size), random(story_size.seed) {
  const auto T = static_cast<std::size_t>(size.tokens);
  q_.reserve(T * static_cast<std::size_t>(size.dk));
  k_.reserve(T * static_cast<std::size_t>(size.dk));
  v_.reserve(T * static_cast<std::size_t>(size.dv));
}

void Story::store(std::string label, const std::vector<double>& key, const std::vector<double>& value,
                  double beta) {
  tell(std::move(label), key, key, value, beta);
}

void Story::ask(std::string label, const std::vector<double>& key) {
  const std::vector<double> nothing(static_cast<std::size_t>(size.dv), 0.0);
  tell(std::move(label), key, random.unit(size.dk), nothing, 0);
}

void Story::say_words(std::string_view words) {
  while (!words.empty()) {
    const std::size_t space = std::min(words.find(' '), words.size());
    say(std::string(words.substr(0, space)));
    words.remove_prefix(std::min(space + 1, words.size()));
  }
}

void Story::tell(std::string label, const std::vector<double>& q, const std::vector<double>& k,
                 const std::vector<double>& v, double beta) {
  if (left() == 0) return;
  q_.insert(q_.end(), q.begin(), q.end());
  k_.insert(k_.end(), k.begin(), k.end());
  v_.insert(v_.end(), v.begin(), v.end());
  alpha_.push_back(random.uniform(least_kept, 1));
  beta_.push_back(beta);
  labels_.push_back(std::move(label));
}

DataSet Story::finish() {
  DataSet data;
  const Index T = size.tokens;
  data.arrays.emplace("q", Array({T, size.dk}, std::move(q_)));
  data.arrays.emplace("k", Array({T, size.dk}, std::move(k_)));
  data.arrays.emplace("v", Array({T, size.dv}, std::move(v_)));
  data.arrays.emplace("alpha", Array({T}, std::move(alpha_)));
  data.arrays.emplace("beta", Array({T}, std::move(beta_)));
  data.advice = {{"softmax", "scale", 16,
                  "keys of length 1 are all alike to softmax unless the scores are spread out."}};
  data.text = text_of(labels_);
  data.labels = std::move(labels_);
  measure(data);
  return data;
}

}  // namespace palimpsest
