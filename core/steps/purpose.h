#pragma once

namespace palimpsest {

/// What a step of a form is for, whatever it is called: steps that do the same in different rules and forms
/// share one. Faults (core/proof/faults.cpp) and words about a form find steps by it.
enum class Purpose {
  // Before the rule itself.
  prepare,    // what it makes of its inputs: features, shares, keys of its own
  gates,      // decays that are not given but computed
  gain,       // which direction each write takes (recursive least squares), and
  certainty,  // what the keys have left open

  // How much is left of what.
  mask,        // of each write, when a later query reads
  fade_in,     // of the memory carried in, when a query reads
  erase_mask,  // the same two for an erase
  erase_fade_in,
  fade_out,   // of each write, at the end of the block
  fade_over,  // of the memory carried in, at the end of the block

  // The memory, token by token.
  decay,     // what is kept of it
  read,      // what it answers for the key, before the write
  error,     // what that answer lacks, or takes away
  update,    // what is to be written
  momentum,  // the updates that go on
  write,     // the memory after
  keys,      // the same for a second memory, of which keys there were

  // The same for all rows of a block.
  overlap,   // what each row's erase finds of earlier writes
  rest,      // what would be written if no row of the block wrote
  solve,     // what is written, or asked, since each row depends on others
  scan,      // writes of a block added up as far as each row
  gathered,  // writes or gradients of a block, added up over its rows
  carry,     // the memory for the next block

  // A memory that is a network, and its gradient.
  hidden,           // what hidden units are given and answer
  prediction,       // what it answers for the key, as it was when the batch began
  standardise,      // a layer norm
  mismatch,         // what a normalised answer lacks
  gradient,         // of the loss at the answer
  hidden_gradient,  // of the loss at the hidden units
  learn,            // a parameter after its step

  // The way of a query.
  scores,       // who reads whom
  inter,        // what comes from the memory carried in
  intra,        // what comes from inside the block
  ask,          // what a memory answers on the way to the output
  output,       // what comes out
  normalise,    // weighted values divided by the sum of weights
  peak,         // softmax: the largest score so far,
  weights,      // what each value counts,
  denominator,  // the sum of weights, and
  numerator,    // of weighted values
  check,        // a proof that a solution solves

  // What a step is brought to.
  orthogonalise,   // Muon: all directions learn equally fast
  restore_lengths  // columns of the memory keep their length
};

}  // namespace palimpsest
