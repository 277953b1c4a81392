#include <iostream>

#include "app/commands/command_line.h"

int main(int argc, char** argv) { return palimpsest::run_command_line(argc, argv, std::cout, std::cerr); }
