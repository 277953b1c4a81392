#include "app/session/compared_sides.h"
#include "app/views/answers.h"
#include "app/views/compare.h"
#include "app/views/story_page.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr ImVec2 largest_cell_beside = {108, 64};  // design pixels, as the next
constexpr float picture_sides[] = {256, 208, 152, 96, 0};

/// The rule to compare with: one that only adds; or, for linear attention, one that erases.
std::string beside(const std::string& variant) {
  return without_strength(variant) == "linear" ? "deltanet" : "linear";
}

Node two_rules(Application& application, const MemoryStory& other, const MemoryStory& own,
               const std::string& other_name, bool has_same_strength) {
  const Computation& computed = *application.session.computed();
  const auto tables = [&, label = computed.variant->label](float picture) {
    CellTables cells = story_cells(own);
    cells.most_cell = largest_cell_beside;
    cells.scale = std::max(answer_scale(other.table), answer_scale(own.table));
    cells.tables = {story_table(other, own.keys, "beside", {other_name}, other.table.after),
                    story_table(own, own.keys, "own", {label}, own.table.after)};
    cells.picture = picture;
    const double common = std::max(other.range, own.range);
    for (const auto& [table, story] : {std::pair(&cells.tables[0], &other), {&cells.tables[1], &own}}) {
      const bool is_own = story->range < least_part * common;
      table->picture = {
          .values = story->after.size() > 0 ? &story->after : nullptr,
          .version = story->version,
          .look = {.range = static_cast<float>(is_own ? story->range : common), .grid = false},
          .words = is_own ? fmt::format("what it returns; own scale ±{}", plain_number(story->range, 2))
                          : "what it returns"};
    }
    return scene::centred(Node{std::move(cells)}.named("answers"));
  };
  Nodes wishes;
  for (const float picture : picture_sides) wishes.push_back(tables(picture));
  return story_page(
      application,
      {.headline = compare_headline({std::pair(other_name, &other), {computed.variant->label, &own}}),
       .question = "What do the two rules say?",
       .about = fmt::format(
           "Both rules have read the same tokens, up to {}{}. A row is a key; its cells say how "
           "much of each value its memory returns.",
           quoted_word(computed, own.token), has_same_strength ? ", and write with the same strength β" : ""),
       .content = scene::first_that_fits(std::move(wishes))});
}

}  // namespace

void draw_compare_story(Application& application) {
  Known<MemoryStory> own;
  Known<MemoryStory> other;
  scene::show_panel("##compare story", true, [&]() -> Node {
    if (const std::string nothing = nothing_to_show(application, ": there is nothing to compare");
        !nothing.empty())
      return scene::paragraph(nothing);
    Session& session = application.session;
    const auto computed = session.computed();
    const Side side{.variant = beside(computed->variant->id)};
    const auto shown = session.questions().ask(
        computed_side(computed->data, choice_of(session.state(), side), most_sides, session.devices()));
    own = ask_story(application, computed);
    if (shown.value && own.value) other = ask_story(application, shown.value, own.value.get());
    if (own.value && other.value && own.value->table.words.size() == other.value->table.words.size())
      return two_rules(application, *other.value, *own.value, find_variant(side.variant).label,
                       can_take_beta(session.state(), side))
          .named("story");
    for (const std::string& reason : {own.reason, shown.reason, other.reason}) {
      if (!reason.empty()) return story_without(application, reason);
    }
    return scene::paragraph("Asking both memories …");
  });
}

}  // namespace palimpsest
