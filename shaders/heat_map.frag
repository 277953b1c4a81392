precision highp float;
precision highp int;
precision highp sampler2D;

// The colour of a pixel is that of the cell under its centre, as in core/base/colour_map.h.

uniform sampler2D numbers;  // one texel per cell, the first row on top
uniform sampler2D colours;  // a colour per step; in the second row the colours of lines between cells
uniform float half_steps_per_unit;
uniform ivec2 origin;  // the upper left pixel of the rectangle, counted from the upper left of the picture
uniform ivec2 size;    // of the rectangle in pixels
uniform int height;    // of the picture in pixels
uniform int line;      // width of a line between cells in pixels; 0: none

uniform int hatch_distance;  // between lines over -inf, in pixels; 0: -inf is not hatched
uniform int hatch_line;      // width of these lines in pixels
uniform vec3 hatch_paper;
uniform vec3 hatch_ink;

out vec4 fragment;

const int steps = 511;  // colour_steps
const int nan_entry = 2 * steps + 1;

// The cell in which the middle of a pixel lies.
ivec2 cell_at(ivec2 pixel, ivec2 cells) { return ((2 * pixel + 1) * cells) / (2 * size); }

int entry_of(float value) {
  // By its bits, because a compiler may assume that NaN never happens.
  if ((floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u) return nan_entry;
  if (half_steps_per_unit == 0.0) return steps;
  int half_steps = int(min(abs(value) * half_steps_per_unit, float(2 * steps)));
  int magnitude = (half_steps + 1) / 2;
  return value < 0.0 ? steps - magnitude : steps + magnitude;
}

void main() {
  ivec2 pixel = ivec2(int(gl_FragCoord.x), height - 1 - int(gl_FragCoord.y)) - origin;
  ivec2 cells = textureSize(numbers, 0);
  ivec2 cell = cell_at(pixel, cells);
  bool between = line > 0 && any(notEqual(cell, cell_at(max(pixel - line, 0), cells)));
  float value = texelFetch(numbers, cell, 0).r;
  if (hatch_distance > 0 && floatBitsToUint(value) == 0xff800000u) {
    bool on_line = (pixel.x + pixel.y) % hatch_distance < hatch_line;
    fragment = vec4(on_line ? hatch_ink : hatch_paper, 1.0);
    return;
  }
  int entry = entry_of(value);
  fragment = texelFetch(colours, ivec2(entry, between ? 1 : 0), 0);
}
