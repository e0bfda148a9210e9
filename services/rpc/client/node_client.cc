#include "services/rpc/client/node_client.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/clock.h"
#include "dataplane/flight/rings.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/rpc/client/calls/service_client.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/diagnostics.h"
#include "services/rpc/convert/node.h"
#include "services/rpc/convert/values/time.h"
#include "tapedeck/v1/doctor.pb.h"
#include "tapedeck/v1/node.pb.h"
#include "tapedeck/v1/trace.pb.h"

namespace tapedeck::services::client {
namespace {

constexpr char kDoctor[] = "tapedeck.v1.DoctorService";

// Twice what all rings of a node hold, as they go on while they are read.
constexpr size_t kMaxStamps = 2 * dataplane::flight::kMaxRings * dataplane::flight::kRingEntries;

size_t StampsIn(const flight::Trace& trace) {
  size_t stamps = 0;
  for (const flight::ThreadStamps& thread : trace.threads) stamps += thread.entries.size();
  return stamps;
}

}  // namespace

absl::StatusOr<NodeInfo> GetNode(const Channel& channel, absl::Duration timeout) {
  v1::Node response;
  TD_RETURN_IF_ERROR(ServiceClient(channel, timeout, "tapedeck.v1.NodeService")
                         .Call("GetNode", v1::GetNodeRequest(), response));
  return convert::FromProto(response);
}

absl::StatusOr<doctor::Diagnosis> Diagnose(const Channel& channel, const doctor::Request& request,
                                           absl::Duration timeout) {
  v1::DiagnoseResponse response;
  TD_RETURN_IF_ERROR(ServiceClient(channel, timeout, kDoctor)
                         .Call("Diagnose", convert::ToProto(request), response));
  return convert::FromProto(response);
}

absl::StatusOr<std::vector<doctor::pair::RoundTrip>> ReadClock(const Channel& channel, int times,
                                                               absl::Duration timeout) {
  ServiceClient service(channel, timeout, kDoctor);
  std::vector<doctor::pair::RoundTrip> trips;
  const dataplane::SystemClock clock;
  for (int i = 0; i < times; ++i) {
    v1::ReadClockResponse response;
    doctor::pair::RoundTrip& trip = trips.emplace_back();
    trip.asked_ns = clock.WallNs();
    TD_RETURN_IF_ERROR(service.Call("ReadClock", v1::ReadClockRequest(), response));
    trip.answered_ns = clock.WallNs();
    trip.node_ns = convert::FromTimestamp(response.time());
  }
  return trips;
}

absl::StatusOr<flight::Trace> ReadTrace(const Channel& channel, absl::Duration timeout,
                                        const flight::TraceRequest& request) {
  ServiceClient service(channel, timeout, "tapedeck.v1.TraceService");
  flight::Trace whole;
  bool first = true;
  size_t stamps = 0;
  TD_RETURN_IF_ERROR((ForEachPage<v1::ReadTraceRequest, v1::ReadTraceResponse>(
      channel.address, convert::ToProto(request),
      [&](const auto& asked, auto& response) { return service.Call("ReadTrace", asked, response); },
      [&](const v1::ReadTraceResponse& response) -> absl::Status {
        TD_ASSIGN_OR_RETURN(flight::TracePage page, convert::FromProto(response));
        stamps += StampsIn(page.trace);
        if (stamps > kMaxStamps) {
          return LimitReached(kMaxStamps, "stamps of a node",
                              absl::StrCat(channel.address, " sends more stamps than it can have"));
        }
        if (std::exchange(first, false)) {
          whole = std::move(page.trace);
        } else {
          std::ranges::move(page.trace.threads, std::back_inserter(whole.threads));
        }
        return absl::OkStatus();
      })));
  return whole;
}

}  // namespace tapedeck::services::client
