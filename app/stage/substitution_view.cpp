#include "app/stage/substitution_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/widgets/text.h"
#include "core/base/text.h"
#include "core/steps/recognised.h"

namespace palimpsest {

namespace {

class SubstitutionBuilder {
 public:
  SubstitutionBuilder(const SubstitutionNames& names, const Record& record, const Symbols& symbols)
      : names_(names), record_(record), symbols_(symbols) {
    view_.overlap = picture(names.overlap);
    view_.solved = picture(names.solved);
    view_.missing = picture(names.missing);
  }

  void name_rows(const Block& block, const std::vector<std::string>& labels) {
    if (record_.at(names_.solved).rows() != block.count) return;
    for (Index row = 0; row < block.count; ++row)
      view_.words.push_back(visible_label(labels[static_cast<std::size_t>(block.first_token + row)]));
  }

  SubstitutionView build(Index row, const Record* recurrence) {
    const SubstitutionRow sum = substitution_row(names_, record_, row);
    view_.row = row;
    const std::string u = lower(names_.solved);
    add({.word = word(row),
         .words = "what is missing",
         .brief = "missing",
         .latex = fmt::format("{}_{{{}}}", lower(names_.missing), row),
         .must_stand = true},
        "what is missing", sum.missing);
    for (const SubstitutionRow::Taken& taken : sum.taken) {
      const double share = -taken.coefficient;
      view_.coefficients.push_back(fixed_number(taken.coefficient, 2));
      add({.word = word(taken.row),
           .words = "already written by it",
           .factor = fmt::format("{} {}", share < 0 ? "−" : "+", fixed_number(std::abs(share), 2)),
           .latex = fmt::format("{}_{{{}}}", u, taken.row)},
          fmt::format("taken by {}", taken.row), taken.part);
    }
    view_.coefficients.emplace_back("1");
    add({.word = word(row),
         .words = "will be written",
         .brief = "to write",
         .latex = fmt::format("= {}_{{{}}}", u, row),
         .must_stand = true},
        "solved", sum.solved);
    const Index rows = record_.at(names_.solved).rows();
    view_.sentence =
        fmt::format("Row {}{}: {} {} solved, this one is the sum below{}.", row,
                    view_.words.empty() ? "" : fmt::format(", “{}”", word(row)), row, row == 1 ? "is" : "are",
                    row + 1 < rows ? fmt::format(", {} to come", rows - row - 1) : "");
    add_recurrence(row, sum.solved, recurrence);
    return std::move(view_);
  }

 private:
  Box picture(const std::string& tensor) const {
    return picture_of(tensor, false, fmt::format("substitution/{}", tensor), record_, symbols_);
  }

  std::string lower(const std::string& tensor) const {
    std::string latex = symbols_.contains(tensor) ? symbol_in(symbols_, tensor).latex : tensor;
    if (latex.size() == 1) latex[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(latex[0])));
    return latex;
  }

  std::string word(Index row) const {
    return view_.words.empty() ? fmt::format("row {}", row) : view_.words[static_cast<std::size_t>(row)];
  }

  void add(SubstitutionStrip strip, const std::string& what, const Matrix<double>& values) {
    const std::string name = "of the sum: " + what;
    view_.made.set(name, values);
    view_.one_scale.push_back(name);
    strip.picture = picture_of(name, false, fmt::format("sum {}/{}", view_.row, name), view_.made, symbols_);
    strip.length = values.norm();
    if (strip.number.empty()) strip.number = fixed_number(strip.length, 2);
    view_.strips.push_back(std::move(strip));
  }

  /// The row that the recurrence writes for the same word, and how far off it is.
  void add_recurrence(Index row, const Matrix<double>& solved, const Record* recurrence) {
    if (!recurrence || view_.words.empty() || !recurrence->contains("error")) return;
    const Matrix<double> written = recurrence->at("error").transpose();
    if (written.cols() != solved.cols() || written.rows() != 1) return;
    view_.sentence += "\nRow i of U is what the recurrence writes for word i.";
    const double difference = (written - solved).cwiseAbs().maxCoeff();
    add({.word = word(row),
         .words = "the recurrence writes",
         .brief = "recurrence",
         .latex = "e_t",
         .number = difference == 0 ? "the same" : fmt::format("± {:.0e}", difference),
         .must_stand = true},
        "recurrence", written);
  }

  const SubstitutionNames& names_;
  const Record& record_;
  const Symbols& symbols_;
  SubstitutionView view_;
};

}  // namespace

std::optional<SubstitutionView> substitution_view(const Trace& trace, const Phase& phase,
                                                  const Record& record, const Cursor& cursor,
                                                  const std::vector<std::string>& labels,
                                                  const Record* recurrence) {
  const Operation& operation = phase.operations[static_cast<std::size_t>(cursor.operation)];
  const auto names = substitution_of(operation);
  if (!names) return std::nullopt;
  const Matrix<double>& solved = record.at(names->solved);
  if (solved.rows() < 1 || solved.cols() < 2 || record.at(names->overlap).size() < 2) return std::nullopt;
  SubstitutionBuilder builder(*names, record, trace.symbols);
  builder.name_rows(trace.block(cursor.block), labels);
  return builder.build(std::min(cursor.row, solved.rows() - 1), recurrence);
}

}  // namespace palimpsest
