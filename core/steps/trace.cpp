#include "core/steps/trace.h"

#include "core/engines/walk.h"
#include "core/steps/phase.h"

namespace palimpsest {

const Operation* maker_of(const Phase& phase, const std::string& tensor) {
  return row_called(phase.operations, tensor,
                    [](const Operation& each) -> const std::string& { return each.equation.result; });
}

const Operation& Trace::operation(const Cursor& cursor) const {
  return entry(phase(block(cursor.block)).operations, cursor.operation);
}

namespace {

Index operation_count(const Trace& trace, Index block) {
  return static_cast<Index>(trace.phase(trace.block(block)).operations.size());
}

/// The row of a block for `token`; the first where it has none.
Index row_for(const Block& block, Index token) {
  const bool inside = token >= block.first_token && token < block.first_token + block.count;
  return inside ? token - block.first_token : 0;
}

/// How many operations of a block go through its rows.
std::ptrdiff_t row_walks(const Trace& trace, const Block& block) {
  return std::ranges::count_if(trace.phase(block).operations, &Operation::by_row);
}

/// The row at which stepping from the first position enters block `index`. Blocks that share tokens keep the
/// token: tiles of one chunk, pieces of an inner batch and its update.
Index arrival_row(const Trace& trace, Index index) {
  const auto shares_tokens = [&](Index later) {
    const Block before = trace.block(later - 1);
    const Block block = trace.block(later);
    return before.first_token < block.first_token + block.count &&
           block.first_token < before.first_token + before.count;
  };
  Index start = index;
  while (start > 0 && shares_tokens(start)) --start;
  Index row = 0;
  for (Index each = start; each < index; ++each) {
    const Block block = trace.block(each);
    const Index leaves = row_walks(trace, block) > 0 ? block.count - 1 : row;
    row = row_for(trace.block(each + 1), block.first_token + leaves);
  }
  return row;
}

/// Where stepping through all of `block` ends: on its last row if an operation goes through the rows, else
/// still where it came in. A second such operation comes to the last row and finds all of them made.
Cursor end_of(const Trace& trace, Index index) {
  const Block block = trace.block(index);
  const Index came = arrival_row(trace, index);
  const Index last_operation = operation_count(trace, index) - 1;
  const Index last_row = block.count - 1;
  const std::ptrdiff_t walks = row_walks(trace, block);
  if (walks == 0) return {index, last_operation, came};
  return {index, last_operation, last_row, walks == 1 ? came : last_row};
}

}  // namespace

Groups groups_of(Form form, Index tokens, Index chunk_size, Index batch) {
  if (batch > 1) return {Groups::Kind::batches, batch};
  if (form == Form::parallel) return {Groups::Kind::whole, std::max<Index>(tokens, 1)};
  return {Groups::Kind::chunks, chunk_size};
}

Cursor Trace::last() const {
  if (block_count() == 0) return {};
  return end_of(*this, block_count() - 1);
}

Cursor Trace::next(Cursor cursor) const {
  if (block_count() == 0) return cursor;
  const Block now = block(cursor.block);
  if (operation(cursor).by_row && cursor.row + 1 < now.count) {
    ++cursor.row;
    return cursor;
  }
  if (cursor.operation + 1 < operation_count(*this, cursor.block)) {
    ++cursor.operation;
  } else if (cursor.block + 1 < block_count()) {
    const Index row = row_for(block(cursor.block + 1), token(cursor));
    cursor = {cursor.block + 1, 0, row};
  } else {
    return cursor;
  }
  if (operation(cursor).by_row) cursor.entered = cursor.row;
  return cursor;
}

Cursor Trace::previous(Cursor cursor) const {
  if (block_count() == 0) return cursor;
  const bool leaves_rows = operation(cursor).by_row;
  if (leaves_rows && cursor.row > cursor.entered) {
    --cursor.row;
    return cursor;
  }
  if (cursor.operation == 0) return cursor.block > 0 ? end_of(*this, cursor.block - 1) : cursor;
  --cursor.operation;
  if (leaves_rows) cursor.entered = 0;
  return cursor;
}

Cursor Trace::at_token(const Cursor& cursor, Index token) const {
  if (block_count() == 0) return cursor;
  token = std::clamp<Index>(token, 0, tokens - 1);
  const Block from = block(cursor.block);
  const bool inside = token >= from.first_token && token < from.first_token + from.count;
  const Index target = inside ? cursor.block : block_of(token, from.phase);
  const Block to = block(target);
  const Index operations = static_cast<Index>(phase(to).operations.size());
  const Index row = token - to.first_token;
  return {target, std::min(cursor.operation, operations - 1), row,
          inside ? std::min(cursor.entered, row) : 0};
}

Cursor Trace::at_chunk(const Cursor& cursor, Index chunk_size, int direction) const {
  if (block_count() == 0) return cursor;
  const Index chunk = token(cursor) / std::max<Index>(chunk_size, 1);
  const Index start = chunk * chunk_size;
  const bool inside = token(cursor) > start;
  const Index target = direction > 0 ? start + chunk_size : (inside ? start : start - chunk_size);
  if (target >= tokens) return at_token(cursor, tokens - 1);
  return at_token(cursor, target);
}

std::unique_lock<std::mutex> ComputedTrace::turn() const {
  const std::scoped_lock next(next_);
  return std::unique_lock(computing_);
}

std::shared_ptr<const Record> ComputedTrace::shared_record(Index index, std::stop_token stop) const {
  const std::unique_lock lock = turn();
  auto found = std::ranges::find(kept_, index, &Kept::block);
  if (found == kept_.end()) {
    --found;
    *found = {};
    stop_ = std::move(stop);
    found->record = std::make_shared<const Record>(compute(index));
    found->block = index;
  }
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front().record;
}

void ComputedTrace::prepare(std::stop_token stop) try {
  {
    const std::unique_lock lock = turn();
    stop_ = stop;
    prepare_states();
  }
  if (form == Form::parallel && block_count() > 0 && !is_asked_to_stop(stop)) shared_record(0, stop);
} catch (const Cancelled&) {
}

namespace {

template <class Scalar>
class WalkTrace : public ComputedTrace {
 public:
  WalkTrace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Groups new_groups, std::size_t budget)
      : ComputedTrace(kept_records),
        walk_(std::move(walk)),
        last_start_(walk_->block_count() == 0 ? 0 : walk_->starts_at(walk_->block_count() - 1)),
        checkpoints_(walk_->initial(), last_start_ + 1, budget) {
    form = walk_->form();
    tokens = walk_->sequence().tokens;
    groups = new_groups;
    phases = std::move(steps.phases);
    symbols = std::move(steps.symbols);
  }

  Index block_count() const override { return walk_->block_count(); }
  Block block(Index index) const override { return walk_->block(index); }
  Index block_of(Index token, Index phase) const override { return walk_->block_of(token, phase); }

  NamedStates states(const Record& latest) const override {
    return walk_->recorded_states(latest, checkpoints_.initial());
  }

 private:
  /// Two passes are walked through side by side: a chunk's block of one and of the other.
  static constexpr std::size_t kept_records = 2;

  Record compute(Index index) const override {
    Carried<Scalar> carried = before(walk_->starts_at(index));
    Record record;
    Recorder recorder(record);
    const Matrix<Scalar> o = walk_->advance(index, carried, &recorder, stop());
    if (o.rows() > 0) recorder.rows("o", form == Form::recurrent, o);
    if (form == Form::parallel) output_ = {o.template cast<double>(), walk_->states(carried)};
    return record;
  }

  void prepare_states() const override {
    for (Index kept = 0; kept <= last_start_ && !is_asked_to_stop(stop()); kept += checkpoints_.spacing())
      before(kept);
  }

  Carried<Scalar> before(Index block_index) const {
    return checkpoints_.before(block_index, [&](Index index, Carried<Scalar>& carried) {
      stop_if_asked(stop());
      walk_->advance(index, carried, nullptr, stop());
    });
  }

  std::unique_ptr<const Walk<Scalar>> walk_;
  Index last_start_;
  mutable Checkpoints<Scalar> checkpoints_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Groups groups,
                                       std::size_t budget) {
  return std::make_unique<WalkTrace<Scalar>>(std::move(walk), std::move(steps), groups, budget);
}

template std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<double>>, Steps, Groups,
                                                std::size_t);
template std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<float>>, Steps, Groups,
                                                std::size_t);

}  // namespace palimpsest
