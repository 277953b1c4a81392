#include <nlohmann/json.hpp>

#include "app/commands/options.h"
#include "app/session/computation.h"
#include "app/session/presets.h"
#include "app/studio/workspaces.h"
#include "app/window/window_commands.h"
#include "core/base/parallel_for.h"
#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

constexpr double aim_median = 2;     // milliseconds of a frame
constexpr double aim_high = 8;       // of all but one frame in a hundred
constexpr double aim_weights = 300;  // until a coarse picture of all weights is there
constexpr double aim_slider = 50;    // from a change to its picture
constexpr double aim_opening = 50;   // of the longest frame
constexpr double aim_start = 300;    // from the beginning of the process to the window's first frame

/// Which machine, when, and which program.
struct Circumstances {
  std::string processor;
  unsigned threads = processor_threads();
  std::string date;
  std::string program = fmt::format("palimpsest {} ({})", version(), commit());
};

std::string milliseconds(double time) { return fmt::format("{:.2f}", time); }

std::string met(bool is_met) { return is_met ? "yes" : "no"; }

bool is_quick(const FramesOf& frames) {
  return frames.processor.median <= aim_median && frames.processor.high <= aim_high;
}

std::string text_of(const std::vector<StartMoment>& times) {
  constexpr std::pair<const char*, std::string_view> steps[] = {{"the program begins", "the system's"},
                                                                {"the place is computed", "the program's"},
                                                                {"a window is open", "the driver's"},
                                                                {"its frame is made", "the program's"},
                                                                {"its frame is seen", "the driver's"}};
  std::vector<std::vector<std::string>> table = {{"until", "at", "took", "cpu", "whose"}};
  double driver = 0;
  StartMoment before;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto& [words, whose] = steps[i];
    const double took = times[i].clock - before.clock;
    if (whose == "the driver's") driver += took;
    table.push_back({words, milliseconds(times[i].clock), milliseconds(took),
                     milliseconds(times[i].processor - before.processor), std::string(whose)});
    before = times[i];
  }
  return columns(table, 0) + '\n' +
         paragraph(fmt::format(
             "Milliseconds since the process began, by the clock, and cpu time of the window's thread. The "
             "first frame is visible after {} ms; the driver takes {} of them. Aim: at most {:g} ms: {}.",
             milliseconds(before.clock), milliseconds(driver), aim_start, met(before.clock <= aim_start)));
}

std::vector<std::string> row(const FramesOf& frames, bool is_met) {
  std::vector<std::string> cells = {frames.form, frames.what, std::to_string(frames.frames)};
  for (const Spread& spread : {frames.processor, frames.elapsed}) {
    for (const double time : {spread.median, spread.high, spread.worst}) cells.push_back(milliseconds(time));
  }
  cells.push_back(milliseconds(frames.driver));
  cells.push_back(frames.complete ? met(*frames.complete) : "");
  cells.push_back(met(is_met));
  return cells;
}

std::string text_of(const Circumstances& here) {
  return fmt::format("{}, {}\n{}, {} threads", here.program, here.date, here.processor, here.threads);
}

std::string text_of(const UiBench& bench, const UiTimes& times) {
  std::string text = paragraph(fmt::format(
      "Milliseconds per frame of the workspace {} at T = {}, d = {}. \"cpu\" is the cpu time of the window's "
      "thread until the draw lists are finished, uploads to the graphics card included. \"clock\" is the "
      "same by the clock, with waiting and other programs. \"OpenGL\" is the time of the driver after that. "
      "\"complete\" is yes if everything visible was computed when the frames began; the program waits at "
      "most {:g} s for it. Aim: a cpu median of at most {:g}, 99 % of the frames at most {:g}; while a "
      "sequence opens, no frame above {:g}.{}",
      bench.workspace, bench.tokens, bench.channels, bench.patience, aim_median, aim_high, aim_opening,
      bench.workspace == "measure" ? " The shipped report and one of a slower machine are open." : ""));
  std::vector<std::vector<std::string>> table = {{"form", "what", "frames", "cpu median", "99 %", "worst",
                                                  "clock median", "99 %", "worst", "OpenGL", "complete",
                                                  "aim"}};
  for (const FramesOf& frames : times.frames) table.push_back(row(frames, is_quick(frames)));
  table.push_back(row(times.opening, times.opening.processor.worst <= aim_opening));
  text += '\n' + columns(table, 0) + '\n';
  text += paragraph(fmt::format(
      "From a change of a slider to the picture of its result at T = {}, d = {}, by the clock at 60 frames "
      "per second, without OpenGL, {} changes: median {} ms, 99 % {} ms, worst {} ms; cpu time of all "
      "threads: median {} ms. Aim: at most {:g} ms by the clock: {}.",
      bench.dragged_tokens, bench.dragged_channels, times.changes, milliseconds(times.slider.median),
      milliseconds(times.slider.high), milliseconds(times.slider.worst),
      milliseconds(times.slider_processor.median), aim_slider, met(times.slider.high <= aim_slider)));
  text += paragraph(
      fmt::format("From a letter typed after a text of {} tokens to the picture with the small model's "
                  "answer, likewise: median {} ms, 99 % {} ms, worst {} ms; cpu time of all threads: median "
                  "{} ms. Aim: at most {:g} ms by the clock: {}.",
                  bench.typed_tokens, milliseconds(times.typing.median), milliseconds(times.typing.high),
                  milliseconds(times.typing.worst), milliseconds(times.typing_processor.median), aim_slider,
                  met(times.typing.high <= aim_slider)));
  if (times.weights) {
    text += paragraph(fmt::format(
        "From entering Attend to a coarse picture of all {0} x {0} weights of both rules: {1} ms; to every "
        "row: {2} ms, by the clock, without OpenGL. Aim for the coarse picture: at most {3:g} ms: {4}.",
        bench.tokens, milliseconds(times.weights->coarse), milliseconds(times.weights->fine), aim_weights,
        met(times.weights->coarse <= aim_weights)));
  }
  return text;
}

Json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"99th", spread.high}, {"worst", spread.worst}};
}

Json json_of(const FramesOf& frames) {
  Json found = {{"form", frames.form},
                {"what", frames.what},
                {"frames", frames.frames},
                {"cpu_ms", json_of(frames.processor)},
                {"clock_ms", json_of(frames.elapsed)},
                {"opengl_ms", frames.driver}};
  if (frames.complete) found["complete"] = *frames.complete;
  return found;
}

Json json_of(const UiBench& bench, const UiTimes& times) {
  Json frames = Json::array();
  for (const FramesOf& each : times.frames) frames.push_back(json_of(each));
  Json found = {{"workspace", bench.workspace},
                {"frames", frames},
                {"opening", json_of(times.opening)},
                {"slider",
                 {{"tokens", bench.dragged_tokens},
                  {"channels", bench.dragged_channels},
                  {"changes", times.changes},
                  {"clock_ms", json_of(times.slider)},
                  {"cpu_ms", json_of(times.slider_processor)}}},
                {"typing",
                 {{"tokens", bench.typed_tokens},
                  {"clock_ms", json_of(times.typing)},
                  {"cpu_ms", json_of(times.typing_processor)}}}};
  if (times.weights) found["weights_ms"] = {{"coarse", times.weights->coarse}, {"fine", times.weights->fine}};
  return found;
}

Json json_of(const UiBench& bench, const Circumstances& here, const Json& workspaces) {
  return {{"program", here.program},
          {"date", here.date},
          {"processor", here.processor},
          {"threads", here.threads},
          {"size", {bench.width, bench.height}},
          {"tokens", bench.tokens},
          {"channels", bench.channels},
          {"patience_s", bench.patience},
          {"aims",
           {{"median_ms", aim_median},
            {"99th_ms", aim_high},
            {"slider_ms", aim_slider},
            {"opening_ms", aim_opening}}},
          {"workspaces", workspaces}};
}

/// The ids of all workspaces, or of the one that is asked for.
std::vector<const char*> workspaces_asked(const std::optional<std::string>& asked) {
  if (asked)
    return {find_row(workspaces(), *asked, &Workspace::id,
                     fmt::format("--workspace is \"{}\"; expected one of", shown(*asked)))
                .id};
  std::vector<const char*> all;
  for (const Workspace& workspace : workspaces()) all.push_back(workspace.id);
  return all;
}

int measure(const CommandOptions& options, const Console& console) {
  UiBench bench;
  std::tie(bench.width, bench.height) = parse_size(options["--size"]);
  bench.tokens = parse_count(options["--tokens"], "--tokens", 3, most_preset_tokens);
  bench.channels = parse_count(options["--channels"], "--channels", 1, most_preset_channels);
  bench.frames = static_cast<int>(parse_count(options["--frames"], "--frames", 1, 100'000));
  bench.patience = options.as_number("--patience");
  const std::vector<const char*> measured = workspaces_asked(options.if_given("--workspace"));
  bench.dragged_tokens = std::min(bench.dragged_tokens, bench.tokens);
  bench.dragged_channels = std::min(bench.dragged_channels, bench.channels);
  const std::optional<std::string> json = options.if_given("--json");
  if (json) writable_target(*json);  // before the work is done
  Circumstances here{.processor = processor_name(), .date = present_date()};
  console.out << fmt::format("{}; Gated DeltaNet, {} x {} pixels, fonts at scale 1\n", text_of(here),
                             bench.width, bench.height);
  Json found = Json::array();
  for (const char* workspace : measured) {
    bench.workspace = workspace;
    const UiTimes times = measure_ui(bench);
    console.out << '\n' << text_of(bench, times) << std::flush;
    found.push_back(json_of(bench, times));
  }
  if (json) write_text(*json, json_of(bench, here, found).dump(2) + '\n');
  return exit_done;
}

}  // namespace

Task add_window_bench(CommandOptions command, Console console) {
  const CommandOptions start = command.subcommand("start", "Open a window and time its first frame");
  CommandOptions ui = command.subcommand("ui", "Time the frames of the window, without a display");
  ui.option("--size", "pixels, WIDTHxHEIGHT", "1920x1080");
  ui.option("--tokens", "of the long sequence, 3 to 1000000", "4096");
  ui.option("--channels", "of its keys and values, 1 to 512", "128");
  ui.option("--frames", "measured for each action", "240");
  ui.number("--patience", "longest wait, in seconds, for what is visible before its frames are measured",
            UiBench().patience, 0, 3600);
  ui.option("--workspace", "only this one: step, learn, …");
  ui.option("--json", "also write the figures to this file");
  return [ui, start, console] {
    if (!start.was_given()) return measure(ui, console);
    const std::vector<StartMoment> times = time_start();
    console.out << text_of(Circumstances{.processor = processor_name(), .date = present_date()}) << "\n\n"
                << text_of(times);
    return static_cast<int>(exit_done);
  };
}

}  // namespace palimpsest
