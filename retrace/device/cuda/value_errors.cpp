#include "retrace/device/cuda/value_errors.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace retrace::cuda {

ValueErrors::Source::Source(ValueErrors& errors, Describe describe)
    : errors_(errors), number_(errors.add(std::move(describe))) {}

ValueErrors::Source::~Source() { errors_.remove(number_); }

unsigned ValueErrors::add(Describe describe) {
  const std::lock_guard lock(mutex_);
  if (!reported_) {
    const Record none;
    record_ = static_cast<unsigned long long*>(runtime_.allocate(sizeof none));
    runtime_.copy_from_host(record_, &none, sizeof none);
    reported_ = static_cast<unsigned*>(runtime_.allocate_on_host(sizeof *reported_));
  }
  sources_.emplace(++last_, std::move(describe));
  return last_;
}

void ValueErrors::remove(unsigned source) {
  const std::lock_guard lock(mutex_);
  try {
    runtime_.synchronize();
    collect();
  } catch (const Error&) {
    // The device has failed, which its next call tells.
  }
  sources_.erase(source);
}

void ValueErrors::check() {
  const std::lock_guard lock(mutex_);
  collect();
  if (kept_) throw *std::exchange(kept_, std::nullopt);
}

DevicePart ValueErrors::reported() {
  const std::lock_guard lock(mutex_);
  return {record_, record_ ? sizeof(Record) : 0};
}

void ValueErrors::check(const void* seen) {
  Record record;
  std::memcpy(&record, seen, sizeof record);
  if (record.source != 0) check();
}

// The flag is lowered first: a report that comes later raises it again.
void ValueErrors::collect() {
  if (!reported_) return;
  const std::atomic_ref flag(*reported_);
  if (flag.load() == 0) return;
  flag.store(0);
  const Record none;
  Record record;
  runtime_.copy_to_host(&record, record_, sizeof record);
  runtime_.copy_from_host(record_, &none, sizeof none);
  if (record.source == 0 || kept_) return;
  const auto position = static_cast<int64_t>(record.found >> 32);
  kept_ = sources_.at(static_cast<unsigned>(record.source))(position, static_cast<int32_t>(record.found));
}

}  // namespace retrace::cuda
