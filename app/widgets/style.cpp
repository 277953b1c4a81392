#include "app/widgets/style.h"

#include <fmt/format.h>
#include <imgui_freetype.h>
#include <imgui_internal.h>  // for the loader of fonts

#include <initializer_list>

#include "app/gl/context_local.h"
#include "app/session/paths.h"
#include "app/widgets/font_face.h"

namespace palimpsest::style {
namespace {

constexpr ImU32 rgb(std::uint32_t hex) { return IM_COL32(hex >> 16 & 255, hex >> 8 & 255, hex & 255, 255); }

// The colours of both themes.
struct Tone {
  ImU32 Palette::*colour;
  std::uint32_t dark;
  std::uint32_t light;
};

constexpr Tone tones[] = {
    {&Palette::background, 0x16181d, 0xf3efe7}, {&Palette::panel, 0x1d2027, 0xfbf9f4},
    {&Palette::edge, 0x2b2f39, 0xddd6c8},       {&Palette::text, 0xe8e6e1, 0x23211d},
    {&Palette::dim, 0xa6a8af, 0x625d54},        {&Palette::faint, 0x8d9099, 0x6e685c},
    {&Palette::accent, 0x6fb1ff, 0x1f64b8},     {&Palette::good, 0x4fc3a1, 0x00795a},
    {&Palette::alarm, 0xff6b5e, 0xc0301c},      {&Palette::query, 0xc792ea, 0x7a3fb0},
    {&Palette::key, 0xe9b44c, 0x8f6200},        {&Palette::value, 0x4fc3a1, 0x00795a},
    {&Palette::gate, 0x6fb1ff, 0x1f64b8},       {&Palette::strength, 0xff8fb2, 0xc2306a},
    {&Palette::error, 0xff6b5e, 0xc0301c}};

Palette palette(Theme theme) {
  Palette palette = {};
  palette.map = theme == Theme::dark ? dark_colour_map : light_colour_map;
  for (const auto& [colour, dark, light] : tones) palette.*colour = rgb(theme == Theme::dark ? dark : light);
  return palette;
}

// The relative luminance of WCAG 2.
double luminance(ImU32 colour) {
  const auto part = [colour](int shift) {
    const double s = (colour >> shift & 255) / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(IM_COL32_R_SHIFT) + 0.7152 * part(IM_COL32_G_SHIFT) + 0.0722 * part(IM_COL32_B_SHIFT);
}

constexpr float ordinary_em = 14;

// A font of one Dear ImGui context, and the ratio of Dear ImGui's size (ascender to descender) to the em.
struct Face {
  ImFont* font = nullptr;
  float height = 1;
};

struct State {
  Theme theme = Theme::dark;
  float scale = 1;
  bool applied = false;
  Face body;
  Face strong;
  Face number;
};

State& state() { return context_local<State>(); }

// Combining accents, such as the bar over a letter. Fonts place them over small letters, but we mostly put
// them over capitals.
constexpr ImWchar accents[] = {0x300, 0x36f, 0x20d0, 0x20ff, 0};
constexpr float accents_raised = 0.12F;  // of the em

// A font that takes missing glyphs from the others, at the same em size.
Face load(std::initializer_list<std::filesystem::path> files) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  Face face;
  for (const std::filesystem::path& file : files) {
    const FT_Face source = font_face(file.string());
    const std::span<const unsigned char> bytes = font_bytes(source);
    // Ascender to descender in units of the em.
    const float height =
        static_cast<float>(source->ascender - source->descender) / static_cast<float>(source->units_per_EM);
    ImFontConfig config;
    // Reading files of megabytes for every use would take most of the time to the first frame.
    config.FontDataOwnedByAtlas = false;
    const auto add = [&](float size) {
      void* data = const_cast<unsigned char*>(bytes.data());  // is only read
      return atlas.AddFontFromMemoryTTF(data, static_cast<int>(bytes.size()), size, &config);
    };
    config.MergeMode = face.font != nullptr;
    config.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
    if (face.font == nullptr) face.height = height;
    config.ExtraSizeScale = height / face.height;
    config.GlyphExcludeRanges = accents;
    const float size = ordinary_em * face.height;  // only the unit of offsets
    face.font = add(size);
    config.MergeMode = true;
    config.GlyphExcludeRanges = nullptr;
    config.GlyphOffset.y = -accents_raised * ordinary_em;
    add(size);
  }
  face.font->AddRemapChar(0x1d40, 0x22a4);  // the fonts lack the superscript T: use the sign ⊤
  return face;
}

// Fonts with Chinese, Japanese and Korean, where the system has one.
std::optional<std::filesystem::path> east_asian_font() {
  for (const char* file : {"/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
                           "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
                           "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf"}) {
    if (std::filesystem::exists(file)) return file;
  }
  return std::nullopt;
}

/// Draws letters by FreeType as Dear ImGui does, but sets a face to the wanted size for each letter. Dear
/// ImGui remembers that size by the address of the size's letters, and moves these when others are forgotten.
const ImFontLoader& font_loader() {
  static const ImFontLoader usual = *ImGuiFreeType::GetFontLoader();
  static const ImFontLoader loader = [] {
    ImFontLoader each_time = usual;
    each_time.FontBakedLoadGlyph = [](ImFontAtlas* atlas, ImFontConfig* source, ImFontBaked* letters,
                                      void* kept, ImWchar letter, ImFontGlyph* glyph, float* advance) {
      FT_Activate_Size(*static_cast<FT_Size*>(kept));  // all that it keeps of a size
      return usual.FontBakedLoadGlyph(atlas, source, letters, kept, letter, glyph, advance);
    };
    return each_time;
  }();
  return loader;
}

void load_fonts(State& fonts) {
  ImGui::GetIO().Fonts->SetFontLoader(&font_loader());
  const auto regular = asset("fonts/Inter-Regular.otf");
  const auto semi_bold = asset("fonts/Inter-SemiBold.otf");
  const auto mono = asset("fonts/JetBrainsMono-Regular.ttf");
  const auto mathematics = asset("fonts/latex/latinmodern-math.otf");
  const auto last = east_asian_font().value_or(mathematics);
  fonts.body = load({regular, mono, mathematics, last});
  fonts.strong = load({semi_bold, mono, mathematics, last});
  fonts.number = load({mono, regular, mathematics, last});
  ImGui::GetIO().FontDefault = fonts.body.font;
}

void set_colours(ImGuiStyle& style, const Palette& c) {
  const ImU32 field = mix(c.panel, c.edge, 0.5F);
  const ImU32 none = with_alpha(c.panel, 0);
  const ImU32 dimmed = with_alpha(c.background, 0.6F);
  struct Use {
    ImU32 colour;
    std::initializer_list<ImGuiCol> of;
  };
  const Use uses[] = {
      {c.background, {ImGuiCol_WindowBg, ImGuiCol_DockingEmptyBg, ImGuiCol_Tab, ImGuiCol_TabDimmed}},
      {c.panel,
       {ImGuiCol_PopupBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed,
        ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected, ImGuiCol_TabHovered}},
      {c.edge,
       {ImGuiCol_Border, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ScrollbarGrab,
        ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive, ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive,
        ImGuiCol_Separator, ImGuiCol_SeparatorHovered, ImGuiCol_ResizeGripHovered}},
      {field, {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header}},
      {none,
       {ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_ResizeGrip,
        ImGuiCol_TabDimmedSelectedOverline}},
      {c.text, {ImGuiCol_Text, ImGuiCol_InputTextCursor, ImGuiCol_TabSelectedOverline}},
      {c.dim, {ImGuiCol_ScrollbarGrabActive}},
      {c.faint,
       {ImGuiCol_TextDisabled, ImGuiCol_ScrollbarGrabHovered, ImGuiCol_SeparatorActive,
        ImGuiCol_ResizeGripActive}},
      {c.accent, {ImGuiCol_NavCursor, ImGuiCol_NavWindowingHighlight}},
      {with_alpha(c.accent, selection_strength), {ImGuiCol_TextSelectedBg, ImGuiCol_DockingPreview}},
      {dimmed, {ImGuiCol_NavWindowingDimBg, ImGuiCol_ModalWindowDimBg}}};
  for (const auto& [colour, of] : uses) {
    for (const ImGuiCol index : of) style.Colors[index] = ImGui::ColorConvertU32ToFloat4(colour);
  }
}

void set_sizes(ImGuiStyle& style, float scale) {
  style.WindowPadding = {panel_gap, panel_gap};
  style.FramePadding = {12, 6};
  style.ItemSpacing = {8, 8};
  style.ItemInnerSpacing = {8, 4};
  style.ScrollbarSize = 8;
  style.ScrollbarRounding = 4;
  style.ChildRounding = corner;
  style.PopupRounding = corner;
  style.FrameRounding = 6;
  style.TabRounding = 6;
  style.WindowBorderSize = 0;
  style.ChildBorderSize = line;
  style.PopupBorderSize = line;
  style.TabBarBorderSize = line;
  style.TabBarOverlineSize = lit_line;
  style.DockingSeparatorSize = panel_gap;
  style.WindowMenuButtonPosition = ImGuiDir_None;
  style.DisabledAlpha = 0.65F;  // words can still be read
  style.ScaleAllSizes(scale);
  // Whole pixels, so that text and edges are sharp at any scale.
  for (float* width :
       {&style.ChildBorderSize, &style.PopupBorderSize, &style.TabBarBorderSize, &style.TabBarOverlineSize}) {
    *width = std::max(1.0F, std::round(*width));
  }
  style.FontSizeBase = font_size(Text::body);
  style._NextFrameFontSizeBase = style.FontSizeBase;  // inside a frame the old size would be restored
  style.FontScaleDpi = scale;
}

// The face and the em size of each Text, in that order.
struct Writing {
  Face State::*face;
  float em;
};

const Writing& writing(Text text) {
  static constexpr Writing all[] = {{&State::body, 14},   {&State::strong, 14}, {&State::body, 12},
                                    {&State::body, 16},   {&State::strong, 19}, {&State::strong, 26},
                                    {&State::number, 14}, {&State::number, 12}, {&State::number, 28}};
  static_assert(std::size(all) == static_cast<std::size_t>(Text::number_large) + 1);
  return entry(all, text);
}

const Face& face(Text text) { return state().*writing(text).face; }

}  // namespace

void apply(Theme theme, float scale) {
  State& now = state();
  if (now.applied && now.theme == theme && now.scale == scale) return;
  if (now.body.font == nullptr) load_fonts(now);
  now.theme = theme;
  now.scale = scale;
  now.applied = true;
  ImGuiStyle fresh;
  set_colours(fresh, colours());
  set_sizes(fresh, scale);
  ImGui::GetStyle() = fresh;
}

Theme theme() { return state().theme; }

float scale() { return state().scale; }

ImU32 Palette::role(Role role) const {
  const ImU32 inks[] = {text, query, key, value, gate, strength, error, text, query};  // in the order of Role
  static_assert(std::size(inks) == static_cast<std::size_t>(Role::output) + 1);
  return entry(inks, role);
}

ImU32 Palette::role_dim(Role which) const { return mix(faint, role(which), 0.3F); }

ImU32 Palette::lit_ground() const { return mix(panel, edge, 0.8F); }

const Palette& colours(Theme theme) {
  static const std::array<Palette, 2> palettes = {palette(Theme::dark), palette(Theme::light)};
  return palettes[theme == Theme::dark ? 0 : 1];
}

ImU32 mix(ImU32 from, ImU32 to, float part) {
  const ImVec4 a = ImGui::ColorConvertU32ToFloat4(from);
  const ImVec4 b = ImGui::ColorConvertU32ToFloat4(to);
  return ImGui::ColorConvertFloat4ToU32({a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part,
                                         a.z + (b.z - a.z) * part, a.w + (b.w - a.w) * part});
}

ImU32 with_alpha(ImU32 colour, float alpha) {
  const auto byte = static_cast<ImU32>(std::lround(alpha * 255));
  return (colour & ~IM_COL32_A_MASK) | byte << IM_COL32_A_SHIFT;
}

std::string hex(ImU32 colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour >> IM_COL32_R_SHIFT & 255,
                     colour >> IM_COL32_G_SHIFT & 255, colour >> IM_COL32_B_SHIFT & 255);
}

double contrast(ImU32 one, ImU32 other) {
  const double a = luminance(one);
  const double b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

ImU32 legible_on(Rgb8 paper, const Palette& palette) {
  const ImU32 ground = colour(paper);
  const auto better = [ground](ImU32 one, ImU32 other) {
    return contrast(one, ground) >= contrast(other, ground) ? one : other;
  };
  const ImU32 own = better(palette.text, palette.panel);
  // Black or white is always legible.
  return contrast(own, ground) >= least_contrast ? own : better(IM_COL32_BLACK, IM_COL32_WHITE);
}

Rgb8 bytes(ImU32 colour) {
  const auto byte = [colour](int shift) { return static_cast<std::uint8_t>(colour >> shift & 0xFF); };
  return {byte(IM_COL32_R_SHIFT), byte(IM_COL32_G_SHIFT), byte(IM_COL32_B_SHIFT)};
}

ImFont* font(Text text) { return face(text).font; }

float font_size(Text text) { return writing(text).em * face(text).height; }

}  // namespace palimpsest::style
