#pragma once
// A reference to a callable.

#include <type_traits>
#include <utility>

namespace retrace {

template <class Signature>
class FunctionRef;

// Refers to a callable without owning it: no allocation, and it must not outlive the callable.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Callable>
    requires(!std::is_same_v<std::decay_t<Callable>, FunctionRef>)
  FunctionRef(Callable&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(&callable))), call_([](void* object, Arguments... a) {
          return static_cast<Result>(
              (*static_cast<std::remove_reference_t<Callable>*>(object))(std::forward<Arguments>(a)...));
        }) {}
  Result operator()(Arguments... a) const { return call_(object_, std::forward<Arguments>(a)...); }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace retrace
