#include "services/rpc/client/inlet_client.h"

#include <grpcpp/channel.h>

#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/jobs.h"
#include "tapedeck/v1/inlet.grpc.pb.h"

namespace tapedeck::services::client {

struct InletClient::Stub {
  std::unique_ptr<v1::InletService::Stub> calls;
};

InletClient::InletClient(const Channel& channel, const CallTime& time)
    : node_(channel),
      time_(time),
      stub_(std::make_unique<Stub>(Stub{v1::InletService::NewStub(channel.channel)})) {}

InletClient::~InletClient() = default;

absl::StatusOr<Job> InletClient::StartReceive(const ReceiveSpec& spec) {
  v1::StartReceiveRequest request = convert::ToProto(spec);
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  v1::Job response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, &gate_, [&](grpc::ClientContext* context) {
    return stub_->calls->StartReceive(context, request, &response);
  }));
  return convert::FromProto(response);
}

absl::StatusOr<Inlet> InletClient::GetInlet(const std::string& name) {
  v1::GetInletRequest request;
  request.set_name(name);
  v1::Inlet response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, &gate_, [&](grpc::ClientContext* context) {
    return stub_->calls->GetInlet(context, request, &response);
  }));
  return convert::FromProto(response);
}

}  // namespace tapedeck::services::client
