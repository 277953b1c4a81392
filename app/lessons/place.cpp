#include <charconv>

#include "app/commands/options.h"
#include "app/lessons/lesson.h"
#include "app/session/presets.h"
#include "app/session/typed_text.h"
#include "core/base/refuse.h"

namespace palimpsest {

namespace {

/// The short names of fields of the state that lessons set often.
constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"data", "data"},
    {"rule", "sides.0.variant"},
    {"form", "sides.0.form"},
    {"chunk", "sides.0.chunk_size"},
    {"device", "sides.0.device"},
    {"precision", "sides.0.precision"},
    {"level", "view.level"},
    {"fault", "verify.fault"},
};

/// The field of a state that a path leads to: "view.level", "sides.0.parameters.batch".
Json& field_at(Json& state, std::string_view path) {
  Json* field = &state;
  bool takes_any = false;  // the names of a rule's settings are its own
  while (!path.empty()) {
    const std::string piece(take_until(path, '.'));
    if (field->is_array()) {
      std::size_t index = 0;
      std::from_chars(piece.data(), piece.data() + piece.size(), index);
      if (index >= field->size()) refuse("there is no entry {}", piece);
      field = &(*field)[index];
    } else {
      if (!field->is_object() || (!field->contains(piece) && !takes_any))
        refuse("there is no \"{}\" in a state", shown(piece));
      field = &(*field)[piece];
      takes_any = is_among(piece, {"options", "parameters", "sliders"});
    }
  }
  return *field;
}

/// A value as JSON: true, 3, "7, 14" as a list where there was one, else a text.
Json value_of(const std::string& words, const Json& before) {
  if (before.is_string()) return words;
  if (before.is_array()) {
    Json list = Json::parse("[" + words + "]", nullptr, false);
    if (list.is_discarded())
      refuse("\"{}\" is not a list; expected values with commas between, such as 7, 14", shown(words));
    return list;
  }
  const Json read = Json::parse(words, nullptr, false);
  return read.is_discarded() ? Json(words) : read;
}

/// Puts settings into a state, one after the other.
class PlaceMaker {
 public:
  void set(const LessonSetting& setting) {
    const auto& [key, value, at] = setting;
    if (key == "text" || key == "model" || key == "layer" || key == "head" || key == "do")
      return set_text(key, value);
    if (key == "at") {
      token_ = parse_count(value.substr(0, value.find(':')), "the token of \"at\"");
      at_ = value;
      return;
    }
    if (key == "data") text_.reset();
    const auto found = std::ranges::find(short_names, key, [](const auto& row) { return row.first; });
    Json& field = field_at(state_, found == std::end(short_names) ? std::string_view(key) : found->second);
    field = value_of(value, field);
    Json read = state_;
    read["data"] = "any";
    parse_state(dumped(read, -1));
  }

  /// All that was set, to be compared.
  std::string all() const { return dumped(state_, -1) + (text_ ? text_id(*text_) : "") + '@' + at_; }

  LessonPlace place() {
    if (text_) state_["data"] = text_id(*text_);
    if (state_.at("data").get<std::string>().empty()) refuse("it does not say which text or data are shown");
    LessonPlace place{.state = parse_state(dumped(state_, -1)), .at = at_};
    std::string& data = place.state.data;
    if (preset_of(data)) data = whole_preset_id(data);
    place.state.place.token = token_;
    return place;
  }

 private:
  void set_text(const std::string& key, const std::string& value) {
    if (key == "head" && !text_) {
      state_["head"] = value_of(value, 0);
      return;
    }
    if (!text_) text_ = usual_text();
    if (key == "text") text_->text = value;
    if (key == "model") text_->model = value;
    if (key == "layer") text_->layer = parse_count(value, "layer");
    if (key == "head") text_->head = parse_count(value, "head");
    if (key != "do") return;
    text_->interventions.clear();
    if (value != "nothing") text_->interventions.push_back(parse_intervention(value));
  }

  Json state_ = Json::parse(write_state(SessionState()));
  std::optional<TypedText> text_;
  std::string at_;
  Index token_ = 0;
};

}  // namespace

std::vector<TextPlace> settings_without_effect(const Lesson& lesson) {
  std::vector<TextPlace> found;
  PlaceMaker maker;
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    for (const LessonSetting& setting : lesson.steps[i].settings) {
      const auto before = maker.all();
      naming_place(setting.at, [&] { maker.set(setting); });
      if (i > 0 && maker.all() == before) found.push_back(setting.at);
    }
  }
  return found;
}

LessonPlace place_of(const Lesson& lesson, std::size_t step) {
  PlaceMaker maker;
  for (const LessonStep& each : std::span(lesson.steps).first(step + 1)) {
    for (const LessonSetting& setting : each.settings) naming_place(setting.at, [&] { maker.set(setting); });
  }
  return maker.place();
}

}  // namespace palimpsest
