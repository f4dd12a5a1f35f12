// Any bytes: the CSV reader gives a table that is full, or Error(bad_data) or Error(usage).

#include <cmath>
#include <cstdint>

#include "retrace/data/csv_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool labels = data[0] & 1;
  CsvColumns columns{.header = (data[0] & 2) != 0, .labels = labels, .for_inputs = (data[0] & 4) != 0};
  if (data[0] & 8) columns.targets = {"1", "a"};
  if (data[0] & 16) columns.delimiter = ';', columns.missing = {"NA"};
  if (data[0] & 32) columns.empty = EmptyCells::mean, columns.test_share = 0.5;
  try {
    has_csv_header(text, "input", data[0] >> 4, columns);
    const CsvTable table = parse_csv_table(text, "input", columns);
    const auto rows = static_cast<size_t>(table.rows);
    ensure(rows > 0 && table.features.size() == rows * table.columns.size(), "every cell of a feature is a number");
    for (const float value : table.features) ensure(std::isfinite(value), "numbers are finite");
    if (!columns.for_inputs)
      ensure((labels ? table.labels.size() : table.values.size()) == rows * table.targets.size(),
             "every target is there");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data && error.kind() != ErrorKind::usage) throw;
  }
  return 0;
}
