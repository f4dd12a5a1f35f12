#pragma once
// What each pass changes in a trace, for people: the nodes that go and those that come.

#include <string>
#include <vector>

#include "retrace/plan/pass.h"

namespace retrace {

// While it lives, it is shown every trace that this thread plans.
class PassChanges {
 public:
  PassChanges();
  ~PassChanges();
  PassChanges(const PassChanges&) = delete;
  PassChanges& operator=(const PassChanges&) = delete;
  // The innermost one of this thread, or null.
  static PassChanges* current();

  void begin(const Trace& recorded);
  void add(const PassReport& report, const Trace& after);

  // Of the last trace: for each pass a line "simplify: 10 -> 9 nodes", then "- " and a node for each that the pass took
  // away, "+ " and a node for each that it made. Values have the numbers that they keep through the passes.
  const std::string& text() const { return text_; }

 private:
  PassChanges* outer_;
  std::vector<std::string> before_;  // the nodes
  std::string text_;
};

}  // namespace retrace
