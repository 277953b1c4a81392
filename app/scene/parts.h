#pragma once

#include "app/widgets/heat_map.h"

namespace palimpsest {

/// A part of the window that can be spoken of: what it is called, where it lies and what it says.
struct Part {
  std::string path;      // "learn/step/edge": rooms of names, from the workspace on
  Rectangle where;       // in screen pixels
  std::string words;     // as a person reads them; empty: a picture without words
  Rectangle seen = {};   // what is drawn beyond is cut: the panel around it,
  bool scrolls = false;  // which leads to what is cut

  /// Whether all of it can be seen.
  bool is_whole() const { return seen.holds(where); }
};

/// What one frame shows, part by part: tests ask it, lessons point at it, one part can be exported, and
/// read from top to bottom it is the window as text.
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

/// Those of the current Dear ImGui context: of the frame that is being drawn, until the next begins.
Parts& parts();

/// Names what is drawn while it lives: paths of parts begin with the names of all that live, "learn/step".
class PartScope {
 public:
  explicit PartScope(std::string_view name);
  ~PartScope();
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  std::size_t outer_ = 0;  // how long the path around it is
};

/// The path that they name together.
const std::string& scope_path();

/// Notes that the part `name` of what the scopes name was drawn there.
void note_part(std::string_view name, const Rectangle& where, std::string_view words = {});

}  // namespace palimpsest
