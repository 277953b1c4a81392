#pragma once

#include <string>
#include <vector>

namespace palimpsest {

class Application;

/// The rows that the legend explains: the facts of every word; or rows of another view, which say themselves
/// how far a word steps; or none that needs a legend.
enum class RowsAbove { facts, own, none };

/// The row under the timeline: buttons, where we are, how far a step goes, how fast playing is, and the
/// legend.
void draw_transport(Application& application, RowsAbove rows = RowsAbove::facts);

/// What the legend of the last frame explains, whether or not it had room: what the tests look at.
struct TransportMap {
  std::vector<std::string> legend;
  std::string position;  // where we are, as it is written
};

/// That of the current Dear ImGui context.
TransportMap& transport_map();

}  // namespace palimpsest
