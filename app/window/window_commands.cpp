#include "app/window/window_commands.h"

#include "app/scene/parts.h"
#include "app/window/offscreen.h"
#include "app/window/showing.h"

namespace palimpsest {

namespace {

/// Answers the question of a lesson, and looks.
void guess_in_lesson(Application& application, const std::string& words) {
  if (!application.lesson.hides())
    refuse("--guess answers the question of a lesson's step, but nothing is asked here");
  const LessonQuestion& question = *application.lesson.step().question;
  const Guess guess = Guess::parse(words);
  const bool is_listed = guess.choice && *guess.choice < question.choices.size();
  const bool fits = question.kind == LessonQuestion::Kind::choose   ? is_listed
                    : question.kind == LessonQuestion::Kind::number ? guess.number.has_value()
                                                                    : !guess.cells.empty();
  if (!fits)
    refuse("--guess is \"{}\"; expected the letter of a choice, a number, or cells as in \"0:2 1:3\"", words);
  application.lesson.guess() = guess;
  application.go_on_in_lesson();
}

/// What is written of a picture.
struct Wanted {
  std::filesystem::path output = {};  // a PNG; empty: none
  std::string part = {};              // the one that is shown; empty: all
  std::ostream* text = nullptr;       // where the words of all parts go; null: nowhere
};

/// What shows a part of the frame that was drawn last. Throws an InputError where it is not shown.
Image part_of(const Image& image, const std::string& path) {
  const Part* const part = parts().find(path);
  if (!part) refuse("--part is \"{}\"; the picture has:\n{}", path, parts().paths());
  const auto inside = [](float at, int most) { return std::clamp(static_cast<int>(at), 0, most); };
  return cropped(image, inside(part->where.minimum.x, image.width),
                 inside(part->where.minimum.y, image.height), inside(part->where.maximum.x, image.width),
                 inside(part->where.maximum.y, image.height));
}

void render_to(Application& application, int width, int height, float scale, const Wanted& wanted) {
  Offscreen offscreen(width, height);
  settle(offscreen, application, settling_frames, scale);  // a page asks for what it shows
  const Image image = offscreen.render([&] { application.draw(scale); }, settling_frames);
  if (!application.undrawn().empty()) throw Error(application.undrawn());
  if (wanted.text) *wanted.text << parts().text();
  if (!wanted.output.empty())
    write_png(wanted.part.empty() ? image : part_of(image, wanted.part), wanted.output);
}

/// Opens what lies over the window, or presents.
void open_page(Application& application, const std::string& page) {
  struct Page {
    const char* name;
    bool Application::*shown;
  };
  constexpr Page pages[] = {
      {"data", &Application::show_data},        {"keys", &Application::show_keys},
      {"commands", &Application::show_palette}, {"open", &Application::show_open},
      {"places", &Application::show_places},    {"arrays", &Application::show_names},
      {"save", &Application::show_save},        {"presentation", &Application::presenting}};
  application.names_of = application.session.data().id;
  application.*
      find_row(pages, page, &Page::name, fmt::format("--page is \"{}\"; expected one of", page)).shown = true;
}

/// The pictures that show what the program is, for machines without a display.
void render_tour(const std::filesystem::path& folder, Console console) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) refuse("--tour {}: the folder cannot be made: {}", folder.string(), problem.message());
  const std::vector<std::pair<const char*, Look>> stops = {
      {"1-a-token-is-written.png", {{{"--at", "29:error"}, {"--form", "recurrent"}}}},
      {"2-chunkwise.png", {{{"--at", "29:solve"}, {"--form", "chunkwise"}}}},
      {"3-parallel.png", {{{"--at", "40:solve"}, {"--form", "parallel"}}}},
      {"4-one-decay-per-channel.png",
       {{{"--capture", "capture:kda_overwrite_l1"}, {"--at", "30:decay"}, {"--head", "1"}}}},
      {"5-softmax.png", {{{"--capture", "capture:softmax_names_l17"}, {"--at", "40:weights"}}}},
      {"6-light.png", {{{"--at", "29:write"}, {"--theme", "light"}}}},
  };
  for (const auto& [file, look] : stops) {
    Application application;
    prepare(application, look);
    application.session.wait();
    application.show_welcome = false;
    render_to(application, 1920, 1080, 1, {.output = folder / file});
    console.out << (folder / file).string() << std::endl;
  }
}

/// Throws Unsupported, saying why, where the form that was asked for does not exist.
void require_form(const Application& application, const Look& look) {
  const auto computed = application.session.computed();
  if ((!look["--form"] && !look["--session"] && !look["--state"]) || !computed) return;
  const Form form = application.session.choice().form;
  const std::string& reason = computed->form(form).missing;
  if (!reason.empty())
    throw Unsupported(fmt::format("{} has no {} form here: {}", computed->variant->id, name(form), reason));
}

/// Holds cell ROW,COLUMN of what the present step makes, as a click does.
void hold_cell(Application& application, const std::string& words) {
  const auto [row, column] = parse_cell(words);
  const Sight& sight = application.session.sight();
  if (!sight.record) refuse("--why explains an entry of a step, but there is no step here");
  const std::string& made = sight.trace->operation(sight.cursor).equation.result;
  const Matrix<double>& values = sight.record->at(made);
  if (row >= values.rows() || column >= values.cols())
    refuse("--why is \"{}\"; {} has {} rows and {} columns", words, made, values.rows(), values.cols());
  application.pinned = CellFocus{made, row, column};
}

int render(const CommandOptions& options, const Console& console) {
  if (!options["--tour"].empty()) {
    render_tour(options["--tour"], console);
    return exit_done;
  }
  const std::string& output = options["--output"];
  const bool in_words = options.is_set("--in-words");
  if (output.empty() && !in_words) refuse("render needs --output FILE.png, --in-words or --tour FOLDER");
  const auto [width, height] = parse_size(options["--size"]);
  Look look = look_of(options);
  if (asks_for_nothing(look)) look.given.try_emplace("--level", name(Level::story));  // as a first start
  const float scale = scale_of(look, 1);
  for (const char* const source : {"FILE", "--session", "--capture"}) {
    if (const std::string* const file = look[source]) require_other_file(output, *file);
  }
  if (!output.empty()) writable_target(output);  // before the work is done
  for (const std::string& race : look.races) require_other_file(output, race);
  Application application;
  prepare(application, look);
  application.session.wait();
  require_no_problem(application.session);
  if (const std::string& reason = application.session.left_device(); !reason.empty()) {
    if (look["--device"]) throw Unsupported(reason);
    tell(console, reason);
  }
  require_other_file(output, application.session.data().id);
  require_form(application, look);
  application.show_welcome = !look["--at"] && !look["--lesson"];
  if (options.gave("--why")) hold_cell(application, options["--why"]);
  if (options.gave("--guess")) guess_in_lesson(application, options["--guess"]);
  if (!options["--page"].empty()) open_page(application, options["--page"]);
  render_to(application, width, height, scale,
            {output, options["--part"], in_words ? &console.out : nullptr});
  return exit_done;
}

Task add_render(CommandOptions command, Console console) {
  add_look(command);
  command.option("--why", "ROW,COLUMN: explain this entry of the step's result");
  command.option("--guess", "answer the question of the lesson's step (a letter or a number) and look");
  command.option("--size", "pixels, WIDTHxHEIGHT", "1920x1080");
  command.option("--output", "the PNG to write");
  command.option("--page", "page in front: data, arrays, keys, commands, open, save, places, presentation");
  command.option("--part", "draw only this part, such as measure/side; --in-words names them");
  command.flag("--in-words", "write what is shown as text, part by part");
  command.option("--tour", "write a tour of pictures into this folder");
  return [command, console] { return render(command, console); };
}

/// Opens the window and shows frames until it is closed. With `times` it closes after the first, keeps
/// nothing, and says there when what was done.
void show_window(const Look& look, std::vector<StartMoment>* times = nullptr) {
  const auto note = [times] {
    if (times) times->push_back(start_moment());
  };
  note();  // the program is loaded and runs
  const Interrupt interrupt;
  Showing showing(look, note);
  Application& application = showing.application;
  Window& window = showing.window;
  if (times) {
    window.draw_frame([&] {
      application.draw(window.scale());
      note();  // Dear ImGui has the first frame
    });
    window.finish_drawing();
    note();  // the card has it
    return;
  }
  // As a click on the window's cross: what is to be kept is kept.
  const std::stop_callback end(interrupt.token(), [&] {
    window.close();
    window.request_redraw();
  });
  // An author's lesson is read again when its file changes.
  std::atomic<bool> lesson_changed = false;
  std::jthread watch;
  if (look["--lesson"])
    watch = std::jthread([&, file = application.lesson.file()](const std::stop_token& stop) {
      constexpr auto between_looks = std::chrono::milliseconds(300);
      std::error_code gone;
      auto written = std::filesystem::last_write_time(file, gone);
      for (; !stop.stop_requested(); std::this_thread::sleep_for(between_looks)) {
        const auto now = std::filesystem::last_write_time(file, gone);
        if (gone || now == written) continue;
        written = now;
        lesson_changed = true;
        window.request_redraw();
      }
    });
  window.run([&] {
    if (lesson_changed.exchange(false)) application.reload_lesson();
    showing.draw();
  });
  showing.keep();
}

Task add_window(CommandOptions command, Console) {
  add_look(command);
  return [command] {
    show_window(look_of(command));
    return static_cast<int>(exit_done);
  };
}

/// The workspace Measure with this report alone.
void draw_race(const RaceReport& report, const std::string& file) {
  Application application;
  application.races = Races("");
  prepare(application, {{{"--theme", "light"}, {"--workspace", "measure"}}});
  application.races.adopt(application.session, report);
  application.show_welcome = false;
  application.session.wait();
  render_to(application, 1920, 1080, 1, {.output = file});
}

}  // namespace

void settle(Offscreen& offscreen, Application& application, int frames, float scale) {
  for (int frame = 0; frame < frames; ++frame) {
    offscreen.pass([&] { application.draw(scale); });
    application.session.questions().wait();
  }
}

std::vector<StartMoment> time_start() {
  std::vector<StartMoment> times;
  show_window({}, &times);
  return times;
}

WindowCommands window_commands() {
  return {.window = add_window,
          .render = add_render,
          .lesson = add_lesson_command,
          .bench = add_window_bench,
          .picture_of_race = draw_race};
}

}  // namespace palimpsest
