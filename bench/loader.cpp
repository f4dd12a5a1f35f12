// Reading a folder of JPEG files, on request: build/bench/loader queue|decoder THREADS FOLDER IMAGES
//   queue    our mini-batches of 128 images, f32, and their labels, in a new order in each pass; THREADS make them
//   ahead decoder  the floor: files are read and decoded by libjpeg-turbo, with the settings of docs/data.md, on
//   THREADS
//            threads, and nothing is kept
// FOLDER has a folder for each class; the first IMAGES files of each tenth of the list take part. After "ready" it
// answers each line of its input with one line:
//   run N     seconds that N passes took           probe    operations a second, now
//   images    of a pass                            sum      of all pixels of a pass: programs that agree do the same
//   work
// bench/peers/torch_loader.py speaks all but "probe"; bench/loader.py asks.

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>  // jpeglib.h needs it
#include <cstring>
#include <fstream>
#include <iostream>
#include <thread>

#include <jpeglib.h>

#include "bench/common/probe.h"
#include "retrace/data/image_store.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/device/cpu/thread_count.h"

namespace retrace::bench {
namespace {

// Every k-th file, so that all classes are there.
ImageDatastore images_of(const std::string& folder) {
  return image_datastore(folder, {.labels = LabelsFrom::folder_names, .scale_bytes = true});
}
std::vector<int64_t> part_of(int64_t files, int64_t images) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < images; ++i) indices.push_back(i * files / images);
  return indices;
}

// A way to read all images once.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual void pass() = 0;
  virtual double sum() = 0;  // of the pixels of a pass, 0..255
};

class Queue : public Reader {
 public:
  Queue(const ImageDatastore& images, const std::vector<int64_t>& part, int threads)
      : queue_(images.subset(part), {.mini_batch_size = 128, .prefetch_threads = threads}) {}
  void pass() override {
    queue_.shuffle();
    while (queue_.has_data()) last_ = queue_.next()[0];
  }
  double sum() override {
    double sum = 0;
    queue_.shuffle();
    while (queue_.has_data())
      for (const float value : queue_.next()[0].to_vector<float>()) sum += std::lround(value * 255);
    return sum;
  }

 private:
  MiniBatchQueue queue_;
  Tensor last_;
};

// libjpeg-turbo alone: an error ends the program.
class Decoder : public Reader {
 public:
  Decoder(const std::vector<std::string>& files, const std::vector<int64_t>& part, int threads) : threads_(threads) {
    for (const int64_t index : part) files_.push_back(files[static_cast<size_t>(index)]);
  }
  void pass() override { decode(); }
  double sum() override { return decode(); }

 private:
  double decode() {
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> sum{0};
    const auto work = [&] {
      std::vector<unsigned char> file, pixels;
      uint64_t mine = 0;
      for (size_t i = next++; i < files_.size(); i = next++) mine += decode(files_[i], file, pixels);
      sum += mine;
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < threads_; ++i) others.emplace_back(work);
    work();
    others.clear();
    return static_cast<double>(sum);
  }
  // Adds the pixels up, which is little beside the decoding and keeps it from being left out.
  static uint64_t decode(const std::string& path, std::vector<unsigned char>& file,
                         std::vector<unsigned char>& pixels) {
    std::FILE* stream = std::fopen(path.c_str(), "rb");
    if (!stream) throw std::runtime_error("cannot open " + path);
    std::fseek(stream, 0, SEEK_END);
    file.resize(static_cast<size_t>(std::ftell(stream)));
    std::rewind(stream);
    const size_t read = std::fread(file.data(), 1, file.size(), stream);
    std::fclose(stream);
    jpeg_decompress_struct info;
    jpeg_error_mgr manager;
    info.err = jpeg_std_error(&manager);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, file.data(), read);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    info.dct_method = JDCT_ISLOW;
    info.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&info);
    const size_t row = size_t{info.output_width} * 3;
    pixels.resize(row * info.output_height);
    while (info.output_scanline < info.output_height) {
      JSAMPROW to = pixels.data() + info.output_scanline * row;
      jpeg_read_scanlines(&info, &to, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    uint64_t sum = 0;
    for (const unsigned char value : pixels) sum += value;
    return sum;
  }

  std::vector<std::string> files_;
  int threads_;
};

std::string answer(Reader& reader, size_t images, const std::string& command, int count) {
  if (command == "images") return fmt::format("{}", images);
  if (command == "sum") return fmt::format("{:.0f}", reader.sum());
  if (command == "probe") return fmt::format("{:.6g}", probe_peak());
  if (command != "run") return "unknown command";
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) reader.pass();
  return fmt::format("{:.9f}", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void serve(const std::string& what, int threads, const std::string& folder, int64_t count) {
  const ImageDatastore images = images_of(folder);
  const auto part = part_of(images.size(), std::min(count, images.size()));
  std::unique_ptr<Reader> reader;
  if (what == "queue") reader = std::make_unique<Queue>(images, part, threads);
  if (what == "decoder") reader = std::make_unique<Decoder>(images.files(), part, threads);
  if (!reader) throw std::runtime_error("queue or decoder");
  set_thread_count(threads);  // of the probe
  std::cout << "ready" << std::endl;
  std::string command;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t space = std::min(line.find(' '), line.size());
    const int number = space < line.size() ? std::stoi(line.substr(space)) : 1;
    std::cout << answer(*reader, part.size(), line.substr(0, space), number) << std::endl;
  }
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "loader queue|decoder THREADS FOLDER IMAGES\n";
    return 2;
  }
  retrace::bench::serve(argv[1], std::stoi(argv[2]), argv[3], std::stoll(argv[4]));
}
