#include "services/rpc/otlp/exporter.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/convert/values/status.h"
#include "services/rpc/otlp/message.h"

namespace tapedeck::services::telemetry::otlp {

namespace v1 = tapedeck::otlp::v1;

namespace {

constexpr char kExport[] = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

constexpr absl::Duration kTellEvery = absl::Minutes(1);

// One call. gRPC tells its end on a thread of its own.
class ExportCall {
 public:
  using Service =
      grpc::TemplatedGenericStub<v1::ExportTraceServiceRequest, v1::ExportTraceServiceResponse>;

  ExportCall(Service& service, const v1::ExportTraceServiceRequest& request,
             dataplane::Deadline end) {
    context_.set_deadline(absl::ToChronoTime(dataplane::WallTime() + end.left()));
    service.UnaryCall(&context_, kExport, grpc::StubOptions(), &request, &response_,
                      [this](grpc::Status status) { OnEnd(std::move(status)); });
  }

  // Waits; at `end()`, which may come nearer meanwhile, the call is given up.
  template <typename End>
  absl::Status Await(End end) {
    absl::MutexLock lock(&mutex_);
    while (!dataplane::AwaitFor(mutex_, absl::Condition(&ended_), absl::Milliseconds(50))) {
      if (end().passed()) context_.TryCancel();
    }
    return convert::FromGrpc(status_);
  }

  // Those that the collector refuses of what it took.
  uint64_t rejected() const {
    return static_cast<uint64_t>(
        std::max<int64_t>(0, response_.partial_success().rejected_spans()));
  }
  const std::string& why() const { return response_.partial_success().error_message(); }

 private:
  void OnEnd(grpc::Status status) {
    absl::MutexLock lock(&mutex_);
    status_ = std::move(status);
    ended_ = true;
  }

  grpc::ClientContext context_;
  v1::ExportTraceServiceResponse response_;
  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

// The connection. Made and destroyed on the exporter's thread.
class Exporter::Collector {
 public:
  explicit Collector(const std::string& endpoint)
      : channel_(client::MakeChannel(endpoint)), service_(channel_.channel) {
    // A program that ends soon has no time left to connect then.
    channel_.channel->GetState(/*try_to_connect=*/true);
  }
  ExportCall::Service& service() { return service_; }

 private:
  const client::Channel channel_;
  ExportCall::Service service_;
};

Exporter::Exporter(ExporterSettings settings, trace::SpanQueue& spans)
    : settings_(std::move(settings)), spans_(spans), thread_([this] { Work(); }) {}

Exporter::~Exporter() {
  {
    absl::MutexLock lock(&mutex_);
    end_ = dataplane::Deadline::In(settings_.flush_deadline);
  }
  spans_.Close();
  thread_.join();
}

void Exporter::Work() {
  Collector collector(settings_.endpoint);
  while (true) {
    const trace::SpanBatch batch = spans_.Take(settings_.period);
    if (!batch.empty()) Export(collector, batch);
    if (settings_.tells_at_end || !spans_.closed()) TellOfDrops();
    if (batch.empty() && spans_.closed()) return;
  }
}

void Exporter::Export(Collector& collector, const trace::SpanBatch& batch) {
  const auto deadline = dataplane::Deadline::In(settings_.deadline);
  const auto end = [&] { return std::min(deadline, end_of_flush()); };
  absl::Status status = absl::DeadlineExceededError("the program ends");
  uint64_t taken = 0;
  if (!end().passed()) {
    const v1::ExportTraceServiceRequest request = ToProto(settings_.resource, batch);
    ExportCall call(collector.service(), request, end());
    status = call.Await(end);
    if (status.ok()) {
      taken = batch.size() - std::min<uint64_t>(batch.size(), call.rejected());
      if (taken < batch.size()) status = absl::InvalidArgumentError(call.why());
    }
  }
  spans_.CountExported(taken);
  spans_.CountDropped(batch.size() - taken);
  if (!status.ok()) last_failure_ = status;
}

dataplane::Deadline Exporter::end_of_flush() const {
  absl::MutexLock lock(&mutex_);
  return end_;
}

void Exporter::TellOfDrops() {
  const uint64_t drops = spans_.dropped();
  if (drops == told_drops_ || dataplane::SteadyTime() - told_ < kTellEvery) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "trace", "spans dropped",
                 {{"spans", absl::StrCat(drops - told_drops_)},
                  {"collector", settings_.endpoint},
                  {"last_failure", std::string(last_failure_.message())}});
  told_drops_ = drops;
  told_ = dataplane::SteadyTime();
}

}  // namespace tapedeck::services::telemetry::otlp
