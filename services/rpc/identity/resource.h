// What a request is about, as the table of rights says it: "luns/{lun_id}".
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace tapedeck::services::identity {

// The template with the request's fields in it. A field may be of a message of the request,
// "lun.name"; one that is not there is empty.
std::string ResourceOf(absl::string_view form, const google::protobuf::Message& request);

// Whether each field in the template is a text of such a request.
bool FitsRequest(absl::string_view form, const google::protobuf::Descriptor& request);

// Whether `name` is that of a LUN, a channel or a recording.
bool IsResource(absl::string_view name);

}  // namespace tapedeck::services::identity
