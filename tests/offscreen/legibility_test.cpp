// Whether all that is written can be read: every letter of a frame against the pixels around it.

#include <array>
#include <cstdlib>
#include <map>

#include "tests/offscreen/drawn.h"
#include "tests/offscreen/glyphs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

ImU32 colour_at(const Image& image, int x, int y) { return style::colour(pixel(image, x, y)); }

/// The colour of the pixels around `place`; 0 where no colour is that of most: on hatches, across an edge.
ImU32 ground_of(const Image& image, const Rectangle& place) {
  std::map<ImU32, int> counts;
  const int left = static_cast<int>(std::floor(place.minimum.x)) - 1;
  const int right = static_cast<int>(std::ceil(place.maximum.x)) + 1;
  const int top = static_cast<int>(std::floor(place.minimum.y)) - 1;
  const int bottom = static_cast<int>(std::ceil(place.maximum.y)) + 1;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      const bool is_edge = x == left || x == right - 1 || y == top || y == bottom - 1;
      if (is_edge && x >= 0 && y >= 0 && x < image.width && y < image.height)
        ++counts[colour_at(image, x, y)];
    }
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  int all = 0;
  for (const auto& [colour, count] : counts) all += count;
  return most == counts.end() || 2 * most->second < all ? 0 : most->first;
}

/// `colour` as it comes out over `ground`.
ImU32 over(ImU32 colour, ImU32 ground) {
  const float alpha = static_cast<float>(colour >> IM_COL32_A_SHIFT) / 255;
  return style::mix(ground, colour | IM_COL32_A_MASK, alpha);
}

/// Whether a pixel of `place` has this colour: what is covered has none.
bool is_seen(const Image& image, const Rectangle& place, ImU32 colour) {
  const auto near = [&](ImU32 one) {
    return std::ranges::all_of(
        std::array{IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}, [&](int shift) {
          return std::abs(static_cast<int>(one >> shift & 255) - static_cast<int>(colour >> shift & 255)) <=
                 3;
        });
  };
  return count_pixels(place, [&](int x, int y) { return near(colour_at(image, x, y)); }) > 0;
}

/// Whether a page lies over what the letter belongs to, which is dimmed as a whole.
bool is_below_page(const Glyph& glyph) {
  const ImGuiWindow* page = ImGui::GetTopMostPopupModal();
  const ImGuiWindow* window = ImGui::FindWindowByName(glyph.window.c_str());
  return page && window && window->RootWindow != page;
}

struct SeenLetters {
  int letters = 0;
  std::set<std::string> faint;  // what has too little contrast, once each
};

void look_at(ShownProgram& shown, SeenLetters& seen) {
  for (int i = 0; i < 5; ++i) shown.draw();
  const Image image = shown.picture(1);
  for (const Glyph& glyph : drawn_glyphs()) {
    if (!glyph.clip.holds(glyph.place) || !everywhere(image).holds(glyph.place) || is_below_page(glyph))
      continue;
    const ImU32 ground = ground_of(image, glyph.place);
    if (ground == 0) continue;
    const ImU32 ink = over(glyph.colour, ground);
    if (ink == ground || !is_seen(image, glyph.place, ink)) continue;
    ++seen.letters;
    if (style::contrast(ink, ground) >= style::least_contrast) continue;
    seen.faint.insert(fmt::format("{} on {}: {:.2f} at {:.0f}, {:.0f} in {}", style::hex(ink),
                                  style::hex(ground), style::contrast(ink, ground), glyph.place.minimum.x,
                                  glyph.place.minimum.y, glyph.window));
  }
}

}  // namespace

TEST_CASE("every letter has a contrast of 4.5 to what is around it", "[legibility]") {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    CAPTURE(static_cast<int>(theme));
    ShownProgram shown;
    shown.set_theme(theme);
    shown.resize(usual_sizes[1]);
    SeenLetters seen;
    for (const Workspace& workspace : shown.application.workspaces()) {
      shown.application.enter(workspace.id);
      shown.session.go_to_token(42);
      for (const Form form : {Form::recurrent, Form::chunkwise}) {
        shown.choose(form);
        look_at(shown, seen);
      }
    }
    for (bool Application::*page : {&Application::show_data, &Application::show_keys,
                                    &Application::show_palette, &Application::show_places}) {
      shown.application.*page = true;
      look_at(shown, seen);
      shown.application.*page = false;
    }
    shown.open("preset:overwrite?T=8&K=4&V=3");  // numbers in cells
    shown.session.go_to_token(5);
    look_at(shown, seen);
    CHECK(seen.letters > 5000);
    for (const std::string& faint : seen.faint) FAIL_CHECK(faint);
  }
}
