#include "retrace/device/cuda/machine_code.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace retrace::cuda {
namespace {

constexpr size_t kInstruction = 16, kRegisters = 4;
constexpr std::array<size_t, kInstruction> kOrder{8, 2, 3,  4,  5,  6,  7,  0,
                                                  1, 9, 10, 11, 12, 13, 14, 15};  // registers first
constexpr unsigned kZero = 255;  // a register; numbers of others are below it
constexpr size_t kOpcodes = 4096;

// The parts of a fat binary and of its ELF files that say where machine code is.
constexpr std::string_view kFatBinary = "\x50\xed\x55\xba";
constexpr size_t kFatBinaryHead = 16, kEntryHead = 64, kElfHead = 64, kSectionHead = 64;
constexpr uint16_t kElfEntry = 2;
constexpr uint32_t kProgramBits = 1;
constexpr uint64_t kExecutable = 4;

// The number at `at`, or 0 behind the end.
template <class T>
T number_at(std::string_view bytes, uint64_t at) {
  T number = 0;
  if (at <= bytes.size() && bytes.size() - at >= sizeof number) std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Calls f(code, size) for the machine code of one ELF file.
template <class F>
void for_code_of(char* elf, size_t size, const F& f) {
  const std::string_view bytes(elf, size);
  const auto table = number_at<uint64_t>(bytes, 40);
  const auto count = number_at<uint16_t>(bytes, 60);
  if (!bytes.starts_with("\x7f"
                         "ELF") ||
      table > size || (size - table) / kSectionHead < count)
    return;
  uint64_t done = kElfHead;  // sections follow each other; damaged ones may not
  for (uint64_t head = table; head < table + count * kSectionHead; head += kSectionHead) {
    const auto begin = number_at<uint64_t>(bytes, head + 24), length = number_at<uint64_t>(bytes, head + 32);
    const bool code =
        number_at<uint32_t>(bytes, head + 4) == kProgramBits && (number_at<uint64_t>(bytes, head + 8) & kExecutable);
    if (!code || begin < done || begin > size || length > size - begin) continue;
    f(elf + begin, static_cast<size_t>(length));
    done = begin + length;
  }
}

// The same for fat binaries one behind another.
template <class F>
void for_code(std::string& file, const F& f) {
  const auto begins = [&](uint64_t at) { return std::string_view(file).substr(at).starts_with(kFatBinary); };
  if (!begins(0)) return;
  for (uint64_t entry = kFatBinaryHead; entry + kEntryHead <= file.size();) {
    if (begins(entry)) entry += kFatBinaryHead;
    const uint64_t head = number_at<uint32_t>(file, entry + 4), size = number_at<uint64_t>(file, entry + 8);
    if (head < kEntryHead || head > file.size() - entry || size > file.size() - entry - head) return;
    if (number_at<uint16_t>(file, entry) == kElfEntry)
      for_code_of(file.data() + entry + head, static_cast<size_t>(size), f);
    entry += head + size;
  }
}

using Instruction = std::array<unsigned char, kInstruction>;

// What the last instruction with each opcode had in the registers that come first in kOrder.
class LastRegisters {
 public:
  unsigned char* of(const Instruction& plain) {
    return last_[(plain[0] | static_cast<size_t>(plain[1]) << 8) % kOpcodes].data();
  }

 private:
  std::vector<std::array<unsigned char, kRegisters>> last_ =
      std::vector<std::array<unsigned char, kRegisters>>(kOpcodes);
};

}  // namespace

std::string take_machine_code(std::string& file) {
  LastRegisters registers;
  std::string all;
  for_code(file, [&](char* code, size_t size) {
    const size_t begin = all.size();
    all.append(code, size);
    std::memset(code, 0, size);
    for (size_t i = begin; i + kInstruction <= all.size(); i += kInstruction) {
      Instruction plain, written;
      std::memcpy(plain.data(), all.data() + i, kInstruction);
      unsigned char* const last = registers.of(plain);
      for (size_t k = 0; k < kInstruction; ++k) {
        const unsigned number = plain[kOrder[k]];
        written[k] = static_cast<unsigned char>(number);
        if (k >= kRegisters || number == kZero) continue;
        written[k] = static_cast<unsigned char>((number + kZero - last[k]) % kZero);
        last[k] = static_cast<unsigned char>(number);
      }
      std::memcpy(all.data() + i, written.data(), kInstruction);
    }
  });
  return all;
}

std::string_view fat_binary_at(std::string_view files, int before) {
  for (; files.starts_with(kFatBinary); --before) {
    const uint64_t size = kFatBinaryHead + std::min<uint64_t>(number_at<uint64_t>(files, 8), files.size());
    if (before == 0) return files.substr(0, size);
    files.remove_prefix(std::min<size_t>(size, files.size()));
  }
  return {};
}

void put_machine_code(std::string& file, std::string_view code) {
  LastRegisters registers;
  for_code(file, [&](char* to, size_t room) {
    const size_t size = code.copy(to, room);
    code.remove_prefix(size);
    for (size_t i = 0; i + kInstruction <= size; i += kInstruction) {
      Instruction plain, written;
      std::memcpy(written.data(), to + i, kInstruction);
      for (size_t k = 0; k < kInstruction; ++k) plain[kOrder[k]] = written[k];
      unsigned char* const last = registers.of(plain);
      for (size_t k = 0; k < kRegisters; ++k) {
        if (written[k] == kZero) continue;
        const unsigned number = written[k] + unsigned{last[k]};
        plain[kOrder[k]] = last[k] = static_cast<unsigned char>(number < kZero ? number : number - kZero);
      }
      std::memcpy(to + i, plain.data(), kInstruction);
    }
  });
}

}  // namespace retrace::cuda
