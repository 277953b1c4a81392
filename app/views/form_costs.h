#pragma once

#include <string>
#include <vector>

#include "app/scene/node.h"
#include "core/insight/cost.h"

namespace palimpsest {

class Application;

/// What every form takes for a word of these data, beside each other: FLOPs, bytes, steps in a row, and why
/// one pays the first for fewer of the last. A click on a form chooses it. `has_title`: "What it costs"
/// stands above; `has_meaning`: what the costs mean stands below.
scene::Node form_costs(Application& application, bool has_title, bool has_meaning);

/// What the costs mean together, as far as it is so.
std::string what_costs_mean(const std::vector<CostRow>& rows);

/// "28.8k".
std::string in_thousands(double value);

/// "5.09 KiB".
std::string in_bytes(double value);

/// Whether two-pass takes more than chunkwise with one chunk size, in a sentence.
std::string two_pass_words(bool takes_more);

/// Why a chunk of one word counts other FLOPs than the recurrent form, in a sentence; `has_scores`: its
/// form compares the words of a chunk with each other.
std::string one_word_words(double chunkwise, double recurrent, bool has_scores);

}  // namespace palimpsest
