#pragma once

namespace palimpsest {

class Application;

/// All data that can be opened, over the whole window: a list, and what the chosen ones are like.
void draw_data_page(Application& application);

}  // namespace palimpsest
