#include "app/scene/parts.h"

#include "app/gl/context_local.h"

namespace palimpsest {

namespace {
std::string& open_scopes() { return context_local<std::string, struct Scope>(); }

std::string below_scope(std::string_view name) {
  if (name.empty()) return open_scopes();
  return open_scopes().empty() ? std::string(name) : open_scopes() + '/' + std::string(name);
}

}  // namespace

const Part* Parts::find(std::string_view path) const {
  const auto found = std::ranges::find(all_, path, &Part::path);
  return found == all_.end() ? nullptr : &*found;
}

std::vector<const Part*> Parts::below(std::string_view path) const {
  std::vector<const Part*> found;
  for (const Part& part : all_) {
    const bool begins = part.path.starts_with(path);
    if (begins && (part.path.size() == path.size() || part.path[path.size()] == '/')) found.push_back(&part);
  }
  return found;
}

std::string Parts::paths() const {
  std::string paths;
  for (const Part& part : all_) paths += part.path + '\n';
  return paths;
}

std::string Parts::text() const {
  std::string text;
  for (const Part& part : all_) {
    const auto depth = static_cast<std::size_t>(std::ranges::count(part.path, '/'));
    text += std::string(2 * depth, ' ') + part.path.substr(part.path.rfind('/') + 1);
    if (!part.words.empty()) text += ": " + part.words;
    text += '\n';
  }
  return text;
}

Parts& parts() { return context_local<Parts>(); }

std::vector<std::string>& hidden_parts() {
  return context_local<std::vector<std::string>, struct HiddenParts>();
}

bool is_hidden(std::string_view name) {
  const std::vector<std::string>& hidden = hidden_parts();
  return !hidden.empty() && !name.empty() && is_among(below_scope(name), hidden);
}

PartScope::PartScope(std::string_view name) : outer_(scope_path().size()) {
  open_scopes() = below_scope(name);
}

PartScope::~PartScope() { open_scopes().resize(outer_); }

const std::string& scope_path() { return open_scopes(); }

void note_part(std::string_view name, const Rectangle& where, std::string_view words) {
  const ImDrawList& list = *ImGui::GetWindowDrawList();
  parts().add({.path = below_scope(name),
               .where = where,
               .words = std::string(words),
               .seen = {list.GetClipRectMin(), list.GetClipRectMax()},
               .scrolls = ImGui::GetScrollMaxY() > 0});
}

}  // namespace palimpsest
