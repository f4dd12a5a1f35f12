#pragma once
// What a call throws, as text.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "retrace/base/error.h"

namespace retrace {

// The whole text of the error; "no error" if there is none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Its code; 0 if there is none.
inline int code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return 0;
}

inline testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in:\n" << text;
}

}  // namespace retrace
