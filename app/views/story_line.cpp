#include "app/views/story_line.h"

#include "app/session/kept.h"

namespace palimpsest {

namespace {

/// Puts the story of the data away.
void put_away(std::vector<std::string>& closed, const std::string& id) {
  closed.insert(closed.begin(), id);
  closed.resize(std::min(closed.size(), most_closed_stories));
}

}  // namespace

Node word_links(const FirstLook& look, const std::function<void(const WordToSee&)>& press) {
  Nodes all;
  for (const WordToSee& word : look.words) {
    Node link = {scene::Button{.words = fmt::format("{} “{}”", word.token, word.label),
                               .look = scene::Button::Look::link,
                               .ink = style::colours().accent}};
    all.push_back(scene::row(
        {std::move(link).named(fmt::format("word {}", word.token)).on([press, word] { press(word); }),
         scene::tag(word.what)},
        Gap::small));
  }
  return scene::row(std::move(all), Gap::wide).named("words");
}

void go_to_word(Application& application, const WordToSee& word) {
  Session& session = application.session;
  if (word.token >= session.data().tokens) return;
  application.go_to(word.token);
  const Trace* trace = session.trace();
  if (!trace || trace->form != Form::recurrent) return;
  Cursor cursor = session.cursor();
  const std::vector<Operation>& operations = trace->phase(trace->block(cursor.block)).operations;
  const bool is_asked = std::string_view(word.what) == "asked";
  const auto step =
      std::ranges::find(operations, is_asked ? Purpose::output : Purpose::update, &Operation::purpose);
  if (step == operations.end()) return;
  cursor.operation = step - operations.begin();
  session.set_cursor(cursor);
}

void bring_story_back(Application& application) {
  std::erase(application.closed_stories, application.session.data().id);
}

Node story_line(Application& application) {
  const std::string& id = application.session.data().id;
  const FirstLook* look = first_look(id);
  const std::vector<std::string>& closed = application.closed_stories;
  if (!look || std::ranges::find(closed, id) != closed.end()) return scene::column({});
  Node below =
      look->words.empty()
          ? scene::caption("What to look at: D").named("words")
          : word_links(*look, [&application](const WordToSee& word) { go_to_word(application, word); });
  return scene::row({scene::column({scene::tag(look->story, 0), std::move(below)}, Gap::none),
                     scene::icon_button("close", Icon::close, 20)
                         .told("Puts this away, for good; D, Data, says more and has these links too.")
                         .on([&application, id] { put_away(application.closed_stories, id); })})
      .named("story");
}

}  // namespace palimpsest
