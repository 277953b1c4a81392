#pragma once

#include "app/session/step_questions.h"

namespace palimpsest {

struct TypedText;

/// What the program is doing: its state, the earlier states, and the results. It uses no GUI type. A change
/// is computed in another thread; until it is finished, the last result stays. message() describes every
/// error; an error leaves what was open as it was.
class Session {
 public:
  /// `devices`: the devices to compute on, with the names of backends().
  explicit Session(Devices devices = backends()) : devices_(devices) {}

  /// Opens data made in memory, at first_place() or at `place`, and switches to their rule. That is done in
  /// another thread while the last result stays. Returns false if it is known at once that the data cannot be
  /// opened; message() then says why.
  bool open(DataSet data, const std::optional<Place>& place = {});

  /// Opens "capture:NAME", "preset:NAME?T=32&…" (made in the other thread), "text:…" or a file (an id of
  /// file_id()) at first_place(), and at `head` or the default head.
  bool open_named(const std::string& id, std::optional<Index> head = {});

  /// Opens a typed text. A rule that was chosen instead of the model's own stays; the cursor stays at its
  /// token, or at the last one if it was there. Calls with the same `merge_key` are one entry of the history.
  bool read(const TypedText& typed, std::string_view merge_key = {});

  /// The data that computed() belongs to; empty until the first computation is finished.
  const DataSet& data() const;

  /// The state that was requested last, computed or not, except data that are still being opened.
  const SessionState& state() const { return state_; }
  /// The first side of the state: what is computed.
  Choice choice() const { return state_.choice(); }

  /// Goes to another state. It is an entry of the history if more than the view differs. Chunk size, head and
  /// queried tokens are clamped to their ranges; a new variant starts with its own settings. Other data are
  /// opened. Changes with the same `merge_key` are one entry until end_merge().
  void change(SessionState next, std::string_view merge_key = {});

  /// Requests another choice. Switching only the form computes nothing.
  void choose(Choice choice, std::string_view merge_key = {});

  /// The same, with the present state or choice as `edit` changes it.
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

  /// Changes how things are shown: no entry of the history.
  void change_view(const ViewOptions& view) { change(&SessionState::view, view); }

  /// Playing repeats the range from the first of these one or two tokens to the last; none: no repetition.
  void repeat(std::vector<Index> tokens) { change(&SessionState::repeated, std::move(tokens)); }

  /// A drag is over: the next change is an entry of its own.
  void end_merge() { history_.end_merge(); }

  /// Undoes the last change, or cancels what is being opened. Workspace and view stay; so does the place,
  /// unless the data change. Returns whether there was a change.
  bool undo();
  bool can_undo() const;

  /// Redoes the change that was undone last.
  bool redo();
  bool can_redo() const { return history_.can_redo(); }

  /// The present state becomes the first one: earlier changes cannot be undone.
  void start_history();

  /// Applies finished results. Call it once per frame, before anything refers to computed(): only this call
  /// frees replaced results, and cancels questions that were not asked since the last call. Returns whether
  /// there is a new result.
  bool update();

  /// Blocks until all pending work is finished and applied. sight() is then at the cursor, unless its step
  /// cannot be computed.
  void wait();

  /// Blocks until the choice is computed, but not until its forms are compared.
  void wait_for_choice();

  /// Blocks until the choice and the step at the cursor are computed.
  void wait_for_place();

  /// Whether a computation is under way, or the comparison of its forms.
  bool computing() const { return asked_ || (computed_ && !computed_->is_complete()); }

  /// A requested computation that takes long.
  struct Waiting {
    std::string words;    // "computing Gated DeltaNet"
    double seconds = 0;   // for how long
    double progress = 0;  // from 0 to 1; 0: not known
  };

  /// What the user has waited for noticeably long; nothing if everything shown is up to date.
  std::optional<Waiting> waiting() const;

  /// Cancels what is not finished; what is shown stays.
  void stop();

  /// The last finished computation, to which data(), token() and cursor() belong; null until the first one is
  /// finished.
  std::shared_ptr<const Computation> computed() const { return computed_; }
  /// The trace of the shown form; null if the form does not exist or nothing is computed yet.
  const Trace* trace() const { return computed_ ? computed_->form(form()).trace : nullptr; }

  /// Requests the step at the cursor. Call it once per frame, after the cursor has moved.
  void look();

  /// The step at the cursor; while it is being computed, the step at the last place, which may be in other
  /// data.
  const Sight& sight() const { return lookout_.seen(); }
  const Lookout& lookout() const { return lookout_; }
  /// The questions that views ask.
  Questions& questions() { return questions_; }
  const Questions& questions() const { return questions_; }

  /// The last error in words; empty if there is none. Set when opening or computing fails, cleared when it
  /// succeeds.
  const std::string& message() const { return message_; }
  void clear_message() { set_message({}); }
  void set_message(std::string message) {
    message_ = std::move(message);
    refused_.clear();
  }

  /// The id of the data that message() is about; empty if it is about something else.
  const std::string& refused() const { return refused_; }

  Devices devices() const { return devices_; }

  /// Why `device` cannot be chosen for a form of `foundation`, or, if that is null, for any form; empty if it
  /// can. Until its driver has answered, the reason is that the device is being looked for.
  std::string why_not_on(const Backend& device, Form form, const Foundation* foundation) const;

  /// Why the CPU replaced the chosen device; empty if it did not.
  const std::string& left_device() const { return left_device_; }
  void clear_left_device() { left_device_.clear(); }

  // The cursor.

  Cursor cursor() const { return cursor_; }
  void set_cursor(const Cursor& cursor);

  /// The token at the cursor; 0 if there are no data.
  Index token() const;

  enum class Grain { operation, token, chunk, end };

  /// The cursor one grain forward (+1) or back (-1); at the ends, the present cursor. A chunk is a group of
  /// the present form: an inner batch if it has those. The end is the last operation at the last token.
  Cursor after(Grain grain, int direction) const;

  /// Moves the cursor to after(). Returns whether it moved.
  bool step(Grain grain, int direction);

  /// Moves the cursor to a token, at the same operation.
  void go_to_token(Index token);

  /// Everything that is needed to return to this place, as JSON and as one short string.
  std::string to_json() const;
  std::string to_string() const;

  /// Returns to a place: opens its data and choice and moves the cursor, as open() does. Refuses a place that
  /// its data do not have.
  bool from_string(const std::string& text);

  /// The same from a JSON file, which message() names. A relative path of data starts at its folder.
  bool open_saved(const std::filesystem::path& file);

 private:
  struct Wish;
  struct Begun;
  struct ToShow;
  struct DevicesAsked;

  Form form() const { return state_.sides.front().form; }
  SessionState saved_state() const;
  bool is_opening() const;
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
  std::vector<std::shared_ptr<Computation>> replaced_;  // until nothing refers to them
  std::shared_ptr<const Wish> asked_;                   // being computed
  std::shared_ptr<const Wish> next_;                    // to be computed next
  double asked_seconds_ = 0;                            // how long asked_ has been running
  double asked_progress_ = 0;                           // its progress, from 0 to 1
  SessionState state_;
  SessionState before_opening_;
  History history_;
  std::deque<std::shared_ptr<const DataSet>> kept_;  // made in memory, so they cannot be opened again
  std::string message_;
  std::string refused_;
  std::string left_device_;
  Devices devices_;
  bool knows_devices_ = false;  // whether all drivers have answered
  Cursor cursor_;
  Lookout lookout_;
  Questions questions_;  // last: its threads end before the other members are destroyed
};

}  // namespace palimpsest
