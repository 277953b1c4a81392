#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/session/computation.h"
#include "core/insight/answers.h"

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

/// The numbers of a view, for programs and for people.
struct ShownNumbers {
  nlohmann::ordered_json json;
  std::string text;
};

/// A view that `show` writes.
struct ShownView {
  const char* id;
  const char* words;
  ShownNumbers (*show)(const ShownPlace&);
};

/// All of them.
std::span<const ShownView> shown_views();

/// What the memory answers at the place: `answers`.
ShownNumbers show_answers(const ShownPlace& place);

/// The step of learning that the token makes, and the pair that it harms most: `learning`.
ShownNumbers show_learning(const ShownPlace& place);

/// Who wrote a cell of the memory after the token: `provenance`.
ShownNumbers show_provenance(const ShownPlace& place);

/// What is left of the words over all tokens: `recall`.
ShownNumbers show_recall(const ShownPlace& place);

/// How much every token keeps, and how far it steps: `gates`.
ShownNumbers show_gates(const ShownPlace& place);

/// What the output of the token is made of, beside softmax: `attention`.
ShownNumbers show_attention(const ShownPlace& place);

/// The memories, answers and errors of the sides that Compare shows at first: `compare`.
ShownNumbers show_compare(const ShownPlace& place);
/// How far every form and precision is from the recurrence at every word, and what is lost: `lens`.
ShownNumbers show_lens(const ShownPlace& place);

/// What every fault does to the form, and where it is first seen: `faults`.
ShownNumbers show_faults(const ShownPlace& place);

/// Rows of numbers as nested lists.
nlohmann::ordered_json json_of(const Matrix<double>& rows);
nlohmann::ordered_json json_of(const Vector<double>& numbers);

}  // namespace palimpsest
