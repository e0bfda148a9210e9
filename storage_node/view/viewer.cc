#include "storage_node/view/viewer.h"

#include "dataplane/status_macros.h"
#include "storage_node/view/opened.h"
#include "storage_node/view/views.h"

namespace tapedeck::storage_node::view {

absl::StatusOr<services::Timeline> Viewer::GetTimeline(const std::string& recording) {
  TD_ASSIGN_OR_RETURN(const auto opened, Opened::Open(recordings_, recording, limit_));
  return MakeTimeline(*opened);
}

absl::StatusOr<services::Spectrogram> Viewer::ReadSpectrogram(
    const services::SpectrogramRequest& request) {
  TD_ASSIGN_OR_RETURN(const auto opened, Opened::Open(recordings_, request.recording, limit_));
  return MakeSpectrogram(*opened, request);
}

absl::StatusOr<services::Samples> Viewer::ReadSamples(const services::SamplesRequest& request) {
  TD_ASSIGN_OR_RETURN(const auto opened, Opened::Open(recordings_, request.recording, limit_));
  return view::ReadSamples(*opened, request);
}

absl::StatusOr<services::Envelope> Viewer::ReadEnvelope(const services::EnvelopeRequest& request) {
  TD_ASSIGN_OR_RETURN(const auto opened, Opened::Open(recordings_, request.recording, limit_));
  return MakeEnvelope(*opened, request);
}

}  // namespace tapedeck::storage_node::view
