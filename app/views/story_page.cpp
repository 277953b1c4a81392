#include "app/views/story_page.h"

#include "app/views/answers.h"
#include "app/views/flowing_words.h"
#include "app/views/underlined_words.h"

namespace palimpsest {

namespace {

constexpr Index most_columns = 7;
constexpr ImVec2 largest_story_cell = {72, 46};  // design pixels, as all that follow
constexpr ImVec2 smallest_story_cell = {24, 18};
constexpr float row_names = 200;
constexpr float small_row_names = 130;
constexpr float between_tables = 60;

Node sentence(const std::vector<Spoken>& all) {
  const ImU32 answer = style::colours().value;
  FlowingWords words;
  for (const Spoken& said : all) {
    if (said.is_answer)
      words.add(scene::text(said.words, style::Text::story, answer, Fit::whole));
    else
      words.add(said.words, style::Text::story, 0);
  }
  return std::move(words).flow(Gap::near);
}

/// Shown in place of a hidden answer.
Node hidden_answer(Application& application) {
  if (application.lesson.hides())
    return Node{scene::Frame{.node = {scene::column({scene::rest()})}, .is_hatched = true}};
  Node ask = with_command(application, "view.reveal", scene::pill("show the answer", true));
  return Node{
      scene::Frame{.node = {scene::column({scene::rest(), scene::centred(std::move(ask)), scene::rest()})},
                   .is_hatched = true}};
}

}  // namespace

Node story_page(Application& application, StoryPage page) {
  const bool is_hidden = application.hides_answer();
  if (is_hidden && !page.hides_itself && !application.guesses_on_plot())
    page.content = hidden_answer(application);
  if (is_hidden && !page.question.empty()) page.headline = {{page.question}};
  if (is_hidden && !page.hides_itself) page.about.clear();
  return scene::first_that_fits(2, [page = std::move(page)](std::size_t wish) {
    Nodes all = {sentence(page.headline).named("headline")};
    if (wish == 0) all.push_back(scene::paragraph(page.about).named("about"));
    all.push_back(scene::space(Gap::near));
    all.push_back(Node(page.content).filling_between(wish == 0 ? page.least : 0, 0));
    return framed(scene::column(std::move(all), Gap::near), Gap::far, Gap::near);
  });
}

CellTables story_cells(const MemoryStory& story, bool is_small) {
  CellTables cells = answer_cells(story.table, answer_scale(story.table));
  cells.rows.clear();
  cells.rings.clear();
  const SharedKey* const told = told_key(story);
  for (const SharedKey& key : story.keys) {
    if (&key == told) cells.rings.push_back({std::ssize(cells.rows), style::colours().text, style::lit_line});
    cells.rows.push_back({.words = question_of(story.table, key), .ink = style::colours().key});
  }
  cells.least_cell = smallest_story_cell;
  cells.most_cell = largest_story_cell;
  cells.title = style::Text::strong;
  cells.names = is_small ? small_row_names : row_names;
  if (is_small) return cells;
  cells.between = between_tables;
  cells.words = style::Text::body;
  cells.numbers = style::Text::number;
  return cells;
}

CellValues story_table(const MemoryStory& story, const std::vector<SharedKey>& keys, const char* name,
                       std::vector<std::string> titles, const Matrix<double>& values) {
  std::vector<Index> rows;
  for (const SharedKey& key : keys) rows.push_back(key.row);
  return {.name = name,
          .titles = titles,
          .values = values(rows, Eigen::all),
          .told = [&story, &values, rows, title = titles.front()](Cell cell) {
            cell.row = entry(rows, cell.row);
            return answer_words(story.table, title, values, cell.row, cell.column);
          }};
}

Node story_without(Application& application, const std::string& reason) {
  const std::size_t end = std::min(reason.find(". "), reason.size());
  return story_page(application, {.headline = {{reason.substr(0, std::min(end + 1, reason.size()))}},
                                  .question = {},
                                  .about = end < reason.size() ? reason.substr(end + 2) : "",
                                  .content = scene::column({}),
                                  .hides_itself = true});
}

Known<MemoryStory> ask_story(Application& application, const std::shared_ptr<const Computation>& computed,
                             const MemoryStory* like) {
  Session& session = application.session;
  WordChoice words = asked_choice(session).words;
  words.most = most_columns;
  if (like) words.pinned = asked_tokens(like->table);
  Known<MemoryStory> known =
      session.questions().ask(StoryAtToken{computed, session.token(), std::move(words)});
  if (known.value) name_words(asked_tokens(known.value->table));
  return known;
}

Node story_buttons(Application& application) {
  const Session& session = application.session;
  const std::string word = quoted_word(*session.computed(), session.token());
  std::string place = fmt::format("token {} of {}", session.token() + 1, session.data().tokens);
  if (!place.starts_with(word)) place += " · " + word;
  const std::string play = application.playing ? "❚❚ pause" : "▶ read on";
  Nodes all = {with_command(application, "time.play", scene::pill(play, true).named("play")),
               with_command(application, "token.forward", scene::pill("→ next token").named("next")),
               scene::tag(place)};
  all.push_back(scene::rest());
  if (session.choice().is_changed() && !application.lesson.is_on())
    all.push_back(with_command(application, "change.reset", scene::word_button("changed: reset")));
  if (!application.lesson.is_on())
    all.push_back(with_command(application, "lesson.list", scene::word_button("lessons")));
  all.push_back(with_command(application, "text.type", scene::word_button("type a text")));
  return scene::row(std::move(all), Gap::wide);
}

}  // namespace palimpsest
