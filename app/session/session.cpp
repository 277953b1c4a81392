#include "app/session/session.h"

#include <fmt/format.h>

#include "app/session/compared_sides.h"
#include "app/session/first_place.h"
#include "app/session/presets.h"
#include "app/session/typed_text.h"
#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

constexpr std::size_t most_kept = 8;  // data sets made in memory
constexpr double noticed_wait = 0.3;  // seconds: what takes longer is said

constexpr Index usual_chunk(Index tokens) { return tokens > 1024 ? 64 : 8; }

/// The initial choice for data: their own rule or one that fits, without edits.
Choice first_choice(Choice choice, const DataSet& data) {
  if (!data.rule.empty()) {
    choice.variant =
        naming_input(data.id + ": the rule in its meta", [&] { return find_variant(data.rule).id; });
    choice.settings = {};
  } else if (!data.fits.empty() && data.fits != choice.variant) {
    choice.variant = data.fits;
    choice.settings = {};
  }
  choice.edits = {};
  choice.fault = {};
  choice.chunk_size = std::min(usual_chunk(data.tokens), largest_chunk(data.tokens));
  choice.head = opening_head(data, choice);
  return choice;
}

/// Those of `words` that are in the common beginning of old and new data.
std::vector<Index> words_left(std::vector<Index> words, const DataSet& before, const DataSet& now) {
  const auto same = std::ranges::mismatch(before.labels, now.labels).in1 - before.labels.begin();
  std::erase_if(words, [&](Index token) { return token >= same; });
  return words;
}

/// `state` with what these data do not have brought into range: their file may have been read again since,
/// with fewer heads and tokens.
SessionState fitted(SessionState state, const DataSet& data) {
  Index& chunk_size = state.sides.front().chunk_size;
  chunk_size = std::clamp<Index>(chunk_size, 1, largest_chunk(data.tokens));
  state.head = std::clamp<Index>(state.head, 0, data.heads * data.batches - 1);
  const auto is_beyond = [&](Index token) { return token >= data.tokens; };
  std::erase_if(state.words, is_beyond);
  if (std::ranges::any_of(state.repeated, is_beyond)) state.repeated.clear();
  return state;
}

/// The block of a tile of the tokens whose first block is `first`; nothing where there are fewer tiles.
std::optional<Index> tile_of(const Trace& trace, Index first, Index tile) {
  if (tile >= trace.block_count() - first) return std::nullopt;
  const Block block = trace.block(first + tile);
  const Block front = trace.block(first);
  const bool is_tile = block.phase == front.phase && block.first_token == front.first_token;
  return is_tile ? std::optional(first + tile) : std::nullopt;
}

/// Refuses a place that the computation does not have.
void require_place(const Computation& computation, const Place& place) {
  const Index tokens = computation.sequence.tokens;
  if (place.token >= tokens)
    refuse("\"token\" is {}; expected a token of these data, 0 to {}", place.token, tokens - 1);
  const Choice& choice = computation.choice;
  const Trace* trace = computation.form(choice.form).trace;
  if (!trace || trace->block_count() == 0) return;  // there is no such form to look at
  const auto phases = static_cast<Index>(trace->phases.size());
  if (place.phase >= phases)
    refuse("\"phase\" is {}; expected a phase of this form, 0 to {}", place.phase, phases - 1);
  if (!place.operation.empty())
    find_row(entry(trace->phases, place.phase).operations, place.operation, &Operation::id,
             fmt::format("\"operation\" is \"{}\"; expected one of", shown(place.operation)));
  if (!tile_of(*trace, trace->block_of(place.token, place.phase), place.tile))
    refuse("\"tile\" is {}, but this token has fewer tiles", place.tile);
}

}  // namespace

/// What a wish comes to.
struct Session::Begun {
  std::shared_ptr<Computation> computation;
  Place place;
  std::vector<Index> words = {};  // that the memory goes on being asked about
};

/// Data and a choice that are to be shown.
struct Session::Wish {
  bool opens_data = true;
  std::string asked = {};                  // the id of the data that are opened
  std::string saved_in = {};               // the file of a saved place, which every problem names
  std::optional<SessionState> state = {};  // what is gone to, if that is more than data
  bool is_entry = true;                    // of the history, where data are opened,
  std::string merge_key = {};              // and what it is one with
  std::function<Begun(const std::stop_token&)> begin = {};  // runs in another thread
};

/// The question that brings it: asked until it is there, then forgotten.
struct Session::ToShow {
  std::shared_ptr<const Wish> wish;

  auto operator<=>(const ToShow&) const = default;
  Found<Begun> compute(const Effort& effort) const { return wish->begin(effort.stop); }
};

/// Asks every device once whether it can be used: a driver takes up to seconds to start, and then remembers.
struct Session::DevicesAsked {
  Devices devices;

  bool operator<(const DevicesAsked& other) const {
    return std::less<>()(devices.data(), other.devices.data());
  }
  Found<bool> compute(const Effort&) const {
    for (const Backend* device : devices) unavailable(*device);
    return true;
  }
};

std::string Session::why_not_on(const Backend& device, Form form, const Foundation* foundation) const {
  if (!is_cpu(device) && !knows_devices_) return "it is being looked for";
  return foundation ? palimpsest::why_not_on(device, *foundation, form) : unavailable(device);
}

const DataSet& Session::data() const {
  static const DataSet empty;
  return computed_ ? *computed_->data : empty;
}

bool Session::open(DataSet new_data, const std::optional<Place>& place) {
  const auto data = std::make_shared<const DataSet>(std::move(new_data));
  std::error_code unreadable;
  if (!is_found_by_name(data->id) && !std::filesystem::exists(path_in_id(data->id), unreadable)) {
    std::erase_if(kept_, [&](const auto& kept) { return kept->id == data->id; });
    kept_.push_back(data);
    if (kept_.size() > most_kept) kept_.pop_front();
  }
  return start_opening({.begin = [data, place, choice = choice(), devices = devices_](const auto& stop) {
    const auto computation = palimpsest::begin(data, first_choice(choice, *data), stop, {}, devices);
    return Begun{computation, place ? *place : first_place(*computation, stop)};
  }});
}

bool Session::open_named(const std::string& id, std::optional<Index> head) {
  return start_opening(
      {.asked = id, .begin = [id, head, choice = choice(), devices = devices_](const auto& stop) {
         const auto data = std::make_shared<const DataSet>(open_data(id));
         Choice first = first_choice(choice, *data);
         first.head = head.value_or(first.head);
         const auto computation = palimpsest::begin(data, first, stop, {}, devices);
         return Begun{computation, first_place(*computation, stop),
                      data->read ? facts_of(data->read->typed) : std::vector<Index>()};
       }});
}

bool Session::read(const TypedText& typed, std::string_view merge_key) {
  const auto before = computed_ && data().read ? computed_->data : nullptr;
  const bool has_own_rule = data().rule.empty() || choice().variant == data().rule;
  const bool is_at_end = !before || token() == before->tokens - 1;
  Place place = before ? state_.place : Place();
  place.tile = 0;
  const std::string id = text_id(typed);
  const auto begin = [=, choice = choice(), words = state_.words, devices = devices_](const auto& stop) {
    const auto data = std::make_shared<const DataSet>(open_data(id));
    Choice next = first_choice(choice, *data);
    if (!has_own_rule) {
      next.variant = choice.variant;
      next.settings = choice.settings;
    }
    Begun begun = {palimpsest::begin(data, next, stop, {}, devices), place};
    if (is_at_end) begun.place.token = data->tokens - 1;
    if (before) begun.words = words_left(words, *before, *data);
    return begun;
  };
  return start_opening({.asked = id, .merge_key = std::string(merge_key), .begin = begin});
}

bool Session::from_string(const std::string& text) {
  return open_place("this state cannot be opened", [&] { return parse_state_string(text); });
}

bool Session::open_saved(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_text_file(file, most_session_bytes);
  } catch (const Error& error) {  // it names the file
    set_message(error.what());
    return false;
  }
  return open_place(file.string(), [&] { return parse_state(text, file.parent_path()); });
}

bool Session::open_place(const std::string& name, const std::function<SessionState()>& read) {
  SessionState saved;
  try {
    saved = read();
  } catch (const Error& error) {
    set_message(fmt::format("{}: {}", name, error.what()));
    return false;
  }
  return open_state({.saved_in = name, .state = std::move(saved)});
}

bool Session::open_state(Wish wish) {
  const SessionState& state = *wish.state;
  const auto found = std::ranges::find(kept_, state.data, [](const auto& kept) { return kept->id; });
  std::shared_ptr<const DataSet> kept = found == kept_.end() ? nullptr : *found;
  wish.asked = state.data;
  wish.begin = [state, kept, is_saved = !wish.saved_in.empty(), devices = devices_](const auto& stop) {
    const auto data = kept ? kept : std::make_shared<const DataSet>(open_data(state.data));
    Choice choice = state.choice();
    choice.chunk_size = std::min(choice.chunk_size, largest_chunk(data->tokens));  // changes no result
    require_head(*data, choice.head);
    for (const auto& [field, tokens] : {std::pair("words", &state.words), {"repeated", &state.repeated}}) {
      if (tokens->empty() || tokens->back() < data->tokens) continue;
      refuse("\"{}\" holds {}; expected tokens of these data, 0 to {}", field, tokens->back(),
             data->tokens - 1);
    }
    const Begun begun = {palimpsest::begin(data, choice, stop, {}, devices), state.place};
    if (is_saved) require_place(*begun.computation, begun.place);
    return begun;
  };
  return start_opening(std::move(wish));
}

SessionState Session::saved_state() const {
  SessionState saved = state_;
  // While another choice is under way, the operation is one of a form that will not be there.
  const bool is_here = trace() && same_numbers(computed_->choice, choice());
  if (!is_here) saved.place = {.token = state_.place.token};
  return saved;
}

std::string Session::to_json() const { return write_state(saved_state()); }

std::string Session::to_string() const { return state_string(saved_state()); }

bool Session::is_opening() const { return asked_ && asked_->opens_data; }

bool Session::start_opening(Wish wish) {
  before_opening_ = state_;
  clear_message();
  left_device_.clear();
  start(std::move(wish));
  fetch();
  return message_.empty();
}

void Session::change(SessionState next, std::string_view merge_key) {
  if (next.data != state_.data) {
    open_state({.state = std::move(next)});
    return;
  }
  if (!computed_ || is_opening()) {  // the new data will be computed with it
    state_ = std::move(next);
    place_cursor();
    return;
  }
  next = fitted(std::move(next), data());
  Side& side = next.sides.front();
  const Side& present = state_.sides.front();
  if (side.variant != present.variant && side.settings == present.settings)
    side.settings = {};                                     // they belong to the old variant
  if (side.device != present.device) left_device_.clear();  // it is tried again, or not wanted any more
  history_.look_at(state_.place);
  history_.change(next, merge_key);
  adopt(std::move(next));
}

void Session::choose(Choice choice, std::string_view merge_key) {
  SessionState next = state_;
  next.set_choice(std::move(choice));
  change(std::move(next), merge_key);
}

/// Takes over a state of the data that are open, and computes what is new in it.
void Session::adopt(SessionState next, bool always_compute) {
  const bool recompute = always_compute || !same_numbers(next.choice(), choice());
  const bool is_faulty = !next.verify.fault.id.empty() || computed_->right;
  state_ = std::move(next);
  place_cursor();
  if (!recompute) return;
  clear_message();
  start({.opens_data = false,
         .begin = [data = computed_->data, choice = choice(), place = state_.place,
                   earlier = is_faulty ? as_earlier(computed_) : Earlier(),
                   devices = devices_](const auto& stop) {
           return Begun{palimpsest::begin(data, choice, stop, earlier, devices), place};
         }});
  fetch();
}

bool Session::can_undo() const {
  return computed_ && (history_.can_undo() || (is_opening() && asked_->is_entry));
}

bool Session::undo() {
  if (!can_undo()) return false;
  const bool is_given_up = is_opening() && asked_->is_entry;
  if (!is_opening()) history_.look_at(state_.place);
  go_to(is_given_up ? history_.present() : history_.undo());
  return true;
}

bool Session::redo() {
  if (!can_redo()) return false;
  if (!is_opening()) history_.look_at(state_.place);
  go_to(history_.redo());
  return true;
}

void Session::start_history() { history_ = History(state_); }

/// Goes to an entry of the history.
void Session::go_to(SessionState state) {
  state = with_looks_of(std::move(state), state_);
  if (state.data == data().id) {
    const bool gives_up = is_opening();  // what it has stopped is computed again
    state = fitted(std::move(state), data());
    state.place = state_.place;
    history_.fall_back(state);
    adopt(std::move(state), gives_up);
    return;
  }
  open_state({.state = std::move(state), .is_entry = false});
}

/// A choice that is nearly computed is still waited for: while a slider is dragged, pictures follow.
void Session::start(Wish wish) {
  const auto wanted = std::make_shared<const Wish>(std::move(wish));
  const bool is_waited_for =
      asked_ && !asked_->opens_data && !wanted->opens_data && asked_seconds_ < nearly_there;
  if (is_waited_for) {
    next_ = wanted;
    return;
  }
  if (asked_) questions_.forget(ToShow{asked_});  // it may be there, but not fetched
  asked_ = wanted;
  next_ = nullptr;
  asked_seconds_ = 0;
}

/// Who looked at a result until now holds it; the last one must not be a drawing that has to free it.
void Session::let_go_of_replaced() {
  std::erase_if(replaced_, [this](std::shared_ptr<Computation>& replaced) {
    if (replaced.use_count() > 1) return false;
    questions_.let_go(std::move(replaced));
    return true;
  });
}

bool Session::update() {
  let_go_of_replaced();
  questions_.frame();
  const bool is_new = fetch_all();
  if (computed_ && computed_->is_complete()) {
    for (const Form form : all_forms)
      if (computed_->form(form).trace) questions_.ask(KeptStates{computed_, form}, Urgency::ahead);
  }
  return is_new;
}

void Session::wait() {
  let_go_of_replaced();
  for (fetch_all(); questions_.busy(); fetch_all()) {
    questions_.wait();
    questions_.frame();
  }
  questions_.wait();
}

void Session::wait_for_choice() {
  for (fetch(); asked_; fetch()) questions_.wait_for(ToShow{asked_});
}

void Session::wait_for_place() {
  wait_for_choice();
  for (look(); lookout_.is_stale(); look()) lookout_.wait(questions_);
}

/// Takes over all that is there, and asks for what is not.
bool Session::fetch_all() {
  bool is_new = fetch();
  if (!knows_devices_)
    knows_devices_ = questions_.ask(DevicesAsked{devices_}, Urgency::later).value != nullptr;
  std::string problem;
  if (computed_ && complete(computed_, questions_, problem)) {
    is_new = true;
    place_cursor();  // a form may have turned out not to exist
  }
  if (!problem.empty()) set_message(problem);
  look();
  leave_failed_device();
  return is_new;
}

/// What a device cannot compute, or no longer, the CPU goes on with: what is looked at stays. Other forms
/// that it lacks say so where they are chosen.
void Session::leave_failed_device() {
  if (!computed_ || asked_) return;
  std::string reason = left_to_cpu(*computed_, form());
  const bool has_no_record = !lookout_.is_stale() && !sight().record && sight().computation == computed_;
  if (const std::string& words = lookout_.awaited().reason; !is_cpu(*computed_->device) && reason.empty() &&
                                                            has_no_record && !words.empty() &&
                                                            words != was_stopped)
    reason = fmt::format("{}: {}", computed_->device->name(), words);
  if (reason.empty()) return;
  SessionState next = state_;
  const std::string words = leave_to_cpu(reason, next.sides.front().device, next.sides.front().precision);
  history_.fall_back(next);
  adopt(std::move(next));
  left_device_ = words;
}

std::optional<Session::Waiting> Session::waiting() const {
  if (asked_ && asked_seconds_ > noticed_wait) {
    const bool opens = asked_->opens_data;
    return Waiting{opens ? "opening data" : "computing " + choice().variant, asked_seconds_, asked_progress_};
  }
  const Known<Record>& record = lookout_.awaited();
  if (!lookout_.is_stale() || record.seconds < noticed_wait) return std::nullopt;
  return Waiting{"computing this step", record.seconds, record.progress};
}

void Session::stop() {
  if (asked_) {
    questions_.forget(ToShow{asked_});
    next_ = nullptr;
    fail(*std::exchange(asked_, nullptr), {});
  } else if (lookout_.is_stale()) {
    const Sight seen = sight();
    if (seen.record && seen.computation == computed_) {
      state_.sides.front().form = seen.trace->form;
      history_.fall_back(state_);
      set_cursor(seen.cursor);
      look();  // the other place is no longer needed
    } else {
      lookout_.give_up(questions_);
    }
  }
}

void Session::look() {
  const auto steps = trace() ? computed_->trace(form()) : nullptr;
  lookout_.look({.computation = computed_, .trace = steps, .cursor = cursor_}, questions_);
}

bool Session::fetch() {
  bool is_new = false;
  while (asked_) {
    const Known<Begun> known = questions_.ask(ToShow{asked_});
    asked_seconds_ = known.seconds;
    asked_progress_ = known.progress;
    if (known.under_way) break;
    questions_.forget(ToShow{asked_});
    const std::shared_ptr<const Wish> wish = std::exchange(asked_, std::exchange(next_, nullptr));
    asked_seconds_ = 0;
    is_new = is_new || known.value;
    if (known.value)
      accept(*wish, *known.value);
    else if (!asked_)
      fail(*wish,
           wish->saved_in.empty() ? known.reason : fmt::format("{}: {}", wish->saved_in, known.reason));
    leave_failed_device();
  }
  return is_new;
}

void Session::accept(const Wish& wish, const Begun& begun) {
  if (computed_) replaced_.push_back(std::move(computed_));
  computed_ = begun.computation;
  std::erase(replaced_, computed_);  // without its fault it is the one before: twice there, it would stay
  if (!wish.opens_data) {
    place_cursor();
    return;
  }
  questions_.forget_all<ComputedSide>();  // each holds the data that it is of, so they would stay
  const bool is_first = before_opening_.data.empty();
  const SessionState asked = std::exchange(state_, wish.state.value_or(before_opening_));
  if (!wish.state) {
    state_ = without_words(std::move(state_));
    state_.words = begun.words;
  }
  state_.data = data().id;
  state_.set_choice(computed_->choice);
  state_.place = begun.place;
  if (is_first) {
    start_history();
  } else if (wish.is_entry) {
    history_.look_at(asked.place);
    history_.change(state_, wish.merge_key);
  }
  place_cursor();
  SessionState wanted = with_changes(state_, before_opening_, asked);
  change(std::move(wanted));
}

/// Back to what is still shown; what was chosen while data were being opened is asked for again.
void Session::fail(const Wish& wish, std::string problem) {
  if (computed_) {
    SessionState shown = wish.opens_data ? before_opening_ : state_;
    const Form form = shown.sides.front().form;
    shown.set_choice(computed_->choice);
    shown.sides.front().form = form;
    shown.data = data().id;
    shown.place = state_.place;
    const SessionState wanted = std::exchange(state_, shown);
    history_.fall_back(state_);
    if (wish.opens_data) change(wanted);
  }
  set_message(std::move(problem));
  if (!message_.empty()) refused_ = wish.asked;
}

void Session::set_cursor(const Cursor& cursor) {
  const Trace* current = trace();
  if (!current || current->block_count() == 0) return;
  cursor_.block = std::clamp<Index>(cursor.block, 0, current->block_count() - 1);
  const Block block = current->block(cursor_.block);
  const auto operations = static_cast<Index>(current->phase(block).operations.size());
  cursor_.operation = std::clamp<Index>(cursor.operation, 0, operations - 1);
  cursor_.row = std::clamp<Index>(cursor.row, 0, block.count - 1);
  cursor_.entered = std::clamp<Index>(cursor.entered, 0, cursor_.row);
  state_.place = {.token = current->token(cursor_),
                  .operation = current->operation(cursor_).id,
                  .phase = block.phase,
                  .tile = cursor_.block - current->block_of(block.first_token, block.phase)};
}

/// Finds the token, and as far as the present trace has them the operation, the phase and the tile.
void Session::place_cursor() {
  const Trace* current = trace();
  cursor_ = {};
  if (!current || current->block_count() == 0) return;
  const auto phase_count = static_cast<Index>(current->phases.size());
  const auto operation_in = [&](Index phase) -> std::optional<Index> {
    const std::vector<Operation>& operations = entry(current->phases, phase).operations;
    const auto same = std::ranges::find(operations, state_.place.operation, &Operation::id);
    if (same == operations.end()) return std::nullopt;
    return same - operations.begin();
  };
  Index phase = std::clamp<Index>(state_.place.phase, 0, phase_count - 1);
  std::optional<Index> operation = operation_in(phase);
  for (Index other = 0; !operation && other < phase_count; ++other) {
    operation = operation_in(other);
    if (operation) phase = other;
  }
  const Index token = std::clamp<Index>(state_.place.token, 0, current->tokens - 1);
  if (!operation && state_.place.operation == "write") {
    set_cursor(after_write(*current, token));
    state_.place.operation = "write";  // of the next rule, again
    return;
  }
  if (!operation) phase = 0;
  const Index first = current->block_of(token, phase);
  const Index tile = std::clamp<Index>(state_.place.tile, 0, current->block_count() - 1 - first);
  set_cursor({tile_of(*current, first, tile).value_or(first), operation.value_or(0),
              token - current->block(first).first_token});
}

Index Session::token() const {
  const Trace* current = trace();
  return current && current->block_count() > 0 ? current->token(cursor_) : 0;
}

Cursor Session::after(Grain grain, int direction) const {
  const Trace* current = trace();
  if (!current || current->block_count() == 0) return cursor_;
  switch (grain) {
    case Grain::operation:
      return direction > 0 ? current->next(cursor_) : current->previous(cursor_);
    case Grain::token:
      return current->at_token(cursor_, current->token(cursor_) + direction);
    case Grain::chunk: {
      const Groups& groups = current->groups;
      const bool is_one = groups.kind == Groups::Kind::whole;
      return current->at_chunk(cursor_, is_one ? computed_->choice.chunk_size : groups.size, direction);
    }
    case Grain::end:
      break;
  }
  Cursor end = direction > 0 ? current->last() : current->first();
  // Steps that make all rows at once end wherever one looks: at the end, at the last token.
  if (direction > 0) end.row = current->block(end.block).count - 1;
  return end;
}

bool Session::step(Grain grain, int direction) {
  const Cursor before = cursor_;
  set_cursor(after(grain, direction));
  return !(cursor_ == before);
}

void Session::go_to_token(Index token) {
  if (const Trace* current = trace()) set_cursor(current->at_token(cursor_, token));
}

}  // namespace palimpsest
