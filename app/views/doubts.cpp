#include "app/session/presets.h"
#include "app/views/data_parts.h"
#include "app/views/story_page.h"

// What is ambiguous in the user's file, in a line under the top bar.

namespace palimpsest {

namespace {

Node answer_link(Application& application, const Doubt& doubt) {
  return scene::link(doubt.answer).named("answer").on([&application, doubt] {
    Session& session = application.session;
    if (doubt.keeps_rule && session.computed())
      session.change(&SessionState::data, doubt.id);
    else
      session.open_named(doubt.id);
    application.show_data = application.show_names = false;
  });
}

Node doubt_row(Application& application, const std::vector<Doubt>& doubts, std::size_t i) {
  const Doubt& doubt = doubts[i];
  Nodes all = {scene::tag(doubt.words)};
  if (!doubt.answer.empty()) all += answer_link(application, doubt);
  return scene::row(std::move(all)).named(std::to_string(i));
}

Node names_link(Application& application, std::string words, const std::string& id) {
  return scene::link(std::move(words))
      .named("names")
      .told("Choose which array of the file is q, k, v, …, with a picture of each")
      .on([&application, id] { choose_names(application, id); });
}

/// The doubts about the open data, without those whose arrays the current rule uses.
std::vector<Doubt> present_doubts(const Session& session) {
  std::vector<Doubt> doubts = session.data().doubts;
  if (doubts.empty()) return doubts;
  const std::vector<std::string> taken = array_names(find_variant(session.choice().variant));
  const auto is_taken = [&](const std::string& name) { return is_among(name, taken); };
  std::erase_if(doubts, [&](const Doubt& doubt) {
    return !doubt.arrays.empty() && std::ranges::all_of(doubt.arrays, is_taken);
  });
  return doubts;
}

}  // namespace

void choose_names(Application& application, const std::string& id) {
  application.names_of = id;
  application.show_names = true;
  application.show_data = application.show_open = false;
}

Nodes doubt_rows(Application& application, const std::vector<Doubt>& doubts) {
  Nodes rows;
  for (std::size_t i = 0; i < doubts.size(); ++i) rows += doubt_row(application, doubts, i);
  return rows;
}

Nodes ways_out(Application& application, const std::string& id) {
  Nodes links;
  if (id.empty() || is_found_by_name(id)) return links;
  const auto answer = ask(application, DoubtsAboutFile{id});
  if (!answer.value) return links;
  for (const Doubt& doubt : *answer.value) {
    if (!doubt.answer.empty()) links += answer_link(application, doubt).told(doubt.words);
  }
  links += names_link(application, "choose arrays…", id);
  return links;
}

bool has_doubts(const Application& application) {
  const std::vector<std::string>& closed = application.closed_stories;
  return !is_among(application.session.data().id, closed) && !present_doubts(application.session).empty();
}

void draw_doubts(Application& application, float top, float height) {
  const std::string& id = application.session.data().id;
  const std::vector<Doubt> doubts = present_doubts(application.session);
  const auto as_many = [&](std::size_t left_out) {
    const std::size_t count = doubts.size() - left_out;
    Nodes all;
    for (std::size_t i = 0; i < count; ++i) all += doubt_row(application, doubts, i);
    const std::string more = left_out > 0 ? fmt::format("{} more…", left_out) : "choose arrays…";
    all += names_link(application, more, id);
    return scene::row(std::move(all), Gap::far);
  };
  scene::show_bar(
      "Doubts", height,
      scene::row({scene::first_that_fits(doubts.size() + 1, as_many), scene::rest(),
                  scene::icon_button("close", Icon::close, 20)
                      .told("Hides these questions for good. The page of all data (D) still has them.")
                      .on([&application, id] { put_away(application.closed_stories, id); })})
          .named("doubts"),
      top);
}

}  // namespace palimpsest
