#include "app/views/form_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/gl/context_local.h"
#include "app/session/step_questions.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/views/form_words.h"

namespace palimpsest {

namespace {

using scene::Gap;
using scene::Node;
using scene::Nodes;

constexpr float names_width = 66;  // design pixels

/// What is counted, and how it is said.
struct Column {
  float part;  // of the width: bytes are written with their unit
  const char* title;
  const char* explained;
  double (*value)(const CostRow& row);
  std::string (*words)(double value);
};

const std::array<Column, 3> columns = {{
    {0.3F, "FLOPs", "Multiplications and additions for a word, counted.",
     [](const CostRow& row) { return row.flops; }, in_thousands},
    {0.42F, "bytes",
     "Read and written for a word in float32, counted: a state is written back after every block.",
     [](const CostRow& row) { return row.bytes; }, in_bytes},
    {0.28F, "in a row", "Steps that wait for the one before: words, chunks, or one for all.",
     [](const CostRow& row) { return static_cast<double>(row.steps); }, in_thousands},
}};

/// Why a form costs what it costs.
std::string explained(const std::vector<CostRow>& rows, const CostRow& row, bool of_one_word) {
  if (!row.missing.empty()) return row.missing;
  switch (row.form) {
    case Form::recurrent:
      return "One step for every word, each waiting for the one before; the state is fetched and written "
             "back "
             "every time.";
    case Form::chunkwise:
      if (const auto other = std::ranges::find(rows, Form::recurrent, &CostRow::form);
          of_one_word && other != rows.end())
        return one_word_words(row.flops, other->flops, false);
      return "The words of a chunk at once, by matrix products; the state is fetched and written back once a "
             "chunk.";
    case Form::two_pass: {
      const auto other = std::ranges::find(rows, Form::chunkwise, &CostRow::form);
      return two_pass_words(other == rows.end() || row.flops > other->flops || row.bytes > other->bytes);
    }
    case Form::parallel:
      break;
  }
  return "All words at once: every word looks at every word before it, so FLOPs grow with the text.";
}

Node titles() {
  Nodes row = {scene::space(Gap::none).fixed(names_width)};
  for (const Column& column : columns)
    row.push_back(scene::line(column.title, style::Text::caption, style::colours().dim)
                      .told(column.explained)
                      .filling(column.part));
  return scene::row(std::move(row));
}

/// A form's costs as numbers with bars below them, beside the `most` of each; lit where it is the present
/// one.
Node costs_of(const CostRow& row, const std::array<double, 3>& most, bool is_present) {
  const style::Palette& c = style::colours();
  const scene::Ink ink = is_present ? c.text : c.dim;
  Nodes cells = {scene::line(form_label(row.form), style::Text::caption, ink).fixed(names_width)};
  if (!row.missing.empty()) cells.push_back(scene::caption("–"));
  for (std::size_t i = 0; i < columns.size() && row.missing.empty(); ++i) {
    const double value = columns[i].value(row);
    cells.push_back(
        scene::column(
            {scene::number(columns[i].words(value), ink).named("number"),
             Node{scene::Bar{.value = value, .most = most[i], .ink = ink, .height = 4, .shows_zero = false}}
                 .named("bar")},
            Gap::tight)
            .named(columns[i].title)
            .filling(columns[i].part));
  }
  return scene::row(std::move(cells));
}

}  // namespace

namespace {

/// `value` in the first unit of which there are fewer than `base`, with three digits, or four of a whole one.
std::string in_units(double value, double base, std::initializer_list<const char*> units) {
  const char* last = *(units.end() - 1);
  for (const char* unit : units) {
    if (unit == *units.begin() && std::round(value) < base) return fmt::format("{:.0f}{}", value, unit);
    if (unit == last || std::round(value) < base)
      return fmt::format("{:.{}g}{}", value, value < 999.5 ? 3 : 4, unit);
    value /= base;
  }
  return {};
}

}  // namespace

std::string in_thousands(double value) { return in_units(value, 1000, {"", "k", "M", "G"}); }

std::string in_bytes(double value) { return in_units(value, 1024, {" B", " KiB", " MiB", " GiB"}); }

std::string two_pass_words(bool takes_more) {
  return takes_more
             ? "Two-pass takes what Chunkwise takes, and more: the second pass makes the decays again and "
               "fetches every chunk's state. For that all outputs come at once."
             : "Two-pass counts the same FLOPs and bytes as Chunkwise here: its second pass has nothing "
               "to fetch again.";
}

std::string one_word_words(double chunkwise, double recurrent, bool has_scores) {
  if (chunkwise == recurrent)
    return fmt::format("One word in a chunk counts what the recurrent form counts: {} FLOPs.",
                       in_thousands(recurrent));
  return fmt::format(
      "C = 1 counts {} FLOPs, the recurrent form {}: a chunk of one word {}.", in_thousands(chunkwise),
      in_thousands(recurrent),
      has_scores ? "still makes its scores (1 × 1) and products with them" : "is still computed as a chunk");
}

std::string what_costs_mean(const std::vector<CostRow>& rows) {
  bool differ = false;
  bool buys = false;   // fewer steps for more FLOPs
  bool saves = false;  // fewer steps for no more
  for (const CostRow& one : rows) {
    for (const CostRow& other : rows) {
      if (!one.missing.empty() || !other.missing.empty()) continue;
      differ = differ || one.flops != other.flops || one.bytes != other.bytes || one.steps != other.steps;
      buys = buys || (one.flops > other.flops && one.steps < other.steps);
      saves = saves || (one.flops <= other.flops && one.steps < other.steps);
    }
  }
  constexpr const char* on_a_gpu =
      " in a row: on a GPU a step waits for the one before, the FLOPs of one step do not.";
  if (buys) return std::string("For a word. More FLOPs buy fewer steps") + on_a_gpu;
  if (saves) return std::string("For a word. The same FLOPs or fewer take fewer steps") + on_a_gpu;
  if (!differ && std::ranges::count(rows, "", &CostRow::missing) > 1)
    return "For a word. Every form takes the same here.";
  return "For a word.";
}

scene::Node form_costs(Application& application, bool has_title, bool has_meaning) {
  const auto computation = application.session.computed();
  if (!computation) return scene::column({});
  const Index chunk_size = application.session.choice().chunk_size;
  const auto answer = application.session.questions().ask(FormCosts{computation, chunk_size}, Urgency::later);
  const std::string meaning = answer.value ? what_costs_mean(*answer.value) : std::string();
  Nodes all;
  if (has_title) all.push_back(scene::caption("What it costs").told(meaning));
  if (!answer.value) {
    all.push_back(scene::caption(answer.reason.empty() ? "is being counted" : answer.reason));
    return scene::column(std::move(all));
  }
  const std::vector<CostRow>& rows = *answer.value;
  std::array<double, 3> most = {};
  for (const CostRow& row : rows) {
    for (std::size_t i = 0; i < columns.size() && row.missing.empty(); ++i)
      most[i] = std::max(most[i], columns[i].value(row));
  }
  all.push_back(titles());
  for (const CostRow& row : rows) {
    const bool is_present = application.session.choice().form == row.form;
    all.push_back(
        with_command(application, fmt::format("form.{}", name(row.form)), costs_of(row, most, is_present))
            .named(fmt::format("{} cost", form_label(row.form)))
            .told(explained(rows, row, chunk_size == 1))
            .enabled_if(true));
  }
  if (has_meaning) all.push_back(scene::caption(meaning));
  return scene::column(std::move(all), Gap::tight).named("costs");
}

}  // namespace palimpsest
