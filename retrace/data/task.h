#pragma once
// What data are for.

namespace retrace {

// What a target is.
enum class Task {
  classification,  // a target is the number of a class
  regression,      // a target is one value or several
};

}  // namespace retrace
