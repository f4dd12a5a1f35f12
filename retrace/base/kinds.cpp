#include "retrace/base/kinds.h"

#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/base/joined.h"

namespace retrace {

void throw_unknown(std::string_view what, std::string_view name, const std::vector<std::string>& names, Place place) {
  const auto near = nearest(name, names);
  throw Error(ErrorKind::usage, 196, fmt::format("there is no {} \"{}\"", what, name))
      .where(place)
      .expected(joined(names, ", "))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace retrace
