#include "app/session/named_file.h"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/base/refuse.h"
#include "core/base/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr std::string_view sigmoid_of = "sigmoid(";

/// What other programs call an input, in small letters without "_".
constexpr std::pair<std::string_view, std::string_view> near_names[] = {
    {"query", "q"},     {"queries", "q"},          {"key", "k"},         {"keys", "k"},
    {"value", "v"},     {"values", "v"},           {"b", "beta"},        {"bt", "beta"},
    {"betas", "beta"},  {"logdecay", "g"},         {"logalpha", "g"},    {"gk", "g"},
    {"decay", "alpha"}, {"alphas", "alpha"},       {"lr", "eta"},        {"learningrate", "eta"},
    {"output", "o"},    {"softmaxscale", "scale"}, {"smscale", "scale"}, {"h0", "initial_state"}};

/// The input that an array of this name stands for; empty: none.
std::string_view near_input(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const auto& [near, input] : near_names) {
    if (near == plain || (input == plain && input != name)) return input;
  }
  return {};
}

/// "sigmoid(b)" is of b.
std::string array_in(const std::string& source) {
  const bool is_sigmoid = source.starts_with(sigmoid_of) && source.ends_with(')');
  return is_sigmoid ? source.substr(sigmoid_of.size(), source.size() - sigmoid_of.size() - 1) : source;
}

/// Whether arrays of this name have a row for each token.
bool is_along_tokens(std::string_view name) {
  if (name == "g" || name == "o") return true;
  return std::ranges::any_of(variants(), [&](const Variant& variant) {
    const std::vector<Input> inputs = all_inputs(variant);
    const Input* const input = row_called(inputs, name, &Input::name);
    return input && has_tokens(*input);
  });
}

/// The array with two neighbouring axes in the other order.
Array with_axes_swapped(const Array& array, std::size_t axis) {
  const auto product = [&](std::size_t first, std::size_t end) {
    Index all = 1;
    for (std::size_t i = first; i < end; ++i) all *= array.shape[i];
    return all;
  };
  const Index outer = product(0, axis);
  const Index inner = product(axis + 2, array.shape.size());
  const Index rows = array.shape[axis];
  const Index columns = array.shape[axis + 1];
  std::vector<Index> shape = array.shape;
  std::swap(shape[axis], shape[axis + 1]);
  return std::visit(
      [&](const auto& values) {
        std::remove_cvref_t<decltype(values)> swapped;
        swapped.reserve(values.size());
        for (Index o = 0; o < outer; ++o)
          for (Index column = 0; column < columns; ++column)
            for (Index row = 0; row < rows; ++row) {
              const auto first = values.begin() + ((o * rows + row) * columns + column) * inner;
              swapped.insert(swapped.end(), first, first + inner);
            }
        return Array(shape, std::move(swapped));
      },
      array.values());
}

/// The axis of the heads of arrays [H, T, D] or [B, H, T, D]; nothing where there are no heads.
std::optional<std::size_t> first_of_two_axes(const Arrays& arrays) {
  const Array* const q = value_at(arrays, "q");
  if (!q || (q->rank() != 3 && q->rank() != 4)) return std::nullopt;
  return static_cast<std::size_t>(q->rank()) - 3;
}

/// Turns [H, T, …] into [T, H, …]. What is [T, H] already stays.
void put_tokens_first(Arrays& arrays) {
  const auto axis = first_of_two_axes(arrays);
  if (!axis) return;
  const Index tokens = arrays.at("q").shape[*axis + 1];
  for (auto& [name, array] : arrays) {
    const bool turns =
        is_along_tokens(name) && array.shape.size() > *axis + 1 && array.shape[*axis + 1] == tokens;
    if (turns) array = with_axes_swapped(array, *axis);
  }
}

/// The least and the largest number that is one.
std::pair<double, double> reach_of(const Array& array) {
  std::pair<double, double> reach = {std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity()};
  for (Index i = 0; i < array.size(); ++i) {
    if (array[i] < reach.first) reach.first = array[i];
    if (array[i] > reach.second) reach.second = array[i];
  }
  return reach;
}

/// The arrays of a file that a rule has no use for; without one those that could stand for another input.
std::vector<std::string> unused_names(const Arrays& arrays, const std::vector<std::string>& unread,
                                      const Variant* rule) {
  std::vector<std::string> names = unread;
  const std::vector<std::string> taken = rule ? array_names(*rule) : std::vector<std::string>();
  for (const auto& [name, array] : arrays) {
    const bool is_used = rule ? name == "o" || is_among(name, taken) : near_input(name).empty();
    if (!is_used) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// `named` with every one of `names` that stands for an input which there is not.
NamedFile with_near_names(NamedFile named, const std::vector<std::string>& names, const Arrays& arrays) {
  const bool has_a = arrays.contains("a") || is_among("a", names);  // as RWKV-7
  for (const std::string& name : names) {
    const std::string input(near_input(name));
    const bool is_decay = input == "g" || input == "alpha";
    const bool is_there = arrays.contains(input) || named.sources.contains(input) ||
                          (is_decay && (arrays.contains("g") || arrays.contains("alpha") ||
                                        named.sources.contains("g") || named.sources.contains("alpha")));
    if (!input.empty() && !is_there && !(has_a && name == "b")) named.sources.emplace(input, name);
  }
  return named;
}

/// What `after` says more than `before`: "query as q, key as k and value as v".
std::string added_names(const NamedFile& before, const NamedFile& after) {
  std::vector<std::string> added;
  for (const auto& [input, source] : after.sources) {
    if (!before.sources.contains(input)) added.push_back(input);
  }
  std::ranges::stable_sort(added, {},
                           [](const std::string& input) { return std::string_view("qkv").find(input); });
  for (std::string& input : added) input = fmt::format("{} as {}", shown(after.sources.at(input)), input);
  return listed(added);
}

/// The names of arrays and which of them could stand for an input.
void ask_about_names(std::vector<Doubt>& doubts, const NamedFile& named, const Arrays& arrays,
                     std::vector<std::string> unused, bool is_open) {
  const NamedFile renamed = with_near_names(named, unused, arrays);
  std::vector<std::string> near;
  for (const auto& [input, source] : renamed.sources) {
    if (!named.sources.contains(input)) near.push_back(source);
  }
  const auto say = [](std::vector<std::string> names) {
    constexpr std::size_t most = 3;
    const std::size_t more = names.size() - std::min(names.size(), most);
    const bool is_one = names.size() == 1;
    names.resize(names.size() - more);
    for (std::string& name : names) name = fmt::format("“{}”", shown(name));
    if (more > 0) names.push_back(fmt::format("{} more", more));
    return fmt::format("{} {} not used.", listed(names), is_one ? "is" : "are");
  };
  if (!near.empty())
    doubts.push_back({.words = say(near),
                      .answer = fmt::format("Use {}", added_names(named, renamed)),
                      .id = file_id(renamed),
                      .arrays = near});
  std::erase_if(unused, [&](const std::string& name) { return is_among(name, near); });
  if (is_open && !unused.empty()) doubts.push_back({.words = say(unused), .arrays = unused});
}

void ask_about_layout(std::vector<Doubt>& doubts, const NamedFile& named, const Arrays& arrays) {
  const auto axis = first_of_two_axes(arrays);
  if (!axis || named.heads_first) return;
  const std::vector<Index>& q = arrays.at("q").shape;
  const auto differs = [&](const char* name) {  // k and v may have fewer heads, but as many tokens
    const Array* const other = value_at(arrays, name);
    return other && other->shape.size() == q.size() && other->shape[*axis] != q[*axis] &&
           other->shape[*axis + 1] == q[*axis + 1];
  };
  if (q[*axis + 1] <= q[*axis] && !differs("k") && !differs("v")) return;
  NamedFile turned = named;
  turned.heads_first = true;
  doubts.push_back({.words = fmt::format("{} heads of {} tokens: is the layout [{}H, T, D]?", q[*axis + 1],
                                         q[*axis], *axis == 0 ? "" : "B, "),
                    .answer = fmt::format("Read as {} tokens, {} heads", q[*axis + 1], q[*axis]),
                    .id = file_id(turned)});
}

/// A range in which a gate is not what its name says, but another one or its own logit.
struct OtherRange {
  const char* input;
  bool (*is_other)(double least, double most);
  const char* other;
  const char* what;
  const char* answer;
};
constexpr OtherRange other_ranges[] = {
    {"beta", [](double least, double most) { return least < 0 || most > 2; }, "beta", "a logit",
     "Apply sigmoid"},
    {"g", [](double least, double most) { return most > 0 && least >= 0 && most <= 1; }, "alpha", "alpha",
     "Take its logarithm"},
    {"alpha", [](double least, double most) { return least < 0 && most <= 0; }, "g", "log alpha",
     "Use it as g"}};

void ask_about_ranges(std::vector<Doubt>& doubts, const NamedFile& named, const Arrays& arrays) {
  for (const auto& [input, is_other, other, what, answer] : other_ranges) {
    const Array* const array = value_at(arrays, input);
    if (!array || array->size() == 0) continue;
    const auto [least, most] = reach_of(*array);
    if (!is_other(least, most)) continue;
    const std::string source = source_array(named, input);
    const bool is_logit = std::string_view(input) == other;
    NamedFile changed = named;
    changed.sources.erase(input);
    changed.sources[other] = is_logit ? fmt::format("{}{})", sigmoid_of, source) : source;
    doubts.push_back(
        {.words = fmt::format("{} is from {:.3g} to {:.3g}: is it {}?", input, least, most, what),
         .answer = answer,
         .id = file_id(changed),
         .keeps_rule = is_logit});
  }
}

void ask_about_scale(std::vector<Doubt>& doubts, const NamedFile& named, const Arrays& arrays) {
  const Array* const q = value_at(arrays, "q");
  if (!q || q->rank() < 2 || q->shape.back() < 2 || arrays.contains("scale")) return;
  const double usual = 1 / std::sqrt(static_cast<double>(q->shape.back()));
  NamedFile scaled = named;
  scaled.sources["scale"] = fmt::format("{}", usual);
  doubts.push_back({.words = "scale = 1 (not in the file)",
                    .answer = fmt::format("Use 1/√d = {:.3g}", usual),
                    .id = file_id(scaled),
                    .keeps_rule = true});
}

}  // namespace

std::string path_in_id(const std::string& id) {
  std::error_code unknown;
  const std::size_t end = id.rfind('?');
  const bool has_names = end != std::string::npos && id.find('=', end) != std::string::npos;
  return has_names && !std::filesystem::exists(id, unknown) ? id.substr(0, end) : id;
}

NamedFile named_file(const std::string& id) {
  NamedFile named = {.file = path_in_id(id)};
  std::string_view rest = std::string_view(id).substr(named.file.string().size());
  if (!rest.empty()) rest.remove_prefix(1);
  while (!rest.empty()) {
    std::string_view source = take_until(rest, '&');
    const std::string input(take_until(source, '='));
    if (input == "axes" && (source == "HTD" || source == "BHTD"))
      named.heads_first = true;
    else if (input == "axes")
      refuse("{}: axes is \"{}\"; expected HTD or BHTD", named.file.string(), shown(source));
    else if (!is_input_name(input))
      refuse("{}: no rule takes an array \"{}\"; palimpsest info VARIANT lists them", named.file.string(),
             shown(input));
    else
      named.sources[input] = unescaped(source);
  }
  return named;
}

std::string file_id(const NamedFile& named) {
  std::vector<std::string> parts;
  for (const auto& [input, source] : named.sources) parts.push_back(input + "=" + escaped(source, "/"));
  if (named.heads_first) parts.emplace_back("axes=HTD");
  return named.file.string() + (parts.empty() ? "" : "?") + fmt::format("{}", fmt::join(parts, "&"));
}

bool is_input_name(std::string_view name) {
  static const std::set<std::string, std::less<>> known = [] {
    std::set<std::string, std::less<>> names = {"o"};
    for (const Variant& variant : variants())
      for (std::string& one : array_names(variant)) names.insert(std::move(one));
    return names;
  }();
  return known.contains(name);
}

std::string source_array(const NamedFile& named, const std::string& name) {
  const std::string* const source = value_at(named.sources, name);
  return source ? array_in(*source) : name;
}

Npz read_named(const NamedFile& named, const Wanted& wanted) {
  std::set<std::string, std::less<>> used;
  for (const auto& [input, source] : named.sources) used.insert(array_in(source));
  Npz npz = read_array_file(named.file, {},
                            [&](std::string_view name) { return used.contains(name) || wanted(name); });
  Npz result = {.arrays = {}, .texts = std::move(npz.texts), .unread = npz.unread};
  const auto take = [&](const std::string& input, const std::string& source) {
    const std::string name = array_in(source);
    if (const Array* const array = value_at(npz.arrays, name))
      result.arrays[input] =
          name == source ? *array : mapped<double>(*array, [](double x) { return 1 / (1 + std::exp(-x)); });
    else if (const std::string* const problem = value_at(npz.unreadable, name))
      result.unreadable[input] = *problem;
    else if (const auto number = parse_all<double>(source))
      result.arrays[input] = Array({}, std::vector<double>{*number});
    else
      require_arrays(named.file, {name}, npz.arrays, npz.unread);
  };
  for (const auto& [input, source] : named.sources) {
    if (!source.empty()) take(input, source);
  }
  const auto stays = [&](const std::string& name) {
    return !used.contains(name) && !named.sources.contains(name);
  };
  for (auto& [name, array] : npz.arrays) {
    if (stays(name))
      result.arrays.emplace(name, std::move(array));
    else if (!used.contains(name))
      result.unread.push_back(name);
  }
  for (auto& [name, problem] : npz.unreadable) {
    if (stays(name)) result.unreadable.emplace(name, problem);
  }
  if (named.heads_first) put_tokens_first(result.arrays);
  return result;
}

void require_inputs(const NamedFile& named, const std::vector<std::string>& inputs, const Npz& npz) {
  for (const std::string& input : inputs) require_readable(npz.unreadable, input);
  const NamedFile renamed = with_near_names(named, unused_names(npz.arrays, npz.unread, nullptr), npz.arrays);
  const std::string advice =
      renamed == named ? std::string()
                       : fmt::format("; to use {}, open {}", added_names(named, renamed),
                                     file_id({named.file.filename(), renamed.sources, renamed.heads_first}));
  require_arrays(named.file, inputs, npz.arrays, npz.unread, advice);
}

std::vector<Doubt> doubts_about(const NamedFile& named, const Arrays& arrays,
                                const std::vector<std::string>& unread, const Variant* rule) {
  std::vector<Doubt> doubts;
  ask_about_names(doubts, named, arrays, unused_names(arrays, unread, rule), rule != nullptr);
  ask_about_layout(doubts, named, arrays);
  ask_about_ranges(doubts, named, arrays);
  if (rule) ask_about_scale(doubts, named, arrays);
  return doubts;
}

}  // namespace palimpsest
