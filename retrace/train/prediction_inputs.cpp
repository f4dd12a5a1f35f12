#include "retrace/train/prediction_inputs.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/data/array_store.h"
#include "retrace/data/idx.h"
#include "retrace/data/image_store.h"
#include "retrace/train/job_data.h"

namespace retrace {
namespace {

constexpr int64_t kBatch = 128;

Error not_for(const std::filesystem::path& input) {
  return Error(ErrorKind::bad_data, 320,
               fmt::format("\"{}\" does not hold images for this network", printable(input.string())));
}

bool is_image_files(const std::filesystem::path& input) {
  std::error_code ignored;
  const std::string ending = input.extension().string(), text = input.string();
  return std::filesystem::is_directory(input, ignored) || ending == ".jpg" || ending == ".jpeg" || ending == ".png" ||
         (text.find_first_of("*?") != std::string::npos && !std::filesystem::exists(input, ignored));
}

Datastore idx_store(const std::filesystem::path& input, const Shape& sample) {
  const IdxArray array = read_idx(input);
  const Error problem =
      not_for(input)
          .got(fmt::format("{}{}", name_of(array.type), array.shape.text()))
          .expected(fmt::format(
              "{}", sample[2] == 1
                        ? fmt::format("u8[n,{},{}]", sample[0], sample[1])
                        : fmt::format("images of {} in JPEG or PNG files: a folder of them", sample.text())));
  const bool fits = array.type == DType::u8 && array.shape.rank() == 3 && array.shape[1] == sample[0] &&
                    array.shape[2] == sample[1] && sample[2] == 1;
  if (!fits) throw problem;
  const auto values = array.values<uint8_t>();
  const Shape shape{array.shape[0], sample[0], sample[1], 1};
  return array_store({Tensor::from(std::vector<uint8_t>(values.begin(), values.end()), shape, "BSSC")},
                     {.scale_bytes = true});
}

ImageFit fit_of(const Job& job) {
  const OptionValue* const fit = job.data.options.find("image_fit");
  const std::string text = fit ? std::get<std::string>(*fit) : "exact";
  return text == "resize" ? ImageFit::resize : text == "center-crop" ? ImageFit::center_crop : ImageFit::exact;
}

}  // namespace

PredictionInputs::PredictionInputs(const Job& given, const nn::Network& network, const std::filesystem::path& input)
    : sample_(network.sample) {
  if (sample_.rank() != 3)
    throw Error(ErrorKind::usage, 460,
                fmt::format("predict reads images; network \"{}\" reads samples of {}", network.name, sample_.text()));
  const Job job = resolved(given);
  std::optional<Datastore> plain;
  if (is_image_files(input)) {
    const ImageDatastore images = image_datastore(
        input.string(),
        {.height = sample_[0], .width = sample_[1], .channels = sample_[2], .fit = fit_of(job), .scale_bytes = true});
    files_ = images.files();
    plain = images;
  } else {
    plain = idx_store(input, sample_);
  }
  queue_.emplace(transformed(job, Split::test, *plain), MiniBatchQueueOptions{.mini_batch_size = kBatch, .outputs = 1});
}

std::optional<Tensor> PredictionInputs::next() {
  const bool empty = queue_->size() == 0 && !begun_;
  begun_ = true;
  if (empty) return Tensor::zeros({0, sample_[0], sample_[1], sample_[2]}, DType::f32, "BSSC");
  if (!queue_->has_data()) return std::nullopt;
  return queue_->next<1>()[0];
}

}  // namespace retrace
