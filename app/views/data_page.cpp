#include <fmt/ranges.h>

#include <regex>
#include <set>

#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/session/typed_text.h"
#include "app/views/data_parts.h"
#include "app/views/found_list.h"
#include "app/views/story_page.h"

namespace palimpsest {

namespace {

constexpr std::string_view capture_prefix = "capture:";

std::string rule_label(const std::string& rule) {
  const Variant* const found = row_called(variants(), rule, &Variant::id);
  return found ? found->label : "Other";
}

std::string beginning(const std::string& text) {
  constexpr std::size_t longest = 160;  // bytes; more never fits
  std::string begin = text.substr(0, text.size() > longest ? text.rfind(' ', longest) : text.size());
  std::ranges::replace(begin, '\n', ' ');
  return begin;
}

/// "overwriting a fact · layer 2" of "DeltaNet: overwriting a fact": the group names the rule.
std::string name_in_group(const CaptureSummary& capture) {
  const std::string rule = rule_label(capture.rule) + ": ";
  std::string name = capture.name.starts_with(rule) ? capture.name.substr(rule.size()) : capture.name;
  if (capture.layer) name += fmt::format(" · layer {}", *capture.layer);
  return name;
}

void add_captures(std::vector<DataEntry>& all) try {
  std::vector<CaptureSummary> captures = list_captures(asset("captures"));
  const auto table = variants();
  std::ranges::stable_sort(captures, {}, [&](const CaptureSummary& capture) {
    return std::ranges::find(table, capture.rule, &Variant::id) - table.begin();
  });
  for (const CaptureSummary& capture : captures) {
    all.push_back({.id = std::string(capture_prefix) + capture.file.stem().string(),
                   .group = "Trained models · " + rule_label(capture.rule),
                   .name = name_in_group(capture),
                   .words = beginning(capture.text),
                   .problem = capture.error});
  }
} catch (const Error& error) {
  all.push_back({.id = std::string(capture_prefix),
                 .group = "Trained models",
                 .name = "The captures cannot be read",
                 .words = {},
                 .problem = error.what()});
}

std::vector<const DataEntry*> filtered(std::span<const DataEntry> all, std::string_view typed) {
  std::vector<const DataEntry*> left;
  const std::vector<std::string> wanted = typed_words(typed);
  for (const DataEntry& entry : all) {
    if (has_words(entry.group + ' ' + entry.name + ' ' + entry.words + ' ' + entry.id, wanted))
      left.push_back(&entry);
  }
  return left;
}

constexpr float narrow = 1280;           // design pixels; in narrower windows the list is narrower,
constexpr float one_below_other = 1240;  // and the details of data are in one column
constexpr Index most_tokens_shown = 4096;
constexpr Index most_channels_shown = 128;
constexpr double cosine_steps = 100;  // two decimals, so that its id is short

struct DataPage {
  std::vector<DataEntry> entries = {};
  FoundList list = {};      // by the keys of entries
  std::string chosen = {};  // id, for a preset with its sizes

  void choose(const std::string& id) {
    chosen = id;
    list.go_to(std::string(data_key(id)));
  }
};

void begin_page(DataPage& page, Application& application) {
  for (const std::string& file : application.recent_files)  // the file may have changed
    application.session.questions().forget(DataPreview{file});
  page = {.entries = data_entries(application.recent_files)};
  const std::string& open = application.session.data().id;
  const bool is_listed = is_among(data_key(open), page.entries, &DataEntry::key);
  if (is_listed || !page.entries.empty()) page.choose(is_listed ? open : page.entries.front().id);
}

/// Takes over what the keyboard has chosen.
void follow(DataPage& page, const std::vector<const DataEntry*>& left) {
  page.list.follow(made_of(left, [](const DataEntry* entry) { return std::string(entry->key()); }), true);
  if (page.list.at == data_key(page.chosen)) return;
  if (const auto* const now = row_called(left, page.list.at, &DataEntry::key)) page.chosen = (*now)->id;
}

/// "94 tokens · 4 heads · keys 64 · values 64 · q k v g beta o".
std::string sizes_in_words(const PreviewedData& preview) {
  const DataSet& data = *preview.data;
  const auto channels = [&](const char* name) { return data.arrays.find(name)->second.shape.back(); };
  std::vector<std::string> arrays;
  for (const std::string& name : array_names(*preview.variant)) {
    const Array* const array = value_at(data.arrays, name);
    if (array && array->rank() > 0) arrays.push_back(name);
  }
  if (data.arrays.contains("o")) arrays.emplace_back("o");
  const Index heads = data.heads * data.batches;
  return fmt::format("{} tokens · {} · keys of {}, values of {} numbers · {}", data.tokens,
                     heads == 1 ? "one head" : fmt::format("{} heads", heads), channels("k"), channels("v"),
                     fmt::join(arrays, " "));
}

Node slider(const char* words, double value, const style::SliderLook& look, std::function<void(double)> set) {
  return {scene::Slider{.words = words, .value = value, .look = look, .set = std::move(set), .waits = true}};
}

/// Sliders for the sizes that `preset` has, and its seed. `change` is called when the mouse is released, as
/// all data are generated again.
Node preset_sliders(const Preset& preset, const PresetSize& size,
                    const std::function<void(const PresetSize&)>& change) {
  Nodes all;
  const auto changing = [size, change](auto edit) {
    return [size, change, edit](auto... value) {
      PresetSize next = size;
      edit(next, value...);
      change(next);
    };
  };
  const auto add = [&](const char* words, Index PresetSize::*field, Index smallest, Index largest) {
    const style::SliderLook look = {.minimum = static_cast<double>(smallest),
                                    .maximum = static_cast<double>(largest),
                                    .reset = static_cast<double>(std::clamp<Index>(16, smallest, largest)),
                                    .format = "%.0f",
                                    .logarithmic = true};
    all += slider(words, static_cast<double>(size.*field), look,
                  changing([field](PresetSize& next, double value) { next.*field = std::lround(value); }));
  };
  add("tokens", &PresetSize::tokens, std::max<Index>(preset.fewest_tokens, 1), most_tokens_shown);
  add("key channels K", &PresetSize::dk, 1, most_channels_shown);
  add("value channels V", &PresetSize::dv, 1, most_channels_shown);
  if (preset.has_cosine)
    all += slider("cosine between any two keys", size.cosine,
                  {.minimum = 0, .maximum = largest_cosine, .reset = 0.75, .format = "%.2f"},
                  changing([](PresetSize& next, double cosine) {
                    next.cosine = std::round(cosine * cosine_steps) / cosine_steps;
                  }));
  all += scene::row({scene::caption(fmt::format("seed {}", size.seed)),
                     scene::pill("another seed").on(changing([](PresetSize& next) { ++next.seed; }))},
                    Gap::wide);
  return scene::column(std::move(all), Gap::near);
}

// In design pixels.
constexpr float cell_width = 84;
constexpr float index_width = 28;
constexpr float rows_height = 264;  // of the rows that are in sight at once
constexpr Index most_rows = 8;

std::string& cell_refusal() { return context_local<std::string, struct CellRefusal>(); }

struct NumbersColumn {
  const char* name;
  Role role;
  const Array* array;
  Index channels;

  double at(Index token, Index channel) const { return (*array)[token * channels + channel]; }
};

/// The arrays with a row for each token and a number for each channel.
std::vector<NumbersColumn> number_columns(const Computation& computed) {
  std::vector<NumbersColumn> all;
  for (const auto& [name, role] : {std::pair("q", Role::query),
                                   {"k", Role::key},
                                   {"v", Role::value},
                                   {"beta", Role::strength},
                                   {"alpha", Role::gate},
                                   {"g", Role::gate}}) {
    const Array* const array = value_at(*computed.inputs.arrays, name);
    const bool fits =
        array && array->rank() >= 1 && array->rank() <= 2 && array->shape[0] == computed.sequence.tokens;
    if (fits) all.push_back({name, role, array, array->size() / array->shape[0]});
  }
  return all;
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

std::string in_cell(double number) { return fmt::format("{:.4g}", number); }

void take_number(Application& application, const NumbersColumn& column, Index token, Index channel,
                 const std::string& typed) {
  char* end = nullptr;
  const double value = std::strtod(typed.c_str(), &end);
  std::string& refusal = cell_refusal();
  refusal.clear();
  const double present = column.at(token, channel);
  if (typed.empty() || *end != '\0')
    refusal = fmt::format("{} stays {:.4g}: “{}” is not a number.", column.name, present, typed);
  else if (!std::isfinite(value))
    refusal =
        fmt::format("{} stays {:.4g}: the typed number exceeds the largest, 1.8e+308.", column.name, present);
  else if (value != present && typed != in_cell(present))
    set_cell(application, column.name, token, channel, value);
}

Node cell(Application& application, const NumbersColumn& column, Index token, Index channel) {
  if (channel >= column.channels) return scene::column({}).fixed(cell_width);
  const auto take = [&application, column, token, channel](const std::string& typed) {
    take_number(application, column, token, channel, typed);
  };
  return Node{scene::Input{.text = in_cell(column.at(token, channel)), .set = take, .is_number = true}}
      .named(fmt::format("{}[{},{}]", column.name, token, channel))
      .fixed(cell_width);
}

/// "“drum”, token 43 of 94", with a button to the token before and after.
Node word_at_the_cursor(Application& application, Index token) {
  const DataSet& data = application.session.data();
  const auto button = [&](const char* name, Icon icon, const char* meaning, Index to) {
    return scene::icon_button(name, icon).told(meaning).on([&session = application.session, to] {
      session.go_to_token(to);
    });
  };
  return scene::row({button("token before", Icon::back, "One token back", token - 1),
                     button("token after", Icon::forwards, "One token forward", token + 1),
                     scene::heading(fmt::format(
                         "token {} of {}", numbered_label(entry(data.labels, token), token), data.tokens))});
}

/// The numbers of one token of the open data, q, k, v and its gates, to edit. Above them: why the number that
/// was typed last is not accepted.
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
  const std::vector<NumbersColumn> arrays = number_columns(*computed);
  if (arrays.empty()) return scene::column(std::move(all), Gap::near);
  Nodes heads = {scene::column({}).fixed(index_width)};
  for (const NumbersColumn& column : arrays)
    heads += scene::line(column.name, style::Text::strong, scene::role_ink(column.role)).fixed(cell_width);
  all += scene::row(std::move(heads), Gap::small);
  Nodes rows;
  const Index count = std::ranges::max_element(arrays, {}, &NumbersColumn::channels)->channels;
  for (Index channel = 0; channel < count; ++channel) {
    Nodes cells = {scene::caption(std::to_string(channel)).fixed(index_width)};
    for (const NumbersColumn& column : arrays) cells += cell(application, column, token, channel);
    rows += scene::row(std::move(cells), Gap::small);
  }
  Node numbers = scene::scroll("numbers", scene::column(std::move(rows), Gap::tight));
  all += count > most_rows ? std::move(numbers).fixed(rows_height) : std::move(numbers);
  return scene::column(std::move(all), Gap::near).named("cells");
}

/// Details of the chosen data, as far as they are computed: other threads make the pictures.
struct DataDetails {
  Application& application;
  DataPage& page;
  Known<PreviewedData> answer = ask(application, DataPreview{page.chosen});

  /// Opens them, unless they cannot be.
  void open() const {
    if (!answer.reason.empty()) return;
    if (!is_open()) application.session.open_named(id());
    application.show_data = false;
  }

  Node content() const {
    Nodes all = {title_line()};
    if (is_shown()) all += scene::caption(sizes_in_words(*answer.value));
    Node words = scene::column(told(), Gap::near);
    Node seen = scene::column(pictures(), Gap::near);
    if (scene::window_width() > one_below_other)
      all += scene::top_row({std::move(words).filling(0.42F), std::move(seen).filling(0.58F)}, Gap::far);
    else
      all += scene::column({std::move(words), std::move(seen)}, Gap::near);
    return scene::column(std::move(all), Gap::near);
  }

  const std::string& id() const { return page.chosen; }
  bool is_open() const { return application.session.data().id == id(); }
  bool is_shown() const { return answer.value && (answer.value->data->id == id() || answer.stale); }

  /// Opens the data at a head and a token. If the data are open already, the token does not change.
  void open_at(Index head, std::optional<Index> token = std::nullopt) const {
    Session& session = application.session;
    application.show_data = false;
    if (!is_open() && !token) {
      session.open_named(id(), head);
      return;
    }
    SessionState next = is_open() ? session.state() : without_words(session.state());
    next.head = head;
    if (!is_open()) {
      next.data = id();
      next.edits = {};
      if (!answer.value->data->rule.empty()) next.sides.front().variant = answer.value->variant->id;
      next.sides.front().settings = {};
    }
    if (token) next.place = {.token = *token, .operation = "write"};
    session.change(std::move(next));
  }

  Node title_line() const {
    const DataEntry* const listed = row_called(page.entries, data_key(id()), &DataEntry::key);
    const std::string title = is_shown() ? answer.value->data->title : listed ? listed->name : id();
    const std::string& problem = answer.reason;
    Node button = scene::pill("Open ⏎", true)
                      .named("open data")
                      .enabled_if(problem.empty())
                      .told(!problem.empty() ? problem
                            : is_open()      ? "These are open; Enter goes back to them"
                                             : "Opens these data and closes the page")
                      .on([details = *this] { details.open(); });
    if (problem.empty()) button.key = "Enter";
    return scene::row(
        {scene::line(title, style::Text::title).named("title"), scene::rest(), std::move(button)}, Gap::far);
  }

  Nodes told() const {
    Nodes all;
    if (const Preset* preset = preset_of(id())) {
      all += scene::heading("Sizes and seed");
      all += preset_sliders(*preset, preset_size(id()), [&page = page, preset](const PresetSize& size) {
        page.list.filter.typed.clear();
        page.choose(preset_id(*preset, size));
      });
    }
    if (is_text_id(id())) all += text_choice();
    if (!is_shown()) return all;
    if (const FirstLook* look = first_look(id()); look && !look->words.empty()) {
      all += scene::caption("Where to look");
      all += word_links(*look, [details = *this](const WordToSee& word) {
        Application& application = details.application;
        details.open_at(details.is_open() ? application.session.choice().head : 0, word.token);
        bring_story_back(application);
      });
    }
    const DataSet& data = *answer.value->data;
    if (!is_found_by_name(id())) {
      all += doubt_rows(application, data.doubts);
      all += scene::link("choose arrays…").on([&application = application, id = id()] {
        choose_names(application, id);
      });
    }
    all += notes(data);
    for (const auto& [title, words] :
         {std::pair("The text", &data.text), {"Where it is from", &data.source}}) {
      if (words->empty()) continue;
      all += scene::caption(title);
      all += scene::paragraph(*words);
    }
    return all;
  }

  /// What to look for: a sentence, then what was measured. Names of captures in it are links.
  Node notes(const DataSet& data) const {
    if (data.notes.empty()) return scene::column({});
    Nodes all = {scene::caption(data.id.starts_with("preset:") ? "How it is made" : "What to look at")};
    if (const FirstLook* look = first_look(data.id)) all += scene::paragraph(look->story + " " + look->watch);
    all += scene::paragraph(data.notes);
    static const std::regex word(R"(\w+)");
    const std::set<std::string> words(std::sregex_token_iterator(data.notes.begin(), data.notes.end(), word),
                                      {});
    Nodes links;
    for (const DataEntry& entry : page.entries) {
      if (!entry.id.starts_with(capture_prefix)) continue;
      const std::string name = entry.id.substr(capture_prefix.size());
      if (words.contains(name))
        links += scene::link(name).on([&page = page, id = entry.id] {
          page.list.filter.typed.clear();
          page.choose(id);
        });
    }
    if (!links.empty()) all += scene::flow(std::move(links), Gap::wide);
    return scene::column(std::move(all)).named("notes");
  }

  Node text_choice() const {
    const auto choose = [&page = page](const std::string& words) {
      TypedText typed = typed_text(page.chosen);
      typed.text = words;
      page.choose(text_id(typed));
    };
    Nodes all = {scene::caption("The text that the model continues"),
                 Node{scene::Input{.text = typed_text(id()).text, .set = choose}}.named("text")};
    if (is_shown() && answer.value->data->read)
      all += scene::line("It " + answer_in_words(*answer.value->data->read), style::Text::strong);
    for (const StartingText& start : starting_texts())
      all += scene::link(start.name).on([choose, words = start.text] { choose(words); });
    return scene::column(std::move(all), Gap::tight);
  }

  /// Pictures of the heads, then the numbers if the data are open.
  Nodes pictures() const {
    if (!is_shown()) {
      if (answer.reason.empty()) return {scene::caption("being analysed…")};
      Nodes all = {scene::text(answer.reason, style::Text::body, style::colours().alarm).named("problem")};
      all += ways_out(application, id());
      return all;
    }
    Nodes all;
    const Session& session = application.session;
    if (is_open() && has_head_tables(session)) {
      all += scene::heading("What its heads remember: a click opens one");
      all += head_tables(application, [details = *this](Index head) { details.open_at(head); });
    }
    all += scene::heading(answer.value->heads.size() == 1 ? "How similar its keys are"
                                                          : "How similar their keys are: a click opens one");
    const Index present = is_open() ? session.choice().head : -1;
    all += head_pictures(*answer.value, present, [details = *this](Index head) { details.open_at(head); });
    if (!is_open()) return all;
    all += scene::heading("The token at the cursor");
    all += cell_table(application);
    return all;
  }
};

/// The details of a saved place; the place itself names its data.
Node saved_place(Application& application, const std::string& id) {
  Nodes all = {
      scene::row({scene::line(std::filesystem::path(id).filename().string(), style::Text::title),
                  scene::rest(), scene::pill("Open ⏎", true).named("open data").on([&application, id] {
                    if (application.open(id)) application.show_data = false;
                  })}),
      scene::caption("A saved place: opens its data, its rule and its token.")};
  if (const std::string& problem = application.session.message(); !problem.empty())
    all += scene::text(problem, style::Text::body, style::colours().alarm).named("problem");
  return scene::column(std::move(all), Gap::near);
}

Node nothing_matches(DataPage& page) {
  return scene::column(
      {scene::paragraph(fmt::format("Nothing matches “{}”.", page.list.filter.typed)),
       scene::caption("The filter searches the names, groups and texts of the data for everything typed."),
       scene::row({scene::pill("Show all data").on([&page] {
         page.list.filter.typed.clear();
         ++page.list.moves;
       })})},
      Gap::near);
}

void open_chosen(Application& application, DataPage& page) {
  if (!page.chosen.ends_with(".json"))
    DataDetails{application, page}.open();
  else if (application.open(page.chosen))
    application.show_data = false;
}

Node rows(Application& application, DataPage& page, const std::vector<const DataEntry*>& left) {
  Nodes all;
  std::string_view group;
  for (const DataEntry* entry : left) {
    if (entry->group != group) all += scene::framed(scene::caption(entry->group), Gap::near, Gap::tight);
    group = entry->group;
    const std::string key(entry->key());
    Node content = scene::column(
        {scene::row({scene::line(entry->name, key == page.list.at ? style::Text::strong : style::Text::body),
                     scene::rest()}),
         scene::note(entry->problem.empty() ? entry->words : entry->problem)},
        Gap::tight);
    all += page.list.row(key, std::move(content), [&application, &page, key, id = entry->id] {
      if (key != data_key(page.chosen)) page.chosen = id;
      page.list.at = key;
      if (scene::is_second_click()) open_chosen(application, page);
    });
  }
  return scene::scroll("entries", scene::column(std::move(all), Gap::hair));
}

Node content(Application& application, DataPage& page) {
  const std::vector<const DataEntry*> left = filtered(page.entries, page.list.filter.typed);
  follow(page, left);
  const auto open = [&application, &page](const std::string&) { open_chosen(application, page); };
  Node own = with_command(application, "data.open", scene::pill("Open a file…"));
  own.act = [&application, open_own = own.act] {
    application.show_data = false;
    open_own();
  };
  Node key = scene::key(own.key);
  Node list = scene::column({page.list.field("Find data", open), rows(application, page, left).filling(),
                             scene::row({std::move(own), std::move(key)})},
                            Gap::near);
  Node details = left.empty()                     ? nothing_matches(page)
                 : page.chosen.empty()            ? scene::column({})
                 : page.chosen.ends_with(".json") ? saved_place(application, page.chosen)
                                                  : DataDetails{application, page}.content();
  return scene::top_row({std::move(list).fixed(scene::window_width() > narrow ? 320 : 264),
                         {scene::Rule{.room = Gap::near, .height = 4000}},
                         scene::scroll("details", std::move(details)).filling()},
                        Gap::near);
}

}  // namespace

std::vector<DataEntry> data_entries(std::span<const std::string> recent) {
  std::vector<DataEntry> all;
  for (const std::string& path : recent) {
    const std::filesystem::path file = path;
    all.push_back({.id = path,
                   .group = "Your own files",
                   .name = std::filesystem::path(path_in_id(path)).filename().string(),
                   .words = file.parent_path().string()});
  }
  all.push_back({.id = text_id(usual_text()),
                 .group = "A text of your own",
                 .name = "Type a text",
                 .words = "A small language model reads it and answers."});
  for (const Preset& preset : presets()) {
    all.push_back({.id = usual_preset_id(preset),
                   .group = "Made up to show one thing",
                   .name = preset.label,
                   .words = preset.words});
  }
  add_captures(all);
  return all;
}

Node data_page(Application& application, bool is_new) {
  auto& page = context_local<DataPage>();
  if (is_new) begin_page(page, application);
  return content(application, page).named("all data");
}

}  // namespace palimpsest
