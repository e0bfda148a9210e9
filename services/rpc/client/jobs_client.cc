#include "services/rpc/client/jobs_client.h"

#include <grpcpp/channel.h>

#include <utility>

#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/believed.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/jobs.h"
#include "tapedeck/v1/pipeline.grpc.pb.h"

namespace tapedeck::services::client {

using Context = grpc::ClientContext;

struct JobsClient::Stub {
  std::unique_ptr<v1::PipelineService::Stub> calls;
};

JobsClient::JobsClient(const Channel& channel, const CallTime& time)
    : node_(channel),
      time_(time),
      stub_(std::make_unique<Stub>(Stub{v1::PipelineService::NewStub(channel.channel)})) {}

JobsClient::~JobsClient() = default;

absl::StatusOr<Job> JobsClient::StartRecord(const RecordSpec& spec) {
  v1::StartRecordRequest request = convert::ToProto(spec);
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  v1::Job response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, [&](Context* context) {
    return stub_->calls->StartRecord(context, request, &response);
  }));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::StartPlayback(const PlaybackSpec& spec) {
  v1::StartPlaybackRequest request = convert::ToProto(spec);
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  v1::Job response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, [&](Context* context) {
    return stub_->calls->StartPlayback(context, request, &response);
  }));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::GetJob(const std::string& name) {
  v1::GetJobRequest request;
  request.set_name(name);
  v1::Job response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, [&](Context* context) {
    return stub_->calls->GetJob(context, request, &response);
  }));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<std::vector<Job>> JobsClient::ListJobs() {
  std::vector<Job> out;
  TD_RETURN_IF_ERROR((ForEachPage<v1::ListJobsRequest, v1::ListJobsResponse>(
      node_, time_, nullptr, {},
      [&](Context* context, const auto& request, auto* response) {
        return stub_->calls->ListJobs(context, request, response);
      },
      [&](const auto& response) -> absl::Status {
        for (const v1::Job& wire : response.jobs()) {
          TD_ASSIGN_OR_RETURN(Job job, Believed(node_.address, convert::FromProto(wire)));
          out.push_back(std::move(job));
        }
        return absl::OkStatus();
      })));
  return out;
}

absl::StatusOr<Job> JobsClient::CancelJob(const std::string& name) {
  v1::CancelJobRequest request;
  request.set_name(name);
  v1::Job response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, [&](Context* context) {
    return stub_->calls->CancelJob(context, request, &response);
  }));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::StopJob(const std::string& name) {
  v1::StopJobRequest request;
  request.set_name(name);
  v1::Job response;
  TD_RETURN_IF_ERROR(RunCall(node_, time_, [&](Context* context) {
    return stub_->calls->StopJob(context, request, &response);
  }));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::WatchJob(const std::string& name, absl::Duration timeout,
                                         const std::function<void(const Job&)>& report) {
  v1::WatchJobRequest request;
  request.set_name(name);
  v1::WatchJobResponse response;
  TD_RETURN_IF_ERROR(RunCall(node_, timeout, [&](Context* context) {
    const auto reader = stub_->calls->WatchJob(context, request);
    while (reader->Read(&response)) {
      const auto job = Believed(node_.address, convert::FromProto(response.job()));
      if (job.ok()) report(*job);
    }
    return reader->Finish();
  }));
  return Believed(node_.address, convert::FromProto(response.job()));
}

}  // namespace tapedeck::services::client
