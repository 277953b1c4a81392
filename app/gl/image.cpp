#include "app/gl/image.h"

#include <fmt/format.h>

#include "core/error.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace palimpsest {

void write_png(const Image& image, const std::filesystem::path& file) {
  if (stbi_write_png(file.c_str(), image.width, image.height, 3, image.rgb.data(), image.width * 3) == 0) {
    throw Error(fmt::format("the picture '{}' could not be written", file.string()));
  }
}

}  // namespace palimpsest
