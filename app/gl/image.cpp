#include "app/gl/image.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/io/file.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace palimpsest {

Image cropped(const Image& image, int left, int top, int right, int bottom) {
  Image part;
  part.width = std::max(right - left, 0);
  part.height = std::max(bottom - top, 0);
  for (int y = top; y < top + part.height && part.width > 0; ++y)
    part.rgb.insert(part.rgb.end(), image.pixel(left, y), image.pixel(right - 1, y) + 3);
  return part;
}

void write_png(const Image& image, const std::filesystem::path& file) {
  std::vector<std::byte> bytes;
  const auto append = [](void* context, void* data, int size) {
    const auto* first = static_cast<const std::byte*>(data);
    auto& all = *static_cast<std::vector<std::byte>*>(context);
    all.insert(all.end(), first, first + size);
  };
  if (stbi_write_png_to_func(append, &bytes, image.width, image.height, 3, image.rgb.data(),
                             image.width * 3) == 0) {
    throw Error(fmt::format("{}: the picture could not be made into a PNG", file.string()));
  }
  replace_file(file, bytes);
}

}  // namespace palimpsest
