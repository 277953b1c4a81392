#pragma once

#include "app/lessons/walk.h"
#include "app/session/kept.h"
#include "app/session/races.h"
#include "app/session/verify_questions.h"
#include "app/stage/cell_words.h"
#include "app/studio/command.h"
#include "app/studio/layout.h"
#include "app/widgets/style.h"

namespace palimpsest {

/// What is to be written into a file; a place is among the recent files then.
struct ToSave {
  std::string file = "palimpsest";  // its name, before a number
  std::string what = "this place";
  std::string is_in = "This place is saved in";
  std::string ending = ".json";
  std::function<std::string()> text = {};  // null: the present place
  std::filesystem::path folder = {};       // of the proposed path
};

/// The user interface: one session, its panels, its keys. Draws one frame of Dear ImGui; independent of
/// windows.
class Application {
 public:
  /// `shown`: its workspaces, at least one. `known`: what can be done in it. `devices`: as Session takes
  /// them.
  explicit Application(std::span<const Workspace> shown = palimpsest::workspaces(),
                       std::span<const Command> known = palimpsest::commands(), Devices devices = backends());

  std::span<const Workspace> workspaces() const { return workspaces_; }

  /// The workspace that is shown.
  const Workspace& workspace() const;

  /// If a saved place names an unknown workspace, goes to the first one; session.message() says so.
  void require_workspace();

  /// Shows the workspace `id`. Throws InputError if there is none.
  void enter(std::string_view id);

  /// Where the panels lie.
  Layout panel_layout;

  /// Including those that enter workspaces if there are several.
  std::span<const Command> commands() const { return commands_; }

  /// Lets a page change their keys and words: a browser keeps some keys for itself.
  void edit_commands(const std::function<void(Command&)>& edit) { std::ranges::for_each(commands_, edit); }

  /// Draws one frame into the current Dear ImGui context. `scale` is how much larger than in the design
  /// things are. A panel that cannot be drawn says why in its place; the others go on.
  void draw(float scale);

  /// What could not be drawn in the last frame, and why; empty if all could.
  const std::string& undrawn() const { return undrawn_; }

  /// Whether the next frame will differ without any input.
  bool animating() const;

  /// The time since the story of a first start began, in seconds; infinite if it is shown at once.
  double telling() const;

  Session session;
  const ViewOptions& view = session.state().view;

  /// Changes the view, which cannot be undone. A pinned cell remains the same number.
  void change_view(const std::function<void(ViewOptions&)>& edit);

  /// The cell under the pointer in this frame, on any panel; the other panels highlight it.
  std::optional<CellFocus> hovered;
  /// A cell that was clicked stays in focus until another click or Escape.
  std::optional<CellFocus> pinned;
  /// The tensor that fills the Stage.
  std::optional<std::string> enlarged;
  /// The cell that "why this number?" explains: hovered, else pinned, else the largest of what the present
  /// step makes.
  std::optional<CellFocus> focus() const {
    if (hovered_before_) return hovered_before_;
    return pinned ? pinned : usual_;
  }
  /// Whether that is the largest, which nobody pointed at.
  bool focus_is_usual() const { return !hovered_before_ && !pinned; }

  /// How much larger everything is drawn than draw() is told.
  double zoom = 1;

  // Playing
  bool playing = false;
  static constexpr float fastest = 64;  // steps per second
  float steps_per_second = 2;
  Session::Grain grain = Session::Grain::operation;
  Session::Grain play_grain() const { return tells_story() ? Session::Grain::token : grain; }

  /// Shows the story piece by piece, until it is told or a key is pressed.
  void tell_slowly();

  // Overlays
  bool show_welcome = true;  // the line that says what to press
  bool show_keys = false;
  bool show_palette = false;
  std::vector<std::string> recent_commands;  // ids of those done in the palette, the last one first
  bool show_data = false;                    // the page of all data
  std::vector<std::string> recent_files;     // paths of own data that were open, the last one first
  std::vector<std::string> closed_stories;   // data whose story was put away, the last one first
  bool show_names = false;                   // which array of a file is which input,
  std::string names_of;                      // of the data with this id
  bool show_open = false;
  std::string open_path;  // what is typed in the open dialog
  bool show_save = false;
  ToSave saving;          // what the save dialog is about,
  std::string save_path;  // and what is typed in it
  bool show_places = false;

  /// Opens the typed text of a first start, at a token that overwrites a value. Returns whether it worked, or
  /// is under way; session.message() says why not.
  bool open_first_text();

  /// Opens a saved place, a file of pinned ones or a report of `bench` (.json), or data. Returns whether it
  /// worked, or is under way; session.message() says why not.
  bool open(const std::filesystem::path& path);

  /// Opens what was dropped on the window: one file, a folder of .npy files or several of them, or several
  /// reports.
  void drop(const std::vector<std::filesystem::path>& paths);

  /// The folder in which a person's files are looked for and saved at first: that of the last own file, else
  /// the person's home, else the working folder.
  std::filesystem::path own_folder() const;

  /// Shows as much as it takes to see a panel of the workspace, and brings it to the front.
  void show_panel(const Panel& panel);

  /// Whether the result of a story is hatched until the user asks for it, at every token again.
  bool hides_answers = false;
  bool hides_answer() const {
    return tells_story() && (lesson.hides() || (hides_answers && revealed_ != session.cursor()));
  }
  void reveal() { revealed_ = session.cursor(); }

  /// Whether the user types a text where the line for it is not always there.
  bool typing = false;
  bool wants_keyboard = false;  // that line, when it is next drawn

  /// Asks where something is to be saved: the present place, to be opened again or given to `render
  /// --session`, or what is said. Proposes the first file of its name that is not there yet.
  void ask_where_to_save(ToSave wanted = {});

  /// The same about a text made now, called `name` in words, in a file that ends so.
  void ask_where_to_save_text(const std::string& name, std::string text, const std::string& ending = ".json");

  /// Saves what was asked about. Returns why it cannot be written; empty if it is.
  std::string save_to(const std::filesystem::path& path);

  /// States to walk through, as in a lecture.
  PinnedPlaces places;

  /// The lesson that is open; it stands in the right column.
  LessonWalk lesson;
  bool show_lessons = false;  // the list of them
  bool spotlight = true;      // what a step does not point at is dimmed, until a press

  bool peeks = false;  // at what the lesson's panel covers, until a press

  bool on_paper = false;  // without its panel, and nothing is dimmed

  /// Opens a lesson at a step, or where the user left it. Returns whether that worked; session.message() says
  /// why not.
  bool open_lesson(const std::filesystem::path& file, std::optional<std::size_t> step = {});

  /// Reads the open lesson again, as its author has changed it.
  void reload_lesson();

  /// What is kept of lessons, by their names (LessonWalk::progress).
  std::map<std::string, std::string, std::less<>> lesson_progress;

  /// Shows what was predicted, or the next step; leaves the lesson after the last one.
  void go_on_in_lesson();
  void go_back_in_lesson();
  void leave_lesson();

  /// Goes back to where the user was before a lesson.
  void return_from_lesson();
  bool can_return_from_lesson() const { return before_lesson_ && !before_lesson_->data.empty(); }

  /// The keys (ImGuiKey) that answer the question that is asked: letters choose, arrows turn a number or move
  /// over cells, Space marks one. None while nothing is asked.
  std::span<const int> lesson_keys() const;
  void answer_in_lesson(int key);

  /// Whether a number is guessed on a plot, which hides its own curves.
  bool guesses_on_plot() const { return lesson.hides() && !lesson.step().question->plot.empty(); }

  /// Whether the user left the place of the lesson's step; and back to it.
  bool has_left_place_of_lesson() const;
  void show_step_of_lesson();

  /// Whether the place of a lesson's step is still being opened.
  bool is_arriving_in_lesson() const { return !lesson_place_.empty(); }

  /// The panels of the present level that have something to show; an open lesson covers some of them.
  std::vector<const Panel*> panels_of_level() const;

  /// What the expressions of the present step are about: the place of the step, wherever one goes then.
  Known<Facts> lesson_facts();

  /// What Measure shows.
  Races races;

  /// What Verify has checked of everything; it goes on while one looks at something else.
  CheckedGrid checks;

  /// Pins the current place, named by its token, rule and step.
  void pin_place();

  /// Goes to a pinned place. Problems are left in session.message().
  void go_to_place(Index index);

  /// Shows the story alone, without the top bar.
  bool presenting = false;

  /// Whether there is a top bar; none where a page of a course frames the program.
  bool has_top_bar = true;

  /// How much is shown: what view.level says, or the story, while presenting and where a window has room for
  /// no more.
  bool is_narrow() const { return is_narrow_; }
  Level level() const { return presenting || is_narrow_ ? Level::story : view.level; }

  /// Whether that is the story, or all: choices that are seldom wanted, too.
  bool tells_story() const { return level() == Level::story; }
  bool shows_all() const { return level() == Level::all; }

  /// Whether the panels cannot be moved.
  bool has_fixed_panels() const { return lesson.is_on() || !shows_all(); }

  /// Puts the present state into the clipboard, as `--state` takes it, and goes to one that is there.
  void copy_state();
  void paste_state();

  /// A success message at the foot of the window; the next key or click removes it.
  std::string notice;

  /// Why the last command could not be done, said at the foot of the window; gone with the next key or click.
  std::string refusal;

  /// Closes the program; set by the window.
  std::function<void()> quit = [] {};

  /// Goes to a token as a click on it does: playing stops.
  void go_to(Index token);

  /// Steps and stops where nothing follows.
  void step(Session::Grain by, int direction);

  /// Seconds since the cursor last moved: pictures fade in over the first fraction of one.
  double since_step() const;

 private:
  void keep_lesson_progress();
  void arrive_in_lesson();
  void hide_in_lesson();
  void ask_on_plot();  // lets the user guess a number on a plot, and takes the guess
  void remember_file(const std::filesystem::path& file);
  void remember_open_file();
  void keeping_pinned(const std::function<void()>& change);
  void play();
  void play_step();
  void tell_on();
  void layout(float top, float bottom);
  bool open_rule(const std::filesystem::path& path);
  bool open_places(const std::filesystem::path& path, const std::string& text);
  void draw_panels();
  std::vector<const Panel*> shown_panels() const;
  void draw_part(const char* title, const std::function<void()>& draw);
  void find_usual_focus();

  std::span<const Workspace> workspaces_;
  std::vector<Command> commands_;
  std::string undrawn_;
  std::optional<Cursor> revealed_;  // where the answer was asked for
  std::optional<CellFocus> usual_;  // in the sight below, turned as the view wants it
  bool usual_is_turned_ = false;
  std::optional<CellFocus> hovered_before_;  // of the previous frame: complete when all panels have drawn
  double last_step_ = -1;
  bool tells_slowly_ = false;
  double telling_from_ = -1;  // as last_step_; below 0: not yet
  double play_debt_ = 0;
  std::optional<SessionState> before_lesson_;
  SessionState lesson_state_;  // that its step shows
  Known<Facts> lesson_facts_;  // of the present step, once they are known
  std::string lesson_place_;   // of the step that is being opened, as cursor_at() takes it; empty: none is
  std::vector<FixedPanel> fixed_;  // what is drawn instead of the panels that can be moved
  bool is_narrow_ = false;         // the window, so that only a story has room
  Sight seen_;
  std::string remembered_;  // the data that remember_open_file() saw last
};

/// Calls `draw`, which draws a part of the window. If it throws, Dear ImGui's windows and stacks are
/// restored, so that the rest can be drawn. Returns the error as a sentence; empty if there was none.
std::string guarded(const std::function<void()>& draw);

/// Covers the content of the Dear ImGui window `title` with the error.
void draw_problem(const char* title, const std::string& problem);

}  // namespace palimpsest
