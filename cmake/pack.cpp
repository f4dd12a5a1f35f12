// pack PACKED FILE...: writes the files, one behind another, as retrace/device/cuda/packed.h says, and reads
// that again to prove it. A program of the
// build.

#include <lzma.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "retrace/device/cuda/machine_code.h"
#include "retrace/device/cuda/packed.h"

namespace {

std::string eight_bytes(uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

// Empty if it cannot be.
std::string packed_stream(const std::string& bytes, const retrace::cuda::Packing& packing) {
  lzma_options_lzma options{};
  if (lzma_lzma_preset(&options, 9 | LZMA_PRESET_EXTREME)) return {};
  options.dict_size = retrace::cuda::kPackedDistance;
  options.lc = packing.last_byte_bits;
  options.lp = options.pb = packing.place_bits;
  options.nice_len = 273;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string stream(bytes.size() + bytes.size() / 2 + 128, '\0');
  size_t size = 0;
  const lzma_ret result =
      lzma_raw_buffer_encode(filters, nullptr, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                             reinterpret_cast<uint8_t*>(stream.data()), &size, stream.size());
  stream.resize(result == LZMA_OK ? size : 0);
  return stream;
}

std::string packed(const std::string& file) {
  std::string rest = file;
  const std::string code = retrace::cuda::take_machine_code(rest);
  const std::string text = retrace::cuda::as_differences(rest);
  const std::string packed_text = packed_stream(text, retrace::cuda::kPackedText);
  return '1' + eight_bytes(file.size()) + eight_bytes(retrace::cuda::hash_of_packed(file)) + eight_bytes(text.size()) +
         eight_bytes(code.size()) + eight_bytes(packed_text.size()) + packed_text +
         packed_stream(code, retrace::cuda::kPackedCode);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fputs("pack PACKED FILE...\n", stderr), 2;
  std::string file;
  for (int i = 2; i < count; ++i) {
    std::ifstream in(arguments[i], std::ios::binary);
    file.append(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (!in) return std::fprintf(stderr, "pack: %s cannot be read\n", arguments[i]), 1;
  }
  const std::string result = packed(file);
  if (retrace::cuda::unpacked(std::as_bytes(std::span(result))) != file)
    return std::fprintf(stderr, "pack: %s does not come back as it was\n", arguments[2]), 1;
  std::ofstream out(arguments[1], std::ios::binary);
  out.write(result.data(), static_cast<std::streamsize>(result.size()));
  out.close();
  if (!out) return std::fprintf(stderr, "pack: %s cannot be written\n", arguments[1]), 1;
}
