#pragma once

#include <imgui.h>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/application.h"
#include "app/widgets/heat_map.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// What an equation of pictures needs to know of the present step. Made once a frame.
struct PictureScene {
  const Record& record;
  const Symbols& symbols;
  std::uint64_t version = 0;  // changes whenever the record does
  std::string lit;            // the tensor that the step at the cursor makes
  double fade = 1;            // 0 just after a step, then 1: the lit picture appears

  /// How many rows of a tensor are there already: 0 it waits, -1 all of them.
  std::function<Index(const std::string& tensor)> finished_rows;
  /// The magnitude with the strongest colour.
  std::function<double(const std::string& tensor)> range;
  bool numbers = true;   // values as text where cells have room
  bool compact = false;  // little room: smaller numbers

  std::optional<CellFocus> focus = {};    // framed, with
  std::vector<Cells> sources = {};        // what it was made from
  std::optional<CellFocus> hovered = {};  // out: the cell under the mouse
  bool clicked = false;                   // out: and it was clicked
  std::vector<Rectangle> pieces = {};     // out: where every picture, caption and sign was drawn
};

/// An equation in which every symbol is the picture of its matrix, laid out from the expression alone.
class PictureEquation {
 public:
  /// `id` keeps the pictures of different equations apart.
  PictureEquation(std::string id, const Equation& equation, const PictureScene& scene);

  /// The extent of the smallest pictures that can still be read: no wider than `width` if there are such.
  ImVec2 least(float width, const PictureScene& scene);

  /// Chooses the largest pictures with which everything fits into `available` pixels and returns the extent.
  /// Sides with the same number of cells have the same length in all pictures of the equation, which grows
  /// with unit(), at most to `largest_unit`.
  ImVec2 fit(ImVec2 available, const PictureScene& scene,
             float largest_unit = std::numeric_limits<float>::infinity());
  float unit() const { return unit_; }

  /// Draws with the left upper corner at `position`, fades what waits, frames what is lit, and notes what is
  /// hovered.
  void draw(ImVec2 position, PictureScene& scene);

 private:
  struct Node;
  struct Builder;
  struct Painter;

  /// The cells of the longest side of all pictures.
  static Index longest_side(const Node& node);

  ImVec2 measure(float unit, float squeeze, const PictureScene& scene);
  ImVec2 smallest(ImVec2 available, float least_squeeze, const PictureScene& scene);

  std::shared_ptr<Node> root_;
  float unit_ = 0;
  bool are_few_ = false;  // cells: then they may be large
  float squeeze_ = 1;     // less where the room is too small for the smallest pictures
};

}  // namespace palimpsest
