#include "app/words/glossary.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace palimpsest {

std::span<const GlossaryEntry> glossary() {
  static constexpr GlossaryEntry table[] = {
      {.term = "token", .sentence = "A piece of the text, as the model splits it."},
      {.term = "query",
       .sentence = "The vector that reads the state.",
       .latex = "q_t",
       .papers = "Mamba: C. RWKV: r, receptance. TTT: the test view."},
      {.term = "key",
       .sentence = "The vector under which a value is stored.",
       .latex = "k_t",
       .papers = "Mamba: B. TTT: the training view of the input."},
      {.term = "value",
       .sentence = "The vector to store: the target of the prediction.",
       .latex = "v_t",
       .papers = "Mamba-2: Δ x. TTT: the label view of the input."},
      {.term = "output",
       .sentence = "What the state returns for the query.",
       .latex = "o_t",
       .papers = "Mamba: y. TTT: z."},
      {.term = "memory", .sentence = "The everyday name of the state S."},
      {.term = "state",
       .sentence = "The matrix S, key channels × value channels, that holds all stored pairs.",
       .latex = "S_t",
       .papers =
           "Mamba, RNNs: h, the hidden state. TTT: W, fast weights. Titans: M. Some papers transpose it."},
      {.term = "decayed state",
       .sentence = "The state after the decay, before the token writes.",
       .latex = "\\bar S_t",
       .papers = "Gated DeltaNet: αₜ Sₜ₋₁, without a name."},
      {.term = "decay",
       .sentence = "The factor by which the state is multiplied at each token.",
       .latex = "\\alpha_t",
       .papers = "RetNet: γ, one number. GLA: α, from G. Mamba-2: exp(Δ A). RWKV-7: w. Its logarithm is g."},
      {.term = "fixed decay",
       .sentence = "A decay that is the same at every token.",
       .latex = "\\gamma",
       .papers = "RetNet: γ, fixed for each head."},
      {.term = "half-life",
       .sentence = "The number of tokens after which the decay has halved a stored value."},
      {.term = "write strength",
       .sentence = "The share of the error that a write corrects if ‖k‖ = 1.",
       .latex = "\\beta_t",
       .papers = "The learning rate of one gradient step: η in TTT, θ in Titans."},
      {.term = "step size",
       .sentence = "β‖k‖². At 1 the step removes the error; above 2 it increases the loss."},
      {.term = "prediction",
       .sentence = "The value that the state returns for the key before the write.",
       .latex = "\\hat v_t",
       .papers = "DeltaNet: v^old."},
      {.term = "error",
       .sentence = "The value minus the prediction: e = v − v̂.",
       .latex = "e_t",
       .papers = "DeltaNet: v − v^old. The outer product k eᵀ is the negative gradient."},
      {.term = "loss", .sentence = "The number that the write reduces: ½‖e‖² for the delta rule."},
      {.term = "update",
       .sentence = "The matrix that the token adds to the state.",
       .latex = "\\Delta_t",
       .papers = "In Mamba the same letter is the time step."},
      {.term = "rank-one update",
       .sentence = "An update that is an outer product: a key times a value or an error."},
      {.term = "learning rate",
       .sentence = "The factor of the gradient in a step.",
       .latex = "\\eta_t",
       .papers = "TTT, LaCT: η. Titans: θₜ; ηₜ is its momentum."},
      {.term = "momentum",
       .sentence = "The share of the last step that is added to the next one.",
       .latex = "\\mu"},
      {.term = "query scale",
       .sentence = "The factor of the query.",
       .latex = "\\sigma",
       .papers = "Transformers: 1/√d."},
      {.term = "feature map",
       .sentence = "A function that is applied to keys and queries first.",
       .latex = "\\phi",
       .papers = "Linear Transformer: elu + 1. Performer: random features."},
      {.term = "ridge",
       .sentence = "The matrix that is added to keep the solve stable; often a multiple of I.",
       .latex = "\\Lambda",
       .papers = "MesaNet: Λ."},
      {.term = "decay since the write",
       .sentence = "The share of each token's write that is left at each later token.",
       .latex = "G",
       .papers = "RetNet: D. Mamba-2: L. Gated DeltaNet: Γ."},
      {.term = "attention score",
       .sentence = "The weight of each token's write in each output of the chunk.",
       .latex = "P",
       .papers = "Linear attention: Q Kᵀ ⊙ M."},
      {.term = "overlap of the keys",
       .sentence = "The weight of each earlier write in each prediction of the chunk.",
       .latex = "N",
       .papers = "DeltaNet: the strictly lower part of K Kᵀ Diag(β); Diag(β) (I + N)⁻¹ is the T of the UT "
                 "transform."},
      {.term = "solved error",
       .sentence = "The errors that the chunk writes; each includes the effect of the earlier writes.",
       .latex = "U",
       .papers = "DeltaNet: U − W S, the pseudo-values, is Diag(β) times this."},
      {.term = "carried-in error",
       .sentence = "The values minus what the carried-in state returns.",
       .latex = "R",
       .papers = "DeltaNet: V − K S."},
      {.term = "norm", .sentence = "‖x‖, the square root of the sum of squares; ‖S‖_F for a matrix."},
      {.term = "head",
       .sentence = "One copy of the layer, with queries, keys, values and a state of its own."},
      {.term = "channel", .sentence = "One component of the keys or of the values."},
      {.term = "chunk", .sentence = "Consecutive tokens that the chunkwise form computes together."},
      {.term = "clipped", .sentence = "Outside the colour scale: drawn in its last colour."},
      {.term = "first difference",
       .sentence = "The first token at which two forms differ by more than the tolerance."},
      {.term = "tolerance", .sentence = "The largest difference that counts as rounding."},
      {.term = "fault",
       .sentence = "A bug that is injected into one form, to see whether a check detects it."},
      {.term = "baseline", .sentence = "The side that the others are compared with."},
  };
  return table;
}

std::string in_full(const GlossaryEntry& entry) {
  return fmt::format("{}: {}", entry.term, with_small_letter(std::string(entry.sentence)));
}

namespace {

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

/// Whether `text` begins with `letters` (lower case), ignoring case.
bool begins_with(std::string_view text, std::string_view letters) {
  return text.size() >= letters.size() &&
         std::ranges::equal(text.substr(0, letters.size()), letters, {}, [](char c) {
           return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

/// The length in bytes of this term or its plural at the start of `text`; 0 if it is not there.
std::size_t length_of(std::string_view term, std::string_view text) {
  const bool has_ies = term == "query";
  for (const auto& [stem, end] :
       {std::pair(term, ""), std::pair(term, "s"),
        std::pair(term.substr(0, term.size() - (has_ies ? 1 : 0)), has_ies ? "ies" : "es")}) {
    const std::string_view ending = end;
    const std::size_t length = stem.size() + ending.size();
    const bool is_it = begins_with(text, stem) && text.substr(stem.size()).starts_with(ending);
    if (is_it && (text.size() == length || !is_letter(text[length]))) return length;
  }
  return 0;
}

}  // namespace

FoundTerm first_term(std::string_view text) {
  constexpr std::string_view opening = "“";
  constexpr std::string_view closing = "”";
  std::size_t at = 0;
  // A line may begin inside a quote.
  if (const std::size_t closed = text.find(closing); closed < text.find(opening)) at = closed;
  for (bool is_inside = false; at < text.size(); is_inside = is_letter(text[at]), ++at) {
    if (text.substr(at).starts_with(opening)) at = std::min(text.find(closing, at), text.size() - 1);
    if (is_inside) continue;
    FoundTerm found;
    for (const GlossaryEntry& entry : glossary()) {
      const std::size_t length = length_of(entry.term, text.substr(at));
      if (length > found.end - found.begin) found = {&entry, at, at + length};
    }
    if (found.entry) return found;
  }
  return {};
}

}  // namespace palimpsest
