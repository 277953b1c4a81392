#include "app/session/races.h"

#include "app/session/json_fields.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

constexpr Index race_version = 1;
constexpr const char* race_field = "palimpsest_race";
constexpr std::uintmax_t most_race_bytes = std::uintmax_t{256} << 20;
constexpr std::size_t most_points = 100'000;

// Of numbers far outside of what is measured products and quotients leave the range of numbers, and no axis
// has room for their names.
constexpr FieldTraits seconds_taken = {.least = 1e-9, .most = 1e9, .or_zero = true};
constexpr FieldTraits work_done = {.least = 1e-30, .most = 1e30, .or_zero = true};  // also per second

constexpr FieldTraits up_to(Index most) { return {.least = 1, .most = static_cast<double>(most)}; }

}  // namespace

constexpr const auto& all_values(std::type_identity<KernelKind>) { return all_kernel_kinds; }

constexpr auto fields_of(std::type_identity<Quartiles>) {
  return std::tuple{Field{"low", &Quartiles::low, seconds_taken},
                    Field{"median", &Quartiles::median, seconds_taken},
                    Field{"high", &Quartiles::high, seconds_taken}};
}

constexpr auto fields_of(std::type_identity<RaceMachine>) {
  return std::tuple{Field{"processor", &RaceMachine::processor},
                    Field{"threads", &RaceMachine::threads, {.least = 1}},
                    Field{"gpu", &RaceMachine::gpu},
                    Field{"driver", &RaceMachine::driver},
                    Field{"clocks", &RaceMachine::clocks},
                    Field{"program", &RaceMachine::program}};
}

constexpr auto fields_of(std::type_identity<RaceStart>) {
  return std::tuple{Field{"date", &RaceStart::date}, Field{"command", &RaceStart::command}};
}

constexpr auto fields_of(std::type_identity<RaceTiming>) {
  return std::tuple{Field{"device", &RaceTiming::device}, Field{"words", &RaceTiming::words}};
}

constexpr auto fields_of(std::type_identity<Roof>) {
  return std::tuple{Field{"bytes_per_second", &Roof::bytes_per_second, work_done},
                    Field{"flops_per_second", &Roof::flops_per_second, work_done}, Field{"copy", &Roof::copy},
                    Field{"product", &Roof::product}};
}

constexpr auto fields_of(std::type_identity<RaceRoof>) {
  return std::tuple{Field{"device", &RaceRoof::device}, Field{"precision", &RaceRoof::precision},
                    Field{"", &RaceRoof::roof}};
}

constexpr auto fields_of(std::type_identity<RaceEntry>) {
  return std::tuple{Field{"variant", &RaceEntry::variant},
                    Field{"form", &RaceEntry::form},
                    Field{"device", &RaceEntry::device},
                    Field{"precision", &RaceEntry::precision},
                    Field{"tokens", &RaceEntry::tokens, up_to(most_raced_tokens)},
                    Field{"batches", &RaceEntry::batches, up_to(most_raced_heads)},
                    Field{"heads", &RaceEntry::heads, up_to(most_raced_heads)},
                    Field{"dk", &RaceEntry::dk, up_to(most_raced_channels)},
                    Field{"dv", &RaceEntry::dv, up_to(most_raced_channels)},
                    Field{"chunk", &RaceEntry::chunk_size}};
}

constexpr auto fields_of(std::type_identity<RaceWork>) {
  return std::tuple{Field{"flops", &RaceWork::flops, work_done},
                    Field{"needed_flops", &RaceWork::needed_flops, work_done},
                    Field{"exponentials", &RaceWork::exponentials, work_done},
                    Field{"bytes", &RaceWork::bytes, work_done}, Field{"moved", &RaceWork::moved, work_done}};
}

/// What was measured.
constexpr auto fields_of(std::type_identity<RacePoint>) {
  return std::tuple{Field{"repeats", &RacePoint::repeats, {.least = 1}},
                    Field{"warmed", &RacePoint::warmed},
                    Field{"compute_s", &RacePoint::compute},
                    Field{"transfers_s", &RacePoint::transfers},
                    Field{"allocations_s", &RacePoint::allocations},
                    Field{"whole_s", &RacePoint::whole},
                    Field{"work", &RacePoint::work}};
}

namespace {

Json point_json(const RacePoint& point, const RaceReport& report) {
  Json json = point.entry;
  if (!point.measured()) {
    json["missing"] = point.missing;
    return json;
  }
  json.update(Json(point));
  if (point.kernel) json["kernel"] = name(*point.kernel);
  if (report.roof_of(point.entry)) json["roof_fraction"] = roof_fraction(point, report);
  return json;
}

constexpr const char* question_names[] = {"softmax", "forms", "devices", "devices with transfers"};

void require_order(const Quartiles& seconds) {
  if (seconds.low <= seconds.median && seconds.median <= seconds.high) return;
  refuse("low {}, median {} and high {} are not in ascending order", seconds.low, seconds.median,
         seconds.high);
}

/// Reads a struct of which every field must be there.
template <class Struct>
void read_whole(const Fields& from, Struct& into) {
  read_fields<Absent::refused>(from, into, []<class Read>(const Read& read) {
    if constexpr (std::is_same_v<Read, Quartiles>) require_order(read);
  });
}

void read_point(const Fields& fields, RacePoint& point) {
  RaceEntry& entry = point.entry;
  read_whole(fields, entry);
  const bool in_chunks = has_chunks(entry.form);
  fields.read("chunk", entry.chunk_size,
              {.least = in_chunks ? 1.0 : 0.0, .most = in_chunks ? most_raced_tokens : 0.0});
  if (!fields.has("missing")) {
    read_whole(fields, point);
    if (fields.has("kernel")) fields.read("kernel", point.kernel.emplace());
    return;
  }
  fields.read("missing", point.missing);
  if (point.missing.empty()) refuse("\"missing\" is empty; expected the reason");
}

/// Reads every entry of a list that must be there.
template <class One, class Read>
void read_list(const Fields& fields, const char* key, const char* entry, std::vector<One>& all, Read read) {
  fields.require(key);
  fields.read_each(key, entry, [&](const Fields& one) {
    one.named([&](const Fields& named) { read(named, all.emplace_back()); });
  });
}

void require_each_once(const RaceReport& report) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const RaceEntry& entry = report.points[i].entry;
    const std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {}", entry.variant, name(entry.form),
                                        entry.device, name(entry.precision), entry.tokens, entry.batches,
                                        entry.heads, entry.dk, entry.dv, entry.chunk_size);
    if (!seen.insert(key).second) refuse("point {} is given twice: {}", i + 1, shown(key));
  }
}

/// A field of CSV: in quotes where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string race_json(const RaceReport& report) {
  Json json = {{race_field, race_version},   {"complete", report.complete()}, {"left", report.left},
               {"machine", report.machine},  {"starts", report.starts},       {"data", report.data},
               {"timing", report.timing},    {"roofs", report.roofs},         {"points", Json::array()},
               {"crossovers", Json::array()}};
  for (const RacePoint& point : report.points) json["points"].push_back(point_json(point, report));
  for (const RaceCrossover& crossover : race_crossovers(report))
    json["crossovers"].push_back({{"question", entry(question_names, crossover.question)},
                                  {"tokens", crossover.tokens},
                                  {"seconds", crossover.seconds},
                                  {"sentence", crossover.sentence},
                                  {"where", crossover.where}});
  return dumped(json, 1) + '\n';
}

std::string race_csv(const RaceReport& report) {
  std::string csv =
      "variant,form,device,precision,tokens,batches,heads,dk,dv,chunk,repeats,compute_low_s,compute_median_s,"
      "compute_high_s,transfers_median_s,allocations_median_s,whole_low_s,whole_median_s,whole_high_s,flops,"
      "needed_flops,exponentials,bytes,moved,roof_fraction,missing\n";
  for (const RacePoint& point : report.points) {
    const RaceEntry& entry = point.entry;
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},", csv_field(entry.variant), name(entry.form),
                       csv_field(entry.device), name(entry.precision), entry.tokens, entry.batches,
                       entry.heads, entry.dk, entry.dv, entry.chunk_size);
    if (!point.measured()) {
      csv += std::string(15, ',') + csv_field(point.missing) + '\n';
      continue;
    }
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},\n", point.repeats, point.compute.low,
                       point.compute.median, point.compute.high, point.transfers.median,
                       point.allocations.median, point.whole.low, point.whole.median, point.whole.high,
                       point.work.flops, point.work.needed_flops, point.work.exponentials, point.work.bytes,
                       point.work.moved,
                       report.roof_of(entry) ? fmt::format("{}", roof_fraction(point, report)) : "");
  }
  return csv;
}

RaceReport parse_race(const std::string& text, const std::stop_token& stop) {
  const nlohmann::json object = parse_json(text);
  if (!object.is_object() || !object.contains(race_field))
    refuse("it is not a report of `palimpsest bench` but seems to be {}", seems_to_be(object));
  const Fields fields(object, "the report");
  Index version = 0;
  fields.read(race_field, version);
  if (version != race_version)
    refuse("\"{}\" is {}; this program reads version {}", race_field, version, race_version);
  RaceReport report;
  for (const char* const key : {"left", "data", "machine"}) fields.require(key);
  fields.read("left", report.left);
  fields.read("data", report.data);
  fields.at("machine")->named([&](const Fields& machine) { read_whole(machine, report.machine); });
  read_list(fields, "starts", "start", report.starts, read_whole<RaceStart>);
  read_list(fields, "timing", "timing", report.timing, read_whole<RaceTiming>);
  read_list(fields, "roofs", "roof", report.roofs, read_whole<RaceRoof>);
  read_list(fields, "points", "point", report.points, [&](const Fields& one, RacePoint& point) {
    stop_if_asked(stop);
    if (report.points.size() > most_points) refuse("a report has at most {} points", most_points);
    read_point(one, point);
  });
  require_each_once(report);
  return report;
}

RaceReport read_race(const std::filesystem::path& file, const std::stop_token& stop) {
  const std::string text = read_text_file(file, most_race_bytes);
  return naming_input(file.string(), [&] { return parse_race(text, stop); });
}

}  // namespace palimpsest
