#include "app/session/race_file.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <set>

#include "app/session/json_fields.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/race/findings.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

constexpr Index race_version = 1;
constexpr const char* race_field = "palimpsest_race";
constexpr std::uintmax_t most_race_bytes = std::uintmax_t{256} << 20;
constexpr std::size_t most_points = 100'000;

/// Of numbers far outside of what is measured products and quotients leave the range of numbers, and no axis
/// has room for their names.
struct Amounts {
  double least;
  double largest;
};
constexpr Amounts seconds_taken = {1e-9, 1e9};
constexpr Amounts work_done = {1e-30, 1e30};  // operations and bytes, also per second

Json json_of(const Quartiles& seconds) {
  return {{"low", seconds.low}, {"median", seconds.median}, {"high", seconds.high}};
}

Json json_of(const RaceMachine& machine) {
  return {{"processor", machine.processor}, {"threads", machine.threads}, {"gpu", machine.gpu},
          {"driver", machine.driver},       {"clocks", machine.clocks},   {"program", machine.program}};
}

Json json_of(const RaceRoof& roof) {
  return {{"device", roof.device},
          {"precision", name(roof.precision)},
          {"bytes_per_second", roof.roof.bytes_per_second},
          {"flops_per_second", roof.roof.flops_per_second},
          {"copy", roof.roof.copy},
          {"product", roof.roof.product}};
}

Json json_of(const RacePoint& point, const RaceReport& report) {
  const RaceEntry& entry = point.entry;
  Json json = {{"variant", entry.variant}, {"form", name(entry.form)},
               {"device", entry.device},   {"precision", name(entry.precision)},
               {"tokens", entry.tokens},   {"batches", entry.batches},
               {"heads", entry.heads},     {"dk", entry.dk},
               {"dv", entry.dv},           {"chunk", entry.chunk_size}};
  if (!point.measured()) {
    json["missing"] = point.missing;
    return json;
  }
  const RaceWork& work = point.work;
  json.update({{"repeats", point.repeats},
               {"warmed", point.warmed},
               {"compute_s", json_of(point.compute)},
               {"transfers_s", json_of(point.transfers)},
               {"allocations_s", json_of(point.allocations)},
               {"whole_s", json_of(point.whole)},
               {"work",
                {{"flops", work.flops},
                 {"needed_flops", work.needed_flops},
                 {"exponentials", work.exponentials},
                 {"bytes", work.bytes},
                 {"moved", work.moved}}}});
  if (point.kernel) json["kernel"] = name(*point.kernel);
  if (report.roof_of(entry)) json["roof_fraction"] = roof_fraction(point, report);
  return json;
}

const char* name_of(RaceQuestion question) {
  switch (question) {
    case RaceQuestion::softmax:
      return "softmax";
    case RaceQuestion::forms:
      return "forms";
    case RaceQuestion::devices:
      return "devices";
    case RaceQuestion::whole_devices:
      break;
  }
  return "devices with transfers";
}

/// Throws InputError for the first of `keys` that is not there.
void require(const Fields& fields, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (!fields.has(key)) throw InputError(fmt::format("\"{}\" is missing", key));
  }
}

/// Runs `read` on fields; what it throws names them.
template <class Read>
void read_named(const Fields& fields, Read read) {
  try {
    read(fields);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", fields.name(), error.what()));
  }
}

/// 0, or one of `amounts`.
void read_amount(const Fields& fields, const char* key, const Amounts& amounts, double& value) {
  require(fields, {key});
  fields.read(key, value);
  if (value == 0 || (value >= amounts.least && value <= amounts.largest)) return;
  throw InputError(fmt::format("\"{}\" is {}; expected 0 or a number from {} to {}", key, value,
                               amounts.least, amounts.largest));
}

/// The object under `key`, read by `read`.
template <class Read>
void read_object(const Fields& fields, const char* key, Read read) {
  require(fields, {key});
  read_named(*fields.at(key), read);
}

void read_quartiles(const Fields& fields, const char* key, Quartiles& seconds) {
  read_object(fields, key, [&](const Fields& one) {
    read_amount(one, "low", seconds_taken, seconds.low);
    read_amount(one, "median", seconds_taken, seconds.median);
    read_amount(one, "high", seconds_taken, seconds.high);
    if (seconds.low <= seconds.median && seconds.median <= seconds.high) return;
    throw InputError(fmt::format("low {}, median {} and high {} are not in ascending order", seconds.low,
                                 seconds.median, seconds.high));
  });
}

RaceEntry read_entry(const Fields& fields) {
  require(fields,
          {"variant", "form", "device", "precision", "tokens", "batches", "heads", "dk", "dv", "chunk"});
  RaceEntry entry;
  fields.read("variant", entry.variant);
  fields.read("form", all_forms, entry.form);
  fields.read("device", entry.device);
  fields.read("precision", all_precisions, entry.precision);
  fields.read("tokens", entry.tokens, 1, most_raced_tokens);
  fields.read("batches", entry.batches, 1, most_raced_heads);
  fields.read("heads", entry.heads, 1, most_raced_heads);
  fields.read("dk", entry.dk, 1, most_raced_channels);
  fields.read("dv", entry.dv, 1, most_raced_channels);
  fields.read("chunk", entry.chunk_size, has_chunks(entry.form) ? 1 : 0,
              has_chunks(entry.form) ? most_raced_tokens : 0);
  return entry;
}

RacePoint read_point(const Fields& fields) {
  RacePoint point = {.entry = read_entry(fields)};
  if (fields.has("missing")) {
    fields.read("missing", point.missing);
    if (point.missing.empty()) throw InputError("\"missing\" is empty; expected the reason");
    return point;
  }
  require(fields, {"repeats", "warmed"});
  fields.read("repeats", point.repeats, 1);
  fields.read("warmed", point.warmed);
  read_quartiles(fields, "compute_s", point.compute);
  read_quartiles(fields, "transfers_s", point.transfers);
  read_quartiles(fields, "allocations_s", point.allocations);
  read_quartiles(fields, "whole_s", point.whole);
  read_object(fields, "work", [&](const Fields& work) {
    read_amount(work, "flops", work_done, point.work.flops);
    read_amount(work, "needed_flops", work_done, point.work.needed_flops);
    read_amount(work, "exponentials", work_done, point.work.exponentials);
    read_amount(work, "bytes", work_done, point.work.bytes);
    read_amount(work, "moved", work_done, point.work.moved);
  });
  if (fields.has("kernel")) fields.read("kernel", all_kernel_kinds, point.kernel.emplace());
  return point;
}

RaceMachine read_machine(const Fields& fields) {
  RaceMachine machine;
  require(fields, {"processor", "threads", "gpu", "driver", "clocks", "program"});
  fields.read("processor", machine.processor);
  fields.read("threads", machine.threads, 1);
  fields.read("gpu", machine.gpu);
  fields.read("driver", machine.driver);
  fields.read("clocks", machine.clocks);
  fields.read("program", machine.program);
  return machine;
}

RaceRoof read_roof(const Fields& fields) {
  RaceRoof roof;
  require(fields, {"device", "precision", "copy", "product"});
  fields.read("device", roof.device);
  fields.read("precision", all_precisions, roof.precision);
  read_amount(fields, "bytes_per_second", work_done, roof.roof.bytes_per_second);
  read_amount(fields, "flops_per_second", work_done, roof.roof.flops_per_second);
  fields.read("copy", roof.roof.copy);
  fields.read("product", roof.roof.product);
  return roof;
}

/// Reads every entry of a list that must be there.
template <class One, class Read>
void read_list(const Fields& fields, const char* key, const char* entry, std::vector<One>& all, Read read) {
  require(fields, {key});
  fields.read_each(key, entry, [&](const Fields& one) {
    read_named(one, [&](const Fields& named) { all.push_back(read(named)); });
  });
}

void require_each_once(const RaceReport& report) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const RaceEntry& entry = report.points[i].entry;
    const std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {}", entry.variant, name(entry.form),
                                        entry.device, name(entry.precision), entry.tokens, entry.batches,
                                        entry.heads, entry.dk, entry.dv, entry.chunk_size);
    if (!seen.insert(key).second)
      throw InputError(fmt::format("point {} is there twice: {}", i + 1, shown(key)));
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
  Json json = {{race_field, race_version}, {"complete", report.complete()},
               {"left", report.left},      {"machine", json_of(report.machine)},
               {"starts", Json::array()},  {"data", report.data},
               {"timing", Json::array()},  {"roofs", Json::array()},
               {"points", Json::array()},  {"crossovers", Json::array()}};
  for (const RaceStart& start : report.starts)
    json["starts"].push_back({{"date", start.date}, {"command", start.command}});
  for (const RaceTiming& timing : report.timing)
    json["timing"].push_back({{"device", timing.device}, {"words", timing.words}});
  for (const RaceRoof& roof : report.roofs) json["roofs"].push_back(json_of(roof));
  for (const RacePoint& point : report.points) json["points"].push_back(json_of(point, report));
  for (const RaceCrossover& crossover : race_crossovers(report)) {
    json["crossovers"].push_back({{"question", name_of(crossover.question)},
                                  {"tokens", crossover.tokens},
                                  {"seconds", crossover.seconds},
                                  {"sentence", crossover.sentence},
                                  {"where", crossover.where}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
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

RaceReport parse_race(const std::string& text) {
  const nlohmann::json object = parse_json(text);
  if (!object.is_object() || !object.contains(race_field)) {
    throw InputError(
        fmt::format("it is no report of `palimpsest bench` but seems to be {}", seems_to_be(object)));
  }
  const Fields fields(object, "the report");
  Index version = 0;
  fields.read(race_field, version);
  if (version != race_version) {
    throw InputError(
        fmt::format("\"{}\" is {}; this program reads version {}", race_field, version, race_version));
  }
  RaceReport report;
  require(fields, {"left", "data"});
  fields.read("left", report.left);
  fields.read("data", report.data);
  read_object(fields, "machine", [&](const Fields& machine) { report.machine = read_machine(machine); });
  read_list(fields, "starts", "start", report.starts, [](const Fields& one) {
    RaceStart start;
    require(one, {"date", "command"});
    one.read("date", start.date);
    one.read("command", start.command);
    return start;
  });
  read_list(fields, "timing", "timing", report.timing, [](const Fields& one) {
    RaceTiming timing;
    require(one, {"device", "words"});
    one.read("device", timing.device);
    one.read("words", timing.words);
    return timing;
  });
  read_list(fields, "roofs", "roof", report.roofs, read_roof);
  read_list(fields, "points", "point", report.points, [&](const Fields& one) {
    if (report.points.size() == most_points)
      throw InputError(fmt::format("a report has at most {} points", most_points));
    return read_point(one);
  });
  require_each_once(report);
  return report;
}

RaceReport read_race(const std::filesystem::path& file) {
  const std::string text = read_text_file(file, most_race_bytes);
  try {
    return parse_race(text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace palimpsest
