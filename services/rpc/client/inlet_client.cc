#include "services/rpc/client/inlet_client.h"

#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/jobs.h"
#include "tapedeck/v1/inlet.pb.h"

namespace tapedeck::services::client {

absl::StatusOr<Job> InletClient::StartReceive(const ReceiveSpec& spec) {
  v1::StartReceiveRequest request = convert::ToProto(spec);
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  v1::Job response;
  TD_RETURN_IF_ERROR(Call("StartReceive", request, response));
  return convert::FromProto(response);
}

absl::StatusOr<Inlet> InletClient::GetInlet(const std::string& name) {
  v1::GetInletRequest request;
  request.set_name(name);
  v1::Inlet response;
  TD_RETURN_IF_ERROR(Call("GetInlet", request, response));
  return convert::FromProto(response);
}

}  // namespace tapedeck::services::client
