#include "core/rules/row_rule.h"

#include "core/base/parallel_for.h"
#include "core/costs/costs.h"
#include "core/engines/engines.h"
#include "core/engines/row_engines.h"
#include "core/operator/channel.h"

namespace palimpsest {

namespace {

/// How many rows are encoded at a time. In the recurrent form this bounds memory and changes no result.
Index rows_at_a_time(Form form, Index tokens, Index chunk_size, Index columns) {
  if (form != Form::recurrent) return tokens_at_once(form, chunk_size, tokens);
  constexpr Index numbers = Index{1} << 22;
  return std::clamp<Index>(numbers / std::max<Index>(columns, 1), 1, 256);
}

/// The rows with nothing to write and nothing to erase.
template <class Scalar>
Program<Scalar> without_writes(Program<Scalar> program) {
  if (program.structure.decay_by_key) program.gate.setConstant(program.structure.gates_are_logs ? 0 : 1);
  program.structure.erase = Erase::none;
  program.structure.plain_write = false;
  program.k.setZero();
  program.v.setZero();
  return program;
}

/// The way of a rule's sequences through a form.
template <class Scalar>
struct RowRun {
  const RowRule& rule;
  Form form;
  Index chunk_size;
  const std::stop_token& stop;
  const Engine<Program, Scalar>& engine;

  /// Calls visit(first, count, program) for the rows of one block of tokens after the other.
  template <class Visit>
  void each_block(const Sequence& sequence, Index block_size, Visit visit) const {
    for (Index first = 0; first < sequence.tokens; first += block_size) {
      stop_if_asked(stop);
      const Index count = std::min(block_size, sequence.tokens - first);
      visit(first, count, rule.encode<Scalar>(sequence, first, count));
    }
  }

  /// Every token reads the memory after the last one.
  Matrix<Scalar> read_finished(const Sequence& sequence, Carried<Scalar>& S, Index block_size) const {
    Matrix<Scalar> read(sequence.tokens, S.front().cols());
    each_block(sequence, block_size, [&](Index first, Index count, const auto& program) {
      read.middleRows(first, count) = engine.block({.phase = 1}, program, S);
    });
    return read;
  }

  /// What tokens read on the way or, if the program wants it, at the end; `edited` gives the rows to run.
  template <class Edit>
  Matrix<Scalar> run_blocks(const Sequence& sequence, Carried<Scalar>& S, Edit edited) const {
    const Index size = rows_at_a_time(form, sequence.tokens, chunk_size, S.front().rows());
    Matrix<Scalar> read(sequence.tokens, S.front().cols());
    bool reads_at_end = false;
    each_block(sequence, size, [&](Index first, Index count, const auto& program) {
      const Matrix<Scalar> o = engine.block(
          {.form = form, .chunk_size = chunk_size, .phase = 0, .stop = stop}, edited(program), S);
      reads_at_end = o.rows() < count;
      if (!reads_at_end) read.middleRows(first, count) = o;
    });
    return reads_at_end ? read_finished(sequence, S, size) : read;
  }

  /// First the states of all chunks, then all outputs: no chunk of the second pass waits for another.
  Matrix<Scalar> run_two_passes(const Sequence& sequence, Carried<Scalar>& S) const {
    struct Pass {
      Carried<Scalar> S_in;
      Matrix<Scalar> U;
    };
    std::vector<Pass> first_pass;
    const bool reads_at_end = !rule.is_causal(sequence);
    each_block(sequence, chunk_size, [&](Index, Index, const auto& program) {
      Carried<Scalar> S_in = S;
      Matrix<Scalar> U = engine.block({.form = form, .chunk_size = chunk_size, .phase = 0}, program, S);
      if (!reads_at_end) first_pass.push_back({std::move(S_in), std::move(U)});
    });
    if (reads_at_end) return read_finished(sequence, S, chunk_size);
    Matrix<Scalar> read(sequence.tokens, S.front().cols());
    each_block(sequence, chunk_size, [&](Index first, Index count, Program<Scalar> program) {
      Pass& made = entry(first_pass, first / chunk_size);
      program.v = std::move(made.U);
      read.middleRows(first, count) =
          engine.block({.form = form, .chunk_size = chunk_size, .phase = 1}, program, made.S_in);
    });
    return read;
  }

  /// The variant's outputs and states from what a head has read.
  Output finished(const Sequence& sequence, Matrix<Scalar> read, const Carried<Scalar>& S) const {
    return {in_f64(rule.finish<Scalar>(std::move(read), sequence)),
            rule.named_states(S.front().template cast<double>(), sequence)};
  }

  /// One head, block by block.
  Output one(const Sequence& sequence) const {
    Carried<Scalar> S = {rule.initial_state<Scalar>(sequence)};
    Matrix<Scalar> read =
        form == Form::two_pass ? run_two_passes(sequence, S) : run_blocks(sequence, S, std::identity());
    stop_if_asked(stop);
    return finished(sequence, std::move(read), S);
  }

  /// Tokens of every head that are encoded at a time: whole chunks, as many as fit into the engine's bytes.
  Index tokens_at_a_time(std::span<const Sequence> heads, const Program<Scalar>& empty) const {
    const Index tokens = heads.front().tokens;
    if (form == Form::parallel) return tokens;
    Index numbers = empty.q.cols() + empty.read_sight.cols() + empty.v.cols();
    for (const auto rows : Program<Scalar>::of_rows)
      numbers += empty.structure.rows_per_read * (empty.*rows).cols();
    const double bytes_per_token = static_cast<double>(numbers) * sizeof(Scalar);
    const double fitting = engine.most_bytes() / (bytes_per_token * static_cast<double>(heads.size()));
    if (fitting >= static_cast<double>(tokens)) return std::max(tokens, Index{1});
    const auto whole = std::max(static_cast<Index>(fitting), Index{1});
    return has_chunks(form) ? std::max(whole / chunk_size, Index{1}) * chunk_size : whole;
  }

  /// All heads at once, some tokens at a time.
  std::vector<Output> together(std::span<const Sequence> heads) const {
    const Index tokens = heads.front().tokens;
    const Program<Scalar> empty = rule.encode<Scalar>(heads.front(), 0, 0);
    const bool reads_at_end = !empty.structure.reads_on_the_way();
    const auto of_each_head = [&](auto make) { return made_in_parallel(heads.size(), stop, make); };
    std::vector<Carried<Scalar>> S =
        of_each_head([&](std::size_t h) { return Carried<Scalar>{rule.initial_state<Scalar>(heads[h])}; });
    std::vector<Matrix<Scalar>> read =
        of_each_head([&](std::size_t) { return Matrix<Scalar>(tokens, empty.v.cols()); });
    const EngineRequest request = {.form = form, .chunk_size = chunk_size, .stop = stop};
    const Index at_once = tokens_at_a_time(heads, empty);
    for (Index first = 0; first < tokens; first += at_once) {
      const Index count = std::min(at_once, tokens - first);
      const std::vector<Program<Scalar>> programs =
          of_each_head([&](std::size_t h) { return rule.encode<Scalar>(heads[h], first, count); });
      std::vector<Matrix<Scalar>> o = engine.run(request, programs, S);
      for (std::size_t h = 0; h < heads.size() && !reads_at_end; ++h) {
        if (count == tokens)
          read[h] = std::move(o[h]);
        else
          read[h].middleRows(first, count) = o[h];
      }
    }
    for (std::size_t h = 0; h < heads.size() && reads_at_end; ++h)
      read[h] = read_finished(heads[h], S[h], at_once);
    return of_each_head([&](std::size_t h) { return finished(heads[h], std::move(read[h]), S[h]); });
  }

  /// What tokens that write nothing read: [T, V].
  Matrix<double> answers(const Sequence& sequence) const {
    Carried<Scalar> S = {rule.initial_state<Scalar>(sequence)};
    Matrix<Scalar> read = run_blocks(sequence, S, without_writes<Scalar>);
    stop_if_asked(stop);
    return in_f64(rule.finish<Scalar>(std::move(read), sequence));
  }
};

/// `program` for one of its value channels alone.
Program<double> one_channel(Program<double> program, Index column) {
  for (Matrix<double>* values : {&program.v, &program.v_plain, &program.mu}) {
    if (values->size() > 0) *values = values->col(column).eval();
  }
  program.v.conservativeResize(program.rows(), 1);
  return program;
}

ChannelReads reads_of(const RowRule& rule, const Sequence& sequence, Index first, Index count) {
  Program<double> program = rule.encode<double>(sequence, first, count);
  const Structure structure = program.structure;
  // A read may come after rows that are not among these.
  if (!program.read_after.empty()) program = rule.encode<double>(sequence, first, sequence.tokens - first);
  ChannelReads reads{program.q.topRows(count), {}};
  if (!structure.parts.empty()) reads.q = spread<double>(program.read_sight.topRows(count), reads.q);
  const std::vector<Reader> readers = program.output_readers();
  for (Index s = 0; s < count; ++s) {
    const Index writes = first * structure.rows_per_read + entry(readers, s).writes;
    reads.after.push_back(structure.reads_on_the_way() ? writes : sequence.tokens * structure.rows_per_read);
  }
  return reads;
}

/// What a normalised rule adds to its denominator.
double eps_of(const Sequence& sequence) {
  const double* const eps = value_at(sequence.settings.parameters, "eps");
  return eps ? *eps : 0;
}

/// Throws Error unless the arrays of a program are those that its structure declares.
template <class Scalar>
void require_declared(const Program<Scalar>& program) {
  const Structure& declared = program.structure;
  const Index K = program.k.cols();
  const Index V = program.v.cols();
  const auto p = static_cast<Index>(declared.parts.size());
  const auto require = [](const char* array, Index has, const char* what, Index expected) {
    if (has == expected) return;
    throw Error(fmt::format("the rows of a rule have an array {} of {} {}; its structure declares {}", array,
                            has, what, expected));
  };
  require("k", program.rows(), "rows", program.reads() * declared.rows_per_read);
  require("gate", program.gate.cols(), "columns",
          declared.decay == Decay::none     ? 0
          : declared.decay == Decay::scalar ? 1
                                            : K);
  require("mu", program.mu.cols(), "columns", declared.value_decay ? V : 0);
  require("a", program.a.cols(), "columns", declared.erase_key ? K : 0);
  require("beta", program.beta.cols(), "columns", declared.beta ? 1 : 0);
  require("k_plain", program.k_plain.cols(), "columns", declared.plain_write ? K : 0);
  require("v_plain", program.v_plain.cols(), "columns", declared.plain_write ? V : 0);
  require("transition", program.transition.cols(), "columns", p * p);
  require("inject", program.inject.cols(), "columns", p);
  require("erase_sight", program.erase_sight.cols(), "columns", p);
  require("read_sight", program.read_sight.cols(), "columns", p);
}

}  // namespace

const Encoder& given_rows() {
  static const Encoder encode = []<class Scalar>(const Rows<Scalar>& rows) {
    const auto where_given = [&](const char* name) {
      return rows.sequence.has(name) ? rows(name) : Matrix<Scalar>();
    };
    return Program<Scalar>{.q = rows.scaled_q(),
                           .k = rows("k"),
                           .v = rows("v"),
                           .gate = where_given("alpha"),
                           .mu = where_given("mu"),
                           .beta = where_given("beta")};
  };
  return encode;
}

std::shared_ptr<const Rule> row_rule(std::function<Structure(const Settings&)> structure, Encoder encode,
                                     Notation notation, SaidByData said_by_data) {
  return std::make_shared<RowRule>(
      RowDeclaration{.structure = std::move(structure),
                     .said_by_data = said_by_data,
                     .encoder = std::move(encode),
                     .notation = [notation](const Settings&) { return notation; }});
}

std::shared_ptr<const Rule> row_rule(Structure structure, Encoder encode, Notation notation,
                                     SaidByData said_by_data) {
  return row_rule([structure](const Settings&) { return structure; }, std::move(encode), std::move(notation),
                  said_by_data);
}

Structure RowRule::structure(const Settings& settings) const {
  Structure known = declaration_.structure(settings);
  constexpr Index several = 2;
  if (!declaration_.said_by_data.rows_per_read.empty()) known.rows_per_read = several;
  return known;
}

Structure RowRule::structure(const Sequence& sequence) const {
  const SaidByData& said = declaration_.said_by_data;
  Structure known = declaration_.structure(sequence.settings);
  if (!said.decay.empty() && !sequence.has(said.decay)) known.decay = Decay::none;
  if (known.decay != Decay::none && sequence.gates_are_logs) known.gates_are_logs = true;
  if (!said.rows_per_read.empty()) known.rows_per_read = sequence.at(said.rows_per_read).columns();
  return known;
}

template <class Scalar>
Program<Scalar> RowRule::encode(const Sequence& sequence, Index first, Index count) const {
  Program<Scalar> program = declaration_.encoder.in<Scalar>()({sequence, first, count});
  program.structure = structure(sequence);
  require_declared(program);
  return program;
}

Matrix<double> given_or_zero(const Sequence& sequence, std::string_view name, Index rows, Index columns) {
  if (sequence.has(name)) return sequence.at(name).all<double>();
  return Matrix<double>::Zero(rows, columns);
}

Notation learning_notation(const Settings&) {
  return {.token = {.q = "q", .k = "k", .v = "v", .o = "o", .beta = "eta"},
          .rows = {.q = "Q", .k = "K", .v = "V", .o = "O", .beta = "eta"},
          .symbols = {{"eta", {"\\eta", Role::strength, "learning rate"}}}};
}

template <class Scalar>
Matrix<Scalar> RowRule::initial_state(const Sequence& sequence) const {
  const Program<Scalar> empty = encode<Scalar>(sequence, 0, 0);
  require_state(sequence, empty.k.cols() * empty.structure.part_count(), empty.v.cols());
  if (declaration_.states.initial) return declaration_.states.initial(sequence).template cast<Scalar>();
  Matrix<Scalar> S = Matrix<Scalar>::Zero(empty.k.cols(), empty.v.cols());
  const auto fill = [&](const char* name, auto part) {
    if (!sequence.has(name)) return;
    const MatrixView& given = sequence.at(name);
    if (given.rows() != part.rows() || given.columns() != part.cols()) {
      refuse("array \"{}\": shape [{}, {}]; expected [{}, {}]", name, given.rows(), given.columns(),
             part.rows(), part.cols());
    }
    part = given.all<Scalar>();
  };
  if (declaration_.normalised) require_together(sequence, "initial_S", "initial_z");
  if (!declaration_.normalised) {
    fill("initial_state", S.leftCols(S.cols()));
  } else {
    fill("initial_S", S.leftCols(S.cols() - 1));
    fill("initial_z", S.rightCols(1));
  }
  return S;
}

NamedStates RowRule::named_states(const Matrix<double>& S, const Sequence& sequence) const {
  if (declaration_.states.named) return declaration_.states.named(S, sequence);
  if (!declaration_.normalised) return {{"S", S}};
  return {{"S", S.leftCols(S.cols() - 1)}, {"z", S.rightCols(1)}};
}

template <class Scalar>
Matrix<Scalar> RowRule::divided(Matrix<Scalar> read, const Sequence& sequence) const {
  if (!declaration_.normalised) return read;
  const auto denominator = read.col(read.cols() - 1).array() + static_cast<Scalar>(eps_of(sequence));
  return (read.leftCols(read.cols() - 1).array().colwise() / denominator).matrix();
}

template <class Scalar>
Matrix<Scalar> RowRule::finish(Matrix<Scalar> read, const Sequence& sequence, Index first) const {
  if (!declaration_.finish) return divided(std::move(read), sequence);
  return declaration_.finish.in<Scalar>()(read, {sequence, first, read.rows()});
}

Matrix<double> program_state(const NamedStates& states) {
  Index columns = 0;
  for (const auto& [name, state] : states) columns += state.cols();
  Matrix<double> all(states.front().second.rows(), columns);
  Index column = 0;
  for (const auto& [name, state] : states) {
    all.middleCols(column, state.cols()) = state;
    column += state.cols();
  }
  return all;
}

std::vector<Output> RowRule::run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                       Index chunk_size, std::stop_token stop,
                                       const DeviceEngines& engines) const {
  if (heads.empty()) return {};
  const Sequence& head = heads.front();
  require_form(form, head.settings, chunk_size);
  require_footprint(footprint(head, form, precision, chunk_size), head, form, chunk_size);
  return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& of_scalar) {
    const RowRun<Scalar> run{*this, form, chunk_size, stop, of_scalar.rows};
    if (of_scalar.rows.most_bytes() > 0) return run.together(heads);
    return made_of(heads, [&](const Sequence& each) { return run.one(each); });
  });
}

KernelKind RowRule::kernel(const Sequence& sequence, Form form, Precision precision,
                           const DeviceEngines& engines) const {
  return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& of_scalar) {
    return of_scalar.rows.kernel({.form = form}, encode<Scalar>(sequence, 0, 0));
  });
}

Matrix<double> RowRule::answers(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                                std::stop_token stop) const {
  require_chunk_size(chunk_size);
  const Form needed = form == Form::two_pass ? Form::chunkwise : form;  // there is nothing to pass on
  require_footprint(footprint(sequence, needed, precision, chunk_size), sequence, needed, chunk_size);
  return cpu_engines().with(precision, [&]<class Scalar>(const Engines<Scalar>& of_scalar) {
    return RowRun<Scalar>{*this, needed, chunk_size, stop, of_scalar.rows}.answers(sequence);
  });
}

void RowRule::walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const {
  Matrix<double> S = initial_state<double>(sequence);
  Index token = 0;
  const auto named = [&] {
    Sequence so_far = sequence;
    so_far.tokens = token;
    return named_states(S, so_far);
  };
  while (visit(token, named()) && token < sequence.tokens) {
    stop_if_asked(stop);
    recurrent(encode<double>(sequence, token, 1), S);
    ++token;
  }
}

bool RowRule::is_causal(const Sequence& sequence) const { return structure(sequence).reads_on_the_way(); }

Footprint RowRule::footprint(const Sequence& sequence, Form form, Precision precision,
                             Index chunk_size) const {
  const Program<double> empty = encode<double>(sequence, 0, 0);
  const Structure& structure = empty.structure;
  const Index state_rows = empty.k.cols() * structure.part_count();
  require_state(sequence, state_rows, empty.v.cols());
  const auto K = static_cast<double>(state_rows);
  const auto V = static_cast<double>(empty.v.cols());
  const auto T = static_cast<double>(sequence.tokens);
  const Index tokens = rows_at_a_time(form, sequence.tokens, chunk_size, empty.k.cols());
  const auto rows = std::min(T, static_cast<double>(tokens)) * static_cast<double>(structure.rows_per_read);
  const double matrices = form == Form::parallel ? parallel_matrices(structure)
                          : has_chunks(form)     ? chunk_matrices(structure)
                                                 : 0;
  const double number = precision == Precision::f64 ? 8 : 4;
  // q, k, v, b and the gates, decayed copies of them, and what solves and sums need.
  const double numbers = rows * (8 * K + 6 * V) + 3 * K * V + matrices * rows * rows + T * V;
  // What the first pass hands to the second: the state before every chunk, and what all rows write.
  const double chunks = std::ceil(T / static_cast<double>(tokens));
  const double passed_on = form == Form::two_pass && structure.reads_on_the_way()
                               ? chunks * K * V + T * static_cast<double>(structure.rows_per_read) * V
                               : 0;
  // A rule may hand on a number of each key channel besides the state: what it divides by.
  return {.work = number * (numbers + passed_on),
          .kept = 8 * (T * V + K * V + K),
          .what = passed_on > numbers ? "the states of all chunks" : ""};
}

std::optional<Work> RowRule::cost(const Sequence& sequence, Form form, Index chunk_size) const {
  require_chunk_size(chunk_size);
  const Program<double> empty = encode<double>(sequence, 0, 0);
  const RowSizes sizes = {.reads = sequence.tokens,
                          .columns_k = static_cast<double>(empty.k.cols()),
                          .columns_v = static_cast<double>(empty.v.cols())};
  // Only readers of their own need the rows themselves.
  const Index one = std::min<Index>(sequence.tokens, 1);
  const bool reads_elsewhere = !encode<double>(sequence, 0, one).read_after.empty();
  const Index rows = form == Form::parallel && reads_elsewhere ? sequence.tokens : 0;
  return row_cost(empty.structure, sizes, form, chunk_size, encode<double>(sequence, 0, rows).read_after);
}

Channel RowRule::channel(const Sequence& sequence, Index column) const {
  const Program<double> empty = encode<double>(sequence, 0, 0);
  require_column(column, empty.v.cols());
  Channel channel{.tokens = sequence.tokens,
                  .rows_per_token = empty.structure.rows_per_read,
                  .initial = initial_state<double>(sequence).col(column),
                  .rows =
                      [this, sequence, column](Index first, Index count) {
                        return one_channel(encode<double>(sequence, first, count), column);
                      },
                  .reads = [this, sequence](Index first,
                                            Index count) { return reads_of(*this, sequence, first, count); }};
  if (declaration_.normalised) channel.denominator = {empty.v.cols() - 1, eps_of(sequence)};
  return channel;
}

template Program<double> RowRule::encode<double>(const Sequence&, Index, Index) const;
template Program<float> RowRule::encode<float>(const Sequence&, Index, Index) const;
template Matrix<double> RowRule::initial_state<double>(const Sequence&) const;
template Matrix<float> RowRule::initial_state<float>(const Sequence&) const;
template Matrix<double> RowRule::finish<double>(Matrix<double>, const Sequence&, Index) const;
template Matrix<float> RowRule::finish<float>(Matrix<float>, const Sequence&, Index) const;
template Matrix<double> RowRule::divided<double>(Matrix<double>, const Sequence&) const;

}  // namespace palimpsest
