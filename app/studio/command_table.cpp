#include "app/session/compared_sides.h"
#include "app/session/first_place.h"
#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/session/typed_text.h"
#include "app/studio/application.h"
#include "app/widgets/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using Grain = Session::Grain;
using Perform = std::function<void(Application&)>;
using WhyNot = std::function<std::string(const Application&)>;

/// A key chord; what goes on while it is held is done again and again.
struct Key {
  Key(int pressed) : chord(pressed) {}  // NOLINT(google-explicit-constructor): most are no more than that
  int chord;
  bool repeats = false;
};

Key held(int chord) {
  Key key = chord;
  key.repeats = true;
  return key;
}

struct CommandTable {
  std::vector<Command> rows = {};
  std::string group = {};

  void add(std::string id, std::string words, Key key, Perform perform, WhyNot why_not = nullptr,
           std::string explained = {}, std::string more = {}) {
    rows.push_back({std::move(id), group, std::move(words), key.chord, std::move(perform), std::move(why_not),
                    std::move(explained), key.repeats, std::move(more)});
  }
};

constexpr float slowest = 0.25F;  // steps per second

constexpr Index largest_listed_chunk = 256;

/// A change of the choice, of how things look, or of the state, as a command performs it.
template <class Change>
Perform choosing(Change change) {
  return [change](Application& application) { application.session.choose(change); };
}

template <class Change>
Perform showing(Change change) {
  return [change](Application& application) { application.change_view(change); };
}

template <class Change>
Perform changing(Change change) {
  return
      [change](Application& application) { application.session.change(change(application.session.state())); };
}

/// What a command does that opens something over the window, or the data that `id` names.
Perform opening(bool Application::*shown) {
  return [shown](Application& application) { application.*shown = true; };
}

Perform opening(std::string id) {
  return [id = std::move(id)](Application& application) { application.session.open_named(id); };
}

// Why not: a reason, or nothing.

template <class Possible>
WhyNot unless(Possible possible, const char* reason) {
  return [possible, reason](const Application& application) { return possible(application) ? "" : reason; };
}

/// The first reason of several.
template <class... Why>
WhyNot first_of(Why... why) {
  return [why...](const Application& application) {
    std::string reason;
    static_cast<void>((!(reason = why(application)).empty() || ...));
    return reason;
  };
}

const WhyNot nothing_open =
    unless([](const Application& a) { return a.session.computed() != nullptr; }, "nothing is open yet");

std::string form_missing(const Application& application, Form form) {
  const auto computed = application.session.computed();
  return computed ? computed->form(form).missing : std::string();
}

const WhyNot no_steps = first_of(
    nothing_open, [](const Application& a) { return form_missing(a, a.session.choice().form); },
    unless([](const Application& a) { return a.session.trace() && a.session.trace()->block_count() > 0; },
           "this form has no steps"));

WhyNot no_step(Grain grain, int direction) {
  const auto goes_on = [=](const Application& a) {
    return !(a.session.after(grain, direction) == a.session.cursor());
  };
  return first_of(no_steps, unless(goes_on, direction > 0 ? "this is the end" : "this is the start"));
}

Index last_head(const Application& application) {
  const DataSet& data = application.session.data();
  return data.heads * data.batches - 1;
}

WhyNot no_head(int direction) {
  const auto has_next = [=](const Application& a) {
    const Index next = a.session.choice().head + direction;
    return next >= 0 && next <= last_head(a);
  };
  return first_of(nothing_open,
                  unless([](const Application& a) { return last_head(a) > 0; }, "there is only one head"),
                  unless(has_next, direction > 0 ? "this is the last head" : "this is the first head"));
}

std::string no_device(const Application& application, const std::string& name) {
  const Session& session = application.session;
  return session.why_not_on(find_backend(name, session.devices()), session.choice().form,
                            session.computed().get());
}

/// Why the chosen device does not compute in a precision; empty if it does.
std::string no_precision(const Application& application, Precision precision) {
  const Session& session = application.session;
  return why_not_in(find_backend(session.choice().device, session.devices()), precision);
}

/// The next of the precisions that the chosen device has, after the last the first.
void choose_next_precision(Application& application) {
  application.session.choose([devices = application.session.devices()](Choice& choice) {
    const std::vector<Precision> all = precisions_of(find_backend(choice.device, devices));
    const auto present = std::ranges::find(all, choice.precision);
    choice.precision = present == all.end() || present + 1 == all.end() ? all.front() : *(present + 1);
  });
}

std::string no_chunk_of(const Application& application, Index size) {
  if (std::string reason = nothing_open(application); !reason.empty()) return reason;
  const Index most = largest_chunk(application.session.data().tokens);
  return size <= most ? "" : fmt::format("a chunk has at most {} tokens here", most);
}

/// At the end it plays from the start.
void play_or_pause(Application& application) {
  application.playing = !application.playing;
  const Session& session = application.session;
  if (application.playing && session.after(application.play_grain(), 1) == session.cursor())
    application.session.step(Grain::end, -1);
}

/// From one end of the range to the other, then away with it.
void mark_repeated(Application& application) {
  Session& session = application.session;
  const std::vector<Index> marked = session.state().repeated;
  const Index token = session.token();
  if (marked.empty()) {
    session.repeat({token});
    application.notice = "Playing repeats this token; at another token, the same key extends the range";
  } else if (marked.front() == marked.back() && marked.front() != token) {
    session.repeat({std::min(marked.front(), token), std::max(marked.front(), token)});
    application.notice = "Playing repeats these tokens; the same key ends that";
  } else {
    session.repeat({});
    application.notice = "Playing continues to the end";
  }
}

/// To the next token with an event, or the one before; says what happens there.
void go_to_mark(Application& application, int direction) {
  Session& session = application.session;
  application.playing = false;
  application.show_welcome = false;
  const auto mark = next_mark(*session.computed(), session.token(), direction);
  if (!mark) {
    application.refusal =
        fmt::format("No event {} token {}", direction > 0 ? "after" : "before", session.token() + 1);
    return;
  }
  session.go_to_token(mark->token);
  application.notice = fmt::format(
      "Token {} {}", numbered_label(entry(session.data().labels, mark->token), mark->token), mark->words);
}

void change_grain(Application& application) {
  Grain& grain = application.grain;
  grain = grain == Grain::operation ? Grain::token : grain == Grain::token ? Grain::chunk : Grain::operation;
}

void change_variant(Choice& choice, int direction) {
  const auto table = variants();
  const auto present =
      std::ranges::find(table, without_strength(choice.variant), &Variant::id) - table.begin();
  const auto size = static_cast<std::ptrdiff_t>(table.size());
  choice.variant = entry(table, (present + direction + size) % size).id;
}

/// The next larger or smaller of the sizes that everything can be drawn in; nothing at the last of them.
std::optional<double> next_zoom(const Application& application, int direction) {
  constexpr double sizes[] = {least_scale, 0.6, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, most_scale};
  std::optional<double> next;
  for (const double size : sizes) {
    if (direction > 0 ? size > application.zoom && !next : size < application.zoom) next = size;
  }
  return next;
}

void add_step(CommandTable& time, const char* id, const char* words, Key key, Grain grain, int direction) {
  time.add(
      id, words, key, [=](Application& a) { a.step(grain, direction); }, no_step(grain, direction));
}

void add_mark(CommandTable& time, const char* id, const char* words, int key, int direction) {
  time.add(
      id, words, held(key), [=](Application& a) { go_to_mark(a, direction); }, no_steps, events_in_words());
}

void add_time(CommandTable& time) {
  time.add("time.play", "play or pause", ImGuiKey_Space, play_or_pause, no_steps);
  add_step(time, "operation.forward", "one operation forward", held(ImGuiKey_RightArrow), Grain::operation,
           1);
  add_step(time, "operation.back", "one operation back", held(ImGuiKey_LeftArrow), Grain::operation, -1);
  add_step(time, "token.forward", "one token forward", held(ImGuiMod_Shift | ImGuiKey_RightArrow),
           Grain::token, 1);
  add_step(time, "token.back", "one token back", held(ImGuiMod_Shift | ImGuiKey_LeftArrow), Grain::token, -1);
  add_step(time, "chunk.forward", "one chunk forward", held(ImGuiMod_Ctrl | ImGuiKey_RightArrow),
           Grain::chunk, 1);
  add_step(time, "chunk.back", "one chunk back", held(ImGuiMod_Ctrl | ImGuiKey_LeftArrow), Grain::chunk, -1);
  add_step(time, "time.end", "to the end", ImGuiKey_End, Grain::end, 1);
  add_step(time, "time.start", "to the start", ImGuiKey_Home, Grain::end, -1);
  time.add("time.repeat", "mark or end the repeated range", ImGuiMod_Shift | ImGuiKey_Space, mark_repeated,
           no_steps, "Marks the first, then the last token of the range that playing repeats");
  add_mark(time, "mark.forward", "next event", ImGuiKey_J, 1);
  add_mark(time, "mark.back", "previous event", ImGuiMod_Shift | ImGuiKey_J, -1);
  time.add("time.grain", "play by operation, token or chunk", ImGuiKey_G, change_grain);
  time.add(
      "time.faster", "play faster", held(ImGuiKey_UpArrow),
      [](Application& a) { a.steps_per_second = std::min(a.steps_per_second * 2, a.fastest); },
      unless([](const Application& a) { return a.steps_per_second < a.fastest; }, "this is the fastest"));
  time.add(
      "time.slower", "play slower", held(ImGuiKey_DownArrow),
      [](Application& a) { a.steps_per_second = std::max(a.steps_per_second / 2, slowest); },
      unless([](const Application& a) { return a.steps_per_second > slowest; }, "this is the slowest"));
}

std::string compared_with(Precision precision) {
  return precision == Precision::f64
             ? "the f64 recurrence"
             : fmt::format("the f64 recurrence on {} inputs", name(given_in(precision)));
}

void add_forms(CommandTable& forms) {
  int key = ImGuiKey_1;
  for (const Form form : all_forms)
    forms.add(
        fmt::format("form.{}", name(form)), name(form), key++,
        choosing([form](Choice& choice) { choice.form = form; }),
        [form](const Application& a) { return form_missing(a, form); },
        fmt::format("Step through the {} form", name(form)));
  forms.add("chunk.larger", "larger chunks", held(ImGuiKey_RightBracket),
            choosing([](Choice& choice) { choice.chunk_size *= 2; }),
            [](const Application& a) { return no_chunk_of(a, a.session.choice().chunk_size + 1); });
  forms.add("chunk.smaller", "smaller chunks", held(ImGuiKey_LeftBracket),
            choosing([](Choice& choice) { choice.chunk_size /= 2; }),
            unless([](const Application& a) { return a.session.choice().chunk_size > 1; },
                   "a chunk already has only one token"));
  forms.add("precision.other", "the next precision: f64, f32, tf32, bf16", ImGuiKey_P, choose_next_precision);
  for (const Precision precision : all_precisions)
    forms.add(
        fmt::format("precision.{}", name(precision)), fmt::format("compute in {}", name(precision)), 0,
        choosing([precision](Choice& choice) { choice.precision = precision; }),
        [precision](const Application& a) { return no_precision(a, precision); },
        fmt::format("Compute all forms in {}; they are compared with {}", name(precision),
                    compared_with(precision)));
  for (const Backend* backend : backends()) {
    const std::string device = backend->name();
    forms.add(
        "device." + device, "compute on " + device, 0,
        choosing([device](Choice& choice) { choice.device = device; }),
        [device](const Application& a) { return no_device(a, device); },
        fmt::format("Compute all forms on {}; they are compared with the CPU's f64 recurrence", device));
  }
  for (Index size = 1; size <= largest_listed_chunk; size *= 2)
    forms.add(fmt::format("chunk.{}", size), "chunks of " + counted(size, "token", "tokens"), 0,
              choosing([size](Choice& choice) { choice.chunk_size = size; }),
              [size](const Application& a) { return no_chunk_of(a, size); });
  forms.add(
      "form.read", "read the output before or after this token's write", 0,
      [](Application& a) {
        choose_read(a.session, !is_read_before(a.session.computed()->sequence.settings));
      },
      first_of(nothing_open, [](const Application& a) {
        const auto computed = a.session.computed();
        return no_read_order(*computed->variant, computed->sequence.settings);
      }));
}

void add_changes(CommandTable& changes) {
  changes.add(
      "change.undo", "undo", held(ImGuiMod_Ctrl | ImGuiKey_Z), [](Application& a) { a.session.undo(); },
      unless([](const Application& a) { return a.session.can_undo(); }, "nothing has been changed yet"),
      "Undoes changes of data, rule, form, device, precision, sliders and queried tokens; the view stays");
  const auto redo = [](Application& a) { a.session.redo(); };
  const WhyNot no_redo =
      unless([](const Application& a) { return a.session.can_redo(); }, "nothing has been undone yet");
  changes.add("change.redo", "redo", held(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z), redo, no_redo);
  changes.add("change.redo_too", "redo (second key)", held(ImGuiMod_Ctrl | ImGuiKey_Y), redo, no_redo);
  changes.add("change.reset", "reset inputs and settings to those of the data", 0,
              choosing([](Choice& choice) {
                choice.edits = {};
                choice.settings = {};
              }),
              unless([](const Application& a) { return a.session.choice().is_changed(); },
                     "nothing has been changed"));
  changes.add("change.copy", "copy this place", ImGuiMod_Ctrl | ImGuiKey_C, &Application::copy_state,
              nothing_open, "Copies it as a short string, for --state or another window");
  changes.add("change.paste", "go to a copied place", ImGuiMod_Ctrl | ImGuiKey_V, &Application::paste_state);
}

void add_head(CommandTable& data, const char* id, const char* words, int key, int direction) {
  data.add(id, words, held(key), choosing([=](Choice& choice) { choice.head += direction; }),
           no_head(direction));
}

void add_data(CommandTable& data) {
  data.add("data.list", "all data: captures, presets, own files", ImGuiKey_D,
           opening(&Application::show_data), nullptr, "Lists captures, presets and your own files");
  data.add(
      "data.save", "save this place", ImGuiMod_Ctrl | ImGuiKey_S,
      [](Application& a) { a.ask_where_to_save(); }, nothing_open,
      "Choose a file; open it later as you open data");
  data.add("variant.next", "next rule", held(ImGuiKey_V),
           choosing([](Choice& choice) { change_variant(choice, 1); }));
  data.add("variant.previous", "previous rule", held(ImGuiMod_Shift | ImGuiKey_V),
           choosing([](Choice& choice) { change_variant(choice, -1); }));
  add_head(data, "head.next", "next head", ImGuiKey_H, 1);
  add_head(data, "head.previous", "previous head", ImGuiMod_Shift | ImGuiKey_H, -1);
  data.add("data.open", "open a file", ImGuiMod_Ctrl | ImGuiKey_O, opening(&Application::show_open));
  data.add(
      "data.names", "choose the arrays of the file", 0,
      [](Application& a) {
        a.names_of = a.session.data().id;
        a.show_names = true;
      },
      unless([](const Application& a) { return std::filesystem::path(a.session.data().id).is_absolute(); },
             "no file is open"),
      "Which array is q, k, v and the gates");
}

void enlarge(Application& application) {
  application.enlarged = application.enlarged ? std::nullopt : std::optional(application.focus()->tensor);
}

void present(Application& application) {
  application.presenting = !application.presenting;
  if (application.presenting) application.notice = "Press F or Esc to leave the presentation";
}

void release(Application& application) {
  application.typing = false;
  if (!application.pinned && !application.enlarged) {
    if (!application.presenting) application.leave_lesson();
    application.presenting = false;
  }
  application.pinned.reset();
  application.enlarged.reset();
}

void add_zoom(CommandTable& view, const char* id, const char* words, int key, int direction) {
  view.add(
      id, words, held(key), [=](Application& a) { a.zoom = *next_zoom(a, direction); },
      unless([=](const Application& a) { return next_zoom(a, direction).has_value(); },
             direction > 0 ? "this is the largest size" : "this is the smallest size"));
}

std::string has_room_for_more(const Application& application) {
  return application.is_narrow() ? "the window is too narrow for more than the story" : "";
}

void add_level(CommandTable& group, const char* id, const char* words, int key, int direction,
               const char* none) {
  const auto next = [direction](Level level) { return static_cast<int>(level) + direction; };
  const auto goes_on = [next](const Application& a) {
    return next(a.view.level) >= 0 && next(a.view.level) < std::ssize(all_of<Level>);
  };
  group.add(id, words, key,
            showing([next](ViewOptions& view) { view.level = static_cast<Level>(next(view.level)); }),
            first_of(has_room_for_more, unless(goes_on, none)),
            "Sets story, work or all for every workspace");
}

/// Leads to what only the level "all" shows of a workspace.
void add_folded(CommandTable& group, const char* id, const char* words, const char* workspace,
                void (*choose)(SessionState&) = nullptr) {
  group.add(id, words, 0, [workspace, choose](Application& application) {
    application.change_view([](ViewOptions& view) { view.level = Level::all; });
    application.enter(workspace);
    if (choose) application.session.change(choose);
  });
}

/// Looks at what was asked in a lesson, which then grows; else goes to its next step.
void look_or_go_on(Application& application) {
  const bool asks = application.lesson.hides();
  application.go_on_in_lesson();
  if (asks && !application.lesson.hides()) application.tell_slowly();
}

void add_view(CommandTable& group) {
  group.add("view.theme", "dark or light", ImGuiKey_L, showing([](ViewOptions& view) {
              view.theme = view.theme == Theme::dark ? Theme::light : Theme::dark;
            }),
            nullptr, "Switches between dark and light");
  group.add("view.theme.dark", "dark theme", 0, showing([](ViewOptions& view) { view.theme = Theme::dark; }));
  group.add("view.theme.light", "light theme", 0,
            showing([](ViewOptions& view) { view.theme = Theme::light; }));
  for (const auto& [level, shown] : {std::pair(Level::story, "show the story"),
                                     {Level::work, "show the usual panels"},
                                     {Level::all, "show everything"}})
    group.add(fmt::format("view.level.{}", name(level)), shown, 0,
              showing([level = level](ViewOptions& view) { view.level = level; }), has_room_for_more);
  add_level(group, "view.more", "show more", ImGuiKey_I, 1, "everything is shown");
  add_level(group, "view.less", "show less", ImGuiMod_Shift | ImGuiKey_I, -1, "only the story is shown");
  group.add("view.shared_scale", "one colour scale for all matrices, or one each", ImGuiKey_C,
            showing([](ViewOptions& view) { view.shared_scale = !view.shared_scale; }));
  group.add("view.turn", "S as key × value or value × key", ImGuiKey_T,
            showing([](ViewOptions& view) { view.state_value_by_key = !view.state_value_by_key; }));
  group.add("view.numbers", "numbers in large cells", ImGuiKey_N, [](Application& a) {
    a.change_view([](ViewOptions& view) { view.numbers = !view.numbers; });
    a.notice = a.view.numbers ? "Numbers are shown in cells of at least 20 pixels"
                              : "Numbers are not shown in cells";
  });
  group.add(
      "view.enlarge", "enlarge the picture under the pointer, or go back", ImGuiKey_E, enlarge,
      unless([](const Application& a) { return a.enlarged || a.focus(); }, "the pointer is on no picture"));
  group.add("view.growth", "animate results, or show them at once", ImGuiMod_Shift | ImGuiKey_N,
            showing([](ViewOptions& view) { view.growth = !view.growth; }));
  add_folded(group, "learn.keys", "which keys collide?", "learn",
             [](SessionState& state) { state.learn.page = LearnPage::keys; });
  add_folded(group, "learn.capacity", "how much fits in?", "learn",
             [](SessionState& state) { state.learn.page = LearnPage::capacity; });
  add_folded(group, "attend.choices", "mask, chunks, weights or shares, softmax scale", "attend");
  add_folded(group, "verify.precisions", "difference of every precision", "verify",
             [](SessionState& state) { state.verify.lens = ProofLens::precisions; });
  add_folded(group, "measure.choices", "rules, devices, lengths and shapes of a race; reports", "measure");
  add_zoom(group, "view.larger", "everything larger", ImGuiMod_Ctrl | ImGuiKey_Equal, 1);
  add_zoom(group, "view.smaller", "everything smaller", ImGuiMod_Ctrl | ImGuiKey_Minus, -1);
  add_zoom(group, "view.larger_too", "everything larger (second key)",
           ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Equal, 1);
  group.add("view.present", "present: only the picture and its text, larger", ImGuiKey_F, present, nullptr,
            "For an audience; the same key or Esc ends it");
  group.add(
      "view.hide", "hide or show the answers of the story", 0,
      [](Application& a) { a.hides_answers = !a.hides_answers; }, nullptr,
      "Hatches what a token changes until you press Enter");
  group.add("view.reveal", "show the hidden answer, or go on in a lesson", ImGuiKey_Enter,
            [](Application& a) { a.lesson.is_on() ? look_or_go_on(a) : a.reveal(); });
  group.add("view.usual_size", "usual size", ImGuiMod_Ctrl | ImGuiKey_0, [](Application& a) { a.zoom = 1; });
  group.add("view.tabs", "show or hide tabs to drag the panels", ImGuiKey_M,
            [](Application& a) { a.panel_layout.show_tabs(!a.panel_layout.shows_tabs()); });
  group.add(
      "view.reset_layout", "reset the panels", 0, [](Application& a) { a.panel_layout.reset(a.workspace()); },
      unless([](const Application& a) { return a.panel_layout.is_own(a.workspace()); },
             "no panel has been moved"),
      "Undoes docking and resizing in this workspace");
  group.add("view.release", "release the held number, or stop presenting", ImGuiKey_Escape, release);
}

void add_lesson(CommandTable& group) {
  const auto is_on = unless([](const Application& a) { return a.lesson.is_on(); }, "no lesson is open");
  group.add(
      "lesson.list", "lessons", ImGuiMod_Ctrl | ImGuiKey_L, [](Application& a) { a.show_lessons = true; },
      nullptr, "Short walks through the program, with questions");
  for (const ListedLesson& each : shipped_lessons())
    group.add("lesson." + each.file.stem().string(), "lesson: " + each.title, 0,
              [file = each.file](Application& a) { a.open_lesson(file); });
  group.add("lesson.on", "show the result, or the next step of the lesson", 0, look_or_go_on, is_on);
  group.add(
      "lesson.back", "the previous step of the lesson", ImGuiKey_Backspace, &Application::go_back_in_lesson,
      first_of(is_on,
               unless([](const Application& a) { return a.lesson.index() > 0; }, "this is the first step")));
  group.add(
      "lesson.peek", "what the lesson covers, until the next press", 0,
      [](Application& a) { a.peeks = true; },
      first_of(is_on, unless([](const Application& a) { return !a.lesson.hides(); },
                             "it could show the answer: first predict, then look")));
  group.add("lesson.leave", "leave the lesson", 0, &Application::leave_lesson, is_on);
  group.add("lesson.return", "back to where you were before the lesson", 0, &Application::return_from_lesson,
            unless([](const Application& a) { return a.can_return_from_lesson(); }, "no lesson was open"));
}

const WhyNot no_place =
    unless([](const Application& a) { return !a.places.all().empty(); }, "no place is pinned yet");

void add_place(CommandTable& places, const char* id, const char* words, int key, int direction) {
  const auto has_next = [=](const Application& a) { return a.places.after(direction) != nullptr; };
  places.add(
      id, words, key, [=](Application& a) { a.go_to_place(a.places.present() + direction); },
      first_of(no_place,
               unless(has_next, direction > 0 ? "this is the last place" : "this is the first place")));
}

/// The end of the second of two documents under four rules: one that adds, fades, erases, and does both.
void show_why_to_forget(Application& application) {
  SessionState state = application.session.state();
  const Preset& documents = *preset_of("preset:documents");
  state.data = usual_preset_id(documents);
  state.sides.clear();
  for (const char* const variant : {"linear", "scalar_decay", "deltanet", "gated_deltanet"})
    state.sides.push_back({.variant = variant});
  state.edits = {};
  state.head = 0;
  state.place = {.token = 6};  // the last one that writes
  state.words = {};
  state.repeated = {};
  state.compare = {};
  state.verify = {};
  state.workspace = "compare";
  state.view.level = std::max(state.view.level, Level::work);
  application.session.from_string(state_string(state));
}

void add_places(CommandTable& places) {
  places.add("places.forget", "what a gate is for: four rules on two documents", 0, show_why_to_forget,
             nullptr, "Only a rule with a decay and an erase is right about every fact");
  places.add("places.add", "pin this place", ImGuiKey_B, &Application::pin_place, nothing_open,
             "Keeps data, rule, form and cursor, for a lecture");
  add_place(places, "places.next", "next pinned place", ImGuiKey_PageDown, 1);
  add_place(places, "places.previous", "previous pinned place", ImGuiKey_PageUp, -1);
  places.add(
      "places.remove", "remove the present place", 0,
      [](Application& a) { a.places.remove(a.places.present()); },
      unless([](const Application& a) { return a.places.present() >= 0; }, "you are at no pinned place"));
  places.add(
      "places.clear", "remove all pinned places", 0, [](Application& a) { a.places = {}; }, no_place,
      "Places saved in a file stay there");
  places.add("places.list", "all pinned places", ImGuiMod_Shift | ImGuiKey_B,
             opening(&Application::show_places), nullptr, "Shows their names and their order");
  places.add(
      "places.save", "save the pinned places", 0,
      [](Application& a) {
        a.ask_where_to_save({.file = "places",
                             .what = "the pinned places",
                             .is_in = "These places are saved in",
                             .text = [&a] { return write_places(a.places.all()); }});
      },
      no_place, "Writes one file, which you open as data");
}

void add_words(CommandTable& table) {
  table.add("words.strongest", "query the tokens with the strongest writes", 0,
            changing([](SessionState state) {
              state.words.clear();
              return state;
            }),
            unless([](const Application& a) { return !a.session.state().words.empty(); },
                   "they are queried already"),
            "Replaces the tokens chosen by Ctrl+click in the text");
}

const WhyNot not_here = first_of(
    nothing_open, unless([](const Application& a) { return a.workspace().id == std::string_view("compare"); },
                         "the sides are in Compare"));

Side side_with_handle(const Application& application) {
  const SessionState& state = application.session.state();
  return compared_sides(state)[handle_side(state)];
}

void move_handle(Application& application, int direction) {
  const SessionState& state = application.session.state();
  Side moved = further_on_rail(side_with_handle(application), direction);
  application.session.change(with_side_as(state, handle_side(state), std::move(moved)), "rail keys");
}

WhyNot no_way(int direction) {
  const auto is_on_rail = [](const Application& a) { return place_on_rail(side_with_handle(a)).has_value(); };
  const auto goes_on = [=](const Application& a) {
    const Side side = side_with_handle(a);
    return !(further_on_rail(side, direction) == side);
  };
  return first_of(not_here, unless(is_on_rail, "the side with the handle is not on the rail"),
                  unless(goes_on, "this is the end of the rail"));
}

void add_way_on_rail(CommandTable& compare, const char* id, const char* words, int key, int direction) {
  compare.add(
      id, words, held(key), [=](Application& a) { move_handle(a, direction); }, no_way(direction));
}

void add_compare(CommandTable& compare) {
  compare.add(
      "compare.add", "add a side", ImGuiKey_A,
      changing([](const SessionState& state) { return with_side(state, next_side(state)); }),
      first_of(
          not_here,
          unless([](const Application& a) { return compared_sides(a.session.state()).size() < most_sides; },
                 "at most four sides are compared")),
      "Adds the nearest rule on the rail that is not shown yet");
  compare.add("compare.remove", "remove this side", ImGuiKey_X,
              changing([](const SessionState& state) { return without_side(state, handle_side(state)); }),
              first_of(not_here,
                       [](const Application& a) {
                         return why_it_stays(a.session.state(), handle_side(a.session.state()));
                       }),
              "The side with the rail's handle");
  compare.add("compare.reference", "make this side the baseline", ImGuiKey_R,
              changing([](const SessionState& state) { return with_reference(state, handle_side(state)); }),
              not_here, "Compares all others with the side that has the rail's handle");
  compare.add("compare.handle", "give the handle to the next side", 0, changing([](SessionState state) {
                state.compare.handle = (handle_side(state) + 1) % compared_sides(state).size();
                return state;
              }),
              not_here);
  add_way_on_rail(compare, "compare.further", "move the handle along the rail", ImGuiKey_Period, 1);
  add_way_on_rail(compare, "compare.back", "move the handle back", ImGuiKey_Comma, -1);
}

void add_help(CommandTable& help) {
  help.add("help.commands", "all commands", ImGuiMod_Ctrl | ImGuiKey_P, opening(&Application::show_palette),
           nullptr, "Searches commands, tokens, steps and panels");
  help.add("help.keys", "these keys", ImGuiMod_Shift | ImGuiKey_Slash, opening(&Application::show_keys));
  help.add("help.quit", "quit", ImGuiMod_Ctrl | ImGuiKey_Q, [](Application& a) { a.quit(); });
}

void add_faults(CommandTable& table) {
  table.add("fault.out", "remove the fault", 0, choosing([](Choice& choice) { choice.fault.id.clear(); }),
            unless([](const Application& a) { return !a.session.state().verify.fault.id.empty(); },
                   "no fault is injected"),
            "Restores the right equations");
}

std::string more_words(const Variant& variant) {
  std::string words = variant.paper;
  for (const Option& option : variant.options) {
    words += ' ' + option.name + ' ' + option.meaning;
    for (const std::string& value : option.values) words += ' ' + value;
  }
  for (const Input& input : variant.inputs) words += ' ' + input.name + ' ' + input.meaning;
  for (const Parameter& parameter : variant.parameters)
    words += ' ' + parameter.name + ' ' + parameter.meaning;
  return words;
}

void add_variants(CommandTable& table) {
  for (const Variant& variant : variants())
    table.add("variant." + variant.id, variant.label, 0,
              choosing([id = variant.id](Choice& choice) { choice.variant = id; }), nullptr, variant.words,
              more_words(variant));
}

/// Those in the folder when the program starts.
void add_captures(CommandTable& group) try {
  for (const CaptureSummary& capture : list_captures(asset("captures"))) {
    const std::string stem = capture.file.stem().string();
    group.add("capture." + stem, capture.name, 0, opening("capture:" + stem),
              [reason = capture.error](const Application&) { return reason; });
  }
} catch (const Error&) {
  // The list of data says why there are none.
}

void add_presets(CommandTable& group) {
  for (const Preset& preset : presets())
    group.add("preset." + preset.id, preset.label, 0, opening(usual_preset_id(preset)), nullptr,
              preset.words);
}

void add_text(CommandTable& group) {
  const auto type = [](Application& application, bool types) {
    if (!application.session.data().read) application.open_first_text();
    application.typing = application.wants_keyboard = types;
  };
  group.add("text.open", "type your own text", ImGuiMod_Ctrl | ImGuiKey_T, [type](Application& application) {
    type(application, true);
    application.show_data = false;
  });
  group.add("text.type", "type in the text", 0,
            [type](Application& application) { type(application, !application.typing); });
  const WhyNot no_text = unless([](const Application& a) { return a.session.data().read != nullptr; },
                                "No typed text is open: Ctrl+T opens one");
  // `value` of the change at the present token.
  const auto toggling = [](const char* kind, std::string (*value)(const Session&)) -> Perform {
    return [kind, value](Application& application) {
      Session& session = application.session;
      TypedText typed = session.data().read->typed;
      Intervention change = targeted(typed, session.state().text.target, kind);
      change.value = value(session);
      const Intervention* const present = find_intervention(typed, change);
      put(typed, change, !present || *present != change);
      session.read(typed);
    };
  };
  const auto nothing = [](const Session&) { return std::string(); };
  const auto word = [](const Session& session) { return std::to_string(session.token()); };
  group.add("text.only_add", "only add: no erase before a write", 0, toggling("only-add", nothing), no_text);
  group.add("text.silent", "set the output to 0", 0, toggling("silent", nothing), no_text);
  group.add("text.take_out", "remove what this token stored", 0, toggling("take-out", word), no_text);
  group.add("text.clear", "empty the memory before this token", 0, toggling("clear", word), no_text);
  group.add(
      "text.as_trained", "undo all changes of the model", 0,
      [](Application& a) { a.session.read(a.session.data().read->typed.as_trained()); }, no_text);
}

}  // namespace

std::span<const Command> commands() {
  static const CommandTable all = [] {
    constexpr std::pair<const char*, void (*)(CommandTable&)> groups[] = {
        {"Time", add_time},       {"Form", add_forms},       {"Change", add_changes}, {"Data", add_data},
        {"View", add_view},       {"Lessons", add_lesson},   {"Places", add_places},  {"Queries", add_words},
        {"Compare", add_compare}, {"Help", add_help},        {"Text", add_text},      {"Verify", add_faults},
        {"Rule", add_variants},   {"Capture", add_captures}, {"Preset", add_presets}};
    CommandTable table;
    for (const auto& [group, add] : groups) {
      table.group = group;
      add(table);
    }
    return table;
  }();
  return all.rows;
}

}  // namespace palimpsest
