// tapedeck/v1/inlet.proto and services/model/seams/inlets.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/seams/inlets.h"
#include "tapedeck/v1/inlet.pb.h"

namespace tapedeck::services::convert {

v1::Inlet ToProto(const Inlet& inlet);
// INVALID_ARGUMENT (ARGUMENT_INVALID) for an unknown op.
absl::StatusOr<Inlet> FromProto(const v1::Inlet& inlet);

v1::StartReceiveRequest ToProto(const ReceiveSpec& spec);
// The same, and for a parameter without a value.
absl::StatusOr<ReceiveSpec> FromProto(const v1::StartReceiveRequest& request);

}  // namespace tapedeck::services::convert
