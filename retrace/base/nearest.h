#pragma once
// Names that a user may have meant. nearest() (retrace/base/error.h) is, of these, the first that there is: the name
// that stands for one of another framework; the nearest by edit distance; the shortest that has the same words and
// more (epochs: max_epochs).

#include <string>
#include <string_view>
#include <vector>

namespace retrace {

// The name of `known` that stands for `name` of another framework (lr: initial_learn_rate), or "".
std::string name_elsewhere(std::string_view name, const std::vector<std::string>& known);

}  // namespace retrace
