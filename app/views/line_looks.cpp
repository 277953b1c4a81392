#include "app/views/line_looks.h"

#include "core/variants/variants.h"

namespace palimpsest {

namespace {

struct RuleTone {
  std::uint32_t dark;
  std::uint32_t light;
  std::array<std::string_view, 4> rules;
};

// Softmax and every stop of the rail have their own colour; related rules share one. None is the hue of a
// symbol. plot_test.cpp checks their least distance, also for colour blindness.
constexpr RuleTone tones[] = {
    {0xf9cdfc, 0x965a9c, {"softmax", "fox", "double_softmax"}},                      // orchid
    {0x95bab7, 0x4e716f, {"linear", "kernel"}},                                      // mist
    {0x5a909d, 0x094551, {"retnet", "lightning"}},                                   // steel
    {0x70906f, 0x487e48, {"scalar_decay", "mamba"}},                                 // sage
    {0xcbc699, 0x46432a, {"gla", "hgrn2", "value_decay", "longhorn"}},               // sand
    {0xeaf595, 0x6e7604, {"deltanet", "deltaproduct"}},                              // lime
    {0xe8e6e1, 0x23211d, {"gated_deltanet", "gated_deltanet2", "comba"}},            // paper white
    {0x8182d3, 0x25276e, {"kda", "value_decay_delta", "two_sided_delta", "rwkv7"}},  // periwinkle
    {0x95881e, 0x514907, {"titans", "mesanet", "rls"}},                              // olive
    {0xa2a5dd, 0x0c1331, {"lact", "ttt_linear", "ttt_mlp"}},                         // lavender
};

/// The opacity of a form's line: one of three.
float form_ink(Form form) {
  static constexpr float inks[] = {0.82F, 1, 0.82F, 0.66F};  // recurrent, chunkwise, two-pass, parallel
  return entry(inks, form);
}

/// The dash length of a form's lines; 0: solid.
float form_dash(Form form) {
  static constexpr float dashes[] = {9, 0, 5, 2};
  return entry(dashes, form);
}

}  // namespace

ImU32 rule_colour(std::string_view variant) {
  constexpr std::string_view to = "_to_";
  if (const std::size_t between = variant.find(to); between != std::string_view::npos)
    variant.remove_prefix(between + to.size());
  const std::string rule = without_strength(std::string(variant));
  const auto has_rule = [&](const RuleTone& tone) { return is_among(rule, tone.rules); };
  const auto* const found = std::ranges::find_if(tones, has_rule);
  if (variant.empty() || found == std::end(tones)) return style::colours().text;
  const std::uint32_t tone = style::theme() == Theme::dark ? found->dark : found->light;
  return IM_COL32(tone >> 16, tone >> 8 & 255, tone & 255, 255);
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
