// Operations after main has returned: in a function of atexit, and in the destructor of a static object that is older
// than everything of the library. Each works or is an Error(usage); what was computed before can be read. Exit code 0.

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "retrace/retrace.h"

namespace rt = retrace;

namespace {

int refused = 0, failures = 0;

template <class F>
void attempt(const char* what, F operation) {
  try {
    operation();
  } catch (const rt::Error& error) {
    ++refused;
    if (error.kind() == rt::ErrorKind::usage && error.code() == 206) return;
    std::fprintf(stderr, "%s: %s\n", what, error.what());
    ++failures;
  }
}

struct Holder {
  std::optional<rt::Tensor> value, pending;
  rt::Tree parameters;
  ~Holder();
};
Holder holder;

const auto& fast() {
  static const auto& function = *new auto(rt::accelerate([](const rt::Tensor& x) { return x + x; }));
  return function;
}

void work(const char* where) {
  attempt(where, [] { (*holder.value + *holder.value).item<float>(); });
  attempt(where, [] { holder.pending->item<float>(); });
  attempt(where, [] { fast()(*holder.value); });
  attempt(where, [] { rt::evaluate(); });
  attempt(where,
          [] { rt::value_and_grad([](const rt::Tree& p) { return rt::sum(rt::square(p["w"])); })(holder.parameters); });
  attempt(where, [] { rt::uniform({4}, rt::random_key(1)); });
  attempt(where, [] { rt::Tensor::full(1, {3}) / 2.0f; });
  if (holder.value->item<float>() != 3) ++failures;
}

Holder::~Holder() {
  work("destructor");
  if (refused == 0 || failures) std::_Exit(1);
}

}  // namespace

int main() {
  std::atexit([] { work("atexit"); });
  holder.value = rt::Tensor::scalar(3.0f);
  holder.parameters = rt::Tree{{"w", rt::Tensor::full(2, {4})}};
  fast()(*holder.value);
  holder.pending = *holder.value + 1.0f;
  return 0;
}
