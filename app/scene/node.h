#pragma once

#include <concepts>
#include <initializer_list>

#include "app/scene/cells.h"
#include "app/scene/plot.h"
#include "app/widgets/controls.h"

/// A view as a value: what is shown, by name, without places. lay_out() decides where it lies and what is
/// cut, draw() alone knows Dear ImGui.
namespace palimpsest::scene {

struct Node;
struct ListedNode;

/// Nodes in their order. Those of a list in braces are moved here, with all that they hold; a vector alone
/// would copy them.
class Nodes : public std::vector<Node> {
 public:
  Nodes() = default;
  Nodes(std::initializer_list<ListedNode> list);
  template <class Iterator>
  Nodes(Iterator first, Iterator last) : std::vector<Node>(first, last) {}
};

/// A colour of style::colours(); 0: the usual one of what it colours. Those below go by the theme in use when
/// it is drawn.
using Ink = std::uint32_t;
inline constexpr Ink dim_ink = 1;
inline constexpr Ink edge_ink = 2;
inline constexpr Ink faint_ink = 3;
inline constexpr Ink first_role_ink = 16;
constexpr Ink role_ink(Role role) { return first_role_ink + static_cast<Ink>(role); }

/// Distances, in design pixels.
enum class Gap : std::uint8_t { none = 0, hair = 1, tight = 2, small = 4, near = 8, wide = 14, far = 24 };

/// What becomes of words that are wider than their room.
enum class Fit : std::uint8_t {
  wrap,     // they go on below
  shorten,  // one line, cut with "…"; all of it is told beside it
  whole     // one line; where it is too wide, another of FirstThatFits is taken
};

struct Text {
  std::string words = {};
  style::Text style = style::Text::body;
  Ink ink = 0;
  Fit fit = Fit::wrap;
  std::size_t most_lines = 0;  // of what is wrapped: the last of them is cut; 0: any number
  bool centred = false;        // each line in the middle of its room
  float between = 4;           // lines, in design pixels
  bool rises = false;          // one line that is read from below
  float height = 0;            // design pixels that it takes, in whose middle it is; 0: as its letters need
  bool underlined = false;
};

/// Letters get smaller where there is no room, unless it is to be whole; one that wraps goes on below before
/// they are too small to be read.
struct Formula {
  std::string latex = {};
  float size = style::formula_label;  // design pixels
  Ink ink = 0;
  Fit fit = Fit::shorten;
  std::vector<std::string> boxed = {};  // symbols with a box around them; none where they are empty
};

/// A heat map as wide as its room. `values` outlive the frame; `told` says what is told of a cell under the
/// pointer (as drawn), and may look at it. Words of rows stand left of them, as far as there is room; those
/// of the ringed one in any case.
struct Picture {
  const Matrix<double>* values = nullptr;
  std::uint64_t version = 0;
  HeatMapLook look = {};
  float height = 13;  // design pixels; 0: all of its room
  std::function<std::string(Cell)> told = nullptr;
  Index ringed_row = -1;  // that has a frame, of those that are drawn; -1: none
  Ink ring = 0;
  std::vector<std::string> row_words = {};
  Ink outline = edge_ink;
};

/// A plot that fills its room; `done` is told what a person did there, in every frame.
struct Plotted {
  std::shared_ptr<const Plot> plot = {};  // apart: all nodes are as large as the largest kind
  std::function<void(const PlotDone&)> done = nullptr;
};

/// A number as a bar from zero on, between the numbers at the ends of its room; an upright one has all of the
/// height.
struct Bar {
  double value = 0;
  double least = 0;
  double most = 1;
  Ink ink = 0;
  float height = 10;       // design pixels
  bool shows_zero = true;  // as a line
  double outlined = 0;     // another number, of which it has the outline
  bool is_upright = false;
};

/// Where a number lies between zero and an end, on a track of which one part is well and the rest is not.
struct Track {
  double value = 0;
  double limit = 1;  // of what is well
  double end = 1;
  Ink ink = 0;
  Ink below = 0;
  Ink beyond = 0;
};

/// Numbers in a row as a line over its area, or as bars, from zero up to `most`.
struct Sparkline {
  std::vector<double> values = {};
  double most = 1;
  bool has_bars = false;
  Ink ink = 0;
  float height = 26;         // design pixels
  std::int64_t marked = -1;  // a number with a line of its own; -1: none
  Ink mark_ink = 0;
  std::function<std::string(std::size_t)> told = nullptr;  // of the number under the pointer
};

/// A sign as high as a letter.
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

/// A row of small squares, or the names of their columns where it has none: in every row of a grid they lie
/// at the same places. Their words are said to tests and readers alone.
struct Squares {
  struct Column {
    std::string title = {};     // above all columns from here on,
    std::string subtitle = {};  // and below that
    std::string name = {};      // read from below; its first letter where the column is narrow
    bool begins = false;        // there is room before it
    float width = 0;            // design pixels; 0: as all that have none
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

/// Something that can be pressed. Its words (or its name, as of an icon) are its identity.
struct Button {
  enum class Look : std::uint8_t { pill, segment, tab, word, link, line, icon };  // as ButtonShape, and two
  std::string words = {};
  Look look = Look::pill;
  bool chosen = false;
  Ink ink = 0;
  bool first = true;  // of a row of segments
  bool last = true;
  Fit fit = Fit::whole;     // of a pill's words, which may be cut,
  std::string tail = {};    // before what follows them in any case
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
  bool waits = false;      // what is set is told when it is let go
};

/// A line to type in; `set` is told what stands there.
struct Input {
  std::string text = {};
  std::function<void(const std::string&)> set = nullptr;
  bool on_enter = false;  // told on Enter, not at every letter
  std::function<void()> entered = nullptr;
  std::function<std::string(const std::string&)> completed = nullptr;  // what Tab makes of what stands there
  bool takes_keyboard = false;  // in this frame; all that stands there is then selected
  bool is_number = false;       // told when the keyboard leaves it
};

/// A line to type in above a list; `entered`: on Enter.
struct Filter {
  FilterBox* box = nullptr;
  const char* hint = "";
  std::function<void()> entered = nullptr;
  bool keeps_keyboard = false;  // takes it where nothing else has it
};

/// A pill that opens a list below it, so many design pixels wide. `content` is asked for while that is open.
struct Menu {
  std::string words = {};
  std::function<Node()> content = {};
  float width = 240;
  bool fills = false;  // the pill is as wide as its room, its words are cut
};

/// A drawing of its own, in all of its room or as large as it is.
struct Drawn {
  float least_height = 0;  // design pixels
  ImVec2 size = {0, 0};    // screen pixels; 0: all of its room
  std::string part = {};   // noted beside what it notes itself, with its words; empty: none
  std::string words = {};
  std::function<void(const Rectangle& where)> draw = {};
};

/// Where a node lies whose point `own`, in parts of its size, is at `at` (screen pixels), and the room that
/// it has.
struct SpotPlace {
  ImVec2 at = {0, 0};
  ImVec2 own = {0, 0};
  ImVec2 room = {0, 0};
};

/// Nodes at places of their own, each with its place, in all of the room.
struct Spots {
  Nodes nodes = {};
  std::vector<SpotPlace> places = {};
};

/// A line across, in the middle of some room; it may be an arrow. Or an upright one, as high as there is room
/// up to `height`.
struct Rule {
  enum class Head : std::uint8_t { none, left, right };
  Gap room = Gap::near;
  Head head = Head::none;
  Ink ink = 0;
  float height = 0;  // design pixels; 0: it lies
};

/// Room without anything, in the direction of the row or column that it is in.
struct Space {
  Gap gap = Gap::near;
};

/// Beside each other, in the middle of the highest, or its top. Those that share the rest of the width come
/// last to it; where they wrap, they are equally wide, and as many beside each other as have room.
struct Row {
  Nodes nodes = {};
  Gap gap = Gap::near;
  bool wraps = false;   // what has no room goes on below
  bool on_top = false;  // upper edges in one line
};

/// Below each other, each as wide as the room.
struct Column {
  Nodes nodes = {};
  Gap gap = Gap::small;
};

/// Columns of one width, each in a panel of its own with room around its nodes. Those of one place are
/// equally high in all of them.
struct Sides {
  Nodes columns = {};  // each a Column
};

/// All in the same room, the later ones over the earlier: as large as there is room for at a ratio of height
/// to width; 0: all of the room.
struct Over {
  Nodes nodes = {};
  float ratio = 0;
  float least = 0;  // how wide it is at least, in design pixels
};

/// Cells row by row: a column is as wide as its widest cell, or has a share of the rest where a cell has.
struct Grid {
  std::size_t columns = 1;
  Nodes cells = {};
  Gap across = Gap::near;
  Gap down = Gap::tight;
};

/// The first of them that is neither wider nor higher than the room; the last where none is. They are asked
/// for in their order, until one fits.
struct FirstThatFits {
  std::size_t count = 0;
  std::function<std::shared_ptr<const Node>(std::size_t)> wish = {};
};

/// The first of them, in room for any: what stands below does not move while words change.
struct Steady {
  Nodes nodes = {};
};

/// One node with room beside, above and below it, and an outline or a ground.
struct Frame {
  Nodes node = {};
  Gap across = Gap::near;
  Gap down = Gap::near;
  Ink outline = 0;
  Ink ground = 0;
  bool is_round = false;  // as a pill
  bool is_hatched = false;
};

/// One node, which scrolls where it is higher than the room. Give it a name: that keeps how far it is
/// scrolled.
struct Scroll {
  Nodes node = {};
};

using AnyContent = std::variant<Text, Formula, Picture, Bar, Track, Sparkline, Mark, Button, Slider, Input,
                                Filter, Menu, Squares, Drawn, Rule, Space, Row, Column, Grid, FirstThatFits,
                                Steady, Frame, Scroll, Plotted, CellTables, Sides, Over, Spots>;

/// What a node is. How it is copied, moved and given up is compiled once, not by each that has a node.
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

/// How far a node reaches in the direction of the row or column that it is in: as far as it needs, so many
/// design pixels, or a share of what the others leave; one that shrinks leaves to them what it does not need.
struct Sizing {
  float fixed = 0;
  float share = 0;
  bool shrinks = false;
  float least = 0;  // of what shares the rest or can be cut, in design pixels,
  float most = 0;   // and at most; 0: any
};

struct Node {
  Node();  // words, none
  Node(Content content);
  Node(const Node& other);
  Node(Node&& other) noexcept;
  Node& operator=(const Node& other);
  Node& operator=(Node&& other) noexcept;
  ~Node();

  Content content;
  std::string name =
      {};  // its piece of the path, "after" in "step/answers/after"; empty: part of what is around it
  Sizing sizing = {};
  bool to_right = false;                    // at the right of its room; else at the left
  std::string tip = {};                     // told while the pointer rests on it
  std::string key = {};                     // that does what a click does, beside the tip
  std::function<void()> pointed = nullptr;  // happens in every frame in which the pointer is on it
  std::function<void()> act = nullptr;      // what a click on it does, when all is drawn
  bool enabled = true;
  std::function<void()> refused = nullptr;  // what a click on it does while it is not enabled
  bool underlined = false;                  // while the pointer is on it
  bool tips_above = false;    // of it and what is in it, where there is room: below is what they change
  std::string revealed = {};  // where it is another than the last of its window, it is scrolled into sight

  Node named(std::string_view piece) && { return with(name, piece); }
  Node told(std::string words) && { return with(tip, std::move(words)); }
  Node on(std::function<void()> click) && { return with(act, std::move(click)); }
  Node when_pointed(std::function<void()> happens) && { return with(pointed, std::move(happens)); }
  Node fixed(float design_pixels) && { return with(sizing, Sizing{.fixed = design_pixels}); }
  Node filling(float share = 1) && { return with(sizing, Sizing{.share = share}); }
  Node shrinking(float share = 1) && { return with(sizing, Sizing{.share = share, .shrinks = true}); }
  /// A share of the rest, of at least and at most so many design pixels; 0: any number.
  Node filling_between(float least, float most) && {
    return with(sizing, Sizing{.share = 1, .least = least, .most = most});
  }
  /// What can be cut takes no more and is left no less of a row.
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

// The kinds in few words.

Node text(std::string words, style::Text style = style::Text::body, Ink ink = 0, Fit fit = Fit::wrap);
/// Plain dimmed text; smaller; and one line of either, cut where it is too long.
Node paragraph(std::string words);
Node caption(std::string words);
Node line(std::string words, style::Text style = style::Text::body, Ink ink = 0);
Node heading(std::string words);
/// Small words on a line: a note may be cut, a tag is not.
Node note(std::string words, Ink ink = dim_ink);
Node tag(std::string words, Ink ink = dim_ink);
/// The first of some such words for which there is room; the last is cut where it has none.
Node that_fits(const std::vector<std::string>& words, Ink ink = dim_ink);
/// A number in digits of one width.
Node number(std::string digits, Ink ink = 0);
Node formula(std::string latex, float size = style::formula_label, Ink ink = 0);
Node pill(std::string words, bool chosen = false);
Node word_button(std::string words);
Node icon_button(std::string_view name, Icon icon, float size = 28);
Node link(std::string words);
Node choice(std::string words, bool chosen);
/// Words in a common outline, of which one is chosen; `choose` is told which was pressed.
Node segments(const std::vector<std::string>& words, std::size_t chosen,
              const std::function<void(std::size_t)>& choose, const std::string& tip = {});
Node mark(Mark::Kind kind, Ink ink = 0);
Node framed(Node node, Gap across, Gap down, Ink outline = 0, Ink ground = 0);
/// A key as printed on the keyboard.
Node key(std::string name);
Node rule(Gap room = Gap::near);
Node space(Gap gap);
/// What takes all that others leave.
Node rest();
Node row(Nodes nodes, Gap gap = Gap::near);
/// The same, the upper edges in one line.
Node top_row(Nodes nodes, Gap gap);
/// One node, in the middle of the width.
Node centred(Node node);
/// The same, going on below where there is no room.
Node flow(Nodes nodes, Gap gap = Gap::near);
Node column(Nodes nodes, Gap gap = Gap::small);
Node grid(std::size_t columns, Nodes cells, Gap across = Gap::near, Gap down = Gap::tight);
Node first_that_fits(Nodes nodes);
/// The same of nodes that are made when they are asked for; what that takes outlives this call.
Node first_that_fits(std::size_t count, std::function<Node(std::size_t)> make);
Node steady(Nodes nodes);
Node scroll(std::string_view name, Node node);

/// As many of the parts, "one; another", as have room on a line.
Node as_many(const std::vector<std::string>& parts, Ink ink = dim_ink);
Node plotted(Plot plot, std::function<void(const PlotDone&)> done = nullptr);

/// Of a button that is neither a line nor an icon.
style::ButtonShape shape_of(Button::Look look);

/// Its piece of the path: its name, or the words of what can be pressed; empty: none.
std::string_view piece_of(const Node& node);

}  // namespace palimpsest::scene
