#include "core/rules/effective_attention.h"

#include "core/rules/row_map.h"

namespace palimpsest {

namespace {

constexpr Index tokens_at_a_time = 64;

/// The start of both ways: all weights 0.
EffectiveAttention empty_window(const Channel& channel, const AttentionWindow& window) {
  EffectiveAttention attention{.rows_per_token = channel.rows_per_token};
  attention.A = Matrix<double>::Zero(window.rows, window.columns * channel.rows_per_token);
  const Structure structure = channel.rows(0, 0).structure;
  if (structure.plain_write) attention.A_plain = attention.A;
  attention.values_are_plain = structure.plain_write && !structure.writes_value;
  return attention;
}

/// The reads of a window's tokens.
ChannelReads reads_of(const Channel& channel, const AttentionWindow& window) {
  ChannelReads all = channel.reads(window.first_row, window.span());
  if (window.no_mask) std::ranges::fill(all.after, channel.tokens * channel.rows_per_token);
  if (window.row_step == 1) return all;
  ChannelReads some{Matrix<double>(window.rows, all.q.cols()), {}};
  for (Index row = 0; row < window.rows; ++row) {
    some.q.row(row) = all.q.row(row * window.row_step);
    some.after.push_back(entry(all.after, row * window.row_step));
  }
  return some;
}

/// The queries of a window by the number of rows written when they read.
using Readers = std::multimap<Index, Index>;

Readers readers_of(const ChannelReads& reads) {
  Readers readers;
  for (std::size_t s = 0; s < reads.after.size(); ++s) readers.emplace(reads.after[s], static_cast<Index>(s));
  return readers;
}

/// How many tokens must be written for all reads.
Index end_of(const Readers& readers, Index rows_per_token) {
  return readers.empty() ? 0 : (readers.rbegin()->first + rows_per_token - 1) / rows_per_token;
}

/// What both ways keep.
struct Followed {
  /// The column that row `row` of the program has in the window; it may lie outside.
  Index column(Index row) const { return row - window.first_column * channel.rows_per_token; }

  const Channel& channel;
  AttentionWindow window;
  ChannelReads reads = reads_of(channel, window);
  Readers readers = readers_of(reads);
  // Of the channel, by every query; whole where all of it was followed from the start.
  Vector<double> read = Vector<double>::Zero(window.rows);
  EffectiveAttention found = empty_window(channel, window);
};

/// The queries of a window on their way back, and the weights they have met.
class Queries : public Followed {
 public:
  Queries(const Channel& of, const AttentionWindow& in) : Followed{of, in} {}

  /// From the last row that a query reads back to the first token of the columns, or of all.
  Followed go_back(bool to_start, const std::stop_token& stop) {
    const Index h = channel.rows_per_token;
    const Index first_token = to_start ? 0 : window.first_column;
    Index end = std::max(first_token, end_of(readers, h));
    while (end > first_token) {
      stop_if_asked(stop);
      const Index first = std::max(first_token, end - tokens_at_a_time);
      through(channel.rows(first, end - first), first * h);
      end = first;
    }
    join(0);  // a query that reads before the first row sees no write, only the initial state
    if (to_start) read += F_ * channel.initial;
    if (window.initial) found.Q0 = std::move(F_);
    return std::move(*this);
  }

 private:
  void through(const Program<double>& block, Index first) {
    const RowMap map(block);
    for (Index r = map.rows() - 1; r >= 0; --r) {
      join(first + r + 1);
      Eigen::Ref<Matrix<double>> F = F_.bottomRows(F_.rows() - joined_);
      const Vector<double> hits = F * map.write(r).transpose();
      meet(first + r, hits, block.v(r, 0), found.A);
      if (map.writes_plainly()) {
        const Vector<double> plain = F * map.plain(r).transpose();
        meet(first + r, plain, block.v_plain(r, 0), found.A_plain);
      }
      map.pull_back(r, hits, F);
    }
  }

  /// Starts the queries that read after `rows` rows.
  void join(Index rows) {
    for (auto [reader, end] = readers.equal_range(rows); reader != end; ++reader) {
      F_.row(reader->second) = reads.q.row(reader->second);
      joined_ = std::min(joined_, reader->second);
    }
  }

  /// `weights` are those of the queries from `joined_` on.
  void meet(Index row, const Vector<double>& weights, double value, Matrix<double>& A) {
    read.tail(weights.size()) += value * weights;
    const Index at = column(row);
    if (at >= 0 && at < A.cols()) A.col(at).tail(weights.size()) = weights;
  }

  Matrix<double> F_ = Matrix<double>::Zero(reads.q.rows(), reads.q.cols());  // 0 until a query starts
  Index joined_ = F_.rows();  // no query before this one has started
};

/// The writes of a window's columns on their way to the queries that read them.
class Writes : public Followed {
 public:
  Writes(const Channel& of, const AttentionWindow& in) : Followed{of, in} {}

  /// From the first token of the columns, or of all, to the last row that a query reads.
  Followed go_on(bool from_start, const std::stop_token& stop) {
    const Index h = channel.rows_per_token;
    const Index end = end_of(readers, h);
    if (from_start) answer(0);
    for (Index first = from_start ? 0 : window.first_column; first < end; first += tokens_at_a_time) {
      stop_if_asked(stop);
      through(channel.rows(first, std::min(tokens_at_a_time, end - first)), first * h);
    }
    return std::move(*this);
  }

 private:
  void through(const Program<double>& block, Index first) {
    const RowMap map(block);
    for (Index r = 0; r < map.rows(); ++r) {
      for (Matrix<double>* columns : {&X_, &X_plain_, &all_}) map.push_forward(r, *columns);
      all_ += block.v(r, 0) * map.write(r);
      if (map.writes_plainly()) all_ += block.v_plain(r, 0) * map.plain(r);
      const Index at = column(first + r);
      if (at >= 0 && at < X_.rows()) {
        X_.row(at) = map.write(r);
        if (map.writes_plainly()) X_plain_.row(at) = map.plain(r);
      }
      answer(first + r + 1);
    }
  }

  /// The reads of the queries that read after `rows` rows.
  void answer(Index rows) {
    for (auto [reader, end] = readers.equal_range(rows); reader != end; ++reader) {
      const Index s = reader->second;
      found.A.row(s) = reads.q.row(s) * X_.transpose();
      if (found.A_plain.size() > 0) found.A_plain.row(s) = reads.q.row(s) * X_plain_.transpose();
      read(s) = reads.q.row(s).dot(all_.row(0));
    }
  }

  Matrix<double> all_ = channel.initial.transpose();  // [1, p K]: the channel itself
  /// [columns h, p K]: what is left of every write, 0 until it is made; and of the plain writes.
  Matrix<double> X_ = Matrix<double>::Zero(found.A.cols(), all_.cols());
  Matrix<double> X_plain_ = Matrix<double>::Zero(found.A_plain.cols(), all_.cols());
};

/// Adds the weight of a token's own value in its output, besides the memory.
void add_skip(double skip, const AttentionWindow& window, Matrix<double>& A) {
  for (Index s = 0; skip != 0 && s < window.rows; ++s) {
    const Index column = window.token(s) - window.first_column;
    if (column >= 0 && column < window.columns) A(s, column) += skip;
  }
}

void require_inside(const char* what, Index first, Index count, Index there_are) {
  if (first >= 0 && count >= 0 && first + count <= there_are) return;
  refuse("a window of {} {} from {} on; expected a part of 0 .. {}", count, what, first, there_are - 1);
}

}  // namespace

void require_window(const AttentionWindow& window, Index tokens, Index channels) {
  if (window.row_step < 1) refuse("a window of every {}-th row; expected at least 1", window.row_step);
  if (window.rows > 1 && window.row_step > tokens / (window.rows - 1)) {
    refuse("a window of {} rows, {} tokens from one to the next; there are {} tokens", window.rows,
           window.row_step, tokens);
  }
  require_inside("rows", window.first_row, window.span(), tokens);
  require_inside("columns", window.first_column, window.columns, tokens);
  if (window.channel < 0 || window.channel >= channels)
    refuse("value channel {}; expected one of 0 .. {}", window.channel, channels - 1);
}

Matrix<double> EffectiveAttention::on_tokens() const {
  const Matrix<double>& weights = on_values();
  Matrix<double> sums = Matrix<double>::Zero(weights.rows(), weights.cols() / rows_per_token);
  for (Index column = 0; column < weights.cols(); ++column)
    sums.col(column / rows_per_token) += weights.col(column);
  return sums;
}

EffectiveAttention effective_attention(const std::function<Channel(Index column)>& channel_of,
                                       const AttentionWindow& window, const std::stop_token& stop) {
  Channel channel = channel_of(window.channel);
  if (window.no_mask && channel.reads_at_its_time)
    throw Unsupported("Without the mask, a query would need a memory that does not exist yet at its token.");
  // The denominator is a column of the same state, so that it has the same weights.
  const std::optional<Denominator> denominator = channel.denominator;
  if (denominator) channel = channel_of(denominator->column);
  const bool few_columns = window.columns * channel.rows_per_token < window.rows;
  Followed followed = few_columns && !window.initial
                          ? Writes(channel, window).go_on(denominator.has_value(), stop)
                          : Queries(channel, window).go_back(window.initial || denominator, stop);
  EffectiveAttention& attention = followed.found;
  add_skip(channel.skip, window, attention.A);
  if (denominator) {
    attention.denominators = (followed.read.array() + denominator->eps).matrix();
    for (Matrix<double>* weights : {&attention.A, &attention.A_plain, &attention.Q0}) {
      if (weights->size() > 0) weights->array().colwise() /= attention.denominators.array();
    }
  }
  return std::move(attention);
}

}  // namespace palimpsest
