#pragma once

namespace palimpsest {

class Application;

/// The rows that the legend explains: the facts of every word; or rows of another view, which say themselves
/// how far a word steps; or none that needs a legend.
enum class RowsAbove { facts, own, none };

/// The row under the timeline: buttons, where we are, how far a step goes, how fast playing is, and the
/// legend.
void draw_transport(Application& application, RowsAbove rows = RowsAbove::facts);

}  // namespace palimpsest
