// tapedeck/v1/node.proto and services/model/seams/node.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/seams/node.h"
#include "tapedeck/v1/node.pb.h"

namespace tapedeck::services::convert {

v1::Node ToProto(const NodeInfo& node);
absl::StatusOr<NodeInfo> FromProto(const v1::Node& node);

v1::WatchStatsResponse ToProto(const NodeStats& stats);
NodeStats FromProto(const v1::WatchStatsResponse& response);

}  // namespace tapedeck::services::convert
