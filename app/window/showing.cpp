#include "app/window/showing.h"

namespace palimpsest {

Showing::Showing(const Look& look, const std::function<void()>& note)
    : kept_(own_file("settings.json")),
      kept_places_(own_file("places.json")),
      last_(own_file("last_place.json")),
      window([&] {
        const WindowOptions options = open(look);
        if (note) note();
        return options;
      }()) {
  if (note) note();
  if (!look["--scale"]) application.zoom = kept_.read().scale;
  try {
    application.panel_layout.restore({kept_.read().layout, kept_.read().own_workspaces});
  } catch (const InputError& error) {
    kept_.set_aside(error.what());
  }
  kept_.begin_with(preferences());
  application.quit = [this] { window.close(); };
  application.races.wake = [this] { window.request_redraw(); };
}

Showing::~Showing() { application.races.leave(application.session); }

WindowOptions Showing::open(const Look& look) {
  constexpr float as_the_monitor_says = 0;
  const float scale = scale_of(look, as_the_monitor_says);
  const bool is_first = asks_for_nothing(look) && !kept_.is_there();
  application.races.program = program_in_words();
  application.places = PinnedPlaces(kept_places_.read());
  application.recent_files = kept_.read().recent_files;
  application.closed_stories = kept_.read().closed_stories;
  application.lesson_progress = kept_.read().lessons;
  Look first = look;
  if (asks_for_nothing(first) && last_.come_back(application.session)) {
    application.require_workspace();
    dress(application, first);
    application.session.start_history();
  } else {
    if (!has_own_looks(first)) {
      first.given.try_emplace("--theme", name(kept_.read().theme));
      first.given.try_emplace("--level", name(kept_.read().level));
    }
    prepare(application, first);
  }
  if (is_first) application.tell_slowly();
  return {.width = kept_.read().width,
          .height = kept_.read().height,
          .scale = scale,
          .dropped = [this](const auto& paths) { application.drop(paths); }};
}

/// What is to be kept of a window. The layout is asked for when Dear ImGui says that it may have changed;
/// else it is the one that is kept.
Preferences Showing::preferences() const {
  Preferences now = kept_.read();
  now.theme = application.view.theme;
  if (!application.lesson.is_on()) now.level = application.view.level;
  now.scale = application.zoom;
  now.recent_files = application.recent_files;
  now.closed_stories = application.closed_stories;
  now.lessons = application.lesson_progress;
  std::tie(now.width, now.height) = window.size();
  if (std::exchange(ImGui::GetIO().WantSaveIniSettings, false)) {
    const OwnLayout own = application.panel_layout.own(application.workspaces());
    now.layout = own.text;
    now.own_workspaces = own.workspaces;
  }
  return now;
}

void Showing::draw() {
  application.draw(window.scale());
  if (application.animating()) window.request_redraw();
  keep_changes(false);
  for (const std::string& problem : {kept_.problem(), kept_places_.problem(), last_.problem()}) {
    if (!problem.empty()) application.session.set_message(problem);
  }
}

void Showing::keep() {
  ImGui::GetIO().WantSaveIniSettings = true;
  keep_changes(true);
}

void Showing::keep_changes(bool at_once) {
  kept_.keep(preferences(), at_once);
  kept_places_.keep(application.places.all(), at_once);
  // Not the data of a lesson: one comes back to where one was before it.
  if (!application.lesson.is_on()) last_.keep(application.session, at_once);
}

}  // namespace palimpsest
