#include <regex>

#include "app/views/found_list.h"
#include "app/views/verify.h"
#include "core/base/text.h"

namespace palimpsest {

/// Search results from the open data, in addition to the fixed commands: tokens of the text (the twenty
/// nearest to the cursor, within `most_looked_at`), steps of the current form, panels, visible sliders,
/// and faults. Empty while nothing is typed.
std::vector<Command> commands_here(const Application& application, std::string_view typed);

namespace {

constexpr std::size_t most_places = 20;
constexpr Index most_looked_at = 100000;  // tokens searched on either side of the cursor

/// The typed text without "go", "to" and "token", which begin every row of this kind.
std::string without_go_to(std::string_view typed) {
  static const std::regex begin("^ *(go(?= |$))? *(to(?= |$))? *(token(?= |$))? *");
  return std::regex_replace(std::string(typed), begin, "");
}

Command word_at(const DataSet& data, Index token) {
  const std::string label = visible_label(word_text(entry(data.labels, token)));
  return {.id = fmt::format("word.{}", token),
          .group = "Token",
          .words = "go to token " + numbered_label(label, token),
          .perform = [token](Application& a) { a.session.go_to_token(token); },
          .explained = only_counts(label, token) ? "" : phrase_before(data.labels, token)};
}

void add_words(std::vector<Command>& all, const Application& application, std::string_view typed) {
  const DataSet& data = application.session.data();
  const auto tokens = static_cast<Index>(data.labels.size());
  const std::string wanted = without_go_to(typed);
  const std::vector<std::string> words = typed_words(wanted);
  if (words.empty()) return;
  const Index number = parse_all<Index>(wanted).value_or(0);  // counted from 1
  const Index numbered = number >= 1 && number <= tokens ? number - 1 : -1;
  if (numbered >= 0) all.push_back(word_at(data, numbered));
  const std::size_t most = all.size() + most_places;
  const Index here = application.session.token();
  for (Index distance = 0; distance <= most_looked_at && all.size() < most; ++distance) {
    if (here - distance < 0 && here + distance >= tokens) break;
    for (const Index token : {here + distance, here - distance}) {
      const bool is_there = token >= 0 && token < tokens && token != numbered;
      if (is_there && has_words(entry(data.labels, token), words)) all.push_back(word_at(data, token));
      if (distance == 0) break;
    }
  }
}

void add_steps(std::vector<Command>& all, const Application& application) {
  const Trace* trace = application.session.trace();
  if (!trace || trace->block_count() == 0) return;
  static const std::regex slot("\\{token\\}");  // of a particular token
  for (std::size_t phase = 0; phase < trace->phases.size(); ++phase) {
    const auto& operations = trace->phases[phase].operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const auto go = [of = static_cast<Index>(phase), at = static_cast<Index>(i)](Application& a) {
        const Trace* there = a.session.trace();
        if (!there || there->block_count() == 0) return;
        const Index token = a.session.token();
        const Index block = there->block_of(token, of);
        a.session.set_cursor({block, at, token - there->block(block).first_token});
      };
      all.push_back({.id = fmt::format("step.{}.{}", phase, operations[i].id),
                     .group = "Step",
                     .words = operations[i].title,
                     .perform = go,
                     .explained = std::regex_replace(operations[i].sentence, slot, "the token")});
    }
  }
}

void add_panels(std::vector<Command>& all, const Application& application) {
  for (const Workspace& workspace : application.workspaces()) {
    for (const Panel& panel : workspace.panels) {
      const std::string title = panel.title;
      all.push_back({.id = "panel." + title,
                     .group = "Panel",
                     .words = fmt::format("{}: {}", workspace.name, title.substr(0, title.find("##"))),
                     .perform =
                         [id = std::string(workspace.id), &panel](Application& a) {
                           a.enter(id);
                           a.show_panel(panel);
                         },
                     .explained = workspace.words,
                     .more = panel.words});
    }
  }
}

/// "beta" of "\beta", "k" of "\lVert k\rVert".
std::string plain(const std::string& latex) {
  static const std::regex signs(R"(\\[lr]Vert|[^A-Za-z])");
  return std::regex_replace(latex, signs, "");
}

void add_sliders(std::vector<Command>& all) {
  for (const style::DrawnSlider& slider : style::drawn_sliders()) {
    const std::string symbol = plain(slider.symbol);
    all.push_back({.id = fmt::format("slider.{}", slider.id),
                   .group = "Slider",
                   .words = symbol.empty() ? slider.words : fmt::format("{}: {}", symbol, slider.words),
                   .perform = [id = slider.id](Application&) { style::seek_slider(id); },
                   .explained = "Shows the slider, ready for a number"});
  }
}

constexpr std::size_t most_remembered = 8;

struct PaletteState {
  FoundList list;
  std::vector<Command> here = {};  // search results from the open data
  std::string looked_for = {};     // the search text for them
};

std::string explained(const Command* command, const Application& application) {
  if (command) {
    if (std::string reason = why_not(*command, application); !reason.empty()) return reason;
    if (!command->explained.empty()) return command->explained;
  }
  return "↑ and ↓ choose, Enter runs, Esc closes.";
}

Node content(Application& application, PaletteState& palette, const Command*& wanted) {
  FoundList& list = palette.list;
  if (palette.looked_for != list.filter.typed) {
    palette.here = commands_here(application, list.filter.typed);
    palette.looked_for = list.filter.typed;
  }
  const auto found =
      search({application.commands(), palette.here}, list.filter.typed, application.recent_commands);
  std::vector<std::string> ids = made_of(found, &Command::id);
  list.follow(ids, false);
  const auto want = [&wanted, &application](const Command& command) {
    if (!why_not(command, application).empty()) return;  // the reason is visible
    wanted = &command;
    application.show_palette = false;
  };
  const auto at = std::ranges::find(ids, list.at);
  const Command* const chosen = at == ids.end() ? nullptr : entry(found, at - ids.begin());
  Nodes rows;
  for (const Command* command : found) {
    const std::string reason = why_not(*command, application);
    Node words =
        scene::row({scene::caption(command->group).fixed(72),
                    scene::line(command->words, style::Text::body, reason.empty() ? 0 : scene::dim_ink),
                    scene::note(reason).filling(), scene::tag(key_name(command->key))});
    rows += list.row(command->id, std::move(words), [want, command] { want(*command); })
                .when_pointed([&list, id = command->id] {
                  if (scene::pointer_moves()) list.at = id;
                });
  }
  if (found.empty()) rows += scene::caption("No results.");
  return scene::column(
             {list.field(
                  "Search commands, tokens, steps, panels",
                  [want, chosen](const std::string&) { want(*chosen); }, true),
              scene::scroll("list", scene::column(std::move(rows), Gap::none)).filling(),
              scene::framed(scene::caption(explained(chosen, application)), Gap::near, Gap::none).fixed(36)},
             Gap::near)
      .named("commands");
}

}  // namespace

std::vector<Command> commands_here(const Application& application, std::string_view typed) {
  std::vector<Command> all;
  if (typed_words(typed).empty()) return all;
  add_sliders(all);
  add_words(all, application, typed);
  add_steps(all, application);
  add_panels(all, application);
  if (!application.session.computed()) return all;
  for (const Fault& fault : faults()) {
    all.push_back({.id = "fault." + fault.id,
                   .group = "Verify",
                   .words = "inject a fault: " + fault.label,
                   .perform = [id = fault.id](Application& a) { inject(a, id); },
                   .explained = fault.sentence});
  }
  return all;
}

void draw_palette(Application& application) {
  auto& palette = context_local<PaletteState>();
  const Command* wanted = nullptr;
  scene::show_card({.name = "Commands", .widest = 680, .highest = 446, .beside = 96, .on_top = true},
                   application.show_palette, [&](bool is_new) {
                     if (is_new)
                       palette = {};
                     else if (scene::is_pressed(find_command(application, "help.commands").key))
                       application.show_palette = false;
                     return content(application, palette, wanted);
                   });
  if (!wanted) return;
  std::vector<std::string>& recent = application.recent_commands;
  std::erase(recent, wanted->id);
  recent.insert(recent.begin(), wanted->id);
  recent.resize(std::min(recent.size(), most_remembered));
  perform(*wanted, application);
}

}  // namespace palimpsest
