#pragma once

#include <string>

namespace palimpsest {

class Application;

/// The numbers of one token of what is open, q, k, v and its gates, to be typed over.
void cell_table(Application& application);

/// Why the number that was typed last is not taken; empty when it is.
const std::string& cell_refusal();

}  // namespace palimpsest
