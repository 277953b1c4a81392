#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "app/session/data_set.h"
#include "app/session/presets.h"
#include "app/session/session.h"
#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"
#include "tests/folders.h"
#include "tests/overwriting.h"

namespace palimpsest::testing {

/// What each of several things is called, or another text that it has.
inline std::vector<std::string> texts_of(const auto& things, auto text) {
  std::vector<std::string> all;
  std::ranges::transform(things, std::back_inserter(all), text);
  return all;
}

/// The ids of all captures that we ship.
inline std::vector<std::string> capture_ids() {
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(assets_folder() + "/captures")) {
    if (entry.path().extension() == ".npz") ids.push_back("capture:" + entry.path().stem().string());
  }
  return ids;
}

/// The ids of all that we ship: captures, and presets as they usually are.
inline std::vector<std::string> shipped_ids() {
  std::vector<std::string> ids = capture_ids();
  std::ranges::transform(presets(), std::back_inserter(ids), usual_preset_id);
  return ids;
}

/// The ids of all presets at one size.
inline std::vector<std::string> preset_ids(PresetSize size = {}) {
  return texts_of(presets(), [&](const Preset& preset) { return preset_id(preset, size); });
}

/// Numbers 0, 1/7, 2/7, ... mod 1 in this shape: something to compute with.
inline Array numbers(std::vector<Index> shape) {
  Array array = constant(std::move(shape), 0);
  auto& values = std::get<0>(array.own_values());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 3 % 7) / 7;
  return array;
}

/// Such queries, keys and values.
inline Arrays three(std::vector<Index> q, std::vector<Index> k, std::vector<Index> v) {
  return {{"q", numbers(std::move(q))}, {"k", numbers(std::move(k))}, {"v", numbers(std::move(v))}};
}
inline Arrays three(const std::vector<Index>& shape) { return three(shape, shape, shape); }

/// They, and other arrays beside them or in their place.
inline Arrays with_arrays(Arrays arrays, Arrays more) {
  more.merge(arrays);
  return more;
}

inline DataSet data_of(Arrays arrays) {
  DataSet data;
  data.id = "made in a test";
  data.arrays = std::move(arrays);
  measure(data);
  return data;
}

inline std::shared_ptr<const DataSet> shared(DataSet data) {
  return std::make_shared<const DataSet>(std::move(data));
}

/// A choice of what an id names, begun.
inline std::shared_ptr<Computation> begun(const Choice& choice, const std::string& id) {
  return begin(shared(open_data(id)), choice);
}
inline std::shared_ptr<Computation> begun(const std::string& variant, const std::string& id) {
  return begun({{.variant = variant}}, id);
}

/// Somebody has asked to stop before anything began.
inline std::stop_token asked_to_stop() {
  std::stop_source stop;
  stop.request_stop();
  return stop.get_token();
}

/// Opens something and waits until it is there.
inline void open(Session& session, const std::string& id) {
  session.open_named(id);
  session.wait();
  REQUIRE(session.message().empty());
}
inline void open(Session& session, DataSet data) {
  session.open(std::move(data));
  session.wait();
  REQUIRE(session.message().empty());
}

/// A session in which something is open.
struct Opened : Session {
  explicit Opened(const std::string& id) { testing::open(*this, id); }
};

/// Changes the choice and waits until it is computed.
inline void choose(Session& session, const auto& change) {
  session.choose(change);
  session.wait();
}

/// Changes the state in the same way.
inline void change(Session& session, const auto& change) {
  session.change(change);
  session.wait();
}

/// Comes back to a place that a file in this folder holds.
inline bool open_json(Session& session, const std::string& text, const TemporaryFolder& folder = {}) {
  write_file(folder / "place.json", text);
  return session.open_saved(folder / "place.json");
}
inline void come_back(Session& session, const std::string& text, const TemporaryFolder& folder = {}) {
  REQUIRE(open_json(session, text, folder));
  session.wait();
}

/// Takes a change back, or makes it again, and waits until that is there.
inline void undo(Session& session) {
  REQUIRE(session.undo());
  session.wait();
}
inline void redo(Session& session) {
  REQUIRE(session.redo());
  session.wait();
}

/// Whether the cursor is a place of the present trace whose values can be had.
inline bool has_valid_cursor(Session& session) {
  const Trace* trace = session.trace();
  if (!trace) return session.cursor() == Cursor{};
  const Cursor cursor = session.cursor();
  if (cursor.block < 0 || cursor.block >= trace->block_count()) return false;
  const Block block = trace->block(cursor.block);
  const auto operations = static_cast<Index>(trace->phase(block).operations.size());
  if (cursor.operation < 0 || cursor.operation >= operations || cursor.row < 0 || cursor.row >= block.count)
    return false;
  const Operation& operation = trace->operation(cursor);
  return trace->shared_record(cursor.block)->contains(operation.equation.result);
}

}  // namespace palimpsest::testing
