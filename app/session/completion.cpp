#include "app/session/completion.h"

#include <tuple>

#include "app/session/found.h"

namespace palimpsest {

static auto parts_of(const Output& output) { return std::tie(output.o, output.states); }
static auto parts_of(const FormResult& result) { return std::tie(result.computed, result.token_residual); }
static auto parts_of(const TokenRecalls& recalls) { return std::tie(recalls.tokens); }

namespace {

/// A form, computed and compared with the reference.
struct ComparedForm {
  using Value = FormResult;

  Weak<Foundation> of = {};
  Form form = Form::recurrent;

  auto operator<=>(const ComparedForm&) const = default;
  std::string subject() const { return name(form) + (" " + subject_of_data(of)); }
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const {
    return compared(foundation, form, effort.stop, effort.progress);
  }
};

/// What the reference says: how large outputs are, how far they are from those in the file.
struct FactsOfReference {
  using Value = ReferenceFacts;

  Weak<Foundation> of = {};

  auto operator<=>(const FactsOfReference&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const {
    return reference_facts(foundation, effort.stop);
  }
};

}  // namespace

Found<RecallOfTokens::Value> RecallOfTokens::compute(const Foundation& foundation,
                                                     const Effort& effort) const {
  return recalled(foundation, effort.stop, effort.progress);
}

Found<RunawayMemory::Value> RunawayMemory::compute(const Foundation& foundation, const Effort& effort) const {
  return runaway(foundation, effort.stop, effort.progress);
}

bool complete(const std::shared_ptr<Computation>& computation, Questions& questions, std::string& problem) {
  if (computation->is_complete()) return false;
  Computation& all = *computation;
  const Weak<Foundation> about = computation;
  const std::uint64_t before = all.version;
  const auto fits = [&](std::size_t count) { return count == all.tokens.size(); };
  // The newest wish is granted first: what is looked at last is wished for first.
  for (const Form form : {Form::parallel, Form::two_pass, Form::chunkwise, Form::recurrent}) {
    const FormResult& present = all.form(form);
    if (present.is_compared || !present.missing.empty()) continue;
    const auto known = questions.ask(ComparedForm{about, form}, Urgency::later);
    if (known.value && !known.stale) add(all, form, known.value);
    const bool is_former = known.stale && present.output().o.size() == 0 && known.value->missing.empty();
    if (!is_former || !fits(static_cast<std::size_t>(known.value->output().o.rows()))) continue;
    auto former = std::make_shared<FormResult>(*known.value);
    former->trace = present.trace;
    former->is_compared = false;
    add(all, form, former);
  }
  if (!all.knows_divergence) {
    const auto known = questions.ask(RunawayMemory{about}, Urgency::later);
    if (known.value && (!known.stale || !all.divergence)) add(all, *known.value, !known.stale);
    if (!known.reason.empty()) add(all, std::optional<Divergence>());
    if (!known.reason.empty()) problem = known.reason;
  }
  if (!all.knows_recall) {
    const auto known = questions.ask(RecallOfTokens{about}, Urgency::later);
    const bool has_former = !all.recalls->tokens.empty();
    const bool is_usable = known.value && (known.value->tokens.empty() || fits(known.value->tokens.size()));
    if (is_usable && (!known.stale || !has_former)) add(all, known.value, !known.stale);
    if (!known.reason.empty()) add(all, std::make_shared<const TokenRecalls>());
    if (!known.reason.empty()) problem = known.reason;
  }
  if (!all.knows_reference) {
    const auto known = questions.ask(FactsOfReference{about}, Urgency::later);
    if (known.value && (!known.stale || all.scales.output == 0)) add(all, *known.value, !known.stale);
    if (!known.reason.empty()) add(all, ReferenceFacts());
    if (!known.reason.empty()) problem = known.reason;
  }
  return all.version != before;
}

}  // namespace palimpsest
