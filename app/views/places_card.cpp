#include "app/views/view.h"

namespace palimpsest {

namespace {

/// One place: its number, its name to be typed over, and what can be done with it.
Node row(Application& application, Index index) {
  PinnedPlaces& places = application.places;
  const bool present = index == places.present();
  const std::string& name = places.all()[static_cast<std::size_t>(index)].name;
  const auto button = [](const char* words, std::function<void()> act) {
    return scene::word_button(words).on(std::move(act));
  };
  return scene::row(
             {scene::line(fmt::format("{}", index + 1), present ? style::Text::strong : style::Text::body,
                          present ? style::colours().text : style::colours().dim)
                  .fixed(24),
              Node{scene::Input{
                       .text = name,
                       .set = [&places, index](const std::string& typed) { places.rename(index, typed); }}}
                  .named("name")
                  .told(name)
                  .filling(),
              button("go", [&application, index] { application.go_to_place(index); }),
              button("up", [&places, index] { places.move(index, -1); }),
              button("down", [&places, index] { places.move(index, 1); }),
              button("remove", [&places, index] { places.remove(index); })})
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

void draw_places_card(Application& application) {
  // Names tell the data, the rule and the word.
  const scene::Card card = {.name = "Places", .widest = 900, .highest = 560, .beside = 120};
  scene::show_card(card, application.show_places, [&](bool) {
    Nodes rows;
    for (Index i = 0; i < std::ssize(application.places.all()); ++i) rows.push_back(row(application, i));
    if (rows.empty())
      rows.push_back(
          scene::paragraph("None yet: data, rule, form and the word at the cursor are pinned together."));
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
  });
}

}  // namespace palimpsest
