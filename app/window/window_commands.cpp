#include "app/window/window_commands.h"

#include "app/commands/options.h"
#include "app/scene/parts.h"
#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "app/window/window.h"

namespace palimpsest {

namespace {

/// What `render` and the window can be told on the command line.
constexpr std::pair<const char*, const char*> look_options[] = {
    {"FILE", "a session, pinned places or data, as in the window's Open"},
    {"--session", "a saved session (JSON)"},
    {"--state", "a copied place (one string)"},
    {"--capture",
     "a file with q, k and v (FILE?q=query&beta=b reads other names); or capture:NAME, preset:NAME"},
    {"--at", "TOKEN, after its write, or TOKEN:OPERATION, such as 19:error"},
    {"--variant", "compute this variant instead of the data's"},
    {"--form", nullptr},
    {"--device", "cpu or cuda"},
    {"--chunk", "chunk size of the forms that have chunks"},
    {"--head", "which head"},
    {"--scale", "size of everything, 0.5 to 4"},
    {"--theme", "dark or light"},
    {"--level", "how much is shown: story, work or all"},
    {"--workspace", nullptr},
    {"--lesson", "a lesson, FILE or FILE#STEP with the step's number from 1"},
    {"--fault", "inject this fault into the form (see verify --faults)"},
};

struct Look {
  std::map<std::string, std::string, std::less<>> given = {};
  std::vector<std::string> races = {};  // reports of bench

  const std::string* operator[](std::string_view name) const { return value_at(given, name); }
};

/// What an option without words of its own takes.
std::string known_values(std::string_view option) {
  if (option == "--form") return joined_names(all_forms);
  return fmt::format("{}", fmt::join(workspaces() | std::views::transform(&Workspace::id), ", "));
}

void add_look(CommandOptions& command) {
  for (const auto& [name, words] : look_options) command.option(name, words ? words : known_values(name));
  for (const auto& [name, words] : text_options) command.option(name, words);
  command.list("--do", "a change of the model that reads --text (see say)", {.repeated = true});
  command.list("--race", "a report of bench for Measure; may be given again",
               {.repeated = true, .one_at_a_time = true});
}

Look look_of(const CommandOptions& command) {
  Look look{.races = command.all("--race")};
  for (const auto& [name, words] : look_options) {
    if (command.gave(name)) look.given[name] = command[name];
  }
  const std::optional<std::string> text = text_data(command);
  if (!text) return look;
  if (look["--capture"]) refuse("give --capture or --text, not both");
  look.given["--capture"] = *text;
  look.given.erase("--head");  // it is in there
  return look;
}

float scale_of(const Look& look, float standard) {
  if (!look["--scale"]) return standard;
  const double scale = parse_number(*look["--scale"], "--scale");
  if (scale < least_scale || scale > most_scale)
    refuse("--scale is {}; expected a number from {} to {}", *look["--scale"], least_scale, most_scale);
  return static_cast<float>(scale);
}

void go_to(Session& session, const std::string& at) {
  const Trace* const trace = session.trace();
  if (trace && trace->block_count() > 0) session.set_cursor(cursor_at(at, *trace));
}

void require(bool good, const Session& session) {
  if (!good) throw InputError(session.message());
}

/// The value that an option names; nothing where it is not given.
template <NamedInOrder Value>
std::optional<Value> chosen(const Look& look, const char* option) {
  const std::string* const words = look[option];
  if (!words) return std::nullopt;
  return find_row(
      all_of<Value>, *words, [](Value value) { return std::string_view(name(value)); },
      fmt::format("{} is \"{}\"; expected one of", option, *words));
}

void dress(Application& application, const Look& look) {
  application.change_view([&](ViewOptions& view) {
    view.theme = chosen<Theme>(look, "--theme").value_or(view.theme);
    view.level = chosen<Level>(look, "--level").value_or(view.level);
  });
  for (const std::string& file : look.races) {
    const RaceReport report = read_race(file);  // says at once what is wrong with it
    application.races.open(application.session, file);
    application.session.change([&](SessionState& state) { show_what_it_has(state, report); });
  }
  if (look["--workspace"]) application.enter(*look["--workspace"]);
}

/// Opens FILE#STEP.
void open_lesson(Application& application, const std::string& words) {
  const std::size_t mark = words.rfind('#');
  const Index step =
      mark == std::string::npos ? 1 : parse_count(words.substr(mark + 1), "the step of --lesson", 1);
  require(application.open_lesson(words.substr(0, mark), static_cast<std::size_t>(step - 1)),
          application.session);
  application.session.wait();
  require(application.session.message().empty(), application.session);
}

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

/// Whether nothing was asked for that says what is to be seen.
bool asks_for_nothing(const Look& look) {
  return look.races.empty() && std::ranges::all_of(look.given, [](const auto& each) {
           return is_among(each.first, {"--scale", "--theme", "--level", "--workspace"});
         });
}

/// A saved place has its own; its file and that of pinned places are JSON.
bool has_own_looks(const Look& look) {
  return look["--session"] || look["--state"] ||
         (look["FILE"] && std::filesystem::path(*look["FILE"]).extension() == ".json");
}

/// Opens what was asked for; the first capture if nothing was. Waits until its place can be seen, not until
/// its forms are compared.
void prepare(Application& application, const Look& look) {
  Session& session = application.session;
  chosen<Theme>(look, "--theme");
  chosen<Level>(look, "--level");
  if ((look["--session"] || look["--state"]) && look["--capture"])
    refuse("--{} says which data it belongs to: give it or --capture, not both",
           look["--session"] ? "session" : "state");
  if (look["--session"] && look["--state"]) refuse("give --session or --state, not both");
  if (look["FILE"] && (look["--session"] || look["--state"] || look["--capture"]))
    refuse("{} is opened: leave --session, --state and --capture out", *look["FILE"]);
  if (look["--lesson"] && !look["FILE"]) {
    dress(application, look);
    return open_lesson(application, *look["--lesson"]);
  }
  const bool is_open = look["FILE"]        ? application.open(*look["FILE"])
                       : look["--session"] ? session.open_saved(*look["--session"])
                       : look["--state"]   ? session.from_string(*look["--state"])
                       : look["--capture"] ? session.open_named(*look["--capture"])
                                           : application.open_first_text();
  require(is_open, session);
  session.wait_for_choice();
  require(session.message().empty(), session);
  application.require_workspace();
  require(session.message().empty(), session);

  Choice choice = session.choice();
  if (look["--variant"]) choice.variant = find_variant(*look["--variant"]).id;
  if (look["--form"]) choice.form = parse_form(*look["--form"]);
  if (look["--device"]) choice.device = usable_backend(*look["--device"], session.devices()).name();
  if (look["--chunk"]) {
    choice.chunk_size = parse_count(*look["--chunk"], "--chunk");
    require_chunk_size(choice.chunk_size);
  }
  if (look["--head"]) {
    choice.head = parse_count(*look["--head"], "--head");
    if (const Index heads = session.data().heads * session.data().batches; choice.head >= heads)
      refuse("--head is {}; expected a head from 0 to {}", choice.head, heads - 1);
  }
  if (look["--fault"]) choice.fault = {find_fault(*look["--fault"]).id, choice.form};
  session.choose(std::move(choice));
  session.wait_for_choice();
  require(session.message().empty(), session);
  if (look["--device"] && !session.left_device().empty()) throw Unsupported(session.left_device());
  if (look["--fault"] && !session.computed()->no_fault.empty())
    throw Unsupported(fmt::format("--fault {}: {}", *look["--fault"], session.computed()->no_fault));
  dress(application, look);
  if (look["--at"]) go_to(session, *look["--at"]);
  session.wait_for_place();
  session.start_history();
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
  for (int frame = 0; frame < settling_frames; ++frame) {  // a page asks for what it shows
    offscreen.pass([&] { application.draw(scale); });
    application.session.questions().wait();
  }
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
  require(application.session.message().empty(), application.session);
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

/// What is to be kept of a window. The layout is asked for when Dear ImGui says that it may have changed;
/// else it is that of `before`.
Preferences preferences(const Application& application, const Window& window, const Preferences& before) {
  Preferences now = before;
  now.theme = application.view.theme;
  if (!application.lesson.is_on()) now.level = application.view.level;
  now.scale = application.zoom;
  now.recent_files = application.recent_files;
  now.closed_stories = application.closed_stories;
  now.lessons = application.lesson_progress;
  std::tie(now.width, now.height) = window.size();
  if (std::exchange(ImGui::GetIO().WantSaveIniSettings, false)) {
    const OwnLayout own = application.panel_layout.own(application.workspaces());
    now.layout = own.text;
    now.own_workspaces = own.workspaces;
  }
  return now;
}

/// Opens the window and shows frames until it is closed. With `times` it closes after the first, keeps
/// nothing, and says there when what was done.
void show_window(const Look& look, std::vector<StartMoment>* times = nullptr) {
  const auto note = [times] {
    if (times) times->push_back(start_moment());
  };
  note();  // the program is loaded and runs
  constexpr float as_the_monitor_says = 0;
  const float scale = scale_of(look, as_the_monitor_says);
  std::error_code unknown;
  const bool is_first =
      asks_for_nothing(look) && !std::filesystem::exists(own_file("settings.json"), unknown);
  KeptPreferences kept(own_file("settings.json"));
  KeptPlaces kept_places(own_file("places.json"));
  const Interrupt interrupt;
  Application application;
  application.races.program = program_in_words();
  application.places = PinnedPlaces(kept_places.read());
  application.recent_files = kept.read().recent_files;
  application.closed_stories = kept.read().closed_stories;
  application.lesson_progress = kept.read().lessons;
  Look first = look;
  LastPlace last(own_file("last_place.json"));
  if (asks_for_nothing(first) && last.come_back(application.session)) {
    application.require_workspace();
    dress(application, first);
    application.session.start_history();
  } else {
    if (!has_own_looks(first)) {
      first.given.try_emplace("--theme", name(kept.read().theme));
      first.given.try_emplace("--level", name(kept.read().level));
    }
    prepare(application, first);
  }
  if (is_first) application.tell_slowly();
  note();  // what is asked for is computed
  Window window({.width = kept.read().width,
                 .height = kept.read().height,
                 .scale = scale,
                 .dropped = [&](const auto& paths) { application.drop(paths); }});
  note();  // there is a window with OpenGL
  if (!look["--scale"]) application.zoom = kept.read().scale;
  try {
    application.panel_layout.restore({kept.read().layout, kept.read().own_workspaces});
  } catch (const InputError& error) {
    kept.set_aside(error.what());
  }
  if (times) {
    window.draw_frame([&] {
      application.draw(window.scale());
      note();  // Dear ImGui has the first frame
    });
    window.finish_drawing();
    note();  // the card has it
    return;
  }
  kept.begin_with(preferences(application, window, kept.read()));
  application.quit = [&] { window.close(); };
  application.races.wake = [&] { window.request_redraw(); };
  struct NoMoreFrames {
    Application& application;
    ~NoMoreFrames() { application.races.leave(application.session); }
  };
  const NoMoreFrames no_more_frames{application};  // before the window goes
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
    application.draw(window.scale());
    if (application.animating()) window.request_redraw();
    kept.keep(preferences(application, window, kept.read()));
    kept_places.keep(application.places.all());
    last.keep(application.session);
    for (const std::string& problem : {kept.problem(), kept_places.problem(), last.problem()}) {
      if (!problem.empty()) application.session.set_message(problem);
    }
  });
  ImGui::GetIO().WantSaveIniSettings = true;
  kept.keep(preferences(application, window, kept.read()), true);
  kept_places.keep(application.places.all(), true);
  last.keep(application.session, true);
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
