#include <cstdlib>

#include "app/views/data_parts.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float cell_width = 84;
constexpr float index_width = 28;
constexpr float rows_height = 264;  // of the rows that are in sight at once
constexpr Index most_rows = 8;

/// What is wrong with the number that was typed last.
std::string& cell_refusal() { return context_local<std::string, struct CellRefusal>(); }

/// The numbers of an array at one token.
struct NumbersColumn {
  std::string name;
  const Array* array = nullptr;
  Index channels = 0;
};

/// The arrays with a row for each token and a number for each channel, q, k and v first.
std::vector<NumbersColumn> columns(const Computation& computed) {
  std::vector<NumbersColumn> all;
  const auto add = [&](const std::string& name) {
    const auto found = computed.inputs.arrays->find(name);
    if (found == computed.inputs.arrays->end()) return;
    const Array& array = found->second;
    const bool fits = array.rank() >= 1 && array.rank() <= 2 && array.shape[0] == computed.sequence.tokens;
    if (fits) all.push_back({name, &array, array.size() / array.shape[0]});
  };
  for (const char* name : {"q", "k", "v", "beta", "alpha", "g"}) add(name);
  return all;
}

ImU32 colour(const std::string& name) {
  const style::Palette& c = style::colours();
  if (name == "q") return c.query;
  if (name == "k") return c.key;
  if (name == "v") return c.value;
  return name == "beta" ? c.strength : c.gate;
}

/// Sets one number: an edit that replaces an earlier one of the same cell.
void set_cell(Application& application, const std::string& array, Index token, Index channel, double value) {
  Choice choice = application.session.choice();
  const auto row = static_cast<double>(token);
  const auto column = static_cast<double>(channel);
  std::erase_if(choice.edits, [&](const Edit& edit) {
    return edit.kind == "set_cell" && edit.array == array && edit.numbers.size() == 3 &&
           edit.numbers[0] == row && edit.numbers[1] == column;
  });
  choice.edits.push_back({.kind = "set_cell", .array = array, .numbers = {row, column, value}});
  application.session.choose(std::move(choice));
}

/// A number as its cell shows it.
std::string shown(double number) { return fmt::format("{:.4g}", number); }

/// Takes what was typed in a cell, if it is a number.
void take(Application& application, const NumbersColumn& column, Index token, Index channel,
          const std::string& typed) {
  char* end = nullptr;
  const double value = std::strtod(typed.c_str(), &end);
  std::string& refusal = cell_refusal();
  refusal.clear();
  const double present = (*column.array)[token * column.channels + channel];
  if (typed.empty() || *end != '\0')
    refusal = fmt::format("{} stays {:.4g}: “{}” is not a number.", column.name, present, typed);
  else if (!std::isfinite(value))
    refusal =
        fmt::format("{} stays {:.4g}: the typed number exceeds the largest, 1.8e+308.", column.name, present);
  else if (value != present && typed != shown(present))
    set_cell(application, column.name, token, channel, value);
}

Node cell(Application& application, const NumbersColumn& column, Index token, Index channel) {
  const double present = (*column.array)[token * column.channels + channel];
  Node input = {scene::Input{
      .text = shown(present),
      .set = [&application, column, token,
              channel](const std::string& typed) { take(application, column, token, channel, typed); },
      .is_number = true}};
  return std::move(input).named(fmt::format("{}[{},{}]", column.name, token, channel)).fixed(cell_width);
}

/// "“drum”, token 43 of 94", with a button to the token before and after.
Node word_at_the_cursor(Application& application, Index token) {
  Session& session = application.session;
  const DataSet& data = session.data();
  return scene::row(
      {scene::icon_button("token before", Icon::back).told("One token back").on([&session, token] {
         session.go_to_token(token - 1);
       }),
       scene::icon_button("token after", Icon::forwards).told("One token on").on([&session, token] {
         session.go_to_token(token + 1);
       }),
       scene::heading(
           fmt::format("token {} of {}", numbered_label(entry(data.labels, token), token), data.tokens))});
}

/// A row of the table, its first cell as wide as an index.
Node row_of(Node first, Nodes cells) {
  cells.insert(cells.begin(), std::move(first).fixed(index_width));
  return scene::row(std::move(cells), Gap::small);
}

}  // namespace

Node cell_table(Application& application) {
  const auto computed = application.session.computed();
  if (!computed || computed->sequence.tokens == 0) return scene::column({});
  const std::string& refusal = cell_refusal();
  const Index token = std::clamp<Index>(application.session.token(), 0, computed->sequence.tokens - 1);
  Nodes all = {refusal.empty()
                   ? scene::caption("Numbers of this token. Typing over one recomputes everything; "
                                    "Ctrl+Z undoes it.")
                   : scene::text(refusal, style::Text::caption, style::colours().alarm).named("refusal"),
               word_at_the_cursor(application, token)};
  const std::vector<NumbersColumn> arrays = columns(*computed);
  if (arrays.empty()) return scene::column(std::move(all), Gap::near);
  Nodes heads;
  for (const NumbersColumn& column : arrays)
    heads.push_back(scene::line(column.name, style::Text::strong, colour(column.name)).fixed(cell_width));
  Nodes rows;
  const Index count = std::ranges::max_element(arrays, {}, &NumbersColumn::channels)->channels;
  for (Index channel = 0; channel < count; ++channel) {
    Nodes cells;
    for (const NumbersColumn& column : arrays)
      cells.push_back(channel < column.channels ? cell(application, column, token, channel)
                                                : scene::column({}).fixed(cell_width));
    rows.push_back(row_of(scene::caption(std::to_string(channel)), std::move(cells)));
  }
  all.push_back(row_of(scene::column({}), std::move(heads)));
  Node numbers = scene::scroll("numbers", scene::column(std::move(rows), Gap::tight));
  all.push_back(count > most_rows ? std::move(numbers).fixed(rows_height) : std::move(numbers));
  return scene::column(std::move(all), Gap::near).named("cells");
}

}  // namespace palimpsest
