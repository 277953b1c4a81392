#pragma once

#include <filesystem>

namespace palimpsest {

class Application;

/// The folder in which a person's files are looked for and saved at first: that of the last own file, else
/// the person's home, else the working folder.
std::filesystem::path own_folder(const Application& application);

/// Puts a file first among the recent ones.
void remember_file(Application& application, const std::filesystem::path& file);

}  // namespace palimpsest
