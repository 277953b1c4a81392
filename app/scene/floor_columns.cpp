// The places of a floor's columns, and how they scroll and zoom.

#include "app/scene/floor.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float around_a_word = 10;
constexpr float narrowest_word = 18;
constexpr float widest_column = 320;
constexpr float widest_word = 180;

constexpr float least_words = 0.8F;  // of their natural width: narrower columns have no labels

/// The widths of the tokens' columns.
struct Widths {
  const FloorView& view;
  std::span<const std::string> labels;
  const Ruler& ruler;
  float factor = view.natural > 0 ? view.column / view.natural : 0;
  bool has_words = factor >= least_words;

  static float natural(const std::string& label, const Ruler& ruler) {
    const float word = ruler.words(visible_label(label), style::Text::body).x + ruler.px(around_a_word);
    return std::clamp(word, ruler.px(narrowest_word), ruler.px(widest_word));
  }

  float of(Index token) const {
    return has_words ? factor * natural(entry(labels, token), ruler) : view.column;
  }

  /// The place in the text that is `width` pixels before the place `end`; may be negative.
  double begin_of(double end, float width) const {
    if (!has_words) return end - static_cast<double>(width / view.column);
    auto token = static_cast<Index>(std::ceil(end));
    double left = static_cast<double>(width);
    double part = end - static_cast<double>(token - 1);  // of the last column
    while (token > 0) {
      --token;
      const double column = static_cast<double>(of(token));
      if (left <= column * part) return static_cast<double>(token) + part - left / column;
      left -= column * part;
      part = 1;
    }
    return -left / static_cast<double>(view.column);
  }
};

/// The mean width over the first labels.
float natural_width(std::span<const std::string> labels, const Ruler& ruler) {
  constexpr std::size_t sample = 512;
  const std::size_t count = std::min(labels.size(), sample);
  if (count == 0) return ruler.px(narrowest_word);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += Widths::natural(labels[i], ruler);
  return sum / static_cast<float>(count);
}

float widest(const FloorView& view, const Ruler& ruler) {
  return std::max(ruler.px(widest_column), view.natural);
}

/// The least width: that at which the whole text is visible.
float fitting(const FloorView& view, Index tokens, float width, const Ruler& ruler) {
  return std::min(width / static_cast<float>(std::max<Index>(tokens, 1)), widest(view, ruler));
}

/// Chooses the zoom for new data and keeps it in range when the panel changes its size.
void fit(FloorView& view, const FloorText& text, const Ruler& ruler, float width) {
  const bool is_new = view.data_id != text.id;
  if (is_new || view.scale != ruler.scale) {
    const float factor = view.natural > 0 && !is_new ? view.column / view.natural : 1;
    view.natural = natural_width(text.labels, ruler);
    view.column = factor * view.natural;
    view.scale = ruler.scale;
    view.followed = -1;
  }
  if (is_new) {
    view.data_id = text.id;
    view.first = 0;
  }
  view.column = std::clamp(view.column, fitting(view, text.tokens, width, ruler), widest(view, ruler));
}

/// Scrolls as little as needed when the cursor has moved or the room has changed, so that the next tokens and
/// the begin of the sentence are visible.
void follow(FloorView& view, const Widths& widths, const FloorText& text, float width) {
  const Index token = text.token;
  if (view.followed == token && view.width == width) return;
  view.followed = token;
  view.width = width;
  const double margin = std::min(2.0, static_cast<double>(width / view.column) / 4);
  const auto at = static_cast<double>(token);
  const double end = std::min(at + 1 + margin, static_cast<double>(text.tokens));
  const double earliest = widths.begin_of(end, width);
  const auto sentence = static_cast<double>(sentence_begin(text.labels, token));
  const double latest = sentence < earliest ? at - margin : std::min(at - margin, sentence);
  view.first = std::clamp(view.first, earliest, std::max(latest, earliest));
}

}  // namespace

float FloorColumns::left(Index token) const {
  if (edges.empty())
    return position.x +
           static_cast<float>((static_cast<double>(token) - first) * static_cast<double>(column));
  const Index known = static_cast<Index>(edges.size()) - 1;
  const Index at = std::clamp<Index>(token - begin(), 0, known);
  return entry(edges, at) + static_cast<float>(token - begin() - at) * column;
}

Index FloorColumns::end() const {
  if (!edges.empty()) return begin() + static_cast<Index>(edges.size()) - 1;
  return std::clamp<Index>(static_cast<Index>(std::ceil(first + static_cast<double>(size.x / column))), 0,
                           tokens);
}

double FloorColumns::at(float x) const {
  if (edges.empty()) return first + static_cast<double>((x - position.x) / column);
  const float inside = std::clamp(x, edges.front(), edges.back());
  const auto next = std::min(std::upper_bound(edges.begin(), edges.end(), inside), edges.end() - 1);
  const auto before = next == edges.begin() ? next : next - 1;
  const float wide = *next - *before;
  const float part = wide > 0 ? (inside - *before) / wide : 0;
  return static_cast<double>(begin() + (before - edges.begin())) + static_cast<double>(part);
}

FloorColumns floor_columns(FloorView& view, const FloorText& text, const Ruler& ruler, ImVec2 position,
                           ImVec2 size) {
  fit(view, text, ruler, size.x);
  const Widths widths{view, text.labels, ruler};
  follow(view, widths, text, size.x);
  const double last = widths.begin_of(static_cast<double>(text.tokens), size.x);
  view.first = std::max(std::min(view.first, last), 0.0);
  FloorColumns columns = {position, size, text.tokens, view.first, view.column};
  if (!widths.has_words || text.tokens == 0) return columns;
  Index token = columns.begin();
  const float hidden = static_cast<float>(view.first - std::floor(view.first)) * widths.of(token);
  columns.edges.push_back(position.x - hidden);
  for (; token < text.tokens && columns.edges.back() < position.x + size.x; ++token)
    columns.edges.push_back(columns.edges.back() + widths.of(token));
  return columns;
}

void zoom_floor(FloorView& view, const FloorColumns& columns, const FloorText& text, const Ruler& ruler,
                float factor, float x) {
  const double under = columns.at(x);
  view.column = std::clamp(view.column * factor, fitting(view, columns.tokens, columns.size.x, ruler),
                           widest(view, ruler));
  view.first = Widths{view, text.labels, ruler}.begin_of(under, x - columns.position.x);
}

}  // namespace palimpsest
