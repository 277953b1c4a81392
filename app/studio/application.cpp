#include "app/studio/application.h"

#include <imgui_internal.h>  // for the recovery of its stacks

#include <cstdlib>

#include "app/scene/parts.h"
#include "app/scene/window.h"
#include "app/session/own_rule.h"
#include "app/session/typed_text.h"
#include "app/widgets/text.h"
#include "core/steps/recognised.h"

namespace palimpsest {

namespace {

constexpr float top_bar_height = 48;
constexpr float text_bar_height = 46;
constexpr float doubts_height = 42;

// A story is as much larger as the window is larger than this, in design pixels.
constexpr ImVec2 story_size = {1280, 800};
constexpr float most_story_zoom = 1.6F;
constexpr float narrow_window = 960;

constexpr float room_for_words = 64;  // design pixels; what is lower has one line

/// Whether all are .npy files of one folder, so that one of them is enough.
bool are_one_sequence(const std::vector<std::filesystem::path>& paths) {
  return !paths.empty() && std::ranges::all_of(paths, [&](const std::filesystem::path& path) {
    return path.extension() == ".npy" && path.parent_path() == paths.front().parent_path();
  });
}

// Ends what was begun and pops what was pushed since `before`, without Dear ImGui's error messages. Its
// recovery leaves the style's alpha at 0, and everything invisible for ever.
void put_back(const ImGuiErrorRecoveryState& before, float alpha) {
  ImGuiIO& io = ImGui::GetIO();
  const std::array complaints = {&io.ConfigErrorRecoveryEnableAssert, &io.ConfigErrorRecoveryEnableDebugLog,
                                 &io.ConfigErrorRecoveryEnableTooltip};
  std::array<bool, complaints.size()> usual{};
  for (std::size_t i = 0; i < usual.size(); ++i) usual[i] = std::exchange(*complaints[i], false);
  ImGui::ErrorRecoveryTryToRecoverState(&before);
  for (std::size_t i = 0; i < usual.size(); ++i) *complaints[i] = usual[i];
  ImGui::GetStyle().Alpha = alpha;
}

bool is_anything_pressed() {
  return std::ranges::any_of(std::views::iota(int{ImGuiKey_NamedKey_BEGIN}, int{ImGuiKey_NamedKey_END}),
                             [](int key) { return ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), false); });
}

}  // namespace

std::string guarded(const std::function<void()>& draw) {
  ImGuiErrorRecoveryState before;
  ImGui::ErrorRecoveryStoreState(&before);
  const float alpha = ImGui::GetStyle().Alpha;
  try {
    draw();
    return {};
  } catch (...) {
    put_back(before, alpha);
    return problem_in_words();
  }
}

void draw_problem(const char* title, const std::string& problem) {
  ImGui::Begin(title);
  ImGui::SetCursorPos({0, 0});
  const ImVec2 size = ImGui::GetWindowSize();
  const style::Palette& c = style::colours();
  const bool is_low = size.y < style::px(room_for_words);
  ImGui::PushID("problem");
  if (style::begin_panel("##problem", size, 0, is_low ? 4 : style::panel_padding)) {
    if (is_low)
      scene::show(scene::note(fmt::format("{} cannot be drawn: {}", title, problem), c.alarm).told(problem));
    else
      scene::show(scene::column(
          {scene::text(fmt::format("{}: this part cannot be drawn", title), style::Text::strong, c.alarm),
           scene::paragraph(problem),
           scene::caption(
               "The rest of the window works. This part comes back as soon as it can be drawn.")}));
  }
  style::end_panel();
  ImGui::PopID();
  ImGui::End();
}

Application::Application(std::span<const Workspace> shown, std::span<const Command> known, Devices devices)
    : session(devices), workspaces_(shown), commands_(known.begin(), known.end()) {
  enter(workspace().id);
  session.start_history();
  if (shown.size() < 2) return;
  for (const Workspace& workspace : shown)
    commands_.push_back({.id = std::string("workspace.") + workspace.id,
                         .group = "Workspace",
                         .words = workspace.name,
                         .key = workspace.key,
                         .perform = [id = workspace.id](Application& a) { a.enter(id); },
                         .explained = workspace.words});
}

const Workspace& Application::workspace() const {
  const Workspace* const found = row_called(workspaces_, session.state().workspace, &Workspace::id);
  return found ? *found : workspaces_.front();
}

void Application::enter(std::string_view id) {
  find_row(workspaces_, id, &Workspace::id,
           fmt::format("there is no workspace \"{}\"; expected one of", shown(id)));
  session.change(&SessionState::workspace, std::string(id));
}

void Application::require_workspace() {
  const std::string wanted = session.state().workspace;
  if (wanted == workspace().id) return;
  enter(workspace().id);
  session.set_message(
      fmt::format("there is no workspace \"{}\"; this is {}", shown(wanted), workspace().name));
}

bool Application::open_first_text() { return session.open_named(text_id(usual_text())); }

bool Application::open(const std::filesystem::path& path) try {
  if (path.extension() == ".rule") return open_rule(path);
  if (std::filesystem::path(path_in_id(path.string())).extension() != ".json")
    return session.open_named(path.string());
  const std::string text = read_text_file(path, most_places_bytes);
  const SavedKind kind = saved_kind(text);
  if (kind == SavedKind::pinned_places) return open_places(path, text);
  const bool in_measure = session.state().workspace == "measure" && kind != SavedKind::place;
  if (kind == SavedKind::race || in_measure) {
    session.clear_message();
    races.open(session, path);
    show_open = false;
    return true;
  }
  if (!session.open_saved(path)) return false;
  remember_file(path);
  return true;
} catch (const InputError& error) {
  session.set_message(error.what());
  return false;
}

/// Shows the text of a file in Write; without a flaw its rule is computed.
bool Application::open_rule(const std::filesystem::path& path) {
  std::string text = read_text_file(path, most_rule_bytes);
  session.clear_message();
  session.end_merge();
  session.change([&](SessionState& state) { write_rule(state, std::move(text)); });
  enter("write");
  show_open = show_data = false;
  return true;
}

/// Takes the places of a file for the pinned ones and goes to the first.
bool Application::open_places(const std::filesystem::path& path, const std::string& text) {
  places = PinnedPlaces(naming_input(path.string(), [&] { return parse_places(text); }));
  session.clear_message();
  if (!places.all().empty()) go_to_place(0);
  notice = fmt::format("{} places are pinned, as in {}", places.all().size(), path.string());
  show_open = false;
  return true;
}

void Application::drop(const std::vector<std::filesystem::path>& paths) try {
  const bool are_json = std::ranges::all_of(
      paths, [](const std::filesystem::path& path) { return path.extension() == ".json"; });
  if (paths.size() == 1 || are_one_sequence(paths))
    open(paths.front());
  else if (are_json && session.state().workspace == "measure")
    for (const std::filesystem::path& path : paths) open(path);
  else
    session.set_message(fmt::format("{} files were dropped; one can be open at a time", paths.size()));
} catch (...) {
  session.set_message(problem_in_words());
}

void Application::ask_where_to_save_text(const std::string& name, std::string text,
                                         const std::string& ending) {
  ask_where_to_save({.file = name,
                     .what = "the " + name,
                     .is_in = "The " + name + " is saved in",
                     .ending = ending,
                     .text = [text = std::move(text)] { return text; }});
}

void Application::ask_where_to_save(ToSave wanted) {
  const std::filesystem::path folder =
      save_path.empty() ? own_folder() : std::filesystem::path(save_path).parent_path();
  std::filesystem::path path;
  std::error_code absent;
  for (int number = 1; path.empty() || std::filesystem::exists(path, absent); ++number)
    path = folder / fmt::format("{}-{}{}", wanted.file, number, wanted.ending);
  save_path = path.string();
  saving = std::move(wanted);
  saving.folder = folder;
  show_save = true;
}

std::string Application::save_to(const std::filesystem::path& path) {
  try {
    write_text(path, saving.text ? saving.text() : session.to_json() + '\n');
  } catch (const InputError& error) {
    return error.what();
  }
  if (!saving.text) remember_file(path);
  notice = fmt::format("{} {}", saving.is_in, path.string());
  return {};
}

void Application::pin_place() {
  const DataSet& data = session.data();
  const auto token = static_cast<std::size_t>(session.token());
  const std::string word = token < data.labels.size() ? visible_label(data.labels[token]) : std::string();
  const Choice& choice = session.choice();
  std::string name =
      fmt::format("{} · {} · token {} “{}” · {} · {}", workspace().name, palimpsest::name(choice.form),
                  session.token() + 1, word, find_variant(choice.variant).label, data.title);
  try {
    places.add({.name = std::move(name), .state = session.to_string()});
    notice = fmt::format("Pinned as place {}", places.present() + 1);
  } catch (const InputError& error) {
    session.set_message(error.what());
  }
}

void Application::go_to_place(Index index) {
  const PinnedPlace& place = entry(places.all(), index);
  playing = false;
  show_welcome = false;
  keeping_pinned([&] { session.from_string(place.state); });
  places.go_to(index);
  notice = fmt::format("{} of {}: {}", index + 1, places.all().size(), place.name);
}

std::filesystem::path Application::own_folder() const {
  std::error_code gone;
  for (const std::string& file : recent_files) {
    std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (std::filesystem::is_directory(folder, gone)) return folder;
  }
  const char* home = std::getenv("HOME");
  if (home && std::filesystem::path(home).is_absolute() && std::filesystem::is_directory(home, gone))
    return home;
  return std::filesystem::current_path(gone);
}

void Application::remember_file(const std::filesystem::path& file) {
  std::error_code unknown;
  const std::string path = std::filesystem::absolute(file, unknown).string();
  std::erase_if(recent_files,
                [&](const std::string& recent) { return path_in_id(recent) == path_in_id(path); });
  recent_files.insert(recent_files.begin(), path);
  if (recent_files.size() > most_recent_files) recent_files.pop_back();
}

void Application::remember_open_file() {
  const std::string& id = session.data().id;
  if (std::exchange(remembered_, id) != id && std::filesystem::path(id).is_absolute()) remember_file(id);
}

void Application::go_to(Index token) {
  playing = false;
  show_welcome = false;
  session.go_to_token(token);
}

void Application::step(Session::Grain by, int direction) {
  if (tells_story() && by == Session::Grain::operation) by = Session::Grain::token;
  show_welcome = false;
  notice.clear();
  if (!session.step(by, direction)) playing = false;
}

/// Makes a change that may turn states; the clicked cell turns with them.
void Application::keeping_pinned(const std::function<void()>& change) {
  const bool turned = view.state_value_by_key;
  const Sight& sight = session.sight();
  const bool turns_too = pinned && sight.record && turns(pinned->tensor, sight.trace->symbols, *sight.record);
  change();
  if (turns_too && pinned && view.state_value_by_key != turned) std::swap(pinned->row, pinned->column);
}

void Application::change_view(const std::function<void(ViewOptions&)>& edit) {
  ViewOptions changed = view;
  edit(changed);
  keeping_pinned([&] { session.change_view(changed); });
}

void Application::show_panel(const Panel& panel) {
  change_view([&](ViewOptions& changed) { changed.level = std::clamp(view.level, panel.least, panel.most); });
  scene::focus_panel(panel.title);
}

void Application::copy_state() {
  ImGui::SetClipboardText(session.to_string().c_str());
  notice = "This place is in the clipboard, as --state takes it";
}

void Application::paste_state() {
  const char* text = ImGui::GetClipboardText();
  keeping_pinned([&] { session.from_string(text ? text : ""); });
}

double Application::since_step() const { return ImGui::GetTime() - last_step_; }

bool Application::animating() const {
  return playing || session.computing() || session.questions().busy() || since_step() < 0.3 || tells_slowly_;
}

double Application::telling() const {
  if (!tells_slowly_ || !view.growth) return std::numeric_limits<double>::infinity();
  return telling_from_ < 0 ? 0 : ImGui::GetTime() - telling_from_;
}

void Application::tell_slowly() {
  tells_slowly_ = true;
  telling_from_ = -1;
}

/// Goes on with the story, which ends with a key or when all is told.
void Application::tell_on() {
  constexpr double all_is_told = 2.6;  // seconds
  if (!tells_slowly_) return;
  if (telling_from_ < 0 && !session.computing() && !session.questions().busy())
    telling_from_ = ImGui::GetTime();
  if (is_anything_pressed() || telling() > all_is_told || !tells_story()) tells_slowly_ = false;
}

/// One step on; after the last of the repeated words to the first of them.
void Application::play_step() {
  const std::vector<Index>& repeated = session.state().repeated;
  const bool moved = session.step(play_grain(), 1);
  if (repeated.empty()) {
    playing = moved;
  } else if (!moved || session.token() > repeated.back() || session.token() < repeated.front()) {
    session.go_to_token(repeated.front());
    Cursor first = session.cursor();
    first.operation = 0;
    session.set_cursor(first);
  }
  show_welcome = false;
  notice.clear();
}

void Application::play() {
  if (!playing) play_debt_ = 0;
  if (!playing || session.lookout().is_stale()) return;  // no faster than the steps can be seen
  play_debt_ += std::min<double>(ImGui::GetIO().DeltaTime, 0.25) * steps_per_second;
  for (; playing && play_debt_ >= 1; play_debt_ -= 1) play_step();
}

void Application::layout(float top, float bottom) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 position = {viewport->WorkPos.x, viewport->WorkPos.y + top};
  const ImVec2 size = {viewport->WorkSize.x, std::max(viewport->WorkSize.y - top - bottom, 1.0F)};
  ImGui::SetNextWindowPos(position);
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {style::px(8), 0});
  ImGui::Begin("##dock", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavFocus |
                   ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar();
  // Between the panels lies the background; a separator (docking takes the border's colour) shows itself only
  // under the pointer.
  ImGui::PushStyleColor(ImGuiCol_Border, style::colours().background);
  fixed_.clear();
  if (!has_fixed_panels())
    panel_layout.draw(workspace());
  else
    fixed_ = panel_layout.fix(workspace(), shown_panels(), position, size);
  ImGui::PopStyleColor();
  ImGui::End();
}

std::vector<const Panel*> Application::panels_of_level() const {
  std::vector<const Panel*> all;
  for (const Panel& panel : workspace().panels) {
    if (panel.is_in(level()) && (!panel.has_something || panel.has_something(*this))) all.push_back(&panel);
  }
  return all;
}

std::vector<const Panel*> Application::shown_panels() const {
  std::vector<const Panel*> all = panels_of_level();
  if (!lesson.is_on() || peeks) return all;
  std::erase_if(all, [](const Panel* panel) { return panel->is_under_lesson(); });
  if (!on_paper) all.push_back(&lesson_panel(all));
  return all;
}

/// The panels, each in its window; where not all are shown, in windows of their own that cannot be moved.
void Application::draw_panels() {
  bool appears = false;
  const auto draw_panel = [&](const char* title, const Panel& panel, ImGuiWindowFlags flags) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});  // the panel's surface fills its window
    ImGui::Begin(title, nullptr, ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoScrollbar | flags);
    appears = appears || ImGui::IsWindowAppearing();
    ImGui::PopStyleVar();
    draw_part(title, [&] {
      const PartScope scope(workspace().id);
      panel.draw(*this);
    });
    ImGui::End();
  };
  if (!has_fixed_panels()) {
    for (const Panel* panel : shown_panels()) draw_panel(panel->title, *panel, 0);
    // A panel that has just come is not the chosen one: it would be marked in its corner.
    if (appears && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) ImGui::SetWindowFocus(nullptr);
    return;
  }
  for (const FixedPanel& one : fixed_) {
    ImGui::SetNextWindowPos(one.position);
    ImGui::SetNextWindowSize(one.size);
    draw_panel(one.title.c_str(), *one.panel,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings);
  }
}

void Application::draw_part(const char* title, const std::function<void()>& draw) {
  const std::string problem = guarded(draw);
  if (problem.empty()) return;
  undrawn_ = fmt::format("{}: {}", title, problem);
  draw_problem(title, problem);
}

void Application::find_usual_focus() {
  usual_.reset();
  usual_is_turned_ = view.state_value_by_key;
  if (!seen_.record) return;
  const Trace& trace = *seen_.trace;
  const Block block = trace.block(seen_.cursor.block);
  usual_ = largest_cell(trace.phase(block), block, trace.form, seen_.cursor, *seen_.record);
  if (usual_ && usual_is_turned_ && turns(usual_->tensor, trace.symbols, *seen_.record))
    std::swap(usual_->row, usual_->column);
}

void Application::draw(float usual_scale) {
  const ImVec2 window = ImGui::GetMainViewport()->WorkSize;
  const float base = usual_scale * static_cast<float>(zoom);
  is_narrow_ = window.x < base * narrow_window;
  const float room = std::min(window.x / story_size.x, window.y / story_size.y) / base;
  const float scale = base * (tells_story() ? std::clamp(room, 1.0F, most_story_zoom) : 1);
  style::apply(view.theme, scale);
  const std::string problem = guarded([this] {
    session.update();
    races.keep_racing(session);
    checks.keep_checking(session);
    remember_open_file();
    tell_on();  // the key that has it told does not end it
    if (!peeks)
      handle_keys(*this);
    else if (is_anything_pressed())  // which does nothing else
      peeks = false;
    require_workspace();
    play();
    arrive_in_lesson();
    session.look();
  });
  if (!problem.empty()) session.set_message(problem);
  undrawn_.clear();
  if (session.sight() != seen_) {
    seen_ = session.sight();
    last_step_ = ImGui::GetTime();
    find_usual_focus();
  }
  if (usual_is_turned_ != view.state_value_by_key) find_usual_focus();
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    notice.clear();
    refusal.clear();
  }

  parts().clear();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::GetBackgroundDrawList()->AddRectFilled(
      viewport->Pos, {viewport->Pos.x + viewport->Size.x, viewport->Pos.y + viewport->Size.y},
      style::colours().background);
  float top = has_top_bar ? style::px(top_bar_height) : 0;
  if (has_top_bar) draw_part("Top bar", [this, top] { draw_top_bar(*this, top); });
  const auto draw_bar = [&](const char* title, float height, void (*draw)(Application&, float, float)) {
    draw_part(title, [&] { draw(*this, top, style::px(height)); });
    top += style::px(height);
  };
  if (session.data().read && (!tells_story() || typing)) draw_bar("Text bar", text_bar_height, draw_text_bar);
  if (!presenting && has_doubts(*this)) draw_bar("Doubts", doubts_height, draw_doubts);
  layout(top, style::px(style::panel_gap));
  hovered.reset();
  hide_in_lesson();
  ask_on_plot();
  draw_panels();
  draw_part("Status", [this] { draw_status(*this); });
  const std::string overlay_problem = guarded([this] { draw_overlays(*this); });
  if (!overlay_problem.empty()) {
    show_data = show_keys = show_palette = show_open = show_save = show_places = show_names = false;
    session.set_message(overlay_problem);
  }
  tell_cut_words();
  hovered_before_ = hovered;
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) session.end_merge();
}

}  // namespace palimpsest
