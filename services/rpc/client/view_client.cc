#include "services/rpc/client/view_client.h"

#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/ask.h"
#include "services/rpc/convert/view.h"
#include "tapedeck/v1/view.pb.h"

namespace tapedeck::services::client {

absl::StatusOr<Timeline> ViewClient::GetTimeline(const std::string& recording) {
  v1::GetTimelineRequest request;
  request.set_recording(recording);
  v1::Timeline response;
  TD_RETURN_IF_ERROR(Call("GetTimeline", request, response));
  return convert::FromProto(response);
}

absl::StatusOr<Spectrogram> ViewClient::ReadSpectrogram(const SpectrogramRequest& request) {
  const v1::ReadSpectrogramRequest asked = convert::ToProto(request);
  v1::Spectrogram response;
  TD_RETURN_IF_ERROR(Call("ReadSpectrogram", asked, response));
  return convert::FromProto(response);
}

absl::StatusOr<Samples> ViewClient::ReadSamples(const SamplesRequest& request) {
  return Ask<Samples>(*this, "ReadSamples", request);
}

absl::StatusOr<Envelope> ViewClient::ReadEnvelope(const EnvelopeRequest& request) {
  const v1::ReadEnvelopeRequest asked = convert::ToProto(request);
  v1::Envelope response;
  TD_RETURN_IF_ERROR(Call("ReadEnvelope", asked, response));
  return convert::FromProto(response);
}

}  // namespace tapedeck::services::client
