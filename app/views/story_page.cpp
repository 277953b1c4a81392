#include "app/views/story_page.h"

#include <fmt/ranges.h>

#include "app/session/typed_text.h"
#include "app/views/answers.h"
#include "app/views/floor.h"

// What the workspaces share at the level "story"; the story of Step; and that of the open text.

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
  scene::FlowingWords words;
  for (const Spoken& said : all) {
    if (said.is_answer)
      words.add(scene::text(said.words, style::Text::story, answer, Fit::whole));
    else
      words.add(said.words, style::Text::story, 0);
  }
  return std::move(words).flow(Gap::near);
}

Node hidden_answer(Application& application) {
  Node ask = application.lesson.hides()
                 ? scene::column({})
                 : with_command(application, "view.reveal", scene::pill("show the answer", true));
  return Node{
      scene::Frame{.node = {scene::column({scene::rest(), scene::centred(std::move(ask)), scene::rest()})},
                   .is_hatched = true}};
}

/// The sizes of the pictures and tables, in design pixels, as all that follow.
struct TablesLook {
  float picture;
  float least_row;
  bool is_small = false;
  bool is_stacked = false;  // one below the other, on a phone
};
constexpr TablesLook tables_looks[] = {{208, 34},          {176, 30}, {152, 26},     {128, 26},
                                       {96, 18},           {0, 18},   {0, 18, true}, {84, 18, true, true},
                                       {0, 20, true, true}};
constexpr float low_story = 420;
constexpr float ramp_width = 120;

Node tables(const Application& application, const MemoryStory& story, const std::string& token,
            const TablesLook& look) {
  CellTables cells = story_cells(story, look.is_small);
  cells.least_cell.y = look.least_row;
  const auto add = [&](double told, const char* name, std::vector<std::string> titles, const char* sign,
                       const Matrix<double>& values, const Matrix<double>& memory, const char* link) {
    CellValues table = story_table(story, story.keys, name, std::move(titles), values);
    table.sign = sign;
    table.picture = {.values = memory.size() > 0 ? &memory : nullptr,
                     .version = story.version,
                     .look = {.range = static_cast<float>(story.range), .grid = false},
                     .words = link};
    table.is_hidden = application.telling() < told || (application.hides_answer() && told > 0);
    cells.tables.push_back(std::move(table));
  };
  add(0, "before", {fmt::format("the memory before {}", token), "before"}, "", story.table.before,
      story.before, "what it returns");
  add(0.6, "change", {fmt::format("what {} changes", token), "the change"}, "+", story.table.change,
      story.change, "what that changes");
  add(1.6, "after", {"the memory after", "after"}, "=", story.table.after, story.after, "what it returns");
  cells.picture = story.no_memory.empty() ? look.picture : 0;
  if (!look.is_stacked) return Node{std::move(cells)};
  Nodes all;
  for (CellValues& table : std::exchange(cells.tables, {})) {
    table.sign = "";
    CellTables alone = cells;
    alone.tables = {std::move(table)};
    all += Node{std::move(alone)};
  }
  return scene::column(std::move(all), Gap::wide);
}

/// The story's switch: what the model answers if nothing is erased. Empty if that cannot be chosen.
Node erase_switch(Application& application) {
  const Session& session = application.session;
  const auto& text = session.data().read;
  if (!text) return scene::column({});
  const bool only_adds =
      find_intervention(text->typed, targeted(text->typed, session.state().text.target, "only-add"));
  const Trace* const trace = session.sight().trace.get();
  if (!only_adds && !(trace && erases_by_strength(*trace))) return scene::column({});
  return scene::segments(
             {"erase, then write", "only add"}, only_adds ? 1 : 0,
             [&application, only_adds](std::size_t chosen) {
               if (only_adds != (chosen == 1))
                 perform(find_command(application, "text.only_add"), application);
             },
             "Whether a write first erases what the memory returns for its key")
      .named("erase");
}

Node colours(double scale) {
  const std::string end = scale == 1 ? "1" : answer_number(scale);
  return scene::row({scene::tag("−" + end), scene::colour_ramp(10).named("colours").fixed(ramp_width),
                     scene::tag("+" + end)},
                    Gap::small);
}

std::string about(const Computation& computed, const MemoryStory& story) {
  const Variant& variant = *computed.variant;
  if (story.no_memory.starts_with(variant.label)) return story.no_memory;
  if (!story.no_memory.empty()) return fmt::format("{}: {}", variant.label, story.no_memory);
  const std::vector<std::string> states = states_of(variant, computed.sequence.settings);
  const std::string size = fmt::format("{} × {} numbers", story.before.rows(), story.before.cols());
  const std::string memory = states.size() == 1 ? fmt::format("one matrix of {} as its memory", size)
                                                : fmt::format("{} as its memory; the pictures show {}, {}",
                                                              fmt::join(states, ", "), states.front(), size);
  return fmt::format("{} keeps {}. {}", variant.label, memory, variant.words);
}

Node story_node(Application& application, const MemoryStory& story) {
  const Computation& computed = *application.session.computed();
  const std::string token = quoted_word(computed, story.token);
  Nodes wishes;
  for (const TablesLook& look : tables_looks) {
    if (look.picture > 0 && !story.no_memory.empty()) continue;
    Nodes all;
    if (!story.keys.empty())
      all += scene::centred(tables(application, story, token, look).named("answers")).shrinking();
    Node foot = application.lesson.hides() ? scene::column({})
                : application.hides_answer()
                    ? with_command(application, "view.reveal", scene::pill("show the answer", true))
                    : erase_switch(application);
    all += scene::rest();  // the foot stays where it is, however long the headline
    Node others = scene::caption(application.hides_answer() ? "" : others_in_words(story));
    Node ramp = colours(answer_scale(story.table));
    if (look.is_stacked)
      all += scene::column({std::move(others), std::move(foot), std::move(ramp)}, Gap::near);
    else
      all += scene::row({std::move(others).filling(), std::move(foot), std::move(ramp).right().filling()});
    wishes += scene::column(std::move(all), look.is_small ? Gap::near : Gap::far);
  }
  return story_page(application, {.headline = application.telling() < 2.2 ? first_half(headline(story, token))
                                                                          : headline(story, token),
                                  .question = fmt::format("How does {} change what the memory says?", token),
                                  .about = about(computed, story),
                                  .content = scene::first_that_fits(std::move(wishes)),
                                  .hides_itself = true});
}

}  // namespace

Node story_page(Application& application, StoryPage page) {
  const bool is_hidden = application.hides_answer();
  if (is_hidden && !page.question.empty()) page.headline = {{page.question}};
  if (is_hidden && !page.hides_itself) {
    if (!application.guesses_on_plot()) page.content = hidden_answer(application);
    page.about.clear();
  }
  return scene::first_that_fits(2, [page = std::move(page)](std::size_t wish) {
    Nodes all = {sentence(page.headline).named("headline")};
    if (wish == 0) all += scene::paragraph(page.about).named("about");
    all += scene::space(Gap::near);
    all += Node(page.content).filling_between(wish == 0 ? page.least : 0, 0);
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
  std::vector<Index> rows = made_of(keys, &SharedKey::row);
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
  Known<MemoryStory> known = ask(session, StoryAtToken{computed, session.token(), std::move(words)});
  if (known.value) name_words(asked_tokens(known.value->table));
  return known;
}

Node story_buttons(Application& application) {
  const Session& session = application.session;
  const std::string word = quoted_word(*session.computed(), session.token());
  std::string place = fmt::format("token {} of {}", session.token() + 1, session.data().tokens);
  if (!place.starts_with(word)) place += " · " + word;
  const std::string play = application.playing ? "❚❚ pause" : "▶ read on";
  return scene::first_that_fits(3, [&application, place, play](std::size_t wish) {
    Nodes all = {
        with_command(application, "time.play",
                     scene::pill(wish < 2 ? play : play.substr(0, play.find(' ')), true).named("play")),
        with_command(application, "token.forward",
                     scene::pill(wish < 2 ? "→ next token" : "→").named("next"))};
    if (wish == 0) all += scene::tag(place);
    all += scene::rest();
    if (application.session.choice().is_changed() && !application.lesson.is_on())
      all += with_command(application, "change.reset", scene::word_button("changed: reset"));
    if (!application.lesson.is_on())
      all += with_command(application, "lesson.list", scene::word_button("lessons"));
    all += with_command(application, "text.type", scene::word_button("type a text"));
    if (!application.lesson.is_on() && application.workspace().in_bar)
      all += with_command(application, "workspace.write", scene::word_button("write a rule"));
    return scene::row(std::move(all), Gap::wide);
  });
}

Node word_links(const FirstLook& look, const std::function<void(const WordToSee&)>& press) {
  Nodes all;
  for (const WordToSee& word : look.words) {
    all += scene::row({Node{scene::Button{.words = fmt::format("{} “{}”", word.token + 1, word.label),
                                          .look = scene::Button::Look::link,
                                          .ink = style::colours().accent}}
                           .named(fmt::format("token {}", word.token))
                           .on([press, word] { press(word); }),
                       scene::tag(word.what)},
                      Gap::small);
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

Node story_line(Application& application) {
  const std::string& id = application.session.data().id;
  const FirstLook* look = first_look(id);
  if (!look || is_among(id, application.closed_stories)) return scene::column({});
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

void draw_step_story(Application& application) {
  Known<MemoryStory> known;
  scene::show_panel(
      "##story", true,
      [&]() -> Node {
        if (const std::string nothing = nothing_to_show(application, ""); !nothing.empty())
          return scene::paragraph(nothing);
        known = ask_story(application, application.session.computed());
        if (!known.value)
          return scene::paragraph(known.under_way ? std::string("Querying the memory …") : known.reason);
        return story_node(application, *known.value).named("story");
      },
      low_story);
}

}  // namespace palimpsest
