#pragma once

#include "app/session/step_questions.h"

namespace palimpsest {

struct TypedText;

/// What the program is doing: its state, the states before it, and what was computed for it. No GUI type in
/// it. A change is computed in a thread of its own; until it is there the last result stays. Whatever
/// goes wrong is said in message() and leaves what was open as it was.
class Session {
 public:
  /// `devices`: what choices are computed on, by the names of backends().
  explicit Session(Devices devices = backends()) : devices_(devices) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens data made in memory, at first_place() or at another, and takes their rule. That is done in another
  /// thread while the last result stays. Returns false, and message() says why, if it is known already that
  /// it does not work.
  bool open(DataSet data) { return open_at(std::move(data), {}); }
  bool open(DataSet data, const Place& place) { return open_at(std::move(data), place); }

  /// Opens "capture:NAME", "preset:NAME?T=32&…" (made in the other thread), "text:…" or a file, as file_id()
  /// has it, at first_place(); at a head, else at the usual one.
  bool open_named(const std::string& id, std::optional<Index> head = {});

  /// Opens a typed text. A rule that somebody chose in the place of the model's own stays; so does the word,
  /// or that it is the last. What has the same `merge_key` is one entry of the history.
  bool read(const TypedText& typed, std::string_view merge_key = {});

  /// The data that computed() belongs to; empty until the first is there.
  const DataSet& data() const;

  /// What was asked for last, computed or not; but for data that are still being opened.
  const SessionState& state() const { return state_; }

  /// Its first side: what is computed.
  Choice choice() const { return state_.choice(); }

  /// Goes to another state, an entry of the history if more than looks differ. Chunk size, head and words are
  /// brought into range, and settings do not go with a variant to the next one. Other data are opened.
  /// Changes with the same `merge_key` are one entry until end_merge().
  void change(SessionState next, std::string_view merge_key = {});

  /// Asks for another choice. Switching the form alone computes nothing.
  void choose(Choice choice, std::string_view merge_key = {});

  /// The same with what `edit` makes of the present state, or choice.
  template <std::invocable<SessionState&> Edit>
  void change(const Edit& edit, std::string_view merge_key = {}) {
    SessionState next = state_;
    edit(next);
    change(std::move(next), merge_key);
  }
  template <std::invocable<Choice&> Edit>
  void choose(const Edit& edit, std::string_view merge_key = {}) {
    Choice next = choice();
    edit(next);
    choose(std::move(next), merge_key);
  }

  /// Goes to a state that differs in one part.
  template <class Part>
  void change(Part SessionState::*part, Part value) {
    SessionState next = state_;
    next.*part = std::move(value);
    change(std::move(next));
  }

  /// Shows things another way: no entry of the history.
  void change_view(const ViewOptions& view) { change(&SessionState::view, view); }

  /// Playing repeats from the first of these tokens, one or two, to the last; none: it goes on to the end.
  void repeat(std::vector<Index> tokens) { change(&SessionState::repeated, std::move(tokens)); }

  /// A drag is over: the next change is an entry of its own.
  void end_merge() { history_.end_merge(); }

  /// Takes back the last change, or what is being opened; workspace and view stay, the place with its data.
  /// Returns whether there was one.
  bool undo();
  bool can_undo() const;

  /// Makes it again.
  bool redo();
  bool can_redo() const { return history_.can_redo(); }

  /// The present state becomes the first: what led here cannot be taken back.
  void start_history();

  /// Takes over what is finished. Call once a frame, before anything refers to computed(): only this lets go
  /// of results that were replaced, and cancels answers that were not asked for since the last call. Returns
  /// whether something new is there.
  bool update();

  /// Waits until everything asked for is computed, then takes it over: what is to be seen is that at the
  /// cursor, unless it cannot be computed.
  void wait();

  /// Waits until what was chosen is computed, but not until its forms are compared.
  void wait_for_choice();

  /// Waits until what was chosen is computed and what there is to see at the cursor is there.
  void wait_for_place();

  /// Whether a computation is under way, or the comparison of its forms.
  bool computing() const { return asked_ || (computed_ && !computed_->is_complete()); }

  /// What is wanted now and takes long.
  struct Waiting {
    std::string words;    // "computing Gated DeltaNet"
    double seconds = 0;   // for how long
    double progress = 0;  // from 0 to 1; 0: not known
  };

  /// What a person waits for since a moment that is noticed; nothing if all that is looked at is there.
  std::optional<Waiting> waiting() const;

  /// Gives up what is wanted and not there: what is seen stays.
  void stop();

  /// The last finished computation, which data(), token() and cursor() belong to; null until the first is
  /// there.
  std::shared_ptr<const Computation> computed() const { return computed_; }

  /// The trace of the form that is looked at; null if it does not exist or nothing is computed yet.
  const Trace* trace() const { return computed_ ? computed_->form(form()).trace : nullptr; }

  /// Asks for what there is to see at the cursor. Call once a frame, when the cursor has moved.
  void look();

  /// What there is to see of the step at the cursor; while that is being computed, of the last place, which
  /// may be one in other data.
  const Sight& sight() const { return lookout_.seen(); }
  const Lookout& lookout() const { return lookout_; }

  /// Where views ask for what they show.
  Questions& questions() { return questions_; }
  const Questions& questions() const { return questions_; }

  /// The last problem in words; empty if there is none. Set by a failed open or computation, cleared by a
  /// good one.
  const std::string& message() const { return message_; }
  void clear_message() {
    message_.clear();
    refused_.clear();
  }
  void set_message(std::string message) {
    message_ = std::move(message);
    refused_.clear();
  }

  /// The id of the data that message() refuses; empty where it is about something else.
  const std::string& refused() const { return refused_; }

  Devices devices() const { return devices_; }

  /// Why `device` cannot be chosen for a form of `foundation`, or without one at all; empty if it can. Until
  /// its driver has answered, that it is being looked for.
  std::string why_not_on(const Backend& device, Form form, const Foundation* foundation) const;

  /// Why the CPU goes on with what another device was chosen for; empty where nothing was given up.
  const std::string& left_device() const { return left_device_; }
  void clear_left_device() { left_device_.clear(); }

  // Where one looks.

  Cursor cursor() const { return cursor_; }
  void set_cursor(const Cursor& cursor);

  /// The token under the cursor; 0 where there is nothing.
  Index token() const;

  enum class Grain { operation, token, chunk, end };

  /// Where one grain forwards (+1) or backwards (-1) leads; at the ends it is where one is. A chunk is a
  /// group of the present form: an inner batch where there are such. The end is the last operation at the
  /// last token.
  Cursor after(Grain grain, int direction) const;

  /// Goes there. Returns whether it moved.
  bool step(Grain grain, int direction);

  /// Moves to a token, at the same operation.
  void go_to_token(Index token);

  /// Everything that is needed to come back to this place, as JSON and as one short string.
  std::string to_json() const;
  std::string to_string() const;

  /// Comes back to a place: opens its data and choice and moves the cursor, as open() does. A place that its
  /// data do not have is refused.
  bool from_string(const std::string& text);

  /// The same from a file with JSON; message() names it. A relative path of data is looked up beside it.
  bool open_saved(const std::filesystem::path& file);

 private:
  struct Wish;
  struct Begun;
  struct ToShow;
  struct DevicesAsked;

  Form form() const { return state_.sides.front().form; }
  SessionState saved_state() const;
  bool is_opening() const;
  bool open_at(DataSet data, const std::optional<Place>& place);
  bool open_place(const std::string& name, const std::function<SessionState()>& read);
  bool open_state(Wish wish);
  bool start_opening(Wish wish);
  void start(Wish wish);
  void adopt(SessionState next, bool always_compute = false);
  void go_to(SessionState state);
  void let_go_of_replaced();
  bool fetch_all();
  void leave_failed_device();
  bool fetch();
  void accept(const Wish& wish, const Begun& begun);
  void fail(const Wish& wish, std::string problem);
  void place_cursor();

  std::shared_ptr<Computation> computed_;
  std::vector<std::shared_ptr<Computation>> replaced_;  // until nobody looks at them any more
  std::shared_ptr<const Wish> asked_;                   // under way
  std::shared_ptr<const Wish> next_;                    // wanted after it
  double asked_seconds_ = 0;                            // for how long it has been under way, and
  double asked_progress_ = 0;                           // how far it is
  SessionState state_;
  SessionState before_opening_;
  History history_;
  std::deque<std::shared_ptr<const DataSet>> kept_;  // made in memory: nothing else could open them again
  std::string message_;
  std::string refused_;
  std::string left_device_;
  Devices devices_;
  bool knows_devices_ = false;  // whether all drivers have said if they can be used
  Cursor cursor_;
  Lookout lookout_;
  Questions questions_;  // last: its threads end before anything else goes
};

}  // namespace palimpsest
