// The least role that each call needs, and on what, as its option `right` in the protos says
// (right_option.proto). A call without it is refused. README.md tells of the roles. And what a
// request is about, as the option says it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/rpc/identity/policy.h"
#include "services/rpc/identity/role.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace tapedeck::services::identity {

// Texts that stay: literals, or those of descriptors.
struct Right {
  absl::string_view method;  // "tapedeck.v1.CatalogService/GetLun"
  Role least = Role::kAdmin;
  Scope scope = Scope::kAll;
  // The resource, with fields of the request in braces: "luns/{lun_id}".
  absl::string_view resource = {};
};

// gRPC's own service, of any version.
inline constexpr Right kReflectionRight{"grpc.reflection", Role::kViewer, Scope::kSome};

// What a session needs, as its Open asks: on a channel, and on a recording. Ending a job needs the
// same.
inline constexpr Right kRecordRight{"record", Role::kOperator, Scope::kResource};
inline constexpr Right kPlayRight{"play", Role::kPlayer, Scope::kResource};
// A job that is looked at needs this on what it is about.
inline constexpr Right kSeeRight{"see", Role::kViewer, Scope::kResource};

// Null: there is no such call, or it has no right. Any thread.
const Right* FindRight(absl::string_view service, absl::string_view name);
const Right* FindRight(absl::string_view method);

// INTERNAL names the first method of the service, by its full name, that has no right, or one whose
// resource is no text of its request.
absl::Status CheckRights(absl::string_view service);

// The template with the request's fields in it. A field may be of a message of the request,
// "lun.name"; one that is not there is empty.
std::string ResourceOf(absl::string_view form, const google::protobuf::Message& request);

// Whether each field in the template is a text of such a request.
bool MatchesRequest(absl::string_view form, const google::protobuf::Descriptor& request);

// Whether `name` is that of a LUN, a channel or a recording.
bool IsResource(absl::string_view name);

}  // namespace tapedeck::services::identity
