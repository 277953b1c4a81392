#include "app/words/forms.h"
#include "app/stage/ranges.h"
#include "app/views/verify.h"

namespace palimpsest {

namespace {

constexpr Index most_tokens_asked = 1024;  // the record of the parallel form holds n x n matrices

struct ComparedRow {
  std::shared_ptr<const Matrix<double>> rows = nullptr;  // null: not known
  Index row = 0;
  std::uint64_t version = 0;
};

/// What is compared: one row of numbers for each form, at the current token.
struct ComparedRows {
  bool is_written = false;  // the written value, not the output
  std::array<ComparedRow, std::size(all_forms)> forms = {};
  std::shared_ptr<const Record> reference = nullptr;  // of the written value: the recurrence on the CPU

  const ComparedRow& of(Form form) const { return entry(forms, form); }

  /// The numbers of a form's row [1, V]; a record of one token holds them as a column.
  Matrix<double> numbers(Form form) const {
    const auto& [all, row, version] = of(form);
    if (is_written && form == Form::recurrent) return all->transpose();
    return all->row(row);
  }
};

bool is_at_a_write(const Sight& sight) {
  if (!sight.record) return false;
  return is_among(sight.trace->operation(sight.cursor).purpose,
                  {Purpose::read, Purpose::error, Purpose::update, Purpose::write, Purpose::overlap,
                   Purpose::rest, Purpose::solve});
}

/// The written values: the recurrence's error, and the rows of U. Nothing if a rule has no such rows.
std::optional<ComparedRows> written_rows(Application& application, Index token) {
  const auto computation = application.session.computed();
  ComparedRows compared{.is_written = true};
  for (const Form form : all_forms) {
    const std::shared_ptr<const Trace>& trace = computation->trace(form);
    if (!trace || trace->block_count() == 0) continue;
    if (form == Form::recurrent && trace->phases.size() > 1) return std::nullopt;
    if (form == Form::parallel && trace->tokens > most_tokens_asked) continue;
    const Index at = trace->block_of(token, 0);
    const Block block = trace->block(at);
    const auto answer = ask(application, BlockRecord{trace, at});
    if (!fresh(answer)) continue;
    const char* name = form == Form::recurrent ? "error" : "U";
    if (!answer.value->contains(name)) return std::nullopt;
    const Matrix<double>& rows = answer.value->at(name);
    if (form != Form::recurrent && rows.rows() != block.count) return std::nullopt;
    entry(compared.forms, form) = {{answer.value, &rows},
                                   token - block.first_token,
                                   computation->version * 1'000'003 + static_cast<std::uint64_t>(at)};
  }
  if (!compared.of(Form::recurrent).rows) return std::nullopt;
  const std::shared_ptr<const Trace>& recurrence = computation->recurrence;
  const auto reference = ask(application, BlockRecord{recurrence, recurrence->block_of(token, 0)});
  if (!fresh(reference) || !reference.value->contains("error")) return std::nullopt;
  compared.reference = reference.value;
  return compared;
}

ComparedRows output_rows(const std::shared_ptr<const Computation>& computed, Index token) {
  ComparedRows compared;
  for (const Form form : all_forms) {
    const Matrix<double>& o = computed->form(form).output().o;
    if (o.rows() > token) entry(compared.forms, form) = {{computed, &o}, token, computed->version};
  }
  return compared;
}

/// The colour range of the strips: that of all outputs, as on the Stage, or that of the recurrence's row, so
/// that equal rows look equal.
float strip_range(const Application& application, const Computation& computed, const ComparedRows& compared,
                  Index token) {
  if (compared.is_written) return static_cast<float>(compared.numbers(Form::recurrent).cwiseAbs().maxCoeff());
  const double range = application.view.shared_scale ? kind_range(computed, Role::output) : 0;
  if (range > 0) return static_cast<float>(range);
  const Output* const expected = computed.reference->known();
  return expected ? static_cast<float>(expected->o.row(token).cwiseAbs().maxCoeff()) : 1;
}

/// The recorded cell that a strip shows at `channel`; nothing if the step's record has none.
std::optional<CellFocus> recorded_cell(Application& application, bool is_written, Index channel) {
  const Sight& sight = application.session.sight();
  if (!sight.record || application.session.lookout().is_stale()) return std::nullopt;
  const bool is_token = sight.trace->form == Form::recurrent;
  const char* const tensor = is_token ? (is_written ? "error" : "o") : (is_written ? "U" : "O");
  if (!sight.record->contains(tensor)) return std::nullopt;
  return is_token ? CellFocus{tensor, channel, 0} : CellFocus{tensor, sight.cursor.row, channel};
}

std::string residual_words(const Choice& choice, const FormResult& result) {
  if (!result.is_compared) return "This form is being computed and compared.";
  return fmt::format(
      "Largest difference over all tokens: {}{}, from {}{}, relative to the largest number; {}",
      residual_in_words(result), on_device(choice), reference_words(choice.precision),
      on_device(choice).empty() ? "" : " of the CPU", allowance_words(result));
}

/// The difference of a form's written row from that of the recurrence on the CPU.
std::string written_distance(const ComparedRows& compared, Form form) {
  const Matrix<double>& reference = compared.reference->at("error");
  if (&reference == compared.of(form).rows.get()) return "reference";
  return plain_number(compare("U", compared.numbers(form), reference.transpose()).error, 2);
}

bool is_faulty(const Computation& computed, Form form) {
  return !computed.choice.fault.id.empty() && computed.choice.fault.form == form;
}

/// The form's name, highlighted for the current form, a link for others; and its largest difference.
Node heading(Application& application, Form form, const FormResult& result, const ComparedRows& compared) {
  const style::Palette& c = style::colours();
  const Computation& computed = *application.session.computed();
  const bool present = application.session.choice().form == form;
  const bool exists = result.missing.empty();
  const std::string residual = !exists                   ? ""
                               : !compared.of(form).rows ? "…"
                               : compared.is_written     ? written_distance(compared, form)
                                                         : residual_in_words(result);
  const scene::Ink ink = !result.is_compared                                       ? c.dim
                         : !result.judgement.passed() || is_faulty(computed, form) ? c.alarm
                         : result.amplified.empty()                                ? c.good
                                                                                   : c.text;
  Node number = scene::number(residual, ink).named("residual");
  if (exists) number = std::move(number).told(residual_words(computed.choice, result));
  return with_command(application, fmt::format("form.{}", name(form)),
                      scene::row({scene::line(form_title(form, computed.choice),
                                              present ? style::Text::strong : style::Text::body,
                                              !exists   ? c.faint
                                              : present ? c.text
                                                        : c.dim)
                                      .filling(),
                                  std::move(number)}))
      .named(form_label(form));
}

/// A form's row as a strip of colours; the cell of the current form under the pointer is explained.
Node strip(Application& application, Form form, const ComparedRows& compared, Index token) {
  scene::Picture picture;
  if (const auto& [rows, row, version] = compared.of(form); rows) {
    picture.values = rows.get();
    picture.version = version;
    picture.look.range = strip_range(application, *application.session.computed(), compared, token);
    picture.look.transposed = compared.is_written && form == Form::recurrent;
    if (!picture.look.transposed) picture.look.only_row = row;
    picture.told = [&application, &compared, form, token](Cell cell) {
      if (form == application.session.choice().form)
        application.hovered = recorded_cell(application, compared.is_written, cell.column);
      return fmt::format("{} of token {}, channel {}: {:+.6g}", compared.is_written ? "write" : "output",
                         token + 1, cell.column + 1, compared.numbers(form)(0, cell.column));
    };
  }
  return Node{std::move(picture)}.named(compared.is_written ? "written" : "output");
}

/// The first difference of a form from the reference, as a link; nothing if it does not differ.
void add_first_difference(Nodes& all, Application& application, Form form, const FormResult& result) {
  const auto alarm = [](const std::string& words) {
    return scene::note(words, style::colours().alarm).named("differs");
  };
  const auto wrong = ask_device_departure(application, form);
  if (fresh(wrong) && *wrong.value) {
    const Departure at = (*wrong.value)->tensor.departure;
    const std::string words = departure_words(*application.session.computed(), at);
    all += alarm(words)
               .told(fmt::format("{}: {}\nA click goes to this step.", words, at.title))
               .on([&application, form, at] { go_to_departure(application, form, at); });
  } else if (result.first_bad_token >= 0) {
    all +=
        alarm(fmt::format("first difference at token {}", result.first_bad_token + 1))
            .on([&application, token = result.first_bad_token] { application.session.go_to_token(token); });
  }
}

Node form_row(Application& application, Form form, const ComparedRows& compared, Index token) {
  const Computation& computed = *application.session.computed();
  const FormResult& result = computed.form(form);
  Nodes all = {heading(application, form, result, compared)};
  if (!result.missing.empty()) {
    all += Node{scene::Text{
        .words = result.missing, .style = style::Text::caption, .ink = scene::dim_ink, .most_lines = 2}};
    return scene::column(std::move(all), Gap::tight);
  }
  all += strip(application, form, compared, token);
  const bool is_from_rounding = !is_faulty(computed, form) && !parts_on_device(computed, form);
  if (!result.amplified.empty() && is_from_rounding) all += scene::note(result.amplified);
  add_first_difference(all, application, form, result);
  const std::string fused =
      form == application.session.choice().form ? fused_words(computed, form) : std::string();
  if (!fused.empty()) all += scene::note(fused);
  return scene::column(std::move(all), Gap::tight);
}

Node device_tabs(Application& application) {
  Nodes tabs;
  for (const Backend* device : application.session.devices()) {
    const std::string id = device->name();
    tabs +=
        with_command(application, "device." + id, scene::tab(id, application.session.choice().device == id));
  }
  return scene::row(std::move(tabs), Gap::near).named("devices");
}

Node precision_tabs(Application& application) {
  Nodes tabs;
  for (const Precision each : all_precisions)
    tabs += with_command(application, fmt::format("precision.{}", name(each)),
                         scene::tab(name(each), application.session.choice().precision == each));
  return scene::row(std::move(tabs), Gap::small).named("precisions");
}

/// The difference of the rule's output from the output in the file.
void add_own_output(Nodes& all, const Session& session) {
  const Computation& computed = *session.computed();
  if (!computed.capture_error) return;
  const std::string& rule = session.data().rule;
  const bool other_rule = !rule.empty() && rule != computed.variant->id;
  const std::string label = other_rule ? find_variant(rule).label : std::string();
  const std::string layer =
      other_rule ? fmt::format("Its layer computed another rule, {}.", label) : std::string();
  const auto with = [&](const std::string& words) {
    return scene::row(
        {scene::tag(words), scene::rest(), scene::number(plain_number(*computed.capture_error, 2))});
  };
  all += scene::first_that_fits(
             {with(other_rule ? fmt::format("against the output of {}", label)
                              : "against the model's own output file"),
              with(other_rule ? fmt::format("{}'s output", label) : "the model's own output")})
             .named("own output")
             .told(fmt::format(
                 "Largest difference between {} and the array o of this head, relative to the largest o. {}",
                 reference_words(computed.choice.precision), layer));
}

constexpr float names_width = 66;  // design pixels

struct Column {
  float part;  // of the width; bytes need more, for their unit
  const char* title;
  const char* explained;
  double (*value)(const CostRow& row);
  std::string (*words)(double value);
};

const std::array<Column, 3> columns = {{
    {0.3F, "FLOPs", "Multiplications and additions per token, counted.",
     [](const CostRow& row) { return row.flops; }, in_thousands},
    {0.42F, "bytes", "Read and written per token in float32, counted; each block writes its state back.",
     [](const CostRow& row) { return row.bytes; }, in_bytes},
    {0.28F, "steps", "Sequential steps: one per token, one per chunk, or one in all.",
     [](const CostRow& row) { return static_cast<double>(row.steps); }, in_thousands},
}};

std::string explained(const std::vector<CostRow>& rows, const CostRow& row, bool of_one_word) {
  if (!row.missing.empty()) return row.missing;
  const auto of = [&](Form form) -> const CostRow& { return entry(rows, form); };
  if (row.form == Form::recurrent)
    return "One sequential step per token, which reads and writes the whole state.";
  if (row.form == Form::chunkwise && of_one_word)
    return one_word_words(row.flops, of(Form::recurrent).flops, false);
  if (row.form == Form::chunkwise)
    return "Matrix products compute the tokens of a chunk at once; each chunk reads and writes the state "
           "once.";
  if (row.form == Form::two_pass) {
    const CostRow& other = of(Form::chunkwise);
    return two_pass_words(row.flops > other.flops || row.bytes > other.bytes);
  }
  return "All tokens at once: each token uses all earlier tokens, so FLOPs per token grow with the text.";
}

/// A form's costs as numbers with bars below them, relative to `most`; highlighted if it is the current form.
Node costs_of(const CostRow& row, const std::array<double, 3>& most, bool is_present) {
  const style::Palette& c = style::colours();
  const scene::Ink ink = is_present ? c.text : c.dim;
  Nodes cells = {scene::note(form_label(row.form), ink).fixed(names_width)};
  if (!row.missing.empty()) cells += scene::caption("–");
  for (std::size_t i = 0; i < columns.size() && row.missing.empty(); ++i) {
    const double value = columns[i].value(row);
    cells +=
        scene::column(
            {scene::number(columns[i].words(value), ink).named("number"),
             Node{scene::Bar{.value = value, .most = most[i], .ink = ink, .height = 4, .shows_zero = false}}
                 .named("bar")},
            Gap::tight)
            .named(columns[i].title)
            .filling(columns[i].part);
  }
  return scene::row(std::move(cells));
}

/// The costs of every form per token of these data: FLOPs, bytes and sequential steps. A click on a form
/// chooses it. `has_title`: with "Cost per token" above; `has_meaning`: with an explanation of the trade-off
/// below.
Node form_costs(Application& application, bool has_title, bool has_meaning) {
  const auto computation = application.session.computed();
  if (!computation) return scene::column({});
  const Index chunk_size = application.session.choice().chunk_size;
  const auto answer = ask(application, FormCosts{computation, chunk_size}, Urgency::later);
  const std::string meaning = answer.value ? what_costs_mean(*answer.value) : std::string();
  Nodes all;
  if (has_title) all += scene::caption("Cost per token").told(meaning);
  if (!answer.value) {
    all += scene::caption(answer.reason.empty() ? "counting …" : answer.reason);
    return scene::column(std::move(all));
  }
  const std::vector<CostRow>& rows = *answer.value;
  std::array<double, 3> most = {};
  for (const CostRow& row : rows)
    for (std::size_t i = 0; i < columns.size() && row.missing.empty(); ++i)
      most[i] = std::max(most[i], columns[i].value(row));
  Nodes titles = {scene::space(Gap::none).fixed(names_width)};
  for (const Column& column : columns)
    titles += scene::note(column.title).told(column.explained).filling(column.part);
  all += scene::row(std::move(titles));
  for (const CostRow& row : rows) {
    const bool is_present = application.session.choice().form == row.form;
    all += with_command(application, fmt::format("form.{}", name(row.form)), costs_of(row, most, is_present))
               .named(fmt::format("{} cost", form_label(row.form)))
               .told(explained(rows, row, chunk_size == 1))
               .enabled_if(true);
  }
  if (has_meaning) all += scene::caption(meaning);
  return scene::column(std::move(all), Gap::tight).named("costs");
}

Nodes compared_forms(Application& application, const ComparedRows& compared, Index token, bool has_device) {
  Nodes all;
  for (const Form form : all_forms) all += form_row(application, form, compared, token);
  if (!has_device)
    all += scene::row({scene::caption("computed on"), scene::rest(), device_tabs(application)});
  add_own_output(all, application.session);
  return all;
}

/// Costs below the forms; the device beside the title or below.
Node both(Application& application, const ComparedRows& compared, Index token, bool has_device,
          bool has_meaning) {
  const auto count = std::ranges::count_if(application.session.computed()->forms,
                                           [](const auto& form) { return form->missing.empty(); });
  const std::string title =
      fmt::format("{} in {}", compared.is_written ? "Writes" : "Outputs", counted(count, "form", "forms"));
  Nodes head = {scene::tag(title), scene::rest()};
  if (has_device) {
    head += device_tabs(application);
    head += scene::space(Gap::small);
  }
  head += precision_tabs(application);
  Nodes all = {scene::row(std::move(head))};
  all += compared_forms(application, compared, token, has_device);
  all += form_costs(application, true, has_meaning);
  return scene::column(std::move(all), Gap::near);
}

Node either(Application& application, const ComparedRows& compared, Index token) {
  const bool costs = application.view.costs;
  const auto page = [&](const char* words, bool shows_costs, const char* meaning) {
    return scene::tab(words, costs == shows_costs).told(meaning).on([&application, shows_costs] {
      application.change_view([&](ViewOptions& view) { view.costs = shows_costs; });
    });
  };
  Node head = scene::row(
      {page(compared.is_written ? "Writes" : "Outputs", false, "The outputs of every form").named("outputs"),
       page("Costs", true, "FLOPs, bytes and sequential steps of every form").named("costs shown"),
       scene::rest(), precision_tabs(application)});
  Nodes all;
  if (costs)
    all += form_costs(application, false, true);
  else
    all = compared_forms(application, compared, token, false);
  all.insert(all.begin(), std::move(head));
  return scene::column(std::move(all), Gap::small);
}

/// The written values at the current token if the step contributes to them, else the outputs.
ComparedRows compared_rows(Application& application, Index token) {
  const auto computed = application.session.computed();
  const Sight& sight = application.session.sight();
  // A faulty recurrence is no reference for what the other forms write.
  if (is_at_a_write(sight) && sight.computation == computed && !is_faulty(*computed, Form::recurrent)) {
    if (auto written = written_rows(application, token)) return *std::move(written);
  }
  return output_rows(computed, token);
}

}  // namespace

void draw_forms(Application& application) {
  const auto computed = application.session.computed();
  if (style::begin_panel("##forms") && computed && computed->sequence.tokens > 0) {
    const Index token = std::min<Index>(application.session.token(), computed->sequence.tokens - 1);
    const ComparedRows compared = compared_rows(application, token);
    // For less and less room: the device below, no explanation of the costs, forms or costs alone.
    scene::show(scene::first_that_fits(5, [&](std::size_t wish) {
                  return wish < 4 ? both(application, compared, token, wish % 2 == 0, wish < 2)
                                  : either(application, compared, token);
                }).named("forms"));
  }
  style::end_panel();
}

}  // namespace palimpsest
