#include "retrace/base/sha256.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "retrace/base/file.h"

namespace retrace {
namespace {

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const unsigned char* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

}  // namespace

void Sha256::take_block(const unsigned char* block) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = sums_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + kRounds[i] + w[i];
    const uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const std::array<uint32_t, 8> sums = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < sums.size(); ++i) sums_[i] += sums[i];
}

void Sha256::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t filled = size_ % block_.size();
    const size_t count = std::min(bytes.size(), block_.size() - filled);
    std::memcpy(block_.data() + filled, bytes.data(), count);
    bytes.remove_prefix(count);
    size_ += count;
    if (filled + count == block_.size()) take_block(block_.data());
  }
}

std::string Sha256::text() {
  constexpr size_t kLength = 8;
  const uint64_t bits = size_ * 8;
  std::string end(1, '\x80');
  while ((size_ + end.size() + kLength) % block_.size() != 0) end += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift & 0xff);
  add(end);
  std::string text;
  for (const uint32_t sum : sums_)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[sum >> shift & 0xf];
  return text;
}

std::string sha256_text(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.text();
}

FileHash hash_file(const std::filesystem::path& path, std::string_view what) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) throw missing_path(path, what);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) throw read_failed(path, what, errno);
  if (!S_ISREG(status.st_mode)) throw read_failed(path, what, EINVAL);
  FileHash hash{static_cast<uint64_t>(status.st_size), {}};
  Sha256 sum;
  std::vector<std::byte> piece(std::min<uint64_t>(hash.bytes, 1 << 20));
  for (uint64_t at = 0; at < hash.bytes; at += piece.size()) {
    const std::span part = std::span(piece).first(std::min<uint64_t>(piece.size(), hash.bytes - at));
    if (!read_exactly(file.get(), part, at)) throw read_failed(path, what, errno);
    sum.add({reinterpret_cast<const char*>(part.data()), part.size()});
  }
  hash.sha256 = sum.text();
  return hash;
}

}  // namespace retrace
