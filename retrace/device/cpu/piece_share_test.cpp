#include "retrace/device/cpu/piece_share.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace retrace {
namespace {

TEST(PieceShare, GivesItsPiecesFromBothEnds) {
  PieceShare share;
  EXPECT_EQ(share.take_lowest(), PieceShare::kNone);
  share.fill(5, 8);
  EXPECT_EQ(share.take_lowest(), 5);
  EXPECT_EQ(share.take_highest(), 7);
  EXPECT_EQ(share.take_highest(), 6);
  EXPECT_EQ(share.take_lowest(), PieceShare::kNone);
  EXPECT_EQ(share.take_highest(), PieceShare::kNone);
}

TEST(PieceShare, HoldsTheLastPieceOfTheLargestJob) {
  PieceShare share;
  constexpr int64_t kMost = (int64_t{1} << 32) - 1;
  share.fill(kMost - 2, kMost);
  EXPECT_EQ(share.take_highest(), kMost - 1);
  EXPECT_EQ(share.take_lowest(), kMost - 2);
  EXPECT_EQ(share.take_lowest(), PieceShare::kNone);
}

TEST(PieceShare, GivesEachPieceToOneThread) {
  constexpr int64_t kPieces = 20000;
  PieceShare share;
  std::vector<std::atomic<int>> taken(kPieces);
  share.fill(0, kPieces);
  std::thread thief([&] {
    for (int64_t piece; (piece = share.take_highest()) != PieceShare::kNone;) ++taken[static_cast<size_t>(piece)];
  });
  for (int64_t piece; (piece = share.take_lowest()) != PieceShare::kNone;) ++taken[static_cast<size_t>(piece)];
  thief.join();
  for (const std::atomic<int>& times : taken) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace retrace
