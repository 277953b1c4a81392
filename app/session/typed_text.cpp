#include "app/session/typed_text.h"

#include "app/session/paths.h"
#include "core/base/refuse.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr std::string_view text_prefix = "text:";
constexpr std::size_t most_models = 4;    // that stay read
constexpr std::size_t most_readings = 8;  // of a model: a text is asked for with and without its changes

constexpr ShippedModel models[] = {
    {"delta_net", "DeltaNet: erases, then writes"},
    {"gated_delta_net", "Gated DeltaNet: decays, erases, writes"},
    {"simple_gla", "a decay per head: decays and writes, erases nothing"},
};

const StartingText texts[] = {
    {"a fact, overwritten twice",
     "The red jar holds a coin. The blue jar holds a map. Now the red jar holds a bell. Now the red jar "
     "holds a lamp. What does the red jar hold? The red jar holds a",
     {6, 13, 21, 29}},
    {"overwritten once",
     "The red jar holds a coin. The blue jar holds a map. Now the red jar holds a bell. What does the red "
     "jar hold? The red jar holds a",
     {6, 13, 21}},
    {"nothing overwritten",
     "The red jar holds a coin. The blue jar holds a map. What does the red jar hold? The red jar holds a",
     {6, 13}},
    {"overwritten three times",
     "The red jar holds a coin. The blue jar holds a map. The green jar holds a ring. Now the red jar holds "
     "a bell. Now the red jar holds a lamp. Now the red jar holds a stone. What does the red jar hold? The "
     "red "
     "jar holds a",
     {6, 13, 20, 28, 36, 44}},
    {"who lives where",
     "Anna lives in Paris. Ben lives in Rome. Clara lives in Oslo. Where does Ben live? Ben lives in",
     {}},
    {"numbers of doors",
     "The number of the red door is seven. The number of the blue door is four. Which number is on the red "
     "door? The number of the red door is",
     {}},
    {"made-up names", "Zorvath Quillon met Dorbel Tavin. Zorvath Quillon spoke first, and Dorbel", {}},
    {"a paragraph",
     "And it came to pass in those days, that there went out a decree that all the world should be numbered. "
     "And all went to be numbered, every one into his own",
     {}},
};

RunHead as_trained() { return run_as_trained({Form::recurrent, Precision::f32}); }

}  // namespace

Intervention targeted(const TypedText& typed, TextTarget target, std::string kind) {
  Intervention change{.kind = std::move(kind)};
  if (target != TextTarget::all) change.layer = typed.layer;
  if (target == TextTarget::head) change.head = typed.head;
  return change;
}

const Intervention* find_intervention(const TypedText& typed, const Intervention& wanted) {
  const auto is_wanted = [&](const Intervention& each) {
    return each.kind == wanted.kind && each.layer == wanted.layer && each.head == wanted.head;
  };
  const auto found = std::ranges::find_if(typed.interventions, is_wanted);
  return found == typed.interventions.end() ? nullptr : &*found;
}

void put(TypedText& typed, const Intervention& change, bool is_made) {
  if (const Intervention* const present = find_intervention(typed, change))
    typed.interventions.erase(typed.interventions.begin() + (present - typed.interventions.data()));
  if (is_made) typed.interventions.push_back(change);
}

std::string in_words(const Intervention& intervention) {
  const std::string place = !intervention.layer ? "all layers"
                            : intervention.head
                                ? fmt::format("head {}.{}", *intervention.layer, *intervention.head)
                                : fmt::format("layer {}", *intervention.layer);
  return fmt::format("{}: {}{}", place, kind_of(intervention).done,
                     intervention.value.empty() ? "" : " " + intervention.value);
}

std::string text_id(const TypedText& typed) {
  std::string id =
      fmt::format("{}{}?layer={}&head={}", text_prefix, escaped(typed.model), typed.layer, typed.head);
  for (const Intervention& each : typed.interventions) id += "&do=" + escaped(to_string(each));
  return id + "&say=" + escaped(typed.text);
}

bool is_text_id(std::string_view id) { return id.starts_with(text_prefix); }

TypedText typed_text(std::string_view id) {
  if (!is_text_id(id))
    refuse("\"{}\" is no typed text; expected {}MODEL?layer=0&head=0&say=TEXT", shown(id), text_prefix);
  std::string_view rest = id.substr(text_prefix.size());
  TypedText typed{.model = unescaped(take_until(rest, '?'))};
  while (!rest.empty()) {
    std::string_view value = take_until(rest, '&');
    const std::string_view name = take_until(value, '=');
    if (name == "layer")
      typed.layer = parse_count(value, "layer");
    else if (name == "head")
      typed.head = parse_count(value, "head");
    else if (name == "do")
      typed.interventions.push_back(parse_intervention(unescaped(value)));
    else if (name == "say")
      typed.text = unescaped(value);
    else
      refuse("\"{}\" is not a field of a typed text; known: layer, head, do, say", shown(name));
  }
  return typed;
}

std::span<const ShippedModel> shipped_models() { return models; }

std::filesystem::path model_file(const std::string& name) {
  if (name.find_first_of("/.\\") != std::string::npos) return name;
  find_row(models, name, &ShippedModel::name,
           fmt::format("there is no model \"{}\"; give a file of weights, or one of", shown(name)));
  return asset("models/" + name + ".npz");
}

SmallModel::SmallModel(const std::string& name)
    : weights(model_file(name)), tokenizer(model_file(name).parent_path() / "tokenizer.json") {
  require_same_pieces(tokenizer, weights.pieces());
}

std::shared_ptr<const SmallModel> SmallModel::load(const std::string& name) {
  struct Loaded {
    std::filesystem::file_time_type written;
    std::shared_ptr<const SmallModel> model;
  };
  static std::mutex mutex;
  static std::map<std::string, Loaded> all;
  std::error_code unreadable;
  const auto written = std::filesystem::last_write_time(model_file(name), unreadable);
  const std::scoped_lock lock(mutex);
  const auto found = all.find(name);
  if (found != all.end() && found->second.written == written) return found->second.model;
  const auto model = std::make_shared<const SmallModel>(name);
  if (all.size() >= most_models) all.clear();
  all[name] = {written, model};
  return model;
}

double SmallModel::usual_loss() const {
  std::call_once(is_asked_, [&] { usual_loss_ = read(texts[0].text, {})->loss(); });
  return usual_loss_;
}

std::shared_ptr<const TextReading> SmallModel::read(const std::string& text,
                                                    const std::vector<Intervention>& interventions) const {
  const auto is_same = [&](const LastReading& last) {
    return last.text == text && last.interventions == interventions;
  };
  const bool may_change = is_among("start", interventions, &Intervention::kind);
  Kept kept;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(last_, is_same);
    if (found != last_.end() && !may_change) return found->reading;
    std::swap(kept, interventions.empty() ? kept_trained_ : kept_changed_);
  }
  const auto made = std::make_shared<const TextReading>(
      palimpsest::read(weights, text_pieces(tokenizer, text), interventions, as_trained(), &kept.products,
                       kept.reading.get()));
  kept.reading = made;
  const std::scoped_lock lock(mutex_);
  std::swap(kept, interventions.empty() ? kept_trained_ : kept_changed_);
  last_.push_back({text, interventions, made});
  if (last_.size() > most_readings) last_.pop_front();
  return made;
}

std::string ReadText::piece(Index id) const { return valid_utf8(model->tokenizer.piece(id)); }

std::string ReadText::quoted(Index id) const { return fmt::format("“{}”", word_text(piece(id))); }

std::shared_ptr<const ReadText> read_text(const std::string& id) {
  ReadText text;
  text.typed = typed_text(id);
  const TypedText& typed = text.typed;
  text.model = SmallModel::load(typed.model);
  const LanguageModel<float>& weights = text.model->weights;
  require_place(typed.layer, typed.head, weights.layers(), weights.heads());
  for (const Intervention& each : typed.interventions) require_place(each, weights.layers(), weights.heads());
  text.said = text.model->read(typed.text, typed.interventions);
  text.trained = typed.interventions.empty() ? text.said : text.model->read(typed.text, {});
  text.usual_loss = text.model->usual_loss();
  return std::make_shared<const ReadText>(std::move(text));
}

DataSet make_text_data(const std::string& id) {
  const auto text = read_text(id);
  const TypedText& typed = text->typed;
  const HeadInputs& head = text->said->head(typed.layer, typed.head);
  DataSet data;
  data.id = text_id(typed);
  data.rule = head.rule;
  data.title = "typed text";
  data.text = typed.text;
  data.source = fmt::format("the model {}, run here on this text", typed.model);
  data.arrays = head.arrays;
  for (const Index piece : text->said->ids) data.labels.push_back(text->piece(piece));
  for (const auto& [parameter, value] : head.settings.parameters)
    data.arrays[parameter] = Array({}, std::vector<double>{value});
  data.read = text;
  measure(data);
  return data;
}

std::span<const StartingText> starting_texts() { return texts; }

TypedText usual_text() { return {.text = texts[0].text, .layer = 2, .head = 2}; }

std::vector<Index> facts_of(const TypedText& typed) {
  const StartingText* const start = row_called(texts, typed.text, &StartingText::text);
  return start ? start->facts : std::vector<Index>();
}

std::string answer_in_words(const ReadText& text) {
  const std::string now = text.quoted(text.said->answer().piece);
  const std::string before = text.quoted(text.trained->answer().piece);
  // Likelier than all others together, in a text that is no surprise to the model.
  const bool is_sure = text.said->answer().probability >= 0.5 && !is_surprised(text);
  return fmt::format("{} {}{} {}", is_sure ? "answers" : "guesses", before == now ? "" : before + " → ", now,
                     fixed_number(text.said->answer().probability, 2));
}

bool is_surprised(const ReadText& text) { return text.said->loss() > 2 * text.usual_loss; }

Found<std::vector<HeadEffect>> HeadEffects::compute(const ReadText& text, const Effort& effort) const {
  return head_effects(
      text.model->weights, text.said->ids, text.typed.interventions, as_trained(),
      [&](double share) { effort.tell(share); }, effort.stop);
}

Found<AnswersAtPlace> TextAnswers::compute(const ReadText& text, const Effort& effort) const {
  const std::string id = text_id(is_changed ? text.typed : text.typed.as_trained());
  const auto data = std::make_shared<const DataSet>(make_text_data(id));
  Choice choice;
  choice.variant = data->rule;
  const auto computation = begin(data, choice, effort.stop);
  if (!computation->recurrence)
    throw Unsupported(fmt::format("{} has no memory to query", computation->variant->label));
  return find_out(MemoryAnswers{.of = computation,
                                .form = Form::recurrent,
                                .cursor = computation->recurrence->at_token({}, token),
                                .words = words},
                  effort);
}

Found<std::vector<ExperimentRow>> TriedTexts::compute(const Effort& effort) const {
  const auto asked = SmallModel::load(model);
  Experiment experiment;
  for (const std::string& each : interventions) experiment.interventions.push_back(parse_intervention(each));
  return try_texts(
      experiment, asked->weights, asked->tokenizer, as_trained(), [&](double share) { effort.tell(share); },
      effort.stop);
}

}  // namespace palimpsest
