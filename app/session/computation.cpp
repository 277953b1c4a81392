#include "app/session/computation.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "core/base/error.h"
#include "core/contract/disagreement.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

constexpr Index late_from = 256;                       // tokens; below this the parallel form takes no time
constexpr std::size_t budget = std::size_t{96} << 20;  // bytes of states that a trace keeps
constexpr double largest_state = 256e6;                // bytes
constexpr double largest_rows = 1e9;                   // bytes of all features of q and k

std::atomic<int> alive{0};

std::uint64_t next_version() {
  static std::atomic<std::uint64_t> version{0};
  return ++version;
}

/// The same judgement as verify()'s.
void judge(const Computation& computation, Form which, FormResult& form, const std::stop_token& stop) {
  ReferenceRun& reference = *computation.reference;
  const Tolerance allowed =
      tolerance(*computation.variant, computation.sequence.settings, which, computation.choice.precision);
  form.judgement =
      computation.sequence.tokens > most_tokens_measured
          ? Judgement{.disagreement = compare(form.output, reference.expected()), .tolerance = allowed}
          : reference.judge(form.output, which, computation.choice.chunk_size, allowed, stop);
  form.amplified = reference.why_amplified(form.judgement, which, computation.choice.chunk_size, stop);
  form.token_residual = errors_by_row("o", form.output.o, reference.expected().o);
  const auto bad = std::ranges::find_if(form.token_residual,
                                        [&](double error) { return error > form.judgement.allowed(); });
  if (bad != form.token_residual.end()) form.first_bad_token = bad - form.token_residual.begin();
}

std::vector<TokenFacts> token_facts(const Computation& computation, const std::stop_token& stop) {
  const Sequence& sequence = computation.sequence;
  std::vector<TokenFacts> facts(static_cast<std::size_t>(sequence.tokens));
  const auto recalls = recall(*computation.variant, sequence, stop);
  const auto gamma = sequence.settings.parameters.find("gamma");
  for (Index t = 0; t < sequence.tokens; ++t) {
    TokenFacts& fact = facts[static_cast<std::size_t>(t)];
    if (sequence.has("alpha")) {
      const Matrix<double> gate = sequence.at("alpha").rows<double>(t, 1);
      fact.alpha = sequence.gates_are_logs ? gate.array().exp().mean() : gate.mean();
    } else if (gamma != sequence.settings.parameters.end()) {
      fact.alpha = gamma->second;
    }
    if (sequence.has("beta")) fact.beta = sequence.at("beta")(t, 0);
    if (recalls) fact.recall = (*recalls)[static_cast<std::size_t>(t)];
  }
  return facts;
}

/// Where the memory runs away; nothing for a rule without one.
std::optional<Divergence> runaway(const Computation& computation, const std::stop_token& stop) {
  if (!computation.variant->memory.none.empty()) return std::nullopt;
  return divergence(*computation.variant, computation.sequence, 10, stop);
}

/// The chosen head's inputs as the precision holds them; a problem in its numbers names the head.
HeldInputs bind_head(const Computation& computation) try {
  const Inputs& inputs = computation.inputs;
  return held_inputs(*computation.variant, inputs.arrays, inputs.settings, computation.choice.precision);
} catch (const InputError& error) {
  const DataSet& data = *computation.data;
  if (data.heads * data.batches == 1) throw;
  throw InputError(fmt::format("{} (head {})", error.what(), computation.choice.head));
}

/// What is wrong with the arrays of a file names it.
HeldInputs prepare(Computation& computation) try {
  const Choice& choice = computation.choice;
  computation.inputs =
      make_inputs(*computation.data, choice.head, *computation.variant, choice.settings, choice.adjustments);
  HeldInputs held = bind_head(computation);
  computation.sequence = held.sequence;
  return held;
} catch (const InputError& error) {
  const std::string& id = computation.data->id;
  const std::string_view words = error.what();
  if (!std::filesystem::path(id).is_absolute() || words.starts_with(id)) throw;
  throw InputError(fmt::format("{}: {}", id, words));
}

/// Refuses sizes that would fill the machine's memory. Only feature maps multiply sizes so much.
void require_affordable(const Rule& rule, const Sequence& sequence) {
  const auto* rows = dynamic_cast<const RowRule*>(&rule);
  if (!rows) return;
  const Program<double> program = rows->encoder().encode<double>(sequence, 0, 0);
  const double bytes = 8.0 * static_cast<double>(program.k.cols()) * static_cast<double>(program.v.cols());
  if (bytes <= largest_state) return;
  throw InputError(
      fmt::format("the state would have {} rows and {} columns, {:.1f} GB; choose another feature map or "
                  "fewer channels",
                  program.k.cols(), program.v.cols(), bytes / 1e9));
}

/// Why the parallel form is not made although the rule has it; empty if it is.
std::string too_long_at_once(const Rule& rule, const Sequence& sequence) {
  if (sequence.tokens > most_tokens_at_once) {
    return fmt::format(
        "The parallel form makes matrices of all pairs of tokens; it is shown up to {} tokens, and here "
        "are {}. The chunkwise form shows the same in pieces.",
        most_tokens_at_once, sequence.tokens);
  }
  if (const auto* rows = dynamic_cast<const RowRule*>(&rule)) {
    const Index columns = rows->encoder().encode<double>(sequence, 0, 0).k.cols();
    const double bytes = 16.0 * static_cast<double>(sequence.tokens) * static_cast<double>(columns);
    if (bytes > largest_rows) {
      return fmt::format(
          "The parallel form needs the features of all tokens at once: {} for each of {} tokens. The "
          "chunkwise form makes them piece by piece.",
          columns, sequence.tokens);
    }
  }
  return {};
}

/// One form, compared with the reference, its records around `token` at hand.
FormResult make_form(const Computation& computation, Form form, Index token,
                     const std::stop_token& stop) try {
  const Rule& rule = *computation.variant->rule;
  const Choice& choice = computation.choice;
  const Sequence& sequence = computation.sequence;
  FormResult made;
  const std::shared_ptr<Trace> trace =
      rule.trace(sequence, form, choice.precision, choice.chunk_size, budget);
  trace->prepare(stop);
  made.trace = trace;
  if (stop.stop_requested()) throw Cancelled();
  const bool is_reference = form == Form::recurrent && choice.precision == Precision::f64;
  if (is_reference)
    made.output = computation.reference->expected();
  else if (const Output* output = trace->output())
    made.output = *output;
  else
    made.output = rule.run(sequence, form, choice.precision, choice.chunk_size, stop);
  judge(computation, form, made, stop);
  if (trace->block_count() > 0) trace->record(trace->block_of(std::min(token, sequence.tokens - 1), 0));
  return made;
} catch (const Unsupported& reason) {
  FormResult missing;
  missing.missing = reason.what();
  return missing;
}

void judge(Computation& computation) {
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

/// The largest difference to the output in the file, where the inputs are the file's as well.
std::optional<double> distance_to_own_output(const Computation& computation) {
  const Inputs& inputs = computation.inputs;
  const auto own = inputs.arrays->find("o");
  const Matrix<double>& o = computation.reference->expected().o;
  const bool is_own = computation.choice.adjustments == Adjustments() && !inputs.made_up_alpha &&
                      !inputs.made_up_beta && !inputs.made_up_more;
  if (!is_own || own == inputs.arrays->end() || own->second.size() != o.size()) return std::nullopt;
  return compare("o", o, MatrixView(own->second, 0, o.rows(), o.cols(), o.cols()).all<double>()).error;
}

}  // namespace

LiveComputation::LiveComputation() { ++alive; }
LiveComputation::~LiveComputation() { --alive; }

int live_computations() { return alive; }

Index largest_chunk(Index tokens) { return std::clamp<Index>(tokens, 1, most_tokens_at_once); }

std::shared_ptr<Computation> compute(std::shared_ptr<const DataSet> data, const Choice& choice, Index token,
                                     std::stop_token stop) {
  auto result = std::make_shared<Computation>();
  result->version = next_version();
  result->data = std::move(data);
  result->choice = choice;
  result->variant = &find_variant(choice.variant);
  const Rule& rule = *result->variant->rule;
  HeldInputs held = prepare(*result);
  require_affordable(rule, result->sequence);
  result->reference =
      std::make_unique<ReferenceRun>(*result->variant, std::move(held), choice.precision, stop);

  for (const Form form : {Form::recurrent, Form::chunkwise, Form::two_pass})
    result->form(form) = make_form(*result, form, token, stop);
  FormResult& parallel = result->form(Form::parallel);
  parallel.missing = too_long_at_once(rule, result->sequence);
  if (parallel.missing.empty()) {
    if (has_late_form(*result))
      parallel.missing = "The parallel form is still being computed.";
    else
      parallel = make_form(*result, Form::parallel, token, stop);
  }
  judge(*result);
  result->tokens = token_facts(*result, stop);
  result->divergence = runaway(*result, stop);
  result->capture_error = distance_to_own_output(*result);
  return result;
}

bool has_late_form(const Computation& computation) {
  return computation.sequence.tokens > late_from &&
         too_long_at_once(*computation.variant->rule, computation.sequence).empty();
}

FormResult compute_late_form(const Computation& computation, std::stop_token stop) {
  FormResult failed;
  try {
    return make_form(computation, Form::parallel, 0, stop);
  } catch (const Cancelled&) {
    throw;
  } catch (const std::bad_alloc&) {
    failed.missing = "There is not enough memory for the matrices of the parallel form.";
  } catch (const std::exception& error) {
    failed.missing = error.what();
  }
  return failed;
}

void add_late_form(Computation& computation, FormResult form) {
  computation.form(Form::parallel) = std::move(form);
  computation.version = next_version();
  judge(computation);
}

}  // namespace palimpsest
