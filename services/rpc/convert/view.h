// What recordings look like to and from tapedeck.v1 messages.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/seams/view.h"
#include "tapedeck/v1/view.pb.h"

namespace tapedeck::services::convert {

v1::Timeline ToProto(const Timeline& timeline);
absl::StatusOr<Timeline> FromProto(const v1::Timeline& timeline);

v1::ReadSpectrogramRequest ToProto(const SpectrogramRequest& request);
SpectrogramRequest FromProto(const v1::ReadSpectrogramRequest& request);
v1::Spectrogram ToProto(const Spectrogram& spectrogram);
// INVALID_ARGUMENT unless there are as many powers and means as rows and columns say.
absl::StatusOr<Spectrogram> FromProto(const v1::Spectrogram& spectrogram);

SamplesRequest FromProto(const v1::ReadSamplesRequest& request);
v1::Samples ToProto(const Samples& samples);

v1::ReadEnvelopeRequest ToProto(const EnvelopeRequest& request);
EnvelopeRequest FromProto(const v1::ReadEnvelopeRequest& request);
v1::Envelope ToProto(const Envelope& envelope);
// INVALID_ARGUMENT unless there is one of each value for each point.
absl::StatusOr<Envelope> FromProto(const v1::Envelope& envelope);

}  // namespace tapedeck::services::convert
