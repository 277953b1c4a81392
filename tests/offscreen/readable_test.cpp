// Whether every text has its room and can be read: in every workspace, for every rule and form, on every
// page, at usual sizes.

#include <map>

#include "app/views/answers.h"
#include "app/words/forms.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/glyphs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void check_letters(ShownProgram& shown) {
  shown.draw();
  shown.pass();
  for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
}

/// How many equations stand beside the Stage; none has to be scrolled aside.
int check_equations() {
  int seen = 0;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (!window->Active || std::string_view(window->Name).find("equation") == std::string_view::npos)
      continue;
    CHECK(window->ScrollMax.x == 0);
    ++seen;
  }
  return seen;
}

/// The first capture at "drum".
struct AtDrum : ShownProgram {
  explicit AtDrum(const Size& size) : ShownProgram("step", {}, size) { session.go_to_token(42); }
};

/// Every workspace for a rule, Step in every form, the others in one. How many equations were seen.
int walk(AtDrum& shown, const Variant& variant) {
  int equations = 0;
  for (const Workspace& workspace : shown.application.workspaces()) {
    const bool has_forms = std::string_view(workspace.id) == "step";
    for (const Form form : all_forms) {
      if (!has_forms && form != Form::recurrent) continue;
      CAPTURE(variant.id, name(form), workspace.id);
      shown.choose(variant.id, form);
      shown.session.go_to_token(42);
      shown.application.enter(workspace.id);
      check_letters(shown);
      if (!has_forms || !shown.session.trace()) continue;
      equations += check_equations();
      // The last step of the block shows most.
      const Trace& trace = *shown.session.trace();
      const Index block = trace.block_of(42, 0);
      const auto operations = static_cast<Index>(trace.phase(trace.block(block)).operations.size());
      shown.session.set_cursor({block, operations - 1, 0});
      check_letters(shown);
    }
  }
  return equations;
}

/// Every rule at every size; what is computed for one size is there for the next.
void walk_at(std::span<const Size> sizes) {
  AtDrum shown(sizes[0]);
  std::map<int, int> equations;  // by width
  for (const Variant& variant : variants()) {
    for (const Size& size : sizes) {
      CAPTURE(size.width);
      shown.resize(size);
      equations[size.width] += walk(shown, variant);
    }
  }
  for (const auto& [width, seen] : equations) {
    CAPTURE(width);
    CHECK(seen > 20);
  }
}

/// The colour of the pixels around `place`; 0 where no colour is that of most: on hatches, across an edge.
ImU32 ground_of(const Image& image, const Rectangle& place) {
  std::map<ImU32, int> counts;
  int all = 0;
  const int left = static_cast<int>(std::floor(place.minimum.x)) - 1;
  const int right = static_cast<int>(std::ceil(place.maximum.x)) + 1;
  const int top = static_cast<int>(std::floor(place.minimum.y)) - 1;
  const int bottom = static_cast<int>(std::ceil(place.maximum.y)) + 1;
  for (int y = std::max(top, 0); y < std::min(bottom, image.height); ++y) {
    for (int x = std::max(left, 0); x < std::min(right, image.width); ++x) {
      if (x != left && x != right - 1 && y != top && y != bottom - 1) continue;
      ++counts[style::colour(pixel(image, x, y))];
      ++all;
    }
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return most == counts.end() || 2 * most->second < all ? 0 : most->first;
}

/// `colour` as it comes out over `ground`.
ImU32 over(ImU32 colour, ImU32 ground) {
  const float alpha = static_cast<float>(colour >> IM_COL32_A_SHIFT) / 255;
  return style::mix(ground, colour | IM_COL32_A_MASK, alpha);
}

/// Whether a pixel of `place` has this colour: what is covered has none.
bool is_seen(const Image& image, const Rectangle& place, ImU32 colour) {
  const Rgb8 wanted = style::bytes(colour);
  const auto is_near = [&](int x, int y) {
    const Rgb8 one = pixel(image, x, y);
    return std::abs(one.red - wanted.red) <= 3 && std::abs(one.green - wanted.green) <= 3 &&
           std::abs(one.blue - wanted.blue) <= 3;
  };
  return count_pixels(place, is_near) > 0;
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

TEST_CASE("no text is cut or lies over another, whatever the rule, the form and the workspace",
          "[readable]") {
  walk_at(usual_sizes);
}

TEST_CASE("no text is cut or lies over another on a large screen", "[.][readable-large]") {
  const Size large = {3840, 2160, 2};
  walk_at({&large, 1});
}

TEST_CASE("no text is cut or lies over another on any page", "[readable]") {
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    AtDrum shown(size);
    int page = 0;
    for (bool Application::*over :
         {&Application::show_data, &Application::show_keys, &Application::show_palette,
          &Application::show_places, &Application::show_open}) {
      CAPTURE(page++);
      shown.application.*over = true;
      check_letters(shown);
      shown.application.*over = false;
    }
  }
}

TEST_CASE("a presentation of any workspace can be read", "[readable]") {
  for (const Size& size : usual_sizes) {
    AtDrum shown(size);
    shown.application.presenting = true;
    for (const Workspace& workspace : shown.application.workspaces()) {
      CAPTURE(size.width, workspace.id);
      shown.application.enter(workspace.id);
      check_letters(shown);
      const std::string id = workspace.id;
      if (id == "compare") {  // sentences may be cut, names may not
        for (const CutPiece& piece : drawn_cut_words()) CHECK(piece.whole.ends_with('.'));
      }
      const bool has_floor = id == "learn" || id == "attend";
      CHECK(parts().below(id + (has_floor ? "/floor/words" : "/text/words")).size() > 1);
    }
  }
}

TEST_CASE("a much enlarged window still shows what the memory answers, and names that lie apart",
          "[readable]") {
  AtDrum shown({1280, 800, 1.3F});
  shown.draw();
  const Rectangle table = place_of("step/answers/after");
  const auto words = static_cast<float>(ask_answers(shown.application).value->table.words.size());
  CHECK((table.maximum.x - table.minimum.x) / words >= 15 * 1.3F);  // where numbers of two digits have room
  CHECK(parts().find("step/forms/costs shown")->where.maximum.x + 4 <
        parts().find("step/forms/precisions")->where.minimum.x);
}

TEST_CASE("letters over letters and cut ones are seen", "[readable]") {
  Offscreen offscreen(400, 300);
  const auto faults = [&](const std::function<void()>& draw) {
    pass_in_window(offscreen, {200, 100}, draw, 3, {20, 20});
    return letter_faults();
  };
  const ImU32 ink = IM_COL32_WHITE;
  const auto two_lines = [&](float below) {
    draw_text({40, 40}, ink, "the red jar");
    draw_text({40, 40 + below}, ink, "holds a drum");
  };
  CHECK(faults([&] { two_lines(20); }).empty());
  CHECK_FALSE(faults([&] { two_lines(6); }).empty());  // moved up
  // Past the edge of the window; past an edge of its own, as words that roll; above one.
  const auto long_words = [&] { draw_text({40, 40}, ink, "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"); };
  CHECK(faults(long_words).size() == 1);
  const auto clipped = [&](ImVec2 from, ImVec2 to) {
    return faults([&] {
      ImGui::PushClipRect(from, to, true);
      long_words();
      ImGui::PopClipRect();
    });
  };
  CHECK(clipped({47, 30}, {149, 90}).empty());
  CHECK(clipped({30, 48}, {149, 90}).size() == 1);
}

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
