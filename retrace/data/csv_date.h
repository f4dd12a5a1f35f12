#pragma once
// Dates in cells of CSV files.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/error.h"

namespace retrace {

// A date, maybe with a time of day. Of no date: day is NaN.
struct CsvDate {
  double day = 0;   // since 1970-01-01
  int weekday = 0;  // 0: Monday
  int month = 0;    // 0: January
  int hour = 0;
};

// Of each feature that is a date, by its place among the features: one for each record.
using CsvDates = std::map<size_t, std::vector<CsvDate>>;

// A date of the calendar as 2024-05-01, 2024/5/1 or 1.5.2024, with a time behind it (a blank or T, 12:00, 12:00:30,
// 12:00:30.5) or without, and Z or nothing behind that. Nothing for all else.
std::optional<CsvDate> csv_date(std::string_view text);

// "2024-05-01" of a day since 1970-01-01, of years 0 to 9999.
std::string csv_day_text(int64_t day);

// What is known of columns of dates: numbers of days since `origin`, and further features of each.
struct CsvDateOptions {
  double origin = 0;  // a day since 1970-01-01
  bool weekday = false, month = false, hour = false;
  // Numbers of a date: the day, and one for each weekday, month and hour that is asked for.
  int64_t width() const { return 1 + (weekday ? 7 : 0) + (month ? 12 : 0) + (hour ? 24 : 0); }
  // Puts the numbers behind the day: 1 for the weekday, month and hour of the date, and 0 for the others; nothing for
  // no date.
  void add_parts(const CsvDate& date, float* numbers) const;
  // By the words of jobs. Error(usage) for an origin that is no date and for parts that are none.
  static CsvDateOptions of(const std::string& origin, const std::vector<std::string>& parts, Place place);
};

}  // namespace retrace
