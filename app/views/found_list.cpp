#include "app/views/found_list.h"

namespace palimpsest {

void FoundList::go_to(std::string id) {
  at = std::move(id);
  ++moves;
}

void FoundList::follow(const std::vector<std::string>& left, bool keeps) {
  const int moved = std::exchange(filter.moved, 0);
  const bool is_typed = std::exchange(filter.changed, false);
  if (left.empty()) return;
  const auto present = std::ranges::find(left, at);
  const bool is_left = present != left.end();
  if (!is_left || (is_typed && !keeps)) return go_to(left.front());
  if (moved == 0) return;
  const auto last = std::ssize(left) - 1;
  const auto next = std::clamp<std::ptrdiff_t>(present - left.begin() + moved, 0, last);
  go_to(left[static_cast<std::size_t>(next)]);
}

Node FoundList::row(const std::string& id, Node content, std::function<void()> press) const {
  const bool is_chosen = id == at;
  return scene::framed(std::move(content), Gap::near, Gap::near, 0,
                       is_chosen ? style::colours().lit_ground() : 0)
      .named(id)
      .revealed_for(is_chosen ? fmt::format("{} {}", id, moves) : std::string())
      .on(std::move(press));
}

Node named_choice(const std::string& name, const std::string& words, bool chosen) {
  return scene::column(
      {scene::row({scene::line(name, chosen ? style::Text::strong : style::Text::body), scene::rest()}),
       scene::caption(words)},
      Gap::tight);
}

}  // namespace palimpsest
