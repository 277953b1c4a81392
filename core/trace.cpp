#include "core/trace.h"

#include <algorithm>
#include <span>

namespace palimpsest {

const Operation& Trace::operation(const Cursor& cursor) const {
  return phase(block(cursor.block)).operations[static_cast<std::size_t>(cursor.operation)];
}

void Trace::prepare(std::stop_token stop) {
  if (form == Form::parallel && block_count() > 0 && !stop.stop_requested()) record(0);
}

Step Trace::step(const Cursor& cursor) {
  const Record& values = record(cursor.block);
  const Operation& current = operation(cursor);
  const auto whole = [&](const std::string& name) {
    const Matrix<double>& tensor = values.at(name);
    return Cells{name, 0, 0, tensor.rows(), tensor.cols()};
  };
  Step step{&current, whole(current.equation.result), {}};
  if (current.by_row) {
    step.written.first_row = cursor.row;
    step.written.rows = 1;
  }
  for (const std::string& name : operands(current.equation.expression)) step.read.push_back(whole(name));
  return step;
}

namespace {

Index operation_count(const Trace& trace, Index block) {
  return static_cast<Index>(trace.phase(trace.block(block)).operations.size());
}

/// Where stepping through all of `block` ends: on its last row if an operation goes through the rows, else
/// still on the first.
Cursor end_of(const Trace& trace, Index block) {
  const Block last = trace.block(block);
  const bool goes_by_row = std::ranges::any_of(trace.phase(last).operations, &Operation::by_row);
  return {block, operation_count(trace, block) - 1, goes_by_row ? last.count - 1 : 0};
}

}  // namespace

Cursor Trace::last() const {
  if (block_count() == 0) return {};
  return end_of(*this, block_count() - 1);
}

Cursor Trace::next(Cursor cursor) const {
  if (block_count() == 0) return cursor;
  const Index rows = block(cursor.block).count;
  if (operation(cursor).by_row && cursor.row + 1 < rows) {
    ++cursor.row;
    return cursor;
  }
  if (cursor.operation + 1 < operation_count(*this, cursor.block)) {
    ++cursor.operation;
    if (operation(cursor).by_row) cursor.row = 0;
    return cursor;
  }
  if (cursor.block + 1 < block_count()) return {cursor.block + 1, 0, 0};
  return cursor;
}

Cursor Trace::previous(Cursor cursor) const {
  if (block_count() == 0) return cursor;
  if (operation(cursor).by_row && cursor.row > 0) {
    --cursor.row;
    return cursor;
  }
  if (cursor.operation > 0) {
    // An operation that goes through the rows leaves the cursor on the last one for those after it.
    const bool leaves_rows = operation(cursor).by_row;
    --cursor.operation;
    const Block now = block(cursor.block);
    const auto earlier = std::span(phase(now).operations).first(static_cast<std::size_t>(cursor.operation));
    const bool came_by_row = leaves_rows && std::ranges::any_of(earlier, &Operation::by_row);
    if (operation(cursor).by_row || came_by_row) cursor.row = now.count - 1;
    return cursor;
  }
  return cursor.block > 0 ? end_of(*this, cursor.block - 1) : cursor;
}

Cursor Trace::at_token(const Cursor& cursor, Index token) const {
  if (block_count() == 0) return cursor;
  token = std::clamp<Index>(token, 0, tokens - 1);
  const Block from = block(cursor.block);
  const bool inside = token >= from.first_token && token < from.first_token + from.count;
  const Index target = inside ? cursor.block : block_of(token, from.phase);
  const Block to = block(target);
  const Index operations = static_cast<Index>(phase(to).operations.size());
  return {target, std::min(cursor.operation, operations - 1), token - to.first_token};
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

}  // namespace palimpsest
