#include "app/session/stored_key_answers.h"

#include <tuple>

#include "core/rules/stored_pairs.h"

namespace palimpsest {

bool StoredKeys::operator<(const StoredKeys& other) const {
  return is_before(other).value_or(std::tie(first, count) < std::tie(other.first, other.count));
}

std::shared_ptr<const KeyPicture> StoredKeys::compute(const Effort&) const {
  const std::shared_ptr<const Foundation> foundation = present();
  require_memory_to_ask(*foundation->variant);
  StoredPairs pairs = stored_pairs(*foundation->variant, foundation->sequence, first, count);
  const Index per_token = count > 0 ? pairs.keys.rows() / count : 1;
  Matrix<double> keys(count, pairs.keys.cols());  // of several per token the last
  for (Index t = 0; t < count; ++t) keys.row(t) = pairs.keys.row((t + 1) * per_token - 1);
  pairs.keys = keys;
  auto picture = std::make_shared<KeyPicture>();
  picture->first = first;
  picture->cosines = interference(pairs, pairs, true);
  picture->directions = key_directions(keys);
  return picture;
}

std::size_t StoredKeys::bytes(const Value& picture) {
  return static_cast<std::size_t>(picture.cosines.size() + picture.directions.points.size()) * sizeof(double);
}

bool CapacitySweep::operator<(const CapacitySweep& other) const {
  return std::tie(variant, channels, keys, settings.options, settings.parameters) <
         std::tie(other.variant, other.channels, other.keys, other.settings.options,
                  other.settings.parameters);
}

std::shared_ptr<const CapacitySweep::Value> CapacitySweep::compute(const Effort& effort) const {
  CapacityPlan plan{
      .counts = {}, .dk = channels, .dv = channels, .keys = keys, .draws = 4, .settings = settings};
  const Index most = keys == Keys::orthonormal ? channels : 4 * channels;
  for (Index count = 1; count < most; count = count + std::max<Index>(count / 2, 1))
    plan.counts.push_back(count);
  plan.counts.push_back(most);
  return std::make_shared<const Value>(capacity(find_variant(variant), plan, effort.stop, effort.progress));
}

}  // namespace palimpsest
