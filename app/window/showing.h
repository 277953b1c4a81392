#pragma once

#include "app/session/kept.h"
#include "app/window/opening.h"
#include "app/window/window.h"

namespace palimpsest {

/// The program in its window: what it shows, and what it keeps from one start to the next.
class Showing {
  KeptPreferences kept_;
  KeptPlaces kept_places_;
  LastPlace last_;

 public:
  /// Comes back to where the last start ended, or opens what was asked for, and then the window. `note` is
  /// called when the place is computed, and when there is a window. Throws
  /// InputError, Unsupported, or an Error where no window can be opened.
  explicit Showing(const Look& look, const std::function<void()>& note = {});
  /// Stops what is being measured. Keeps nothing.
  ~Showing();
  Showing(const Showing&) = delete;
  Showing& operator=(const Showing&) = delete;

  /// What one frame of the window shows. What has changed is kept now and then.
  void draw();

  /// Keeps at once what has changed.
  void keep();

  Application application;
  Window window;  // ends before the application

 private:
  WindowOptions open(const Look& look);
  Preferences preferences() const;
  void keep_changes(bool at_once);
};

}  // namespace palimpsest
