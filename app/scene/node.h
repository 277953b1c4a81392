#pragma once

#include <concepts>
#include <initializer_list>

#include "app/scene/cells.h"
#include "app/scene/plot.h"
#include "app/widgets/controls.h"

/// A view as a value: what is shown, by name, without places. lay_out() decides on places and cuts; only
/// draw() uses Dear ImGui.
namespace palimpsest::scene {

struct Node;
struct ListedNode;

/// Nodes in order. A list in braces is moved here with its contents; a plain vector would copy them.
class Nodes : public std::vector<Node> {
 public:
  Nodes();  // where a node is known
  Nodes(std::initializer_list<ListedNode> list);
  template <class Iterator>
  Nodes(Iterator first, Iterator last) : std::vector<Node>(first, last) {}

  Nodes& operator+=(Node node);
  Nodes& operator+=(Nodes more);
};

/// A colour of style::colours(); 0: the usual colour of the node. The constants below depend on the theme
/// at the time of drawing.
using Ink = std::uint32_t;
inline constexpr Ink dim_ink = 1;
inline constexpr Ink edge_ink = 2;
inline constexpr Ink faint_ink = 3;
inline constexpr Ink first_role_ink = 16;
constexpr Ink role_ink(Role role) { return first_role_ink + static_cast<Ink>(role); }

/// Distances, in design pixels.
enum class Gap : std::uint8_t { none = 0, hair = 1, tight = 2, small = 4, near = 8, wide = 14, far = 24 };

/// What happens to text that is wider than its room.
enum class Fit : std::uint8_t {
  wrap,     // continues on the next line
  shorten,  // one line, cut with "…"; a tooltip has the full text
  whole     // one line; if it is too wide, FirstThatFits takes another node
};

struct Text {
  std::string words = {};
  style::Text style = style::Text::body;
  Ink ink = 0;
  Fit fit = Fit::wrap;
  std::size_t most_lines = 0;  // of wrapped text: the last line is cut; 0: any number
  bool centred = false;        // each line is centred in its room
  float between = 4;           // gap between lines, in design pixels
  bool rises = false;          // one vertical line that reads upwards
  float height = 0;            // design pixels, with the text centred; 0: as its letters need
  bool underlined = false;
};

/// A formula in LaTeX. If it does not fit, its letters get smaller, unless it is `whole`; one that wraps is
/// broken into lines before they get too small to read.
struct Formula {
  std::string latex = {};
  float size = style::formula_label;  // design pixels
  Ink ink = 0;
  Fit fit = Fit::shorten;
  std::vector<std::string> boxed = {};  // symbols with a box around them
};

/// A heat map as wide as its room. `values` must outlive the frame; `told` returns the tooltip of the cell
/// under the pointer (as drawn). Labels of rows are on the left, as far as they fit; the ringed row's is
/// always shown.
struct Picture {
  const Matrix<double>* values = nullptr;
  std::uint64_t version = 0;
  HeatMapLook look = {};
  float height = 13;  // design pixels; 0: all of its room
  std::function<std::string(Cell)> told = nullptr;
  Index ringed_row = -1;  // the drawn row with a frame; -1: none
  Ink ring = 0;
  std::vector<std::string> row_words = {};
  Ink outline = edge_ink;
};

/// A plot that fills its room; `done` is called in every frame with what the user did there.
struct Plotted {
  std::shared_ptr<const Plot> plot = {};  // a pointer, as every node is as large as the largest content
  std::function<void(const PlotDone&)> done = nullptr;
};

/// A number as a bar that begins at 0, on a scale from `least` to `most`; an upright one fills the height.
struct Bar {
  double value = 0;
  double least = 0;
  double most = 1;
  Ink ink = 0;
  float height = 10;       // design pixels
  bool shows_zero = true;  // as a line
  double outlined = 0;     // another number, drawn as an outline
  bool is_upright = false;
};

/// A number on a track from 0 to `end`, which is good up to `limit` and bad beyond.
struct Track {
  double value = 0;
  double limit = 1;  // end of the good part
  double end = 1;
  Ink ink = 0;
  Ink below = 0;
  Ink beyond = 0;
};

/// A sequence of numbers as a line with its area, or as bars, from 0 to `most`.
struct Sparkline {
  std::vector<double> values = {};
  double most = 1;
  bool has_bars = false;
  Ink ink = 0;
  float height = 26;         // design pixels
  std::int64_t marked = -1;  // index of a number with a vertical line; -1: none
  Ink mark_ink = 0;
  std::function<std::string(std::size_t)> told = nullptr;  // of the number under the pointer
};

/// A symbol as high as a letter.
struct Mark {
  enum class Kind : std::uint8_t {
    dot,
    ring,
    tick,
    dash,
    square,
    box,
    checked,
    unchecked,
    outline,
    hatched,
    point,
    spinner
  };
  Kind kind = Kind::dot;
  Ink ink = 0;
  PlotLook look = {};  // of a point of a plot
};

/// A row of small squares or, without squares, the names of their columns, at the same places in every row of
/// a grid. The words of squares are not drawn; only parts() has them.
struct Squares {
  struct Column {
    std::string title = {};     // above all columns from here to the next title
    std::string subtitle = {};  // below the title
    std::string name = {};      // vertical; in a narrow column its first letter
    bool begins = false;        // with a gap before it
    float width = 0;            // design pixels; 0: an equal share
  };
  struct Square {
    Mark::Kind kind = Mark::Kind::box;
    Ink ink = 0;
    const char* words = "";
  };
  std::vector<Column> columns = {};
  std::vector<Square> squares = {};
  std::function<std::string(std::size_t)> told = nullptr;  // of the square that the pointer is on
  std::function<void(std::size_t)> press = nullptr;
};

/// A button. Its words (or its name, for an icon) are its identity.
struct Button {
  using Look = style::ButtonShape;
  std::string words = {};
  Look look = Look::pill;
  bool chosen = false;
  Ink ink = 0;
  bool first = true;  // of a row of segments
  bool last = true;
  Fit fit = Fit::whole;     // of a pill's words
  std::string tail = {};    // follows the words, and is never cut
  Icon icon = Icon::close;  // in place of words; its size is in design pixels
  float icon_size = 28;
};

struct Slider {
  std::string symbol = {};  // LaTeX
  std::string words = {};
  double value = 0;
  style::SliderLook look = {};
  std::string shown = {};  // in place of the number
  std::function<void(double)> set = nullptr;
  Fit fit = Fit::shorten;  // of the words
  bool waits = false;      // `set` is called when the slider is released
};

/// An input field; `set` is called with its text.
struct Input {
  std::string text = {};
  std::function<void(const std::string&)> set = nullptr;
  bool on_enter = false;  // call `set` on Enter, not at every letter
  std::function<void()> entered = nullptr;
  std::function<std::string(const std::string&)> completed = nullptr;  // the completion of a text by Tab
  bool takes_keyboard = false;  // in this frame; the text is then selected
  bool is_number = false;       // call `set` when the field loses the keyboard
};

/// What is wrong with a text: line and column count from 1.
struct TextFlaw {
  std::int64_t line = 1;
  std::int64_t column = 1;
  std::string words = {};
  bool operator==(const TextFlaw&) const = default;
};

/// Lines of text that are edited, in all of their room; `set` is called with them after a short pause.
struct Editor {
  std::string text = {};
  std::function<void(const std::string&)> set = nullptr;
  std::map<std::string, Role, std::less<>> roles = {};  // of names, for their colours
  std::vector<std::string> completions = {};            // of names that are begun
  std::optional<TextFlaw> flaw = {};                    // underlined
};

/// An input field above a list; `entered` is called on Enter.
struct Filter {
  FilterBox* box = nullptr;
  const char* hint = "";
  std::function<void()> entered = nullptr;
  bool keeps_keyboard = false;  // takes it whenever no item has it
};

/// A pill that opens a list below it, `width` design pixels wide. `content` is called while it is open.
struct Menu {
  std::string words = {};
  std::function<Node()> content = {};
  float width = 240;
  bool fills = false;  // the pill is as wide as its room, and its words may be cut
};

/// A custom drawing, with a fixed size or in all of its room.
struct Drawn {
  float least_height = 0;  // design pixels
  ImVec2 size = {0, 0};    // screen pixels; 0: all of its room
  std::string part = {};   // a part to note with `words`; empty: none
  std::string words = {};
  std::function<void(const Rectangle& where)> draw = {};
};

/// The place of a node: its point `own`, as a fraction of its size, is at `at` (screen pixels); `room` is the
/// size that it may take.
struct SpotPlace {
  ImVec2 at = {0, 0};
  ImVec2 own = {0, 0};
  ImVec2 room = {0, 0};
};

/// Nodes at given places; takes all of the room.
struct Spots {
  Nodes nodes = {};
  std::vector<SpotPlace> places = {};
};

/// A horizontal line in the middle of its room, which may be an arrow; or an upright line, at most `height`
/// high.
struct Rule {
  enum class Head : std::uint8_t { none, left, right };
  Gap room = Gap::near;
  Head head = Head::none;
  Ink ink = 0;
  float height = 0;  // of an upright line, in design pixels; 0: horizontal
};

/// Empty room in the direction of the enclosing row or column.
struct Space {
  Gap gap = Gap::near;
};

/// Nodes side by side, aligned at the middle or the top. Nodes that share the rest of the width get what the
/// others leave; if the row wraps, they are equally wide, and as many as fit are side by side.
struct Row {
  Nodes nodes = {};
  Gap gap = Gap::near;
  bool wraps = false;   // continues on the next line
  bool on_top = false;  // upper edges aligned
};

/// Nodes one below the other, each as wide as the room.
struct Column {
  Nodes nodes = {};
  Gap gap = Gap::small;
};

/// Columns of equal width, each in a panel of its own with padding. Nodes at the same position in their
/// columns are equally high.
struct Sides {
  Nodes columns = {};  // each a Column
};

/// Nodes in the same room, later ones over earlier ones: as large as fits at `ratio`, height to width; 0: all
/// of the room.
struct Over {
  Nodes nodes = {};
  float ratio = 0;
  float least = 0;  // least width, in design pixels
};

/// Cells row by row: a column is as wide as its widest cell, or shares the rest if one of its cells does.
struct Grid {
  std::size_t columns = 1;
  Nodes cells = {};
  Gap across = Gap::near;
  Gap down = Gap::tight;
};

/// The first of several nodes that is neither wider nor higher than the room; if none is, the last. They are
/// made in order until one fits.
struct FirstThatFits {
  std::size_t count = 0;
  std::function<std::shared_ptr<const Node>(std::size_t)> wish = {};
};

/// The first of several nodes, in room for the largest, so that nothing below moves when the text changes.
struct Steady {
  Nodes nodes = {};
};

/// One node with padding, and an outline or a background.
struct Frame {
  Nodes node = {};
  Gap across = Gap::near;
  Gap down = Gap::near;
  Ink outline = 0;
  Ink ground = 0;
  bool is_round = false;  // as a pill
  bool is_hatched = false;
};

/// One node, which scrolls if it is higher than the room. It needs a name, under which its scroll position is
/// kept.
struct Scroll {
  Nodes node = {};
};

using AnyContent =
    std::variant<Text, Formula, Picture, Bar, Track, Sparkline, Mark, Button, Slider, Input, Editor, Filter,
                 Menu, Squares, Drawn, Rule, Space, Row, Column, Grid, FirstThatFits, Steady, Frame, Scroll,
                 Plotted, CellTables, Sides, Over, Spots>;

/// The content of a node. Its copy, move and destructor are compiled once, not in every file with a node.
struct Content : AnyContent {
  template <class Kind>
  requires std::constructible_from<AnyContent, Kind> &&
      (!std::same_as<std::remove_cvref_t<Kind>, Content>)Content(Kind&& kind)
      : AnyContent(std::forward<Kind>(kind)) {}
  Content(const Content& other);
  Content(Content&& other) noexcept;
  Content& operator=(const Content& other);
  Content& operator=(Content&& other) noexcept;
  ~Content();
};

/// The size of a node in the direction of the enclosing row or column: as it needs, `fixed` design pixels, or
/// a share of what the others leave. A node that shrinks leaves what it does not need.
struct Sizing {
  float fixed = 0;
  float share = 0;
  bool shrinks = false;
  float least = 0;  // least size of a node that shares the rest or can be cut, in design pixels
  float most = 0;   // largest such size; 0: any
};

struct Node {
  Node() = default;  // empty text
  Node(Content what) : content(std::move(what)) {}

  Content content = Text();
  std::string name =
      {};  // its piece of the path, "after" in "step/answers/after"; empty: belongs to the enclosing node
  Sizing sizing = {};
  bool to_right = false;                    // at the right of its room; else at the left
  std::string tip = {};                     // tooltip
  std::string key = {};                     // the shortcut for a click, shown in the tooltip
  std::function<void()> pointed = nullptr;  // called in every frame in which the pointer is on it
  std::function<void()> act = nullptr;      // called after a click, when everything is drawn
  bool enabled = true;
  std::function<void()> refused = nullptr;  // called after a click while it is not enabled
  bool underlined = false;                  // while the pointer is on it
  bool tips_above = false;    // tooltips in it are above if they fit, so as not to cover what is below
  std::string revealed = {};  // when this changes in a window, the node is scrolled into view

  Node named(std::string_view piece) && { return with(name, piece); }
  Node told(std::string words) && { return with(tip, std::move(words)); }
  Node on(std::function<void()> click) && { return with(act, std::move(click)); }
  Node when_pointed(std::function<void()> happens) && { return with(pointed, std::move(happens)); }
  Node fixed(float design_pixels) && { return with(sizing, Sizing{.fixed = design_pixels}); }
  Node filling(float share = 1) && { return with(sizing, Sizing{.share = share}); }
  Node shrinking(float share = 1) && { return with(sizing, Sizing{.share = share, .shrinks = true}); }
  /// A share of the rest, at least `least` and at most `most` design pixels; 0: any.
  Node filling_between(float least, float most) && {
    return with(sizing, Sizing{.share = 1, .least = least, .most = most});
  }
  /// The bounds of a node in a row that can be cut, in design pixels.
  Node cut_between(float least, float most) && { return with(sizing, Sizing{.least = least, .most = most}); }
  Node right() && { return with(to_right, true); }
  Node enabled_if(bool can) && { return with(enabled, can); }
  Node revealed_for(std::string what) && { return with(revealed, std::move(what)); }

 private:
  template <class Member, class Value>
  Node with(Member& member, Value&& value) {
    member = std::forward<Value>(value);
    return std::move(*this);
  }
};

/// A node of a list in braces, or one kind of content for it.
struct ListedNode {
  ListedNode(Node listed) : node(std::move(listed)) {}
  template <class Kind>
  requires std::constructible_from<Content, Kind> ListedNode(Kind kind) : node{std::move(kind)} {}
  mutable Node node;
};

inline Nodes::Nodes() = default;
inline Nodes::Nodes(std::initializer_list<ListedNode> list) {
  reserve(list.size());
  for (const ListedNode& listed : list) push_back(std::move(listed.node));
}
inline Nodes& Nodes::operator+=(Node node) {
  push_back(std::move(node));
  return *this;
}
inline Nodes& Nodes::operator+=(Nodes more) {
  std::ranges::move(more, std::back_inserter(*this));
  return *this;
}

// Short forms for the kinds of nodes.

inline Node text(std::string words, style::Text style = style::Text::body, Ink ink = 0, Fit fit = Fit::wrap) {
  return {Text{std::move(words), style, ink, fit}};
}
/// Dim text; smaller dim text; and one line of either, cut if it is too long.
inline Node paragraph(std::string words) { return text(std::move(words), style::Text::body, dim_ink); }
inline Node caption(std::string words) { return text(std::move(words), style::Text::caption, dim_ink); }
inline Node line(std::string words, style::Text style = style::Text::body, Ink ink = 0) {
  return text(std::move(words), style, ink, Fit::shorten);
}
inline Node heading(std::string words) { return line(std::move(words), style::Text::strong); }
/// Small text on one line: a note may be cut, a tag is not.
inline Node note(std::string words, Ink ink = dim_ink) {
  return line(std::move(words), style::Text::caption, ink);
}
inline Node tag(std::string words, Ink ink = dim_ink) {
  return text(std::move(words), style::Text::caption, ink, Fit::whole);
}
/// The first of several such texts that fits; the last is cut if it does not fit.
Node that_fits(const std::vector<std::string>& words, Ink ink = dim_ink);
/// A number in digits of one width.
inline Node number(std::string digits, Ink ink = 0) {
  return text(std::move(digits), style::Text::number_small, ink, Fit::whole);
}
inline Node formula(std::string latex, float size = style::formula_label, Ink ink = 0) {
  return {Formula{std::move(latex), size, ink}};
}
inline Node pill(std::string words, bool chosen = false) {
  return {Button{.words = std::move(words), .chosen = chosen}};
}
/// A button without an outline: one of several, of which one is chosen.
inline Node tab(std::string words, bool chosen) {
  return {Button{std::move(words), Button::Look::tab, chosen}};
}
inline Node word_button(std::string words) { return {Button{std::move(words), Button::Look::word}}; }
inline Node icon_button(std::string_view name, Icon icon, float size = 28) {
  return Node{Button{.look = Button::Look::icon, .icon = icon, .icon_size = size}}.named(name);
}
inline Node link(std::string words) { return {Button{std::move(words), Button::Look::link}}; }
inline Node choice(std::string words, bool chosen) {
  return {Button{std::move(words), Button::Look::line, chosen}};
}
/// Buttons as segments of a common outline.
Nodes segments_of(Nodes buttons);
/// The same of words, of which one is chosen; `choose` gets the index of the pressed one.
Node segments(const std::vector<std::string>& words, std::size_t chosen,
              const std::function<void(std::size_t)>& choose, const std::string& tip = {});
inline Node mark(Mark::Kind kind, Ink ink = 0) { return {Mark{kind, ink}}; }
inline Node framed(Node node, Gap across, Gap down, Ink outline = 0, Ink ground = 0) {
  return {Frame{{std::move(node)}, across, down, outline, ground}};
}
/// The colours of numbers, from the most negative to the most positive, `height` design pixels high.
Node colour_ramp(float height);
/// A key as printed on the keyboard.
inline Node key(std::string name) { return framed(tag(std::move(name)), Gap::small, Gap::tight, edge_ink); }
inline Node rule(Gap room = Gap::near) { return {Rule{room}}; }
inline Node space(Gap gap) { return {Space{gap}}; }
/// Empty room that takes all that others leave.
inline Node rest() { return space(Gap::none).filling(); }
inline Node row(Nodes nodes, Gap gap = Gap::near) { return {Row{.nodes = std::move(nodes), .gap = gap}}; }
/// The same with the upper edges aligned.
inline Node top_row(Nodes nodes, Gap gap) {
  return {Row{.nodes = std::move(nodes), .gap = gap, .on_top = true}};
}
inline Node centred(Node node) { return row({rest(), std::move(node), rest()}, Gap::none); }
/// A row that wraps.
inline Node flow(Nodes nodes, Gap gap = Gap::near) {
  return {Row{.nodes = std::move(nodes), .gap = gap, .wraps = true}};
}
/// A flow made of several pieces, which wraps between words; what has no space between stays together.
class FlowingWords {
 public:
  /// Adds words; "11 %" stays in one piece.
  void add(std::string_view words, style::Text letters, Ink ink);

  /// Adds a node that does not wrap, after the last word or, if a space ended that, beside it.
  void add(Node node);

  Node flow(Gap gap) && { return scene::flow(std::move(words_), gap); }

 private:
  Nodes words_;
  bool goes_on_ = false;  // no space has ended the last word
};
inline Node column(Nodes nodes, Gap gap = Gap::small) { return {Column{std::move(nodes), gap}}; }
inline Node grid(std::size_t columns, Nodes cells, Gap across = Gap::near, Gap down = Gap::tight) {
  return {Grid{columns, std::move(cells), across, down}};
}
Node first_that_fits(Nodes nodes);
/// The same with nodes that are made on demand; what `make` refers to must outlive the scene.
Node first_that_fits(std::size_t count, std::function<Node(std::size_t)> make);
inline Node steady(Nodes nodes) { return {Steady{std::move(nodes)}}; }
inline Node scroll(std::string_view name, Node node) { return Node{Scroll{{std::move(node)}}}.named(name); }

/// As many of the parts, "one; another", as fit on a line.
Node as_many(const std::vector<std::string>& parts, Ink ink = dim_ink);
inline Node plotted(Plot plot, std::function<void(const PlotDone&)> done = nullptr) {
  return {Plotted{std::make_shared<const Plot>(std::move(plot)), std::move(done)}};
}

/// Its piece of the path: its name, or the words of what can be pressed; empty: none.
std::string_view piece_of(const Node& node);

/// A node with its place; the scene must outlive it.
struct Placed {
  const Node* node = nullptr;
  Rectangle where = {};                   // screen pixels
  std::vector<std::string> lines = {};    // of text or a formula, as written: wrapped, cut
  float letters = 0;                      // of a formula, in screen pixels
  CellPlan cells = {};                    // of tables
  std::shared_ptr<const Node> wish = {};  // the alternative that FirstThatFits chose
  std::vector<Placed> inside = {};

  ImVec2 size() const { return where.size(); }
};

/// The upper left corner of the line `index` of a formula, relative to that of the first.
ImVec2 formula_corner(const Placed& formula, std::size_t index, const Ruler& ruler);

/// Lays a scene out from the upper left corner of `room`: available sizes go down the tree, used sizes come
/// up. Nothing overlaps; a scene that is too high extends below the room.
Placed lay_out(const Node& scene, const Rectangle& room, const Ruler& ruler);

/// The sides of every column of squares in a room of this width, in screen pixels from its left.
std::vector<std::pair<float, float>> columns_of(const Squares& squares, float width, const Ruler& ruler);

/// Whether the columns are wide enough for vertical names.
bool has_names(const Squares& squares, float width, const Ruler& ruler);

/// The visible text of a node and of the nodes in it that have no name of their own.
std::string words_of(const Placed& placed);

}  // namespace palimpsest::scene
