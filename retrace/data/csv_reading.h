#pragma once
// A CSV file as a store, with the share of it that is put aside for tests.

#include <optional>
#include <string>

#include "retrace/data/csv_store.h"
#include "retrace/data/test_parts.h"

namespace retrace {

struct CsvReading {
  CsvDatastore store;              // of all records
  std::optional<TestParts> parts;  // where a share is put aside; categories and means are those of the training part
  CsvDatastore part(std::span<const int64_t> records) const;
  // As csv_store(), with a share that is put aside; 0: none is.
  static CsvReading read(const std::string& file, const CsvStoreOptions& options, double test_share, uint64_t seed,
                         Place place);
};

}  // namespace retrace
