#pragma once

#include <string>
#include <vector>

#include "core/operator/program.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The names under which the matrices of a program stand in a record.
struct ProgramNames {
  std::string q;
  std::string k;
  std::string v;             // empty: the program writes no value of its own
  std::string o;             // what the program reads, before any closing step
  std::string a = {};        // the erase key; empty: k
  std::string k_plain = {};  // the second write
  std::string v_plain = {};
  std::string beta = "beta";  // the write strength: an input, or what an operation makes of it
};

/// How a row program's steps are named and written. The defaults suit every rule that uses q, k and v as they
/// come. Which names are taken says Record.
struct Notation {
  ProgramNames token = {"q", "k", "v", "o"};  // of one token
  ProgramNames rows = {"Q", "K", "V", "O"};   // of a chunk
  std::vector<Operation> token_write = {};  // of a state in parts: from the rows to the memory after, S_after
  std::vector<Carry> token_carries = {};    // and which parts go on from token to token
  std::vector<Operation> token_before = {};  // from q, k, v to the program's rows
  std::vector<Operation> token_query = {};   // from q to the program's query, by itself: where it is read
  std::vector<Operation> token_after = {};   // from what is read to o
  std::vector<Operation> rows_before = {};   // the same for chunks, from Q, K, V and to O
  std::vector<Operation> rows_query = {};
  std::vector<Operation> rows_after = {};
  std::vector<std::string> arrays = {};      // inputs without an axis of tokens that these operations use
  std::vector<std::string> parameters = {};  // further numbers that these operations use
  Symbols symbols = {};  // added to the usual ones, or in their place; written as for one token (p_t), rows
                         // of many lose the t
};

/// The steps of a row program in one form, from its structure alone: which operations there are, in which
/// order, with which formulas and words. `scaled`: the query is multiplied by a scale other than 1.
std::vector<Phase> row_phases(const Structure& structure, const Notation& notation, Form form, bool scaled);

/// How the tensors of these steps are written and called.
Symbols row_symbols(const Structure& structure, const Notation& notation, Form form);

}  // namespace palimpsest
