#include <fmt/format.h>
#include <imgui.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string_view>

#include "app/offscreen.h"
#include "app/window.h"

namespace {

void draw_placeholder() {
  ImGui::SetNextWindowPos({20, 20});
  ImGui::Begin("Palimpsest");
  ImGui::TextUnformatted("Nothing is written here yet.");
  ImGui::End();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4 && std::string_view(argv[1]) == "render" && std::string_view(argv[2]) == "--tour") {
    const std::filesystem::path folder = argv[3];
    std::filesystem::create_directories(folder);
    palimpsest::Offscreen offscreen(1920, 1080);
    palimpsest::write_png(offscreen.render(draw_placeholder), folder / "placeholder.png");
    return 0;
  }
  palimpsest::Window window;
  window.run(draw_placeholder);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "palimpsest: {}\n", error.what());
  return 1;
}
