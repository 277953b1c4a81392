#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session/answers.h"
#include "app/session/computation.h"
#include "app/session/sight.h"

namespace palimpsest {

/// Where one looks, in words that outlast a change of variant, form or chunk size.
struct Place {
  Index token = 0;
  std::string operation;  // empty: the first
  Index phase = 0;
  Index tile = 0;  // softmax, chunkwise: which tile of keys
};

struct SavedSession;

/// What the program is doing: the data, the choice, what was computed for it, and where one looks. No GUI
/// type in it. A change is computed in a thread of its own; until it is there the last result stays. Whatever
/// goes wrong is said in message() and leaves what was open as it was.
class Session {
 public:
  Session() = default;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens a capture or another npz and takes its rule. That is done in another thread while the last result
  /// stays. Returns false, and message() says why, if it is known already that it does not work.
  bool open(const std::filesystem::path& path);

  /// Opens data made in memory, at a place.
  bool open(DataSet data, const Place& place = {});

  /// Opens "capture:NAME", "preset:NAME?T=32&…" (made in the other thread) or the path of a file.
  bool open_named(const std::string& id);

  /// The data that computed() belongs to; empty until the first is there.
  const DataSet& data() const;

  /// What was asked for last, computed or not.
  const Choice& choice() const { return choice_; }

  /// Asks for another choice. Chunk size and head are brought into range; switching the form alone computes
  /// nothing.
  void choose(Choice choice);

  /// Takes over what is finished. Call once a frame, before anything refers to computed(): only this frees
  /// results that were replaced, and cancels answers that were not asked for since the last call. Returns
  /// whether something new is there.
  bool update();

  /// Waits until everything asked for is computed, then takes it over: what is to be seen is that at the
  /// cursor, unless it cannot be computed.
  void wait();

  /// Whether a computation is under way, or the comparison of its forms.
  bool computing() const { return job_ || (computed_ && !computed_->is_complete()); }

  /// The last finished computation; null until the first is there.
  Computation* computed() { return computed_.get(); }
  const Computation* computed() const { return computed_.get(); }

  /// The trace of the form that is looked at; null if it does not exist or nothing is computed yet.
  const Trace* trace() const { return computed_ ? computed_->form(choice_.form).trace.get() : nullptr; }

  /// Asks for what there is to see at the cursor. Call once a frame, when the cursor has moved.
  void look();

  /// What there is to see; of the last place while that at the cursor is being computed.
  const Sight& sight() const { return lookout_.seen(); }
  const Lookout& lookout() const { return lookout_; }

  /// Where views ask for what they show.
  Answers& answers() { return answers_; }
  const Answers& answers() const { return answers_; }

  /// The last problem in words; empty if there is none. Set by a failed open or computation, cleared by a
  /// good one.
  const std::string& message() const { return message_; }
  void clear_message() { message_.clear(); }
  void set_message(std::string message) { message_ = std::move(message); }

  // Where one looks.

  Cursor cursor() const { return cursor_; }
  void set_cursor(const Cursor& cursor);

  /// The token under the cursor; 0 where there is nothing.
  Index token() const;

  enum class Grain { operation, token, chunk, end };

  /// Moves by one grain, forwards (+1) or backwards (-1); at the ends nothing happens. A chunk is a group of
  /// the present form: an inner batch where there are such. The end is the last operation at the last token.
  /// Returns whether it moved.
  bool step(Grain grain, int direction);

  /// Moves to a token, at the same operation.
  void go_to_token(Index token);

  /// Everything that is needed to come back to this place, as JSON.
  std::string to_json() const;

  /// Comes back to a place: opens its data and choice and moves the cursor, as open() does. A place that its
  /// data do not have is refused. A relative path of data is looked up beside `folder`.
  bool from_json(const std::string& text, const std::filesystem::path& folder = {});

  /// Comes back to a place saved in a file; message() names the file.
  bool open_saved(const std::filesystem::path& file);

 private:
  struct Opening;
  struct Job;
  struct JobDone;

  bool open_place(const std::string& name, const std::function<SavedSession()>& read);
  bool start_opening(std::function<Opening()> make, std::string saved_in = {});
  void start(std::shared_ptr<Job> job, std::function<Opening()> make);
  bool fetch_all();
  bool fetch();
  void accept(const Job& job, std::shared_ptr<Computation> computation);
  void fail(const Job& job, std::string problem);
  void place_cursor();

  std::shared_ptr<Computation> computed_;
  std::vector<std::shared_ptr<Computation>>
      replaced_;                   // since the last update(): somebody may still look at them
  std::shared_ptr<Job> job_;       // under way
  std::shared_ptr<Job> next_job_;  // wanted after it
  double job_seconds_ = 0;         // for how long job_ has been under way
  Choice choice_;
  Choice before_opening_;
  std::string message_;
  Cursor cursor_;
  Place place_;
  Lookout lookout_;
  Answers answers_;  // last: its threads end before anything else goes
};

}  // namespace palimpsest
