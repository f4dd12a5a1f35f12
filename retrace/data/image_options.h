#pragma once
// The options that sources of image files share.

#include <string>
#include <vector>

#include "retrace/base/option_rules.h"
#include "retrace/data/image_store.h"
#include "retrace/data/source_kind.h"

namespace retrace {

// image_height, image_width, image_channels and image_fit.
std::vector<OptionRule> image_rules();

// The shape of an image as these options say it; 0: as the first image has it.
Shape sample_of_images(const SourceRequest& request);

// What image_datastore() needs for them: values from 0 to 1. `sizes`: those of the training set; of rank 0: not known.
ImageDatastoreOptions image_store_options(const SourceRequest& request, const Shape& sizes = {});

// Values of the options for a job that begins with such images: of the proportions of the first one, and not large.
OptionValues image_look(const Shape& sizes);

}  // namespace retrace
