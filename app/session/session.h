#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "app/session/computation.h"

namespace palimpsest {

/// What the program is doing: the data, the choice, what was computed for it, and where one looks. No GUI type in it.
/// A change is computed in a thread of its own; until it is there the last result stays. Whatever goes wrong is said
/// in message() and leaves what was open as it was.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens a capture or another npz and takes its rule. Returns whether it worked; message() says why not.
  bool open(const std::filesystem::path& path);

  /// Opens data made in memory (a preset).
  bool open(DataSet data);

  const DataSet& data() const { return data_; }
  const Choice& choice() const { return choice_; }

  /// Asks for another choice. Chunk size and head are brought into range; switching the form alone computes nothing.
  void choose(Choice choice);

  /// Takes over a finished computation. Call once a frame. Returns whether something new is there.
  bool update();

  /// Waits until everything asked for is computed.
  void wait();

  /// Whether a computation is under way.
  bool computing() const { return job_ != nullptr; }

  /// The last finished computation; null until the first is there.
  Computation* computed() { return computed_.get(); }
  const Computation* computed() const { return computed_.get(); }

  /// The trace of the form that is looked at; null if it does not exist or nothing is computed yet.
  Trace* trace();

  /// The last problem in words; empty if there is none. Set by a failed open or computation, cleared by a good one.
  const std::string& message() const { return message_; }
  void clear_message() { message_.clear(); }
  void set_message(std::string message) { message_ = std::move(message); }

  // Where one looks.

  Cursor cursor() const { return cursor_; }
  void set_cursor(const Cursor& cursor);

  /// The token under the cursor; 0 where there is nothing.
  Index token() const;

  enum class Grain { operation, token, chunk, end };

  /// Moves by one grain, forwards (+1) or backwards (-1); at the ends nothing happens. Returns whether it moved.
  bool step(Grain grain, int direction);

  /// Moves to a token, at the same operation.
  void go_to_token(Index token);

  /// Everything that is needed to come back to this place, as JSON.
  std::string to_json() const;

  /// Comes back to a place: opens its data and choice, waits and moves the cursor. Returns whether it worked.
  /// A relative path of data is looked up beside `folder`.
  bool from_json(const std::string& text, const std::filesystem::path& folder = {});

 private:
  struct Job;

  void start();
  void place_cursor();

  DataSet data_;
  Choice choice_;
  std::shared_ptr<Computation> computed_;
  std::unique_ptr<Job> job_;
  std::string message_;
  Cursor cursor_;
  Index wanted_token_ = 0;
  std::string wanted_operation_;
};

}  // namespace palimpsest
