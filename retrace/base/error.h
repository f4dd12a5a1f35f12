#pragma once
// The one error type of the library, and the one formatter of its messages.

#include "retrace/base/requirements.h"

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/base/place.h"

namespace retrace {

// The kind of a failure; the command's exit code follows from it.
enum class ErrorKind {
  usage,        // 2: bad call, option, key or flag
  bad_data,     // 65: input is damaged
  missing,      // 66: input does not exist
  unavailable,  // 69: device, library or service absent
  internal,     // 70: our bug
  output,       // 74: writing failed
  lost,         // 77: a worker failed, was lost or is silent
};

// The exit code of the command for an error of that kind: the number behind it above.
int exit_code(ErrorKind kind);

// error[RT0123]: conv2d: x has 3 channels, weights expect 4
//   where:    train.cpp:41
//   got:      x f32[32,28,28,3] "BSSC"
//   expected: channels of x = channels of the weights x groups
//   help:     give the weights the shape [kh,kw,3,out]
// Empty parts are left out. docs/errors.md lists all codes. They go by area: 01xx tensors, labels, shapes; 02xx
// recording, gradients, plans; 03xx data; 04xx jobs and options; 05xx files; 06xx devices, workers; 07xx command;
// 09xx our bugs.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, int code, std::string_view message);
  // Made once, in the library: a thousand places throw these.
  Error(const Error& other);
  Error(Error&& other) noexcept;
  Error& operator=(const Error& other);
  Error& operator=(Error&& other) noexcept;
  ~Error() override;
  Error& where(std::string_view text);
  Error& where(Place place);
  Error& got(std::string_view text);
  Error& expected(std::string_view text);
  Error& help(std::string_view text);
  Error& in(const std::string& whose);  // "worker 2: " before the message

  const char* what() const noexcept override { return text_.c_str(); }  // the whole text
  ErrorKind kind() const { return kind_; }
  int code() const { return code_; }
  bool has_place() const { return !where_.empty(); }
  const std::string& message() const { return message_; }  // the first line without its prefix

 private:
  void format();
  ErrorKind kind_;
  int code_;
  std::string message_, where_, got_, expected_, help_, text_;
};

// One error for several mistakes of one input: their texts in order, the kind of the first.
// Does nothing if the list is empty.
void throw_all(const std::vector<Error>& errors);

// The name of `known` that the user may have meant by `name`, or "": see retrace/base/nearest.h.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

// Returns f(). An error that does not say where it happened gets this place.
template <class F>
decltype(auto) with_place(Place place, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (Error& error) {
    if (!error.has_place()) error.where(place);
    throw;
  }
}

// Checks for our own bugs; it stays on in release builds. Throws Error(internal).
void ensure(bool condition, const char* what, Place place = Place::here());

}  // namespace retrace
