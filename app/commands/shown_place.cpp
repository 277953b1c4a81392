#include "app/commands/shown_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/commands/place_option.h"
#include "app/commands/values.h"
#include "app/session/memory_answers.h"
#include "app/session/presets.h"
#include "app/session/state.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

/// The rule that was asked for, else that of the data.
Choice choice_of(const ShowOptions& options, const DataSet& data, const std::stop_token& stop) {
  Choice choice;
  if (!data.rule.empty()) choice.variant = data.rule;
  if (data.rule.empty() && !data.fits.empty()) choice.variant = data.fits;
  if (options.variant) choice.variant = *options.variant;
  const Variant& variant = find_variant(choice.variant);
  choice.settings = parse_settings(variant, options.settings);
  choice.form = parse_form(options.form);
  choice.device = usable_backend(options.device).name();
  if (options.chunk)
    choice.chunk_size = parse_count(*options.chunk, "--chunk", 1, largest_chunk(data.tokens));
  choice.chunk_size = std::min(choice.chunk_size, largest_chunk(data.tokens));
  choice.head = options.head ? parse_count(*options.head, "--head", 0, data.batches * data.heads - 1)
                             : opening_head(data, choice, stop);
  return choice;
}

/// The id of the memory's write in a form; empty where it has none.
std::string write_of(const Trace& trace) {
  for (const Phase& phase : trace.phases) {
    const auto write = std::ranges::find(phase.operations, Purpose::write, &Operation::purpose);
    if (write != phase.operations.end()) return write->id;
  }
  return {};
}

/// What --at says; without an operation the memory's write, or else the first one.
Cursor cursor_of(const std::string& at, const Trace& trace) {
  const PlaceOption place = parse_place(at, trace.tokens);
  if (place.operation) return cursor_at(place.token, *place.operation, trace);
  const std::string write = write_of(trace);
  return write.empty() ? trace.at_token({}, place.token) : cursor_at(place.token, write, trace);
}

/// A token by its number, or the first with this text.
Index word_of(const std::string& word, const DataSet& data) {
  const bool is_number =
      !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number) return parse_count(word, "a token of --words", 0, data.tokens - 1);
  for (std::size_t token = 0; token < data.labels.size(); ++token) {
    if (word_text(data.labels[token]) == word) return static_cast<Index>(token);
  }
  throw InputError(
      fmt::format("--words: there is no word \"{}\" in these data; give a text that they have, or the "
                  "number of a token from 0 to {}",
                  shown(word), data.tokens - 1));
}

std::pair<Index, Index> cell_of(const std::string& cell) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string::npos)
    throw InputError(fmt::format("--why is \"{}\"; expected ROW,COLUMN such as 5,10", shown(cell)));
  return {parse_count(cell.substr(0, comma), "the row of --why"),
          parse_count(cell.substr(comma + 1), "the column of --why")};
}

/// What is compared with a choice: VARIANT, VARIANT:FORM or VARIANT:FORM:PRECISION.
Side side_of(const std::string& words, const Choice& choice) {
  Side side = choice;
  const std::size_t form = words.find(':');
  const std::size_t precision = form == std::string::npos ? form : words.find(':', form + 1);
  const std::string variant = words.substr(0, form);
  if (find_variant(variant).id != choice.variant) side.settings = {};
  side.variant = variant;
  if (form != std::string::npos) side.form = parse_form(words.substr(form + 1, precision - form - 1));
  if (precision != std::string::npos) side.precision = parse_precision(words.substr(precision + 1));
  return side;
}

}  // namespace

std::string ShownPlace::text(Index of_token) const {
  return std::string(word_text(computation->data->labels[static_cast<std::size_t>(of_token)]));
}

std::string ShownPlace::numbered(Index of_token) const {
  return fmt::format("{} {}", of_token, text(of_token));
}

ShownPlace shown_place(const ShowOptions& options, std::stop_token stop) {
  const auto data = std::make_shared<const DataSet>(open_data(options.data));
  if (data->tokens == 0)
    throw InputError(fmt::format("{} has no tokens: there is nothing to show", options.data));
  const Choice choice = choice_of(options, *data, stop);
  ShownPlace place{.computation = begin(data, choice, stop), .form = choice.form, .stop = std::move(stop)};
  const auto& trace = place.computation->trace(choice.form);
  if (!trace) {
    throw Unsupported(fmt::format("{} has no {} form here: {}", choice.variant, name(choice.form),
                                  place.computation->form(choice.form).missing));
  }
  place.cursor = cursor_of(options.at.value_or(std::to_string(data->tokens - 1)), *trace);
  place.token = trace->token(place.cursor);
  for (const std::string& word : options.words) place.words.push_back(word_of(word, *data));
  if (options.cell) place.cell = cell_of(*options.cell);
  for (const std::string& side : options.beside) place.beside.push_back(side_of(side, choice));
  if (place.beside.size() + 1 > most_sides)
    throw InputError(
        fmt::format("--beside has {} sides; expected at most {}", place.beside.size(), most_sides - 1));
  return place;
}

}  // namespace palimpsest
