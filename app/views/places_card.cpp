#include "app/views/view.h"

namespace palimpsest {

namespace {

Node row(Application& application, Index index) {
  PinnedPlaces& places = application.places;
  const bool present = index == places.present();
  const PinnedPlace& place = entry(places.all(), index);
  const auto button = [](const char* sign, const char* name, const char* meaning, std::function<void()> act) {
    return scene::word_button(sign).named(name).told(meaning).on(std::move(act));
  };
  const auto line = [&](const char* name, std::string PinnedPlace::*which, const char* meaning) {
    return Node{scene::Input{.text = place.*which,
                             .set = [&places, index,
                                     which](const std::string& typed) { places.word(index, which, typed); }}}
        .named(name)
        .told((place.*which).empty() ? meaning : place.*which)
        .filling();
  };
  return scene::row(
             {scene::line(fmt::format("{}", index + 1), present ? style::Text::strong : style::Text::body,
                          present ? style::colours().text : style::colours().dim)
                  .fixed(24),
              line("name", &PinnedPlace::name, "Its name in this list"),
              line("caption", &PinnedPlace::caption, "A caption that the slide shows"),
              button("go", "go", "Go to this place",
                     [&application, index] { application.go_to_place(index); }),
              button("↑", "up", "Move it up", [&places, index] { places.move(index, -1); }),
              button("↓", "down", "Move it down", [&places, index] { places.move(index, 1); }),
              button("×", "remove", "Remove it", [&places, index] { places.remove(index); })})
      .named(std::to_string(index));
}

Node button(Application& application, const char* command, const char* words, bool closes) {
  Node pill = with_command(application, command, scene::pill(words));
  if (!closes) return pill;
  return std::move(pill).on([&application, act = pill.act] {
    application.show_places = false;
    act();
  });
}

}  // namespace

Node places_card(Application& application, bool) {
  Nodes rows;
  for (Index i = 0; i < std::ssize(application.places.all()); ++i) rows += row(application, i);
  if (rows.empty())
    rows += scene::paragraph("None yet. A pin holds the data, rule, form and token.");
  else
    rows.insert(rows.begin(), scene::row({scene::tag("").fixed(24), scene::caption("name").filling(),
                                          scene::caption("caption on the slide").filling()}));
  return scene::column(
             {scene::line("Pinned places", style::Text::title),
              scene::caption(fmt::format("{} goes to the next one, {} to the one before.",
                                         key_name(find_command(application, "places.next").key),
                                         key_name(find_command(application, "places.previous").key))),
              scene::scroll("places", scene::column(std::move(rows))),
              scene::row({button(application, "places.add", "Pin this place", false),
                          button(application, "places.save", "Save them…", true),
                          button(application, "data.open", "Open a file…", true)})},
             Gap::near)
      .named("pinned");
}

}  // namespace palimpsest
