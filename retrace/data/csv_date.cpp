#include "retrace/data/csv_date.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "retrace/base/file.h"

namespace retrace {
namespace {

// Reads a text from its beginning.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  std::optional<CsvDate> read() {
    const auto first = number();
    if (!first) return std::nullopt;
    const size_t digits = digits_;
    const char separator = peek();
    if (separator != '-' && separator != '/' && separator != '.') return std::nullopt;
    take(separator);
    const auto month = number();
    if (!month || digits_ > 2 || !take(separator)) return std::nullopt;
    const auto last = number();
    const bool year_first = separator != '.';
    if (!last || (year_first ? digits : digits_) != 4 || (year_first ? digits_ : digits) > 2) return std::nullopt;
    const bool good = year_first ? set_day(*first, *month, *last) : set_day(*last, *month, *first);
    if (!good || (!text_.empty() && !read_time())) return std::nullopt;
    return date_;
  }

 private:
  char peek() const { return text_.empty() ? '\0' : text_[0]; }
  bool take(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  // A number without a sign; digits_ says of how many digits.
  std::optional<int> number() {
    int value = 0;
    digits_ = std::min(text_.find_first_not_of("0123456789"), text_.size());
    if (digits_ == 0 || digits_ > 4) return std::nullopt;
    std::from_chars(text_.data(), text_.data() + digits_, value);
    text_.remove_prefix(digits_);
    return value;
  }

  bool set_day(int year, int month, int day) {
    const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day)));
    if (!date.ok()) return false;
    const std::chrono::sys_days days(date);
    date_.day = static_cast<double>(days.time_since_epoch().count());
    date_.weekday = static_cast<int>(std::chrono::weekday(days).iso_encoding()) - 1;
    date_.month = month - 1;
    return true;
  }

  bool two_digits(int& value, int most) {
    const auto found = number();
    if (!found || digits_ > 2 || *found > most) return false;
    value = *found;
    return true;
  }

  bool read_time() {
    int minute = 0, second = 0;
    double part = 0;
    if (!take(' ') && !take('T')) return false;
    if (!two_digits(date_.hour, 23) || !take(':') || !two_digits(minute, 59)) return false;
    if (take(':') && !two_digits(second, 59)) return false;
    if (peek() == '.') {
      const size_t end = std::min(text_.find_first_not_of("0123456789", 1), text_.size());
      if (end < 2) return false;
      std::from_chars(text_.data(), text_.data() + end, part);
      text_.remove_prefix(end);
    }
    take('Z');
    date_.day += (date_.hour * 3600 + minute * 60 + second + part) / 86400;
    return text_.empty();
  }

  std::string_view text_;
  size_t digits_ = 0;
  CsvDate date_;
};

}  // namespace

std::optional<CsvDate> csv_date(std::string_view text) { return DateReader(text).read(); }

std::string csv_day_text(int64_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

void CsvDateOptions::add_parts(const CsvDate& date, float* numbers) const {
  if (std::isnan(date.day)) return;
  const auto put = [&](bool wanted, int size, int which) {
    if (!wanted) return;
    numbers[which] = 1;
    numbers += size;
  };
  put(weekday, 7, date.weekday), put(month, 12, date.month), put(hour, 24, date.hour);
}

CsvDateOptions CsvDateOptions::of(const std::string& origin, const std::vector<std::string>& parts, Place place) {
  const auto from = csv_date(origin);
  if (!from || from->day != std::floor(from->day))
    throw Error(ErrorKind::usage, 537, "the origin of dates is no day")
        .where(place)
        .got(fmt::format("\"{}\"", printable(origin)))
        .expected("a date without a time, such as 2024-05-01");
  CsvDateOptions options{.origin = from->day};
  for (const auto& part : parts) {
    bool* const wanted = part == "weekday" ? &options.weekday
                         : part == "month" ? &options.month
                         : part == "hour"  ? &options.hour
                                           : nullptr;
    if (!wanted)
      throw Error(ErrorKind::usage, 538, fmt::format("dates have no part \"{}\"", printable(part)))
          .where(place)
          .expected("weekday, month or hour");
    *wanted = true;
  }
  return options;
}

}  // namespace retrace
