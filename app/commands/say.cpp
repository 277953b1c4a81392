#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/paths.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/io/file.h"
#include "core/language/interventions.h"
#include "core/language/tokenizer.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

constexpr Index most_text_tokens = 2048;  // the models were trained on texts of 256
constexpr Index shown_pieces = 5;

/// The file of a model that ships, or any other.
std::filesystem::path model_file(const std::string& name) {
  if (name.find('/') != std::string::npos || name.find('.') != std::string::npos) return name;
  return asset("models/" + name + ".npz");
}

/// What a model says of a text.
struct Said {
  std::vector<Continuation> top;
  std::vector<double> losses;

  double loss() const {
    return losses.empty()
               ? 0
               : std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
  }
};

template <class Scalar>
Said said(const LanguageModel<Scalar>& model, const std::vector<Index>& ids, const RunHead& run) {
  const Matrix<Scalar> logits = model.logits(ids, run);
  return {continuations(logits, logits.rows() - 1, shown_pieces), losses(logits, ids)};
}

/// Beside each other: the likeliest pieces, and the loss.
std::string table_of(const Tokenizer& tokenizer, const std::vector<std::pair<std::string, Said>>& all) {
  TextRows rows(static_cast<std::size_t>(shown_pieces) + 1);
  for (const auto& [title, said] : all) {
    rows[0].insert(rows[0].end(), {title, ""});
    for (std::size_t i = 0; i < said.top.size(); ++i)
      rows[i + 1].insert(rows[i + 1].end(), {valid_utf8(tokenizer.piece(said.top[i].piece)),
                                             fixed_number(said.top[i].probability, 4)});
  }
  std::string table = columns(rows, 0);
  for (const auto& [title, said] : all)
    table += fmt::format("loss, {}: {} nats a token\n", title, fixed_number(said.loss(), 3));
  return table;
}

template <class Scalar>
int say(const CommandOptions& options, const Console& console) {
  const std::filesystem::path file = model_file(options["--model"]);
  const Tokenizer tokenizer(options.gave("--tokenizer") ? std::filesystem::path(options["--tokenizer"])
                                                        : file.parent_path() / "tokenizer.json");
  const std::string& text = options["TEXT"];
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError("the text has no words; type some");
  std::vector<Index> ids = {0};  // where a text begins
  const std::vector<Index> typed = tokenizer.encode(text);
  ids.insert(ids.end(), typed.begin(), typed.end());
  if (std::ssize(ids) > most_text_tokens)
    throw InputError(
        fmt::format("the text has {} tokens; at most {} are read", ids.size(), most_text_tokens));
  const LanguageModel<Scalar> model(file);
  if (tokenizer.size() != model.pieces())
    throw InputError(fmt::format("the tokenizer has {} pieces and the model {}: they do not belong together",
                                 tokenizer.size(), model.pieces()));
  std::vector<Intervention> interventions;
  for (const std::string& each : options.all("--do")) {
    interventions.push_back(parse_intervention(each));
    require_place(interventions.back(), model.layers(), model.heads());
  }
  if (options.gave("--json")) writable_target(options["--json"]);  // before the work is done
  const Interrupt interrupt;
  const RunHead run = run_as_trained(parse_form(options["--form"]), parse_precision(options["--precision"]),
                                     parse_count(options["--chunk"], "--chunk"), interrupt.token());
  std::vector<std::pair<std::string, Said>> all = {{"as trained", said(model, ids, run)}};
  if (!interventions.empty())
    all.emplace_back(fmt::format("{}", fmt::join(options.all("--do"), " ")),
                     said(model, ids, with(interventions, run)));
  console.out << table_of(tokenizer, all);
  if (!options.gave("--json")) return exit_done;
  const Said& shown = all.back().second;
  Json json = {{"model", options["--model"]}, {"text", text}, {"do", options.all("--do")}, {"ids", ids}};
  for (const Index id : ids) json["pieces"].push_back(valid_utf8(tokenizer.piece(id)));
  json["loss"] = shown.losses;
  for (const Continuation& each : shown.top)
    json["top"].push_back(
        {{"piece", valid_utf8(tokenizer.piece(each.piece))}, {"probability", each.probability}});
  write_text(options["--json"], json.dump(1) + '\n');
  return exit_done;
}

std::string intervention_words() {
  std::string words;
  for (const InterventionKind& kind : intervention_kinds())
    words += fmt::format("; {}{}: {}", kind.id, *kind.value ? "=…" : "", kind.words);
  return words;
}

}  // namespace

Task add_say(CommandOptions command, Console console) {
  command.option("TEXT", "What the model goes on with", "", {.required = true});
  command.option("--model", "delta_net, gated_delta_net or simple_gla; or a file of weights", "delta_net");
  command.option("--tokenizer", "Its tokenizer.json (default: beside the weights)");
  command.list(
      "--do",
      "Change a layer and say what becomes of the answer: KIND, KIND:LAYER or KIND:LAYER.HEAD, with =VALUE "
      "where one is needed" +
          intervention_words(),
      {.repeated = true});
  command.option("--form", form_names(), "recurrent");
  command.option("--precision", "f64 or f32", "f32");
  command.option("--chunk", "Tokens per chunk, where the form has chunks", "64");
  command.option("--json", "Write what it says to this file, too: ids, pieces, loss of every token, top");
  return [command, console] {
    const Precision precision = parse_precision(command["--precision"]);
    if (precision == Precision::f64) return say<double>(command, console);
    if (precision == Precision::f32) return say<float>(command, console);
    throw Unsupported(
        fmt::format("a model is run on the processor, in f64 or f32; it has no {}", name(precision)));
  };
}

}  // namespace palimpsest
