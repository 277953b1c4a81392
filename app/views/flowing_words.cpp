#include "app/views/flowing_words.h"

namespace palimpsest {

void FlowingWords::add(std::string_view words, style::Text letters, scene::Ink ink) {
  while (!words.empty()) {
    std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(end).starts_with(" %")) end = std::min(words.find(' ', end + 1), words.size());
    if (end > 0) add(scene::text(std::string(words.substr(0, end)), letters, ink, Fit::whole));
    if (end < words.size()) goes_on_ = false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

void FlowingWords::add(Node node) {
  if (std::exchange(goes_on_, true))
    words_.back() = scene::row({std::move(words_.back()), std::move(node)}, Gap::none);
  else
    words_.push_back(std::move(node));
}

}  // namespace palimpsest
