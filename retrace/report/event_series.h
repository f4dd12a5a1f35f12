#pragma once
// The curves in TensorBoard's event files.

#include <filesystem>
#include <memory>

#include "retrace/report/series.h"

namespace retrace {

// Whether there is a file events.out.tfevents.* in the folder itself.
bool holds_events(const std::filesystem::path& folder);

// The scalars of all event files in the folder itself, by their tags; x is the step. Files are read in the order of
// their names, also while they grow. A session that begins at a step removes what was written of it and later ones
// before, as in TensorBoard. Checksums are verified: behind a damaged record no more of its file is read, which
// trouble() tells. Images, histograms and texts are left out. It has read nothing before its first refresh(). Errors:
// missing, for a folder that does not exist.
std::unique_ptr<SeriesSource> event_series(const std::filesystem::path& folder);

}  // namespace retrace
