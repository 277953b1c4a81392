#include "app/session/computation.h"

#include <new>

#include "core/insight/memory_change.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

// Of states that a trace caches, in bytes.
constexpr std::size_t budget = std::size_t{has_little_memory ? 24 : 96} << 20;

// Tokens whose n x n matrices are made: longer data have no parallel form. With other equations there are
// matrices for each of them.
constexpr Index most_tokens_at_once = has_little_memory ? 1024 : 4096;
constexpr Index most_tokens_edited_at_once = most_tokens_at_once / 4;

constexpr double largest_state = has_little_memory ? 16e6 : 256e6;  // bytes
constexpr double largest_rows = has_little_memory ? 64e6 : 1e9;     // bytes of all features of q and k
constexpr double states_beyond_typical = 3;  // 99.7 % of normal numbers lie within three times their rms
constexpr Index enough_rows = 2048;          // tokens to measure; longer texts are sampled evenly

/// The magnitude that nearly all numbers stay below; the largest if that is zero.
double strong(Index rows, const std::function<Matrix<double>(Index)>& row_at) {
  std::vector<double> magnitudes;
  const Index stride = std::max<Index>(rows / enough_rows, 1);
  for (Index row = 0; row < rows; row += stride)
    std::ranges::copy(sizes_of(row_at(row)), std::back_inserter(magnitudes));
  const double most = quantile(magnitudes, nearly_all);
  return most > 0 ? most : quantile(std::move(magnitudes), 1);
}

/// The bound of all but a few of the memory's entries over all tokens, estimated from norms, as storing all
/// memories would take too much room.
double strong_state(std::span<const Recall> recalls) {
  const double typical = quantile(made_of(recalls, &Recall::root_mean_square), nearly_all);
  return std::min(states_beyond_typical * typical, quantile(made_of(recalls, &Recall::largest), 1));
}

/// Judges a form that is computed.
void judge(const Foundation& foundation, Form which, FormResult& form, const std::stop_token& stop) {
  const Choice& choice = foundation.choice;
  const Tolerance allowed = tolerance(*foundation.variant, foundation.sequence.settings, choice.precision);
  form.judgement = judged(foundation, which, form.output(), allowed, stop);
  form.amplified = foundation.reference->alone(stop, [&](ReferenceRun& reference) {
    return reference.why_amplified(form.judgement, which, choice.chunk_size, stop);
  });
  if (form.judgement.passed()) return;
  const auto errors = errors_by_row("o", form.output().o, foundation.reference->expected(stop).o);
  const auto bad =
      std::ranges::find_if(errors, [&](double error) { return error > form.judgement.allowed(); });
  if (bad != errors.end()) form.first_bad_token = bad - errors.begin();
}

/// The inputs' facts for the timeline.
std::vector<TokenFacts> token_facts(Computation& computation, const std::stop_token& stop) {
  const Sequence& sequence = computation.sequence;
  std::optional<WriteStrengths> written;  // nothing if there is no memory to query
  why_unsupported([&] { written = write_strengths(*computation.variant, sequence, stop); });
  if (written) {
    computation.written_by = written->rate;
    computation.written_symbol = written->symbol;
  }
  std::vector<TokenFacts> facts(static_cast<std::size_t>(sequence.tokens));
  const std::optional<Keeping> kept = keeping(*computation.variant, sequence);
  if (kept) computation.kept_symbol = kept->forgets ? "1 - " + kept->symbol : kept->symbol;
  for (Index t = 0; t < sequence.tokens; ++t) {
    TokenFacts& fact = entry(facts, t);
    if (kept) fact.kept = kept->mean(t);
    if (sequence.has("beta")) fact.beta = sequence.at("beta")(t, 0);
    if (written) fact.written = written->of_token(t);
  }
  return facts;
}

/// The chosen head's inputs, rounded to the precision; a problem in the numbers names the head.
HeldInputs bind_head(const Computation& computation) try {
  const Inputs& inputs = computation.inputs;
  return held_inputs(*computation.variant, inputs.arrays, inputs.settings, computation.choice.precision);
} catch (const InputError& error) {
  const DataSet& data = *computation.data;
  if (data.heads * data.batches == 1) throw;
  refuse("{} (head {})", error.what(), computation.choice.head);
}

/// As bind_head(); problems with the arrays of a file name the file.
HeldInputs prepare(Computation& computation) try {
  const Choice& choice = computation.choice;
  computation.inputs =
      make_inputs(*computation.data, choice.head, *computation.variant, choice.settings, choice.edits);
  HeldInputs held = bind_head(computation);
  computation.sequence = held.sequence;
  return held;
} catch (const BrokenArray&) {
  throw;
} catch (const InputError& error) {
  const std::string& id = computation.data->id;
  if (!std::filesystem::path(id).is_absolute()) throw;
  refuse("{}: {}", id, error.what());
}

/// Refuses sizes that would fill the machine's memory. Only feature maps increase sizes that much.
void require_affordable(const Rule& rule, const Sequence& sequence) {
  const RowRule* const rows = rule.row_program();
  if (!rows) return;
  const Program<double> program = rows->encode<double>(sequence, 0, 0);
  const double bytes = 8.0 * static_cast<double>(program.k.cols()) * static_cast<double>(program.v.cols());
  if (bytes <= largest_state) return;
  refuse(
      "the state would have {} rows and {} columns, {:.1f} GB; choose another feature map or fewer channels",
      program.k.cols(), program.v.cols(), bytes / 1e9);
}

/// Why the parallel form is not computed although the rule has it; empty if it is.
std::string too_long_at_once(const Rule& rule, const Sequence& sequence) {
  if (sequence.tokens > most_tokens_at_once)
    return fmt::format(
        "The parallel form makes T × T matrices. It is shown up to {} tokens; these data have {}. The "
        "chunkwise form shows the same in blocks.",
        most_tokens_at_once, sequence.tokens);
  if (const RowRule* const rows = rule.row_program()) {
    const Index columns = rows->encode<double>(sequence, 0, 0).k.cols();
    const double bytes = 16.0 * static_cast<double>(sequence.tokens) * static_cast<double>(columns);
    if (bytes > largest_rows)
      return fmt::format(
          "The parallel form needs the features of all tokens at once: {} for each of {} tokens. The "
          "chunkwise form makes them piece by piece.",
          columns, sequence.tokens);
  }
  return {};
}

/// Why no device has this form of the sequence; empty if there is one.
std::string no_form_anywhere(const Foundation& foundation, Form form) {
  const Rule& rule = *foundation.variant->rule;
  if (form == Form::parallel) {
    if (std::string reason = too_long_at_once(rule, foundation.sequence); !reason.empty()) return reason;
  }
  return rule.missing(form, foundation.sequence.settings).value_or("");
}

/// The steps of a form as a device computes them in a precision that it has.
std::shared_ptr<const Trace> steps_on(const Backend& device, const Foundation& foundation, Form form,
                                      Precision precision) {
  return device.trace(*foundation.variant, foundation.sequence, form, precision, foundation.choice.chunk_size,
                      budget);
}

/// The device's error as a sentence with its name, and with a hint if its memory is too small.
std::string problem_of(const Backend& device, const std::exception& error) {
  const bool lacks_memory = dynamic_cast<const std::bad_alloc*>(&error);
  if (is_cpu(device))
    return lacks_memory ? "There is not enough memory for the matrices of this form." : error.what();
  return fmt::format(
      "{}: {}", device.name(),
      lacks_memory ? "there is not enough memory for the matrices of this form" : error.what());
}

/// The steps of a form, kept in the foundation, or why there are none.
FormResult steps_of(Foundation& foundation, Form form) {
  const Backend& device = *foundation.device;
  FormResult result;
  result.missing = no_form_anywhere(foundation, form);
  if (!result.missing.empty()) return result;
  try {
    const Choice& choice = foundation.choice;
    if (const auto reason =
            device.missing(*foundation.variant, foundation.sequence.settings, form, choice.precision))
      throw Unsupported(*reason);
    std::shared_ptr<const Trace>& trace = entry(foundation.traces, form);
    trace = steps_on(device, foundation, form, choice.precision);
    result.trace = trace.get();
  } catch (const Cancelled&) {
    throw;
  } catch (const Unsupported& reason) {
    result.missing = problem_of(device, reason);
  } catch (const std::exception& error) {
    if (is_cpu(device)) throw;
    result.missing = problem_of(device, error);
  }
  return result;
}

/// Sums up all comparisons.
void sum_up(Computation& computation) {
  computation.version = next_version();
  computation.agree = true;
  for (const Form form : all_forms) {
    const FormResult& result = computation.form(form);
    if (!result.missing.empty()) continue;
    computation.agree = computation.agree && result.judgement.passed();
    const FormResult& worst = computation.form(computation.worst_form);
    if (result.judgement.says_nothing() && result.judgement.passed()) continue;
    if (!worst.missing.empty() || result.judgement.is_worse_than(worst.judgement))
      computation.worst_form = form;
  }
  const FormResult& worst = computation.form(computation.worst_form);
  computation.worst = worst.residual();
  computation.tolerance = worst.judgement.allowed();
}

/// The largest difference from the output in the file, if the inputs are unchanged.
std::optional<double> distance_to_own_output(const Foundation& computation, const Matrix<double>& o) {
  const Inputs& inputs = computation.inputs;
  const Array* const own = value_at(*inputs.arrays, "o");
  const bool is_own = computation.choice.edits.empty() && !inputs.made_up_alpha && !inputs.made_up_beta &&
                      !inputs.made_up_more;
  if (!is_own || !own || own->size() != o.size()) return std::nullopt;
  return compare("o", o, MatrixView(*own, 0, o.rows(), o.cols(), o.cols()).all<double>()).error;
}

/// The steps of the form with the fault; null if it changes nothing, with the reason. `found` is a copy, as
/// the window's thread adds to the original meanwhile.
std::shared_ptr<const EditedTrace> faulty_steps(const Foundation& right, const Findings& found,
                                                const InjectedFault& injected, std::string& reason) {
  const Fault& fault = find_fault(injected.id);
  if (!right.trace(injected.form)) {
    reason = entry(found.forms, injected.form)->missing;
    return nullptr;
  }
  reason = too_long_to_edit(injected.form, right.sequence.tokens);
  if (!reason.empty()) return nullptr;
  const Choice& choice = right.choice;
  std::shared_ptr<const Trace> exact = right.trace(injected.form);
  if (choice.precision != Precision::f64 || !is_cpu(*right.device))  // equations are carried out in f64
    exact =
        right.variant->rule->trace(right.sequence, injected.form, Precision::f64, choice.chunk_size, budget);
  std::optional<Equations> faulty = with_fault(fault, {exact->phases, exact->symbols});
  if (!faulty) {
    reason = fmt::format("It needs {}, which the equations of the {} form do not have.", fault.needs,
                         name(injected.form));
    return nullptr;
  }
  return std::make_shared<const EditedTrace>(std::move(exact), *std::move(faulty));
}

/// `right` with the choice's fault injected into its form.
std::shared_ptr<Computation> with_fault_in(std::shared_ptr<Computation> right, Findings found,
                                           const Choice& choice) {
  auto result = std::make_shared<Computation>();
  static_cast<Foundation&>(*result) = *right;
  result->choice = choice;
  static_cast<Findings&>(*result) = std::move(found);
  if (auto steps = faulty_steps(*right, *result, choice.fault, result->no_fault)) {
    FormResult faulty;
    faulty.trace = steps.get();
    if (choice.fault.form == Form::recurrent) result->recurrence = steps;
    entry(result->traces, choice.fault.form) = steps;
    result->edited = std::move(steps);
    entry(result->forms, choice.fault.form) = std::make_shared<const FormResult>(std::move(faulty));
  }
  result->right = std::move(right);
  sum_up(*result);
  return result;
}

std::shared_ptr<Computation> begin_right(std::shared_ptr<const DataSet> data, const Choice& choice,
                                         const std::stop_token& stop, Devices devices) {
  auto result = std::make_shared<Computation>();
  result->data = std::move(data);
  result->choice = choice;
  result->device = &find_backend(choice.device, devices);
  result->variant = &find_variant(choice.variant);
  HeldInputs held = prepare(*result);
  require_affordable(*result->variant->rule, result->sequence);
  result->reference =
      std::make_shared<const SharedReference>(*result->variant, std::move(held), choice.precision);
  const Sequence& sequence = result->sequence;
  const auto strong_in = [&](const char* array) {
    return strong(sequence.tokens, [&](Index t) { return sequence.at(array).rows<double>(t, 1); });
  };
  result->scales = {
      .key = sequence.has("k") ? strong_in("k") : 1, .query = strong_in("q"), .value = strong_in("v")};
  for (const Form form : all_forms)
    entry(result->forms, form) = std::make_shared<const FormResult>(steps_of(*result, form));
  result->recurrence = result->trace(Form::recurrent);
  if ((!is_cpu(*result->device) || !result->recurrence) && no_form_anywhere(*result, Form::recurrent).empty())
    result->recurrence = steps_on(cpu_backend(), *result, Form::recurrent, held_in(choice.precision));
  result->tokens = token_facts(*result, stop);
  sum_up(*result);
  return result;
}

/// Facts from the reference run.
struct ReferenceFacts {
  double output_scale = 0;                   // KindScales::output
  std::optional<double> capture_error = {};  // as in Findings
};

struct FactsOfReference {
  Weak<Foundation> of = {};

  auto operator<=>(const FactsOfReference&) const = default;
  Found<ReferenceFacts> compute(const Foundation& foundation, const Effort& effort) const {
    const Matrix<double>& o = foundation.reference->expected(effort.stop).o;
    const double strong_output = strong(o.rows(), [&](Index t) { return Matrix<double>(o.row(t)); });
    return ReferenceFacts{strong_output, distance_to_own_output(foundation, o)};
  }
};

/// Requests the comparison of every form; until then the result of the last choice is shown.
void complete_forms(const std::shared_ptr<Computation>& computation, Questions& questions) {
  Computation& all = *computation;
  const auto set = [&](Form form, std::shared_ptr<const FormResult> result) {
    entry(all.forms, form) = std::move(result);
    sum_up(all);
  };
  // The newest request is answered first, so the most important form is requested last.
  for (const Form form : {Form::parallel, Form::two_pass, Form::chunkwise, Form::recurrent}) {
    const FormResult& present = all.form(form);
    if (present.is_compared || !present.missing.empty()) continue;
    const auto known = questions.ask(ComparedForm{computation, form}, Urgency::later);
    if (!known.value) continue;
    if (!known.stale) {
      set(form, known.value);
      continue;
    }
    const bool is_former = present.output().o.size() == 0 && known.value->missing.empty();
    if (!is_former || known.value->output().o.rows() != std::ssize(all.tokens)) continue;
    auto former = std::make_shared<FormResult>(*known.value);
    former->trace = present.trace;
    former->is_compared = false;
    set(form, former);
  }
}

}  // namespace

double quantile(std::vector<double> numbers, double share) {
  std::erase_if(numbers, [](double number) { return !std::isfinite(number); });
  if (numbers.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(numbers.size())));
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(numbers, at);
  return *at;
}

std::vector<double> sizes_of(const Matrix<double>& numbers, const Matrix<double>& more) {
  std::vector<double> sizes;
  for (const Matrix<double>* const each : {&numbers, &more})
    for (const double number : each->reshaped()) sizes.push_back(std::abs(number));
  return sizes;
}

int live_computations() { return static_cast<int>(held_by_computations.use_count()) - 1; }

Index largest_chunk(Index tokens) { return std::clamp<Index>(tokens, 1, most_tokens_at_once); }

bool Computation::is_complete() const {
  const auto is_known = [](const auto& form) { return form->is_compared || !form->missing.empty(); };
  return knows_reference && knows_recall && knows_divergence && std::ranges::all_of(forms, is_known);
}

std::string left_to_cpu(const Computation& computation, Form form) {
  const bool is_faulty = computation.right && computation.choice.fault.form == form;
  const bool has_precision = why_not_in(*computation.device, computation.choice.precision).empty();
  if ((is_cpu(*computation.device) && has_precision) || is_faulty ||
      !no_form_anywhere(computation, form).empty())
    return {};
  return computation.form(form).missing;
}

std::string why_not_on(const Backend& device, const Foundation& foundation, Form form) {
  if (std::string reason = unavailable(device); !reason.empty()) return reason;
  if (std::string reason = why_not_in(device, foundation.choice.precision); !reason.empty()) return reason;
  if (is_cpu(device) || !no_form_anywhere(foundation, form).empty()) return {};
  const Choice& choice = foundation.choice;
  return device.missing(*foundation.variant, foundation.sequence.settings, form, choice.precision)
      .value_or("");
}

std::string too_long_to_edit(Form form, Index tokens) {
  if (form != Form::parallel || tokens <= most_tokens_edited_at_once) return {};
  return fmt::format(
      "Every equation of the parallel form makes a matrix of all pairs of tokens. It is computed up to {} "
      "tokens; these data have {}. The chunkwise form shows the same in blocks.",
      most_tokens_edited_at_once, tokens);
}

bool same_numbers(const Choice& x, const Choice& y) {
  return x.variant == y.variant && x.device == y.device && x.precision == y.precision &&
         x.chunk_size == y.chunk_size && x.head == y.head && x.settings == y.settings && x.edits == y.edits &&
         x.fault.id == y.fault.id && (x.fault.id.empty() || x.fault.form == y.fault.form);
}

Earlier as_earlier(const std::shared_ptr<Computation>& computation) {
  if (!computation) return {};
  const std::shared_ptr<Computation>& right = computation->right ? computation->right : computation;
  return {right, *right};
}

std::shared_ptr<Computation> begin(std::shared_ptr<const DataSet> data, const Choice& choice,
                                   std::stop_token stop, const Earlier& earlier, Devices devices) {
  Choice without = choice;
  without.fault = {};
  const bool serves =
      earlier.right && earlier.right->data == data && same_numbers(earlier.right->choice, without);
  std::shared_ptr<Computation> right =
      serves ? earlier.right : begin_right(std::move(data), without, stop, devices);
  if (choice.fault.id.empty()) return right;
  Findings found = serves ? earlier.found : Findings(*right);
  return with_fault_in(std::move(right), std::move(found), choice);
}

std::shared_ptr<const Foundation> without_fault(const std::shared_ptr<const Computation>& computation) {
  if (computation && computation->right) return computation->right;
  return computation;
}

const Output& FormResult::output() const {
  static const Output nothing;
  return computed ? *computed : nothing;
}

Found<FormResult> ComparedForm::compute(const Foundation& foundation, const Effort& effort) const {
  FormResult result;
  result.trace = foundation.trace(form).get();
  result.is_compared = true;
  const Choice& choice = foundation.choice;
  const Backend& device = *foundation.device;
  const EditedTrace* const edited =
      result.trace == foundation.edited.get() ? foundation.edited.get() : nullptr;
  try {
    const bool is_reference = form == Form::recurrent && choice.precision == Precision::f64 && is_cpu(device);
    const auto own = [](Output output) { return std::make_shared<const Output>(std::move(output)); };
    if (edited)
      result.computed = own(edited->run(effort.stop));
    else if (is_reference)
      result.computed = {foundation.reference, &foundation.reference->expected(effort.stop)};
    else if (const Output* made = result.trace->output())
      result.computed = own(*made);
    else
      result.computed = own(device.run(*foundation.variant, foundation.sequence, form, choice.precision,
                                       choice.chunk_size, effort.stop));
    effort.tell(0.5);
    judge(foundation, form, result, effort.stop);
    effort.tell(1);
    return result;
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& error) {
    result.missing = problem_of(edited ? cpu_backend() : device, error);
  }
  result.trace = nullptr;
  return result;
}

Found<Index> KeptStates::compute(const Foundation& foundation, const Effort& effort) const {
  constexpr Index parts = 16;  // between two of them those who wait for a record get theirs
  const Trace& trace = *foundation.trace(form);
  const bool is_edited = &trace == foundation.edited.get();
  for (Index part = 1; part <= parts && trace.block_count() > 0 && !is_edited; ++part)
    trace.shared_record((trace.block_count() - 1) * part / parts, effort.stop);
  return trace.block_count();
}

std::string subject_of(const Foundation& foundation) { return text_of(*foundation.data); }

std::string subject_of_rule(const Foundation& foundation) {
  return subject_of(foundation) + " " + foundation.variant->id;
}

Judgement judged(const Foundation& foundation, Form form, const Output& output, const Tolerance& allowed,
                 const std::stop_token& stop) {
  return foundation.reference->alone(stop, [&](ReferenceRun& reference) -> Judgement {
    if (foundation.sequence.tokens > most_tokens_measured && !reference.overflows())
      return {.disagreement = compare(output, reference.expected()), .tolerance = allowed};
    return reference.judge(output, form, foundation.choice.chunk_size, allowed, stop);
  });
}

std::string fused_words(const Computation& computed, Form form) {
  const InjectedFault& fault = computed.choice.fault;
  const bool is_carried_out = !fault.id.empty() && fault.form == form;  // the CPU evaluates its equations
  if (is_carried_out || !computed.form(form).missing.empty()) return {};
  return fused_kernel(*computed.device, *computed.variant, computed.sequence, form,
                      computed.choice.precision);
}

static auto parts_of(const Output& output) { return std::tie(output.o, output.states); }
static auto parts_of(const FormResult& result) { return std::tie(result.computed); }
static auto parts_of(const TokenRecalls& recalls) { return std::tie(recalls.tokens); }

Found<TokenRecalls> RecallOfTokens::compute(const Foundation& foundation, const Effort& effort) const {
  auto recalls = recall(*foundation.variant, foundation.sequence, effort.stop, effort.progress);
  if (!recalls) return TokenRecalls();
  const double strong = strong_state(*recalls);
  return TokenRecalls{.tokens = std::move(*recalls), .strong_state = strong};
}

Found<std::optional<Divergence>> RunawayMemory::compute(const Foundation& foundation,
                                                        const Effort& effort) const {
  if (!foundation.variant->memory.none.empty()) return std::nullopt;
  return divergence(*foundation.variant, foundation.sequence, effort.stop, effort.progress);
}

bool complete(const std::shared_ptr<Computation>& computation, Questions& questions, std::string& problem) {
  if (computation->is_complete()) return false;
  Computation& all = *computation;
  const Weak<Foundation> about = computation;
  const std::uint64_t before = all.version;
  complete_forms(computation, questions);
  // A failure gives an empty value. `takes`: whether the value of an earlier choice is used until then.
  const auto ask = [&]<class Key>(const Key& key, bool& is_known, auto takes, auto set) {
    if (is_known) return;
    const auto known = questions.ask(key, Urgency::later);
    const bool has_failed = !known.reason.empty();
    if (has_failed) problem = known.reason;
    if (!has_failed && (!known.value || (known.stale && !takes(*known.value)))) return;
    is_known = has_failed || !known.stale;
    set(has_failed ? std::make_shared<const ValueOf<Key>>() : known.value);
    sum_up(all);
  };
  ask(
      RunawayMemory{about}, all.knows_divergence, [&](const auto&) { return !all.divergence; },
      [&](const auto& divergence) { all.divergence = *divergence; });
  ask(
      RecallOfTokens{about}, all.knows_recall,
      [&](const TokenRecalls& former) {
        const bool fits = former.tokens.empty() || former.tokens.size() == all.tokens.size();
        return fits && all.recalls->tokens.empty();
      },
      [&](const auto& recalls) { all.recalls = recalls; });
  ask(
      FactsOfReference{about}, all.knows_reference, [&](const auto&) { return all.scales.output == 0; },
      [&](const auto& facts) {
        all.scales.output = facts->output_scale;
        if (all.knows_reference) all.capture_error = facts->capture_error;
      });
  return all.version != before;
}

}  // namespace palimpsest
