#include "app/scene/spotlight.h"
#include "app/views/found_list.h"

namespace palimpsest {

namespace {

constexpr float stroke_height = 3;  // design pixels, as all that follow
constexpr float question_from = 236;
constexpr float question_from_in_high = 300;
constexpr float high_window = 1000;

Node ringed(int number) {
  const ImU32 ink = style::colours().text;
  return Node{scene::Frame{.node = {scene::tag(std::to_string(number), ink)},
                           .across = Gap::small,
                           .down = Gap::none,
                           .outline = ink,
                           .is_round = true}};
}

/// Nothing, as high as a line: what is lower beside it is in the line's middle.
Node line_of_text() {
  return Node{scene::Text{.fit = Fit::whole, .height = style::font_size(style::Text::body) * 1.25F}};
}

Node paragraph(const LessonText& text, const Facts* facts, scene::Ink ink) {
  scene::FlowingWords words;
  using Kind = LessonSpan::Kind;
  for (const LessonSpan& span : text) {
    if (span.kind == Kind::formula)
      words.add(scene::row({line_of_text(), scene::formula(span.text, style::formula_label, 0)}, Gap::none));
    else if (span.kind == Kind::spot)
      words.add(ringed(span.spot));
    else
      words.add(span.kind == Kind::number ? written_number(span, facts) : span.text,
                span.kind == Kind::words  ? style::Text::body
                : span.kind == Kind::code ? style::Text::number
                                          : style::Text::strong,
                span.kind == Kind::words ? ink : 0);
  }
  return std::move(words).flow(Gap::small);
}

Node paragraphs(const std::vector<LessonText>& texts, const Facts* facts, scene::Ink ink) {
  Nodes all;
  for (const LessonText& text : texts) all += paragraph(text, facts, ink);
  return scene::column(std::move(all), Gap::near);
}

Node progress(const LessonWalk& walk) {
  Nodes strokes;
  for (std::size_t i = 0; i < walk.lesson().steps.size(); ++i)
    strokes += Node{scene::Bar{.value = 1,
                               .ink = i <= walk.index() ? style::colours().text : style::colours().edge,
                               .height = stroke_height,
                               .shows_zero = false}}
                   .filling();
  return scene::row(std::move(strokes), Gap::small);
}

/// One of the choices. After looking, the true one has a tick; the others are faint but for the chosen one.
Node choice(Application& application, std::size_t index, const Facts* facts,
            std::optional<std::size_t> truth) {
  const LessonQuestion& question = *application.lesson.step().question;
  const Guess& guess = application.lesson.guess();
  const style::Palette& c = style::colours();
  const bool is_chosen = guess.choice == index;
  const bool is_true = guess.looked && truth == index;
  const scene::Ink ink = guess.looked && !is_true && !is_chosen ? scene::faint_ink : 0;
  Nodes line = {scene::tag(std::string(1, static_cast<char>('A' + index)), scene::dim_ink),
                paragraph(question.choices[index].words, facts, ink).filling()};
  if (is_true) line += scene::tag("✓", c.good);
  Node framed = scene::framed(scene::row(std::move(line), Gap::near), Gap::near, Gap::near,
                              is_true     ? c.good
                              : is_chosen ? c.text
                                          : scene::edge_ink);
  framed = std::move(framed).named(std::string(1, static_cast<char>('A' + index)));
  if (!guess.looked)
    framed = std::move(framed).on([&application, index] { application.lesson.guess().choice = index; });
  return framed;
}

Node choices(Application& application, const Facts* facts) {
  const LessonQuestion& question = *application.lesson.step().question;
  std::optional<std::size_t> truth;
  if (facts) truth = true_choice(question, facts->views);
  Nodes all;
  if (!question.words.empty()) all += scene::text(question.words);
  for (std::size_t i = 0; i < question.choices.size(); ++i) all += choice(application, i, facts, truth);
  return scene::column(std::move(all), Gap::small);
}

/// "0.14 too low", "close": within a tenth of the range.
std::string number_verdict(const LessonQuestion& question, double guessed, double truth) {
  constexpr double close = 0.1;
  const double off = guessed - truth;
  if (plain_number(truth) == plain_number(guessed))
    return fmt::format("It is {}, as you said.", plain_number(truth));
  if (std::abs(off) <= close * (question.most - question.least))
    return fmt::format("It is {}. You said {}: close.", plain_number(truth), plain_number(guessed));
  return fmt::format("It is {}. You said {}: {} too {}.", plain_number(truth), plain_number(guessed),
                     plain_number(std::abs(off)), off > 0 ? "high" : "low");
}

Node number_question(Application& application, const Facts* facts) {
  const LessonQuestion& question = *application.lesson.step().question;
  Guess& guess = application.lesson.guess();
  const style::SliderLook look = {
      .minimum = question.least, .maximum = question.most, .reset = (question.least + question.most) / 2};
  Nodes all = {scene::text(question.words, style::Text::body, 0)};
  Node slider = {scene::Slider{.symbol = {},
                               .words = "your guess",
                               .value = guess.number.value_or((question.least + question.most) / 2),
                               .look = look,
                               .set = [&guess](double value) { guess.number = value; }}};
  all += std::move(slider).named("guess").enabled_if(!guess.looked);
  if (guess.looked && facts)
    all +=
        scene::text(number_verdict(question, *guess.number, question.truth->expression.number(facts->views)),
                    style::Text::strong)
            .named("verdict");
  return scene::column(std::move(all), Gap::near);
}

Node mark_question(Application& application, const Facts* facts) {
  const LessonQuestion& question = *application.lesson.step().question;
  const Guess& guess = application.lesson.guess();
  const style::Palette& c = style::colours();
  Nodes all = {scene::text(question.words, style::Text::body, 0),
               scene::caption("Click the cells, or move with the arrow keys and mark with Space.")};
  if (!guess.looked || !facts) {
    all += scene::text(fmt::format("{} marked", guess.cells.size()), style::Text::strong).named("marked");
    return scene::column(std::move(all), Gap::near);
  }
  const auto right = true_cells(question, facts->views);
  const auto hits =
      std::ranges::count_if(guess.cells, [&](const auto& cell) { return right.contains(cell); });
  const auto row = [&](const char* words, std::ptrdiff_t count, scene::Ink ink) {
    all += scene::row(
               {scene::text(std::to_string(count), style::Text::strong, ink).fixed(24), scene::tag(words)},
               Gap::small)
               .named(words);
  };
  row("marked, and right", hits, c.good);
  row("marked, but wrong", std::ssize(guess.cells) - hits, c.alarm);
  row("missed (dashed)", std::ssize(right) - hits, 0);
  return scene::column(std::move(all), Gap::near);
}

/// What is asked. Why it cannot be answered, if the lesson's expressions do not fit the data.
Node asked(Application& application, const Facts* facts) try {
  switch (application.lesson.step().question->kind) {
    case LessonQuestion::Kind::choose:
      return choices(application, facts);
    case LessonQuestion::Kind::number:
      return number_question(application, facts);
    case LessonQuestion::Kind::mark:
      return mark_question(application, facts);
  }
  return {};
} catch (const InputError& error) {
  return scene::text(error.what(), style::Text::caption, style::colours().alarm);
}

Node question(Application& application, const Facts* facts) {
  const LessonStep& step = application.lesson.step();
  if (!step.question) return paragraphs(step.after, facts, 0);
  Nodes all = {asked(application, facts)};
  const Guess& guess = application.lesson.guess();
  if (guess.looked) {
    all += paragraphs(step.after, facts, 0).named("after");
  } else {
    all += with_command(application, "lesson.on", scene::pill("Look ⏎", guess.is_made()))
               .named("look")
               .enabled_if(guess.is_made());
    if (!guess.is_made())
      all += scene::caption(step.question->kind != LessonQuestion::Kind::number ? "First predict, then look."
                            : step.question->plot.empty() ? "First set the slider, or press ← and →."
                                                          : "First drag the ring, or press ← and →.");
  }
  return scene::column(std::move(all), Gap::near).named("question");
}

Node foot(Application& application) {
  const LessonWalk& walk = application.lesson;
  Nodes all = {with_command(application, "lesson.back", scene::pill("← back")).named("back"),
               with_command(application, "lesson.leave", scene::word_button("Esc leave")).named("leave"),
               scene::rest()};
  if (!walk.hides())
    all += with_command(application, "lesson.on", scene::pill(walk.is_last() ? "finish" : "next →", true))
               .named("next");
  return scene::row(std::move(all), Gap::near);
}

std::string id_of(const ListedLesson& lesson) { return lesson.file.stem().string(); }

/// "8" of 08-erase-then-write.md.
std::string number_of(const ListedLesson& lesson) {
  const std::string name = id_of(lesson);
  const std::size_t first = name.find_first_not_of('0');
  return name.substr(first, name.find('-') - first);
}

std::size_t seen_of(const Application& application, const ListedLesson& lesson) {
  const std::string* const kept = value_at(application.lesson_progress, kept_name(lesson.file));
  return kept ? steps_seen(*kept) : 0;
}

/// "3 of 5 steps", "done".
std::string seen_words(const Application& application, const ListedLesson& lesson) {
  const std::size_t seen = seen_of(application, lesson);
  if (seen == 0) return {};
  return seen >= lesson.steps ? "done" : fmt::format("{} of {} steps", seen, lesson.steps);
}

bool covers_panels(const Application& application) {
  return std::ranges::any_of(application.panels_of_level(), &Panel::is_under_lesson);
}

/// Which of the page's parts are there, the fullest first.
struct PageParts {
  bool steady = true;  // the question is at the same height in every step
  bool peek = true;    // the link to what is covered
};
constexpr PageParts page_parts[] = {{}, {.peek = false}, {.steady = false}, {.steady = false, .peek = false}};

Node page(Application& application, const Known<Facts>& known, const PageParts& parts) {
  const LessonWalk& walk = application.lesson;
  const LessonStep& step = walk.step();
  const Facts* const facts = known.value.get();
  Node head = scene::column(
      {scene::row({scene::note(walk.lesson().title).filling(),
                   scene::tag(fmt::format("{} / {}", walk.index() + 1, walk.lesson().steps.size()))}),
       progress(walk), scene::space(Gap::near), scene::text(step.title, style::Text::headline).named("title"),
       paragraphs(step.text, facts, scene::dim_ink).named("text")},
      Gap::near);
  const float from = scene::window_height() >= high_window ? question_from_in_high : question_from;
  if (parts.steady && step.question) head = std::move(head).fixed(from);
  Nodes all = {std::move(head)};
  if (!known.reason.empty()) all += scene::text(known.reason, style::Text::caption, style::colours().alarm);
  all += question(application, facts);
  all += scene::rest();
  if (application.has_left_place_of_lesson())
    all += scene::link("Back to this step's place")
               .named("return")
               .told("You went elsewhere.")
               .on([&application] { application.show_step_of_lesson(); });
  else if (parts.peek && !walk.hides() && covers_panels(application))
    all += with_command(application, "lesson.peek", scene::link("Show what this covers")).named("peek");
  all += foot(application);
  return scene::column(std::move(all), Gap::near);
}

/// The marks on the table that is asked about; nothing if the lesson's expressions do not fit the data.
void draw_marks(Application& application, const Json& views) try {
  const LessonQuestion& question = *application.lesson.step().question;
  Guess& guess = application.lesson.guess();
  const auto [rows, columns] = table_size(question, views);
  scene::MarkedCells cells{.table = question.cells, .rows = rows, .columns = columns, .marked = guess.cells};
  if (guess.looked)
    cells.right = true_cells(question, views);
  else
    cells.cursor = guess.at;
  const auto pressed = scene::draw_marks(cells);
  if (pressed && !guess.looked) guess.mark(*pressed);
} catch (const InputError&) {
  return;  // the panel says why
}

}  // namespace

void draw_lesson(Application& application) {
  Known<Facts> known;
  scene::show_panel("##lesson", true, [&]() -> Node {
    if (!application.lesson.is_on()) return scene::column({});
    known = application.lesson_facts();
    return scene::first_that_fits(
               std::size(page_parts),
               [&](std::size_t wish) { return page(application, known, page_parts[wish]); })
        .named("lesson");
  });
}

void draw_lesson_spots(Application& application) {
  if (!application.lesson.is_on()) return;
  const LessonStep& step = application.lesson.step();
  if (application.spotlight && !application.peeks) {
    scene::Spotlight light{.spots = made_of(step.spots, &LessonSetting::value),
                           .dims = !application.on_paper && !application.lesson.is_last(),
                           .kept = {application.workspace().id + std::string("/lesson")}};
    if (step.question) light.kept.push_back(step.question->cells);
    if (scene::draw_spotlight(light)) application.spotlight = false;
  }
  if (!step.question || step.question->kind != LessonQuestion::Kind::mark) return;
  if (const Known<Facts> facts = application.lesson_facts(); facts.value)
    draw_marks(application, facts.value->views);
}

Node lessons_card(Application& application, bool is_new) {
  auto& list = context_local<FoundList, struct Lessons>();
  if (is_new) {
    list = {};
    const auto unfinished = [&](const ListedLesson& each) { return seen_of(application, each) < each.steps; };
    if (const auto next = std::ranges::find_if(shipped_lessons(), unfinished);
        next != shipped_lessons().end())
      list.go_to(id_of(*next));
  }
  const std::vector<std::string> wanted = typed_words(list.filter.typed);
  std::vector<std::string> ids;
  for (const ListedLesson& each : shipped_lessons()) {
    if (has_words(number_of(each) + ' ' + each.title, wanted)) ids.push_back(id_of(each));
  }
  list.follow(ids, false);
  const auto open = [&application](const std::string& id) {
    scene::close();
    application.open_lesson(row_called(shipped_lessons(), id, id_of)->file);
  };
  Nodes rows;
  for (const std::string& id : ids) {
    const ListedLesson& each = *row_called(shipped_lessons(), id, id_of);
    Node row = scene::row({scene::tag(number_of(each)).fixed(24), scene::line(each.title).filling(),
                           scene::tag(seen_words(application, each)),
                           scene::tag(fmt::format("{} min", each.minutes)).fixed(56)});
    rows += list.row(id, std::move(row), [open, id] { open(id); });
  }
  if (ids.empty()) rows += scene::caption("No results.");
  return scene::column({scene::line("Lessons", style::Text::title), list.field("Find a lesson", open, true),
                        scene::scroll("lessons", scene::column(std::move(rows), Gap::none))},
                       Gap::near)
      .named("lessons");
}

}  // namespace palimpsest
