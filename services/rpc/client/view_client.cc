#include "services/rpc/client/view_client.h"

#include <grpcpp/channel.h>

#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/view.h"
#include "tapedeck/v1/view.grpc.pb.h"

namespace tapedeck::services::client {

struct ViewClient::Stub {
  std::unique_ptr<v1::ViewService::Stub> calls;
};

ViewClient::ViewClient(const client::Channel& channel, const CallTime& time)
    : node_(channel),
      time_(time),
      stub_(std::make_unique<Stub>(Stub{v1::ViewService::NewStub(channel.channel)})) {}

ViewClient::~ViewClient() = default;

absl::StatusOr<Timeline> ViewClient::GetTimeline(const std::string& recording) {
  v1::GetTimelineRequest request;
  request.set_recording(recording);
  v1::Timeline response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, &gate_, [&](grpc::ClientContext* context) {
    return stub_->calls->GetTimeline(context, request, &response);
  }));
  return convert::FromProto(response);
}

absl::StatusOr<Spectrogram> ViewClient::ReadSpectrogram(const SpectrogramRequest& request) {
  const v1::ReadSpectrogramRequest asked = convert::ToProto(request);
  v1::Spectrogram response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, &gate_, [&](grpc::ClientContext* context) {
    return stub_->calls->ReadSpectrogram(context, asked, &response);
  }));
  return convert::FromProto(response);
}

absl::StatusOr<Samples> ViewClient::ReadSamples(const SamplesRequest& request) {
  const v1::ReadSamplesRequest asked = convert::ToProto(request);
  v1::Samples response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, &gate_, [&](grpc::ClientContext* context) {
    return stub_->calls->ReadSamples(context, asked, &response);
  }));
  return convert::FromProto(response);
}

absl::StatusOr<Envelope> ViewClient::ReadEnvelope(const EnvelopeRequest& request) {
  const v1::ReadEnvelopeRequest asked = convert::ToProto(request);
  v1::Envelope response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, &gate_, [&](grpc::ClientContext* context) {
    return stub_->calls->ReadEnvelope(context, asked, &response);
  }));
  return convert::FromProto(response);
}

}  // namespace tapedeck::services::client
