// Power by frequency and time.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/seams/view.h"
#include "storage_node/view/opened.h"

namespace tapedeck::storage_node::view {

// `request` has the limits of services/model/view.h. Waits for the disk.
absl::StatusOr<services::Spectrogram> MakeSpectrogram(Opened& opened,
                                                      const services::SpectrogramRequest& request);

}  // namespace tapedeck::storage_node::view
