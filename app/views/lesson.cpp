#include "app/scene/spotlight.h"
#include "app/views/view.h"

namespace palimpsest {

namespace {

constexpr float stroke_height = 3;  // design pixels, as all that follow
constexpr float question_from = 236;
constexpr float question_from_in_high = 300;
constexpr float high_window = 1000;
constexpr float choice_height = 44;

/// A paragraph that wraps between words; what has no space between stays together.
Node paragraph(const LessonText& text, const Facts* facts, scene::Ink ink) {
  Nodes words;
  bool is_open = false;  // the last word goes on
  const auto add = [&](Node node) {
    if (std::exchange(is_open, true))
      words.back() = scene::row({std::move(words.back()), std::move(node)}, Gap::none);
    else
      words.push_back(std::move(node));
  };
  const auto add_words = [&](std::string_view left, style::Text letters, scene::Ink colour) {
    while (!left.empty()) {
      const std::size_t end = std::min(left.find(' '), left.size());
      if (end > 0) add(scene::text(std::string(left.substr(0, end)), letters, colour, Fit::whole));
      if (end < left.size()) is_open = false;
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  };
  for (const LessonSpan& span : text) {
    switch (span.kind) {
      case LessonSpan::Kind::words:
        add_words(span.text, style::Text::body, ink);
        break;
      case LessonSpan::Kind::strong:
        add_words(span.text, style::Text::strong, 0);
        break;
      case LessonSpan::Kind::code:
        add_words(span.text, style::Text::number, 0);
        break;
      case LessonSpan::Kind::formula:
        add(scene::formula(span.text, style::formula_label, 0));
        break;
      case LessonSpan::Kind::spot: {
        Node ring = scene::framed(scene::tag(std::to_string(span.spot), style::colours().text), Gap::small,
                                  Gap::none, style::colours().text);
        std::get<scene::Frame>(ring.content).is_round = true;
        add(std::move(ring));
        break;
      }
      case LessonSpan::Kind::number:
        add_words(written_number(span, facts), style::Text::strong, 0);
        break;
    }
  }
  return scene::flow(std::move(words), Gap::small);
}

Node paragraphs(const std::vector<LessonText>& texts, const Facts* facts, scene::Ink ink) {
  Nodes all;
  for (const LessonText& text : texts) all.push_back(paragraph(text, facts, ink));
  return scene::column(std::move(all), Gap::near);
}

/// A stroke for every step, bright up to the present one.
Node progress(const LessonWalk& walk) {
  Nodes strokes;
  for (std::size_t i = 0; i < walk.lesson().steps.size(); ++i)
    strokes.push_back(
        Node{scene::Bar{.value = 1,
                        .ink = i <= walk.index() ? style::colours().text : style::colours().edge,
                        .height = stroke_height,
                        .shows_zero = false}}
            .filling());
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
  if (is_true) line.push_back(scene::tag("✓", c.good));
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
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    all.push_back(choice(application, i, facts, truth));
  return scene::column(std::move(all), Gap::small);
}

/// "0.14 too low", "close": within a tenth of the range.
std::string number_verdict(const LessonQuestion& question, double guessed, double truth) {
  constexpr double close = 0.1;
  const double off = guessed - truth;
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
  all.push_back(std::move(slider).named("guess").enabled_if(!guess.looked));
  if (guess.looked && facts)
    all.push_back(
        scene::text(number_verdict(question, *guess.number, question.truth->expression.number(facts->views)),
                    style::Text::strong)
            .named("verdict"));
  return scene::column(std::move(all), Gap::near);
}

/// How many cells are marked; after looking, which marks were right.
Node mark_question(Application& application, const Facts* facts) {
  const LessonQuestion& question = *application.lesson.step().question;
  const Guess& guess = application.lesson.guess();
  const style::Palette& c = style::colours();
  Nodes all = {scene::text(question.words, style::Text::body, 0),
               scene::caption("Click the cells, or move with the arrow keys and mark with Space.")};
  if (!guess.looked || !facts) {
    all.push_back(
        scene::text(fmt::format("{} marked", guess.cells.size()), style::Text::strong).named("marked"));
    return scene::column(std::move(all), Gap::near);
  }
  const auto right = true_cells(question, facts->views);
  const auto hits =
      std::ranges::count_if(guess.cells, [&](const auto& cell) { return right.contains(cell); });
  const auto row = [&](const char* words, std::ptrdiff_t count, scene::Ink ink) {
    all.push_back(scene::row({scene::text(std::to_string(count), style::Text::strong, ink).fixed(24),
                              scene::tag(words)},
                             Gap::small)
                      .named(words));
  };
  row("marked, and right", hits, c.good);
  row("marked, but wrong", std::ssize(guess.cells) - hits, c.alarm);
  row("missed (dashed)", std::ssize(right) - hits, 0);
  return scene::column(std::move(all), Gap::near);
}

/// The question, and the button that shows the result.
Node question(Application& application, const Facts* facts) {
  const LessonStep& step = application.lesson.step();
  if (!step.question) return paragraphs(step.after, facts, 0);
  Nodes all;
  if (step.question->kind == LessonQuestion::Kind::choose) all.push_back(choices(application, facts));
  if (step.question->kind == LessonQuestion::Kind::number) all.push_back(number_question(application, facts));
  if (step.question->kind == LessonQuestion::Kind::mark) all.push_back(mark_question(application, facts));
  const Guess& guess = application.lesson.guess();
  if (guess.looked) {
    all.push_back(paragraphs(step.after, facts, 0).named("after"));
  } else {
    const bool is_number = step.question->kind == LessonQuestion::Kind::number;
    all.push_back(with_command(application, "lesson.on", scene::pill("Look ⏎", guess.is_made()))
                      .named("look")
                      .enabled_if(guess.is_made()));
    if (!guess.is_made())
      all.push_back(scene::caption(is_number ? "First set the slider, or press ← and →."
                                             : "First predict, then look."));
  }
  return scene::column(std::move(all), Gap::near).named("question");
}

Node foot(Application& application) {
  const LessonWalk& walk = application.lesson;
  const bool is_last = walk.index() + 1 == walk.lesson().steps.size();
  Nodes all = {with_command(application, "lesson.back", scene::pill("← back")).named("back"),
               with_command(application, "lesson.leave", scene::word_button("Esc leave")).named("leave"),
               scene::rest()};
  if (!walk.hides())
    all.push_back(with_command(application, "lesson.on", scene::pill(is_last ? "finish" : "next →", true))
                      .named("next"));
  return scene::row(std::move(all), Gap::near);
}

/// "8" of 08-erase-then-write.md.
std::string number_of(const ListedLesson& lesson) {
  const std::string name = lesson.file.stem().string();
  const std::size_t first = name.find_first_not_of('0');
  return name.substr(first, name.find('-') - first);
}

/// "3 of 5 steps", "done".
std::string seen_words(const Application& application, const ListedLesson& lesson) {
  const auto kept = application.lesson_progress.find(lesson.file.stem().string());
  const std::size_t seen = kept == application.lesson_progress.end() ? 0 : steps_seen(kept->second);
  if (seen == 0) return {};
  return seen >= lesson.steps ? "done" : fmt::format("{} of {} steps", seen, lesson.steps);
}

}  // namespace

void draw_lesson(Application& application) {
  Known<Facts> known;
  scene::show_panel("##lesson", true, [&]() -> Node {
    LessonWalk& walk = application.lesson;
    if (!walk.is_on()) return scene::column({});
    known = application.lesson_facts();
    const Facts* const facts = known.stale ? nullptr : known.value.get();
    const LessonStep& step = walk.step();
    Nodes head = {
        scene::row({scene::note(walk.lesson().title).filling(),
                    scene::tag(fmt::format("{} / {}", walk.index() + 1, walk.lesson().steps.size()))}),
        progress(walk), scene::space(Gap::near),
        scene::text(step.title, style::Text::headline).named("title"),
        paragraphs(step.text, facts, scene::dim_ink).named("text")};
    const float from = scene::window_height() >= high_window ? question_from_in_high : question_from;
    Nodes all = {scene::column(std::move(head), Gap::near).fixed(step.question ? from : 0)};
    if (!known.reason.empty())
      all.push_back(scene::text(known.reason, style::Text::caption, style::colours().alarm));
    all.push_back(question(application, facts));
    all.push_back(scene::rest());
    if (application.has_left_place_of_lesson())
      all.push_back(scene::link("Back to this step's place")
                        .named("return")
                        .told("You went elsewhere.")
                        .on([&application] { application.show_step_of_lesson(); }));
    all.push_back(foot(application));
    return scene::column(std::move(all), Gap::near).named("lesson");
  });
}

void draw_lesson_spots(Application& application) {
  if (!application.lesson.is_on()) return;
  const LessonStep& step = application.lesson.step();
  if (application.spotlight) {
    scene::Spotlight light{.dims = !application.on_paper,
                           .kept = {application.workspace().id + std::string("/lesson")}};
    for (const LessonSetting& path : step.spots) light.spots.push_back(path.value);
    if (scene::draw_spotlight(light)) application.spotlight = false;
  }
  if (!step.question || step.question->kind != LessonQuestion::Kind::mark) return;
  const Known<Facts> known = application.lesson_facts();
  if (!known.value || known.stale) return;
  const auto [rows, columns] = table_size(*step.question, known.value->views);
  Guess& guess = application.lesson.guess();
  scene::MarkedCells cells{.table = step.question->cells,
                           .rows = rows,
                           .columns = columns,
                           .marked = guess.cells,
                           .cursor = guess.at};
  if (guess.looked) cells.right = true_cells(*step.question, known.value->views);
  const auto pressed = scene::draw_marks(cells);
  if (pressed && !guess.looked) guess.mark(*pressed);
}

void draw_lessons_card(Application& application) {
  const scene::Card card = {.name = "Lessons", .widest = 640, .beside = 120};
  scene::show_card(card, application.show_lessons, [&](bool) {
    Nodes rows;
    for (const ListedLesson& each : shipped_lessons())
      rows.push_back(scene::row({scene::tag(number_of(each)).fixed(24), scene::line(each.title).filling(),
                                 scene::tag(seen_words(application, each)),
                                 scene::tag(fmt::format("{} min", each.minutes)).fixed(56)})
                         .named(each.file.stem().string())
                         .on([&application, file = each.file] {
                           scene::close();
                           application.open_lesson(file);
                         }));
    return scene::column({scene::line("Lessons", style::Text::title),
                          scene::scroll("lessons", scene::column(std::move(rows), Gap::near))},
                         Gap::near)
        .named("lessons");
  });
}

}  // namespace palimpsest
