// Which keys collide: how much one answers for another, and how they lie on a sphere.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/learn_questions.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index most_keys = 256;
constexpr Index window_step_of_keys = 64;
constexpr float gutter = 76;  // the words beside the rows
constexpr float below_picture = 24;
constexpr float readable_row = 12;  // from here on rows have their words
constexpr float turn_per_pixel = 0.008F;
constexpr std::size_t most_named = 7;

/// How the sphere is turned, and which picture was drawn.
struct TurnedSphere {
  float around = 0.4F;
  float tilt = 0.35F;
  std::shared_ptr<const KeyPicture> of;
  std::uint64_t version = 0;
};

/// A key on the screen.
struct SeenKey {
  Index token = 0;
  ImVec2 at;
  float depth = 0;  // towards the eye
};

void draw_cosines(const LearnRoom& room, const KeyPicture& picture, const Computation& computed, Index token,
                  std::uint64_t version) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto count = picture.cosines.rows();
  const float side = std::floor(std::min(room.width() - px(gutter), room.height() - px(below_picture)));
  const ImVec2 corner = {room.from.x + px(gutter), room.from.y};
  heat_map("learn cosines", picture.cosines, version, corner, {side, side}, {.range = 1});
  list->AddRect({corner.x - 1, corner.y - 1}, {corner.x + side + 1, corner.y + side + 1}, c.edge);
  const float row = side / static_cast<float>(count);
  const style::TextStyle text(style::Text::caption);
  const float line = text_extent("x").y;
  const auto label = [&](Index of) {
    return visible_label(computed.data->labels[static_cast<std::size_t>(of)]);
  };
  const auto name_row = [&](Index i) {
    const Index of = picture.first + i;
    const std::string words = shortened(label(of), px(gutter - 10));
    const float y = corner.y + row * (static_cast<float>(i) + 0.5F) - line / 2;
    draw_text({corner.x - px(6) - text_extent(words).x, y}, of == token ? c.text : c.dim, words);
  };
  const Index present = token - picture.first;
  for (Index i = 0; i < count; ++i) {
    if (row >= px(readable_row) || i == present) name_row(i);
  }
  if (present >= 0 && present < count)
    list->AddRect({corner.x - 1, corner.y + row * static_cast<float>(present) - 1},
                  {corner.x + side + 1, corner.y + row * static_cast<float>(present + 1) + 1}, c.text, 0,
                  px(1.5F));
  ImGui::SetCursorScreenPos(corner);
  ImGui::InvisibleButton("cosines", {side, side});
  std::string words = "cosines of the keys: how much one word answers for another";
  if (ImGui::IsItemHovered()) {
    if (const auto cell = hovered_cell(corner, {side, side}, count, count, ImGui::GetIO().MousePos)) {
      words = fmt::format("{} {} and {} {}: {:+.3f}", picture.first + cell->row,
                          quoted_word(computed, picture.first + cell->row), picture.first + cell->column,
                          quoted_word(computed, picture.first + cell->column),
                          picture.cosines(cell->row, cell->column));
    }
  }
  learn_text({corner.x, corner.y + side + px(6)}, c.dim, shortened(words, room.to.x - corner.x));
}

/// The keys most like that of `token`.
std::vector<Index> nearest(const KeyPicture& picture, Index token) {
  const Index present = token - picture.first;
  std::vector<Index> order;
  if (present < 0 || present >= picture.cosines.rows()) return order;
  for (Index i = 0; i < picture.cosines.rows(); ++i) order.push_back(i);
  const auto size = [&](Index i) { return std::abs(picture.cosines(present, i)); };
  const auto kept = std::min(order.size(), most_named);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept), std::greater(), size);
  order.resize(kept);
  return order;
}

void draw_sphere(TurnedSphere& turned, const LearnRoom& room, const KeyPicture& picture,
                 const Computation& computed, Index token) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float radius = std::min(room.width() * 0.42F, (room.height() - px(below_picture)) / 2 - px(6));
  const ImVec2 middle = {(room.from.x + room.to.x) / 2, room.from.y + radius + px(4)};
  ImGui::SetCursorScreenPos({middle.x - radius, middle.y - radius});
  ImGui::InvisibleButton("sphere", {2 * radius, 2 * radius});
  if (ImGui::IsItemActive()) {
    turned.around += ImGui::GetIO().MouseDelta.x * turn_per_pixel;
    turned.tilt = std::clamp(turned.tilt + ImGui::GetIO().MouseDelta.y * turn_per_pixel, -1.5F, 1.5F);
  }
  const auto project = [&](double x, double y, double z) {
    const auto sa = static_cast<double>(std::sin(turned.around));
    const auto ca = static_cast<double>(std::cos(turned.around));
    const auto st = static_cast<double>(std::sin(turned.tilt));
    const auto ct = static_cast<double>(std::cos(turned.tilt));
    const double right = ca * x + sa * z;
    const double into = -sa * x + ca * z;
    const double up = ct * y - st * into;
    const double depth = st * y + ct * into;
    return std::pair(
        ImVec2{middle.x + radius * static_cast<float>(right), middle.y - radius * static_cast<float>(up)},
        static_cast<float>(depth));
  };
  list->AddCircleFilled(middle, radius, style::mix(c.panel, c.background, 0.6F), 96);
  list->AddCircle(middle, radius, c.edge, 96, px(style::line));
  constexpr int pieces = 72;
  for (int ring = 0; ring < 3; ++ring) {
    ImVec2 last;
    for (int i = 0; i <= pieces; ++i) {
      const double angle = 2 * 3.14159265358979 * i / pieces;
      const double u = std::cos(angle);
      const double v = std::sin(angle);
      const auto [at, depth] = ring == 0 ? project(u, 0, v) : ring == 1 ? project(u, v, 0) : project(0, u, v);
      if (i > 0)
        list->AddLine(last, at, style::with_alpha(c.faint, depth > 0 ? 0.5F : 0.2F), px(style::line));
      last = at;
    }
  }
  std::vector<SeenKey> keys;
  for (Index i = 0; i < picture.directions.points.rows(); ++i) {
    const auto point = picture.directions.points.row(i);
    const auto [at, depth] = project(point[0], point[1], point[2]);
    keys.push_back({picture.first + i, at, depth});
  }
  std::ranges::sort(keys, {}, &SeenKey::depth);
  const std::vector<Index> named = nearest(picture, token);
  for (const SeenKey& key : keys) {
    const bool here = key.token == token;
    const float strength = 0.4F + 0.6F * std::clamp((key.depth + 1) / 2, 0.0F, 1.0F);
    if (here) list->AddLine(middle, key.at, c.text, px(1.5F));
    list->AddCircleFilled(key.at, px(here ? 6.0F : 3.5F), here ? c.text : style::with_alpha(c.key, strength));
  }
  const style::TextStyle text(style::Text::caption);
  std::vector<Rectangle> taken;
  for (const Index index : named) {
    const auto found = std::ranges::find(keys, picture.first + index, &SeenKey::token);
    const std::string words =
        shortened(visible_label(computed.data->labels[static_cast<std::size_t>(found->token)]), px(90));
    const ImVec2 extent = text_extent(words);
    const ImVec2 at = {found->at.x + px(8), found->at.y - extent.y / 2};
    const Rectangle place = {at, {at.x + extent.x, at.y + extent.y}};
    const bool overlaps =
        std::ranges::any_of(taken, [&](const Rectangle& other) { return overlap(place, other); });
    if (overlaps) continue;
    taken.push_back(place);
    draw_text(at, found->token == token ? c.text : c.dim, words);
  }
  const Vector<double>& explained = picture.directions.explained;
  const std::string words =
      shortened(fmt::format("keys in their three main directions, {:.0f} % of them; drag to turn",
                            100 * explained.sum()),
                room.width());
  learn_text({room.from.x + (room.width() - text_extent(words).x) / 2, room.to.y - px(below_picture) + px(6)},
             c.dim, words);
}

}  // namespace

void draw_keys_page(Application& application, const LearnRoom& room) {
  const auto computed = application.session.computed();
  const Index tokens = computed->sequence.tokens;
  StoredKeys key;
  key.of = computed;
  key.count = std::min(tokens, most_keys);
  key.first = std::clamp<Index>(
      (application.session.token() - most_keys / 2) / window_step_of_keys * window_step_of_keys, 0,
      tokens - key.count);
  const Known<KeyPicture> answer = application.session.questions().ask(key);
  if (!answer.value || answer.value->first + answer.value->cosines.rows() > tokens ||
      answer.value->cosines.size() == 0) {
    learn_map().reason = answer.reason.empty() ? "The keys are being compared." : answer.reason;
    ImGui::SetCursorScreenPos(room.from);
    style::paragraph(learn_map().reason);
    return;
  }
  auto& turned = context_local<TurnedSphere>();
  if (turned.of != answer.value) {
    turned.of = answer.value;
    ++turned.version;
  }
  LearnRoom left = room;
  LearnRoom right = room;
  left.to.x = room.from.x + room.width() * 0.55F;
  right.from.x = left.to.x + px(24);
  draw_cosines(left, *answer.value, *computed, application.session.token(), turned.version);
  draw_sphere(turned, right, *answer.value, *computed, application.session.token());
}

}  // namespace palimpsest
