#include "app/views/learn_columns.h"

#include "app/widgets/style.h"

namespace palimpsest {

TimelineColumns timeline_columns(TimelineView& view, const Session& session, ImVec2 position, ImVec2 size) {
  const auto tokens = static_cast<Index>(session.computed()->tokens.size());
  const float all = size.x / static_cast<float>(std::max<Index>(tokens, 1));
  if (view.data_id != session.data().id) {
    view = {};
    view.data_id = session.data().id;
    view.column = std::max(std::min(all, style::px(120)), style::px(48));
  }
  view.column = std::clamp(view.column, std::min(all, style::px(120)), style::px(120));
  const double visible = static_cast<double>(size.x / view.column);
  if (view.followed != session.token()) {
    view.followed = session.token();
    const auto at = static_cast<double>(session.token());
    view.first = std::clamp(view.first, at + 3 - visible, std::max(at - 2, at + 3 - visible));
  }
  view.first = std::clamp(view.first, 0.0, std::max(static_cast<double>(tokens) - visible, 0.0));
  return {position, size, tokens, view.first, view.column};
}

void zoom_timeline(TimelineView& view, const TimelineColumns& columns, const Session&, float factor,
                   float x) {
  const double pointer = static_cast<double>(x - columns.position.x);
  const double token = view.first + pointer / static_cast<double>(view.column);
  view.column *= factor;
  view.first = token - pointer / static_cast<double>(view.column);
}

}  // namespace palimpsest
