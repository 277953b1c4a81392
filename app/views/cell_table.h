#pragma once

namespace palimpsest {

class Application;

/// The numbers of one token of what is open, q, k, v and its gates, to be typed over.
void cell_table(Application& application);

}  // namespace palimpsest
