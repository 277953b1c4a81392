#include "app/words/glossary.h"

#include <cctype>

#include "core/base/text.h"

namespace palimpsest {

std::span<const GlossaryEntry> glossary() {
  static constexpr GlossaryEntry table[] = {
      {"token", "A piece of the text, as the model splits it."},
      {"query", "The vector that reads the state.", "q_t",
       "Mamba: C. RWKV: r, receptance. TTT: the test view."},
      {"key", "The vector under which a value is stored.", "k_t",
       "Mamba: B. TTT: the training view of the input."},
      {"value", "The vector to store: the target of the prediction.", "v_t",
       "Mamba-2: Δ x. TTT: the label view of the input."},
      {"output", "What the state returns for the query.", "o_t", "Mamba: y. TTT: z."},
      {"memory", "The everyday name of the state S."},
      {"state", "The matrix S, key channels × value channels, that holds all stored pairs.", "S_t",
       "Mamba, RNNs: h, the hidden state. TTT: W, fast weights. Titans: M. Some papers transpose it."},
      {"decayed state", "The state after the decay, before the token writes.", "\\bar S_t",
       "Gated DeltaNet: αₜ Sₜ₋₁, without a name."},
      {"decay", "The factor by which the state is multiplied at each token.", "\\alpha_t",
       "RetNet: γ, one number. GLA: α, from G. Mamba-2: exp(Δ A). RWKV-7: w. Its logarithm is g."},
      {"fixed decay", "A decay that is the same at every token.", "\\gamma",
       "RetNet: γ, fixed for each head."},
      {"half-life", "The number of tokens after which the decay has halved a stored value."},
      {"write strength", "The share of the error that a write corrects if ‖k‖ = 1.", "\\beta_t",
       "The learning rate of one gradient step: η in TTT, θ in Titans."},
      {"step size", "β‖k‖². At 1 the step removes the error; above 2 it increases the loss."},
      {"prediction", "The value that the state returns for the key before the write.", "\\hat v_t",
       "DeltaNet: v^old."},
      {"error", "The value minus the prediction: e = v − v̂.", "e_t",
       "DeltaNet: v − v^old. The outer product k eᵀ is the negative gradient."},
      {"loss", "The number that the write reduces: ½‖e‖² for the delta rule."},
      {"update", "The matrix that the token adds to the state.", "\\Delta_t",
       "In Mamba the same letter is the time step."},
      {"rank-one update", "An update that is an outer product: a key times a value or an error."},
      {"learning rate", "The factor of the gradient in a step.", "\\eta_t",
       "TTT, LaCT: η. Titans: θₜ; ηₜ is its momentum."},
      {"momentum", "The share of the last step that is added to the next one.", "\\mu"},
      {"query scale", "The factor of the query.", "\\sigma", "Transformers: 1/√d."},
      {"feature map", "A function that is applied to keys and queries first.", "\\phi",
       "Linear Transformer: elu + 1. Performer: random features."},
      {"ridge", "The matrix that is added to keep the solve stable; often a multiple of I.", "\\Lambda",
       "MesaNet: Λ."},
      {"decay since the write", "The share of each token's write that is left at each later token.", "G",
       "RetNet: D. Mamba-2: L. Gated DeltaNet: Γ."},
      {"attention score", "The weight of each token's write in each output of the chunk.", "P",
       "Linear attention: Q Kᵀ ⊙ M."},
      {"overlap of the keys", "The weight of each earlier write in each prediction of the chunk.", "N",
       "DeltaNet: the strictly lower part of K Kᵀ Diag(β); Diag(β) (I + N)⁻¹ is the T of the UT "
       "transform."},
      {"solved error", "The errors that the chunk writes; each includes the effect of the earlier writes.",
       "U", "DeltaNet: U − W S, the pseudo-values, is Diag(β) times this."},
      {"carried-in error", "The values minus what the carried-in state returns.", "R", "DeltaNet: V − K S."},
      {"norm", "‖x‖, the square root of the sum of squares; ‖S‖_F for a matrix."},
      {"head", "One copy of the layer, with queries, keys, values and a state of its own."},
      {"channel", "One component of the keys or of the values."},
      {"chunk", "Consecutive tokens that the chunkwise form computes together."},
      {"clipped", "Outside the colour scale: drawn in its last colour."},
      {"first difference", "The first token at which two forms differ by more than the tolerance."},
      {"tolerance", "The largest difference that counts as rounding."},
      {"fault", "A bug that is injected into one form, to see whether a check detects it."},
      {"baseline", "The side that the others are compared with."},
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

/// The length in bytes of this term or its plural at the start of `text`; 0 if it is not there.
std::size_t length_of(std::string_view term, std::string_view text) {
  const auto in_small = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  const bool has_ies = term == "query";
  for (const auto& [stem, end] :
       {std::pair(term, ""), std::pair(term, "s"),
        std::pair(term.substr(0, term.size() - (has_ies ? 1 : 0)), has_ies ? "ies" : "es")}) {
    const std::string_view ending = end;
    const std::size_t length = stem.size() + ending.size();
    const bool is_it = std::ranges::equal(text.substr(0, stem.size()), stem, {}, in_small) &&
                       text.substr(stem.size()).starts_with(ending);
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
