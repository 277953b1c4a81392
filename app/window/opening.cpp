#include "app/window/opening.h"

namespace palimpsest {

namespace {

/// What `render` and the window can be told on the command line.
constexpr std::pair<const char*, const char*> look_options[] = {
    {"FILE", "a session, pinned places or data, as in the window's Open"},
    {"--session", "a saved session (JSON)"},
    {"--state", "a copied place (one string)"},
    {"--capture",
     "a file with q, k and v (FILE?q=query&beta=b reads other names); or capture:NAME, preset:NAME"},
    {"--at", "TOKEN, after its write, or TOKEN:OPERATION, such as 19:error"},
    {"--variant", "compute this variant instead of the data's"},
    {"--form", nullptr},
    {"--device", "cpu or cuda"},
    {"--chunk", "chunk size of the forms that have chunks"},
    {"--head", "which head"},
    {"--scale", "size of everything, 0.5 to 4"},
    {"--theme", "dark or light"},
    {"--level", "how much is shown: story, work or all"},
    {"--workspace", nullptr},
    {"--lesson", "a lesson, FILE or FILE#STEP with the step's number from 1"},
    {"--fault", "inject this fault into the form (see verify --faults)"},
};

/// What an option without words of its own takes.
std::string known_values(std::string_view option) {
  if (option == "--form") return joined_names(all_forms);
  return fmt::format("{}", fmt::join(workspaces() | std::views::transform(&Workspace::id), ", "));
}

void go_to(Session& session, const std::string& at) {
  const Trace* const trace = session.trace();
  if (trace && trace->block_count() > 0) session.set_cursor(cursor_at(at, *trace));
}

/// The value that an option names; nothing where it is not given.
template <NamedInOrder Value>
std::optional<Value> chosen(const Look& look, const char* option) {
  const std::string* const words = look[option];
  if (!words) return std::nullopt;
  return find_row(
      all_of<Value>, *words, [](Value value) { return std::string_view(name(value)); },
      fmt::format("{} is \"{}\"; expected one of", option, *words));
}

/// Opens FILE#STEP.
void open_lesson(Application& application, const std::string& words) {
  const std::size_t mark = words.rfind('#');
  const Index step =
      mark == std::string::npos ? 1 : parse_count(words.substr(mark + 1), "the step of --lesson", 1);
  require(application.open_lesson(words.substr(0, mark), static_cast<std::size_t>(step - 1)),
          application.session);
  application.session.wait();
  require_no_problem(application.session);
}

}  // namespace

void add_look(CommandOptions& command) {
  for (const auto& [name, words] : look_options) command.option(name, words ? words : known_values(name));
  for (const auto& [name, words] : text_options) command.option(name, words);
  command.list("--do", "a change of the model that reads --text (see say)", {.repeated = true});
  command.list("--race", "a report of bench for Measure; may be given again",
               {.repeated = true, .one_at_a_time = true});
}

Look look_of(const CommandOptions& command) {
  Look look{.races = command.all("--race")};
  for (const auto& [name, words] : look_options) {
    if (command.gave(name)) look.given[name] = command[name];
  }
  const std::optional<std::string> text = text_data(command);
  if (!text) return look;
  if (look["--capture"]) refuse("give --capture or --text, not both");
  look.given["--capture"] = *text;
  look.given.erase("--head");  // it is in there
  return look;
}

float scale_of(const Look& look, float standard) {
  if (!look["--scale"]) return standard;
  const double scale = parse_number(*look["--scale"], "--scale");
  if (scale < least_scale || scale > most_scale)
    refuse("--scale is {}; expected a number from {} to {}", *look["--scale"], least_scale, most_scale);
  return static_cast<float>(scale);
}

void require(bool good, const Session& session) {
  if (!good) throw InputError(session.message());
}

void require_no_problem(const Session& session) { require(session.message().empty(), session); }

void dress(Application& application, const Look& look) {
  application.change_view([&](ViewOptions& view) {
    view.theme = chosen<Theme>(look, "--theme").value_or(view.theme);
    view.level = chosen<Level>(look, "--level").value_or(view.level);
  });
  for (const std::string& file : look.races) {
    const RaceReport report = read_race(file);  // says at once what is wrong with it
    application.races.open(application.session, file);
    application.session.change([&](SessionState& state) { show_what_it_has(state, report); });
  }
  if (look["--workspace"]) application.enter(*look["--workspace"]);
}

bool asks_for_nothing(const Look& look) {
  return look.races.empty() && std::ranges::all_of(look.given, [](const auto& each) {
           return is_among(each.first, {"--scale", "--theme", "--level", "--workspace"});
         });
}

bool has_own_looks(const Look& look) {
  return look["--session"] || look["--state"] ||
         (look["FILE"] && std::filesystem::path(*look["FILE"]).extension() == ".json");
}

void prepare(Application& application, const Look& look) {
  Session& session = application.session;
  chosen<Theme>(look, "--theme");
  chosen<Level>(look, "--level");
  if ((look["--session"] || look["--state"]) && look["--capture"])
    refuse("--{} says which data it belongs to: give it or --capture, not both",
           look["--session"] ? "session" : "state");
  if (look["--session"] && look["--state"]) refuse("give --session or --state, not both");
  if (look["FILE"] && (look["--session"] || look["--state"] || look["--capture"]))
    refuse("{} is opened: leave --session, --state and --capture out", *look["FILE"]);
  if (look["--lesson"] && !look["FILE"]) {
    dress(application, look);
    return open_lesson(application, *look["--lesson"]);
  }
  // A rule is computed on what is open.
  const bool is_rule = look["FILE"] && std::filesystem::path(*look["FILE"]).extension() == ".rule";
  const bool is_open = look["FILE"] && !is_rule ? application.open(*look["FILE"])
                       : look["--session"]      ? session.open_saved(*look["--session"])
                       : look["--state"]        ? session.from_string(*look["--state"])
                       : look["--capture"]      ? session.open_named(*look["--capture"])
                       : !look.first.empty()    ? session.open_named(look.first)
                                                : application.open_first_text();
  require(is_open, session);
  session.wait_for_choice();
  require_no_problem(session);
  application.require_workspace();
  require_no_problem(session);

  if (is_rule) require(application.open(*look["FILE"]), session);
  Choice choice = session.choice();
  if (look["--variant"]) choice.variant = variant_id(*look["--variant"]);
  if (look["--form"]) choice.form = parse_form(*look["--form"]);
  if (look["--device"]) choice.device = usable_backend(*look["--device"], session.devices()).name();
  if (look["--chunk"]) {
    choice.chunk_size = parse_count(*look["--chunk"], "--chunk");
    require_chunk_size(choice.chunk_size);
  }
  if (look["--head"]) {
    choice.head = parse_count(*look["--head"], "--head");
    if (const Index heads = session.data().heads * session.data().batches; choice.head >= heads)
      refuse("--head is {}; expected a head from 0 to {}", choice.head, heads - 1);
  }
  if (look["--fault"]) choice.fault = {find_fault(*look["--fault"]).id, choice.form};
  session.choose(std::move(choice));
  session.wait_for_choice();
  require_no_problem(session);
  if (look["--device"] && !session.left_device().empty()) throw Unsupported(session.left_device());
  if (look["--fault"] && !session.computed()->no_fault.empty())
    throw Unsupported(fmt::format("--fault {}: {}", *look["--fault"], session.computed()->no_fault));
  dress(application, look);
  if (look["--at"]) go_to(session, *look["--at"]);
  session.wait_for_place();
  session.start_history();
}

}  // namespace palimpsest
