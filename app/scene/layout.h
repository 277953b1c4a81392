#pragma once

#include "app/scene/node.h"

namespace palimpsest::scene {

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
