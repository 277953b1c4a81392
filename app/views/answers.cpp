#include "app/views/answers.h"

#include "app/views/floor.h"
#include "app/views/story_page.h"
#include "app/words/stories.h"

namespace palimpsest {

namespace {

constexpr float low_panel = 230;  // design pixels, as the next
constexpr float words_width = 330;
constexpr ImVec2 wide_cell = {36, 12};
constexpr ImVec2 narrow_cell = {15, 8};  // smaller tables cannot be read
constexpr ImVec2 small_cell = {15, 18};
constexpr float between_narrow = 26;
constexpr ImVec2 spread_cell = {44, 12};

constexpr const char* of_before = "From the previous place; this one is being computed.";

std::string how_to_read(const AnswersAtPlace& answers) {
  return how_to_read_words(answers.table, answer_scale(answers.table), !answers.output.words.empty());
}

/// One line above the tables; the full text is its tooltip.
Node line_of(const AnswersAtPlace& answers, bool is_old) {
  const scene::Ink ink = is_old ? scene::dim_ink : 0;
  const auto titled = [](Node sentence) {
    return scene::row(
        {scene::text("What the memory returns.", style::Text::strong, 0, Fit::whole), std::move(sentence)},
        Gap::small);
  };
  const Node small = scene::text(answers.sentence, style::Text::caption, ink, Fit::whole);
  return scene::first_that_fits({titled(scene::text(answers.sentence, style::Text::body, ink, Fit::whole)),
                                 titled(small), small,
                                 titled(scene::line(answers.sentence, style::Text::caption, ink))})
      .named("line")
      .told(fmt::format("{}{}{} {} {}", is_old ? of_before : "", is_old ? " " : "", answers.sentence,
                        answers.output_sentence, how_to_read(answers)));
}

Node words_of(const AnswersAtPlace& answers, bool is_old) {
  Nodes all = {scene::heading("What the memory returns"),
               scene::text(answers.sentence, style::Text::title).named("sentence")};
  if (is_old) all += scene::caption(of_before);
  if (!answers.output_sentence.empty()) all += scene::caption(answers.output_sentence);
  all += scene::caption(how_to_read(answers));
  return scene::column(std::move(all), Gap::near);
}

/// The tables before, change and after; if they do not fit, only the one after.
Node tables_of(const AnswersAtPlace& answers, ImVec2 least_cell, float between, bool is_alone,
               bool spread = false) {
  const AnswerTable& table = answers.table;
  const double scale = answer_scale(table);
  CellTables cells = answer_cells(table, scale);
  cells.least_cell = least_cell;
  cells.between = between;
  cells.spread = spread;
  if (is_alone) cells.most_cell.y = small_cell.y;
  const auto add = [&](const char* name, const std::string& title, const char* sign,
                       const Matrix<double>& values) {
    const std::string head = is_alone ? "What the memory returns, after" : title;
    cells.tables.push_back({.name = name,
                            .titles = {title_with_scale(head, scale), head, name},
                            .sign = sign,
                            .values = values,
                            .told = [&table, &values, title](Cell cell) {
                              return answer_words(table, title, values, cell.row, cell.column);
                            }});
  };
  if (!is_alone) {
    add("before", "before", "", table.before);
    add("change", answers.change, "+", table.change);
  }
  add("after", "after", "=", table.after);
  return Node{std::move(cells)};
}

/// The text beside the tables, else above them. If neither fits, the full sentence and one table, which
/// scroll.
Node answers_node(const AnswersAtPlace& answers, bool is_old) {
  if (answers.table.words.empty())
    return scene::first_that_fits({words_of(answers, is_old), line_of(answers, is_old)});
  const CellTables usual;
  return scene::first_that_fits(
      {scene::top_row({words_of(answers, is_old).fixed(words_width),
                       scene::centred(tables_of(answers, wide_cell, usual.between, false)).filling()},
                      Gap::wide),
       scene::column({line_of(answers, is_old), tables_of(answers, spread_cell, 0, false, true)}),
       scene::column({line_of(answers, is_old),
                      scene::centred(tables_of(answers, narrow_cell, between_narrow, false))}),
       scene::column({scene::text(answers.sentence, style::Text::caption, is_old ? scene::dim_ink : 0)
                          .named("sentence")
                          .told(how_to_read(answers)),
                      tables_of(answers, small_cell, 0, true)})});
}

}  // namespace

double answer_scale(const AnswerTable& table) {
  constexpr double most_beyond = 0.05;
  std::vector<double> sizes;
  for (const Matrix<double>* values : {&table.before, &table.change, &table.after})
    std::ranges::move(sizes_of(*values), std::back_inserter(sizes));
  std::erase_if(sizes, [](double size) { return !std::isfinite(size); });
  const auto beyond = std::ranges::count_if(sizes, [](double size) { return size > 1; });
  const auto all = static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
  if (static_cast<double>(beyond) <= most_beyond * all) return 1;
  return std::max(quantile(std::move(sizes), nearly_all), 1.0);
}

CellTables answer_cells(const AnswerTable& table, double scale) {
  const style::Palette& c = style::colours();
  CellTables cells{.scale = scale, .written = [](double value, Cell) -> std::vector<std::string> {
                     if (std::isfinite(value) && std::abs(value) < least_number) return {};
                     return {answer_number(value)};
                   }};
  for (std::size_t i = 0; i < table.words.size(); ++i) {
    const AskedWord& word = table.words[i];
    const std::string label = visible_label(word.text);
    cells.rows.push_back({.words = asked_part(label),
                          .number = row_number(word),
                          .number_ink = word.by_query ? c.query : c.dim,
                          .ink = word.is_present ? c.text : c.key,
                          .tip = row_words(table, static_cast<Index>(i))});
    cells.columns.push_back({.words = answered_part(label),
                             .number = column_number(word, false),
                             .brief_number = column_number(word, true),
                             .number_ink = c.dim,
                             .ink = c.value});
  }
  if (const auto changed = noticeably_changed(table)) cells.rings.push_back({*changed, c.dim, style::line});
  if (table.present) cells.rings.push_back({*table.present, c.text, style::lit_line});
  return cells;
}

std::vector<Index> asked_tokens(const AnswerTable& table) {
  std::vector<Index> tokens = made_of(table.words, &AskedWord::token);
  std::ranges::sort(tokens);
  return tokens;
}

AskedChoice asked_choice(const Session& session) {
  const std::vector<Index>& own = session.state().words;
  if (!own.empty()) return {{.pinned = own}, AskedBy::person};
  const FirstLook* look = first_look(session.data().id);
  if (!look) return {};
  const Index token = session.token();
  const auto asking = std::ranges::find_if(
      look->words, [&](const WordToSee& word) { return word.token == token && !word.stored.empty(); });
  if (asking == look->words.end() || token >= session.data().tokens) return {};
  AskedChoice choice = {{.pinned = asking->stored, .query = token}, AskedBy::guide};
  choice.words.pinned.push_back(token);
  return choice;
}

bool has_answers(const Application& application) {
  const Sight& sight = application.session.sight();
  if (!sight.computation || !sight.trace || sight.trace->form != Form::recurrent) return false;
  const MemoryAccess& memory = sight.computation->variant->memory;
  return memory.none.empty() || memory.answers;  // softmax shares no state, but its cache answers
}

Known<AnswersAtPlace> ask_answers(Application& application) {
  Session& session = application.session;
  const Sight& sight = session.sight();
  return ask(session, MemoryAnswers{.of = sight.computation,
                                    .form = sight.trace->form,
                                    .cursor = sight.cursor,
                                    .words = asked_choice(session).words});
}

void draw_answers(Application& application) {
  Known<AnswersAtPlace> answer;
  scene::show_panel(
      "##answers", true,
      [&]() -> Node {
        if (!has_answers(application)) return scene::column({});
        answer = ask_answers(application);
        if (answer.value) {
          name_words(asked_tokens(answer.value->table));
          return answers_node(*answer.value, answer.stale).named("answers");
        }
        if (answer.under_way) return scene::caption("Querying the memory …");
        return scene::column({scene::caption("What the memory returns"), scene::paragraph(answer.reason)});
      },
      low_panel);
}

}  // namespace palimpsest
