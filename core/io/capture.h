#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/array.h"
#include "core/io/npz.h"

namespace palimpsest {

/// Mean attention weights of each head of a softmax capture, one number a head.
struct HeadScores {
  std::vector<double> previous;         // on the previous piece
  std::vector<double> first;            // on the first piece
  std::vector<double> induction;        // on the piece after the last mention of the present one
  std::optional<int> induction_places;  // over how many positions `induction` is a mean
};

/// What the model says after the last piece.
struct NextPiece {
  std::string piece;
  double probability = 0;
};

/// How the model of a capture was trained.
struct Training {
  std::optional<int> steps;
  std::optional<double> held_out_loss;   // nats a piece
  std::map<std::string, double> recall;  // share of right answers for each kind of question
};

/// What flowed through one layer of a model. Only `file` and `arrays` are always there: any file of arrays
/// will do, and what its `meta` does not say is empty.
struct Capture {
  std::filesystem::path file;
  Arrays arrays;
  Unreadable unreadable;            // arrays that are there and broken
  std::vector<std::string> unread;  // arrays that were not wanted
  std::vector<std::string> tokens;  // none, or one for each of the T positions; valid UTF-8

  std::string name;
  std::string model;
  std::string rule;  // the id of the variant that the layer is
  std::string text;
  std::string source;
  std::string licence;
  std::string notes;
  std::optional<int> layer;
  std::optional<double> scale;
  // The largest difference between o and the rule computed in float64, as a share of max|o|.
  std::optional<double> reproduction_error;
  std::optional<bool> q_k_normalised;
  std::vector<int> heads;  // which heads of the layer these are
  std::optional<HeadScores> head_scores;
  std::optional<NextPiece> next_piece;
  std::optional<Training> trained;
};

/// Reads a file of arrays (see read_array_file) with its tokens and meta. Without a name in meta it is called
/// as array_file_title() says. With `wanted`, other arrays are left out. Throws InputError, also where tokens
/// or meta are not the JSON they should be or there is not one token for each position.
Capture read_capture(const std::filesystem::path& path,
                     const std::function<bool(std::string_view name)>& wanted = {});

/// One line of a picker.
struct CaptureSummary {
  std::filesystem::path file;
  std::string name;
  std::string rule;
  std::string model;
  std::string text;
  std::optional<int> layer;
  std::optional<double> reproduction_error;
  std::string error;  // why the file cannot be read; empty if all is well as far as was looked
};

/// The .npz files of a folder by name, from their meta alone. Throws InputError if the folder cannot be read;
/// a broken file is listed with its error.
std::vector<CaptureSummary> list_captures(const std::filesystem::path& folder);

}  // namespace palimpsest
