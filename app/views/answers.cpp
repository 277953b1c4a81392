#include "app/views/answers.h"

#include "app/views/story.h"
#include "app/views/underlined_words.h"
#include "app/words/stories.h"

namespace palimpsest {

namespace {

constexpr double least_number = 0.1;  // smaller ones are colour alone

/// The other row that changes most, where one can see that.
std::optional<Index> noticeably_changed(const AnswerTable& table) {
  const auto& row = table.most_changed;
  const bool is_seen = row && !(table.change.row(*row).cwiseAbs().maxCoeff() < least_number);
  return is_seen ? row : std::nullopt;
}

/// Whether a row stands for several words of the text.
bool comes_again(const AskedWord& word) { return word.occurrences.size() > 1; }

/// What the thick frame is around: the word at the cursor, or the row of a text that comes again.
std::string_view thick_frame_words(const AnswerTable& table) {
  const bool again = table.present && comes_again(table.words[static_cast<std::size_t>(*table.present)]);
  return again ? "the text at the cursor" : "the word at the cursor";
}

/// What stands beside the word that a row asks with: its number, where the text has several such, "7"; of one
/// that asks with its query, "q of".
std::string number_of(const AskedWord& word) {
  if (word.by_query) return "q of";
  return comes_again(word) || word.is_again ? std::to_string(word.token) : "";
}

/// The same above a column, which adds up the values of all: "7…43"; in less room "7…".
std::string numbers_of(const AskedWord& word, bool briefly) {
  if (!comes_again(word)) return word.is_again ? std::to_string(word.token) : "";
  const Index first = word.occurrences.front();
  return briefly ? fmt::format("{}…", first) : fmt::format("{}…{}", first, word.occurrences.back());
}

/// What the frame of a row says; empty: it has none.
std::string mark_words(const AnswerTable& table, Index row) {
  if (row == table.present) return fmt::format(" Thick frame: {}.", thick_frame_words(table));
  if (row == noticeably_changed(table)) return " Thin frame: the other word whose answer changes most.";
  return {};
}

/// What the name of a row stands for.
std::string row_words(const AnswerTable& table, Index row) {
  const AskedWord& word = table.words[static_cast<std::size_t>(row)];
  const char* const asked =
      word.by_query
          ? "with the query of this word, as its output is: this word reads. The other rows ask with keys."
          : "with the key stored here, which carries the words before it.";
  std::string words =
      fmt::format("“{}” (word {}): the memory is asked {}", visible_label(word.phrase), word.token, asked);
  if (comes_again(word))
    words += fmt::format(
        " “{}” is written strongly {} times so far: this row alone asks for it, with this one key; its "
        "column adds up the values of all of them.",
        visible_label(word.text), word.occurrences.size());
  return words + mark_words(table, row);
}

constexpr float low_panel = 230;  // design pixels, as the next
constexpr float words_width = 330;
constexpr ImVec2 wide_cell = {36, 12};
constexpr ImVec2 narrow_cell = {15, 8};  // smaller tables cannot be read
constexpr ImVec2 small_cell = {15, 18};
constexpr float between_narrow = 26;

constexpr const char* of_before = "Of the place before; this one is being computed.";

std::string how_to_read(const AnswerTable& table, const OutputAnswer& output) {
  const bool again =
      std::ranges::any_of(table.words, [](const AskedWord& word) { return word.occurrences.size() > 1; });
  const bool reads = std::ranges::any_of(table.words, &AskedWord::by_query);
  return fmt::format(
      "Row: the word whose key asks{}; the key carries the words before it.{} Column: how much of {} is in "
      "the answer. Thick frame: {}; thin: the other that changes most. {}{}",
      reads ? ", or at “q of” its query" : "",
      again ? " A word that comes again asks as at the number beside it." : "",
      again ? "all its values" : "that word's value", thick_frame_words(table),
      scale_words(answer_scale(table)), output.words.empty() ? "" : " Who was read, Attend shows.");
}

/// All that is said, where only a part of it has room.
std::string all_words(const AnswersAtPlace& answers, bool is_old) {
  return fmt::format("{}{} {} {}", is_old ? std::string(of_before) + " " : std::string(), answers.sentence,
                     answers.output_sentence, how_to_read(answers.table, answers.output));
}

/// In one line above the tables; the rest in its tooltip.
Node line_of(const AnswersAtPlace& answers, bool is_old) {
  const scene::Ink ink = is_old ? scene::dim_ink : 0;
  return scene::row(
             {scene::text("What the memory answers.", style::Text::strong, 0, Fit::whole),
              scene::first_that_fits({scene::text(answers.sentence, style::Text::body, ink, Fit::whole),
                                      scene::line(answers.sentence, style::Text::caption, ink)})},
             Gap::small)
      .named("line")
      .told(all_words(answers, is_old));
}

/// The question, the answer in a sentence, and how to read the tables.
Node words_of(const AnswersAtPlace& answers, bool is_old) {
  Nodes all = {scene::heading("What the memory answers"),
               scene::text(answers.sentence, style::Text::title).named("sentence")};
  if (is_old) all.push_back(scene::caption(of_before));
  if (!answers.output_sentence.empty()) all.push_back(scene::caption(answers.output_sentence));
  all.push_back(scene::caption(how_to_read(answers.table, answers.output)));
  return scene::column(std::move(all), Gap::near);
}

/// Before, the change and after; where there is no room for all, what is answered after.
Node tables_of(const AnswersAtPlace& answers, ImVec2 least_cell, float between, bool is_alone) {
  const AnswerTable& table = answers.table;
  const double scale = answer_scale(table);
  CellTables cells = answer_cells(table, scale);
  cells.least_cell = least_cell;
  cells.between = between;
  if (is_alone) cells.most_cell.y = small_cell.y;
  const auto add = [&](const char* name, const std::string& title, const char* sign,
                       const Matrix<double>& values) {
    const std::string head = is_alone ? "What the memory answers, after" : title;
    cells.tables.push_back(
        {.name = name,
         .titles = {title_with_scale(head, scale), head},
         .sign = sign,
         .values = values,
         .told = [&table, &values, title](Cell cell) { return answer_words(table, title, values, cell); }});
  };
  if (!is_alone) {
    add("before", "before", "", table.before);
    add("change", answers.change, "+", table.change);
  }
  add("after", "after", "=", table.after);
  return Node{std::move(cells)};
}

/// The words beside the tables, else above them. In a small panel, or a much enlarged one, the sentence in
/// full and one table, to be scrolled.
Node answers_node(const AnswersAtPlace& answers, bool is_old) {
  if (answers.table.words.empty())
    return scene::first_that_fits({words_of(answers, is_old), line_of(answers, is_old)});
  const CellTables usual;
  return scene::first_that_fits(
      {scene::top_row({words_of(answers, is_old).fixed(words_width),
                       scene::centred(tables_of(answers, wide_cell, usual.between, false)).filling()},
                      Gap::wide),
       scene::column({line_of(answers, is_old),
                      scene::centred(tables_of(answers, narrow_cell, between_narrow, false))}),
       scene::column({scene::text(answers.sentence, style::Text::caption, is_old ? scene::dim_ink : 0)
                          .named("sentence")
                          .told(how_to_read(answers.table, answers.output)),
                      tables_of(answers, small_cell, 0, true)})});
}

}  // namespace

double answer_scale(const AnswerTable& table) {
  constexpr double most_beyond = 0.05;
  std::vector<double> sizes;
  for (const Matrix<double>* values : {&table.before, &table.change, &table.after}) {
    for (Index i = 0; i < values->size(); ++i) {
      if (std::isfinite(values->data()[i])) sizes.push_back(std::abs(values->data()[i]));
    }
  }
  const auto beyond = std::ranges::count_if(sizes, [](double size) { return size > 1; });
  const auto all = static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
  if (static_cast<double>(beyond) <= most_beyond * all) return 1;
  return std::max(quantile(std::move(sizes), nearly_all), 1.0);
}

std::string title_with_scale(std::string_view title, double scale) {
  return scale == 1 ? std::string(title) : fmt::format("{}, to ±{}", title, answer_number(scale));
}

std::string scale_words(double scale) {
  if (scale == 1) return "Colours from −1 to 1.";
  const std::string end = answer_number(scale);
  return fmt::format(
      "Colours from −{} to {}: a short key among long ones is answered with more than its own value.", end,
      end);
}

std::string answer_number(double value) {
  if (!std::isfinite(value)) return "none";
  const double size = std::abs(value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return size < 9999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.0e}", value);
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
                          .number = number_of(word),
                          .number_ink = word.by_query ? c.query : c.dim,
                          .ink = word.is_present ? c.text : c.key,
                          .tip = row_words(table, static_cast<Index>(i))});
    cells.columns.push_back({.words = answered_part(label),
                             .number = numbers_of(word, false),
                             .brief_number = numbers_of(word, true),
                             .number_ink = c.dim,
                             .ink = c.value});
  }
  if (const auto changed = noticeably_changed(table)) cells.rings.push_back({*changed, c.dim, style::line});
  if (table.present) cells.rings.push_back({*table.present, c.text, style::lit_line});
  return cells;
}

std::string answer_words(const AnswerTable& table, std::string_view title, const Matrix<double>& values,
                         Cell cell) {
  const AskedWord& asked = table.words[static_cast<std::size_t>(cell.row)];
  const AskedWord& found = table.words[static_cast<std::size_t>(cell.column)];
  return fmt::format(
      "{}: asked {} “{}” (word {}), the answer has {} of the value of “{}”, fitted together with "
      "the others. After this step they explain {:.0f} % of that answer's direction.{}",
      title, asked.by_query ? "with the query of" : "as at", visible_label(asked.phrase), asked.token,
      fixed_number(values(cell.row, cell.column), 4), visible_label(found.text),
      100 * std::max(table.explained_after(cell.row), 0.0), mark_words(table, cell.row));
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
  return session.questions().ask(MemoryAnswers{.of = sight.computation,
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
          std::vector<Index> asked;
          for (const AskedWord& word : answer.value->table.words) asked.push_back(word.token);
          std::ranges::sort(asked);
          name_words(std::move(asked));
          return answers_node(*answer.value, answer.stale).named("answers");
        }
        if (answer.under_way) return scene::caption("Asking the memory …");
        return scene::column({scene::caption("What the memory answers"), scene::paragraph(answer.reason)});
      },
      low_panel);
}

}  // namespace palimpsest
