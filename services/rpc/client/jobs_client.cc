#include "services/rpc/client/jobs_client.h"

#include <grpcpp/channel.h>

#include <utility>

#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/believed.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/jobs.h"
#include "tapedeck/v1/pipeline.grpc.pb.h"

namespace tapedeck::services::client {

absl::StatusOr<Job> JobsClient::StartRecord(const RecordSpec& spec) {
  v1::StartRecordRequest request = convert::ToProto(spec);
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  v1::Job response;
  TD_RETURN_IF_ERROR(Call("StartRecord", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::StartPlayback(const PlaybackSpec& spec) {
  v1::StartPlaybackRequest request = convert::ToProto(spec);
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  v1::Job response;
  TD_RETURN_IF_ERROR(Call("StartPlayback", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::GetJob(const std::string& name) {
  v1::GetJobRequest request;
  request.set_name(name);
  v1::Job response;
  TD_RETURN_IF_ERROR(Call("GetJob", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<std::vector<Job>> JobsClient::ListJobs() {
  std::vector<Job> out;
  TD_RETURN_IF_ERROR((ForEachPage<v1::ListJobsRequest, v1::ListJobsResponse>(
      node_.address, {},
      [&](const auto& request, auto& response) { return Call("ListJobs", request, response); },
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
  TD_RETURN_IF_ERROR(Call("CancelJob", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::StopJob(const std::string& name) {
  v1::StopJobRequest request;
  request.set_name(name);
  v1::Job response;
  TD_RETURN_IF_ERROR(Call("StopJob", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Job> JobsClient::WatchJob(const std::string& name, absl::Duration timeout,
                                         const std::function<void(const Job&)>& report) {
  v1::WatchJobRequest request;
  request.set_name(name);
  v1::WatchJobResponse response;
  TD_RETURN_IF_ERROR(RunCall(node_, timeout, &gate_, [&](grpc::ClientContext* context) {
    const auto reader = v1::PipelineService::NewStub(node_.channel)->WatchJob(context, request);
    while (reader->Read(&response)) {
      const auto job = Believed(node_.address, convert::FromProto(response.job()));
      if (job.ok()) report(*job);
    }
    return reader->Finish();
  }));
  return Believed(node_.address, convert::FromProto(response.job()));
}

}  // namespace tapedeck::services::client
