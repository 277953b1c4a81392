#include "app/views/stage.h"

#include "app/stage/head.h"
#include "app/stage/layout.h"
#include "app/words/forms.h"
#include "app/words/glossary.h"
#include "core/steps/recognised.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float reason_width = 460;   // of the text if there is nothing to draw
constexpr float compact_below = 868;  // a narrower Stage has small numbers
constexpr float low_stage = 400;      // a lower one has less padding
constexpr float least_drawing = 290;  // with less height the formula is smaller, in the line of the forms
constexpr float low_line = 32;        // the height of that line
constexpr float low_formula = 20;
constexpr float least_low_formula = 16;  // if this does not fit, it has a line of its own
constexpr float least_place = 64;        // width of the text that names the step
constexpr double growing_seconds = 0.28;

/// What the Stage shows, and where, kept from frame to frame: each part is rebuilt only when something that
/// it depends on has changed.
struct KeptStage {
  // Computation, form, cursor; states transposed, scales shared, colours; whether the recurrence is known.
  using ViewKey = std::tuple<std::uint64_t, Form, Cursor, bool, bool, style::Theme, bool>;
  // Computation, form, block; states transposed, scales shared.
  using RangesKey = std::tuple<std::uint64_t, Form, Index, bool, bool>;
  // Where the pictures lie on the screen, scale.
  using LayoutKey = std::tuple<float, float, float, float, float>;

  std::optional<ViewKey> view_key;
  std::optional<StageView> view;
  std::string place;
  HeadFormulas formulas;
  std::string warning;
  std::shared_ptr<const Record> record;  // of the block, with tensors made for pictures
  float turned = 0;                      // wheel movement in lines since the step was reached
  std::optional<double> scrubbed;        // progress of the result's animation while the user holds it

  std::optional<RangesKey> ranges_key;
  ColourRanges ranges;

  std::optional<LayoutKey> layout_key;
  Ruler ruler;
  Node pictures;
  scene::Placed placed;  // the places of `pictures`

  std::optional<std::string> enlarged;  // the tensor that fills the Stage
  bool has_figures = false;             // whether its picture contains its figures
  Hero enlarged_hero;                   // the picture
  Record enlarged_record;
};

StageWork& made() { return context_local<StageWork>(); }

std::vector<Cells> sources_of(const Phase& phase, const Symbols& symbols, const Record& record,
                              const CellFocus& focus) {
  if (!record.contains(focus.tensor)) return {};
  const Operation* maker = maker_of(phase, focus.tensor);
  if (!maker) return {};
  const Matrix<double>& values = record.at(focus.tensor);
  if (focus.row >= values.rows() || focus.column >= values.cols()) return {};
  return explain(maker->equation, symbols, record, focus.row, focus.column).sources;
}

/// The record of the token at the cursor in the recurrent form, which is shown beside a solve and an output;
/// null while it is not computed, and for other steps.
std::shared_ptr<const Record> recurrence_of(Application& application, const Sight& sight,
                                            const Shown& shown) {
  const auto& recurrent = sight.computation->trace(Form::recurrent);
  const Operation& operation = entry(shown.phase.operations, sight.cursor.operation);
  const bool is_compared = substitution_of(operation) || operation.purpose == Purpose::output;
  if (!recurrent || !is_compared || sight.trace->form == Form::recurrent) return nullptr;
  const Index block = recurrent->block_of(sight.trace->token(sight.cursor), 0);
  const Known<Record> answer = ask(application, BlockRecord{recurrent, block});
  return answer.stale ? nullptr : answer.value;
}

void update_view(KeptStage& kept, Application& application, const Sight& sight, const Shown& shown) {
  const Computation& computed = *sight.computation;
  const Trace& trace = *sight.trace;
  const Cursor cursor = sight.cursor;
  const std::shared_ptr<const Record> recurrence = recurrence_of(application, sight, shown);
  const KeptStage::ViewKey key{computed.version,
                               trace.form,
                               cursor,
                               application.view.state_value_by_key,
                               application.view.shared_scale,
                               style::theme(),
                               recurrence != nullptr};
  if (kept.view_key == key) return;
  ++made().views;
  KeptStage fresh;
  fresh.ranges_key = kept.ranges_key;
  fresh.ranges = std::move(kept.ranges);
  kept = std::move(fresh);
  kept.view = stage_view(trace, shown.phase, shown.record, cursor, computed.data->labels, stage_latex(),
                         recurrence.get());
  kept.place = stage_place(trace, shown.phase, cursor);
  Record record = shown.record;
  const Hero& hero = kept.view->hero;
  Record made = hero.made;
  if (kept.view->substitution) {
    for (const auto& [name, values] : kept.view->substitution->made.tensors()) made.set(name, values);
  }
  for (const auto& [name, values] : made.tensors()) record.set(name, values);
  kept.record = std::make_shared<const Record>(std::move(record));
  const bool shares = application.view.shared_scale;
  const KeptStage::RangesKey ranges_key{computed.version, trace.form, cursor.block,
                                        application.view.state_value_by_key, shares};
  if (kept.ranges_key != ranges_key)
    kept.ranges = ColourRanges(computed, trace, shown.phase, shown.record, shares);
  kept.ranges_key = ranges_key;
  kept.ranges.begin_view(std::move(made));
  for (const auto& [tensor, other] : hero.scale_of) kept.ranges.follow(tensor, other);
  if (!hero.one_scale.empty() && shares) kept.ranges.join(hero.one_scale);
  if (!hero.alone.empty()) kept.ranges.stand_alone(hero.alone);
  if (kept.view->substitution) kept.ranges.join(kept.view->substitution->one_scale);
  kept.formulas = head_formulas(*kept.view, trace.symbols);
  if (computed.divergence) kept.warning = divergence_words(*computed.divergence);
  kept.view_key = key;
}

void update_enlarged(KeptStage& kept, Application& application, const Sight& sight) {
  const Symbols& symbols = sight.trace->symbols;
  if (application.enlarged && !kept.record->contains(*application.enlarged)) application.enlarged.reset();
  const bool is_same = kept.enlarged == application.enlarged;
  if (!is_same) kept.layout_key.reset();
  kept.enlarged = application.enlarged;
  if (!kept.enlarged) return;
  const Known<MatrixFigures> figures = ask(application, PictureFigures{kept.record, *kept.enlarged});
  const bool has_figures = fresh(figures);
  if (is_same && kept.has_figures == has_figures) return;
  kept.has_figures = has_figures;
  kept.enlarged_hero = enlarged(*kept.enlarged, *kept.record, symbols, stage_latex(), fresh(figures));
  name_tokens(kept.enlarged_hero, *sight.trace, sight.cursor, *kept.record, sight.computation->data->labels);
  kept.enlarged_record = *kept.record;
  for (const auto& [name, values] : kept.enlarged_hero.made.tensors()) kept.enlarged_record.set(name, values);
  kept.layout_key.reset();
}

/// Updates the layout for the rectangle `where`, in screen pixels.
const scene::Placed& updated_layout(KeptStage& kept, const Rectangle& where) {
  const auto& [from, to] = where;
  const KeptStage::LayoutKey key{from.x, from.y, to.x, to.y, style::scale()};
  if (kept.layout_key == key) return kept.placed;
  ++made().layouts;
  const ImVec2 corner = {std::round(from.x), std::round(from.y)};
  const ImVec2 room = {to.x - corner.x, to.y - corner.y};
  kept.ruler = screen_ruler(room.x < compact_below * style::scale());
  auto& frame = context_local<StageFrame>();
  if (kept.enlarged) {
    Placing placing(*kept.view, kept.ruler, frame);
    lay_out_hero(placing, kept.enlarged_hero, {0, 0}, room);
    kept.pictures = std::move(placing).all();
  } else {
    kept.pictures = lay_out(*kept.view, room, kept.ruler, frame);
  }
  kept.placed = scene::lay_out(kept.pictures, {corner, to}, kept.ruler);
  kept.layout_key = key;
  return kept.placed;
}

Node form_segments(Application& application, bool is_tight = false) {
  const Form chosen = application.session.choice().form;
  Nodes all;
  for (const Form form : all_forms)
    all += with_command(application, fmt::format("form.{}", name(form)),
                        {scene::Button{.words = form_label(form),
                                       .chosen = form == chosen,
                                       .fit = is_tight ? Fit::shorten : Fit::whole}});
  return scene::row(scene::segments_of(std::move(all)), Gap::none);
}

/// The place of the step and its sentence; a shorter text is preferred to a cut one.
Node place_words(const Application& application, const KeptStage& kept) {
  Nodes wishes;
  if (application.session.lookout().is_stale() && application.session.waiting()) {
    wishes = {scene::tag("from the previous choice")};
  } else {
    const std::size_t last = kept.place.rfind("· ");
    wishes = {scene::tag(fmt::format("{} · {}", kept.place, kept.view->sentence)), scene::tag(kept.place),
              scene::tag(last == std::string::npos ? kept.place : kept.place.substr(last + 3))};
  }
  wishes += scene::column({});
  return scene::first_that_fits(std::move(wishes));
}

Node header(Application& application, const KeptStage& kept, const Node& legend) {
  return scene::row(
      {form_segments(application), place_words(application, kept).filling_between(least_place, 0), legend},
      Gap::wide);
}

/// The operation that the wheel scrolls to: upwards the line before, downwards the line after.
std::optional<Index> turned_to(KeptStage& kept) {
  const StageView& view = *kept.view;
  const float turn = scene::wheel();
  if (view.one_token || kept.enlarged || turn == 0) return std::nullopt;
  // A touchpad scrolls by fractions of a line.
  kept.turned -= turn;
  if (std::abs(kept.turned) < 1) return std::nullopt;
  const bool is_down = kept.turned > 0;
  kept.turned = 0;
  if (is_down ? view.present + 1 >= view.starts.size() : view.present == 0) return std::nullopt;
  return view.starts[is_down ? view.present + 1 : view.present - 1];
}

std::string empty_words(const Application& application) {
  const auto computation = application.session.computed();
  if (!computation) return "Nothing is open. Drop a file here or press Ctrl+O; D lists captures and presets.";
  const Form form = application.session.choice().form;
  const std::string& reason = computation->form(form).missing;
  const Lookout& lookout = application.session.lookout();
  if (lookout.is_stale()) return "The first step is being computed.";
  if (!lookout.awaited().reason.empty())
    return fmt::format("This step cannot be shown: {}", lookout.awaited().reason);
  if (reason.empty()) return "This sequence has no tokens, so it has no steps.";
  return fmt::format("This rule has no {} form.\n\n{}", name(form), reason);
}

Node stage_node(Application& application, KeptStage& kept, StageScene& shown) {
  const auto draw = [&kept, &shown](const Rectangle& where) {
    context_local<StageFrame>().scene = &shown;
    scene::draw(updated_layout(kept, where));
    if (const auto operation = turned_to(kept)) shown.wanted = operation;
  };
  const auto pictures = [draw](float least) {
    return Node{scene::Drawn{.least_height = least, .draw = draw}}.filling();
  };
  Node legend = colour_legend(shown, application.view.shared_scale);
  if (kept.enlarged)
    return scene::column({header(application, kept, legend),
                          scene::caption("Esc or a click on the name returns to the step."), pictures(0)});
  const auto with = [&kept, pictures](Nodes above, float least) {
    if (!kept.warning.empty())
      above += scene::text(kept.warning, style::Text::caption, style::colours().alarm);
    above += pictures(least);
    return scene::column(std::move(above));
  };
  const std::size_t low_headers = kept.formulas.latex.empty() ? 0 : 2;
  return scene::first_that_fits(low_headers + 2, [&application, &kept, with, legend = std::move(legend),
                                                  low_headers](std::size_t wish) {
    // A high formula has a line of its own; in a low panel it takes the place of the text.
    if (wish > 0 && wish <= low_headers)
      return with({scene::row({form_segments(application, true), legend, scene::rest(),
                               present_formula(kept.formulas, wish == 1 ? low_formula : least_low_formula)})
                       .fixed(low_line)},
                  0);
    const bool is_high = wish == 0;
    return with({header(application, kept, legend),
                 formulas_around(kept.formulas, is_high ? style::formula : low_formula)},
                is_high ? least_drawing : 0);
  });
}

/// The first of `rows` that is this symbol, else the first with its letter.
template <class Rows, class Latex>
auto find(const Rows& rows, const PointedSymbol& symbol, Latex latex) {
  auto same_letter = std::end(rows);
  for (auto row = std::begin(rows); row != std::end(rows); ++row) {
    const PointedSymbol first = first_symbol(std::string(latex(*row)));
    if (first.symbol.empty()) continue;
    if (first.symbol == symbol.symbol) return row;
    if (same_letter == std::end(rows) && first.letter == symbol.letter) same_letter = row;
  }
  return same_letter;
}

constexpr double rest = 0.35;  // seconds until the pointer counts as resting

struct Resting {
  std::optional<PointedSymbol> symbol;
  double since = 0;
  SymbolMeaning meaning;
};

}  // namespace

Shown shown(const Application& application) {
  const Sight& sight = application.session.sight();
  const Trace& trace = *sight.trace;
  const Phase& phase = trace.phase(trace.block(sight.cursor.block));
  if (!application.view.state_value_by_key) return {phase, *sight.record};
  // Transposing it in every frame would take too long.
  const auto& [turned_phase, turned_record] = kept_for(Weak<Record>(sight.record), [&] {
    return std::pair(turned(phase, trace.symbols, *sight.record), turned(*sight.record, trace.symbols));
  });
  return {turned_phase, turned_record};
}

StageWork stage_work() { return made(); }

void draw_stage(Application& application) {
  Session& session = application.session;
  const Sight& sight = session.sight();
  const auto show = [&](const auto& content) {
    scene::show_panel(
        "##stage", true,
        [&] {
          Node all = content();
          all.tips_above = true;
          return std::move(all).named("stage");
        },
        low_stage);
  };
  if (!sight.record)
    return show([&] {
      Node why = scene::text(empty_words(application), style::Text::title).cut_between(0, reason_width);
      return scene::column({form_segments(application), scene::rest().filling(0.4F),
                            scene::centred(std::move(why).named("piece")), scene::rest().filling(0.6F)});
    });
  const Trace* trace = sight.trace.get();
  const Cursor cursor = sight.cursor;
  const Shown block = shown(application);
  auto& kept = context_local<KeptStage>();
  update_view(kept, application, sight, block);
  update_enlarged(kept, application, sight);
  const std::optional<CellFocus> focus = application.focus();
  StageScene scene{
      .view = *kept.view,
      .record = kept.enlarged ? kept.enlarged_record : *kept.record,
      .symbols = trace->symbols,
      .ranges = kept.ranges,
      .version = (sight.computation->version * 1'000'003 +
                  static_cast<std::uint64_t>(cursor.block) * std::size(all_forms) +
                  static_cast<std::uint64_t>(trace->form)) *
                     2 +
                 (application.view.state_value_by_key ? 1 : 0),
      .fade = kept.scrubbed             ? *kept.scrubbed
              : application.view.growth ? std::clamp(application.since_step() / growing_seconds, 0.0, 1.0)
                                        : 1,
      .numbers = application.view.numbers,
      .pointed = context_local<Resting>().symbol,
      .focus = focus,
      .sources = kept_for(std::tuple(kept.view_key, focus),
                          [&] {
                            return focus ? sources_of(block.phase, trace->symbols, block.record, *focus)
                                         : std::vector<Cells>();
                          }),
  };
  show([&] { return stage_node(application, kept, scene); });
  if (scene.hovered) application.hovered = scene.hovered;
  if (scene.clicked) application.pinned = scene.hovered;
  kept.scrubbed = scene.scrubbed;
  // The second press of a double click does not undo the first.
  if (scene.enlarge && !scene::is_second_click())
    application.enlarged = application.enlarged ? std::nullopt : scene.enlarge;
  if (!scene.wanted || session.lookout().is_stale()) return;
  if (*scene.wanted >= 0) session.set_cursor({cursor.block, *scene.wanted, cursor.row});
}

SymbolMeaning meaning(const PointedSymbol& symbol, const Symbols& symbols) {
  SymbolMeaning known;
  const auto entries = glossary();
  const auto shared = find(entries, symbol, std::mem_fn(&GlossaryEntry::latex));
  if (shared != entries.end())
    known = {std::string(shared->latex), in_full(*shared), std::string(shared->papers)};
  const auto own =
      find(symbols, symbol, [](const auto& row) -> const std::string& { return row.second.latex; });
  if (own == symbols.end()) return known;
  known.latex = own->second.latex;
  if (!own->second.words.empty()) known.words = own->second.words;
  return known;
}

void draw_symbol_tip(const Application& application) {
  auto& resting = context_local<Resting>();
  const PointedSymbol* pointed = pointed_symbol();
  if (!pointed) {
    resting.symbol.reset();
    return;
  }
  if (resting.symbol != *pointed) {
    const Sight& sight = application.session.sight();
    resting = {*pointed, scene::now(), meaning(*pointed, sight.trace ? sight.trace->symbols : Symbols())};
  }
  const SymbolMeaning& known = resting.meaning;
  if (scene::now() - resting.since >= rest && !known.latex.empty())
    scene::explain(known.latex, known.words, known.papers);
}

}  // namespace palimpsest
