#include "app/commands/options.h"
#include "app/commands/show_views.h"
#include "app/session/first_place.h"
#include "app/session/memory_questions.h"
#include "app/session/presets.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

constexpr const char* data_option = "--capture,--data";

std::string data_of(const CommandOptions& options) {
  const std::optional<std::string> text = text_data(options);
  if (text && options.gave("--data")) refuse("give --capture or --text, not both");
  if (!text && !options.gave("--data")) refuse("give --capture or --text: what is to be shown");
  return text ? *text : options["--data"];
}

/// The rule that was asked for, else that of the data.
Choice choice_of(const CommandOptions& options, const DataSet& data, const std::stop_token& stop) {
  Choice choice;
  if (!data.rule.empty() || !data.fits.empty()) choice.variant = data.rule.empty() ? data.fits : data.rule;
  if (options.gave("--variant")) choice.variant = variant_id(options["--variant"]);
  choice.settings = parse_settings(find_variant(choice.variant), options.all("--param"));
  choice.form = parse_form(options["--form"]);
  choice.device = usable_backend(options["--device"]).name();
  if (options.gave("--chunk"))
    choice.chunk_size = parse_count(options["--chunk"], "--chunk", 1, largest_chunk(data.tokens));
  choice.chunk_size = std::min(choice.chunk_size, largest_chunk(data.tokens));
  choice.head = options.gave("--head") && !data.read
                    ? parse_count(options["--head"], "--head", 0, data.batches * data.heads - 1)
                    : opening_head(data, choice, stop);
  return choice;
}

/// A token by its number, or the first with this text.
Index word_of(const std::string& word, const DataSet& data) {
  const bool is_number =
      !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number) return parse_count(word, "a token of --words", 0, data.tokens - 1);
  const auto found = std::ranges::find(data.labels, word, word_text);
  if (found != data.labels.end()) return found - data.labels.begin();
  refuse(
      "--words: there is no token \"{}\" in these data; give a text that they have, or an "
      "index from 0 to {}",
      shown(word), data.tokens - 1);
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

/// Opens and computes what is asked for. Throws InputError naming the option and what there is.
ShownPlace shown_place(const std::string& id, const CommandOptions& options, std::stop_token stop) {
  const auto data = std::make_shared<const DataSet>(open_data(id));
  if (data->tokens == 0) refuse("{} has no tokens: there is nothing to show", id);
  const Choice choice = choice_of(options, *data, stop);
  ShownPlace place{.computation = begin(data, choice, stop), .form = choice.form, .stop = std::move(stop)};
  const auto& trace = place.computation->trace(choice.form);
  if (!trace)
    throw Unsupported(fmt::format("{} has no {} form here: {}", choice.variant, name(choice.form),
                                  place.computation->form(choice.form).missing));
  const std::optional<std::string> at = options.if_given("--at");
  place.cursor =
      at ? cursor_at(*at, *trace) : after_write(*trace, first_place(*place.computation, place.stop).token);
  place.token = trace->token(place.cursor);
  for (const std::string& word : options.all("--words")) place.words.push_back(word_of(word, *data));
  if (options.gave("--why")) place.cell = parse_cell(options["--why"], " such as 5,10");
  for (const std::string& side : options.all("--beside")) place.beside.push_back(side_of(side, choice));
  if (place.beside.size() + 1 > most_sides)
    refuse("--beside has {} sides; expected at most {}", place.beside.size(), most_sides - 1);
  return place;
}

std::string place_words(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const Choice& choice = computation.choice;
  std::string words = one_line(fmt::format("{}, head {}, {}, {} form{}: t = {}, at {}", computation.data->id,
                                           choice.head, computation.variant->label, name(place.form),
                                           is_cpu(*computation.device) ? "" : " on " + choice.device,
                                           place.numbered(place.token), place.operation())) +
                      '\n';
  for (const std::string& note : computation.inputs.notes) words += one_line(note) + '\n';
  return words;
}

/// How many of the numbers are infinite or none, and the place of the first, such as /before/0/1.
struct NotFinite {
  Index count = 0;
  std::string first = {};
};

NotFinite not_finite(const Json& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) return {.count = 1};
  NotFinite found;
  if (!json.is_structured()) return found;
  for (const auto& entry : json.items()) {
    const NotFinite below = not_finite(entry.value());
    if (below.count > 0 && found.count == 0) found.first = '/' + entry.key() + below.first;
    found.count += below.count;
  }
  return found;
}

void tell_not_finite(const Console& console, const std::string& id, const CommandOptions& options,
                     const ShownNumbers& numbers) {
  const NotFinite found = not_finite(numbers.json);
  if (found.count == 0) return;
  tell(console,
       fmt::format("{}: {} not finite, first at {}{}", id, counted(found.count, "number is", "numbers are"),
                   found.first, options.gave("--json") ? "; the file has null there" : ""));
}

int show(const CommandOptions& options, const Console& console) {
  const std::optional<std::string> json = options.if_given("--json");
  const FactView& view =
      find_row(fact_views(), options["VIEW"], &FactView::id,
               fmt::format("there is no view \"{}\"; expected one of", shown(options["VIEW"])));
  const std::string id = data_of(options);
  if (json) require_other_file(*json, id, "--json");
  if (json) writable_target(*json);  // before the work is done
  const Interrupt interrupt;
  const ShownPlace place = shown_place(id, options, interrupt.token());
  const ShownNumbers numbers = view.show(place);
  tell_not_finite(console, id, options, numbers);
  if (!json) {
    console.out << place_words(place) << numbers.text;
    return exit_done;
  }
  Json whole = {{"view", view.id}};
  whole.update(place_json(place));
  whole.update(numbers.json);
  write_text(*json, dumped(whole, 1) + '\n');
  return exit_done;
}

}  // namespace

Task add_show(CommandOptions command, Console console) {
  std::string ids;
  for (const FactView& view : fact_views()) ids += fmt::format("\n{}: {}", view.id, view.words);
  command.option("VIEW", "View to show:" + ids, "", {.required = true});
  command.option(
      data_option,
      "A file with q, k and v (FILE?q=query&beta=b reads other names); or capture:NAME, preset:NAME");
  for (const auto& [name, words] : text_options) command.option(name, words);
  command.list("--do", "A change of the model that reads --text (see say)", {.repeated = true});
  command.option("--variant", "Compute this variant instead of the data's");
  command.option("--form", joined_names(all_forms), "recurrent");
  command.option("--device", "cpu or cuda", "cpu");
  command.option("--chunk", "Tokens per chunk, where the form has chunks");
  command.option("--at",
                 "TOKEN or TOKEN:OPERATION, such as 42:error (default: where the window opens, after "
                 "the write)");
  command.option("--head", "Head, counted over batches and heads (default: where the window opens)");
  command.list("--words",
               "Query these tokens, by their indices or their texts (default: the strongest writes)",
               {.by_commas = true});
  command.option("--why", "ROW,COLUMN of the memory for provenance (default: its largest entry)");
  command.list("--beside",
               "VARIANT, VARIANT:FORM or VARIANT:FORM:PRECISION, up to three: the other sides of compare "
               "(default: those that the window shows first)",
               {.by_commas = true});
  command.list("--param", "NAME=VALUE: an option or a parameter of the variant", {.repeated = true});
  command.option("--json", "Also write the numbers to this file, for programs");
  return [command, console] { return show(command, console); };
}

}  // namespace palimpsest
