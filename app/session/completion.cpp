#include "app/session/completion.h"

#include "core/base/error.h"

namespace palimpsest {

namespace {

std::size_t bytes_of(const Output& output) {
  Index numbers = output.o.size();
  for (const auto& [name, state] : output.states) numbers += state.size();
  return static_cast<std::size_t>(numbers) * sizeof(double);
}

/// A form, computed and compared with the reference.
struct ComparedForm : OfFoundation {
  using Value = FormResult;

  Form form = Form::recurrent;

  bool operator<(const ComparedForm& other) const { return is_before(other).value_or(form < other.form); }
  std::string question() const { return name(form) + (" " + OfFoundation::question()); }
  std::shared_ptr<const FormResult> compute(const Effort& effort) const {
    return std::make_shared<const FormResult>(compared(*present(), form, effort.stop, effort.progress));
  }
  static std::size_t bytes(const FormResult& result) {
    return bytes_of(result.output()) + result.token_residual.size() * sizeof(double);
  }
};

}  // namespace

std::shared_ptr<const RecallOfTokens::Value> RecallOfTokens::compute(const Effort& effort) const {
  return std::make_shared<const Value>(recalled(*present(), effort.stop, effort.progress));
}

std::shared_ptr<const RunawayMemory::Value> RunawayMemory::compute(const Effort& effort) const {
  return std::make_shared<const Value>(runaway(*present(), effort.stop, effort.progress));
}

bool complete(const std::shared_ptr<Computation>& computation, Answers& answers, std::string& problem) {
  if (computation->is_complete()) return false;
  Computation& all = *computation;
  const OfFoundation about = {computation};
  const std::uint64_t before = all.version;
  const auto fits = [&](std::size_t count) { return count == all.tokens.size(); };
  // The newest wish is granted first: what is looked at last is wished for first.
  for (const Form form : {Form::parallel, Form::two_pass, Form::chunkwise, Form::recurrent}) {
    const FormResult& known = all.form(form);
    if (known.is_compared || !known.missing.empty()) continue;
    const auto answer = answers.ask(ComparedForm{about, form}, Urgency::later);
    if (answer.value && !answer.stale) add(all, form, answer.value);
    const bool is_former = answer.stale && known.output().o.size() == 0 && answer.value->missing.empty();
    if (!is_former || !fits(static_cast<std::size_t>(answer.value->output().o.rows()))) continue;
    auto former = std::make_shared<FormResult>(*answer.value);
    former->trace = known.trace;
    former->is_compared = false;
    add(all, form, former);
  }
  if (!all.knows_divergence) {
    const auto answer = answers.ask(RunawayMemory{about}, Urgency::later);
    if (answer.value && (!answer.stale || !all.divergence)) add(all, *answer.value, !answer.stale);
    if (!answer.reason.empty()) add(all, std::optional<Divergence>());
    if (!answer.reason.empty()) problem = answer.reason;
  }
  if (!all.knows_recall) {
    const auto answer = answers.ask(RecallOfTokens{about}, Urgency::later);
    const bool has_former = !all.recalls->tokens.empty();
    const bool is_usable =
        answer.value && (answer.value->tokens.empty() || fits(answer.value->tokens.size()));
    if (is_usable && (!answer.stale || !has_former)) add(all, answer.value, !answer.stale);
    if (!answer.reason.empty()) add(all, std::make_shared<const TokenRecalls>());
    if (!answer.reason.empty()) problem = answer.reason;
  }
  return all.version != before;
}

}  // namespace palimpsest
