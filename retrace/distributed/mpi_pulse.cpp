#include "retrace/distributed/mpi_pulse.h"

#include <chrono>
#include <ctime>
#include <exception>
#include <system_error>

#include "retrace/distributed/mpi_job.h"
#include "retrace/distributed/patience.h"

namespace retrace {
namespace {

constexpr std::chrono::milliseconds kBeat{50};

double own_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

MpiPulse::MpiPulse(const MpiLibrary& mpi) : mpi_(mpi) {
  const auto size = static_cast<size_t>(mpi.place().size);
  states_.resize(size), wanted_.resize(size), asked_.resize(size);
  if (size == 1) return;
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    // The system gives no thread: this rank gives no sign of life but its calls.
  }
}

void MpiPulse::stop() {
  closing_ = true;
  if (thread_.joinable()) thread_.join();
}

void MpiPulse::ask(std::span<const int> peers) {
  const std::lock_guard lock(mutex_);
  for (int peer : peers) wanted_[static_cast<size_t>(peer)] = true;
}

MpiState MpiPulse::state(int peer) {
  const std::lock_guard lock(mutex_);
  return states_[static_cast<size_t>(peer)];
}

void MpiPulse::serve() {
  try {
    for (; !closing_; std::this_thread::sleep_for(kBeat)) {
      while (!sending_.empty() && mpi_.test(sending_.front().request)) sending_.pop_front();
      answer_questions();
      take_answers();
      ask_again();
    }
    // Messages that are still under way go to ranks that do not take them. Those ranks are lost, and MPI is not
    // finalised then.
    const auto end = std::chrono::steady_clock::now() + 2 * kBeat;
    for (; !sending_.empty() && std::chrono::steady_clock::now() < end; std::this_thread::yield())
      if (mpi_.test(sending_.front().request)) sending_.pop_front();
  } catch (const std::exception&) {
    // A rank that asks gets no answer; the error itself shows in the next exchange.
  }
}

void MpiPulse::answer_questions() {
  int peer = 0;
  size_t bytes = 0;
  while (mpi_.probe(kQuestionTag, &peer, &bytes)) {
    Message question;
    auto request = mpi_.receive(&question, sizeof question, peer, kQuestionTag);
    while (!mpi_.test(request)) std::this_thread::yield();
    send(peer, kAnswerTag);
  }
}

void MpiPulse::take_answers() {
  int peer = 0;
  size_t bytes = 0;
  while (mpi_.probe(kAnswerTag, &peer, &bytes)) {
    Message answer;
    auto request = mpi_.receive(&answer, sizeof answer, peer, kAnswerTag);
    while (!mpi_.test(request)) std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    MpiState& state = states_[static_cast<size_t>(peer)];
    state = {state.answers + 1, answer.waits_in, answer.processor_seconds};
    asked_[static_cast<size_t>(peer)] = false;
  }
}

void MpiPulse::ask_again() {
  std::vector<int> peers;
  {
    const std::lock_guard lock(mutex_);
    for (size_t r = 0; r < wanted_.size(); ++r) {
      if (wanted_[r] && !asked_[r]) peers.push_back(static_cast<int>(r)), asked_[r] = true;
      wanted_[r] = false;
    }
  }
  for (int peer : peers) send(peer, kQuestionTag);
}

void MpiPulse::send(int peer, int tag) {
  Sending& sending = sending_.emplace_back(Sending{message(), {}});
  sending.request = mpi_.send(&sending.message, sizeof sending.message, peer, tag);
}

MpiPulse::Message MpiPulse::message() const {
  return {waits_in_.load(std::memory_order_relaxed), process_seconds() - own_seconds()};
}

}  // namespace retrace
