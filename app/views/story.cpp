#include "app/views/story.h"

namespace palimpsest {

namespace {

/// Whether a text contains a name as a whole word.
bool names(std::string_view text, std::string_view name) {
  const auto is_inside = [](char letter) {
    return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_inside(text[at - 1])) && (end == text.size() || !is_inside(text[end]))) return true;
  }
  return false;
}

}  // namespace

Node what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                     const std::function<void(const std::string&)>& open) {
  if (data.notes.empty()) return scene::column({});
  Nodes all = {scene::caption(data.id.starts_with("preset:") ? "How it is made" : "What to look at")};
  if (const FirstLook* look = first_look(data.id))
    all.push_back(scene::paragraph(look->story + " " + look->watch));
  all.push_back(scene::paragraph(data.notes));
  Nodes links;
  for (const std::string& name : captures) {
    if (names(data.notes, name)) links.push_back(scene::link(name).on([open, name] { open(name); }));
  }
  if (!links.empty()) all.push_back(scene::flow(std::move(links), Gap::wide));
  return scene::column(std::move(all)).named("notes");
}

Node word_links(const FirstLook& look, const std::function<void(const WordToSee&)>& press) {
  Nodes all;
  for (const WordToSee& word : look.words) {
    Node link = {scene::Button{.words = fmt::format("{} “{}”", word.token + 1, word.label),
                               .look = scene::Button::Look::link,
                               .ink = style::colours().accent}};
    all.push_back(scene::row(
        {std::move(link).named(fmt::format("token {}", word.token)).on([press, word] { press(word); }),
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
  const bool is_asked = std::string_view(word.what) == "queried";
  const auto step =
      std::ranges::find(operations, is_asked ? Purpose::output : Purpose::update, &Operation::purpose);
  if (step == operations.end()) return;
  cursor.operation = step - operations.begin();
  session.set_cursor(cursor);
}

void put_away(std::vector<std::string>& closed, const std::string& id) {
  closed.insert(closed.begin(), id);
  closed.resize(std::min(closed.size(), most_closed_stories));
}

void bring_story_back(Application& application) {
  std::erase(application.closed_stories, application.session.data().id);
}

Node story_line(Application& application) {
  const std::string& id = application.session.data().id;
  const FirstLook* look = first_look(id);
  const std::vector<std::string>& closed = application.closed_stories;
  if (!look || is_among(id, closed)) return scene::column({});
  Node below =
      look->words.empty()
          ? scene::caption("What to look at: press D").named("words")
          : word_links(*look, [&application](const WordToSee& word) { go_to_word(application, word); });
  return scene::row({scene::column({scene::tag(look->story, 0), std::move(below)}, Gap::none),
                     scene::icon_button("close", Icon::close, 20)
                         .told("Hides this line. The data page (D) shows it and more.")
                         .on([&application, id] { put_away(application.closed_stories, id); })})
      .named("story");
}

}  // namespace palimpsest
