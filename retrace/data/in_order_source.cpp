#include "retrace/data/in_order_source.h"

#include <utility>

#include "retrace/data/checked_source.h"

namespace retrace {

InOrderSource::InOrderSource(std::shared_ptr<const DataSource> source, int ahead) : source_(std::move(source)) {
  if (ahead > 0) prefetcher_.emplace(1, ahead);
}

Observation InOrderSource::get(int64_t index, int64_t pass) const {
  if (pass != pass_ || index < next_) {
    pass_ = pass;
    next_ = 0;
    if (prefetcher_)
      prefetcher_->begin([source = source_, pass](int64_t i) { return checked_get(*source, i, pass); }, size());
  }
  while (next_ < index) read();
  return read();
}

Observation InOrderSource::read() const {
  try {
    std::optional<Observation> read;
    if (prefetcher_) read = prefetcher_->take();
    if (!read) {  // there is no thread for it
      prefetcher_.reset();
      read = checked_get(*source_, next_, pass_);
    }
    ++next_;
    return std::move(*read);
  } catch (...) {
    pass_ = -1;  // the next one is read from the beginning
    throw;
  }
}

}  // namespace retrace
