#include "app/stage/box.h"
#include "app/views/prove.h"
#include "app/words/forms.h"

// The centre while nothing is wrong: what is measured, how far every form and precision is, and why; and a
// fragile form, which is right on paper.

namespace palimpsest {

namespace {

constexpr std::size_t least_lost = 2;  // of an arithmetic, where there is little room
constexpr std::size_t most_lost = 6;

struct TableRow {
  std::string words;
  Known<Seen> seen;
  double allowed = 0;  // 0: nothing is promised
};

std::vector<TableRow> rows_of(Application& application) {
  const Computation& computed = *application.session.computed();
  std::vector<TableRow> rows;
  ProofLine key{.of = without_fault(application.session.computed())};
  for (const Form form : forms_of(computed)) {
    key.form = form;
    key.arithmetic = Arithmetic::f64;
    const double allowed = tolerance(*computed.variant, computed.sequence.settings, Precision::f64).error;
    rows.push_back({fmt::format("{}, f64{}", form_label(form), on_device(computed.choice)),
                    application.session.questions().ask(key, Urgency::later), allowed});
  }
  key.form = proof_form(application);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16, Arithmetic::f16}) {
    key.arithmetic = arithmetic;
    rows.push_back({fmt::format("{}, {}", form_label(key.form), name(arithmetic)),
                    application.session.questions().ask(key, Urgency::later)});
  }
  return rows;
}

Index worst_token(const Seen& seen) {
  if (seen.errors.empty()) return -1;
  return std::ranges::max_element(seen.errors) - seen.errors.begin();
}

/// How far each form and precision is from the reference, and where most.
Node table(const Computation& computed, const std::vector<TableRow>& rows, bool is_roomy) {
  const style::Palette& c = style::colours();
  const style::Text letters = is_roomy ? style::Text::body : style::Text::caption;
  Nodes cells = {scene::rest().filling(0.34F), scene::caption("off by").filling(0.2F),
                 scene::caption("most").filling(0.46F)};
  for (const TableRow& row : rows) {
    const Seen* const seen = row.seen.value.get();
    std::string number = row.seen.under_way || !seen ? "…" : scientific(seen->worst.error);
    std::string place;
    scene::Ink ink = c.text;
    if (seen && !seen->message.empty()) {
      number = "none";
      place = seen->message;
    } else if (seen && !seen->errors.empty()) {
      if (row.allowed > 0) ink = seen->worst.error <= row.allowed ? c.good : c.alarm;
      place = seen->worst.error == 0     ? (is_cpu(*computed.device) ? "the reference" : "no difference")
              : seen->worst.array == "o" ? "at " + numbered_word(computed, worst_token(*seen))
                                         : fmt::format("in {} at the end", array_words(seen->worst.array));
    }
    cells.push_back(scene::line(row.words, letters).filling(0.34F));
    cells.push_back(scene::line(number, is_roomy ? style::Text::number : style::Text::number_small, ink)
                        .filling(0.2F)
                        .named(row.words));
    cells.push_back(scene::line(place, letters, c.dim).filling(0.46F));
  }
  return scene::grid(3, std::move(cells), Gap::near, is_roomy ? Gap::near : Gap::small).named("table");
}

/// "That is the proof", from the numbers.
std::string verdict(const std::vector<TableRow>& rows, const Computation& computed) {
  double worst = 0;
  double allowed = 0;
  int forms = 0;
  for (const TableRow& row : rows) {
    if (row.allowed == 0) continue;
    if (!row.seen.value || row.seen.under_way) return "The forms are being computed and compared …";
    if (!row.seen.value->message.empty()) continue;
    ++forms;
    worst = std::max(worst, row.seen.value->worst.error);
    allowed = std::max(allowed, row.allowed);
  }
  const Matrix<double>& o = computed.reference->expected().o;
  if (!(worst <= allowed) && !is_cpu(*computed.device))
    return fmt::format("{} and the CPU part by {} of the largest number, where {} is allowed.",
                       computed.choice.device, scientific(worst), scientific(allowed));
  if (!(worst <= allowed))
    return fmt::format(
        "They part by {} of the largest number, where {} is usual: these data multiply rounding on the way. "
        "Nothing is wrong in the equations.",
        scientific(worst), scientific(allowed));
  return fmt::format(
      "Nowhere. {} give the same {} outputs{} from {}: the largest difference is {} of the "
      "largest number, {} is allowed. That is the proof.",
      counted(forms, "form", "forms"), o.size(),
      computed.variant->memory.none.empty() ? " and the same memory" : "",
      counted(computed.sequence.tokens, "word", "words"), scientific(worst), scientific(allowed));
}

Node said(const std::string& words, style::Text letters = style::Text::body) {
  return scene::text(words, letters, style::colours().dim).named("said");
}

/// The first `most` numbers of each arithmetic that are lost on the way.
void add_lost(Nodes& all, const Application& application, const std::vector<TableRow>& rows,
              std::size_t most) {
  std::size_t told = 0;
  std::size_t lost_in_all = 0;
  for (const TableRow& row : rows) {
    if (!row.seen.value || row.seen.stale) continue;
    const std::vector<LostNumber>& lost = row.seen.value->lost;
    lost_in_all += lost.size();
    for (std::size_t i = 0; i < std::min(lost.size(), most); ++i) {
      if (told++ == 0) all.push_back(scene::heading("Numbers that are lost on the way"));
      all.push_back(said(lost_words(application, *row.seen.value, lost[i])));
    }
  }
  if (lost_in_all > told) all.push_back(scene::caption(fmt::format("and {} more", lost_in_all - told)));
}

/// What is measured, and why digits are lost, with so many examples.
Node why_lost(const Application& application, const std::vector<TableRow>& rows,
              const Known<std::vector<DigitsLost>>& digits, std::size_t most) {
  Nodes all = {
      scene::heading("What is measured"), scene::formula(R"(\max_v |o_{t,v} - o'_{t,v}|\ /\ \max |o'|)", 18),
      scene::paragraph(
          "at every word t, o' from the f64 recurrence: the badge and verify say the largest of them. "
          "A memory is measured the same way after the last word."),
      scene::heading("Why a sum over many words loses digits")};
  const bool is_known = digits.value && !digits.stale;
  if (is_known && !digits.value->empty())
    all.push_back(said(in_words(*digits.value)));
  else if (is_known)
    all.push_back(said(fmt::format("It is measured up to {} words.", most_tokens_measured)));
  else
    all.push_back(scene::paragraph(
        digits.reason.empty() ? "being measured: the recurrence is run with rounding errors of known size …"
                              : digits.reason));
  add_lost(all, application, rows, most);
  return scene::column(std::move(all), Gap::near);
}

/// What a number was lost of, as a person calls it: "the memory after", "the gate alpha as it comes in".
std::string lost_tensor_words(const Computation& computed, const Seen& seen, const LostNumber& lost) {
  if (!lost.title.empty()) {
    const std::string title = with_small_letter(lost.title);
    return lost.is_gate ? fmt::format("the gate ({})", title) : title;
  }
  if (lost.is_gate) return fmt::format("the gate {} as it comes in", lost.tensor);
  const auto& trace = computed.trace(seen.lens.form);
  const std::string words = trace ? symbol_in(trace->symbols, lost.tensor).words : std::string();
  return (words.empty() ? lost.tensor : with_small_letter(words)) + " as it comes in";
}

constexpr std::size_t most_broken = 4;

Node data_choice(Application& application) {
  return scene::segments(
      {"data that break it", "data that do not"}, application.session.state().prove.breaks ? 0 : 1,
      [&session = application.session](std::size_t chosen) {
        session.change([chosen](SessionState& state) { state.prove.breaks = chosen == 0; });
      });
}

void add_formula(Nodes& all, const FragileRun& run) {
  if (!run.change) return;
  const FormulaChange& change = *run.change;
  const LatexStyle look = boxed_style(change, style::colours().strength);
  all.push_back(scene::formula(latex(change.is, run.symbols, look), 22));
  if (!change.should_be) return;
  all.push_back(scene::caption("the same on paper as"));
  all.push_back(scene::formula(latex(*change.should_be, run.symbols, look), 16));
}

std::string outcome(const FragileForm& fragile, const FragileFigures& figures) {
  const FragileRun& run = *figures.run;
  if (figures.holds())
    return fmt::format("Here it holds: it is {} from the recurrence, the right form {}.",
                       scientific(run.worst.error), scientific(run.right_worst.error));
  if (fragile.always_wrong)
    return fmt::format(
        "It is {} from the recurrence, the right form {}. There are no data on which it holds.",
        scientific(run.worst.error), scientific(run.right_worst.error));
  return fmt::format("Here it breaks: it is {} from the recurrence, the right form, on the same numbers, {}.",
                     scientific(run.worst.error), scientific(run.right_worst.error));
}

void add_broken(Nodes& all, const Application& application, const FragileRun& run) {
  const Computation& computed = *application.session.computed();
  std::size_t count = 0;
  for (const NotFiniteNumber& broken : run.broken) {
    if (count++ >= most_broken) break;
    all.push_back(said(fmt::format(
        "{}[{}, {}] ({}) is {} from {} on", broken.tensor, broken.row, broken.column, broken.title,
        std::isnan(broken.value) ? "no number" : "infinite", numbered_word(computed, broken.token))));
  }
}

}  // namespace

std::string array_words(const std::string& array) {
  if (array == "o") return "the outputs";
  if (array == "final_state" || array == "final_S") return "the memory";
  constexpr std::string_view final = "final_";
  return array.starts_with(final) ? "the memory's " + array.substr(final.size()) : array;
}

std::string lost_words(const Application& application, const Seen& seen, const LostNumber& lost) {
  const Computation& computed = *application.session.computed();
  return fmt::format("{}: {} {} at {}; in f64 it is {:.2g}", name(seen.lens.arithmetic),
                     lost_tensor_words(computed, seen, lost), in_words(lost.as),
                     numbered_word(computed, lost.token), lost.expected);
}

Node proof(Application& application) {
  const Computation& computed = *application.session.computed();
  const std::vector<TableRow> rows = rows_of(application);
  const Known<std::vector<DigitsLost>> digits = application.session.questions().ask(
      DigitsHere{without_fault(application.session.computed())}, Urgency::later);
  const auto measured = [&computed, rows](std::size_t wish) {
    const bool is_roomy = wish == 0;
    return scene::column({said(verdict(rows, computed), is_roomy ? style::Text::title : style::Text::body),
                          table(computed, rows, is_roomy)},
                         is_roomy ? Gap::wide : Gap::small);
  };
  const auto lost = [&application, rows, digits](std::size_t wish) {
    return why_lost(application, rows, digits, most_lost - wish);
  };
  Node left = scene::scroll("measured", scene::first_that_fits(2, measured));
  Node right = scene::scroll("lost", scene::first_that_fits(most_lost - least_lost + 1, lost));
  return scene::top_row({std::move(left).filling(0.53F), std::move(right).filling(0.47F)}, Gap::far);
}

Node fragile_form(Application& application) {
  const ProveState& prove = application.session.state().prove;
  const FragileForm& fragile = find_fragile_form(prove.fragile);
  const Known<FragileFigures> answer = ask_present_fragile(application);
  const bool is_known = answer.value && !answer.stale;
  Nodes left = {scene::line(fragile.way.label, style::Text::title), scene::paragraph(fragile.way.sentence)};
  if (is_known && answer.value->run) add_formula(left, *answer.value->run);
  Nodes right = {data_choice(application)};
  if (!is_known) {
    right.push_back(
        awaiting("carrying it out", answer, application.session.questions(), about_fragile(application)));
  } else if (!answer.value->run) {
    right.push_back(said(answer.value->reason));
  } else {
    const FragileFigures& figures = *answer.value;
    right.push_back(said(outcome(fragile, figures)));
    right.push_back(scene::caption(fmt::format(
        "{}, {} form in chunks of {}{}{}", figures.variant->label, name(figures.form), figures.chunk_size,
        figures.data_words.empty() ? "; the data as they are" : "; ", figures.data_words)));
    add_broken(right, application, *figures.run);
    right.push_back(scene::caption("It fails when"));
    right.push_back(scene::paragraph(fragile.fails_when));
  }
  const auto scrolled = [](const char* name, Nodes nodes) {
    return scene::scroll(name, scene::column(std::move(nodes), Gap::near));
  };
  return scene::top_row({scrolled("formula", std::move(left)).filling(0.56F),
                         scrolled("outcome", std::move(right)).filling(0.44F)},
                        Gap::far);
}

}  // namespace palimpsest
