#include "app/session/races.h"

#include <system_error>

#include "app/session/paths.h"
#include "core/base/refuse.h"
#include "core/base/text.h"
#include "kernels/device.h"

namespace palimpsest {

static auto parts_of(const RaceReport& report) { return std::tie(report.points); }
static auto parts_of(const RaceLine& line) { return std::tie(line.points, line.missing); }
static auto parts_of(const RaceFigures& figures) { return std::tie(figures.lines); }

namespace {

constexpr const char* own_race = "race";

Index missing_entries(const std::vector<RaceEntry>& entries, const RaceReport& report) {
  return std::ranges::count_if(entries, [&](const RaceEntry& entry) { return !report.find(entry); });
}

/// "Gated DeltaNet, chunkwise, cpu, f32, n = 512".
std::string words_of(const RaceEntry& entry) {
  return fmt::format("{}, {}, {}, {}, n = {}", find_variant(entry.variant).label, name(entry.form),
                     entry.device, name(entry.precision), in_digits(entry.tokens));
}

std::string file_name(const std::filesystem::path& file) { return file.filename().string(); }

/// "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz" without marks and clocks.
std::string short_processor(std::string name) {
  for (const char* const mark : {"(R)", "(TM)", "(tm)", " Processor", " CPU"}) {
    for (std::size_t at = name.find(mark); at != std::string::npos; at = name.find(mark))
      name.erase(at, std::string_view(mark).size());
  }
  return name.substr(0, name.find(" @"));
}

bool uses_gpu(const RaceReport& report) {
  return std::ranges::any_of(report.points, [](const RacePoint& point) {
    return point.measured() && point.entry.device != cpu_backend().name();
  });
}

/// The shape with the most measured points in a report.
RaceShape fullest(const RaceReport& report, const std::vector<RaceShape>& shapes) {
  std::map<RaceShape, Index> counts;
  for (const RacePoint& point : report.points) counts[shape_of(point.entry)] += point.measured() ? 1 : 0;
  return *std::ranges::max_element(shapes, {}, [&](const RaceShape& shape) { return counts[shape]; });
}

/// Calls `act` while the board is locked.
template <class Act>
auto at(RaceBoard& board, Act act) {
  const std::scoped_lock lock(board.mutex);
  return act();
}

std::shared_ptr<const RaceReport> report_on(RaceBoard& board) {
  return at(board, [&] { return board.report; });
}

std::shared_ptr<RaceBoard> board_with(RaceReport report, std::function<void()> told = {}) {
  auto board = std::make_shared<RaceBoard>();
  board->report = std::make_shared<const RaceReport>(std::move(report));
  board->told = std::move(told);
  return board;
}

/// Changes one field of the board and notifies.
template <class Part>
void tell(RaceBoard& board, Part RaceBoard::*part, Part now) {
  at(board, [&] {
    board.*part = std::move(now);
    if (board.told) board.told();
  });
}

}  // namespace

Found<RaceReport> OwnRace::compute(const Effort& effort) const {
  const std::vector<RaceEntry> entries = race_entries(*plan);
  const auto show = [&](RaceReport report) {
    report.left = missing_entries(entries, report);
    effort.tell(1 - static_cast<double>(report.left) /
                        static_cast<double>(std::max<std::size_t>(entries.size(), 1)));
    const auto next =
        std::ranges::find_if(entries, [&](const RaceEntry& each) { return !report.find(each); });
    if (next != entries.end()) tell(*board, &RaceBoard::under_way, words_of(*next));
    tell(*board, &RaceBoard::report, std::make_shared<const RaceReport>(std::move(report)));
  };
  const auto told = [&](const RaceProgress& now) { show(now.report); };
  RaceReport report = *report_on(*board);
  if (report.machine == RaceMachine{.program = report.machine.program})
    report.machine = this_machine(report.machine.program);
  report.starts.push_back({present_date(), "window"});
  show(report);
  // The shortest length first, which is quick; then the limits of the machine, which take seconds.
  RacePlan first = *plan;
  first.lengths = {plan->lengths.front()};
  first.roofs = false;
  report = race(first, std::move(report), told, effort.stop);
  const bool knows_roofs = std::ranges::all_of(plan->backends, [&](const Backend* backend) {
    return std::ranges::all_of(plan->precisions, [&](Precision precision) {
      return report.roof_of({.device = backend->name(), .precision = precision}) != nullptr;
    });
  });
  if (!knows_roofs) tell(*board, &RaceBoard::under_way, std::string("limits of the machine"));
  if (!is_asked_to_stop(effort.stop)) report = race(*plan, std::move(report), told, effort.stop);
  report.left = missing_entries(entries, report);
  const auto whole = std::make_shared<const RaceReport>(std::move(report));
  tell(*board, &RaceBoard::report, whole);
  stop_if_asked(effort.stop);
  return whole;
}

Found<RaceReport> RecordedRace::compute(const Effort& effort) const { return read_race(file, effort.stop); }

Found<RaceFigures> FiguresOfRaces::compute(const Effort&) const {
  std::vector<const RaceReport*> all = made_of(reports, [](const auto& report) { return report.get(); });
  return race_figures(all, leading, selection, whole);
}

std::filesystem::path Races::shipped_folder() try { return asset("races"); } catch (const Error&) {
  return {};
}

Races::Races(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, absent)) {
    if (entry.path().extension() == ".json") shipped_.push_back(file_name(entry.path()));
  }
  std::ranges::sort(shipped_);
}

void Races::leave(Session& session) {
  if (board_) at(*board_, [&] { board_->told = nullptr; });
  wake = nullptr;
  cancel(session);
}

void Races::keep_racing(Session& session) {
  if (!race_) return;
  const Known<RaceReport> known = session.questions().ask(*race_, Urgency::aside);
  progress_ = known.progress;
  if (known.under_way) return;
  if (!known.value && known.reason != was_stopped && !known.reason.empty())
    session.set_message("The race ended: " + known.reason);
  race_.reset();
}

void Races::look(Session& session) {
  seen_.clear();
  reads_ = false;
  const auto read = [&](const std::string& id, const std::string& file, SeenReport::From from) {
    // Urgent: behind long computations, such as a race, they would wait on a machine with few threads.
    const Known<RaceReport> known = session.questions().ask(RecordedRace{file});
    reads_ = reads_ || known.under_way;
    const auto is_same = [&](const SeenReport& other) { return *other.report == *known.value; };
    if (known.value && std::ranges::none_of(seen_, is_same))
      seen_.push_back({id, machine_and_date(*known.value), from, known.value});
    return known.reason;
  };
  if (const auto own = this->own(); own && (!own->points.empty() || runs()))
    seen_.push_back({own_race, "here and now", SeenReport::From::own_race, own});
  const MeasureState measure = session.state().measure;
  std::vector<std::string> unread;
  for (const std::string& file : measure.reports) {
    const std::string reason = read(file, file, SeenReport::From::file);
    if (reason.empty()) continue;
    unread.push_back(file);
    session.set_message(fmt::format(
        "{}. A report that `palimpsest bench --json` wrote was expected; what was open stays", reason));
  }
  for (const std::string& name : shipped_) {
    const bool is_away = is_among(name, measure.away) || is_among(name, broken_);
    const std::string reason =
        is_away ? "" : read(name, (folder_ / name).string(), SeenReport::From::shipped);
    if (reason.empty()) continue;
    broken_.push_back(name);
    session.set_message(reason);
  }
  if (unread.empty()) return;
  SessionState next = session.state();
  for (const std::string& file : unread) {
    std::erase(next.measure.reports, file);
    session.questions().forget(RecordedRace{file});
  }
  const std::string message = session.message();
  session.change(std::move(next));
  session.set_message(message);
}

void Races::open(Session& session, const std::filesystem::path& file) {
  std::error_code unknown;
  const std::filesystem::path absolute = std::filesystem::absolute(file, unknown);
  const std::string path = unknown ? file.string() : absolute.string();
  session.questions().forget(RecordedRace{path});  // it may have changed
  session.change([&](SessionState& next) {
    next.workspace = "measure";
    std::vector<std::string>& reports = next.measure.reports;
    if (is_among(path, reports))
      next.measure.leading = path;
    else
      reports.push_back(path);
  });
}

void Races::adopt(Session& session, RaceReport report) {
  cancel(session);
  SessionState next = session.state();
  RaceWish& wish = next.measure.wish;
  wish.variants.clear();
  wish.peer = false;
  std::vector<Index> lengths;
  const auto add = [](auto& list, const auto& value) {
    if (!is_among(value, list)) list.push_back(value);
  };
  for (const RacePoint& point : report.points) {
    const RaceEntry& entry = point.entry;
    if (entry.variant == race_peer)
      wish.peer = true;
    else
      add(wish.variants, entry.variant);
    add(lengths, entry.tokens);
  }
  std::ranges::sort(lengths);
  if (!lengths.empty()) wish.lengths = lengths;
  if (wish.variants.empty()) wish.variants.emplace_back(race_peer);
  show_what_it_has(next, report);
  session.change(std::move(next));
  board_ = board_with(std::move(report));
}

void Races::take_away(Session& session, const SeenReport& report) {
  if (report.from == SeenReport::From::own_race) {
    forget(session);
    return;
  }
  session.change([&](SessionState& next) {
    if (report.from == SeenReport::From::file)
      std::erase(next.measure.reports, report.id);
    else
      next.measure.away.push_back(report.id);
    if (next.measure.leading == report.id) next.measure.leading.clear();
  });
}

std::size_t Races::leading(const Session& session) const {
  const SessionState& state = session.state();
  const RaceSelection selection = wished_curves(state);
  // The times of the peer alone would be taken for those of the rule.
  const bool wants_rule = selection.variants != std::vector<std::string>{race_peer};
  const auto answers = [&](const SeenReport& report) {
    return std::ranges::any_of(report.report->points, [&](const RacePoint& point) {
      return point.measured() && selection.takes(point.entry) &&
             (!wants_rule || point.entry.variant != race_peer);
    });
  };
  auto first = std::ranges::find(seen_, state.measure.leading, &SeenReport::id);
  if (first == seen_.end() || !answers(*first)) first = std::ranges::find_if(seen_, answers);
  return static_cast<std::size_t>(first - seen_.begin());
}

void Races::start(Session& session) {
  const auto plan = std::make_shared<const RacePlan>(wished_plan(session.state(), usable_devices(session)));
  if (plan->backends.empty()) refuse("There is nothing to measure: no chosen device can be used.");
  // A new board: a cancelled race may still write its last point to the old one.
  board_ = board_with(board_ ? *own() : RaceReport{.machine = {.program = program}}, wake);
  race_ = OwnRace{board_, plan};
  progress_ = 0;
  session.change([](SessionState& next) { next.measure.leading.clear(); });
  keep_racing(session);
}

void Races::cancel(Session& session) {
  if (!race_) return;
  session.questions().give_up(*race_);
  race_.reset();
}

std::string Races::under_way() const {
  return race_ ? at(*board_, [&] { return board_->under_way; }) : std::string();
}

std::shared_ptr<const RaceReport> Races::own() const { return board_ ? report_on(*board_) : nullptr; }

void Races::forget(Session& session) {
  cancel(session);
  board_.reset();
}

Index Races::left(const Session& session) {
  const SessionState& state = session.state();
  std::tuple now = {state.measure.wish, state.sides.front().variant, usable_devices(session), own()};
  if (left_ >= 0 && now == asked_) return left_;
  const auto& [wish, variant, devices, known] = now;
  const RacePlan plan = wished_plan(state, devices);
  left_ = plan.backends.empty() ? 0 : missing_entries(race_entries(plan), known ? *known : RaceReport{});
  asked_ = std::move(now);
  return left_;
}

std::vector<std::string> wished_variants(const SessionState& state) {
  const RaceWish& wish = state.measure.wish;
  std::vector<std::string> all = wish.variants;
  if (all.empty()) all.push_back(state.sides.front().variant);
  if (wish.peer && !is_among(race_peer, all)) all.emplace_back(race_peer);
  return all;
}

RaceSelection wished_curves(const SessionState& state) {
  const RaceWish& wish = state.measure.wish;
  return {.variants = wished_variants(state),
          .forms = wish.forms,
          .devices = wish.devices,
          .precisions = wish.precisions,
          .shape = wish.shape};
}

void show_what_it_has(SessionState& state, const RaceReport& report) {
  constexpr std::size_t most_rules = 6;
  const auto measured_where = [&](auto fits) {
    return std::ranges::any_of(report.points,
                               [&](const RacePoint& point) { return point.measured() && fits(point.entry); });
  };
  const auto has_some = [&] {
    const RaceSelection selection = wished_curves(state);
    return measured_where([&](const RaceEntry& entry) { return selection.takes(entry); });
  };
  const std::vector<RaceShape> shapes = race_shapes(report);
  if (shapes.empty() || has_some()) return;
  RaceWish& wish = state.measure.wish;
  wish.devices.clear();
  if (!is_among(wish.shape, shapes)) wish.shape = fullest(report, shapes);
  if (has_some()) return;
  wish.precisions.clear();
  for (const Precision precision : all_precisions) {
    if (measured_where([&](const RaceEntry& entry) { return entry.precision == precision; }))
      wish.precisions.push_back(precision);
  }
  if (has_some()) return;
  wish.forms.clear();
  wish.variants.clear();
  for (const Variant& variant : variants()) {
    const bool is_there = measured_where(
        [&](const RaceEntry& entry) { return entry.variant == variant.id && shape_of(entry) == wish.shape; });
    if (is_there && variant.id != race_peer && wish.variants.size() < most_rules)
      wish.variants.push_back(variant.id);
  }
  wish.peer = true;
}

std::vector<const Backend*> usable_devices(const Session& session) {
  std::vector<const Backend*> usable;
  for (const Backend* const backend : session.devices()) {
    if (!session.why_not_on(*backend, Form::recurrent, nullptr).empty()) continue;
    usable.push_back(backend == &cpu_backend() ? &fast_cpu_backend() : backend);
  }
  return usable;
}

RacePlan wished_plan(const SessionState& state, Devices devices) {
  const RaceWish& wish = state.measure.wish;
  RacePlan plan;
  plan.variants = wished_variants(state);
  plan.peer = false;  // softmax is already in the list
  if (!wish.forms.empty()) plan.forms = wish.forms;
  plan.backends.clear();
  for (const Backend* const backend : devices) {
    const bool is_wished = wish.devices.empty() || is_among(backend->name(), wish.devices);
    if (is_wished) plan.backends.push_back(backend);
  }
  plan.precisions = wish.precisions;
  plan.lengths = wish.lengths;
  plan.batches = {wish.shape.batches};
  plan.heads = {wish.shape.heads};
  plan.sizes = {{wish.shape.dk, wish.shape.dv}};
  plan.chunk_sizes = {wish.chunk_size};
  plan.repeats = 9;
  plan.seconds = 0.3;
  plan.longest = 2;
  return plan;
}

std::string machine_words(const RaceReport& report) {
  const RaceMachine& machine = report.machine;
  if (uses_gpu(report) && !machine.gpu.empty()) return machine.gpu;
  return fmt::format("{}, {}", short_processor(machine.processor),
                     counted(machine.threads, "thread", "threads"));
}

std::string machine_and_date(const RaceReport& report) {
  std::string words = machine_words(report);
  if (!report.starts.empty()) words += ", " + report.starts.back().date.substr(0, 10);
  return words;
}

RaceWish RacePreset::wish(RaceWish before) const {
  before.variants = variants;
  before.peer = peer;
  before.forms = forms;
  before.devices.clear();
  return before;
}

std::span<const RacePreset> race_presets() {
  static const RacePreset all[] = {
      {"forms", "this rule, all forms", "Every form of the rule that is open, with softmax beside them.",
       true},
      {"softmax",
       "softmax against linear",
       "Chunk by chunk: linear attention, Mamba-2, Gated DeltaNet and KDA against softmax.",
       true,
       {Form::chunkwise},
       {"linear", "scalar_decay", "gated_deltanet", "kda"}},
      {"devices",
       "CPU against GPU",
       "The recurrence and the chunkwise form of the open rule on every device.",
       false,
       {Form::recurrent, Form::chunkwise}},
      {"delta",
       "what the correction costs",
       "The same decay with and without the delta rule, chunk by chunk: linear and DeltaNet, Mamba-2 and "
       "Gated DeltaNet, GLA and KDA.",
       false,
       {Form::chunkwise},
       {"linear", "deltanet", "scalar_decay", "gated_deltanet", "gla", "kda"}},
  };
  return all;
}

}  // namespace palimpsest
