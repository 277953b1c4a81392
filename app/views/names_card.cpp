#include <fmt/ranges.h>

#include "app/views/data_parts.h"

// The card that assigns the arrays of a file to inputs.

namespace palimpsest {

namespace {

// In design pixels.
constexpr float input_width = 84;
constexpr float menu_width = 250;
constexpr float picture_width = 200;

using FileArrays = std::vector<FileArray>;

NamedFile names_in(const std::string& id) try { return named_file(id); } catch (const InputError&) {
  return {.file = path_in_id(id)};
}

/// The inputs that are offered: those common to linear rules, those of the current rule, and named ones.
std::vector<std::string> offered_inputs(const Application& application, const NamedFile& named) {
  std::vector<std::string> inputs = {"q", "k", "v", "g", "alpha", "beta"};
  const auto add = [&](const std::string& name) {
    if (!is_among(name, inputs)) inputs.push_back(name);
  };
  for (const Input& input : all_inputs(find_variant(application.session.choice().variant))) add(input.name);
  for (const auto& [input, source] : named.sources) add(input);
  add("o");
  return inputs;
}

const FileArray* array_called(const FileArrays& arrays, const std::string& name) {
  return row_called(arrays, name, &FileArray::name);
}

/// The source of an input, as in NamedFile::sources; empty: none.
std::string source_of(const NamedFile& named, const FileArrays& arrays, const std::string& input) {
  if (const std::string* const said = value_at(named.sources, input)) return *said;
  const bool is_used_elsewhere = std::ranges::any_of(
      named.sources, [&](const auto& each) { return source_array(named, each.first) == input; });
  return array_called(arrays, input) && !is_used_elsewhere ? input : std::string();
}

void take(NamedFile& named, const FileArrays& arrays, const std::string& input, const std::string& source) {
  named.sources.erase(input);
  if (source_of(named, arrays, input) != source) named.sources[input] = source;
}

std::string array_in_words(const FileArray& array) {
  return fmt::format("{}  {}", shown(array.name), array.problem.empty() ? to_string(array.shape) : "broken");
}

Node list_of_arrays(NamedFile& named, const std::shared_ptr<const FileArrays>& arrays,
                    const std::string& input) {
  const std::string present = source_of(named, *arrays, input);
  const auto line = [&](const std::string& words, const std::string& name) {
    return scene::choice(words, name == present).on([&named, arrays, input, name] {
      take(named, *arrays, input, name);
      scene::close();
    });
  };
  Nodes rows = {line("none", "")};
  for (const FileArray& array : *arrays) rows += line(array_in_words(array), array.name);
  return scene::scroll("arrays", scene::column(std::move(rows), Gap::hair)).fixed(240);
}

Nodes preview(const FileArray& array) {
  const style::Palette& c = style::colours();
  if (!array.problem.empty()) return {scene::note(array.problem, c.alarm).filling()};
  const double size = std::max(std::abs(array.least), std::abs(array.most));
  std::string reach = fmt::format("{:.3g} … {:.3g}", array.least, array.most);
  if (array.not_finite > 0) reach += fmt::format(", {} not finite", array.not_finite);
  return {Node{scene::Picture{.values = &array.picture,
                              .version = array.version,
                              .look = {.range = static_cast<float>(size > 0 ? size : 1), .grid = false},
                              .height = 26}}
              .told("The first channels of the first head, along the first tokens")
              .fixed(picture_width),
          scene::note(reach, array.not_finite > 0 ? c.alarm : scene::dim_ink).named("reach").filling()};
}

Node input_row(NamedFile& named, const std::shared_ptr<const FileArrays>& arrays, const std::string& input) {
  const std::string source = source_of(named, *arrays, input);
  const std::string name = source_array(named, input);
  const FileArray* const array = source.empty() ? nullptr : array_called(*arrays, name);
  Nodes cells = {
      scene::line(input, style::Text::strong).fixed(input_width),
      Node{scene::Menu{.words = source.empty() ? "none"
                                : array        ? array_in_words(*array)
                                               : source,
                       .content = [&named, arrays, input] { return list_of_arrays(named, arrays, input); },
                       .width = menu_width,
                       .fills = true}}
          .named("array")
          .fixed(menu_width)};
  if (array) {
    cells += preview(*array);
    if (input == "beta" || input == "alpha") {
      const bool is_made = source.starts_with("sigmoid(");
      cells += scene::tab("sigmoid", is_made)
                   .told("The array holds logits: apply 1 / (1 + e⁻ˣ)")
                   .on([&named, arrays, input, name, is_made] {
                     take(named, *arrays, input, is_made ? name : fmt::format("sigmoid({})", name));
                   });
    }
  }
  return scene::row(std::move(cells)).named(input);
}

std::string missing_words(const NamedFile& named, const FileArrays& arrays) {
  std::vector<std::string> missing;
  for (const char* const input : {"q", "k", "v"}) {
    if (source_of(named, arrays, input).empty()) missing.emplace_back(input);
  }
  if (missing.empty()) return {};
  return fmt::format("Choose {} for {}.", missing.size() == 1 ? "an array" : "arrays", listed(missing));
}

Node buttons(Application& application, const NamedFile& named, const std::string& why_not) {
  return scene::row({scene::pill("Open with these names", true)
                         .named("open")
                         .enabled_if(why_not.empty())
                         .told(why_not)
                         .on([&application, id = file_id(named)] {
                           application.session.open_named(id);
                           application.show_names = false;
                         }),
                     scene::pill("Cancel").on([&application] { application.show_names = false; }),
                     scene::caption(why_not)});
}

Node names_content(Application& application, NamedFile& named) {
  Session& session = application.session;
  const auto answer = ask(session, ArraysOfFile{named.file.string(), named.heads_first});
  Nodes all = {scene::line(fmt::format("Arrays of {}", named.file.filename().string()), style::Text::title),
               scene::caption("Which array is which input of the rule? A picture shows its first head.")};
  if (named.file == path_in_id(session.data().id)) all += doubt_rows(application, session.data().doubts);
  if (!answer.value) {
    all += answer.reason.empty()
               ? scene::caption("being read…")
               : scene::text(answer.reason, style::Text::body, style::colours().alarm).named("problem");
    return scene::column(std::move(all), Gap::near);
  }
  Nodes rows;
  for (const std::string& input : offered_inputs(application, named))
    rows += input_row(named, answer.value, input);
  all += scene::scroll("inputs", scene::column(std::move(rows), Gap::small));
  all += scene::row({scene::caption("axes of q, k and v"),
                     scene::segments({"tokens, heads, channels", "heads, tokens, channels"},
                                     named.heads_first ? 1 : 0,
                                     [&named](std::size_t i) { named.heads_first = i == 1; })})
             .named("axes");
  all += buttons(application, named, missing_words(named, *answer.value));
  return scene::column(std::move(all), Gap::near);
}

}  // namespace

Node names_card(Application& application, bool is_new) {
  auto& shown = context_local<NamedFile, struct NamesCard>();
  if (is_new) {
    shown = names_in(application.names_of);
    application.session.questions().forget(ArraysOfFile{shown.file.string()});
  }
  return names_content(application, shown).named("arrays");
}

}  // namespace palimpsest
