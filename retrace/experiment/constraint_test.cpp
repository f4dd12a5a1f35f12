#include "retrace/experiment/constraint.h"

#include <gtest/gtest.h>

#include "retrace/base/error.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

// A constraint alone, of a = 2 and b.c = 3.
bool holds(const std::string& text) { return Constraint(text, {"a", "b.c"}).holds({2, 3}); }

TEST(Constraints, AreComputedAsTheyAreWritten) {
  EXPECT_TRUE(holds("a * b.c <= 6"));
  EXPECT_FALSE(holds("a * b.c < 6"));
  EXPECT_TRUE(holds("a + b.c * 2 == 8"));
  EXPECT_TRUE(holds("(a + b.c) * 2 == 10"));
  EXPECT_TRUE(holds("-a - -b.c == 1"));
  EXPECT_TRUE(holds("b.c - a - 1 == 0"));
  EXPECT_TRUE(holds("1e1 / a >= 5"));
  EXPECT_FALSE(holds("a / 0 == a / 0 - a / 0"));
}

TEST(Constraints, RefuseWhatIsNotUnderstood) {
  for (const char* text : {"", "a", "a <", "a < 1 < 2", "a <= system(1)", "a + = 2", "(a < 2", "a ** 2 < 3", "a < b",
                           "a < 1x", "a = 2", "a < 2; b.c", "a < \"2\""})
    EXPECT_TRUE(says(error_of([&] { holds(text); }), "a constraint is not understood"));
  EXPECT_TRUE(says(error_of([&] { holds(std::string(100, '(') + "a < 1"); }), "too deep"));
  EXPECT_TRUE(says(error_of([&] { holds(std::string(2000, ' ')); }), "too long"));
}

}  // namespace
}  // namespace retrace
