#include <iostream>

#include "app/window/window_commands.h"

int main(int argc, char** argv) {
  return palimpsest::run_command_line(argc, argv, std::cout, std::cerr, palimpsest::window_commands());
}
