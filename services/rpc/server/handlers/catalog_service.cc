#include <google/protobuf/empty.pb.h>

#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/seams/catalog.h"
#include "services/model/words/resource_name.h"
#include "services/observe/explain/explanation.h"
#include "services/rpc/convert/catalog.h"
#include "services/rpc/convert/explain.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/identity/methods.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/page.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/handlers/validate.h"
#include "services/rpc/server/handlers/verify_reactor.h"
#include "tapedeck/v1/catalog.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

using google::protobuf::Empty;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// A policy of tiers makes a channel of the same name in the LUN to which it moves, and records
// there: as whoever sets it could.
absl::Status AdmitMoveTo(const identity::Access& access, const Channel& channel) {
  // What is no LUN's name is refused as such.
  if (!CheckLunName(channel.move_to).ok()) return absl::OkStatus();
  static const identity::Right* const kMake =
      identity::FindRight("tapedeck.v1.CatalogService/CreateChannel");
  return access.Admit(
      *kMake, absl::StrCat(channel.move_to, channel.name.substr(channel.name.find("/channels/"))));
}

// Any thread. Each handler validates, converts, acts, converts.
class CatalogService final : public v1::CatalogService::CallbackService {
 public:
  CatalogService(Dispatch& dispatch, LunCatalog& luns, ChannelCatalog& channels,
                 RecordingCatalog& recordings)
      : dispatch_(dispatch, v1::CatalogService::service_full_name()),
        luns_(luns),
        channels_(channels),
        recordings_(recordings) {}

  ServerUnaryReactor* CreateLun(CallbackServerContext* context, const v1::CreateLunRequest* request,
                                v1::Lun* response) override {
    return dispatch_.Unary(
        context, *request, "CreateLun", Work::kNew,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckId(request->lun_id()));
          TD_ASSIGN_OR_RETURN(Lun lun, convert::FromProto(request->lun()));
          lun.name = absl::StrCat("luns/", request->lun_id());
          TD_RETURN_IF_ERROR(CheckLunMembers(lun));
          TD_RETURN_IF_ERROR(CheckRequestId(request->request_id()));
          TD_ASSIGN_OR_RETURN(const Lun created, luns_.CreateLun(lun, request->request_id()));
          *response = convert::ToProto(created);
          return absl::OkStatus();
        },
        absl::StrCat("luns/", request->lun_id()));
  }

  ServerUnaryReactor* GetLun(CallbackServerContext* context, const v1::GetLunRequest* request,
                             v1::Lun* response) override {
    return dispatch_.Unary(context, *request, "GetLun", Work::kOther, [=, this]() -> absl::Status {
      TD_RETURN_IF_ERROR(CheckLunName(request->name()));
      TD_ASSIGN_OR_RETURN(const Lun lun, luns_.GetLun(request->name()));
      *response = convert::ToProto(lun);
      return absl::OkStatus();
    });
  }

  ServerUnaryReactor* ListLuns(CallbackServerContext* context, const v1::ListLunsRequest* request,
                               v1::ListLunsResponse* response) override {
    return dispatch_.Unary(
        context, *request, "ListLuns", Work::kOther, [=, this](const Call& call) -> absl::Status {
          const auto list = [&]() -> absl::StatusOr<std::vector<Lun>> {
            TD_ASSIGN_OR_RETURN(std::vector<Lun> luns, luns_.ListLuns());
            std::erase_if(luns, [&](const Lun& lun) { return !call.access.Sees(lun.name); });
            return luns;
          };
          return FillPage(
              list, *request, [](const Lun& lun) { return lun.name; }, response->mutable_luns(),
              response->mutable_next_page_token());
        });
  }

  ServerUnaryReactor* UpdateLun(CallbackServerContext* context, const v1::UpdateLunRequest* request,
                                v1::Lun* response) override {
    return dispatch_.Unary(
        context, *request, "UpdateLun", Work::kNew,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckLunName(request->lun().name()));
          TD_ASSIGN_OR_RETURN(const LunUpdate update, convert::FromProto(*request));
          TD_RETURN_IF_ERROR(CheckLunMembers(update.to));
          TD_RETURN_IF_ERROR(CheckRequestId(request->request_id()));
          TD_ASSIGN_OR_RETURN(const Lun updated, luns_.UpdateLun(update, request->request_id()));
          *response = convert::ToProto(updated);
          return absl::OkStatus();
        },
        request->lun().name());
  }

  ServerUnaryReactor* DeleteLun(CallbackServerContext* context, const v1::DeleteLunRequest* request,
                                Empty*) override {
    return dispatch_.Unary(
        context, *request, "DeleteLun", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckLunName(request->name()));
          return luns_.DeleteLun(request->name(), request->force());
        },
        request->name());
  }

  ServerUnaryReactor* AttachLun(CallbackServerContext* context, const v1::AttachLunRequest* request,
                                v1::Lun* response) override {
    return dispatch_.Unary(
        context, *request, "AttachLun", Work::kNew,
        [=, this]() -> absl::Status {
          LunAttachment asked{.members = {request->members().begin(), request->members().end()},
                              .as_new = request->as_new()};
          if (!request->lun_id().empty()) {
            TD_RETURN_IF_ERROR(CheckId(request->lun_id()));
            asked.name = absl::StrCat("luns/", request->lun_id());
          }
          TD_RETURN_IF_ERROR(CheckAttachment(asked));
          TD_RETURN_IF_ERROR(CheckRequestId(request->request_id()));
          TD_ASSIGN_OR_RETURN(const Lun attached, luns_.AttachLun(asked, request->request_id()));
          *response = convert::ToProto(attached);
          return absl::OkStatus();
        },
        // Which LUN it is, its members will say.
        absl::StrCat("attach ",
                     std::hash<std::string>()(request->members().empty() ? std::string()
                                                                         : request->members(0))));
  }

  ServerUnaryReactor* DetachLun(CallbackServerContext* context, const v1::DetachLunRequest* request,
                                Empty*) override {
    return dispatch_.Unary(
        context, *request, "DetachLun", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckLunName(request->name()));
          return luns_.DetachLun(request->name());
        },
        request->name());
  }

  ServerUnaryReactor* CreateChannel(CallbackServerContext* context,
                                    const v1::CreateChannelRequest* request,
                                    v1::Channel* response) override {
    return dispatch_.Unary(
        context, *request, "CreateChannel", Work::kNew,
        [=, this](const Call& call) -> absl::Status {
          TD_RETURN_IF_ERROR(CheckLunName(request->parent()));
          TD_RETURN_IF_ERROR(CheckId(request->channel_id()));
          TD_ASSIGN_OR_RETURN(Channel channel, convert::FromProto(request->channel()));
          channel.name = absl::StrCat(request->parent(), "/channels/", request->channel_id());
          TD_RETURN_IF_ERROR(AdmitMoveTo(call.access, channel));
          TD_RETURN_IF_ERROR(CheckRequestId(request->request_id()));
          TD_ASSIGN_OR_RETURN(const Channel created,
                              channels_.CreateChannel(channel, request->request_id()));
          *response = convert::ToProto(created);
          return absl::OkStatus();
        },
        request->parent());
  }

  ServerUnaryReactor* GetChannel(CallbackServerContext* context,
                                 const v1::GetChannelRequest* request,
                                 v1::Channel* response) override {
    return dispatch_.Unary(
        context, *request, "GetChannel", Work::kOther, [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckChannelName(request->name()));
          TD_ASSIGN_OR_RETURN(const Channel channel, channels_.GetChannel(request->name()));
          *response = convert::ToProto(channel);
          return absl::OkStatus();
        });
  }

  ServerUnaryReactor* ListChannels(CallbackServerContext* context,
                                   const v1::ListChannelsRequest* request,
                                   v1::ListChannelsResponse* response) override {
    return dispatch_.Unary(
        context, *request, "ListChannels", Work::kOther,
        [=, this](const Call& call) -> absl::Status {
          TD_RETURN_IF_ERROR(CheckLunName(request->parent(), Wildcard::kAllowed));
          const auto list = [&]() -> absl::StatusOr<std::vector<Channel>> {
            TD_ASSIGN_OR_RETURN(std::vector<Channel> channels,
                                channels_.ListChannels(request->parent()));
            std::erase_if(channels, [&](const Channel& c) { return !call.access.Sees(c.name); });
            return channels;
          };
          return FillPage(
              list, *request, [](const Channel& channel) { return channel.name; },
              response->mutable_channels(), response->mutable_next_page_token());
        });
  }

  ServerUnaryReactor* UpdateChannel(CallbackServerContext* context,
                                    const v1::UpdateChannelRequest* request,
                                    v1::Channel* response) override {
    return dispatch_.Unary(
        context, *request, "UpdateChannel", Work::kNew,
        [=, this](const Call& call) -> absl::Status {
          TD_RETURN_IF_ERROR(CheckChannelName(request->channel().name()));
          TD_ASSIGN_OR_RETURN(const ChannelUpdate update, convert::FromProto(*request));
          TD_RETURN_IF_ERROR(
              AdmitMoveTo(call.access, Updated(Channel{.name = update.name}, update)));
          TD_RETURN_IF_ERROR(CheckRequestId(request->request_id()));
          TD_ASSIGN_OR_RETURN(const Channel updated,
                              channels_.UpdateChannel(update, request->request_id()));
          *response = convert::ToProto(updated);
          return absl::OkStatus();
        },
        request->channel().name());
  }

  ServerUnaryReactor* DeleteChannel(CallbackServerContext* context,
                                    const v1::DeleteChannelRequest* request, Empty*) override {
    return dispatch_.Unary(
        context, *request, "DeleteChannel", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckChannelName(request->name()));
          return channels_.DeleteChannel(request->name());
        },
        request->name());
  }

  ServerUnaryReactor* GetRecording(CallbackServerContext* context,
                                   const v1::GetRecordingRequest* request,
                                   v1::Recording* response) override {
    return dispatch_.Unary(
        context, *request, "GetRecording", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckRecordingName(request->name()));
          TD_ASSIGN_OR_RETURN(const Recording recording, recordings_.GetRecording(request->name()));
          *response = convert::ToProto(recording);
          return absl::OkStatus();
        },
        request->name());
  }

  ServerUnaryReactor* ExplainRecording(CallbackServerContext* context,
                                       const v1::ExplainRecordingRequest* request,
                                       v1::Explanation* response) override {
    return dispatch_.Unary(
        context, *request, "ExplainRecording", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckRecordingName(request->name()));
          TD_ASSIGN_OR_RETURN(const Recording recording, recordings_.GetRecording(request->name()));
          const auto found = explain::Explain(recording.stage_times, dataplane::Direction::kRecord);
          if (found.stages.empty()) return StagesUnknown("recording", recording.name);
          *response = convert::ToProto(found, recording.state == RecordingState::kRecording);
          return absl::OkStatus();
        },
        request->name());
  }

  ServerUnaryReactor* UpdateRecording(CallbackServerContext* context,
                                      const v1::UpdateRecordingRequest* request,
                                      v1::Recording* response) override {
    return dispatch_.Unary(
        context, *request, "UpdateRecording", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckRecordingName(request->recording().name()));
          TD_ASSIGN_OR_RETURN(const RecordingUpdate update, convert::FromProto(*request));
          TD_ASSIGN_OR_RETURN(const Recording updated, recordings_.UpdateRecording(update));
          *response = convert::ToProto(updated);
          return absl::OkStatus();
        },
        request->recording().name());
  }

  ServerUnaryReactor* ListRecordings(CallbackServerContext* context,
                                     const v1::ListRecordingsRequest* request,
                                     v1::ListRecordingsResponse* response) override {
    return dispatch_.Unary(
        context, *request, "ListRecordings", Work::kOther,
        [=, this](const Call& call) -> absl::Status {
          TD_RETURN_IF_ERROR(CheckChannelName(request->parent(), Wildcard::kAllowed));
          return FillWithRecordings(recordings_, call.access, *request, response);
        });
  }

  ServerUnaryReactor* DeleteRecording(CallbackServerContext* context,
                                      const v1::DeleteRecordingRequest* request, Empty*) override {
    return dispatch_.Unary(
        context, *request, "DeleteRecording", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckRecordingName(request->name()));
          return recordings_.DeleteRecording(request->name(), request->etag());
        },
        request->name());
  }

  grpc::ServerWriteReactor<v1::VerifyRecordingResponse>* VerifyRecording(
      CallbackServerContext* context, const v1::VerifyRecordingRequest* request) override {
    return VerifyReactor::Start(dispatch_, verifying_, context, *request, recordings_);
  }

 private:
  const ServiceDispatch dispatch_;
  LunCatalog& luns_;
  ChannelCatalog& channels_;
  RecordingCatalog& recordings_;
  // Each reads as fast as the disk does: more of them would only slow each other down.
  ThreadPool verifying_{"verify", "verifications", 8};
};

}  // namespace

ServiceFactory CatalogServiceOver(LunCatalog& luns, ChannelCatalog& channels,
                                  RecordingCatalog& recordings) {
  return [&](Dispatch& dispatch) {
    return Service{
        .name = v1::CatalogService::service_full_name(),
        .handlers = std::make_shared<CatalogService>(dispatch, luns, channels, recordings)};
  };
}

}  // namespace tapedeck::services::server
