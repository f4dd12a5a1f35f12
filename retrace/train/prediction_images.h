#pragma once
// What a trained run makes of images, as PNG files.

#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "retrace/nn/networks.h"
#include "retrace/train/class_names.h"
#include "retrace/train/prediction_inputs.h"

namespace retrace {

// Whether the outputs of a network are images, and classes of pixels, which are written as images.
bool makes_images(const nn::Network& network);

// A file for each sample and output: FOLDER/NAME.png, or FOLDER/NAME_OUTPUT.png of several outputs. NAME is that of the
// input's file, with the folders that it lies in below `input`, else the number of the sample. Classes have the colours
// that their names say, else the grey values of their numbers; values of images are taken from 0 to 1. Where the job
// resizes images (data.image_fit), what is made of one has the size of its file again: classes by the nearest pixel.
class PredictionImages {
 public:
  // Network and inputs must outlive it. Errors: usage for outputs of other channels than 1 and 3, and for a folder that
  // is a run or the input; output.
  PredictionImages(const Job& job, const nn::Network& network, const PredictionInputs& inputs, ClassNames classes,
                   std::filesystem::path input, std::filesystem::path folder);

  // The outputs of the next `count` samples. Errors: usage where two samples have one name; output.
  void add(const Tree& y, int64_t count);
  int64_t files() const { return std::ssize(written_); }

 private:
  std::string name_of(int64_t sample) const;
  Tensor in_full_size(const Tensor& image, int64_t sample) const;
  std::string png_of(const nn::NetworkOutput& output, std::span<const float> values, const Shape& shape,
                     int64_t sample) const;
  void write(const nn::NetworkOutput& output, int64_t sample, const std::string& png);

  const nn::Network& network_;
  const PredictionInputs& inputs_;
  const ClassNames classes_;
  const std::filesystem::path input_, folder_;
  const bool resized_;
  int64_t samples_ = 0;
  std::set<std::string> written_;
};

}  // namespace retrace
