#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace palimpsest {

/// The path of a file or folder that the program ships, such as "fonts/Inter-Regular.otf" or
/// "shaders/heat_map.frag". Searched in this order: the folder in the environment variable
/// PALIMPSEST_ASSETS, `assets` beside the program, `assets` in the source tree, the source tree itself.
/// Throws an Error that names what was searched when it is nowhere.
std::filesystem::path asset(std::string_view relative);

/// Lets asset() call `fetch`, with what it is asked for, before it looks. A page gets large files then. It
/// may throw an Error, and is called by any thread.
void fetch_assets_by(std::function<void(std::string_view relative)> fetch);

}  // namespace palimpsest
