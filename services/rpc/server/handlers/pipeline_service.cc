#include <algorithm>
#include <memory>
#include <utility>

#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/seams/jobs.h"
#include "services/model/words/resource_name.h"
#include "services/observe/explain/explanation.h"
#include "services/rpc/convert/explain.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/page.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/handlers/validate.h"
#include "services/rpc/server/ticking_reactor.h"
#include "tapedeck/v1/pipeline.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

constexpr absl::Duration kWatchInterval = absl::Milliseconds(200);

// Whoever sees only a part of what a job works on does not see the job.
bool Sees(const identity::Access& access, const Job& job) {
  const auto seen = [&](const JobOutput& output) { return access.Sees(output.channel); };
  return access.Sees(job.target) && std::ranges::all_of(job.outputs, seen);
}

// The method's own right is on the channel or recording of the job; here on the channels beside it.
template <typename Outputs>
absl::Status AdmitOutputs(const identity::Access& access, const Outputs& outputs) {
  for (const auto& output : outputs) {
    TD_RETURN_IF_ERROR(access.Admit(identity::kRecordRight, output.channel));
  }
  return absl::OkStatus();
}

// Any thread. Each handler validates, converts, acts, converts.
class PipelineService final : public v1::PipelineService::CallbackService {
 public:
  PipelineService(Dispatch& dispatch, Jobs& jobs)
      : dispatch_(dispatch, v1::PipelineService::service_full_name()), jobs_(jobs) {}

  ServerUnaryReactor* StartRecord(CallbackServerContext* context,
                                  const v1::StartRecordRequest* request,
                                  v1::Job* response) override {
    return dispatch_.Unary(context, *request, "StartRecord", Work::kNewElsewhere,
                           [=, this](const Call& call) -> absl::Status {
                             TD_ASSIGN_OR_RETURN(RecordSpec spec, convert::FromProto(*request));
                             spec.transfer.trace = call.trace;
                             spec.transfer.caller = call.access.who();
                             TD_RETURN_IF_ERROR(CheckRecordSpec(spec));
                             TD_RETURN_IF_ERROR(AdmitOutputs(call.access, spec.outputs));
                             TD_ASSIGN_OR_RETURN(const Job job, jobs_.StartRecord(spec));
                             *response = convert::ToProto(job);
                             return absl::OkStatus();
                           });
  }

  ServerUnaryReactor* StartPlayback(CallbackServerContext* context,
                                    const v1::StartPlaybackRequest* request,
                                    v1::Job* response) override {
    return dispatch_.Unary(context, *request, "StartPlayback", Work::kNewElsewhere,
                           [=, this](const Call& call) -> absl::Status {
                             TD_ASSIGN_OR_RETURN(PlaybackSpec spec, convert::FromProto(*request));
                             spec.transfer.trace = call.trace;
                             spec.transfer.caller = call.access.who();
                             TD_RETURN_IF_ERROR(CheckPlaybackSpec(spec));
                             TD_ASSIGN_OR_RETURN(const Job job, jobs_.StartPlayback(spec));
                             *response = convert::ToProto(job);
                             return absl::OkStatus();
                           });
  }

  ServerUnaryReactor* GetJob(CallbackServerContext* context, const v1::GetJobRequest* request,
                             v1::Job* response) override {
    return dispatch_.Unary(
        context, *request, "GetJob", Work::kOther, [=, this](const Call& call) -> absl::Status {
          TD_ASSIGN_OR_RETURN(const Job job, JobOf(call.access, request->name()));
          *response = convert::ToProto(job);
          return absl::OkStatus();
        });
  }

  ServerUnaryReactor* ExplainJob(CallbackServerContext* context,
                                 const v1::ExplainJobRequest* request,
                                 v1::Explanation* response) override {
    return dispatch_.Unary(context, *request, "ExplainJob", Work::kOther,
                           [=, this](const Call& call) -> absl::Status {
                             TD_RETURN_IF_ERROR(CheckJobName(request->name()));
                             TD_ASSIGN_OR_RETURN(const Job job, jobs_.GetJob(request->name()));
                             if (!Sees(call.access, job)) return JobNotFound(request->name());
                             const auto found = explain::Explain(job.stage_times, job.direction);
                             if (found.stages.empty()) return StagesUnknown("job", job.name);
                             *response = convert::ToProto(found, !model::HasEnded(job));
                             return absl::OkStatus();
                           });
  }

  ServerUnaryReactor* ListJobs(CallbackServerContext* context, const v1::ListJobsRequest* request,
                               v1::ListJobsResponse* response) override {
    return dispatch_.Unary(
        context, *request, "ListJobs", Work::kOther, [=, this](const Call& call) -> absl::Status {
          const auto key = [](const Job& job) { return NewestFirst(job.start_time_ns, job.name); };
          const auto list = [&]() -> absl::StatusOr<std::vector<Job>> {
            std::vector<Job> jobs = jobs_.ListJobs();
            std::erase_if(jobs, [&](const Job& job) { return !Sees(call.access, job); });
            return jobs;
          };
          return FillPage(list, *request, key, response->mutable_jobs(),
                          response->mutable_next_page_token());
        });
  }

  ServerUnaryReactor* CancelJob(CallbackServerContext* context, const v1::CancelJobRequest* request,
                                v1::Job* response) override {
    return dispatch_.Unary(context, *request, "CancelJob", Work::kOther,
                           [=, this](const Call& call) -> absl::Status {
                             TD_RETURN_IF_ERROR(AdmitEnd(call.access, request->name()));
                             TD_ASSIGN_OR_RETURN(const Job job, jobs_.CancelJob(request->name()));
                             *response = convert::ToProto(job);
                             return absl::OkStatus();
                           });
  }

  ServerUnaryReactor* StopJob(CallbackServerContext* context, const v1::StopJobRequest* request,
                              v1::Job* response) override {
    return dispatch_.Unary(context, *request, "StopJob", Work::kOther,
                           [=, this](const Call& call) -> absl::Status {
                             TD_RETURN_IF_ERROR(AdmitEnd(call.access, request->name()));
                             TD_ASSIGN_OR_RETURN(const Job job, jobs_.StopJob(request->name()));
                             *response = convert::ToProto(job);
                             return absl::OkStatus();
                           });
  }

  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(
      CallbackServerContext* context, const v1::WatchJobRequest* request) override {
    auto look = [this, name = request->name(), last = std::string()](
                    const identity::Access& access,
                    v1::WatchJobResponse& response) mutable -> absl::StatusOr<Look> {
      TD_ASSIGN_OR_RETURN(const Job job, JobOf(access, name));
      *response.mutable_job() = convert::ToProto(job);
      std::string now = response.job().SerializeAsString();
      if (model::HasEnded(job)) return Look::kSendLast;
      return std::exchange(last, now) == now ? Look::kNothing : Look::kSend;
    };
    return TickingReactor<v1::WatchJobResponse>::Start(dispatch_, context, *request, "WatchJob",
                                                       kWatchInterval, std::move(look));
  }

 private:
  // Whether the caller may end the job.
  absl::Status AdmitEnd(const identity::Access& access, const std::string& name) {
    TD_RETURN_IF_ERROR(CheckJobName(name));
    TD_ASSIGN_OR_RETURN(const Job running, jobs_.GetJob(name));
    if (!Sees(access, running)) return JobNotFound(name);
    const bool records = running.direction == dataplane::Direction::kRecord;
    TD_RETURN_IF_ERROR(
        access.Admit(records ? identity::kRecordRight : identity::kPlayRight, running.target));
    return AdmitOutputs(access, running.outputs);
  }

  absl::StatusOr<Job> JobOf(const identity::Access& access, const std::string& name) {
    TD_RETURN_IF_ERROR(CheckJobName(name));
    TD_ASSIGN_OR_RETURN(Job job, jobs_.GetJob(name));
    if (!Sees(access, job)) return JobNotFound(name);
    return job;
  }

  const ServiceDispatch dispatch_;
  Jobs& jobs_;
};

}  // namespace

ServiceFactory PipelineServiceOver(Jobs& jobs) {
  return [&jobs](Dispatch& dispatch) {
    return Service{.name = v1::PipelineService::service_full_name(),
                   .handlers = std::make_shared<PipelineService>(dispatch, jobs)};
  };
}

}  // namespace tapedeck::services::server
