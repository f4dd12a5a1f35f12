#include "retrace/data/source_kind.h"

namespace retrace {

const SourceTarget* target_of(const SourceKind& source, const nn::NetworkOutput& output) {
  const SourceTarget* target = find_kind(source.targets, output.name);
  return target && target->kind == output.kind ? target : nullptr;
}

}  // namespace retrace
