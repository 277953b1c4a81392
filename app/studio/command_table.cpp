#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "app/session/kept.h"
#include "app/session/memory_questions.h"
#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/session/scales.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/studio/compare_commands.h"
#include "app/widgets/text.h"
#include "core/base/error.h"
#include "core/io/capture.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using Grain = Session::Grain;
using Table = std::vector<Command>;

// Steps per second.
constexpr float fastest = 64;
constexpr float slowest = 0.25F;

constexpr Index largest_listed_chunk = 256;

/// A change of the choice, as a command performs it.
template <class Change>
auto choosing(Change change) {
  return [change](Application& application) {
    Choice choice = application.session.choice();
    change(choice);
    application.session.choose(std::move(choice));
  };
}

/// A change of how things look, as a command performs it.
template <class Change>
auto showing(Change change) {
  return [change](Application& application) { application.change_view(change); };
}

// Why not: a reason, or nothing.

std::string unless(bool possible, const char* reason) { return possible ? "" : reason; }

std::string nothing_open(const Application& application) {
  return unless(application.session.computed() != nullptr, "nothing is open yet");
}

std::string form_missing(const Application& application, Form form) {
  const auto computed = application.session.computed();
  return computed ? computed->form(form).missing : std::string();
}

std::string no_steps(const Application& application) {
  if (const std::string reason = nothing_open(application); !reason.empty()) return reason;
  if (const std::string reason = form_missing(application, application.session.choice().form);
      !reason.empty())
    return reason;
  const Trace* trace = application.session.trace();
  return unless(trace && trace->block_count() > 0, "there are no steps to go through");
}

std::string no_step(const Application& application, Grain grain, int direction) {
  if (const std::string reason = no_steps(application); !reason.empty()) return reason;
  return unless(!(application.session.after(grain, direction) == application.session.cursor()),
                direction > 0 ? "this is the end" : "this is the start");
}

Index heads(const Application& application) {
  const DataSet& data = application.session.data();
  return data.heads * data.batches;
}

std::string no_head(const Application& application, int direction) {
  if (const std::string reason = nothing_open(application); !reason.empty()) return reason;
  const Index last = heads(application) - 1;
  const Index head = application.session.choice().head;
  if (last == 0) return "there is one head only";
  return direction > 0 ? unless(head < last, "this is the last head") : unless(head > 0, "this is head 0");
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
  Choice choice = application.session.choice();
  const std::vector<Precision> all =
      precisions_of(find_backend(choice.device, application.session.devices()));
  const auto present = std::ranges::find(all, choice.precision);
  choice.precision = present == all.end() || present + 1 == all.end() ? all.front() : *(present + 1);
  application.session.choose(std::move(choice));
}

std::string no_chunk_of(const Application& application, Index size) {
  if (const std::string reason = nothing_open(application); !reason.empty()) return reason;
  const Index tokens = application.session.data().tokens;
  return size <= largest_chunk(tokens)
             ? ""
             : fmt::format("a chunk can hold {} tokens here", largest_chunk(tokens));
}

// What is done.

void play_or_pause(Application& application) { application.playing = !application.playing; }

/// From one end of the range to the other, then away with it.
void mark_repeated(Application& application) {
  Session& session = application.session;
  const std::vector<Index> marked = session.state().repeated;
  const Index token = session.token();
  if (marked.empty()) {
    session.repeat({token});
    application.notice = "Playing repeats this word; at another one, this again repeats all up to there";
  } else if (marked.front() == marked.back() && marked.front() != token) {
    session.repeat({std::min(marked.front(), token), std::max(marked.front(), token)});
    application.notice = "Playing repeats these words; once more, and it goes on to the end";
  } else {
    session.repeat({});
    application.notice = "Playing goes on to the end";
  }
}

/// To the next word with an event, or the one before; says what happens there.
void go_to_mark(Application& application, int direction) {
  Session& session = application.session;
  application.playing = false;
  application.show_welcome = false;
  const auto mark = next_mark(*session.computed(), session.token(), direction);
  if (!mark) {
    application.refusal =
        fmt::format("No event {} word {}", direction > 0 ? "after" : "before", session.token());
    return;
  }
  session.go_to_token(mark->token);
  const std::string& label = session.data().labels[static_cast<std::size_t>(mark->token)];
  application.notice = fmt::format("Word {} “{}” {}", mark->token, visible_label(label), mark->words);
}

void change_grain(Application& application) {
  switch (application.grain) {
    case Grain::operation:
      application.grain = Grain::token;
      break;
    case Grain::token:
      application.grain = Grain::chunk;
      break;
    default:
      application.grain = Grain::operation;
      break;
  }
}

void change_variant(Choice& choice, int direction) {
  const auto table = variants();
  const auto present = std::ranges::find(table, choice.variant, &Variant::id) - table.begin();
  const auto size = static_cast<std::ptrdiff_t>(table.size());
  choice.variant = table[static_cast<std::size_t>((present + direction + size) % size)].id;
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

// The rows.

Command stepping(const char* id, const char* words, int key, Grain grain, int direction) {
  return {.id = id,
          .group = "Time",
          .words = words,
          .key = key,
          .perform = [=](Application& a) { a.step(grain, direction); },
          .why_not = [=](const Application& a) { return no_step(a, grain, direction); },
          .repeats = grain != Grain::end};
}

void add_time(Table& table) {
  table.push_back({.id = "time.play",
                   .group = "Time",
                   .words = "play or pause",
                   .key = ImGuiKey_Space,
                   .perform = play_or_pause,
                   .why_not = no_steps});
  table.push_back(
      stepping("operation.forward", "one operation on", ImGuiKey_RightArrow, Grain::operation, 1));
  table.push_back(stepping("operation.back", "one operation back", ImGuiKey_LeftArrow, Grain::operation, -1));
  table.push_back(
      stepping("token.forward", "one token on", ImGuiMod_Shift | ImGuiKey_RightArrow, Grain::token, 1));
  table.push_back(
      stepping("token.back", "one token back", ImGuiMod_Shift | ImGuiKey_LeftArrow, Grain::token, -1));
  table.push_back(
      stepping("chunk.forward", "one chunk on", ImGuiMod_Ctrl | ImGuiKey_RightArrow, Grain::chunk, 1));
  table.push_back(
      stepping("chunk.back", "one chunk back", ImGuiMod_Ctrl | ImGuiKey_LeftArrow, Grain::chunk, -1));
  table.push_back(stepping("time.end", "to the end", ImGuiKey_End, Grain::end, 1));
  table.push_back(stepping("time.start", "to the start", ImGuiKey_Home, Grain::end, -1));
  table.push_back(
      {.id = "time.repeat",
       .group = "Time",
       .words = "repeat from here, up to here, no more",
       .key = ImGuiMod_Shift | ImGuiKey_Space,
       .perform = mark_repeated,
       .why_not = no_steps,
       .explained = "Marks the first, then the last word that playing goes through again and again"});
  for (const int direction : {1, -1}) {
    table.push_back({.id = direction > 0 ? "mark.forward" : "mark.back",
                     .group = "Time",
                     .words = direction > 0 ? "to the next event" : "to the event before",
                     .key = direction > 0 ? ImGuiKey_J : ImGuiMod_Shift | ImGuiKey_J,
                     .perform = [direction](Application& a) { go_to_mark(a, direction); },
                     .why_not = no_steps,
                     .explained = events_in_words(),
                     .repeats = true});
  }
  table.push_back({.id = "time.grain",
                   .group = "Time",
                   .words = "play by operation, token or chunk",
                   .key = ImGuiKey_G,
                   .perform = change_grain});
  table.push_back(
      {.id = "time.faster",
       .group = "Time",
       .words = "play faster",
       .key = ImGuiKey_UpArrow,
       .perform = [](Application& a) { a.steps_per_second = std::min(a.steps_per_second * 2, fastest); },
       .why_not =
           [](const Application& a) {
             return unless(a.steps_per_second < fastest, "this is as fast as it plays");
           },
       .repeats = true});
  table.push_back(
      {.id = "time.slower",
       .group = "Time",
       .words = "play slower",
       .key = ImGuiKey_DownArrow,
       .perform = [](Application& a) { a.steps_per_second = std::max(a.steps_per_second / 2, slowest); },
       .why_not =
           [](const Application& a) {
             return unless(a.steps_per_second > slowest, "this is as slow as it plays");
           },
       .repeats = true});
}

void add_forms(Table& table) {
  int key = ImGuiKey_1;
  for (const Form form : all_forms) {
    table.push_back({.id = fmt::format("form.{}", name(form)),
                     .group = "Form",
                     .words = name(form),
                     .key = key++,
                     .perform = choosing([form](Choice& choice) { choice.form = form; }),
                     .why_not = [form](const Application& a) { return form_missing(a, form); },
                     .explained = fmt::format("Step through the {} form", name(form))});
  }
  table.push_back(
      {.id = "chunk.larger",
       .group = "Form",
       .words = "larger chunks",
       .key = ImGuiKey_RightBracket,
       .perform = choosing([](Choice& choice) { choice.chunk_size *= 2; }),
       .why_not = [](const Application& a) { return no_chunk_of(a, a.session.choice().chunk_size + 1); },
       .repeats = true});
  table.push_back({.id = "chunk.smaller",
                   .group = "Form",
                   .words = "smaller chunks",
                   .key = ImGuiKey_LeftBracket,
                   .perform = choosing([](Choice& choice) { choice.chunk_size /= 2; }),
                   .why_not =
                       [](const Application& a) {
                         return unless(a.session.choice().chunk_size > 1, "a chunk holds one token already");
                       },
                   .repeats = true});
  table.push_back({.id = "precision.other",
                   .group = "Form",
                   .words = "the next precision: f64, f32, tf32, bf16",
                   .key = ImGuiKey_P,
                   .perform = choose_next_precision});
  for (const Precision precision : all_precisions) {
    table.push_back({.id = fmt::format("precision.{}", name(precision)),
                     .group = "Form",
                     .words = fmt::format("compute in {}", name(precision)),
                     .perform = choosing([precision](Choice& choice) { choice.precision = precision; }),
                     .why_not = [precision](const Application& a) { return no_precision(a, precision); },
                     .explained = fmt::format(
                         "Compute all forms in {}; they are compared with {}", name(precision),
                         precision == Precision::f64
                             ? "the f64 recurrence"
                             : fmt::format("the f64 recurrence on {} inputs", name(given_in(precision))))});
  }
  for (const Backend* backend : backends()) {
    const std::string device = backend->name();
    table.push_back(
        {.id = "device." + device,
         .group = "Form",
         .words = "compute on " + device,
         .perform = choosing([device](Choice& choice) { choice.device = device; }),
         .why_not = [device](const Application& a) { return no_device(a, device); },
         .explained = fmt::format("Compute all forms on {}; they are compared with the CPU's f64 recurrence",
                                  device)});
  }
  for (Index size = 1; size <= largest_listed_chunk; size *= 2) {
    table.push_back({.id = fmt::format("chunk.{}", size),
                     .group = "Form",
                     .words = size == 1 ? "chunks of 1 token" : fmt::format("chunks of {} tokens", size),
                     .perform = choosing([size](Choice& choice) { choice.chunk_size = size; }),
                     .why_not = [size](const Application& a) { return no_chunk_of(a, size); }});
  }
  table.push_back({.id = "form.read",
                   .group = "Form",
                   .words = "o reads S after its own write, or before it",
                   .perform =
                       [](Application& a) {
                         const Settings& settings = a.session.computed()->sequence.settings;
                         choose_read(a.session, !is_read_before(settings));
                       },
                   .why_not = [](const Application& a) -> std::string {
                     const auto computed = a.session.computed();
                     if (!computed) return "nothing is open yet";
                     return no_read_choice(*computed);
                   }});
}

void add_changes(Table& table) {
  table.push_back(
      {.id = "change.undo",
       .group = "Change",
       .words = "undo (where and how one looks stays)",
       .key = ImGuiMod_Ctrl | ImGuiKey_Z,
       .perform = [](Application& a) { a.undo(); },
       .why_not =
           [](const Application& a) { return unless(a.session.can_undo(), "nothing has been changed yet"); },
       .explained = "Data, rule, form, device, precision, sliders, words asked; not where and how one looks",
       .repeats = true});
  for (const bool usual : {true, false}) {
    const int shift_z = ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z;
    table.push_back(
        {.id = usual ? "change.redo" : "change.redo_too",
         .group = "Change",
         .words = usual ? "redo" : "redo, by another key",
         .key = usual ? shift_z : ImGuiMod_Ctrl | ImGuiKey_Y,
         .perform = [](Application& a) { a.redo(); },
         .why_not =
             [](const Application& a) { return unless(a.session.can_redo(), "nothing has been undone"); },
         .repeats = true});
  }
  table.push_back({.id = "change.copy",
                   .group = "Change",
                   .words = "copy this place",
                   .key = ImGuiMod_Ctrl | ImGuiKey_C,
                   .perform = [](Application& a) { a.copy_state(); },
                   .why_not = nothing_open,
                   .explained = "As one short string, for --state or another window"});
  table.push_back({.id = "change.paste",
                   .group = "Change",
                   .words = "go to a copied place",
                   .key = ImGuiMod_Ctrl | ImGuiKey_V,
                   .perform = [](Application& a) { a.paste_state(); }});
}

void add_data(Table& table) {
  table.push_back({.id = "data.list",
                   .group = "Data",
                   .words = "all data: captures, presets, own files",
                   .key = ImGuiKey_D,
                   .perform = [](Application& a) { a.show_data = true; },
                   .explained = "What goes in: captures, presets, your own files"});
  table.push_back({.id = "data.save",
                   .group = "Data",
                   .words = "save this place",
                   .key = ImGuiMod_Ctrl | ImGuiKey_S,
                   .perform = [](Application& a) { a.ask_where_to_save(false); },
                   .why_not = nothing_open,
                   .explained = "Asks where; a saved place is opened again by the same as data"});
  for (const int direction : {1, -1}) {
    const bool on = direction > 0;
    const int shift = on ? 0 : static_cast<int>(ImGuiMod_Shift);
    table.push_back({.id = on ? "variant.next" : "variant.previous",
                     .group = "Data",
                     .words = on ? "next variant" : "previous variant",
                     .key = shift | ImGuiKey_V,
                     .perform = choosing([=](Choice& choice) { change_variant(choice, direction); }),
                     .repeats = true});
  }
  for (const int direction : {1, -1}) {
    const bool on = direction > 0;
    const int shift = on ? 0 : static_cast<int>(ImGuiMod_Shift);
    table.push_back({.id = on ? "head.next" : "head.previous",
                     .group = "Data",
                     .words = on ? "next head" : "previous head",
                     .key = shift | ImGuiKey_H,
                     .perform = choosing([=](Choice& choice) { choice.head += direction; }),
                     .why_not = [=](const Application& a) { return no_head(a, direction); },
                     .repeats = true});
  }
  table.push_back({.id = "data.open",
                   .group = "Data",
                   .words = "open a file",
                   .key = ImGuiMod_Ctrl | ImGuiKey_O,
                   .perform = [](Application& a) { a.show_open = true; }});
}

void add_view(Table& table) {
  table.push_back({.id = "view.theme",
                   .group = "View",
                   .words = "dark or light",
                   .key = ImGuiKey_L,
                   .perform = showing([](ViewOptions& view) {
                     const bool dark = view.theme == Theme::dark;
                     view.theme = dark ? Theme::light : Theme::dark;
                   }),
                   .explained = "Switches between dark and light"});
  table.push_back({.id = "view.theme.dark",
                   .group = "View",
                   .words = "dark theme",
                   .perform = showing([](ViewOptions& view) { view.theme = Theme::dark; })});
  table.push_back({.id = "view.theme.light",
                   .group = "View",
                   .words = "light theme",
                   .perform = showing([](ViewOptions& view) { view.theme = Theme::light; })});
  table.push_back({.id = "view.shared_scale",
                   .group = "View",
                   .words = "one colour scale, or one per matrix",
                   .key = ImGuiKey_C,
                   .perform = showing([](ViewOptions& view) { view.shared_scale = !view.shared_scale; })});
  table.push_back({.id = "view.turn",
                   .group = "View",
                   .words = "S as key x value, or value x key",
                   .key = ImGuiKey_T,
                   .perform = [](Application& a) { a.turn_states(); }});
  table.push_back({.id = "view.numbers",
                   .group = "View",
                   .words = "numbers in large cells",
                   .key = ImGuiKey_N,
                   .perform = showing([](ViewOptions& view) { view.numbers = !view.numbers; })});
  table.push_back(
      {.id = "view.enlarge",
       .group = "View",
       .words = "the picture that is pointed at alone, or the step again",
       .key = ImGuiKey_E,
       .perform =
           [](Application& a) {
             if (a.enlarged)
               a.enlarged.reset();
             else
               a.enlarged = a.focus()->tensor;
           },
       .why_not =
           [](const Application& a) { return a.enlarged || a.focus() ? "" : "nothing is pointed at"; }});
  table.push_back({.id = "view.growth",
                   .group = "View",
                   .words = "results grow out of their operands, or are there at once",
                   .key = ImGuiMod_Shift | ImGuiKey_N,
                   .perform = showing([](ViewOptions& view) { view.growth = !view.growth; })});
  for (const int direction : {1, -1}) {
    const bool grows = direction > 0;
    table.push_back({.id = grows ? "view.larger" : "view.smaller",
                     .group = "View",
                     .words = grows ? "everything larger" : "everything smaller",
                     .key = ImGuiMod_Ctrl | (grows ? ImGuiKey_Equal : ImGuiKey_Minus),
                     .perform = [=](Application& a) { a.zoom = *next_zoom(a, direction); },
                     .why_not =
                         [=](const Application& a) {
                           return unless(next_zoom(a, direction).has_value(),
                                         grows ? "this is the largest size" : "this is the smallest size");
                         },
                     .repeats = true});
  }
  table.push_back({.id = "view.larger_too",
                   .group = "View",
                   .words = "everything larger, by another key",
                   .key = ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Equal,
                   .perform = [](Application& a) { a.zoom = *next_zoom(a, 1); },
                   .why_not =
                       [](const Application& a) {
                         return unless(next_zoom(a, 1).has_value(), "this is the largest size");
                       },
                   .repeats = true});
  table.push_back({.id = "view.present",
                   .group = "View",
                   .words = "present: stage and words alone, larger",
                   .key = ImGuiKey_F,
                   .perform =
                       [](Application& a) {
                         a.presenting = !a.presenting;
                         if (a.presenting) a.notice = "F or Esc leaves the presentation";
                       },
                   .explained = "For an audience; the same key or Esc leaves it"});
  table.push_back({.id = "view.usual_size",
                   .group = "View",
                   .words = "everything in its usual size",
                   .key = ImGuiMod_Ctrl | ImGuiKey_0,
                   .perform = [](Application& a) { a.zoom = 1; }});
  table.push_back(
      {.id = "view.tabs",
       .group = "View",
       .words = "tabs to drag the panels by",
       .key = ImGuiKey_M,
       .perform = [](Application& a) { a.panel_layout().show_tabs(!a.panel_layout().shows_tabs()); }});
  table.push_back({.id = "view.reset_layout",
                   .group = "View",
                   .words = "panels back to where they were",
                   .perform = [](Application& a) { a.panel_layout().reset(a.workspace()); },
                   .why_not =
                       [](const Application& a) {
                         return unless(a.panel_layout().is_own(a.workspace()), "nobody has moved one");
                       },
                   .explained = "Undoes what was docked and resized here"});
  table.push_back({.id = "view.release",
                   .group = "View",
                   .words = "let go of the number, or stop presenting",
                   .key = ImGuiKey_Escape,
                   .perform = [](Application& a) {
                     if (a.pinned || a.enlarged) {
                       a.pinned.reset();
                       a.enlarged.reset();
                     } else {
                       a.presenting = false;
                     }
                   }});
}

std::string no_place(const Application& application, int direction) {
  if (application.places.all().empty()) return "no place is pinned yet";
  return unless(application.places.after(direction) != nullptr,
                direction > 0 ? "this is the last place" : "this is the first place");
}

void add_places(Table& table) {
  table.push_back({.id = "places.add",
                   .group = "Places",
                   .words = "pin this place",
                   .key = ImGuiKey_B,
                   .perform = [](Application& a) { a.pin_place(); },
                   .why_not = nothing_open,
                   .explained = "Data, rule, form and cursor, to be walked through as in a lecture"});
  for (const int direction : {1, -1}) {
    const bool on = direction > 0;
    table.push_back({.id = on ? "places.next" : "places.previous",
                     .group = "Places",
                     .words = on ? "next pinned place" : "pinned place before",
                     .key = on ? ImGuiKey_PageDown : ImGuiKey_PageUp,
                     .perform = [=](Application& a) { a.go_to_place(a.places.present() + direction); },
                     .why_not = [=](const Application& a) { return no_place(a, direction); }});
  }
  table.push_back({.id = "places.remove",
                   .group = "Places",
                   .words = "take out the present place",
                   .perform = [](Application& a) { a.places.remove(a.places.present()); },
                   .why_not =
                       [](const Application& a) {
                         return unless(a.places.present() >= 0, "no pinned place is the present one");
                       }});
  table.push_back(
      {.id = "places.clear",
       .group = "Places",
       .words = "take out all pinned places",
       .perform = [](Application& a) { a.places = {}; },
       .why_not =
           [](const Application& a) { return unless(!a.places.all().empty(), "no place is pinned yet"); },
       .explained = "Those saved in a file stay there"});
  table.push_back({.id = "places.list",
                   .group = "Places",
                   .words = "all pinned places",
                   .key = ImGuiMod_Shift | ImGuiKey_B,
                   .perform = [](Application& a) { a.show_places = true; },
                   .explained = "Their names and their order"});
  table.push_back(
      {.id = "places.save",
       .group = "Places",
       .words = "save the pinned places",
       .perform = [](Application& a) { a.ask_where_to_save(true); },
       .why_not =
           [](const Application& a) { return unless(!a.places.all().empty(), "no place is pinned yet"); },
       .explained = "In one file, which opens as data do"});
}

void add_words(Table& table) {
  table.push_back({.id = "words.strongest",
                   .group = "Words",
                   .words = "ask about the words written most strongly",
                   .perform =
                       [](Application& a) {
                         SessionState next = a.session.state();
                         next.words.clear();
                         a.session.change(std::move(next));
                       },
                   .why_not =
                       [](const Application& a) {
                         return unless(!a.session.state().words.empty(), "it is asked about them already");
                       },
                   .explained = "In the place of those chosen by Ctrl+click in the text"});
}

void add_help(Table& table) {
  table.push_back({.id = "help.commands",
                   .group = "Help",
                   .words = "all commands",
                   .key = ImGuiMod_Ctrl | ImGuiKey_P,
                   .perform = [](Application& a) { a.show_palette = true; },
                   .explained = "Everything that can be done here, found by its words"});
  table.push_back({.id = "help.keys",
                   .group = "Help",
                   .words = "these keys",
                   .key = ImGuiMod_Shift | ImGuiKey_Slash,
                   .perform = [](Application& a) { a.show_keys = true; }});
  table.push_back({.id = "help.quit",
                   .group = "Help",
                   .words = "quit",
                   .key = ImGuiMod_Ctrl | ImGuiKey_Q,
                   .perform = [](Application& a) { a.quit(); }});
}

std::string no_fault_in(const Application& application) {
  return unless(!application.session.state().prove.fault.id.empty(), "nothing is wrong on purpose");
}

void add_faults(Table& table) {
  table.push_back({.id = "fault.out",
                   .group = "Prove",
                   .words = "take the fault out",
                   .perform = choosing([](Choice& choice) { choice.fault.id.clear(); }),
                   .why_not = no_fault_in,
                   .explained = "The equations are right again."});
}

void add_variants(Table& table) {
  for (const Variant& variant : variants()) {
    table.push_back({.id = "variant." + variant.id,
                     .group = "Variant",
                     .words = variant.label,
                     .perform = choosing([id = variant.id](Choice& choice) { choice.variant = id; }),
                     .explained = variant.words});
  }
}

/// What opens the data that `id` names.
auto opening(std::string id) {
  return [id = std::move(id)](Application& application) { application.session.open_named(id); };
}

/// Those that lie there when the program starts.
void add_captures(Table& table) try {
  for (const CaptureSummary& capture : list_captures(asset("captures"))) {
    const std::string stem = capture.file.stem().string();
    table.push_back({.id = "capture." + stem,
                     .group = "Capture",
                     .words = capture.name,
                     .perform = opening("capture:" + stem),
                     .why_not = [reason = capture.error](const Application&) { return reason; }});
  }
} catch (const Error&) {
  // The list of data says why there are none.
}

void add_presets(Table& table) {
  for (const Preset& preset : presets()) {
    table.push_back({.id = "preset." + preset.id,
                     .group = "Preset",
                     .words = preset.label,
                     .perform = opening(usual_preset_id(preset)),
                     .explained = preset.words});
  }
}

}  // namespace

std::span<const Command> commands() {
  static const Table table = [] {
    Table rows;
    for (const auto add : {add_time, add_forms, add_changes, add_data, add_view, add_places, add_words,
                           add_compare, add_help, add_faults, add_variants, add_captures, add_presets})
      add(rows);
    return rows;
  }();
  return table;
}

}  // namespace palimpsest
