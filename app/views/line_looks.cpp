#include "app/views/line_looks.h"

#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// The colour of a rule in the dark and in the light theme.
struct RuleTone {
  std::uint32_t dark;
  std::uint32_t light;
};

// None is the hue of a symbol. plot_test.cpp checks their least distance, also for colour blindness.
constexpr RuleTone orchid = {0xf9cdfc, 0x965a9c};
constexpr RuleTone mist = {0x95bab7, 0x4e716f};
constexpr RuleTone steel = {0x5a909d, 0x094551};
constexpr RuleTone sage = {0x70906f, 0x487e48};
constexpr RuleTone sand = {0xcbc699, 0x46432a};
constexpr RuleTone lime = {0xeaf595, 0x6e7604};
constexpr RuleTone paper_white = {0xe8e6e1, 0x23211d};
constexpr RuleTone periwinkle = {0x8182d3, 0x25276e};
constexpr RuleTone olive = {0x95881e, 0x514907};
constexpr RuleTone lavender = {0xa2a5dd, 0x0c1331};

/// Softmax and every stop of the rail have their own colour; related rules share one.
constexpr std::pair<std::string_view, RuleTone> tones[] = {
    {"softmax", orchid},
    {"fox", orchid},
    {"double_softmax", orchid},
    {"linear", mist},
    {"kernel", mist},
    {"retnet", steel},
    {"lightning", steel},
    {"scalar_decay", sage},
    {"mamba", sage},
    {"gla", sand},
    {"hgrn2", sand},
    {"value_decay", sand},
    {"longhorn", sand},
    {"deltanet", lime},
    {"deltaproduct", lime},
    {"gated_deltanet", paper_white},
    {"gated_deltanet2", paper_white},
    {"comba", paper_white},
    {"kda", periwinkle},
    {"value_decay_delta", periwinkle},
    {"two_sided_delta", periwinkle},
    {"rwkv7", periwinkle},
    {"titans", olive},
    {"mesanet", olive},
    {"rls", olive},
    {"lact", lavender},
    {"ttt_linear", lavender},
    {"ttt_mlp", lavender},
};

}  // namespace

ImU32 rule_colour(std::string_view variant) {
  constexpr std::string_view to = "_to_";
  if (const std::size_t between = variant.find(to); between != std::string_view::npos)
    variant.remove_prefix(between + to.size());
  const auto found = std::ranges::find(tones, without_strength(std::string(variant)),
                                       [](const auto& row) { return row.first; });
  if (found == std::end(tones)) return style::colours().text;
  const std::uint32_t tone = style::theme() == Theme::dark ? found->second.dark : found->second.light;
  return IM_COL32(tone >> 16, tone >> 8 & 255, tone & 255, 255);
}

float form_dash(Form form) {
  static constexpr float dashes[] = {9, 0, 5, 2};  // recurrent, chunkwise, two-pass, parallel
  return entry(dashes, form);
}

/// The opacity of a form's line: one of three.
static float form_ink(Form form) {
  static constexpr float inks[] = {0.82F, 1, 0.82F, 0.66F};  // recurrent, chunkwise, two-pass, parallel
  return entry(inks, form);
}

PlotMarker precision_marker(Precision precision) {
  static constexpr PlotMarker markers[] = {PlotMarker::diamond, PlotMarker::circle, PlotMarker::up,
                                           PlotMarker::square};  // f64, f32, tf32, bf16
  return entry(markers, precision);
}

PlotLook curve_look(const RaceEntry& entry, bool leads) {
  const float ink = form_ink(entry.form) * (leads ? 1 : 0.72F);
  return {.colour = style::mix(style::colours().panel, rule_colour(entry.variant), ink),
          .width = leads ? 2.25F : 1.0F,
          .dash = form_dash(entry.form),
          .marker = precision_marker(entry.precision),
          .size = leads ? 3.5F : 2.0F,
          .hollow = entry.device != "cpu"};
}

PlotLook proof_look(Form form, Arithmetic arithmetic) {
  const style::Palette& c = style::colours();
  const float ink = arithmetic == Arithmetic::f64   ? form_ink(form)
                    : arithmetic == Arithmetic::f32 ? 0.82F
                                                    : 0.66F;
  return {.colour = style::mix(c.panel, c.text, ink), .width = 1.5F, .dash = form_dash(form)};
}

}  // namespace palimpsest
