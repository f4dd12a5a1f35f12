#include "retrace/data/image_channels.h"

namespace retrace {

TransformKind to_grey_transform() { return channel_transform("to-grey", "images become grey, of one channel", 1); }

}  // namespace retrace
