#pragma once

#include <imgui.h>

#include <cstddef>
#include <functional>
#include <map>

namespace palimpsest {

/// Values by key that are forgotten when no frame has asked for them for a while.
template <class Key, class Value>
class FrameCache {
 public:
  /// The value of `key`; a new one is made by default.
  template <class Name>
  Value& operator[](const Name& key) {
    const int frame = ImGui::GetFrameCount();
    if (frame < swept_ || frame - swept_ >= frames_between_sweeps) sweep(frame);
    auto entry = entries_.find(key);
    if (entry == entries_.end()) entry = entries_.try_emplace(Key(key)).first;
    entry->second.last_used = frame;
    return entry->second.value;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr int frames_kept = 120;
  static constexpr int frames_between_sweeps = 30;  // there may be thousands of values

  struct Entry {
    Value value;
    int last_used = 0;
  };

  void sweep(int frame) {
    swept_ = frame;
    std::erase_if(entries_, [&](const auto& entry) { return frame - entry.second.last_used > frames_kept; });
  }

  std::map<Key, Entry, std::less<>> entries_;
  int swept_ = 0;
};

}  // namespace palimpsest
