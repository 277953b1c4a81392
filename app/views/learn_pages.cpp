// The other pages of Learn: which keys collide, and the capacity of the memory.

#include <set>

#include "app/views/learn.h"

namespace palimpsest {

namespace {

constexpr Index most_keys = 256;
constexpr Index window_step_of_keys = 64;
constexpr float words_beside = 76;  // labels beside the rows, in design pixels
constexpr std::size_t most_named_tokens = 7;
constexpr double steepest = 1.5;
constexpr double past_the_sphere = 1.08;
constexpr Index most_channels = 32;  // more take long, and the result depends on pairs per channel

Node cosines(const Computation& computed, const std::shared_ptr<const KeyPicture>& picture, Index token) {
  const style::Palette& c = style::colours();
  const Index count = picture->cosines.rows();
  const auto end = static_cast<double>(count);
  Plot plot{.name = "cosines",
            .x = {.high = end, .has_round = false, .has_grid = false, .room = words_beside, .rising = true},
            .y = {.low = end, .high = 0, .has_round = false, .has_grid = false, .room = words_beside}};
  const Index present = token - picture->first;
  const auto name_row = [&](Index i, ImU32 ink) {
    plot.y.named.push_back(
        {.at = static_cast<double>(i) + 0.5, .words = word_at(computed, picture->first + i), .colour = ink});
  };
  for (Index i = count; i-- > 0;) name_row(i, c.dim);
  plot.x.named = plot.y.named;
  plot.marks.push_back(picture_mark("numbers", {0, 0}, {end, end}, {picture, &picture->cosines},
                                    version_of(picture), 1, c.edge));
  plot.marks.back().told = [&computed, picture](Cell cell) {
    return fmt::format("{} and {}: {:+.3f}", counted_token(computed, picture->first + cell.row),
                       counted_token(computed, picture->first + cell.column),
                       picture->cosines(cell.row, cell.column));
  };
  if (present >= 0 && present < count) {
    name_row(present, c.text);
    plot.marks.push_back(frame_mark("present", present, 0, present + 1, count, c.text, style::lit_line));
  }
  return scene::column({Node{scene::Over{{scene::plotted(std::move(plot))}, 1}}.shrinking(),
                        scene::note("cosine similarity of the keys")});
}

/// The tokens whose keys have the largest cosine with that of `token`.
std::vector<Index> nearest(const KeyPicture& picture, Index token) {
  const Index present = token - picture.first;
  std::vector<Index> order;
  if (present < 0 || present >= picture.cosines.rows()) return order;
  for (Index i = 0; i < picture.cosines.rows(); ++i) order.push_back(i);
  const auto size = [&](Index i) { return std::abs(picture.cosines(present, i)); };
  const auto kept = std::min(order.size(), most_named_tokens);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept), std::greater(), size);
  order.resize(kept);
  return order;
}

/// A point of the rotated sphere: to the right, up, towards the eye.
struct TurnedPlace {
  double right;
  double up;
  double depth;
};

TurnedPlace turned(const LearnView& view, double x, double y, double z) {
  const double sa = std::sin(view.around);
  const double ca = std::cos(view.around);
  const double st = std::sin(view.tilt);
  const double ct = std::cos(view.tilt);
  const double into = -sa * x + ca * z;
  return {ca * x + sa * z, ct * y - st * into, st * y + ct * into};
}

/// Three great circles; the far sides are fainter.
void add_rings(Plot& plot, const LearnView& view) {
  constexpr int pieces = 72;
  constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
  const style::Palette& c = style::colours();
  for (int ring = 0; ring < 4; ++ring) {
    PlotSeries front{.look = {.colour = style::with_alpha(c.faint, 0.5F), .width = style::line}};
    PlotSeries behind{.look = {.colour = style::with_alpha(c.faint, 0.2F), .width = style::line}};
    for (int i = 0; i <= pieces; ++i) {
      const double angle = 2 * 3.14159265358979 * i / pieces;
      const double u = std::cos(angle);
      const double v = std::sin(angle);
      const TurnedPlace at = ring == 0   ? turned(view, u, 0, v)
                             : ring == 1 ? turned(view, u, v, 0)
                             : ring == 2 ? turned(view, 0, u, v)
                                         : TurnedPlace{u, v, 1};
      front.add(at.right, at.depth > 0 ? at.up : nowhere);
      behind.add(at.right, at.depth > 0 ? nowhere : at.up);
    }
    plot.series.push_back(std::move(behind));
    plot.series.push_back(std::move(front));
  }
}

Node sphere(Session& session, const KeyPicture& picture) {
  const Computation& computed = *session.computed();
  const Index token = session.token();
  const LearnView& view = session.state().learn;
  const style::Palette& c = style::colours();
  const PlotAxis axis{
      .low = -past_the_sphere, .high = past_the_sphere, .has_round = false, .has_grid = false};
  Plot plot{.name = "sphere", .x = axis, .y = axis, .presses = true, .is_area = true};
  add_rings(plot, view);
  const std::vector<Index> named = nearest(picture, token);
  std::vector<std::pair<double, PlotMark>> keys;  // by depth
  for (Index i = 0; i < picture.directions.points.rows(); ++i) {
    const auto point = picture.directions.points.row(i);
    const TurnedPlace at = turned(view, point[0], point[1], point[2]);
    const bool is_here = picture.first + i == token;
    const auto strength = static_cast<float>(0.4 + 0.6 * std::clamp((at.depth + 1) / 2, 0.0, 1.0));
    PlotMark key = point_mark(fmt::format("{}", picture.first + i), at.right, at.up,
                              {.colour = is_here ? c.text : style::with_alpha(c.key, strength),
                               .marker = PlotMarker::circle,
                               .size = is_here ? 6.0F : 3.5F});
    if (is_among(i, named))
      key.label = {.words = {word_at(computed, picture.first + i)},
                   .colour = is_here ? c.text : c.dim,
                   .is_needed = false};
    key.wish = {8, -6};
    if (is_here)
      plot.marks.push_back(line_mark(0, 0, at.right, at.up, {.colour = c.text, .width = style::lit_line}));
    keys.emplace_back(at.depth, std::move(key));
  }
  std::ranges::stable_sort(keys, {}, &std::pair<double, PlotMark>::first);
  for (auto& [depth, key] : keys) plot.marks.push_back(std::move(key));
  const auto turn = [&session](const PlotDone& done) {
    session.change([&](SessionState& state) {
      state.learn.around += done.moved.x;
      state.learn.tilt = std::clamp(state.learn.tilt - done.moved.y, -steepest, steepest);
    });
  };
  return scene::column(
      {scene::row(
           {scene::rest(), Node{scene::Over{{scene::plotted(std::move(plot), turn)}, 1}}, scene::rest()})
           .filling(),
       scene::centred(scene::note(sphere_words(picture.directions.explained.sum())))});
}

Plot empty_plot(Index channels) {
  const auto pairs = static_cast<double>(channels);
  Plot plot{
      .name = "capacity",
      .x = {.title = {"pairs stored"}, .scale = PlotAxis::Scale::octaves, .low = 0.93, .high = 4.3 * pairs},
      .y = {.title = {"relative error ‖v̂ − v‖ / ‖v‖: mean over all pairs", "dashed: the worst"},
            .low = 0,
            .high = 1.6}};
  const char* const full = "pairs = channels";
  plot.marks.push_back(
      upright_mark(full, pairs, {.colour = style::colours().faint, .width = style::line, .dash = 5})
          .labelled({.words = {full}, .colour = style::colours().dim}, {0, 0.85F}));
  return plot;
}

void add_points(Plot& plot, const std::vector<CapacityPoint>& points, ImU32 ink, const std::string& words) {
  PlotSeries mean{.name = words,
                  .look = {.colour = ink, .width = 2.5F, .marker = PlotMarker::circle},
                  .label = {.words = {words}}};
  PlotSeries worst{.look = {.colour = style::with_alpha(ink, 0.5F), .width = 1.2F, .dash = 5}};
  for (const CapacityPoint& point : points) {
    mean.add(static_cast<double>(point.pairs), point.mean);
    worst.add(static_cast<double>(point.pairs), point.worst);
  }
  plot.series.push_back(std::move(worst));
  plot.series.push_back(std::move(mean));
}

}  // namespace

Node keys_page(Application& application) {
  const auto computed = application.session.computed();
  const Index tokens = computed->sequence.tokens;
  const Index token = application.session.token();
  const Index count = std::min(tokens, most_keys);
  const Index first = std::clamp<Index>((token - most_keys / 2) / window_step_of_keys * window_step_of_keys,
                                        0, tokens - count);
  const Known<KeyPicture> answer = ask(application, StoredKeys{{computed}, first, count});
  if (!answer.value || answer.value->first + answer.value->cosines.rows() > tokens ||
      answer.value->cosines.size() == 0)
    return scene::paragraph(answer.reason.empty() ? "The keys are being compared." : answer.reason)
        .named("reason");
  return scene::row({cosines(*computed, answer.value, token).filling(0.55F),
                     sphere(application.session, *answer.value).filling(0.45F)},
                    Gap::far);
}

Node capacity_page(Application& application) {
  Session& session = application.session;
  const Computation& computed = *session.computed();
  const style::Palette& c = style::colours();
  const CapacitySweep present{
      .variant = computed.variant->id,
      .channels = std::min({computed.sequence.dk, computed.sequence.dv, most_channels}),
      .settings = session.choice().settings};
  auto& measured = context_local<std::set<CapacitySweep>>();  // each runs until it ends or is stopped
  if (!measured.contains(present))
    return scene::column(
        {scene::paragraph(capacity_words(computed.variant->label, present.channels,
                                         std::min(computed.sequence.dk, computed.sequence.dv))),
         scene::pill("measure").on([&measured, present] { measured.insert(present); })});
  Plot plot = empty_plot(present.channels);
  double progress = 0;
  bool under_way = false;
  std::string reason;
  std::vector<CapacitySweep> sweeps;
  const std::tuple<const char*, Keys, ImU32> kinds[] = {
      {"random keys", Keys::random, c.key},
      {"orthogonal keys", Keys::orthonormal, c.good},
      {"correlated keys, cosine 0.5", Keys::correlated, c.error}};
  for (const auto& [words, keys, ink] : kinds) {
    sweeps.push_back(present);
    sweeps.back().keys = keys;
    const Known<std::vector<CapacityPoint>> answer = ask(session, sweeps.back(), Urgency::later);
    under_way = under_way || answer.under_way;
    progress += (answer.value ? 1 : answer.progress) / static_cast<double>(std::size(kinds));
    if (answer.value) add_points(plot, *answer.value, ink, words);
    if (!answer.reason.empty()) reason = answer.reason;
  }
  Node track = {
      scene::Track{.value = progress, .limit = progress, .ink = c.good, .below = c.good, .beyond = c.edge}};
  Nodes head = {scene::pill(under_way ? "stop" : "again").on([&session, sweeps, under_way] {
                  for (const CapacitySweep& sweep : sweeps) {
                    if (under_way)
                      session.questions().give_up(sweep);
                    else
                      session.questions().forget(sweep);
                  }
                }),
                under_way ? std::move(track).fixed(220) : scene::paragraph(reason)};
  return scene::column({scene::row(std::move(head)), scene::plotted(std::move(plot)).filling()});
}

}  // namespace palimpsest
