#include "app/session/data_set.h"

#include <fmt/ranges.h>

#include <numeric>

#include "core/base/refuse.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr const char* necessary[] = {"q", "k", "v"};

/// The rule in the title: as in the capture's name before its colon, else its label.
std::string title_of(const Capture& capture) {
  std::string words = capture.name;
  const Variant* const variant = row_called(variants(), capture.rule, &Variant::id);
  std::string rule = variant ? variant->label : "";
  if (const std::size_t colon = words.find(": "); colon != std::string::npos && variant) {
    rule = words.substr(0, colon);
    words = words.substr(colon + 2);
  }
  if (!rule.empty()) words += " · " + rule;
  if (capture.layer) words += fmt::format(" · layer {}", *capture.layer);
  return words;
}

/// The number of axes of q, k or v: as q, or one more if the data's rule takes several steps per token and
/// the array has them.
std::size_t rank_of(const DataSet& data, const std::string& name, std::size_t rank) {
  const std::size_t plain = data.arrays.at("q").shape.size();
  const Variant* const rule = row_called(variants(), data.rule, &Variant::id);
  const Input* const input = rule ? row_called(rule->inputs, name, &Input::name) : nullptr;
  return input && has_steps(*input) && rank == plain + 1 ? rank : plain;
}

void require_whole(const DataSet& data, const std::string& name) {
  if (const std::string* const problem = value_at(data.unreadable, name)) throw BrokenArray(*problem);
}

void require_extents(const DataSet& data) {
  for (const char* name : necessary) {
    const Array* const array = value_at(data.arrays, name);
    if (!array) refuse("array \"{}\" is missing", name);
    const std::vector<Index>& shape = array->shape;
    const std::size_t plain = data.arrays.at("q").shape.size();
    const std::size_t rank = rank_of(data, name, shape.size());
    const std::size_t most = rank > plain ? 5 : 4;
    if (shape.size() < 2 || shape.size() > most)
      refuse_shape(name, shape, "has rank {}; expected [T, D], [T, H, D] or [B, T, H, D]", shape.size());
    if (shape.size() != rank)
      refuse_shape(name, shape, "has rank {}; expected {} as in \"q\"", shape.size(), rank);
    if (shape[plain == 4 ? 1 : 0] == 0)
      refuse("the sequence is empty: array \"{}\" has no tokens, so there is nothing to show", name);
    if (is_among(0, shape)) refuse_shape(name, shape, "has an axis of size 0");
  }
}

/// The axes of an array in its file: "B", "n" and "H" before its own axes.
struct Layout {
  int head_axes;    // 0, 1 (H) or 2 (B and H)
  bool has_tokens;  // axis n

  std::size_t token_axis() const { return head_axes == 2 ? 1 : 0; }
  std::size_t head_axis() const { return token_axis() + (has_tokens ? 1 : 0); }
  std::size_t own_axis() const { return head_axis() + (head_axes > 0 ? 1 : 0); }
};

int head_axes(const DataSet& data) { return static_cast<int>(data.arrays.at("q").rank()) - 2; }

/// A decay may be one per head or one per channel, whatever the variant takes: it is adapted later.
bool rank_fits(const Input& input, const Layout& layout, std::size_t rank) {
  const std::size_t own = input.shape.size() - (layout.has_tokens ? 1 : 0);
  if (input.range == Range::decay && rank <= layout.own_axis() + 1) return rank >= layout.own_axis();
  return rank == layout.own_axis() + own;
}

void require_fit(const DataSet& data, const Input& input, const std::string& name, const Array& array) {
  const Layout layout{head_axes(data), has_tokens(input)};
  const std::vector<Index>& shape = array.shape;
  if (!rank_fits(input, layout, shape.size())) {
    std::vector<std::string> axes;
    if (layout.head_axes == 2) axes.emplace_back("B");
    if (layout.has_tokens) axes.emplace_back("n");
    if (layout.head_axes > 0) axes.emplace_back("H");
    axes.insert(axes.end(), input.shape.begin() + (layout.has_tokens ? 1 : 0), input.shape.end());
    refuse_shape(name, shape, "has rank {}; expected ({})", shape.size(), fmt::join(axes, ", "));
  }
  for (std::size_t axis = layout.own_axis(); axis < shape.size(); ++axis) {
    const bool may_be_empty = !input.shape.empty() && input.shape.front() == "p" && axis == layout.own_axis();
    if (shape[axis] == 0 && !may_be_empty) refuse_shape(name, shape, "has an axis of size 0 (axis {})", axis);
  }
  if (layout.has_tokens && shape[layout.token_axis()] != data.tokens)
    refuse_shape(name, shape, "has {} tokens; expected {} as in \"q\"", shape[layout.token_axis()],
                 data.tokens);
  if (layout.head_axes == 2 && shape[0] != data.batches)
    refuse_shape(name, shape, "has {} batches; expected {} as in \"q\"", shape[0], data.batches);
  if (layout.head_axes == 0) return;
  const Index heads = shape[layout.head_axis()];
  const bool shares = is_among(name, necessary);
  if (heads == 0 || (shares && data.heads % heads != 0))
    refuse_shape(name, shape, "has {} heads, which does not divide the {} heads of the others", heads,
                 data.heads);
  if (!shares && heads != data.heads)
    refuse_shape(name, shape, "has {} heads; expected {} (only q, k and v may share heads)", heads,
                 data.heads);
}

/// The part of `array` that belongs to one head: without the axes B and H. The array fits.
Array slice(const Array& array, const Layout& layout, Index batch, Index head, Index heads) {
  if (layout.head_axes == 0) return array;
  const Index rows = layout.has_tokens ? array.shape[layout.token_axis()] : 1;
  const Index own_heads = array.shape[layout.head_axis()];
  const Index own_head = head * own_heads / heads;
  const auto own = array.shape.begin() + static_cast<std::ptrdiff_t>(layout.own_axis());
  const Index columns = std::accumulate(own, array.shape.end(), Index{1}, std::multiplies<>());

  std::vector<Index> shape;
  if (layout.has_tokens) shape.push_back(rows);
  shape.insert(shape.end(), own, array.shape.end());
  if (rows * columns == array.size()) {  // one head: nothing is copied
    Array whole = array;
    whole.shape = std::move(shape);
    return whole;
  }
  return std::visit(
      [&](const auto& values) {
        std::remove_cvref_t<decltype(values)> part;
        part.reserve(static_cast<std::size_t>(rows * columns));
        for (Index row = 0; row < rows; ++row) {
          const auto first = values.begin() + ((batch * rows + row) * own_heads + own_head) * columns;
          part.insert(part.end(), first, first + columns);
        }
        return Array(shape, std::move(part));
      },
      array.values());
}

/// The layer's own output, if there is one of the right shape.
void take_output(const DataSet& data, Index batch, Index head, Arrays& arrays) {
  const Array* const own = value_at(data.arrays, "o");
  const Layout layout{head_axes(data), true};
  std::vector<Index> expected = data.arrays.at("v").shape;
  if (layout.head_axes > 0) expected[layout.head_axis()] = data.heads;
  if (own && own->shape == expected) arrays.emplace("o", slice(*own, layout, batch, head, data.heads));
}

/// The largest number of heads of an array; the others share heads or must have as many.
Index count_heads(const DataSet& data) {
  const Layout layout{head_axes(data), true};
  Index heads = 1;
  for (const char* name : {"q", "k", "v", "alpha", "g", "beta"}) {
    const Array* const array = value_at(data.arrays, name);
    if (layout.head_axes == 0 || !array || array->size() == 0) continue;
    if (layout.head_axis() < array->shape.size()) heads = std::max(heads, array->shape[layout.head_axis()]);
  }
  return heads;
}

/// The variant that takes exactly the gates in the data.
std::string fitting_variant(const DataSet& data) {
  const bool beta = data.arrays.contains("beta");
  const Array* const decay = value_at(data.arrays, data.arrays.contains("g") ? "g" : "alpha");
  if (!decay) return beta ? "deltanet" : data.arrays.contains("gamma") ? "retnet" : "linear";
  const bool per_channel = decay->shape.size() > Layout{head_axes(data), true}.own_axis();
  if (beta) return per_channel ? "kda" : "gated_deltanet";
  return per_channel ? "gla" : "scalar_decay";
}

constexpr Index most_pictured_tokens = 96;
constexpr Index most_pictured_channels = 16;

/// The axis of the tokens, as far as the sizes determine it.
std::size_t token_axis(const std::vector<Index>& shape, bool heads_first) {
  const std::size_t first = shape.size() == 4 ? 1 : 0;
  if (!heads_first || shape.size() < first + 2) return first;
  const bool is_gate = shape.size() < 3;  // may be [T, H] beside q [H, T, D]
  return is_gate && shape[first] > shape[first + 1] ? first : first + 1;
}

Matrix<double> small_picture(const Array& array, bool heads_first) {
  const std::vector<Index>& shape = array.shape;
  if (array.size() == 0) return {};
  if (shape.empty()) return Matrix<double>::Constant(1, 1, array[0]);
  const std::size_t tokens = token_axis(shape, heads_first);
  const bool has_channels = tokens + 1 < shape.size();
  const auto channels = shape.begin() + static_cast<std::ptrdiff_t>(tokens + 1);
  const Index stride = std::accumulate(channels, shape.end(), Index{1}, std::multiplies<>());
  Matrix<double> picture(has_channels ? std::min(shape.back(), most_pictured_channels) : 1,
                         std::min(shape[tokens], most_pictured_tokens));
  for (Index t = 0; t < picture.cols(); ++t)
    for (Index channel = 0; channel < picture.rows(); ++channel)
      picture(channel, t) = array[t * stride + channel];
  return picture;
}

}  // namespace

bool has_steps(const Input& input) {
  return input.shape.size() > 1 && input.shape[0] == "n" && input.shape[1] == "h";
}

void measure(DataSet& data) {
  require_extents(data);
  const std::vector<Index>& shape = data.arrays.at("q").shape;
  const Layout layout{head_axes(data), true};
  data.tokens = shape[layout.token_axis()];
  data.batches = layout.head_axes == 2 ? shape[0] : 1;
  data.heads = count_heads(data);
  if (data.tokens > most_tokens)
    refuse_shape("q", shape, "has {} tokens; at most {} can be shown", data.tokens, most_tokens);
  if (data.labels.empty()) {
    for (Index t = 0; t < data.tokens; ++t) data.labels.push_back(std::to_string(t + 1));
  }
  if (static_cast<Index>(data.labels.size()) != data.tokens)
    refuse("{} labels for {} tokens", data.labels.size(), data.tokens);
}

std::string text_of(const DataSet& data) { return fmt::format("{} {}", data.id, data.tokens); }

DataSet open_file(const std::string& id) {
  NamedFile named = named_file(id);
  Npz npz = read_named(named, is_input_name);
  require_inputs(named, {std::begin(necessary), std::end(necessary)}, npz);
  Capture capture = capture_of(std::move(npz), named.file);
  if (capture.scale && !capture.arrays.contains("scale"))
    capture.arrays["scale"] = Array({}, std::vector<double>{*capture.scale});
  DataSet data;
  data.title = title_of(capture);
  data.rule = capture.rule;
  data.text = capture.text;
  data.notes = capture.notes;
  data.stated_error = capture.reproduction_error;
  data.source = capture.model;
  if (!capture.licence.empty()) data.source += (data.source.empty() ? "" : " · ") + capture.licence;
  data.arrays = std::move(capture.arrays);
  data.unreadable = std::move(capture.unreadable);
  data.labels = std::move(capture.tokens);
  naming_input(named.file.string(), [&] {
    measure(data);
    if (data.rule.empty()) data.fits = fitting_variant(data);
  });
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(named.file, ignored);
  if (!whole.empty()) named.file = whole;
  named.file = named.file.lexically_normal();
  data.id = file_id(named);
  const std::string& rule = data.rule.empty() ? data.fits : data.rule;
  if (const Variant* const variant = row_called(variants(), rule, &Variant::id))
    data.doubts = doubts_about(named, data.arrays, capture.unread, variant);
  return data;
}

std::vector<Doubt> doubts_about_file(const std::string& id) {
  const NamedFile named = named_file(id);
  const Npz npz = read_named(named, is_input_name);
  return doubts_about(named, npz.arrays, npz.unread, nullptr);
}

Found<std::vector<FileArray>> ArraysOfFile::compute(const Effort& effort) const {
  const std::filesystem::path path = file;
  const bool is_one_of_many = path.extension() == ".npy";
  const std::filesystem::path whole = is_one_of_many ? path.parent_path() : path;
  const auto none = [](std::string_view) { return false; };
  std::vector<FileArray> arrays;
  const std::vector<std::string> names = read_array_file(whole, {}, none).unread;
  for (const std::string& name : names) {
    stop_if_asked(effort.stop);
    const Npz npz = read_array_file(whole, {}, [&](std::string_view other) { return other == name; });
    FileArray& one = arrays.emplace_back(FileArray{.name = name, .version = next_version()});
    effort.tell(static_cast<double>(arrays.size()) / static_cast<double>(names.size()));
    if (const std::string* const problem = value_at(npz.unreadable, name)) one.problem = *problem;
    const Array* const array = value_at(npz.arrays, name);
    if (!array) continue;
    one.shape = array->shape;
    one.picture = small_picture(*array, heads_first);
    one.least = array->size() > 0 ? (*array)[0] : 0;
    one.most = one.least;
    for (Index i = 0; i < array->size(); ++i) {
      const double number = (*array)[i];
      one.not_finite += std::isfinite(number) ? 0 : 1;
      if (number < one.least || std::isnan(one.least)) one.least = number;
      if (number > one.most || std::isnan(one.most)) one.most = number;
    }
  }
  return arrays;
}

void require_head(const DataSet& data, Index head) {
  const Index heads = data.heads * data.batches;
  if (head >= 0 && head < heads) return;
  refuse("\"head\" is {}; expected a head of these data, 0 to {}", head, heads - 1);
}

Arrays head_arrays(const DataSet& data, Index head, const Variant& variant) {
  require_head(data, head);
  const Index batch = head / data.heads;
  const Index own_head = head % data.heads;
  Arrays arrays;
  const auto take = [&](const Input& input, const std::string& name) {
    require_whole(data, name);
    const Array* const array = value_at(data.arrays, name);
    if (!array) return;
    const bool is_of_another_rule = !data.rule.empty() && data.rule != variant.id;
    const Index rank = static_cast<Index>(input.shape.size()) + head_axes(data);
    const bool is_square = input.range == Range::positive_definite && array->rank() + 1 == rank;
    if (is_of_another_rule && input.absent && array->rank() != rank && !is_square) return;  // the same letter
    require_fit(data, input, name, *array);
    const Layout layout{head_axes(data), has_tokens(input)};
    arrays.emplace(name, slice(*array, layout, batch, own_head, data.heads));
  };
  for (Input input : all_inputs(variant)) {
    const Array* const array = value_at(data.arrays, input.name);
    const bool is_plain =
        array && array->rank() + 1 == static_cast<Index>(input.shape.size()) + head_axes(data);
    if (has_steps(input) && is_plain) input.shape.erase(input.shape.begin() + 1);  // one step per token
    take(input, input.name);
    if (input.range == Range::decay) take(input, "g");
  }
  for (const Parameter& parameter : all_parameters(variant)) {
    require_whole(data, parameter.name);
    const Array* const array = value_at(data.arrays, parameter.name);
    if (!array) continue;
    const Index size = array->size();
    const bool fits = size == 1 || (parameter.per_head && head_axes(data) > 0 && size == data.heads);
    if (!fits)
      refuse("array \"{}\": shape {}; expected one number{}", parameter.name, to_string(array->shape),
             parameter.per_head ? " or one for each head" : "");
    arrays.emplace(parameter.name, size == 1 ? *array : Array({}, std::vector<double>{(*array)[own_head]}));
  }
  const bool has_fixed_decay = is_among("gamma", variant.parameters, &Parameter::name);
  if (has_fixed_decay && !arrays.contains("gamma")) {  // it can be made from the data's own decays
    take(decay_input({"n"}), "alpha");
    take(decay_input({"n"}), "g");
  }
  take_output(data, batch, own_head, arrays);
  return arrays;
}

}  // namespace palimpsest
