#pragma once

#include "app/scene/node.h"

namespace palimpsest::scene {

/// A node with its place; the scene that it comes from must live as long.
struct Placed {
  const Node* node = nullptr;
  Rectangle where = {};                   // screen pixels
  std::vector<std::string> lines = {};    // of text or a formula, as written: wrapped, cut
  float letters = 0;                      // of a formula, in screen pixels
  CellPlan cells = {};                    // of tables
  std::shared_ptr<const Node> wish = {};  // that was made to see whether it fits
  std::vector<Placed> inside = {};

  ImVec2 size() const { return where.size(); }
};

/// The corner of the line `index` of a formula, from that of the first.
ImVec2 formula_corner(const Placed& formula, std::size_t index, const Ruler& ruler);

/// Puts a scene into the upper left corner of `room`: what a node may take goes down, what it takes comes up.
/// Nothing overlaps; where all is higher than the room, it ends below.
Placed lay_out(const Node& scene, const Rectangle& room, const Ruler& ruler);

/// From where to where every column of squares reaches in a room so wide, from its left side on.
std::vector<std::pair<float, float>> columns_of(const Squares& squares, float width, const Ruler& ruler);

/// Whether the columns are wide enough for names that are read from below.
bool has_names(const Squares& squares, float width, const Ruler& ruler);

/// What a person reads there, and in what is there without a name of its own.
std::string words_of(const Placed& placed);

}  // namespace palimpsest::scene
