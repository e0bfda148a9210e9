#include "services/rpc/convert/node.h"

#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {

v1::Node ToProto(const NodeInfo& node) { return Written<v1::Node>(node); }

absl::StatusOr<NodeInfo> FromProto(const v1::Node& node) {
  NodeInfo out;
  TD_RETURN_IF_ERROR(ReadFields(node, out));
  return out;
}

v1::WatchStatsResponse ToProto(const NodeStats& stats) {
  auto out = Written<v1::WatchStatsResponse>(stats);
  out.mutable_counters();  // there even if all are 0
  return out;
}

NodeStats FromProto(const v1::WatchStatsResponse& response) {
  return ReadSound<NodeStats>(response);
}

}  // namespace tapedeck::services::convert
