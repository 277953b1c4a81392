#include "app/stage/box.h"
#include "app/views/stage.h"
#include "app/views/why_words.h"

namespace palimpsest {

namespace {

constexpr float line_size = 17;     // letter size of a line, in design pixels
constexpr float problem_size = 16;  // letter size of the loss
constexpr float low_window = 960;

Node wrapped(const std::string& latex, float size, std::vector<std::string> boxed = {}) {
  return {scene::Formula{.latex = latex, .size = size, .fit = Fit::wrap, .boxed = std::move(boxed)}};
}

LatexStyle look(bool bright, const Record* numbers = nullptr) {
  const auto colour = [bright](Role role, bool) {
    return style::hex(bright ? style::colours().role(role) : style::colours().role_dim(role));
  };
  return {.colour = colour, .lit = {}, .numbers = numbers};
}

/// What the lines depend on: computation, form, phase; whether states are turned, colours.
auto key_of_lines(const Application& application) {
  const Sight& sight = application.session.sight();
  return std::tuple(sight.computation->version, sight.trace->form,
                    sight.trace->block(sight.cursor.block).phase, application.view.state_value_by_key,
                    style::theme());
}

struct WrittenLines {
  std::vector<std::string> dim;
  std::vector<std::string> lit;
};

const WrittenLines& written_lines(const Application& application, const Phase& phase) {
  return kept_for(key_of_lines(application), [&] {
    const Symbols& symbols = application.session.sight().trace->symbols;
    WrittenLines lines;
    for (const Operation& operation : phase.operations) {
      lines.dim.push_back(latex(operation.equation, symbols, look(false)));
      lines.lit.push_back(latex(operation.equation, symbols, look(true)));
    }
    return lines;
  });
}

/// The result of every line of one token as one number. Lines for many tokens have none.
const std::vector<std::string>& results_of(const Sight& sight, const Phase& phase) {
  const std::tuple key(sight.computation->version, Weak<Record>(sight.record), phase.operations.size());
  return kept_for(key, [&] {
    std::vector<std::string> results;
    if (sight.trace->form != Form::recurrent) return results;
    // The recall holds the errors of the correct run; a faulty run shows the norms of its own numbers.
    const Recall* recall =
        is_faulty(sight) ? nullptr : sight.computation->recall(sight.trace->token(sight.cursor));
    for (const Operation& operation : phase.operations)
      results.push_back(line_number(operation, *sight.record, sight.trace->symbols, recall));
    return results;
  });
}

/// The line under the pointer in the last frame; it is highlighted, and shown with its numbers below.
std::optional<Index>& pointed_line() { return context_local<std::optional<Index>, struct PointedLine>(); }

Node line_node(Application& application, const std::string& line, const std::string& result,
               const Operation& operation, Index index) {
  const Sight& sight = application.session.sight();
  const bool is_present = index == sight.cursor.operation;
  std::vector<std::string> boxed;  // the symbol that is pointed at or held on the Stage
  if (!application.focus_is_usual() && application.focus())
    boxed.push_back(symbol_in(sight.trace->symbols, application.focus()->tensor).latex);
  std::erase(boxed, "");
  Nodes all = {wrapped(line, line_size, std::move(boxed))};
  if (!result.empty()) all += scene::line(result, style::Text::caption, is_present ? 0 : scene::dim_ink);
  const auto go_there = [&application, index] {
    if (application.session.lookout().is_stale()) return;
    application.show_welcome = false;
    Cursor cursor = application.session.sight().cursor;
    cursor.operation = index;
    cursor.entered = cursor.row;  // a step back leaves the operation
    application.session.set_cursor(cursor);
  };
  Node content = scene::row({scene::column(std::move(all), Gap::tight).filling()});
  const style::Palette& c = style::colours();
  return scene::framed(std::move(content), Gap::near, Gap::tight, 0,
                       is_present ? style::mix(c.panel, c.edge, 0.25F) : 0)
      .named(operation.id)
      .told(operation.title)
      .revealed_for(is_present ? operation.id : std::string())
      .when_pointed([index] { pointed_line() = index; })
      .on(go_there);
}

/// A line again with this token's numbers in place of its scalar symbols, unless it has none.
void add_numbers(Nodes& all, const Application& application, const std::string& lit, Index index,
                 const Operation& operation, const Record& record) {
  const Sight& sight = application.session.sight();
  const std::tuple key(key_of_lines(application), sight.cursor.block, index);
  const std::string& numbers =
      kept_for(key, [&] { return latex(operation.equation, sight.trace->symbols, look(true, &record)); });
  if (numbers == lit) return;
  all += scene::caption("With the numbers of this token");
  all += wrapped(numbers, line_size);
}

/// The switch for the memory that the output reads: "after" or "before" the write.
Node read_switch(Session& session, bool is_before) {
  const auto memory = [&](const char* words, bool reads_before, const char* explained) {
    return scene::tab(words, reads_before == is_before)
        .named(fmt::format("read {}", words))
        .told(explained)
        .on([&session, is_before, reads_before] {
          if (reads_before != is_before) choose_read(session, reads_before);
        });
  };
  return scene::row(
      {memory("after", false, "The output reads S after this token's write, so it includes this token."),
       memory(
           "before", true,
           "The output reads S before this token's decay and write. In the other forms the mask is strict.")},
      Gap::wide);
}

/// Below the output step: which memory it reads, as papers differ.
void add_reading(Nodes& all, Application& application, const Operation& operation) {
  if (operation.purpose != Purpose::output) return;
  Session& session = application.session;
  const Sight& sight = session.sight();
  const Index token = sight.trace->token(sight.cursor);
  const Known<ReadMoments> answer = ask(session, ReadNow{{sight.computation}, token}, Urgency::later);
  all += scene::caption("Read the output before or after this token's write");
  const Settings& settings = sight.computation->sequence.settings;
  if (no_read_order(*sight.computation->variant, settings).empty())
    all += read_switch(session, is_read_before(settings));
  const bool is_known = answer.value && answer.value->token == token;
  all += scene::paragraph(reading_in_words(*sight.computation, is_known ? answer.value.get() : nullptr));
}

void add_lines(Nodes& all, Application& application) {
  const Sight& sight = application.session.sight();
  const auto [phase, record] = shown(application);
  const auto& [dim, lit] = written_lines(application, phase);
  const std::vector<std::string>& results = results_of(sight, phase);
  const Index present = sight.cursor.operation;
  const auto pointed = std::exchange(pointed_line(), std::nullopt);
  const Index written = std::min<Index>(pointed.value_or(present), std::ssize(phase.operations) - 1);
  Nodes rows;
  for (Index i = 0; i < std::ssize(phase.operations); ++i)
    rows += line_node(application, entry(i == present || i == written ? lit : dim, i),
                      results.empty() ? std::string() : entry(results, i), entry(phase.operations, i), i);
  all += scene::column(std::move(rows), Gap::none);
  add_numbers(all, application, entry(lit, written), written, entry(phase.operations, written), record);
  add_reading(all, application, entry(phase.operations, present));
}

}  // namespace

bool has_room_for_lines(const Application& application) {
  return !has_chunks(application.session.choice().form) || scene::window_height() >= low_window;
}

Node equation_panel(Application& application) {
  const Sight& sight = application.session.sight();
  if (!sight.computation) return scene::column({});
  const Variant& variant = *sight.computation->variant;
  Nodes all = {scene::caption(fmt::format("{}, line by line", variant.label))};
  if (sight.record) add_lines(all, application);
  const InnerLoss loss = loss_of(variant, sight.computation->sequence.settings);
  all += scene::caption("Learning problem");
  all += scene::paragraph(loss.words);
  if (!loss.latex.empty()) all += wrapped("\\mathcal L(S) = " + loss.latex, problem_size);
  if (!loss.step.empty()) all += wrapped(loss.step, problem_size);
  all += scene::caption(variant.paper);
  return scene::column(std::move(all), Gap::near).named("equation");
}

}  // namespace palimpsest
