#include "app/commands/command_line.h"

#include <atomic>
#include <cmath>

#include "app/commands/options.h"
#include "app/session/devices.h"
#include "app/session/named_file.h"
#include "core/cases/random_case.h"
#include "core/io/file.h"
#include "core/rules/fastest_form.h"

namespace palimpsest {

std::string describe_progress(const SequenceBatch& batch, const std::string& device, Index done) {
  const auto count = static_cast<Index>(batch.heads.size());
  const std::string tokens =
      batch.heads.empty() ? "" : counted(batch.heads.front().tokens, "token", "tokens");
  const std::string heads = counted(count, "head", "heads");
  if (done == 0) return fmt::format("{} of {} on {}", heads, tokens, device);
  return fmt::format("{} of {} of {} done on {}", done, heads, tokens, device);
}

namespace {

/// One array of every head, joined. Where rows are tokens, the axis H stands behind them, else in front; of a
/// vector [D, 1] stands for [D].
template <class Scalar>
Array joined(const SequenceBatch& batch, const std::vector<const Matrix<double>*>& heads, bool has_tokens,
             bool is_vector) {
  const Index rows = heads.front()->rows();
  const Index columns = heads.front()->cols();
  std::vector<Index> shape;
  if (batch.rank == 4) shape.push_back(batch.batch_count);
  if (has_tokens) shape.push_back(rows);
  if (batch.rank >= 3) shape.push_back(batch.head_count);
  if (!has_tokens) shape.push_back(rows);
  if (!is_vector) shape.push_back(columns);
  std::vector<Scalar> values(heads.size() * static_cast<std::size_t>(rows * columns));
  for (Index i = 0; i < std::ssize(heads); ++i) {
    const Index b = i / batch.head_count;
    const Index head = i % batch.head_count;
    for (Index row = 0; row < rows; ++row) {
      const Index target = has_tokens ? (b * rows + row) * batch.head_count + head : i * rows + row;
      Eigen::Map<RowVector<Scalar>>(values.data() + target * columns, columns) =
          entry(heads, i)->row(row).template cast<Scalar>();
    }
  }
  return {shape, std::move(values)};
}

/// Whether a state is a vector: its initial value is an input with one axis (under the state's own name where
/// a rule starts from given weights).
bool is_vector(const Variant& variant, const Settings& settings, const std::string& state) {
  return std::ranges::any_of(inputs_of(variant, settings), [&](const Input& input) {
    return input.name == initial_name(variant, settings, state) && input.shape.size() == 1;
  });
}

Matrix<double> column_of(const Array& array, double factor = 1) {
  return factor * MatrixView(array, 0, array.size(), 1, 1).all<double>();
}

/// Runs every head of every batch: `o` and the final states under their contract names, with the axes of
/// heads and batches that q has, as double for f64 and as float for f32. `head_done` as in the backend's own.
Arrays run_heads(const Backend& backend, const Variant& variant, const SequenceBatch& batch, Form form,
                 Precision precision, Index chunk_size, std::stop_token stop, const HeadDone& head_done) {
  if (batch.heads.empty())
    refuse("there is nothing to compute: {} batches of {} heads", batch.batch_count, batch.head_count);
  // They are held as they are computed, joined, and as the bytes of the file.
  constexpr double largest_results = byte_limit / 3;
  const Footprint footprint = variant.rule->footprint(batch.heads.front(), form, precision, chunk_size);
  const double results = footprint.kept * static_cast<double>(batch.heads.size());
  if (results > largest_results)
    refuse(
        "{} heads, {} tokens, {} key and {} value channels: outputs and final states take {:.1f} GB; the "
        "limit is {:.0f} GB",
        batch.heads.size(), batch.heads.front().tokens, batch.heads.front().dk, batch.heads.front().dv,
        results / 1e9, largest_results / 1e9);
  const std::vector<Output> outputs =
      backend.run_heads(variant, batch.heads, form, precision, chunk_size, std::move(stop), head_done);

  Arrays arrays;
  const auto add = [&](const std::string& name, bool are_vectors, auto of_head) {
    std::vector<const Matrix<double>*> heads;
    for (std::size_t head = 0; head < outputs.size(); ++head) heads.push_back(&of_head(head));
    arrays[name] = precision == Precision::f64 ? joined<double>(batch, heads, name == "o", are_vectors)
                                               : joined<float>(batch, heads, name == "o", are_vectors);
  };
  add(
      "o", false, [&](std::size_t head) -> const auto& { return outputs[head].o; });
  const NamedStates& states = outputs.front().states;
  for (std::size_t i = 0; i < states.size(); ++i)
    add(
        final_name(states.size(), states[i].first),
        is_vector(variant, batch.heads.front().settings, states[i].first),
        [&](std::size_t head) -> const auto& { return outputs[head].states[i].second; });
  if (!variant.hand_over || states.empty()) return arrays;
  // What a run that goes on must be given besides the states: vectors.
  std::map<std::string, std::vector<Matrix<double>>> handed;
  for (const Sequence& head : batch.heads) {
    Arrays more;
    variant.hand_over(head, more);
    for (const auto& [name, array] : more) handed[name].push_back(column_of(array));
  }
  for (const auto& [name, vectors] : handed)
    add(
        name, true, [&](std::size_t head) -> const auto& { return vectors[head]; });
  return arrays;
}

bool is_too_large(double value) { return std::isfinite(value) && !std::isfinite(static_cast<float>(value)); }

/// Whether the result `name` may hold `value`: a log-sum over nothing is -inf.
bool may_hold(const Variant& variant, const std::string& name, double value) {
  if (std::isfinite(value)) return true;
  return std::ranges::any_of(variant.inputs, [&](const Input& input) {  // initial_log_z, final_log_z
    const std::string final = "final" + input.name.substr(std::min(input.name.find('_'), input.name.size()));
    return final == name && bounds(input.range).contain(value);
  });
}

/// Whether f32 rounds it to 0.
bool vanishes(double value) { return value != 0 && static_cast<float>(value) == 0; }

/// The first number in the order of tokens that should not be there; -1 if there is none.
Index first_not_finite(const Variant& variant, const std::string& name, const Array& array) {
  for (Index flat = 0; flat < array.size(); ++flat) {
    if (!may_hold(variant, name, array[flat])) return flat;
  }
  return -1;
}

/// Why: a rule that divides by the sum of its weights may have none left; else numbers outgrew their type.
std::string reason(const Variant& variant, const Arrays& results, const std::string& array,
                   Precision precision) {
  const bool divides = is_among("z", variant.states, &State::name);
  const bool states_are_finite = std::ranges::all_of(results, [&](const auto& result) {
    return result.first == "o" || first_not_finite(variant, result.first, result.second) < 0;
  });
  if (array == "o" && divides && states_are_finite)
    return "the weights add up to 0 there, and eps does not prevent the division";
  return fmt::format("numbers exceed the range of {}", name(precision));
}

/// Throws InputError naming the array and the index, or the parameter, that f32 cannot hold: finite numbers
/// that become infinite, and parameters that become 0.
void require_fits_f32(const Variant& variant, const Arrays& arrays, const SequenceBatch& batch) {
  for (const std::string& name : array_names(variant)) {
    const auto found = arrays.find(name);
    if (found == arrays.end() || found->second.is_f32()) continue;
    const Array& array = found->second;
    for (Index flat = 0; flat < array.size(); ++flat) {
      if (!is_too_large(array[flat])) continue;
      refuse("array \"{}\": index {} is {}, which f32 cannot hold", name,
             to_string(index_of(array.shape, flat)), array[flat]);
    }
  }
  for (const Sequence& head : batch.heads) {
    for (const auto& [name, value] : head.settings.parameters) {
      if (is_too_large(value) || vanishes(value))
        refuse("parameter {} is {}, which f32 cannot hold", name, value);
    }
    for (const Input& input : inputs_of(variant, head.settings)) {
      if (input.range != Range::positive_definite || !head.has(input.name)) continue;
      const Matrix<double> matrix = square(head.at(input.name));
      for (const double value : matrix.diagonal()) {
        if (vanishes(value)) refuse("array \"{}\": {} on its diagonal, which is 0 in f32", input.name, value);
      }
    }
  }
}

/// For every array of `results` that holds NaN or an infinity: a line that names it, the head and the first
/// token, and the reason where it can be told.
std::vector<std::string> not_finite(const Variant& variant, const SequenceBatch& batch, const Arrays& results,
                                    Precision precision) {
  std::vector<std::string> lines;
  for (const auto& [name, array] : results) {
    const Index flat = first_not_finite(variant, name, array);
    if (flat < 0) continue;
    const std::vector<Index> index = index_of(array.shape, flat);
    const bool has_tokens = name == "o";
    const auto batch_axes = static_cast<std::size_t>(batch.rank == 4 ? 1 : 0);
    std::string place;
    if (has_tokens) place += fmt::format(" from token {}", index[batch_axes]);
    if (batch.rank >= 3) place += fmt::format(" in head {}", index[batch_axes + (has_tokens ? 1 : 0)]);
    if (batch.rank == 4) place += fmt::format(" of batch {}", index[0]);
    lines.push_back(fmt::format("the result \"{}\" is not finite{} (index {} is {}): {}", name, place,
                                to_string(index), array[flat], reason(variant, results, name, precision)));
  }
  return lines;
}

/// The factor with the least squared difference.
double best_factor(const Array& x, const Array& y) {
  double products = 0;
  double squares = 0;
  for (Index i = 0; i < y.size(); ++i) {
    products += x[i] * y[i];
    squares += x[i] * x[i];
  }
  return squares > 0 ? products / squares : 0;
}

/// "4 heads of 1024 tokens, K 32, V 48, scale 1": what a run took the arrays for.
std::string describe_batch(const SequenceBatch& batch) {
  const Sequence& head = batch.heads.front();
  std::string words = batch.batch_count == 1 ? "" : counted(batch.batch_count, "batch", "batches") + " of ";
  words += fmt::format("{} of {}, K {}, V {}, ", counted(batch.head_count, "head", "heads"),
                       counted(head.tokens, "token", "tokens"), head.dk, head.dv);
  const double scale = head.parameter("scale");
  const auto has_it = [&](const Sequence& other) { return other.parameter("scale") == scale; };
  return words + (std::ranges::all_of(batch.heads, has_it) ? fmt::format("scale {:.6g}", scale)
                                                           : "a scale for every head");
}

/// "; no run can go on from its states: ..." where they lie within an inner batch; else nothing.
std::string describe_states(const SequenceBatch& batch) {
  const Sequence& head = batch.heads.front();
  const Index batch_size = inner_batch(head.settings);
  if (head.tokens % batch_size == 0) return {};
  return fmt::format("; no run can continue from its states: they are inside an inner batch of {}",
                     batch_size);
}

/// The difference of the output `o` of a run from `given`, the output in its input file; and whether a single
/// factor would make them equal, as for a forgotten scale.
std::string compare_with_given(const Array& o, const Array& given) {
  if (o.shape != given.shape)
    return fmt::format("the o in the input has the shape {}, not {}, and was not compared",
                       to_string(given.shape), to_string(o.shape));
  const Matrix<double> expected = column_of(given);
  if (!expected.allFinite()) return "the o in the input is not finite, and was not compared";
  const double error = compare("o", column_of(o), expected).error;
  std::string words = fmt::format("relative difference {:.1e} from the o in the input", error);
  constexpr double far = 1e-2;   // no rounding, not even of bf16
  constexpr double near = 1e-2;  // of what remains after the factor
  const double factor = best_factor(o, given);
  const double left = compare("o", column_of(o, factor), expected).error;
  if (std::isfinite(error) && error > far && factor != 0 && left < near * error)
    words += fmt::format("; {:.6g} times this output differs by {:.1e}: another scale?", factor, left);
  return words;
}

/// In place of a form's name: whichever is expected to be faster.
constexpr const char* form_auto = "auto";

const Backend& backend_of(const CommandOptions& options) {
  const Backend& backend = find_backend(options["--device"], fastest_backends());
  if (!options.is_set("--ask")) return backend;
  if (!is_cpu(backend)) throw Unsupported("--ask runs on the cpu only");
  return asking_backend();
}

Npz read_input(const std::string& input, const Variant& variant, const Settings& given) {
  if (input.starts_with("random:"))
    return {.arrays = random_arrays(variant, resolve(variant, given), parse_random_case(input))};
  const std::vector<std::string> names = array_names(variant);
  const auto is_wanted = [&](std::string_view name) { return name == "o" || is_among(name, names); };
  const NamedFile named = named_file(input);
  Npz npz = read_named(named, is_wanted);
  for (const std::string& name : names) require_readable(npz.unreadable, name);
  std::vector<std::string> required;
  for (const Input& wanted : inputs_of(variant, resolve(variant, given))) {
    const bool has_logs = wanted.range == Range::decay && npz.arrays.contains("g");
    if (!wanted.absent && !has_logs) required.push_back(wanted.name);
  }
  require_inputs(named, required, npz);
  return npz;
}

/// One line that names what the variant does not know, whether it can be read or not.
void tell_ignored(const Console& console, const CommandOptions& options, std::vector<std::string> names,
                  const Texts& texts, const Unreadable& unreadable) {
  for (const auto& [name, text] : texts) names.push_back(name);
  for (const auto& [name, problem] : unreadable) names.push_back(name);
  if (names.empty()) return;
  std::ranges::sort(names);
  tell(console,
       fmt::format("{}: {} does not use: {}", options["--input"], options["VARIANT"], few_of(names)));
}

/// Throws InputError where nothing has been written that could answer.
void require_initial_state(const Variant& variant, const Sequence& head) {
  const std::vector<std::string> names =
      made_of(states_of(variant, head.settings),
              [&](const std::string& state) { return initial_name(variant, head.settings, state); });
  const bool given = std::ranges::any_of(names, [&](const std::string& name) { return head.has(name); });
  if (given || names.empty()) return;
  refuse("--ask: {} is missing; give what a run over the block of keys wrote as {}", fmt::join(names, ", "),
         final_name(names.size(), states_of(variant, head.settings).front()));
}

/// Why --form auto takes the form {0} and not {1}, by Faster: in {2} on {3}, at {4} operations a token and
/// {5}.
constexpr const char* reasons_to_take[] = {
    "{0} form: there is no {1} one here",
    "{0} form: it has a fast kernel in {2} on {3}, the {1} one has none",
    "{0} form: its kernel on {3} goes over the memory once for two tokens",
    "{0} form: all tokens would lie within one chunk",
    "{0} form: {3} computes the tokens of a chunk side by side",
    "{0} form: {4:.0f} operations a token, {1} {5:.0f}; in chunks each takes less time, in products"};

std::string describe_choice(const FastestForm& choice, Precision precision, const Backend& backend) {
  const Form other = choice.form == Form::recurrent ? Form::chunkwise : Form::recurrent;
  return fmt::format(fmt::runtime(entry(reasons_to_take, choice.why)), name(choice.form), name(other),
                     name(precision), backend.name(), choice.operations, choice.others);
}

int run(const CommandOptions& options, const Console& console) {
  const Variant& variant = find_variant(variant_id(options["VARIANT"]));
  const std::optional<Form> given_form = parse_form_or(options["--form"], form_auto);
  Form form = given_form.value_or(Form::recurrent);
  const Backend& backend = backend_of(options);
  const Precision precision = parse_precision(options["--precision"]);
  const Index chunk_size = parse_count(options["--chunk"], "--chunk");
  require_chunk_size(chunk_size);
  const Settings given = parse_settings(variant, options.all("--param"));
  usable_backend(backend.name());
  const auto missing = [&](Form each) {
    return backend.missing(variant, resolve(variant, given), each, precision);
  };
  if (const auto reason = missing(form); reason && (given_form || missing(Form::chunkwise)))
    throw Unsupported(fmt::format("{} has no {} form in {} on {} with these settings: {}",
                                  name_in_reports(variant.id), name(form), name(precision), backend.name(),
                                  *reason));

  require_other_file(options["--output"], options["--input"]);
  const Interrupt interrupt;
  Npz npz = read_input(options["--input"], variant, given);
  const auto arrays = std::make_shared<const Arrays>(std::move(npz.arrays));
  const SequenceBatch batch = naming_input(options["--input"], [&] {
    SequenceBatch bound = bind(variant, arrays, given);
    if (precision != Precision::f64) require_fits_f32(variant, *arrays, bound);
    if (options.is_set("--ask") && !bound.heads.empty()) require_initial_state(variant, bound.heads.front());
    return bound;
  });
  std::vector<std::string> ignored = batch.ignored;
  if (!options.is_set("--ask")) std::erase(ignored, "o");  // it is compared
  ignored.insert(ignored.end(), npz.unread.begin(), npz.unread.end());
  tell_ignored(console, options, ignored, npz.texts, npz.unreadable);
  writable_target(options["--output"]);  // before the work is done
  if (!given_form && !batch.heads.empty()) {
    const FastestForm choice = fastest_form(backend, variant, batch.heads.front(), precision, chunk_size);
    form = choice.form;
    tell(console, describe_choice(choice, precision, backend));
  }
  const Arrays results = naming_input(options["--input"], [&] {
    std::atomic<Index> done = 0;
    const std::jthread line =
        show_waiting(console, [&] { return describe_progress(batch, backend.name(), done); });
    return run_heads(backend, variant, batch, form, precision, chunk_size, interrupt.token(),
                     [&] { ++done; });
  });
  const std::string fused = fused_kernel(backend, variant, batch.heads.front(), form, precision);
  if (!fused.empty()) tell(console, fused);
  std::string summary = describe_batch(batch) + (options.is_set("--ask") ? "" : describe_states(batch));
  if (arrays->contains("o") && !options.is_set("--ask"))
    summary += "; " + compare_with_given(results.at("o"), arrays->at("o"));
  for (const std::string& line : not_finite(variant, batch, results, precision))
    tell(console, fmt::format("{}: {}", options["--input"], line));
  stop_if_asked(interrupt.token());
  write_npz(options["--output"], results);
  console.out << fmt::format("{}: {} {} in {} on {}: {}\n", one_line(options["--output"]),
                             name_in_reports(variant.id), name(form), name(precision), backend.name(),
                             summary);
  return exit_done;
}

}  // namespace

Task add_run(CommandOptions command, Console console) {
  command.option("VARIANT", "Id of the variant; palimpsest info lists them. Or a rule's text, FILE.rule", "",
                 {.required = true});
  command.option("--form",
                 fmt::format("{}; or {}: recurrent or chunkwise, whichever is expected to be faster",
                             joined_names(all_forms), form_auto),
                 "recurrent");
  command.option("--device", "cpu or cuda", "cpu");
  command.option("--precision", "f64, f32; tf32, bf16 on a device that has them", "f64");
  command.option("--chunk", "Tokens per chunk, where the form has chunks; changes no result", "64");
  command.option("--input",
                 "The file with q, k, v and the other inputs: .npz, .safetensors, .csv, or one of the .npy "
                 "files of a folder; FILE?q=query&beta=b reads arrays of other names",
                 "", {.required = true});
  command.option("--output", "The .npz to write: o and the final states", "", {.required = true});
  command.list("--param", "NAME=VALUE: an option or a parameter of the variant", {.repeated = true});
  command.flag("--ask",
               "The tokens of the input only query: their q and gates are used, their k, v and beta are not. "
               "The initial state returns the outputs and decays by the gates. For queries after a block "
               "of keys, with its final state. On the cpu, for rules with one linear memory");
  return [command, console] { return run(command, console); };
}

}  // namespace palimpsest
