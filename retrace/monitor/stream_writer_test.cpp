#include "retrace/monitor/stream_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <latch>
#include <sstream>
#include <string>

#include "retrace/monitor/background.h"
#include "retrace/monitor/terminal.h"

namespace retrace {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() { close_reader(), ::close(ends_[1]); }
  int writer() const { return ends_[1]; }
  void close_reader() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  // Nothing more fits.
  void fill() const {
    const std::array<char, 4096> zeros{};
    for (pollfd end{ends_[1], POLLOUT, 0}; ::poll(&end, 1, 0) > 0;)
      if (::write(ends_[1], zeros.data(), zeros.size()) < 0) return;
  }
  // What comes until `end` comes, without the zeros.
  std::string read_until(const std::string& end) const {
    std::string text;
    for (char c = 0; text.find(end) == std::string::npos && ::read(ends_[0], &c, 1) == 1;)
      if (c) text += c;
    return text;
  }

 private:
  std::array<int, 2> ends_{};
};

double seconds_of(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(StreamWriter, WritesEverythingInOrder) {
  Pipe pipe;
  StreamWriter writer(pipe.writer());
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += std::to_string(i) + "\n";
    writer.write(std::to_string(i) + "\n");
    if (i % 10 == 0) {
      EXPECT_TRUE(writer.wait());
    }
  }
  EXPECT_EQ(pipe.read_until("99\n"), all);
}

// A reader that stands still stops nobody; the destructor waits as long as it is told, and leaves.
TEST(StreamWriter, NeverWaitsForItsReader) {
  Pipe pipe;
  pipe.fill();
  const double seconds = seconds_of([&] {
    StreamWriter writer(pipe.writer(), {.most = 4, .seconds = 0.05});
    for (int i = 0; i < 10000; ++i) writer.write("a line\n");
    EXPECT_FALSE(writer.wait());
  });
  EXPECT_LT(seconds, 30);
}

// How many lines `text` stands for: those that it has, and those that its notices count as left out.
int lines_told(const std::string& text) {
  std::istringstream lines(text);
  int told = 0;
  for (std::string line; std::getline(lines, line);) {
    int left_out = 1;
    std::sscanf(line.c_str(), "(%d line", &left_out);
    told += left_out;
  }
  return told;
}

// The writer's thread takes a text whenever it gets to run: so what is left out comes in one notice or in several.
TEST(StreamWriter, DropsTheOldestAndSaysHowMany) {
  Pipe pipe;
  pipe.fill();
  StreamWriter writer(pipe.writer(), {.most = 3, .seconds = 60});
  for (int i = 0; i <= 8; ++i) writer.write(std::to_string(i) + "\n");
  const std::string read = pipe.read_until("8\n");
  EXPECT_TRUE(writer.wait());
  EXPECT_TRUE(read.ends_with("left out: nobody read them)\n6\n7\n8\n")) << read;
  EXPECT_EQ(lines_told(read), 9) << read;
}

TEST(StreamWriter, ATextThatPassesGivesWayToTheNext) {
  Pipe pipe;
  pipe.fill();
  StreamWriter writer(pipe.writer(), {.most = 100, .seconds = 60});
  writer.write("first\n");
  for (int i = 1; i <= 50; ++i) writer.write("\rstep " + std::to_string(i), true);
  writer.write("\rlast\n");
  const std::string read = pipe.read_until("last\n");
  EXPECT_TRUE(read == "first\n\rlast\n") << read;
}

TEST(StreamWriter, IgnoresAReaderThatWentAway) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_reader();
  StreamWriter writer(pipe.writer());
  for (int i = 0; i < 10; ++i) writer.write("a line\n");
  EXPECT_TRUE(writer.wait());
  StreamWriter closed(-1);
  closed.write("a line\n");
  EXPECT_TRUE(closed.wait());
  std::signal(SIGPIPE, before);
}

TEST(Terminal, TellsWhichTextsPass) {
  std::string kinds;
  Terminal terminal([&](const std::string&, bool passing) { kinds += passing ? 'p' : 'k'; },
                    {.rewrite = true, .columns = 80, .interval = 0});
  terminal.receive(RunStarted{"digits", "cpu", "runs/digits-1", 1, 2, 1, 2, 84075});
  terminal.receive(StepDone{1, 1, 0.5, 0.1, 1}), terminal.receive(StepDone{1, 2, 0.5, 0.1, 2});
  terminal.receive(RunFinished{1, 2, 0.5, 10, {}, "max epochs completed", "00000000000000ff"});
  EXPECT_EQ(kinds, "kppk");
}

// What is asked for while the work is done is done once more.
TEST(Background, DoesTheWorkAgain) {
  std::latch started(1), asked(1);
  std::atomic<int> done{0};
  Background background([&] {
    if (done == 0) started.count_down(), asked.wait();
    ++done;
  });
  ASSERT_TRUE(background.ask());
  started.wait();
  ASSERT_TRUE(background.ask());
  EXPECT_FALSE(background.wait(0.01));
  asked.count_down();
  background.wait();
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace retrace
