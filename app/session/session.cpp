#include "app/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "app/session/paths.h"
#include "app/session/presets.h"
#include "core/error.h"

namespace palimpsest {

/// A computation under way. Destroying it asks the thread to stop and waits for that.
struct Session::Job {
  std::promise<std::shared_ptr<Computation>> promise;
  std::future<std::shared_ptr<Computation>> result = promise.get_future();
  std::jthread thread;
};

Session::Session() = default;
Session::~Session() = default;

bool Session::open(const std::filesystem::path& path) try {
  return open(open_file(path));
} catch (const Error& error) {
  message_ = error.what();
  return false;
}

bool Session::open(DataSet data) try {
  Choice choice = choice_;
  if (!data.rule.empty()) {
    choice.variant = find_variant(data.rule).id;
    choice.settings = {};
  }
  choice.adjustments = {};
  choice.head = 0;
  choice.chunk_size = std::clamp<Index>(data.tokens > 1024 ? 64 : 8, 1, data.tokens);
  const std::shared_ptr<Computation> first = compute(data, choice, {});
  job_.reset();
  data_ = std::move(data);
  choice_ = std::move(choice);
  computed_ = first;
  message_.clear();
  wanted_token_ = 0;
  wanted_operation_.clear();
  place_cursor();
  return true;
} catch (const std::exception& error) {
  message_ = error.what();
  return false;
}

void Session::choose(Choice choice) {
  choice.chunk_size = std::clamp<Index>(choice.chunk_size, 1, std::max<Index>(data_.tokens, 1));
  choice.head = std::clamp<Index>(choice.head, 0, data_.heads * data_.batches - 1);
  if (choice.variant != choice_.variant) choice.settings = {};
  const Form old_form = choice_.form;
  const auto same_numbers = [&] {
    const Choice& old = choice_;
    return choice.variant == old.variant && choice.precision == old.precision && choice.chunk_size == old.chunk_size &&
           choice.head == old.head && choice.settings.options == old.settings.options &&
           choice.settings.parameters == old.settings.parameters && choice.adjustments == old.adjustments;
  };
  const bool recompute = !same_numbers();
  choice_ = std::move(choice);
  if (choice_.form != old_form) place_cursor();
  if (recompute) start();
}

void Session::start() {
  job_ = std::make_unique<Job>();
  job_->thread = std::jthread([promise = &job_->promise, data = data_, choice = choice_](std::stop_token stop) {
    try {
      promise->set_value(compute(data, choice, stop));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  });
  // Most sequences are short: then the answer is there in the same frame.
  if (job_->result.wait_for(std::chrono::milliseconds(12)) == std::future_status::ready) update();
}

bool Session::update() {
  if (!job_ || job_->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
  const std::unique_ptr<Job> done = std::move(job_);
  try {
    computed_ = done->result.get();
    message_.clear();
  } catch (const std::exception& error) {
    message_ = error.what();
    if (computed_) {  // back to what is still shown
      const Form form = choice_.form;
      choice_ = computed_->choice;
      choice_.form = form;
    }
    return false;
  }
  place_cursor();
  return true;
}

void Session::wait() {
  while (job_) {
    job_->result.wait();
    update();
  }
}

Trace* Session::trace() { return computed_ ? computed_->form(choice_.form).trace.get() : nullptr; }

void Session::set_cursor(const Cursor& cursor) {
  Trace* current = trace();
  if (!current || current->block_count() == 0) return;
  cursor_.block = std::clamp<Index>(cursor.block, 0, current->block_count() - 1);
  const Block block = current->block(cursor_.block);
  const auto operations = static_cast<Index>(current->phase(block).operations.size());
  cursor_.operation = std::clamp<Index>(cursor.operation, 0, operations - 1);
  cursor_.row = std::clamp<Index>(cursor.row, 0, block.count - 1);
  wanted_token_ = current->token(cursor_);
  wanted_operation_ = current->operation(cursor_).id;
}

/// Finds the token, and if there is one the operation of the same name, in the present trace.
void Session::place_cursor() {
  Trace* current = trace();
  cursor_ = {};
  if (!current || current->block_count() == 0) return;
  const Index token = std::clamp<Index>(wanted_token_, 0, current->tokens - 1);
  const Index block_index = current->block_of(token, 0);
  const Block block = current->block(block_index);
  const std::vector<Operation>& operations = current->phase(block).operations;
  const auto same = std::ranges::find(operations, wanted_operation_, &Operation::id);
  const Index operation = same == operations.end() ? 0 : same - operations.begin();
  set_cursor({block_index, operation, token - block.first_token});
}

Index Session::token() const {
  auto* self = const_cast<Session*>(this);
  const Trace* current = self->trace();
  return current && current->block_count() > 0 ? current->token(cursor_) : 0;
}

bool Session::step(Grain grain, int direction) {
  Trace* current = trace();
  if (!current || current->block_count() == 0) return false;
  const Cursor before = cursor_;
  switch (grain) {
    case Grain::operation: set_cursor(direction > 0 ? current->next(cursor_) : current->previous(cursor_)); break;
    case Grain::token: set_cursor(current->at_token(cursor_, current->token(cursor_) + direction)); break;
    case Grain::chunk: set_cursor(current->at_chunk(cursor_, choice_.chunk_size, direction)); break;
    case Grain::end: set_cursor(direction > 0 ? current->last() : current->first()); break;
  }
  return !(cursor_ == before);
}

void Session::go_to_token(Index token) {
  if (const Trace* current = trace()) set_cursor(current->at_token(cursor_, token));
}

namespace {

template <class Enum, std::size_t size>
Enum by_name(const Enum (&values)[size], const std::string& wanted) {
  for (const Enum value : values) {
    if (wanted == name(value)) return value;
  }
  throw InputError(fmt::format("\"{}\" is neither {} nor {}", wanted, name(values[0]), name(values[size - 1])));
}

}  // namespace

std::string Session::to_json() const {
  const Adjustments& sliders = choice_.adjustments;
  auto* self = const_cast<Session*>(this);
  const Trace* current = self->trace();
  nlohmann::ordered_json json = {
      {"data", data_.id},
      {"variant", choice_.variant},
      {"form", name(choice_.form)},
      {"precision", name(choice_.precision)},
      {"chunk_size", choice_.chunk_size},
      {"head", choice_.head},
      {"options", choice_.settings.options},
      {"parameters", choice_.settings.parameters},
      {"adjustments",
       {{"decay", sliders.decay},
        {"beta", sliders.beta},
        {"key_length", sliders.key_length},
        {"missing_alpha", sliders.missing_alpha},
        {"missing_beta", sliders.missing_beta}}},
      {"token", token()},
      {"operation", current && current->block_count() > 0 ? current->operation(cursor_).id : ""},
      {"block", cursor_.block},
  };
  return json.dump(2);
}

bool Session::from_json(const std::string& text, const std::filesystem::path& folder) try {
  const auto json = nlohmann::json::parse(text);
  DataSet data;
  const std::string id = json.at("data");
  if (id.starts_with("preset:")) {
    data = make_preset(id);
  } else if (id.starts_with("capture:")) {
    data = open_capture(id);
  } else {
    const std::filesystem::path path = id;
    data = open_file(path.is_relative() ? folder / path : path);
  }
  Choice choice;
  choice.variant = find_variant(json.value("variant", choice.variant)).id;
  choice.form = by_name(all_forms, json.value("form", "recurrent"));
  choice.precision = by_name(all_precisions, json.value("precision", "f64"));
  choice.chunk_size = std::clamp<Index>(json.value("chunk_size", Index{8}), 1, data.tokens);
  choice.head = std::clamp<Index>(json.value("head", Index{0}), 0, data.heads * data.batches - 1);
  for (const auto& [key, value] : json.value("options", nlohmann::json::object()).items()) {
    choice.settings.options[key] = value;
  }
  for (const auto& [key, value] : json.value("parameters", nlohmann::json::object()).items()) {
    choice.settings.parameters[key] = value;
  }
  const nlohmann::json sliders = json.value("adjustments", nlohmann::json::object());
  choice.adjustments.decay = sliders.value("decay", 1.0);
  choice.adjustments.beta = sliders.value("beta", 1.0);
  choice.adjustments.key_length = sliders.value("key_length", 1.0);
  choice.adjustments.missing_alpha = sliders.value("missing_alpha", choice.adjustments.missing_alpha);
  choice.adjustments.missing_beta = sliders.value("missing_beta", choice.adjustments.missing_beta);

  const std::shared_ptr<Computation> computed = compute(data, choice, {});
  job_.reset();
  data_ = std::move(data);
  choice_ = std::move(choice);
  computed_ = computed;
  message_.clear();
  wanted_token_ = json.value("token", Index{0});
  wanted_operation_ = json.value("operation", "");
  place_cursor();
  return true;
} catch (const std::exception& error) {
  message_ = fmt::format("this session cannot be opened: {}", error.what());
  return false;
}

}  // namespace palimpsest
