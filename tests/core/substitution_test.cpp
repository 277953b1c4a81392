#include "core/steps/recognised.h"

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE(
    "what is missing, less what earlier rows wrote, is what a row writes, and what the recurrence writes",
    "[substitution]") {
  int rows = 0;
  for (const Case& each : all_cases({.tokens = 11, .dk = 4, .dv = 3, .seed = 5})) {
    const Form form = Form::chunkwise;
    if (each.variant->rule->missing(form, each.sequence.settings)) continue;
    const auto trace = each.trace(form, 4);
    const auto recurrence = each.trace(Form::recurrent, 4);
    for (Index index = 0; index < trace->block_count(); ++index) {
      const Record record = trace->record(index);
      const Block block = trace->block(index);
      for (const Operation& operation : trace->phase(block).operations) {
        const auto names = substitution_of(operation);
        if (!names) continue;
        INFO(each.words << " block " << index);
        CHECK(operation.purpose == Purpose::solve);
        for (Index row = 0; row < record.at(names->solved).rows(); ++row) {
          const SubstitutionRow sum = substitution_row(*names, record, row);
          REQUIRE(static_cast<Index>(sum.taken.size()) == row);
          Matrix<double> total = sum.missing;
          for (const SubstitutionRow::Taken& taken : sum.taken) {
            CHECK(taken.coefficient == record.at(names->overlap)(row, taken.row));
            total += taken.part;
          }
          // The engine adds the same terms in another order.
          const double scale = std::max(1.0, sum.solved.cwiseAbs().maxCoeff());
          CHECK((total - sum.solved).cwiseAbs().maxCoeff() <= 1e-13 * scale);
          ++rows;
          if (record.at(names->solved).rows() != block.count) continue;  // several rows for each token
          const Record token = recurrence->record(recurrence->block_of(block.first_token + row, 0));
          if (!token.contains("error")) continue;
          CHECK((token.at("error").transpose() - sum.solved).cwiseAbs().maxCoeff() <= 1e-11 * scale);
        }
      }
    }
  }
  CHECK(rows > 100);
}
