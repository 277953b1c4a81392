#include "app/window_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <sstream>

#include "app/application.h"
#include "app/offscreen.h"
#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/window.h"
#include "core/error.h"

namespace palimpsest {

namespace {

/// What `render` and the window can be told on the command line.
struct Look {
  std::string session = {};
  std::string capture = {};
  std::string at = {};
  std::string variant = {};
  std::string form = {};
  Index chunk = 0;
  Index head = -1;
  std::string theme = "dark";
  float scale = 1;
};

void add_look(CLI::App& command, Look& look) {
  command.add_option("--session", look.session, "a saved session (JSON)");
  command.add_option("--capture", look.capture, "an npz with q, k and v; or capture:NAME, preset:NAME");
  command.add_option("--at", look.at, "TOKEN or TOKEN:OPERATION, such as 19:error");
  command.add_option("--variant", look.variant, "compute this variant instead of the data's own");
  command.add_option("--form", look.form, "recurrent, chunkwise or parallel");
  command.add_option("--chunk", look.chunk, "chunk size of the chunkwise form");
  command.add_option("--head", look.head, "which head");
  command.add_option("--theme", look.theme, "dark or light");
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path.string()));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Form form_by_name(const std::string& wanted) {
  for (const Form form : all_forms) {
    if (wanted == name(form)) return form;
  }
  throw InputError(fmt::format("--form is \"{}\"; expected recurrent, chunkwise or parallel", wanted));
}

/// Puts the cursor at TOKEN or TOKEN:OPERATION.
void go_to(Session& session, const std::string& at) {
  const std::size_t colon = at.find(':');
  const std::string number = at.substr(0, colon);
  Index token = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), token);
  if (error != std::errc() || end != number.data() + number.size() || token < 0 ||
      token >= session.data().tokens) {
    throw InputError(
        fmt::format("--at is \"{}\"; expected a token from 0 to {}", at, session.data().tokens - 1));
  }
  session.go_to_token(token);
  if (colon == std::string::npos) return;
  const std::string wanted = at.substr(colon + 1);
  const Trace* trace = session.trace();
  if (!trace || trace->block_count() == 0) return;
  std::string known;
  for (std::size_t phase = 0; phase < trace->phases.size(); ++phase) {
    const std::vector<Operation>& operations = trace->phases[phase].operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      known += (known.empty() ? "" : ", ") + operations[i].id;
      if (operations[i].id != wanted) continue;
      const Index block = trace->block_of(token, static_cast<Index>(phase));
      session.set_cursor({block, static_cast<Index>(i), token - trace->block(block).first_token});
      return;
    }
  }
  throw InputError(fmt::format("--at asks for the operation \"{}\"; this form has: {}", wanted, known));
}

void require(bool good, const Session& session) {
  if (!good) throw InputError(session.message());
}

/// Opens what was asked for; the first capture if nothing was.
void prepare(Application& application, const Look& look) {
  Session& session = application.session;
  if (look.theme != "dark" && look.theme != "light") {
    throw InputError(fmt::format("--theme is \"{}\"; expected dark or light", look.theme));
  }
  application.view.theme = look.theme == "light" ? style::Theme::light : style::Theme::dark;
  if (!look.session.empty()) {
    require(session.from_json(read_text(look.session), std::filesystem::path(look.session).parent_path()),
            session);
  } else if (look.capture.starts_with("capture:")) {
    require(session.open(open_capture(look.capture)), session);
  } else if (look.capture.starts_with("preset:")) {
    require(session.open(make_preset(look.capture)), session);
  } else if (!look.capture.empty()) {
    require(session.open(std::filesystem::path(look.capture)), session);
  } else {
    application.open_first_capture();
    require(session.computed() != nullptr || session.computing(), session);
  }
  session.wait();

  Choice choice = session.choice();
  if (!look.variant.empty()) choice.variant = find_variant(look.variant).id;
  if (!look.form.empty()) choice.form = form_by_name(look.form);
  if (look.chunk != 0) choice.chunk_size = look.chunk;
  if (look.head >= 0) choice.head = look.head;
  session.choose(std::move(choice));
  session.wait();
  require(session.message().empty(), session);
  if (!look.at.empty()) go_to(session, look.at);
}

/// Draws until pictures have faded in and sizes have settled.
constexpr int settling_frames = 30;

void render_to(Application& application, int width, int height, float scale,
               const std::filesystem::path& output) {
  Offscreen offscreen(width, height, scale);
  const Image image = offscreen.render([&] { application.draw(offscreen.scale()); }, settling_frames);
  write_png(image, output);
}

struct TourStop {
  const char* file;
  Look look;
};

/// The pictures that show what the program is, for machines without a display.
void render_tour(const std::filesystem::path& folder, Console console) {
  std::filesystem::create_directories(folder);
  const std::vector<TourStop> stops = {
      {"1-a-token-is-written.png", {.at = "19:error", .form = "recurrent"}},
      {"2-chunkwise.png", {.at = "19:solve", .form = "chunkwise"}},
      {"3-parallel.png", {.at = "40:solve", .form = "parallel"}},
      {"4-one-decay-per-channel.png", {.capture = "capture:kda_overwrite_l1", .at = "30:decay", .head = 1}},
      {"5-softmax.png", {.capture = "capture:softmax_names_l17", .at = "40:weights"}},
      {"6-light.png", {.at = "19:write", .theme = "light"}},
  };
  for (const TourStop& stop : stops) {
    Application application;
    prepare(application, stop.look);
    application.view.show_welcome = false;
    render_to(application, 1920, 1080, 1, folder / stop.file);
    console.out << (folder / stop.file).string() << std::endl;
  }
}

std::pair<int, int> parse_size(const std::string& text) {
  int width = 0;
  int height = 0;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest);
  if (read != 2 || width < 16 || height < 16 || width > 16384 || height > 16384) {
    throw InputError(fmt::format("--size is \"{}\"; expected WIDTHxHEIGHT from 16x16 to 16384x16384", text));
  }
  return {width, height};
}

palimpsest::Command render_command() {
  return [](CLI::App& command, Console console) -> palimpsest::Task {
    struct Options {
      Look look;
      std::string size = "1920x1080";
      std::string output;
      std::string tour;
    };
    const auto options = std::make_shared<Options>();
    add_look(command, options->look);
    command.add_option("--size", options->size, "pixels, WIDTHxHEIGHT")->capture_default_str();
    command.add_option("--scale", options->look.scale, "how much larger everything is drawn")
        ->check(CLI::Range(0.5, 4.0));
    command.add_option("--output", options->output, "the PNG to write");
    command.add_option("--tour", options->tour, "write a tour of pictures into this folder");
    return [options, console] {
      if (!options->tour.empty()) {
        render_tour(options->tour, console);
        return static_cast<int>(exit_done);
      }
      if (options->output.empty()) throw InputError("render needs --output FILE.png or --tour FOLDER");
      const auto [width, height] = parse_size(options->size);
      Application application;
      prepare(application, options->look);
      application.view.show_welcome = options->look.at.empty();
      render_to(application, width, height, options->look.scale, options->output);
      return static_cast<int>(exit_done);
    };
  };
}

palimpsest::Command window_command() {
  return [](CLI::App& command, Console) -> palimpsest::Task {
    const auto look = std::make_shared<Look>();
    look->scale = 0;
    add_look(command, *look);
    command.add_option("--scale", look->scale, "how much larger everything is drawn; 0: as the monitor says");
    return [look] {
      Application application;
      prepare(application, *look);
      Window window({.scale = look->scale});
      application.quit = [&] { window.close(); };
      window.set_dropped([&](const auto& paths) { application.drop(paths); });
      window.run([&] {
        application.draw(window.scale());
        if (application.animating()) window.request_redraw();
      });
      return static_cast<int>(exit_done);
    };
  };
}

}  // namespace

WindowCommands window_commands() { return {.window = window_command(), .render = render_command()}; }

}  // namespace palimpsest
