#include "app/views/what_to_look_at.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "app/session/paths.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

std::vector<FirstLook> read_first_looks() {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  std::vector<FirstLook> looks;
  for (const auto& text : nlohmann::json::parse(read_text_file(asset("captures/stories.json"), most_bytes))) {
    FirstLook& look = looks.emplace_back(FirstLook{text.at("captures"), text.at("story"), text.at("watch")});
    for (const auto& word : text.value("words", nlohmann::json::array())) {
      look.words.push_back(
          {word.at("token"), word.at("label"), word.at("what"), word.value("stored", std::vector<Index>())});
    }
  }
  return looks;
}

/// Whether a text has a name as a word of its own.
bool names(std::string_view text, std::string_view name) {
  const auto is_inside = [](char letter) {
    return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_inside(text[at - 1])) && (end == text.size() || !is_inside(text[end]))) return true;
  }
  return false;
}

}  // namespace

const FirstLook* first_look(std::string_view id) {
  static const std::vector<FirstLook> looks = read_first_looks();
  if (!id.starts_with("capture:")) return nullptr;
  const auto found = std::ranges::find_if(
      looks, [&](const FirstLook& look) { return id.find(look.captures) != std::string_view::npos; });
  return found == looks.end() ? nullptr : &*found;
}

Node what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                     const std::function<void(const std::string&)>& open) {
  if (data.notes.empty()) return scene::column({});
  Nodes all = {scene::caption(data.id.starts_with("preset:") ? "How it is made" : "What to look at")};
  if (const FirstLook* look = first_look(data.id))
    all.push_back(scene::paragraph(look->story + " " + look->watch));
  all.push_back(scene::paragraph(data.notes));
  Nodes links;
  for (const std::string& name : captures) {
    if (names(data.notes, name)) links.push_back(scene::link(name).on([open, name] { open(name); }));
  }
  if (!links.empty()) all.push_back(scene::flow(std::move(links), Gap::wide));
  return scene::column(std::move(all)).named("notes");
}

}  // namespace palimpsest
