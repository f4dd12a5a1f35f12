#include "retrace/data/image_channels.h"

namespace retrace {

TransformKind to_rgb_transform() {
  return channel_transform("to-rgb", "images get three channels: red, green and blue", 3);
}

}  // namespace retrace
