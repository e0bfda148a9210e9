// The table of all calls: the least role that each needs, and on what. A call that is not here is
// refused. README.md tells of the roles; a test compares the table with the protos. And what a
// request is about, as the table says it.
#pragma once

#include <array>
#include <string>

#include "absl/strings/string_view.h"
#include "services/rpc/identity/policy.h"
#include "services/rpc/identity/role.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace tapedeck::services::identity {

// Literals, each.
struct Right {
  absl::string_view method;  // "tapedeck.v1.CatalogService/GetLun"
  Role least = Role::kAdmin;
  Scope scope = Scope::kAll;
  // The resource, with fields of the request in braces: "luns/{lun_id}".
  absl::string_view resource = {};
};

inline constexpr auto kRights = std::to_array<Right>({
    {"tapedeck.v1.CatalogService/CreateLun", Role::kAdmin, Scope::kResource, "luns/{lun_id}"},
    {"tapedeck.v1.CatalogService/GetLun", Role::kViewer, Scope::kResource, "{name}"},
    {"tapedeck.v1.CatalogService/ListLuns", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.CatalogService/UpdateLun", Role::kAdmin, Scope::kResource, "{lun.name}"},
    {"tapedeck.v1.CatalogService/DeleteLun", Role::kAdmin, Scope::kResource, "{name}"},
    // Which LUN it is, its members will say.
    {"tapedeck.v1.CatalogService/AttachLun", Role::kAdmin, Scope::kAll},
    {"tapedeck.v1.CatalogService/DetachLun", Role::kAdmin, Scope::kResource, "{name}"},
    {"tapedeck.v1.CatalogService/CreateChannel", Role::kAdmin, Scope::kResource,
     "{parent}/channels/{channel_id}"},
    {"tapedeck.v1.CatalogService/GetChannel", Role::kViewer, Scope::kResource, "{name}"},
    {"tapedeck.v1.CatalogService/ListChannels", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.CatalogService/UpdateChannel", Role::kAdmin, Scope::kResource, "{channel.name}"},
    {"tapedeck.v1.CatalogService/DeleteChannel", Role::kAdmin, Scope::kResource, "{name}"},
    {"tapedeck.v1.CatalogService/GetRecording", Role::kViewer, Scope::kResource, "{name}"},
    {"tapedeck.v1.CatalogService/ExplainRecording", Role::kViewer, Scope::kResource, "{name}"},
    {"tapedeck.v1.CatalogService/UpdateRecording", Role::kOperator, Scope::kResource,
     "{recording.name}"},
    {"tapedeck.v1.CatalogService/ListRecordings", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.CatalogService/DeleteRecording", Role::kAdmin, Scope::kResource, "{name}"},
    // It reads all of the payload.
    {"tapedeck.v1.CatalogService/VerifyRecording", Role::kPlayer, Scope::kResource, "{name}"},
    {"tapedeck.v1.RecorderService/TriggerRecording", Role::kOperator, Scope::kResource,
     "{channel}"},
    {"tapedeck.v1.RecorderService/AnnotateRecording", Role::kOperator, Scope::kResource,
     "{recording}"},
    {"tapedeck.v1.RecorderService/KeepRecording", Role::kOperator, Scope::kResource, "{recording}"},
    {"tapedeck.v1.RecorderService/StartScrub", Role::kAdmin, Scope::kResource, "{parent}"},
    {"tapedeck.v1.RecorderService/GetScrub", Role::kViewer, Scope::kResource, "{parent}"},
    {"tapedeck.v1.RecorderService/StopScrub", Role::kAdmin, Scope::kResource, "{parent}"},
    // What its Open asks for, one of the two below says.
    {"tapedeck.v1.SessionService/Transfer", Role::kPlayer, Scope::kSome},
    {"tapedeck.v1.PipelineService/StartRecord", Role::kOperator, Scope::kResource, "{channel}"},
    {"tapedeck.v1.PipelineService/StartPlayback", Role::kPlayer, Scope::kResource, "{recording}"},
    {"tapedeck.v1.InletService/StartReceive", Role::kOperator, Scope::kResource, "{inlet.name}"},
    {"tapedeck.v1.InletService/GetInlet", Role::kViewer, Scope::kResource, "{name}"},
    // The channel or recording of a job, its worker knows.
    {"tapedeck.v1.PipelineService/GetJob", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.PipelineService/ExplainJob", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.PipelineService/ListJobs", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.PipelineService/CancelJob", Role::kPlayer, Scope::kSome},
    {"tapedeck.v1.PipelineService/StopJob", Role::kPlayer, Scope::kSome},
    {"tapedeck.v1.PipelineService/WatchJob", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.NodeService/GetNode", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.NodeService/WatchStats", Role::kViewer, Scope::kSome},
    {"tapedeck.v1.ViewService/GetTimeline", Role::kViewer, Scope::kResource, "{recording}"},
    // They read payload.
    {"tapedeck.v1.ViewService/ReadSpectrogram", Role::kPlayer, Scope::kResource, "{recording}"},
    {"tapedeck.v1.ViewService/ReadSamples", Role::kPlayer, Scope::kResource, "{recording}"},
    {"tapedeck.v1.ViewService/ReadEnvelope", Role::kPlayer, Scope::kResource, "{recording}"},
    // They name what belongs to everybody.
    {"tapedeck.v1.TraceService/ReadTrace", Role::kViewer, Scope::kAll},
    {"tapedeck.v1.DoctorService/Diagnose", Role::kOperator, Scope::kAll},
    {"tapedeck.v1.DoctorService/ReadClock", Role::kViewer, Scope::kSome},
    {"grpc.health.v1.Health/Check", Role::kViewer, Scope::kSome},
    {"grpc.health.v1.Health/Watch", Role::kViewer, Scope::kSome},
});

// gRPC's own service, of any version.
inline constexpr Right kReflectionRight{"grpc.reflection", Role::kViewer, Scope::kSome};

// What a session needs: on a channel, and on a recording. Ending a job needs the same.
inline constexpr Right kRecordRight{"record", Role::kOperator, Scope::kResource};
inline constexpr Right kPlayRight{"play", Role::kPlayer, Scope::kResource};
// A job that is looked at needs this on what it is about.
inline constexpr Right kSeeRight{"see", Role::kViewer, Scope::kResource};

// Null: there is no such call.
const Right* FindRight(absl::string_view service, absl::string_view name);
const Right* FindRight(absl::string_view method);

// The template with the request's fields in it. A field may be of a message of the request,
// "lun.name"; one that is not there is empty.
std::string ResourceOf(absl::string_view form, const google::protobuf::Message& request);

// Whether each field in the template is a text of such a request.
bool MatchesRequest(absl::string_view form, const google::protobuf::Descriptor& request);

// Whether `name` is that of a LUN, a channel or a recording.
bool IsResource(absl::string_view name);

}  // namespace tapedeck::services::identity
