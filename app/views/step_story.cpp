#include <fmt/ranges.h>

#include "app/session/typed_text.h"
#include "app/views/answers.h"
#include "app/views/story_page.h"

namespace palimpsest {

namespace {

/// The sizes of the pictures and tables, in design pixels, as all that follow.
struct TablesLook {
  float picture;
  float least_row;
  bool is_small = false;
};
constexpr TablesLook tables_looks[] = {{208, 34}, {176, 30}, {152, 26},    {128, 26},
                                       {96, 18},  {0, 18},   {0, 18, true}};
constexpr float low_story = 420;
constexpr float ramp_width = 120;

/// What the memory returns for every key before and after, and the memory as heat maps.
Node tables(const Application& application, const MemoryStory& story, const std::string& token,
            const TablesLook& look) {
  CellTables cells = story_cells(story, look.is_small);
  cells.least_cell.y = look.least_row;
  const auto add = [&](double told, const char* name, std::vector<std::string> titles, const char* sign,
                       const Matrix<double>& values, const Matrix<double>& memory, const char* link) {
    CellValues table = story_table(story, story.keys, name, std::move(titles), values);
    table.sign = sign;
    table.picture = {.values = memory.size() > 0 ? &memory : nullptr,
                     .version = story.version,
                     .look = {.range = static_cast<float>(story.range), .grid = false},
                     .words = link};
    table.is_hidden = application.telling() < told || (application.hides_answer() && told > 0);
    cells.tables.push_back(std::move(table));
  };
  add(0, "before", {fmt::format("the memory before {}", token), "before"}, "", story.table.before,
      story.before, "what it returns");
  add(0.6, "change", {fmt::format("what {} changes", token), "the change"}, "+", story.table.change,
      story.change, "what that changes");
  add(1.6, "after", {"the memory after", "after"}, "=", story.table.after, story.after, "what it returns");
  cells.picture = story.no_memory.empty() ? look.picture : 0;
  return Node{std::move(cells)};
}

/// Whether the model erases before it writes; nothing if that cannot be chosen.
std::optional<bool> erases(const Session& session) {
  const auto& text = session.data().read;
  if (!text) return std::nullopt;
  const bool only_adds =
      find_intervention(text->typed, targeted(text->typed, session.state().text.target, "only-add"));
  const Trace* const trace = session.sight().trace.get();
  if (!only_adds && !(trace && erases_by_strength(*trace))) return std::nullopt;
  return !only_adds;
}

/// The story's switch: what the model answers if nothing is erased.
Node erase_switch(Application& application) {
  const std::optional<bool> erased = erases(application.session);
  if (!erased) return scene::column({});
  return scene::segments(
             {"erase, then write", "only add"}, *erased ? 0 : 1,
             [&application, erased](std::size_t chosen) {
               if (*erased != (chosen == 0)) perform(find_command(application, "text.only_add"), application);
             },
             "Whether a write first erases what the memory returns for its key")
      .named("erase");
}

Node colours(double scale) {
  static const Matrix<double> ramp = Vector<double>::LinSpaced(64, -1, 1).transpose();
  const std::string end = scale == 1 ? "1" : answer_number(scale);
  return scene::row(
      {scene::tag("−" + end),
       Node{scene::Picture{.values = &ramp, .version = 1, .look = {.grid = false}, .height = 10}}
           .named("colours")
           .fixed(ramp_width),
       scene::tag("+" + end)},
      Gap::small);
}

std::string about(const Computation& computed, const MemoryStory& story) {
  const Variant& variant = *computed.variant;
  if (story.no_memory.starts_with(variant.label)) return story.no_memory;
  if (!story.no_memory.empty()) return fmt::format("{}: {}", variant.label, story.no_memory);
  const std::vector<std::string> states = states_of(variant, computed.sequence.settings);
  const std::string size = fmt::format("{} × {} numbers", story.before.rows(), story.before.cols());
  const std::string memory = states.size() == 1 ? fmt::format("one matrix of {} as its memory", size)
                                                : fmt::format("{} as its memory; the pictures show {}, {}",
                                                              fmt::join(states, ", "), states.front(), size);
  return fmt::format("{} keeps {}. {}", variant.label, memory, variant.words);
}

Node story_node(Application& application, const MemoryStory& story) {
  const Computation& computed = *application.session.computed();
  const std::string token = quoted_word(computed, story.token);
  Nodes wishes;
  for (const TablesLook& look : tables_looks) {
    if (look.picture > 0 && !story.no_memory.empty()) continue;
    Nodes all;
    if (!story.keys.empty())
      all.push_back(scene::centred(tables(application, story, token, look).named("answers")).shrinking());
    Node foot = application.lesson.hides() ? scene::column({})
                : application.hides_answer()
                    ? with_command(application, "view.reveal", scene::pill("show the answer", true))
                    : erase_switch(application);
    all.push_back(
        scene::row({scene::caption(application.hides_answer() ? "" : others_in_words(story)).filling(),
                    std::move(foot), colours(answer_scale(story.table)).right().filling()}));
    wishes.push_back(scene::column(std::move(all), look.is_small ? Gap::near : Gap::far));
  }
  return story_page(application, {.headline = application.telling() < 2.2 ? first_half(headline(story, token))
                                                                          : headline(story, token),
                                  .question = fmt::format("How does {} change what the memory says?", token),
                                  .about = about(computed, story),
                                  .content = scene::first_that_fits(std::move(wishes)),
                                  .hides_itself = true});
}

}  // namespace

void draw_step_story(Application& application) {
  Known<MemoryStory> known;
  scene::show_panel(
      "##story", true,
      [&]() -> Node {
        if (const std::string nothing = nothing_to_show(application, ""); !nothing.empty())
          return scene::paragraph(nothing);
        known = ask_story(application, application.session.computed());
        if (!known.value)
          return scene::paragraph(known.under_way ? std::string("Asking the memory …") : known.reason);
        return story_node(application, *known.value).named("story");
      },
      low_story);
}

}  // namespace palimpsest
