#include "core/language/reading.h"

#include <numeric>

#include "core/base/parallel_for.h"
#include "core/base/refuse.h"

namespace palimpsest {

double TextReading::loss() const {
  if (losses.empty()) return 0;
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

std::vector<Index> text_pieces(const Tokenizer& tokenizer, std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse("the text has no words; type some");
  std::vector<Index> ids = {0};
  const std::vector<Index> typed = tokenizer.encode(text);
  ids.insert(ids.end(), typed.begin(), typed.end());
  if (std::ssize(ids) > most_text_tokens)
    refuse("the text has {} tokens; expected at most {}", ids.size(), most_text_tokens);
  return ids;
}

template <class Scalar>
TextReading read(const LanguageModel<Scalar>& model, const std::vector<Index>& ids,
                 const std::vector<Intervention>& interventions, const RunHead& run,
                 KeptProducts<Scalar>* kept, const TextReading* last) {
  TextReading reading{.ids = ids, .heads_of_layer = model.heads()};
  reading.heads.resize(static_cast<std::size_t>(model.layers() * model.heads()));
  const RunHead watched = [&](Index layer, Index head, const HeadInputs& inputs) {
    entry(reading.heads, layer * model.heads() + head) = inputs;
    return run(layer, head, inputs);
  };
  const Matrix<Scalar> logits = model.logits(ids, with(interventions, watched), kept);
  reading.next.resize(ids.size());
  reading.losses.resize(ids.size() - 1);
  const Index known = kept && last ? kept->known_logits : 0;
  parallel_for(logits.rows(), processor_threads(), [&](Index t) {
    const auto i = static_cast<std::size_t>(t);
    const bool is_known = t < known;
    const bool has_same_next =
        is_known && i + 1 < std::min(ids.size(), last->ids.size()) && ids[i + 1] == last->ids[i + 1];
    reading.next[i] = is_known ? last->next[i] : continuations(logits, t, TextReading::told);
    if (i + 1 < ids.size())
      reading.losses[i] = has_same_next ? last->losses[i] : -log_probability(logits, t, ids[i + 1]);
  });
  const Index end = logits.rows() - 1;
  reading.last = Vector<double>::Constant(logits.cols(), log_probability(logits, end, 0) - logits(end, 0));
  reading.last += logits.row(end).transpose().template cast<double>();
  return reading;
}

template <class Scalar>
std::vector<HeadEffect> head_effects(const LanguageModel<Scalar>& model, const std::vector<Index>& ids,
                                     const std::vector<Intervention>& interventions, const RunHead& run,
                                     const std::function<void(double)>& tell, const std::stop_token& stop) {
  KeptProducts<Scalar> kept;  // layers below the one that is changed
  const auto logits_with = [&](const std::vector<Intervention>& all) {
    return model.logits(ids, with(all, run), &kept);
  };
  const TextReading present = read(model, ids, interventions, run, &kept);
  const Index answer = present.answer().piece;
  std::vector<HeadEffect> effects;
  const Index count = model.layers() * model.heads();
  for (Index i = 0; i < count; ++i) {
    HeadEffect effect{.layer = i / model.heads(), .head = i % model.heads()};
    const auto change_by = [&](const char* kind) {
      stop_if_asked(stop);
      std::vector<Intervention> all = interventions;
      all.push_back({kind, effect.layer, effect.head});
      return log_probability(logits_with(all), std::ssize(ids) - 1, answer) - present.last(answer);
    };
    if (erases(present.head(effect.layer, effect.head).rule)) effect.only_adds = change_by("only-add");
    effect.silent = change_by("silent");
    effects.push_back(effect);
    tell(static_cast<double>(i + 1) / static_cast<double>(count));
  }
  return effects;
}

template TextReading read(const LanguageModel<double>&, const std::vector<Index>&,
                          const std::vector<Intervention>&, const RunHead&, KeptProducts<double>*,
                          const TextReading*);
template TextReading read(const LanguageModel<float>&, const std::vector<Index>&,
                          const std::vector<Intervention>&, const RunHead&, KeptProducts<float>*,
                          const TextReading*);
template std::vector<HeadEffect> head_effects(const LanguageModel<double>&, const std::vector<Index>&,
                                              const std::vector<Intervention>&, const RunHead&,
                                              const std::function<void(double)>&, const std::stop_token&);
template std::vector<HeadEffect> head_effects(const LanguageModel<float>&, const std::vector<Index>&,
                                              const std::vector<Intervention>&, const RunHead&,
                                              const std::function<void(double)>&, const std::stop_token&);

}  // namespace palimpsest
