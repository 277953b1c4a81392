#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/views/data_entries.h"

namespace palimpsest {

class Application;

/// What was done about the chosen data in this frame.
struct DataWish {
  std::optional<std::string> choose =
      {};               // other data are to be shown: a preset at other sizes, a linked capture
  bool opened = false;  // they are open now, and the page can go
};

/// What the data that `id` names are like, as far as that is known: pictures are made in other threads.
/// `entries` are all that can be chosen. Opens them where somebody asks for it, and always where `asked`.
DataWish data_details(Application& application, const std::string& id, std::span<const DataEntry> entries,
                      bool asked);

}  // namespace palimpsest
