#pragma once

#include "app/widgets/heat_map.h"

namespace palimpsest {

/// A named part of the window: its path, its place and its text.
struct Part {
  std::string path;      // "learn/step/edge": nested names, from the workspace on
  Rectangle where;       // in screen pixels
  std::string words;     // the visible text; empty: a picture without text
  Rectangle seen = {};   // the panel that clips it
  bool scrolls = false;  // whether that panel scrolls

  /// Whether all of it can be seen.
  bool is_whole() const { return seen.holds(where); }
};

/// What one frame shows, part by part: tests query it, single parts can be exported, and all together are the
/// window as text.
class Parts {
 public:
  void clear() { all_.clear(); }
  void add(Part part) { all_.push_back(std::move(part)); }

  const std::vector<Part>& all() const { return all_; }

  /// The part of this path; null: it is not shown.
  const Part* find(std::string_view path) const;

  /// All whose path is `path` or begins with it and "/", in the order in which they were drawn.
  std::vector<const Part*> below(std::string_view path) const;

  /// All paths, each on a line.
  std::string paths() const;

  /// Their words as text, indented by the depth of their paths.
  std::string text() const;

 private:
  std::vector<Part> all_;
};

/// The parts of the current Dear ImGui context: of the frame that is being drawn, until the next begins.
Parts& parts();

/// The paths of parts that are hatched in place of being drawn, in the current Dear ImGui context.
std::vector<std::string>& hidden_parts();

/// Whether the part `name` within the current scopes is one of them.
bool is_hidden(std::string_view name);

/// Names what is drawn while it exists: paths of parts begin with the names of all scopes that exist.
class PartScope {
 public:
  explicit PartScope(std::string_view name);
  ~PartScope();
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  std::size_t outer_ = 0;  // length of the enclosing path
};

/// The path of all scopes that exist.
const std::string& scope_path();

/// Notes that the part `name` within the current scopes was drawn at `where`, in screen pixels.
void note_part(std::string_view name, const Rectangle& where, std::string_view words = {});

}  // namespace palimpsest
