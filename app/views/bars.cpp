#include <fmt/ranges.h>

#include "app/session/own_rule.h"
#include "app/views/data_parts.h"
#include "app/views/found_list.h"
#include "app/views/story_page.h"
#include "app/words/forms.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using scene::Button;

// In design pixels.
constexpr float narrow_bar = 1400;  // narrower bars have less text
constexpr float story_bar = 760;    // narrower bars have a list of the levels
constexpr float phone_bar = 520;    // and these only the workspaces
constexpr float named_bar = 1300;   // narrower bars omit the program's name
constexpr float wide_bar = 1750;    // narrower bars cut long texts
constexpr float list_width = 380;

Node tabs(Application& application) {
  Nodes all;
  if (application.workspaces().size() < 2) return scene::column({});
  for (const Workspace& workspace : application.workspaces()) {
    const bool is_shown = &workspace == &application.workspace();
    if (workspace.in_bar || is_shown)
      all += with_command(application, std::string("workspace.") + workspace.id,
                          scene::tab(workspace.name, is_shown));
  }
  return scene::row(std::move(all), Gap::wide);
}

/// A node that says whether the forms agree, and leads to where they do not or to Verify.
Node leads_to_difference(Node node, Application& application, const Computation& computed) {
  const Index bad = computed.agree ? -1 : first_bad_token(computed);
  return std::move(node)
      .named("agreement")
      .told(agreement_explained(computed) +
            (bad >= 0 ? "\nA click goes to the first difference." : "\nA click opens Verify."))
      .on([&application, bad] {
        if (bad >= 0)
          application.go_to(bad);
        else
          application.enter("verify");
      });
}

ImU32 agreement_ink(const Computation& computed) {
  const style::Palette& c = style::colours();
  return !is_in_order(computed) ? c.alarm : overflows(computed) ? c.text : c.good;
}

/// Whether all forms agree; if `is_small` the number is only in the tooltip.
Node agreement_badge(Application& application, const Computation& computed, bool is_small) {
  const style::Palette& c = style::colours();
  std::string words = agreement_words(computed);
  if (is_small) words = words.substr(0, words.find(" · "));
  const Node usual = scene::pill(is_small ? "3 forms agree" : "3 forms agree · 8.8e-16");
  if (application.session.computing()) {  // same width, so that nothing moves
    return scene::steady(
        {{scene::Frame{.node = {scene::row({scene::mark(Mark::Kind::spinner, c.dim),
                                            scene::line("computing…", style::Text::body, c.dim)})},
                       .across = Gap::near,
                       .down = Gap::small,
                       .outline = scene::edge_ink,
                       .is_round = true}},
         scene::pill(words),
         usual});
  }
  Node badge = {Button{.words = words, .ink = agreement_ink(computed)}};
  return scene::steady({leads_to_difference(std::move(badge), application, computed), usual});
}

Node agreement_note(Application& application, const Computation& computed) {
  if (application.session.computing()) return scene::tag("computing…");
  std::string words = agreement_words(computed);
  words = words.substr(0, words.find(" · "));
  Node note = scene::tag(std::move(words), agreement_ink(computed));
  // The story has few things to press: only a difference is one.
  if (is_in_order(computed)) return std::move(note).named("agreement").told(agreement_explained(computed));
  return leads_to_difference(std::move(note), application, computed);
}

Node fault_pill(Application& application) {
  const InjectedFault& fault = application.session.state().verify.fault;
  const auto pill = [&](std::string words, Fit fit) {
    Node node = {Button{.words = std::move(words), .ink = style::colours().alarm, .fit = fit, .tail = "  ×"}};
    return std::move(node).named("fault").told(fault_explained(fault)).on([&application] {
      perform(find_command(application, "fault.out"), application);
    });
  };
  const std::string& label = find_fault(fault.id).label;
  return scene::first_that_fits(
      {pill(fmt::format("Fault: {}, {}", label, name(fault.form)), Fit::whole), pill(label, Fit::shorten)});
}

void choose_variant(Application& application, const std::string& variant) {
  application.session.choose([&](Choice& choice) { choice.variant = variant; });
  scene::close();
}

/// A way to the text of a rule of one's own, and the written rules.
Nodes own_rows(Application& application, const std::string& present) {
  Nodes rows;
  for (const std::string& id : own_rules(application.session.state())) {
    const Variant& variant = find_variant(id);
    rows += scene::choice(variant.label + (id == present ? " · in use" : " · yours"), id == present)
                .named(variant.label)
                .on([&application, id] { choose_variant(application, id); });
  }
  rows += scene::choice("write your own …", false).named("write").on([&application] {
    application.enter("write");
    scene::close();
  });
  return rows;
}

/// A filter above the rules whose names or sentences contain what is typed, those whose names do first. It
/// opens at the current rule.
Node list_of_rules(Application& application) {
  auto& list = context_local<FoundList, struct Rules>();
  const std::string present = without_strength(application.session.choice().variant);
  if (scene::appears()) list = {.at = present};
  std::vector<std::string> left;
  Nodes rows;
  const std::vector<std::string> wanted = typed_words(list.filter.typed);
  for (const Variant& variant : variants()) {
    if (has_words(variant.label + ' ' + variant.words + ' ' + variant.id, wanted)) left.push_back(variant.id);
  }
  std::ranges::stable_partition(
      left, [&](const std::string& id) { return has_words(find_variant(id).label, wanted); });
  list.follow(left, false);
  for (const std::string& id : left) {
    const Variant& variant = find_variant(id);
    Node name = scene::line(variant.label + (id == present ? " · in use" : ""),
                            id == list.at ? style::Text::strong : style::Text::body);
    Node row = scene::column({scene::row({std::move(name), scene::rest()}), scene::caption(variant.words)},
                             Gap::tight);
    rows += list.row(id, std::move(row), [&application, id] { choose_variant(application, id); });
  }
  if (left.empty()) rows += scene::caption("No results.");
  const auto choose = [&application](const std::string& id) { choose_variant(application, id); };
  return scene::column(
      {list.field("Find a rule", choose), scene::column(own_rows(application, present), Gap::hair),
       scene::scroll("rules", scene::column(std::move(rows), Gap::hair)).fixed(520)},
      Gap::near);
}

Node variant_menu(Application& application, bool is_narrow) {
  const Variant& present = find_variant(application.session.choice().variant);
  Node menu = {scene::Menu{.words = present.label,
                           .content = [&application] { return list_of_rules(application); },
                           .width = list_width,
                           .fills = true}};
  menu = std::move(menu).named("variant").told("The rule that updates the memory");
  menu.key = key_name(find_command(application, "variant.next").key);
  return std::move(menu).fixed(is_narrow ? 156 : scene::window_width() < wide_bar ? 200 : 240);
}

/// As much of "overwriting a fact · Gated DeltaNet · layer 1 · head 0" as fits; the head that is open and
/// whether something was edited only beside the first piece, which is cut if necessary.
Node data_pill(Application& application) {
  const Session& session = application.session;
  const std::string title = session.data().title.empty() ? "Open…" : session.data().title;
  std::string state;
  if (session.data().heads * session.data().batches > 1)
    state += fmt::format(" · head {}", session.choice().head);
  if (!session.choice().edits.empty()) state += " · changed";
  Nodes wishes;
  const auto add = [&](const std::string& words, Fit fit) {
    Node pill = {Button{.words = words, .fit = fit, .tail = " ▾"}};
    wishes += with_command(application, "data.list", std::move(pill).named("data"));
  };
  for (std::size_t end = title.size(); end != std::string::npos && end > 0; end = title.rfind(" · ", end - 1))
    add(title.substr(0, end) + state, Fit::whole);
  add(title.substr(0, title.find(" · ")), Fit::shorten);
  return scene::first_that_fits(std::move(wishes));
}

/// The gates in the data that the rule does not use.
std::vector<std::string> unused_gates(const Computation& computed) {
  const bool has_fixed_decay = computed.sequence.settings.parameters.contains("gamma");  // made from theirs
  std::vector<std::string> names = {"beta"};
  if (!has_fixed_decay) names = {"alpha", "g", "beta"};
  std::erase_if(names, [&](const std::string& name) {
    return !computed.data->arrays.contains(name) || computed.inputs.arrays->contains(name);
  });
  return names;
}

/// How the data were adapted to the rule: "(not in the data: gamma = 1; not used: g)", or as much of it as
/// fits into `widest` design pixels. Half of that is reserved.
Node data_facts(const Computation& computed, float widest) {
  const Inputs& inputs = computed.inputs;
  const std::vector<std::string> unused = unused_gates(computed);
  std::vector<std::string> names;  // without their values
  for (const std::string& one : inputs.lacking) names.push_back(one.substr(0, one.find(' ')));
  const auto said = [&](const std::vector<std::string>& lacking) {
    std::vector<std::string> parts = inputs.adapted;
    if (!lacking.empty())
      parts.insert(parts.begin(), fmt::format("not in the data: {}", fmt::join(lacking, ", ")));
    if (!unused.empty()) parts.push_back(fmt::format("not used: {}", fmt::join(unused, ", ")));
    return parts;
  };
  const std::size_t count = inputs.lacking.size() + inputs.adapted.size() + unused.size();
  if (count == 0) return scene::column({});
  Nodes wishes;
  const auto wish = [&](const std::string& words) { wishes += scene::tag(fmt::format("({})", words)); };
  wish(fmt::format("{}", fmt::join(said(inputs.lacking), "; ")));
  wish(fmt::format("{}", fmt::join(said(names), "; ")));
  if (count > 1) wish(said(names).front() + (said(names).size() > 1 ? "; …" : ""));
  wish(names.empty() ? "adapted" : fmt::format("{} not in the data", names.size()));
  std::string whole = fmt::format("{}", fmt::join(inputs.notes, "\n"));
  if (!unused.empty())
    whole +=
        fmt::format("{}This rule does not use the data's {}.", whole.empty() ? "" : "\n", listed(unused));
  return scene::first_that_fits(std::move(wishes))
      .named("data facts")
      .told(whole)
      .cut_between(widest / 2, widest);
}

/// The level of detail: three segments or, if they do not fit, a list.
Node level_choice(Application& application, bool is_brief) {
  const char* const told = "How much is shown, in all workspaces: I more, Shift+I less";
  const auto choose = [&application](std::size_t chosen) {
    application.change_view([&](ViewOptions& view) { view.level = all_of<Level>[chosen]; });
  };
  std::vector<std::string> words;
  for (const Level level : all_of<Level>) words.emplace_back(name(level));
  const auto present = static_cast<std::size_t>(application.level());
  const auto list = [words, choose, present] {
    Nodes all;
    for (std::size_t i = 0; i < words.size(); ++i)
      all += scene::choice(words[i], i == present).on([choose, i] {
        choose(i);
        scene::close();
      });
    return scene::column(std::move(all), Gap::near);
  };
  Node menu = {scene::Menu{.words = name(application.level()), .content = list, .width = 120}};
  if (is_brief) return std::move(menu).told(told).named("level");
  return scene::segments(words, present, choose, told).named("level");
}

/// The bar above a slide: the caption of the pinned place, else the workspace; the rule and the data.
Node slide_bar(Application& application) {
  const PinnedPlaces& places = application.places;
  std::string caption;
  if (places.present() >= 0) caption = entry(places.all(), places.present()).caption;
  if (caption.empty()) caption = application.workspace().name;
  const Session& session = application.session;
  return scene::row({scene::line(caption, style::Text::title).named("caption").filling(),
                     scene::that_fits({fmt::format("{} · {}", find_variant(session.choice().variant).label,
                                                   session.data().title),
                                       find_variant(session.choice().variant).label})
                         .named("rule")});
}

Node bar(Application& application) {
  if (application.presenting) return slide_bar(application);
  const float width = scene::window_width();
  const bool is_narrow = width < narrow_bar;
  Nodes all;
  if (width >= named_bar) {  // the same in every level, so that the tabs do not move
    all += scene::text("Palimpsest", style::Text::strong, 0, Fit::whole);
    all.push_back({scene::Rule{.room = Gap::wide, .height = 16}});
  }
  all += tabs(application);
  all += scene::space(Gap::small);
  const bool is_faulty = !application.session.state().verify.fault.id.empty();
  all += is_faulty ? fault_pill(application)
                   : scene::first_that_fits({story_line(application), scene::column({})});
  // From the right edge, so that nothing there moves when the names on the left change.
  all += scene::rest();
  if (application.tells_story()) {
    if (width < phone_bar) return scene::row(std::move(all), Gap::wide);  // with room for the story alone
    if (const auto computed = application.session.computed()) all += agreement_note(application, *computed);
    all += level_choice(application, width < story_bar);
    return scene::row(std::move(all), Gap::wide);
  }
  const auto computed = application.session.computed();
  if (computed) all += data_facts(*computed, is_narrow ? 190 : 330);
  all += variant_menu(application, is_narrow);
  const float data_width = is_narrow ? 220 : width < wide_bar ? 170 : 330;  // whatever is on the left
  all += data_pill(application).cut_between(data_width, data_width);
  if (computed) all += agreement_badge(application, *computed, is_narrow);
  all += level_choice(application, width < wide_bar);
  std::string key = key_name(find_command(application, "help.commands").key);
  std::ranges::replace(key, '+', ' ');
  all += with_command(application, "help.commands", scene::word_button(std::move(key)));
  return scene::row(std::move(all));
}

/// The last error, on one line, without the folder of the file that it is about.
std::string error_words(const Session& session) {
  std::string words = session.message();
  std::ranges::replace(words, '\n', ' ');
  const auto folder = std::filesystem::path(path_in_id(session.refused())).parent_path() / "";
  if (folder.has_parent_path() && words.starts_with(folder.string())) words.erase(0, folder.string().size());
  return words;
}

Node message_line(Application& application, const std::string& words, scene::Ink ink) {
  Session& session = application.session;
  Nodes all = {scene::icon_button("close message", Icon::close, 20).told("Close this message").on([&session] {
                 if (session.message().empty()) session.clear_left_device();
                 session.clear_message();
               }),
               scene::note(words, ink).named("words")};
  all += ways_out(application, session.refused());
  return scene::row(std::move(all));
}

Node waiting_line(Session& session, const Session::Waiting& wait) {
  const style::Palette& c = style::colours();
  const std::string far = wait.progress > 0 ? fmt::format(" · {:.0f} %", 100 * wait.progress) : "";
  return scene::row(
      {scene::mark(Mark::Kind::spinner, c.dim),
       scene::note(fmt::format("{} · {:.1f} s{}", wait.words, wait.seconds, far), c.text).named("words"),
       scene::word_button("stop").told("Stops it; the present picture stays.").on([&session] {
         session.stop();
       })});
}

}  // namespace

void draw_top_bar(Application& application, float height) {
  scene::show_bar("Top bar", height, bar(application));
}

void draw_status(Application& application) {
  const style::Palette& c = style::colours();
  Session& session = application.session;
  const auto show = [](scene::Ink frame, const Node& line) { scene::show_note("Status", frame, line); };
  const auto note = [](const std::string& words, scene::Ink ink) {
    return scene::row({scene::note(words, ink).named("words")});
  };
  // The most urgent of these; the dialog that opens files shows messages itself.
  if (!session.message().empty() && !application.show_open)
    show(c.alarm, message_line(application, error_words(session), c.alarm));
  else if (!session.left_device().empty())
    show(c.text, message_line(application, session.left_device(), c.text));
  else if (!application.notice.empty())
    show(c.good, note(application.notice, c.good));
  else if (!application.refusal.empty())
    show(c.text, note(application.refusal, c.text));
  else if (const auto wait = session.waiting())
    show(c.edge, waiting_line(session, *wait));
}

}  // namespace palimpsest
