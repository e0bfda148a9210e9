#include "services/convert/status.h"

#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "services/convert/fields.h"
#include "services/errors.h"

namespace tapedeck::services::convert {
namespace {

constexpr char kDomain[] = "tapedeck";
// HTTP/2 peers may refuse metadata over 8 KiB; the text travels twice.
constexpr size_t kMaxTextBytes = 2048;

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string text(status.message().substr(0, kMaxTextBytes));
  const auto reason = ReasonOf(status);
  if (!reason.has_value()) return grpc::Status(code, text);

  google::rpc::ErrorInfo info;
  info.set_reason(reason->reason);
  info.set_domain(kDomain);
  for (const auto& [key, value] : reason->metadata) {
    (*info.mutable_metadata())[key] = value.substr(0, kMaxTextBytes);
  }
  google::rpc::Status details;
  details.set_code(static_cast<int>(code));
  details.set_message(text);
  details.add_details()->PackFrom(info);
  return grpc::Status(code, text, details.SerializeAsString());
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const absl::Status plain(static_cast<absl::StatusCode>(status.error_code()),
                           status.error_message());
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return plain;
  for (const google::protobuf::Any& detail : details.details()) {
    google::rpc::ErrorInfo info;
    if (detail.UnpackTo(&info) && info.domain() == kDomain) {
      return WithReason(plain, info.reason(), FromWireMap(info.metadata()));
    }
  }
  return plain;
}

}  // namespace tapedeck::services::convert
