#pragma once

#include <imgui.h>
#include <imgui_internal.h>  // for the hook that runs when a context ends

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace palimpsest {

/// The T of the current Dear ImGui context. It is made at the first use and destroyed with the context, whose
/// OpenGL context is still current then: a T may own textures and programs. `Name`, any type, distinguishes
/// several of the same T.
template <class T, class Name = T>
T& context_local() {
  static std::map<ImGuiContext*, std::unique_ptr<T>> instances;
  // Caches the last result: a frame asks for some of them thousands of times.
  static ImGuiContext* last = nullptr;
  static T* found = nullptr;
  ImGuiContext* const context = ImGui::GetCurrentContext();
  if (found && last == context) return *found;
  std::unique_ptr<T>& instance = instances[context];
  if (!instance) {
    instance = std::make_unique<T>();
    ImGuiContextHook hook;
    hook.Type = ImGuiContextHookType_Shutdown;
    hook.Callback = [](ImGuiContext* ending, ImGuiContextHook*) {
      if (last == ending) found = nullptr;
      instances.erase(ending);
    };
    ImGui::AddContextHook(context, &hook);
  }
  last = context;
  found = instance.get();
  return *found;
}

/// The hash of a text, of a hash, or of a tuple of values and texts: the same for a string and a view of it.
struct TextHash {
  using is_transparent = void;

  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  std::size_t operator()(std::size_t hash) const { return hash; }

  template <class... Part>
  std::size_t operator()(const std::tuple<Part...>& parts) const {
    std::size_t hash = 0;
    std::apply([&](const auto&... part) { ((hash = hash * 1'000'003 + of(part)), ...); }, parts);
    return hash;
  }

 private:
  static std::size_t of(std::string_view text) { return std::hash<std::string_view>()(text); }
  template <class Part>
  requires(!std::convertible_to<Part, std::string_view>) static std::size_t of(const Part& part) {
    return std::hash<Part>()(part);
  }
};

/// What `make` made of `key` in the current Dear ImGui context, until the next call with another key. For one
/// place in the program, as every lambda has a type of its own.
template <class Key, class Make>
const auto& kept_for(const Key& key, const Make& make) {
  struct Kept {
    std::optional<Key> key;
    std::invoke_result_t<const Make&> value;
  };
  auto& kept = context_local<Kept>();
  if (kept.key != key) kept = {key, make()};
  return kept.value;
}

/// Values by key that are forgotten when no frame has asked for them for a while.
template <class Key, class Value>
class FrameCache {
 public:
  /// The value of `key`, whose texts may be views; a new one is made by default.
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

  std::unordered_map<Key, Entry, TextHash, std::equal_to<>> entries_;
  int swept_ = 0;
};

}  // namespace palimpsest
