// The program in a page. The page (site/page.js) gives it what the link says, as names and values.

#include <emscripten/em_js.h>
#include <emscripten/emscripten.h>

#include <malloc.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "app/scene/parts.h"
#include "app/session/paths.h"
#include "app/session/typed_text.h"
#include "app/window/showing.h"
#include "core/base/parallel_for.h"

namespace palimpsest {

namespace {

EM_JS(void, set_link, (const char* words), { globalThis.page.setLink(UTF8ToString(words)); });
EM_JS(void, copy_link, (const char* words), { globalThis.page.copyLink(UTF8ToString(words)); });
EM_JS(void, pick_files, (), { globalThis.page.pick(); });
EM_JS(void, download, (const char* path), { globalThis.page.download(UTF8ToString(path)); });
EM_JS(void, bring, (const char* path), { globalThis.page.bring(UTF8ToString(path)); });
EM_JS(unsigned, threads_of_page, (), { return globalThis.Module.threads; });
EM_JS(void, tell_failure, (const char* reason), { globalThis.page.fail(UTF8ToString(reason)); });
// The bytes of a file of the site in new memory, and their number; null where it cannot be fetched. By any
// thread.
EM_JS(char*, fetch_file, (const char* path, int* size), {
  const request = new XMLHttpRequest();
  try {
    request.open("GET", UTF8ToString(path), false);
    request.overrideMimeType(
        "text/plain; charset=x-user-defined");  // no other way gives bytes to a page that waits
    request.send();
  } catch (problem) {
    return 0;
  }
  if (request.status != 200) return 0;
  const text = request.responseText;
  const bytes = _malloc(text.length);
  for (let i = 0; i < text.length; ++i) HEAPU8[bytes + i] = text.charCodeAt(i);
  HEAP32[size >> 2] = text.length;
  return bytes;
});

// A first visit opens this and no text, as the model that reads one has 7 MB.
constexpr const char* first_capture = "capture:gated_deltanet_overwrite_l1";

// Gives the browser a turn. Where it can suspend a computation the page puts another function here.
EM_JS(void, suspend_page, (), {});

constexpr double most_at_once = 20;  // milliseconds of computation between two frames
double last_turn = 0;

/// Lets the page draw while something is computed in its only thread.
void give_turn() {
  if (emscripten_get_now() - last_turn < most_at_once) return;
  let_others_go_on = nullptr;  // frames compute without turns
  suspend_page();
  last_turn = emscripten_get_now();
  let_others_go_on = give_turn;
}

/// Captures and models: below /assets they are stubs until they are fetched. While a link is opened the
/// page's thread waits for the others, and Firefox fetches nothing for those meanwhile: what is missing is
/// noted, the page fetches it, and the link is opened once more.
struct FetchedFiles {
  std::mutex mutex = {};
  std::map<std::string, bool, std::less<>> are_here = {};  // false: it could not be fetched
  std::string missing = {};
  bool is_opening = true;
};

FetchedFiles fetched;

void fetch_when_asked(std::string_view relative) {
  if (!relative.ends_with(".npz")) return;
  const std::scoped_lock lock(fetched.mutex);
  const auto known = fetched.are_here.find(relative);
  const bool was_tried = known != fetched.are_here.end();
  if (was_tried && known->second) return;
  const std::string path = fmt::format("assets/{}", relative);
  if (fetched.is_opening && !was_tried) {
    fetched.missing = relative;
    throw Error(fmt::format("{} is not here yet", path));
  }
  int size = 0;
  const std::unique_ptr<char, decltype(&std::free)> bytes(
      fetched.is_opening ? nullptr : fetch_file(path.c_str(), &size), std::free);
  if (!bytes) throw Error(fmt::format("{} could not be fetched from this site", path));
  write_text("/" + path, std::string(bytes.get(), static_cast<std::size_t>(size)));
  fetched.are_here.insert_or_assign(std::string(relative), true);
}

/// What stands after # in a link: the lesson and its step, or the place.
std::string link_of(const Application& application) {
  const LessonWalk& lesson = application.lesson;
  if (lesson.is_on())
    return fmt::format("lesson={}&step={}", escaped(lesson.file().stem().string()), lesson.index() + 1);
  return application.session.to_string();
}

/// The file of a lesson called "7", "07" or "07-writing-over".
std::string lesson_file(std::string_view name) {
  for (const ListedLesson& listed : shipped_lessons()) {
    const std::string stem = listed.file.stem().string();
    const std::string_view number = std::string_view(stem).substr(0, stem.find('-'));
    if (stem == name || number == name || (number.starts_with('0') && number.substr(1) == name))
      return listed.file.string();
  }
  refuse("there is no lesson \"{}\"; lessons have numbers from 1 to {}", name, shipped_lessons().size());
}

/// What a link asks for: names and values by turns.
Look look_of_link(const std::vector<std::string>& words) {
  Look look = {.first = first_capture};
  std::string lesson;
  std::string step = "1";
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& name = words[i];
    const std::string& value = words[i + 1];
    if (is_among(name, {"embed", "light"})) continue;
    if (name == "lesson") {
      lesson = lesson_file(value);
    } else if (name == "step") {
      step = value;
    } else if (name == "text") {
      TypedText typed = usual_text();
      typed.text = value;
      look.given["--capture"] = text_id(typed);
    } else {
      look.given["--" + name] = value;
    }
  }
  if (!lesson.empty()) look.given["--lesson"] = fmt::format("{}#{}", lesson, step);
  return look;
}

struct Visit {
  explicit Visit(const Look& look);
  void draw();

  Showing showing;
  SessionState told = {};  // by the link
  std::string told_lesson = {};
};

std::unique_ptr<Visit> visit;

/// Changes a command for a page: keys that a browser keeps for itself are with Alt, and places are links.
void fit_to_page(Command& command) {
  const int key = command.key & ~ImGuiMod_Mask_;
  const bool is_digit = key >= ImGuiKey_1 && key <= ImGuiKey_9;
  if ((command.key & ImGuiMod_Ctrl) != 0 && (is_digit || key == ImGuiKey_T || key == ImGuiKey_L))
    command.key = ImGuiMod_Alt | key;
  if (command.id == "help.quit") {
    command.key = 0;
    command.why_not = [](const Application&) { return std::string("the browser closes a page"); };
  }
  if (command.id != "change.copy") return;
  command.words = "copy a link to this place";
  command.perform = [](Application& application) {
    copy_link(link_of(application).c_str());
    application.notice = "A link to this place is in the clipboard";
  };
}

/// No window is made where a file is missing.
void require_files() {
  if (!fetched.missing.empty()) throw Error(fmt::format("{} is missing", fetched.missing));
}

Visit::Visit(const Look& look) : showing(look, require_files) {
  showing.application.edit_commands(fit_to_page);
}

void Visit::draw() {
  Application& application = showing.application;
  if (std::exchange(application.show_open, false)) pick_files();
  if (std::exchange(application.show_save, false)) {
    const std::filesystem::path file = "/saved" / std::filesystem::path(application.save_path).filename();
    if (const std::string problem = application.save_to(file); !problem.empty())
      application.refusal = problem;
    else
      download(file.c_str());
  }
  showing.draw();
  if (!application.session.computed()) return;
  const std::string lesson = application.lesson.is_on() ? link_of(application) : std::string();
  if (application.session.state() == told && lesson == told_lesson) return;
  told = application.session.state();
  told_lesson = lesson;
  set_link(link_of(application).c_str());
}

std::vector<std::string> link;  // as look_of_link takes it

/// Begins the visit that a link asks for. Returns why it cannot be, or nothing.
std::string begin_visit(const std::vector<std::string>& words) {
  try {
    visit = std::make_unique<Visit>(look_of_link(words));
    return {};
  } catch (...) {
    return problem_in_words();
  }
}

/// Draws a frame of the level "work" that nobody sees, while the page still loads: a browser compiles a
/// function when it first runs, and the first press would wait for that.
void rehearse(Showing& showing) {
  Application& application = showing.application;
  const Level level = application.view.level;
  const auto change_to = [&](Level next) {
    application.change_view([next](ViewOptions& view) { view.level = next; });
  };
  change_to(Level::work);
  showing.window.draw_frame([&] { application.draw(showing.window.scale()); }, false);
  change_to(level);
}

/// Opens the link; says what is wrong with it, and opens the first capture, where that cannot be.
void open_link() {
  fetched.is_opening = true;
  const std::string problem = begin_visit(link);
  const std::string reason = !visit && fetched.missing.empty() ? begin_visit({}) : problem;
  if (!fetched.missing.empty()) return bring(fmt::format("assets/{}", fetched.missing).c_str());
  if (!visit) return tell_failure(reason.c_str());
  fetched.is_opening = false;
  Application& application = visit->showing.application;
  application.has_top_bar = !is_among(std::string_view("embed"), link);
  if (is_among(std::string_view("light"), link))  // the browser's wish becomes the setting of the user
    application.change_view([](ViewOptions& view) { view.theme = Theme::light; });
  if (!problem.empty()) application.session.set_message(problem);
  rehearse(visit->showing);
  visit->showing.window.run([] { visit->draw(); });
}

}  // namespace

}  // namespace palimpsest

using palimpsest::visit;

extern "C" {

/// Goes on with opening the link: the page has fetched what was missing, or could not.
EMSCRIPTEN_KEEPALIVE void page_brought(bool is_here) {
  using namespace palimpsest;
  fetched.are_here.insert_or_assign(std::exchange(fetched.missing, {}), is_here);
  open_link();
}

/// Goes to where another link of this page leads: what stands after #.
EMSCRIPTEN_KEEPALIVE void page_go(const char* words) {
  if (!visit) return;
  visit->showing.application.session.from_string(words);
  visit->showing.window.request_redraw();
}

/// Keeps what the next visit comes back to, at once.
EMSCRIPTEN_KEEPALIVE void page_keep() {
  if (visit) visit->showing.keep();
}

/// Computes one answer where there are no threads. Returns whether there was something to compute.
EMSCRIPTEN_KEEPALIVE bool page_work() {
  using namespace palimpsest;
  if (!visit) return false;
  last_turn = emscripten_get_now();
  let_others_go_on = give_turn;
  const bool has_worked = visit->showing.application.session.questions().work();
  let_others_go_on = nullptr;
  return has_worked;
}

/// What the last frame shows, part by part, as JSON: [path, left, top, right, bottom, words] each, in pixels
/// of the screen. Valid until the next call.
EMSCRIPTEN_KEEPALIVE const char* page_parts() {
  static std::string text;
  nlohmann::json all = nlohmann::json::array();
  for (const palimpsest::Part& part : palimpsest::parts().all())
    all.push_back({part.path, part.where.minimum.x, part.where.minimum.y, part.where.maximum.x,
                   part.where.maximum.y, part.words});
  text = all.dump();
  return text.c_str();
}

/// The same as text for people: the window in words. Valid until the next call.
EMSCRIPTEN_KEEPALIVE const char* page_words() {
  static std::string text;
  text = palimpsest::parts().text();
  return text.c_str();
}

/// The bytes that the program holds; of its memory, which only grows, the rest is free.
EMSCRIPTEN_KEEPALIVE double page_bytes() { return static_cast<double>(mallinfo().uordblks); }

/// Says something at the foot of the window.
EMSCRIPTEN_KEEPALIVE void page_say(const char* words) {
  if (!visit) return;
  visit->showing.application.session.set_message(words);
  visit->showing.window.request_redraw();
}
}

int main(int argc, char** argv) {
  palimpsest::use_threads(std::max(palimpsest::threads_of_page() / 2, 1U));  // the others answer questions
  palimpsest::fetch_assets_by(palimpsest::fetch_when_asked);
  palimpsest::link.assign(argv + 1, argv + argc);
  palimpsest::open_link();
}
