#pragma once

#include <string>

namespace palimpsest {

class Application;

/// All data that can be opened, over the whole window: a list, and what the chosen ones are like.
void draw_data_page(Application& application);

/// The id of the data that it previews, empty where it previews nothing: what the tests look at.
const std::string& previewed_data();

}  // namespace palimpsest
