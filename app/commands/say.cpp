#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/json_fields.h"
#include "app/session/typed_text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

/// Beside each other: the likeliest pieces, and the loss.
std::string table_of(const Tokenizer& tokenizer,
                     const std::vector<std::pair<std::string, TextReading>>& all) {
  TextRows rows(static_cast<std::size_t>(TextReading::told) + 1);
  for (const auto& [title, said] : all) {
    rows[0].insert(rows[0].end(), {title, ""});
    const std::vector<Continuation>& top = said.next.back();
    for (std::size_t i = 0; i < top.size(); ++i)
      rows[i + 1].insert(rows[i + 1].end(),
                         {valid_utf8(tokenizer.piece(top[i].piece)), fixed_number(top[i].probability, 4)});
  }
  std::string table = columns(rows, 0);
  for (const auto& [title, said] : all)
    table += fmt::format("loss, {}: {} nats per token\n", title, fixed_number(said.loss(), 3));
  return table;
}

/// The model that a command asks for, and what it does to it.
template <class Scalar>
struct AskedModel {
  std::filesystem::path file;
  Tokenizer tokenizer;
  LanguageModel<Scalar> model;
  std::vector<Intervention> interventions = {};
  RunHead run;

  AskedModel(const CommandOptions& options, const std::stop_token& stop)
      : file(model_file(options["--model"])),
        tokenizer(options.gave("--tokenizer") ? std::filesystem::path(options["--tokenizer"])
                                              : file.parent_path() / "tokenizer.json"),
        model(file),
        run(run_as_trained({parse_form(options["--form"]), parse_precision(options["--precision"]),
                            parse_count(options["--chunk"], "--chunk"), &usable_backend(options["--device"])},
                           stop)) {
    require_same_pieces(tokenizer, model.pieces());
    for (const std::string& each : options.all("--do")) {
      interventions.push_back(parse_intervention(each));
      require_place(interventions.back(), model.layers(), model.heads());
    }
  }
};

template <class Scalar>
int say(const CommandOptions& options, const Console& console) {
  const Interrupt interrupt;
  if (options.gave("--json")) writable_target(options["--json"]);  // before the work is done
  const AskedModel<Scalar> asked(options, interrupt.token());
  const std::vector<Index> ids = text_pieces(asked.tokenizer, options["TEXT"]);
  std::vector<std::pair<std::string, TextReading>> all = {
      {"as trained", read(asked.model, ids, {}, asked.run)}};
  if (!asked.interventions.empty())
    all.emplace_back(fmt::format("{}", fmt::join(options.all("--do"), " ")),
                     read(asked.model, ids, asked.interventions, asked.run));
  console.out << table_of(asked.tokenizer, all);
  if (!options.gave("--json")) return exit_done;
  const TextReading& shown = all.back().second;
  const auto piece = [&](Index id) { return valid_utf8(asked.tokenizer.piece(id)); };
  Json json = {{"model", options["--model"]},
               {"text", options["TEXT"]},
               {"do", options.all("--do")},
               {"ids", ids},
               {"loss", shown.losses}};
  for (const Index id : ids) json["pieces"].push_back(piece(id));
  for (const Continuation& each : shown.next.back())
    json["top"].push_back({{"piece", piece(each.piece)}, {"probability", each.probability}});
  write_text(options["--json"], json.dump(1) + '\n');
  return exit_done;
}

/// What came of an experiment, a line for each number of overwrites: for a person, or as csv.
TextRows rows_of(const std::vector<ExperimentRow>& found, bool is_changed) {
  TextRows rows = {{"overwritten", "texts", "right_as_trained", "older_as_trained"}};
  if (is_changed) rows.front().insert(rows.front().end(), {"right_changed", "older_changed"});
  for (const ExperimentRow& row : found) {
    std::vector<Index> numbers = {row.overwritten, row.texts, row.trained.right, row.trained.older};
    if (is_changed) numbers.insert(numbers.end(), {row.changed.right, row.changed.older});
    std::vector<std::string>& line = rows.emplace_back();
    for (const Index number : numbers) line.push_back(std::to_string(number));
  }
  return rows;
}

template <class Scalar>
int experiment(const CommandOptions& options, const Console& console) {
  const Interrupt interrupt;
  if (options.gave("--csv")) writable_target(options["--csv"]);
  const AskedModel<Scalar> asked(options, interrupt.token());
  std::atomic<double> share = 0;
  std::jthread line =
      show_waiting(console, [&] { return fmt::format("{:.0f} % of the texts read", 100 * share); });
  const std::vector<ExperimentRow> found = try_texts(
      {.kind = options["--kind"],
       .texts = parse_count(options["--texts"], "--texts", 1, most_experiment_texts),
       .overwritten = parse_count(options["--overwritten"], "--overwritten", 0, most_overwritten),
       .seed = static_cast<std::uint64_t>(parse_count(options["--seed"], "--seed")),
       .interventions = asked.interventions},
      asked.model, asked.tokenizer, asked.run, [&](double so_far) { share = so_far; }, interrupt.token());
  line = {};  // it goes before the table comes
  const TextRows rows = rows_of(found, !asked.interventions.empty());
  console.out << columns(rows);
  if (!options.gave("--csv")) return exit_done;
  std::string csv;
  for (const auto& row : rows) csv += fmt::format("{}\n", fmt::join(row, ","));
  write_text(options["--csv"], csv);
  return exit_done;
}

void add_model_options(CommandOptions& command) {
  std::string kinds;
  for (const InterventionKind& kind : intervention_kinds())
    kinds += fmt::format("; {}{}: {}", kind.id, *kind.value ? "=…" : "", kind.words);
  std::string names;
  for (const ShippedModel& model : shipped_models()) names += fmt::format("{}, ", model.name);
  command.option("--model", names + "or a file of weights", "delta_net");
  command.option("--tokenizer", "Its tokenizer.json (default: beside the weights)");
  command.list("--do",
               "Change a layer and show the answer with it: KIND, KIND:LAYER or KIND:LAYER.HEAD, with "
               "=VALUE where one is needed" +
                   kinds,
               {.repeated = true});
  command.option("--form", joined_names(all_forms), "recurrent");
  command.option("--precision", "Of the layers; the rest is in f64 with f64, else in f32", "f32");
  command.option("--chunk", "Tokens per chunk, where the form has chunks", "64");
  command.option("--device", "Device of the layers: cpu or cuda", "cpu");
}

bool is_f64(const CommandOptions& command) {
  return parse_precision(command["--precision"]) == Precision::f64;
}

}  // namespace

Task add_say(CommandOptions command, Console console) {
  command.option("TEXT", "The text that the model continues", "", {.required = true});
  add_model_options(command);
  command.option("--json", "Also write a JSON file: ids, pieces, loss of every token, top");
  return [command, console] {
    return is_f64(command) ? say<double>(command, console) : say<float>(command, console);
  };
}

Task add_experiment(CommandOptions command, Console console) {
  std::string kinds;
  for (const TextKind& kind : text_kinds())
    kinds += fmt::format("{}{}: {}", kinds.empty() ? "" : "; ", kind.id, kind.words);
  command.option("--kind", "Kind of texts: " + kinds, "jars");
  command.option("--texts", "Texts for each number of overwrites", "20");
  command.option("--overwritten", "Largest number of times that the queried fact is overwritten", "3");
  command.option("--seed", "Seed of the random numbers", "1");
  add_model_options(command);
  command.option("--csv", "Also write the table to this file");
  return [command, console] {
    return is_f64(command) ? experiment<double>(command, console) : experiment<float>(command, console);
  };
}

}  // namespace palimpsest
