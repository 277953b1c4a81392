#include "app/stage/head.h"
#include "app/views/answers.h"
#include "app/views/compare.h"
#include "app/views/floor.h"
#include "app/views/line_looks.h"
#include "core/base/text.h"
#include "core/steps/recognised.h"

// What is in the columns of Compare, and the menu of each.

namespace palimpsest {

namespace {

constexpr float number_width = 96;     // of two errors, in design pixels
constexpr float largest_formula = 21;  // design pixels
constexpr float formula_height = 28;
constexpr double most_clipped = 0.055;  // of its entries: the scale is made to clip 5 %

/// How much text a column has at most; numbers in the cells have priority.
struct Said {
  std::size_t sentence = 0;  // lines
  std::size_t answer = 0;
  std::size_t others = 0;
  float cell = 0;  // least height of a cell, in design pixels
};

std::string sentence_of(const ComparedSide& side, const ComparedSides& all) {
  if (side.same_as)
    return fmt::format("The same rule with the same settings as in column {}: no number differs.",
                       *side.same_as + 1);
  if (!side.computed) return side.reason.empty() ? "It is being computed …" : side.reason;
  const std::string differs = side.is_reference ? "" : otherwise(side.side, all.reference().side);
  const std::string beta = side.can_take_beta && side.side.with_beta ? " It takes the same β." : "";
  return (differs.empty() ? "" : differs + ". ") + side_sentence(*side.computed) + beta;
}

/// The equation of a side, with boxes around symbols that the side on its left does not have.
struct WrittenSide {
  using Key = std::tuple<Weak<Computation>, Weak<Computation>, style::Theme>;  // the side, that on its left

  std::optional<Key> key;
  std::string latex;
  std::vector<std::string> lacking;  // the symbols in boxes
};

const WrittenSide& equation_of(const ComparedSide& side, const ComparedSide* left) {
  auto& known = context_local<std::array<WrittenSide, most_sides>>()[side.index % most_sides];
  const std::shared_ptr<const Computation> beside = left ? left->computed : nullptr;
  const WrittenSide::Key key{side.computed, beside, style::theme()};
  if (known.key == key) return known;
  known = {key, {}, {}};
  const auto& trace = side.computed->trace(Form::recurrent);
  const Line* line = trace ? rewriting_line(*trace) : nullptr;
  if (!line) return known;
  const auto* other = beside ? beside->trace(Form::recurrent).get() : nullptr;
  if (const Line* rewritten = other ? rewriting_line(*other) : nullptr) {
    for (const std::string& tensor : lacking(*line, trace->symbols, *rewritten, other->symbols)) {
      if (const Symbol* const symbol = value_at(trace->symbols, tensor))
        known.lacking.push_back(symbol->latex);
    }
  }
  Symbols symbols = trace->symbols;
  for (auto& [name, symbol] : symbols) {  // room for their boxes
    if (is_among(symbol.latex, known.lacking)) symbol.latex = fmt::format("{{\\,{}\\,{{}}}}", symbol.latex);
  }
  known.latex = latex(line->equation, symbols, stage_latex());
  return known;
}

struct PictureScale {
  double range = 1;
  bool is_own = false;
};

/// The common scale, unless it would leave the entries invisible or clip many.
PictureScale scale_of(const std::vector<double>& sizes, double own, double common) {
  const double largest = sizes.empty() ? 0 : sizes.back();
  if (largest > 0 && largest < least_part * common) return {.range = largest, .is_own = true};
  const auto clipped = static_cast<double>(sizes.end() - std::ranges::upper_bound(sizes, common));
  const double share = clipped / static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
  if (share > most_clipped) return {.range = own, .is_own = true};
  return {.range = common};
}

/// Which memory, and its scale if that is its own; from long to short.
std::vector<std::string> memory_words(const PictureScale& scale, bool is_before) {
  const char* which = is_before ? "before" : "after";
  if (!scale.is_own) return {which};
  const std::string end = "±" + plain_number(scale.range, 1);
  return {fmt::format("{}, own scale {}", which, end), "own scale " + end, end};
}

/// The largest ‖e‖ of the token over all sides, before or after its write.
double longest_error(const ComparedSides& all, Index token) {
  double longest = 0;
  for (const ComparedSide& side : all.sides) {
    if (!side.recall || side.recall->tokens.empty()) continue;
    const Recall& recall = entry(side.recall->tokens, token);
    for (const double half : {recall.before, recall.after}) {
      if (std::isfinite(half)) longest = std::max(longest, error_norm(half));
    }
  }
  return longest;
}

// In design pixels.
constexpr float menu_width = 460;
constexpr float rules_width = 240;
constexpr float list_height = 340;

struct SideMenu {
  Application& application;
  const ComparedSide& compared;
  Nodes how = {};

  Node content() {
    Nodes rules = {scene::caption("Rule")};
    for (const Variant& variant : variants()) add_rule(rules, variant);
    add_forms();
    add_precisions();
    add_devices();
    add_settings();
    if (compared.index > 0) add_sliders();
    return scene::column(
        {scene::top_row(
             {scene::scroll("rules", scene::column(std::move(rules), Gap::tight)).fixed(rules_width),
              scene::scroll("how", scene::column(std::move(how), Gap::tight)).filling()},
             Gap::wide)
             .fixed(list_height)});
  }

  const Side& side() const { return compared.side; }
  const Computation* computed() const { return compared.computed.get(); }

  using Change = std::function<void(Side&)>;

  std::function<void(const Change&)> changes() const {
    return [&application = application, side = side(), index = compared.index](const Change& change) {
      Side next = side;
      change(next);
      if (next == side) return;
      application.session.change(with_side_as(application.session.state(), index, std::move(next)),
                                 "side menu");
    };
  }

  std::function<void()> act(Change change) const {
    return [apply = changes(), change = std::move(change)] { apply(change); };
  }

  /// A line to choose, unless there is a reason why not.
  void add(const std::string& words, bool is_chosen, Change change, const std::string& reason = {}) {
    how += scene::choice(words, is_chosen).on(act(std::move(change))).enabled_if(reason.empty()).told(reason);
  }

  template <class Field>
  void add(const std::string& words, Field Side::*field, const std::type_identity_t<Field>& value,
           const std::string& reason) {
    add(
        words, side().*field == value, [=](Side& next) { next.*field = value; }, reason);
  }

  void add_rule(Nodes& rules, const Variant& variant) const {
    const bool is_chosen = variant.id == side().variant;
    Node line = scene::choice(variant.label, is_chosen)
                    .named(variant.id)
                    .told(variant.words)
                    .on(act([id = variant.id](Side& next) {
                      if (next.variant != id) next.settings = {};
                      next.variant = id;
                    }));
    rules += is_chosen ? scene::column({std::move(line)}).revealed_for(variant.id) : std::move(line);
  }

  void add_forms() {
    how += scene::caption("Form");
    for (const Form form : all_forms)
      add(name(form), &Side::form, form, computed() ? computed()->form(form).missing : std::string());
    if (!has_chunks(side().form)) return;
    for (const Index chunk : {side().chunk_size / 2, side().chunk_size * 2}) {
      if (chunk >= 1 && (!computed() || chunk <= largest_chunk(computed()->sequence.tokens)))
        add(fmt::format("chunks of {}", chunk), false, [chunk](Side& next) { next.chunk_size = chunk; });
    }
  }

  void add_precisions() {
    how += scene::caption("Precision");
    const Backend& device = find_backend(side().device, application.session.devices());
    for (const Precision precision : all_precisions)
      add(name(precision), &Side::precision, precision, why_not_in(device, precision));
  }

  void add_devices() {
    how += scene::caption("Device");
    for (const Backend* device : application.session.devices())
      add(device->name(), &Side::device, device->name(),
          application.session.why_not_on(*device, side().form, computed()));
  }

  /// The rule's options and its integer or bounded parameters.
  void add_settings() {
    const Variant& variant = find_variant(side().variant);
    for (const Option& option : variant.options) {
      how += scene::caption(option.name);
      const std::string* const given = value_at(side().settings.options, option.name);
      for (const std::string& value : option.values) {
        add(value, value == (given ? *given : option.values.front()),
            [option = option.name, value](Side& next) { next.settings.options[option] = value; });
        how.back().name = option.name + " " + value;
      }
    }
    for (const Parameter& parameter : all_parameters(variant)) add_number(parameter);
  }

  void add_number(const Parameter& parameter) {
    double value = parameter.standard.value_or(parameter.stand_in);
    if (computed() && computed()->sequence.settings.parameters.contains(parameter.name))
      value = computed()->sequence.parameter(parameter.name);
    if (const double* const given = value_at(side().settings.parameters, parameter.name)) value = *given;
    const auto type = [change = changes(), parameter](const std::string& text) {
      const double typed = parse_all<double>(text).value_or(NAN);
      if (!(typed >= parameter.minimum && typed <= parameter.maximum)) return;
      change([&](Side& next) {
        next.settings.parameters[parameter.name] = parameter.whole ? std::floor(typed) : typed;
      });
    };
    how += scene::row({Node{scene::Input{.text = fmt::format("{:.5g}", value), .set = type, .on_enter = true}}
                           .named(parameter.name)
                           .told(parameter.meaning)
                           .fixed(90),
                       scene::line(parameter.name)});
  }

  /// Sliders for the inputs of this side alone; those of the first side are in Step.
  void add_sliders() {
    how += scene::caption("For this side alone");
    for (const auto& [kind, symbol, words, role] :
         {std::tuple("scale_decay", "\\alpha", "to the power of", Role::gate),
          {"scale_strength", "\\beta", "times", Role::strength},
          {"scale_keys", "k", "times", Role::key}}) {
      const double* const own = value_at(side().sliders, kind);
      const auto set = [change = changes(), kind = kind](double value) {
        change([&](Side& next) {
          if (value == 1)
            next.sliders.erase(kind);
          else
            next.sliders[kind] = value;
        });
      };
      how += Node{scene::Slider{.symbol = symbol,
                                .words = words,
                                .value = own ? *own : 1,
                                .look = {.minimum = 0, .maximum = 3, .reset = 1, .role = role},
                                .set = set}}
                 .named(kind);
    }
  }
};

Node short_caption(std::string words, std::size_t most_lines) {
  return {scene::Text{.words = std::move(words),
                      .style = style::Text::caption,
                      .ink = scene::dim_ink,
                      .most_lines = most_lines}};
}

struct SideColumn {
  Application& application;
  const ComparedSides& all;
  const ComparedSide& side;
  const Said& said;
  const ComparedSide* left;  // null: nothing is boxed

  Node column() const {
    return scene::column({name().named("name"),
                          short_caption(sentence_of(side, all), said.sentence).named("sentence"),
                          equation().named("equation"), answers().named("answers").shrinking(0.62F),
                          answer().named("answer"), others().named("others"), error().named("error"),
                          memories().named("memory").shrinking(0.38F)})
        .named(std::to_string(side.index));
  }

  bool is_before() const { return application.session.state().compare.before; }

  Node name() const {
    return scene::first_that_fits({name_row(find_variant(side.side.variant).label, Room::all),
                                   name_row(side_name(side.side), Room::all),
                                   name_row(side_name(side.side), Room::name),
                                   name_row(side_name(side.side), Room::little)});
  }

  enum class Room { all, name, little };  // for name and buttons, for the name, or for less

  Node name_row(const std::string& words, Room room) const {
    const bool is_cut = room == Room::little;
    const std::size_t index = side.index;
    const auto content = [side = side, &application = application] {
      return SideMenu{application, side}.content();
    };
    Node menu = Node{scene::Menu{words, content, menu_width, is_cut}}
                    .named(fmt::format("another {}", index))
                    .told("Another rule, form, precision or option for this side.");
    Nodes all = {scene::mark(Mark::Kind::dot, rule_colour(side.side.variant))};
    all += is_cut ? std::move(menu).filling() : std::move(menu);
    if (!is_cut) all += scene::rest();
    const auto button = [&](const char* sign, const char* what, const char* meaning, auto change) {
      return scene::word_button(sign)
          .named(fmt::format("{} {}", what, index))
          .told(meaning)
          .on([&session = application.session, index, change] {
            session.change(change(session.state(), index));
          });
    };
    if (side.can_take_beta && !is_cut) all += beta_chip();
    if (side.is_old) all += scene::mark(Mark::Kind::spinner, style::colours().dim);
    if (room == Room::all && application.shows_all())
      all += side.is_reference
                 ? scene::framed(scene::tag("baseline", style::colours().text), Gap::tight, Gap::tight,
                                 scene::edge_ink)
                 : button("baseline", "baseline", "Show all differences from this side.", with_reference);
    if (why_it_stays(application.session.state(), index).empty())
      all += button("×", "remove", "Removes this side.", without_side);
    return scene::row(std::move(all), Gap::small);
  }

  /// A switch: values are written with the first side's write strength β.
  Node beta_chip() const {
    const bool is_on = side.side.with_beta;
    return scene::tab("× β", is_on)
        .named(fmt::format("beta {}", side.index))
        .told(is_on ? "Values are written with the β of the first side: o = Σ β v (k · q). A click removes "
                      "β, as in the paper."
                    : "This rule has no β: every value is written in full. A click writes values with the β "
                      "of the first side.")
        .on([&session = application.session, side = side.side, index = side.index] {
          Side next = side;
          next.with_beta = !side.with_beta;
          session.change(with_side_as(session.state(), index, std::move(next)));
        });
  }

  Node equation() const {
    if (!side.computed) return scene::column({}).fixed(formula_height);
    const WrittenSide& written = equation_of(side, left);
    return scene::centred(
               Node{scene::Formula{.latex = written.latex, .size = largest_formula, .boxed = written.lacking}}
                   .named("formula"))
        .fixed(formula_height);
  }

  Node memories() const {
    if (!side.moment) return scene::column({});
    if (!side.moment->no_memory.empty()) return scene::column({scene::paragraph(side.moment->no_memory)});
    const SideMoment& moment = *side.moment;
    const SideMoment::Memory& memory = is_before() ? moment.before : moment.after;
    const PictureScale scale = scale_of(memory.sizes, memory.range, all.range);
    Node first = memory_picture("picture", memory_words(scale, is_before()), memory.length, memory.S,
                                memory.version, scale.range);
    return scene::row({std::move(first).filling(), difference(memory).filling()}, Gap::wide);
  }

  Node difference(const SideMoment::Memory& memory) const {
    if (side.is_reference) return scene::column({scene::note("the baseline")});
    const Variant& than_rule = find_variant(all.reference().side.variant);
    if (memory.apart.size() == 0)
      return scene::column(
          {scene::note("not comparable"),
           scene::caption(than_rule.memory.none.empty() ? side.moment->no_difference
                                                        : than_rule.label + " keeps no memory.")});
    std::vector<std::string> than = {"minus " + side_name(all.reference().side), "minus baseline",
                                     "difference"};
    const PictureScale apart = scale_of(memory.apart_sizes, memory.apart_range, all.range);
    if (apart.is_own)
      than = {"own scale ±" + plain_number(apart.range, 1), "±" + plain_number(apart.range, 1)};
    return memory_picture("difference", than,
                          apart.is_own ? std::nullopt : std::optional(memory.apart_length), memory.apart,
                          memory.apart_version, apart.range);
  }

  Node memory_picture(const char* name, const std::vector<std::string>& words, std::optional<double> length,
                      const Matrix<double>& numbers, std::uint64_t version, double range) const {
    Nodes heads;
    const auto add_heads = [&](const std::string& number, bool is_last) {
      for (const std::string& each : words)
        heads += scene::row({is_last && &each == &words.back() ? scene::note(each) : scene::tag(each),
                             scene::rest(), scene::tag(number, style::colours().text)},
                            Gap::tight);
    };
    const std::string number = length ? plain_number(*length) : std::string();
    if (length) add_heads("norm " + number, false);
    add_heads(number, true);
    scene::Picture picture{
        .values = &numbers, .version = version, .look = {.range = static_cast<float>(range)}, .height = 0};
    picture.look.transposed = application.view.state_value_by_key;
    picture.told = [&numbers, range, turned = picture.look.transposed,
                    is_common = range == all.range](Cell at) {
      const Cell cell = turned ? Cell{at.column, at.row} : at;
      return fmt::format("[{}, {}] = {:.5g}. Colours from −{} to {}{}.", cell.row, cell.column,
                         numbers(cell.row, cell.column), plain_number(range, 2), plain_number(range, 2),
                         is_common ? ", the same in every column" : ": its own scale");
    };
    return scene::column({scene::first_that_fits(std::move(heads)).named(fmt::format("{} label", name)),
                          Node{scene::Over{{Node{std::move(picture)}.named(name)}, 1}}.shrinking()},
                         Gap::tight);
  }

  Node answers() const {
    const bool is_asked = side.moment && !side.moment->table.words.empty();
    const double scale = is_asked ? answer_scale(side.moment->table) : 1;
    const std::string title = title_with_scale("What the memory returns", scale);
    if (!is_asked)
      return scene::column(
          {scene::heading(title), scene::paragraph(side.moment ? side.moment->no_table : std::string())});
    const AnswerTable& table = side.moment->table;
    const Matrix<double>& values = is_before() ? table.before : table.after;
    CellTables cells = answer_cells(table, scale);
    cells.least_cell = {4, said.cell};
    cells.most_cell = {120, 44};
    cells.tables.push_back(
        {.name = "table", .values = values, .told = [&table, &values, before = is_before()](Cell cell) {
           return answer_words(table, before ? "before" : "after", values, cell.row, cell.column);
         }});
    return scene::column(
        {answers_head(title, table, scale).named("head"), Node{std::move(cells)}.shrinking()}, Gap::hair);
  }

  /// The title and, if it fits, how much of the rows these values explain.
  Node answers_head(const std::string& title, const AnswerTable& table, double scale) const {
    const Vector<double>& shares = is_before() ? table.explained_before : table.explained_after;
    const bool is_early = std::ranges::none_of(table.words, &AskedWord::is_written);
    if (shares.size() == 0 || !shares.allFinite() || is_early) return scene::heading(title);
    const std::string least = fmt::format("{:.0f}", 100 * std::max(shares.minCoeff(), 0.0));
    const std::string most = fmt::format("{:.0f}", 100 * std::max(shares.maxCoeff(), 0.0));
    const std::string share = least == most ? least : fmt::format("{}–{}", least, most);
    const auto with = [&](const std::string& words) {
      return scene::row(
          {scene::text(title, style::Text::strong, 0, Fit::whole), scene::rest(), scene::tag(words)});
    };
    return scene::first_that_fits({with(fmt::format("these values explain {} % of each row", share)),
                                   with(fmt::format("they explain {} %", share)), scene::heading(title)})
        .told("The share of each row's direction that these values explain: the smallest and the largest. " +
              scale_words(scale));
  }

  Node answer() const {
    const std::string words = side.moment ? side.moment->sentence : std::string();
    const bool comes = is_before() && !words.empty();
    return Node{scene::Text{.words = (comes ? "Then: " : "") + words, .most_lines = said.answer}};
  }

  Node others() const {
    const bool is_said = said.others > 0 && side.moment;
    return is_said ? short_caption(side.moment->others, said.others) : scene::column({});
  }

  /// |v - S^T k| of the token: red before its write, filled after it.
  Node error() const {
    if (!side.recall || side.recall->tokens.empty())
      return side.recall ? scene::caption("No memory to query: no error.") : scene::column({});
    const Index token = application.session.token();
    const Recall& recall = entry(side.recall->tokens, token);
    const double before = error_norm(recall.before);
    const double after = error_norm(recall.after);
    const double full = longest_error(all, token);
    const std::string word = word_at(*application.session.computed(), token);
    const auto written =
        [&](double error) {  // at most `dust`: rounding; what is small beside the bar is not exact
          constexpr double dust = 1e-12;
          constexpr double seen = 1e-4;
          return error <= dust * full  ? std::string("0")
                 : error < seen * full ? std::string("≈ 0")
                                       : plain_number(error);
        };
    const auto bar = [&](double length) { return static_cast<double>(length_bar(length, full).part); };
    return scene::row(
        {scene::note("error at " + word),
         Node{scene::Bar{.value = bar(after),
                         .ink = style::colours().error,
                         .height = 9,
                         .shows_zero = false,
                         .outlined = bar(before)}}
             .filling(),
         scene::tag(fmt::format("{} → {}", written(before), written(after)), style::colours().text)
             .fixed(number_width)
             .right()
             .told(fmt::format("‖e‖ before {}, after {}", plain_number(before), plain_number(after)))},
        Gap::small);
  }
};

}  // namespace

Node side_columns(Application& application, const ComparedSides& all) {
  static constexpr Said ways[] = {{4, 4, 2, 28}, {2, 3, 2, 24}, {2, 3, 0, 24},
                                  {2, 3, 0, 18}, {1, 3, 0, 18}, {1, 2, 0, 8}};
  const auto kept = std::make_shared<const ComparedSides>(all);
  return scene::first_that_fits(std::size(ways) + 1, [&application, kept](std::size_t wish) {
    if (wish == std::size(ways)) return scene::paragraph("The sides do not fit here: make the panel larger.");
    scene::Sides sides;
    for (std::size_t place = 0; place < kept->sides.size(); ++place) {
      const ComparedSide& side = kept->sides[place];
      const ComparedSide* const left = place > 0 && !side.same_as ? &kept->sides[place - 1] : nullptr;
      sides.columns.push_back(SideColumn{application, *kept, side, ways[wish], left}.column());
    }
    return Node{std::move(sides)};
  });
}

}  // namespace palimpsest
