#include "services/rpc/client/doctor_client.h"

#include <grpcpp/channel.h>

#include <vector>

#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/doctor.h"
#include "services/rpc/convert/values/time.h"
#include "tapedeck/v1/doctor.grpc.pb.h"

namespace tapedeck::services::client {

absl::StatusOr<doctor::Diagnosis> Diagnose(const Channel& channel, const doctor::Request& request,
                                           absl::Duration timeout) {
  const auto stub = v1::DoctorService::NewStub(channel.channel);
  const v1::DiagnoseRequest wire = convert::ToProto(request);
  v1::DiagnoseResponse response;
  TD_RETURN_IF_ERROR(RunCall(channel, timeout, [&](grpc::ClientContext* context) {
    return stub->Diagnose(context, wire, &response);
  }));
  return convert::FromProto(response);
}

absl::StatusOr<std::vector<doctor::pair::RoundTrip>> ReadClock(const Channel& channel, int times,
                                                               absl::Duration timeout) {
  const auto stub = v1::DoctorService::NewStub(channel.channel);
  std::vector<doctor::pair::RoundTrip> trips;
  const dataplane::SystemClock clock;
  for (int i = 0; i < times; ++i) {
    v1::ReadClockResponse response;
    doctor::pair::RoundTrip& trip = trips.emplace_back();
    trip.asked_ns = clock.WallNs();
    TD_RETURN_IF_ERROR(RunCall(channel, timeout, [&](grpc::ClientContext* context) {
      return stub->ReadClock(context, v1::ReadClockRequest(), &response);
    }));
    trip.answered_ns = clock.WallNs();
    trip.node_ns = convert::FromTimestamp(response.time());
  }
  return trips;
}

}  // namespace tapedeck::services::client
