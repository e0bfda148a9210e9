// The views of a recording, computed when they are asked for. Requests have the limits of
// services/model/view.h. All but FrequencyOf wait for the disk.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "services/model/seams/view.h"
#include "storage_node/view/opened.h"

namespace tapedeck::storage_node::view {

// The course of a recording, of its index entries alone.
absl::StatusOr<services::Timeline> MakeTimeline(Opened& opened);

// What the first annotation of a signal that has one says; 0: none has.
double FrequencyOf(const std::vector<services::Annotation>& annotations);

// Which frequency holds at a sample of the recording, in Hz; 0: unknown. Reads as MakeTimeline.
absl::StatusOr<double> FrequencyAt(Opened& opened, uint64_t sample);

// Power by frequency and time.
absl::StatusOr<services::Spectrogram> MakeSpectrogram(Opened& opened,
                                                      const services::SpectrogramRequest& request);

// The least, greatest and mean of samples over time, and the samples themselves.
absl::StatusOr<services::Envelope> MakeEnvelope(Opened& opened,
                                                const services::EnvelopeRequest& request);
absl::StatusOr<services::Samples> ReadSamples(Opened& opened,
                                              const services::SamplesRequest& request);

}  // namespace tapedeck::storage_node::view
