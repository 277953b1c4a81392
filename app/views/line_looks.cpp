#include "app/views/line_looks.h"

namespace palimpsest {

ImU32 form_colour(Form form) {
  const style::Palette& c = style::colours();
  return entry(std::array{c.text, c.gate, c.key, c.strength}, form);
}

ImU32 compared_colour(std::size_t place) {
  const style::Palette& c = style::colours();
  const std::array colours = {c.text, c.gate, c.strength, c.key, c.error, c.dim};
  return colours[place % colours.size()];
}

PlotMarker precision_marker(Precision precision) {
  static constexpr PlotMarker markers[] = {PlotMarker::diamond, PlotMarker::circle, PlotMarker::up,
                                           PlotMarker::square};  // f64, f32, tf32, bf16
  return entry(markers, precision);
}

namespace {

ImU32 curve_colour(const RaceEntry& entry, const std::vector<std::string>& variants) {
  const auto is_peer = [](const std::string& id) { return id == "softmax"; };
  if (is_peer(entry.variant) && variants.size() > 1) return style::colours().query;
  if (std::ranges::count_if(variants, std::not_fn(is_peer)) <= 1) return form_colour(entry.form);
  const auto end = std::ranges::find(variants, entry.variant);
  return compared_colour(
      static_cast<std::size_t>(std::count_if(variants.begin(), end, std::not_fn(is_peer))));
}

}  // namespace

PlotLook curve_look(const RaceEntry& entry, const std::vector<std::string>& variants, bool leads) {
  const ImU32 colour = curve_colour(entry, variants);
  return {.colour = leads ? colour : style::mix(style::colours().panel, colour, 0.72F),
          .width = leads ? 2.25F : 1.0F,
          .dash = entry.device == "cpu" ? 0.0F : 5.0F,
          .marker = precision_marker(entry.precision),
          .size = leads ? 3.5F : 2.0F};
}

PlotLook proof_look(Form form, Arithmetic arithmetic) {
  static constexpr float dashes[] = {0, 8, 6, 4, 2};  // f64, f32, tf32, bf16, f16
  return {.colour = arithmetic == Arithmetic::f64 ? form_colour(form) : style::colours().dim,
          .width = 1.5F,
          .dash = entry(dashes, arithmetic)};
}

}  // namespace palimpsest
