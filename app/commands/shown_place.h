#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/session/computation.h"
#include "core/insight/asked_words.h"

namespace palimpsest {

/// What `show` is told on the command line, as it stands there.
struct ShowOptions {
  std::string view;
  std::string data;
  std::optional<std::string> variant = {};
  std::string form = "recurrent";
  std::string device = "cpu";
  std::optional<std::string> chunk = {};
  std::optional<std::string> at = {};
  std::optional<std::string> head = {};
  std::vector<std::string> words = {};
  std::optional<std::string> cell = {};
  std::vector<std::string> beside = {};
  std::vector<std::string> settings = {};
  std::optional<std::string> json = {};
};

/// A place of some data under one rule, which a view shows.
struct ShownPlace {
  std::shared_ptr<const Computation> computation;
  Form form = Form::recurrent;
  Cursor cursor = {};
  Index token = 0;
  std::vector<Index> words = {};                     // pinned ones
  std::optional<std::pair<Index, Index>> cell = {};  // row and column of the memory
  std::vector<Side> beside = {};                     // what it is compared with; empty: the usual sides
  std::stop_token stop = {};

  /// "drum": the text of a token.
  std::string text(Index of_token) const;

  /// "42 drum".
  std::string numbered(Index of_token) const;
};

/// Opens and computes what is asked for. Throws InputError naming the option and what there is, Unsupported
/// where the form does not exist, Cancelled.
ShownPlace shown_place(const ShowOptions& options, std::stop_token stop);

}  // namespace palimpsest
