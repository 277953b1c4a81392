#include "core/costs/costs.h"

#include "core/engines/row_engines.h"

namespace palimpsest {

namespace {

/// What readers of L rows see, summed over the readers.
struct SeenRows {
  double readers = 0;
  double decayed = 0;  // readers that come after a decay at all
  double decays = 0;   // rows that decay before they read
  double writes = 0;   // rows that they see written
  double inside = 0;   // of the decays those in the reader's own sub-chunk
};

/// The counts of an engine over L rows.
struct MetRows {
  double rows = 0;
  double reads = 0;
  double k = 0;
  double v = 0;
  SeenRows erases;
  SeenRows outputs;
  double pairs = 0;   // rows of one sub-chunk in pairs
  double starts = 0;  // rows before each sub-chunk, summed

  /// Cells of a strictly lower triangular [rows, rows] matrix.
  double triangle() const { return rows * (rows - 1) / 2; }
};

double seen_inside(double decays) {
  const double size = sub_chunk_size;
  return decays == 0 ? 0 : std::fmod(decays - 1, size) + 1;
}

SeenRows seen_by(const std::vector<Reader>& readers) {
  SeenRows seen;
  for (const Reader& reader : readers) {
    const auto decays = static_cast<double>(reader.decays);
    seen.readers += 1;
    seen.decayed += decays > 0 ? 1 : 0;
    seen.decays += decays;
    seen.writes += static_cast<double>(reader.writes);
    seen.inside += seen_inside(decays);
  }
  return seen;
}

/// The exact counts for `tokens` tokens.
MetRows exact_rows(const Structure& structure, const RowSizes& sizes, double tokens,
                   const std::vector<Index>& read_after) {
  const auto reads = static_cast<Index>(tokens);
  const Index rows = reads * structure.rows_per_read;
  const Program<double> shape = {.structure = structure,
                                 .q = Matrix<double>(reads, 0),
                                 .k = Matrix<double>(rows, 0),
                                 .erase_sight = Matrix<double>(rows, 0),
                                 .read_sight = Matrix<double>(reads, 0),
                                 .read_after = read_after};
  MetRows exact = {.rows = static_cast<double>(rows),
                   .reads = tokens,
                   .k = sizes.columns_k,
                   .v = sizes.columns_v,
                   .erases = seen_by(shape.erase_readers()),
                   .outputs = seen_by(shape.output_readers())};
  for (Index start = 0; start < rows; start += sub_chunk_size) {
    const auto size = static_cast<double>(std::min(sub_chunk_size, rows - start));
    exact.pairs += size * (size - 1) / 2;
    exact.starts += static_cast<double>(start);
  }
  return exact;
}

/// Counts what the engines do to L rows, each function a piece of one of them.
class Counter {
 public:
  Counter(const Structure& structure, const MetRows& rows) : structure_(structure), rows_(rows) {}

  /// core/engines/recurrent, all rows.
  Work recurrent() {
    const double cells = rows_.k * rows_.v;
    const double state = p_ * cells;
    const bool erases = structure_.erase != Erase::none;
    if (decays_ && logs_) exponentiated(rows_.rows * gates());
    if (erases) product(rows_.rows, rows_.k, rows_.v);
    product(rows_.rows * rows_.k, 1, rows_.v);  // the write
    scaled(rows_.rows * rows_.k);               // beta k
    product(rows_.reads, rows_.k, rows_.v);     // the reads, also of the final state
    if (has_parts_) {
      const double seen = erases ? rows_.rows + rows_.reads : rows_.reads;
      scaled(seen * state);             // what a reader sees of the parts
      scaled(rows_.rows * p_ * state);  // the parts mixed
      scaled(rows_.rows * state);       // the write into every part
    }
    if (decays_) scaled(rows_.rows * cells);
    if (structure_.value_decay) scaled(rows_.rows * cells);
    if (structure_.value_decay && structure_.erase == Erase::undecayed) scaled(rows_.rows * rows_.v);
    if (structure_.plain_write) product(rows_.rows * rows_.k, 1, rows_.v);
    moved(2 * state * rows_.rows);
    return work_;
  }

  /// core/engines/chunkwise, one chunk.
  Work chunk() {
    chunk_decays();
    write_directions();
    if (structure_.erase != Erase::none) {
      chunk_scores(rows_.erases);
      chunk_from_start(rows_.erases);
      product(rows_.rows, p_ * rows_.k, rows_.v);
      if (structure_.value_decay) scaled(rows_.rows * rows_.v);
      if (structure_.plain_write) {
        chunk_scores(rows_.erases);
        masked_product(rows_.rows * rows_.rows, rows_.erases.writes, rows_.v);
      }
      masked_product(rows_.triangle(), rows_.triangle(), rows_.v);  // the solve
      if (structure_.value_decay) scaled(rows_.triangle() * rows_.v);
    }
    if (structure_.read_at == ReadAt::end) {
      product(rows_.reads, rows_.k, rows_.v);
    } else {
      chunk_scores(rows_.outputs);
      chunk_from_start(rows_.outputs);
      product(rows_.reads, p_ * rows_.k, rows_.v);
      if (structure_.value_decay) {
        scaled(rows_.outputs.decayed * rows_.v + rows_.triangle() * rows_.v);
        masked_product(rows_.outputs.writes, rows_.outputs.writes, rows_.v);
      } else {
        masked_product(rows_.reads * rows_.rows, rows_.outputs.writes, rows_.v);
      }
      if (structure_.plain_write) {
        chunk_scores(rows_.outputs);
        masked_product(rows_.reads * rows_.rows, rows_.outputs.writes, rows_.v);
      }
    }
    carry(decays_);
    moved(2 * p_ * rows_.k * rows_.v);
    if (structure_.read_at == ReadAt::end) moved(rows_.k * rows_.v);
    return work_;
  }

  /// The same chunk in two passes: the second makes the decays and b again, and fetches the state and U.
  Work two_passes() {
    chunk();
    if (structure_.read_at == ReadAt::end) return work_;
    chunk_decays();
    write_directions();
    moved(p_ * rows_.k * rows_.v);
    if (structure_.erase != Erase::none) moved(2 * rows_.rows * rows_.v);
    return work_;
  }

  /// core/engines/parallel, the whole sequence.
  Work parallel() {
    const bool erases = structure_.erase != Erase::none;
    write_directions();
    if (decays_ && !logs_) scaled((rows_.triangle() + rows_.rows) * gates());
    if (has_parts_) {
      // The transitions since every write, as far as the walk has come, and since the start.
      masked_product(rows_.triangle(), rows_.triangle(), p_ * p_);
      product(rows_.rows * p_, p_, p_);
    }
    if (erases) walk_scores(rows_.rows, rows_.erases);
    if (erases) walk_from_start(rows_.erases);
    walk_scores(rows_.reads, rows_.outputs);
    walk_from_start(rows_.outputs);
    if (structure_.plain_write) {
      if (erases) walk_scores(rows_.rows, rows_.erases);
      walk_scores(rows_.reads, rows_.outputs);
    }
    if (erases) {
      product(rows_.rows, p_ * rows_.k, rows_.v);
      if (structure_.value_decay) scaled(rows_.rows * rows_.v);
      if (structure_.plain_write) masked_product(rows_.rows * rows_.rows, rows_.erases.writes, rows_.v);
      masked_product(rows_.triangle(), rows_.triangle(), rows_.v);  // the solve
    }
    // Where every value channel has a mask of its own, only what is seen is summed.
    const double cells_summed = structure_.value_decay ? rows_.outputs.writes : rows_.reads * rows_.rows;
    masked_product(cells_summed, rows_.outputs.writes, rows_.v);
    if (structure_.plain_write) masked_product(rows_.reads * rows_.rows, rows_.outputs.writes, rows_.v);
    product(rows_.reads, p_ * rows_.k, rows_.v);
    if (structure_.value_decay) {
      // The running products once for every row, then a mask of its own for every channel.
      scaled(2 * (rows_.rows - 1) * rows_.v + rows_.triangle() * rows_.v);
      if (erases) scaled(rows_.rows * rows_.rows * rows_.v);
      scaled(rows_.outputs.writes * rows_.v + rows_.outputs.decayed * rows_.v);
    }
    carry(true);
    const double kinds = structure_.plain_write ? 2 : 1;
    if (decays_ && logs_) exponentiated((kinds * rows_.rows + 1) * gates());
    const double cells = rows_.reads * rows_.rows + (erases ? rows_.rows * rows_.rows : 0);
    moved(2 * kinds * cells + 2 * p_ * rows_.k * rows_.v);
    return work_;
  }

 private:
  /// Decays of one row.
  double gates() const { return by_key_ ? rows_.k : 1; }

  void product(double a, double b, double c) { work_ += Work::product(a, b, c); }
  /// A product over cells of a matrix of which a mask leaves `seen`.
  void masked_product(double cells, double seen, double each) {
    work_ += {.products = cells * each, .seen = seen * each};
  }
  void scaled(double numbers) { work_ += {.multiplications = numbers}; }
  void exponentiated(double numbers) { work_ += {.exponentials = numbers}; }
  void moved(double numbers) { work_ += {.moved = numbers}; }

  void write_directions() {
    if (structure_.beta) scaled(rows_.rows * rows_.k);
  }

  /// Running products from the start, to the end and in between.
  void chunk_decays() {
    const double one_less = rows_.rows - 1;
    if (has_parts_) scaled((rows_.triangle() + rows_.rows * p_) * p_ * p_);
    if (decays_ && !logs_) scaled(2 * one_less * gates());
    if (decays_ && logs_) exponentiated(2 * rows_.rows * gates());
    if (decays_ && !by_key_ && !logs_) scaled(rows_.triangle());
    if (decays_ && !by_key_ && logs_) exponentiated(rows_.triangle() + rows_.rows);
    if (structure_.value_decay) scaled(2 * one_less * rows_.v);
  }

  /// x^T Phi y of all pairs, in sub-chunks where every channel has a decay of its own.
  void chunk_scores(const SeenRows& seen) {
    if (by_key_) {
      const double decayed = seen.inside + seen.decayed + rows_.starts;
      masked_product(seen.decays, seen.writes, rows_.k);
      scaled(decayed * rows_.k);
      if (logs_) exponentiated(decayed * rows_.k);
      if (!logs_) scaled((rows_.rows + rows_.pairs + rows_.starts) * rows_.k);
      return;
    }
    masked_product(seen.readers * rows_.rows, seen.writes, rows_.k);
    if (decays_) scaled(seen.decayed * rows_.rows);
    if (has_parts_) scaled(seen.writes * p_);  // the weights of every write for every reader
    if (has_parts_) scaled(seen.readers * rows_.rows);
  }

  void chunk_from_start(const SeenRows& seen) {
    if (has_parts_) scaled(seen.readers * p_ * (p_ + rows_.k));  // a vector once for every part
    if (decays_) scaled(seen.decayed * rows_.k);
  }

  void walk_scores(double readers, const SeenRows& seen) {
    if (by_key_) {
      masked_product(seen.writes, seen.writes, rows_.k);
      scaled(seen.writes * rows_.k);
    } else {
      masked_product(readers * rows_.rows, seen.writes, rows_.k);
      if (decays_) scaled(seen.writes);
      if (has_parts_) product(seen.writes, p_, 1);  // the weights of every write for every reader
      if (has_parts_) scaled(readers * rows_.rows);
    }
    if (decays_ && logs_) exponentiated(seen.writes * gates());
  }

  void walk_from_start(const SeenRows& seen) {
    if (has_parts_) product(seen.readers, p_, p_);
    scaled(seen.readers * p_ * rows_.k);
    if (decays_ && logs_) exponentiated(seen.readers * gates());
  }

  /// The rows' writes at the end of the block, and the state before it.
  void carry(bool decayed) {
    const double cells = rows_.k * rows_.v;
    product(p_ * rows_.k, rows_.rows, rows_.v);
    if (structure_.plain_write) product(rows_.k, rows_.rows, rows_.v);
    if (structure_.value_decay) scaled(rows_.rows * rows_.v + cells);
    if (has_parts_) {
      scaled(rows_.rows * p_ * rows_.k + p_ * p_ * cells);
    } else if (decayed) {
      scaled(rows_.rows * rows_.k + cells);
      if (structure_.plain_write) scaled(rows_.rows * rows_.k);
    }
  }

  const Structure& structure_;
  const MetRows& rows_;
  double p_ = static_cast<double>(structure_.part_count());
  bool has_parts_ = !structure_.parts.empty();
  bool decays_ = structure_.decay != Decay::none;
  bool by_key_ = structure_.decay == Decay::key;
  bool logs_ = structure_.gates_are_logs;
  Work work_;
};

}  // namespace

Work row_cost(const Structure& structure, const RowSizes& sizes, Form form, Index chunk_size,
              const std::vector<Index>& read_after) {
  static constexpr Work (Counter::*of_form[])() = {&Counter::recurrent, &Counter::chunk, &Counter::two_passes,
                                                   &Counter::parallel};
  const auto exact = [&](double tokens) {
    const MetRows rows = exact_rows(structure, sizes, tokens, read_after);
    return (Counter(structure, rows).*entry(of_form, form))();
  };
  return all_blocks(form, sizes.reads, chunk_size, exact);
}

}  // namespace palimpsest
