#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/io/array_file.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view example = "label,q0,q1,k0,k1,v0,v1,beta";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Reads a table from left to right, one line of fields at a time.
class Lines {
 public:
  Lines(std::string_view text, const fs::path& path) : text_(text), path_(path) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  /// Whether there is a line left that is not empty; blank lines at the end are none.
  bool more() const { return text_.find_first_not_of(" \t\r\n") != std::string_view::npos; }

  /// The number of the line that was read last, from 1 on.
  Index number() const { return number_; }

  void read(std::vector<std::string>& fields) {
    fields.clear();
    number_ = next_number_;
    do {
      fields.push_back(field());
    } while (accept(','));
    accept('\r');
    accept('\n');
    ++next_number_;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    refuse_file(path_, "line {}: {}", number_, problem);
  }

 private:
  bool accept(char wanted) {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string field() {
    if (accept('"')) return quoted();
    const std::size_t end = std::min(text_.find_first_of(",\r\n"), text_.size());
    const std::string_view found = text_.substr(0, end);
    text_.remove_prefix(end);
    return std::string(found);
  }

  std::string quoted() {
    std::string found;
    for (;;) {
      const std::size_t end = text_.find('"');
      if (end == std::string_view::npos) fail("a quote is not closed");
      found += text_.substr(0, end);
      next_number_ += std::ranges::count(text_.substr(0, end), '\n');
      text_.remove_prefix(end + 1);
      if (!accept('"')) break;
      found += '"';
    }
    if (!text_.empty() && std::string_view(",\r\n").find(text_.front()) == std::string_view::npos)
      fail(fmt::format("expected a comma after the quoted \"{}\"", shown(found)));
    return found;
  }

  std::string_view text_;
  const fs::path& path_;
  Index number_ = 0;
  Index next_number_ = 1;
};

/// The numbers of one array, row by row as they come.
struct Table {
  std::vector<double> values;
  Index width = 0;
  bool has_axis = true;  // false: one number per token
  std::string problem;
};

/// What one column holds: entry `index` of the rows of an array, or an array of one number per token. One
/// without a name is ignored.
struct Column {
  std::string name = {};  // as written
  std::string array = {};
  std::optional<Index> index = {};
  Table* table = nullptr;  // null where it is not read

  bool is_label() const { return name == "label" || name == "token"; }
};

/// Takes "q12" and "q[12]" apart.
Column column_of(std::string_view name) {
  Column column{.name = valid_utf8(name), .array = valid_utf8(name)};
  std::size_t begin = name.find_last_not_of("0123456789") + 1;  // 0 where there is none but digits
  std::string_view digits = name.substr(begin);
  if (const std::size_t bracket = name.find('['); name.ends_with(']') && bracket != std::string_view::npos) {
    begin = bracket;
    digits = name.substr(bracket + 1, name.size() - bracket - 2);
  }
  const auto index = parse_all<Index>(digits);
  if (begin == 0 || !index || *index < 0) return column;
  column.array = valid_utf8(name.substr(0, begin));
  column.index = index;
  return column;
}

/// The width of an array is its largest index + 1; all smaller indices must be there too.
void measure(Table& table, std::string_view what, const std::vector<const Column*>& columns) {
  std::set<Index> indices;
  bool plain = false;
  for (const Column* column : columns) {
    plain = plain || !column->index;
    if (column->index) indices.insert(*column->index);
  }
  table.width = static_cast<Index>(columns.size());
  table.has_axis = !plain;
  if (plain && columns.size() > 1) {
    table.problem =
        fmt::format("{}: column \"{}\" has no number; expected {}0, {}1, …", what,
                    shown(columns.front()->array), columns.front()->array, columns.front()->array);
    return;
  }
  if (plain || *indices.rbegin() == table.width - 1) return;
  Index missing = 0;
  while (indices.contains(missing)) ++missing;
  table.problem = fmt::format("{}: there is a column \"{}\" and none for {}[{}]; columns count from 0", what,
                              shown(fmt::format("{}[{}]", columns.front()->array, *indices.rbegin())),
                              columns.front()->array, missing);
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto value = parse_all<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::vector<Column> read_header(Lines& lines, const fs::path& path) {
  if (!lines.more()) refuse_file(path, "is empty; expected a line of names such as {}", example);
  std::vector<std::string> names;
  lines.read(names);
  for (const char* separator : {";", "\t"}) {
    if (names.size() == 1 && names.front().find(separator) != std::string::npos)
      lines.fail(fmt::format("expected commas between the fields, as in {}", example));
  }
  std::vector<Column> columns;
  std::set<std::pair<std::string, Index>> seen;
  for (const std::string& name : names) {
    const std::string_view bare = trimmed(name);
    const Column& column = columns.emplace_back(bare.empty() ? Column{} : column_of(bare));
    const bool is_labels = is_among(column.array, {"label", "token"});
    if (!bare.empty() && !seen.emplace(is_labels ? "label" : column.array, column.index.value_or(-1)).second)
      lines.fail(fmt::format("the column \"{}\" appears twice", shown(column.name)));
  }
  return columns;
}

/// Reads the lines below the names into tables and labels.
class CsvReader {
 public:
  CsvReader(const fs::path& path, std::vector<Column> columns, const Wanted& wanted, Npz& npz)
      : what_(path.string()), columns_(std::move(columns)) {
    std::map<std::string, std::vector<const Column*>> of_array;
    for (const Column& column : columns_) {
      if (!column.is_label() && !column.name.empty()) of_array[column.array].push_back(&column);
    }
    for (const auto& [name, own] : of_array) {
      if (wanted && !wanted(name))
        npz.unread.push_back(name);
      else
        measure(tables_[name], array_words(path, name), own);
    }
    for (Column& column : columns_) column.table = value_at(tables_, column.array);
  }

  void read_row(Lines& lines, Budget& budget) {
    lines.read(fields_);
    if (fields_.size() != columns_.size())
      lines.fail(fmt::format("has {} fields; expected {}, as in the line of names", fields_.size(),
                             columns_.size()));
    for (auto& [name, table] : tables_) {
      if (!table.problem.empty()) continue;
      budget.take(static_cast<std::uint64_t>(table.width) * sizeof(double), what_);
      table.values.resize(table.values.size() + static_cast<std::size_t>(table.width));
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (columns_[i].is_label())
        labels_.push_back(valid_utf8(fields_[i]));
      else if (columns_[i].table)
        take(*columns_[i].table, columns_[i], fields_[i], lines.number());
    }
    ++rows_;
  }

  void finish(Npz& npz) {
    for (auto& [name, table] : tables_) {
      if (!table.problem.empty()) {
        npz.unreadable.emplace(name, table.problem);
        continue;
      }
      std::vector<Index> shape = {rows_};
      if (table.has_axis) shape.push_back(table.width);
      npz.arrays.emplace(name, Array(shape, std::move(table.values)));
    }
    if (std::ranges::any_of(columns_, &Column::is_label))
      npz.texts.emplace("tokens", nlohmann::json(labels_).dump());
  }

 private:
  void take(Table& table, const Column& column, const std::string& field, Index line) {
    if (!table.problem.empty()) return;
    const std::string_view text = trimmed(field);
    if (const std::optional<double> number = number_in(text))
      table.values[table.values.size() - static_cast<std::size_t>(table.width - column.index.value_or(0))] =
          *number;
    else
      table.problem = fmt::format("{}: line {}, column \"{}\": expected a finite number, found \"{}\"", what_,
                                  line, shown(column.name), shown(text));
  }

  const std::string what_;
  std::vector<Column> columns_;
  std::map<std::string, Table> tables_;
  std::vector<std::string> labels_;
  std::vector<std::string> fields_;
  Index rows_ = 0;
};

}  // namespace

Npz read_csv(const fs::path& path, const NpzLimits& limits, const Wanted& wanted) {
  require_readable_file(path);
  const std::uint64_t bytes = fs::file_size(path);
  Budget budget(limits);
  budget.take(bytes, path.string());
  const std::vector<std::byte> text = read_bytes(path, 0, bytes);
  if (is_among(std::byte{0}, text))
    refuse_file(path, "is no text in UTF-8: it holds bytes that are 0, as UTF-16 does; save it as UTF-8");
  Lines lines({reinterpret_cast<const char*>(text.data()), text.size()}, path);
  std::vector<Column> columns = read_header(lines, path);
  if (!lines.more()) refuse_file(path, "has no line below the names; expected one for each token");
  Npz npz;
  CsvReader reader(path, std::move(columns), wanted, npz);
  while (lines.more()) reader.read_row(lines, budget);
  reader.finish(npz);
  return npz;
}

}  // namespace palimpsest
