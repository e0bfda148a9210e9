// tapedeck-worker: composes rails, the device, jobs and the gRPC server, and ends them in order.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_set.h"
#include "gpu_worker/device/peer_copies.h"
#include "gpu_worker/inlets/inlet_registry.h"
#include "gpu_worker/look.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/reach.h"
#include "gpu_worker/settings.h"
#include "gpu_worker/transfer/ring.h"
#include "gpu_worker/worker.h"
#include "services/admin/admin.h"
#include "services/convert/job_codec.h"
#include "services/convert/trace_codec.h"
#include "services/daemon.h"
#include "services/descriptors.h"
#include "services/doctor/examiner.h"
#include "services/flight/recorder.h"
#include "services/grpc_log.h"
#include "services/grpc_threads.h"
#include "services/identity/security.h"
#include "services/out_of_memory.h"
#include "services/placement.h"
#include "services/server/doctor_service.h"
#include "services/server/inlet_service.h"
#include "services/server/node_service.h"
#include "services/server/pipeline_service.h"
#include "services/server/server.h"
#include "services/server/signals.h"
#include "services/server/trace_service.h"
#include "services/session/registry.h"
#include "services/session_stream/session_service.h"
#include "services/spare_memory.h"
#include "services/storage_client/dialer.h"
#include "services/supervisor/supervisor.h"
#include "services/surroundings.h"
#include "services/telemetry/node_page.h"
#include "services/telemetry/otlp/tracing.h"

namespace tapedeck::gpu_worker {
namespace {

// What cancelled jobs need at most to seal what they have; so much of the grace is theirs.
constexpr absl::Duration kSealTime = absl::Seconds(9);

absl::StatusOr<std::vector<pipeline::DeviceChoice>> ChooseDevices(const Settings& settings) {
  TD_ASSIGN_OR_RETURN(auto devices, pipeline::ChooseDevices(settings.devices));
  for (const pipeline::DeviceChoice& device : devices) {
    dataplane::Log(dataplane::LogLevel::kInfo, "device", "chosen",
                   {{"device", device.description}, {"why", device.why}});
  }
  return devices;
}

absl::StatusOr<std::unique_ptr<dataplane::RailSet>> MakeRails(const Settings& settings,
                                                              dataplane::PeerCopies& copies) {
  return dataplane::RailSet::Create(
      settings.rails,
      {.listen = settings.inlets, .tls = settings.identity.rail_tls, .copies = &copies});
}

std::vector<device::Device*> DevicesOf(const std::vector<pipeline::DeviceChoice>& choices) {
  std::vector<device::Device*> devices;
  for (const pipeline::DeviceChoice& choice : choices) devices.push_back(choice.device.get());
  return devices;
}

services::doctor::ExaminerParts Examined(const std::vector<dataplane::Transport*>& rails,
                                         const services::identity::Security& security,
                                         Worker& worker) {
  services::doctor::Scene scene{
      .rails = worker.Describe().rails, .ports = rails, .ring_bytes = transfer::kDefaultRingBytes};
  return {.scene = std::make_shared<services::doctor::Scene>(std::move(scene)),
          .others = [&worker, &security] {
            auto checks = worker.DoctorChecks();
            checks.push_back(security.DoctorCheck(worker.Describe().rails));
            return checks;
          }};
}

// What streams of other workers come through; empty where none may come.
struct Inlets {
  std::unique_ptr<inlets::InletRegistry> registry;
  std::unique_ptr<services::session::Registry> sessions;
};

absl::StatusOr<Inlets> MakeInlets(const Settings& settings,
                                  const std::vector<dataplane::Executor*>& executors,
                                  const std::vector<dataplane::Transport*>& rails,
                                  services::telemetry::trace::Tracer* tracer) {
  Inlets made;
  if (!settings.inlets) return made;
  TD_ASSIGN_OR_RETURN(made.registry, inlets::InletRegistry::Create());
  made.sessions = std::make_unique<services::session::Registry>(
      executors, rails, made.registry.get(), /*trails=*/nullptr, tracer);
  return made;
}

std::vector<services::server::ServiceFactory> ServicesOf(Worker& worker,
                                                         const services::flight::Recorder& flight,
                                                         services::doctor::Examiner& examiner,
                                                         const Inlets& inlets) {
  std::vector<services::server::ServiceFactory> list = {
      services::server::PipelineServiceOver(worker), services::server::InletServiceOver(worker),
      services::server::NodeServiceOver(worker),
      services::server::TraceServiceOver(flight.reader()),
      services::server::DoctorServiceOver(examiner)};
  if (inlets.sessions != nullptr) {
    list.push_back(services::session_stream::SessionServiceOver(*inlets.sessions));
  }
  return list;
}

// Takes no more work; jobs go on by themselves until `deadline`.
void End(Worker& worker, const Inlets& inlets, services::doctor::Examiner& examiner,
         services::server::Server& server, dataplane::Deadline deadline) {
  server.Drain();
  examiner.Stop();
  worker.Drain(deadline);
  worker.CancelAll();
  if (inlets.sessions != nullptr) inlets.sessions->Drain(0);
  server.Shutdown(absl::Seconds(1));
}

services::admin::Admin::Node AdminNode(const services::telemetry::NodePage& page,
                                       const services::identity::Security& security,
                                       const services::server::Server& server,
                                       const Worker& worker) {
  return {.metrics =
              [&] {
                return page.Make([&](services::telemetry::Page& more) {
                  security.AddMetrics(more);
                  server.AddMetrics(more);
                  worker.AddMetrics(more);
                });
              },
          .health = [&] { return worker.Health(); }};
}

absl::StatusOr<std::unique_ptr<services::flight::Recorder>> MakeFlight(const std::string& name,
                                                                       const Settings& settings) {
  return services::flight::Recorder::Create({name, services::NodeRole::kWorker}, settings.state,
                                            services::convert::TraceMessages());
}

absl::Status Run(const Settings& settings) {
  TD_RETURN_IF_ERROR(services::StartGrpc());
  TD_ASSIGN_OR_RETURN(auto devices, ChooseDevices(settings));
  dataplane::flight::SetOn(settings.flight);
  std::optional<services::StopLimit> limit;  // goes last
  services::telemetry::otlp::Tracing tracing(settings.trace);
  TD_ASSIGN_OR_RETURN(const auto security,
                      services::identity::Security::Create(settings.listen, settings.identity));
  TD_ASSIGN_OR_RETURN(Reach reach, Reach::Create(settings.file_roots, settings.storage_allow,
                                                 settings.send_allow, security->local()));
  TD_ASSIGN_OR_RETURN(auto admin, services::admin::Admin::Create(settings.admin));
  device::DevicePeerCopies copies(DevicesOf(devices));
  // Connections that close tell their sessions' loops, until their rails go.
  TD_ASSIGN_OR_RETURN(const auto loops, services::MakeSessionLoops());
  TD_ASSIGN_OR_RETURN(const auto rails, MakeRails(settings, copies));
  auto placement = services::Placement::Discover(rails->transports());
  placement.PinPollers(rails->transports());
  TD_ASSIGN_OR_RETURN(const auto supervisor,
                      services::supervisor::Supervisor::Create(
                          settings.supervisor, {rails->executors(), services::AsExecutors(loops)}));
  const auto dialer = services::storage_client::MakeStorageDialer({.tls = security->tls()});
  const services::telemetry::NodePage page({.role = services::NodeRole::kWorker,
                                            .rails = rails->transports(),
                                            .places = placement.rails(),
                                            .spans = tracing.spans()});
  const std::string name = absl::StrCat(services::HostName(), "/worker");
  TD_ASSIGN_OR_RETURN(const auto flight, MakeFlight(name, settings));
  TD_ASSIGN_OR_RETURN(const Inlets inlets, MakeInlets(settings, services::AsExecutors(loops),
                                                      rails->transports(), tracing.tracer()));
  Worker worker({.name = name,
                 .rails = rails->transports(),
                 .executors = services::AsExecutors(loops),
                 .storage = dialer.get(),
                 .devices = std::move(devices),
                 .reach = std::move(reach),
                 .placement = std::move(placement),
                 .connections_per_rail = settings.connections_per_rail,
                 .trails = &flight->trails(),
                 .history = job::JobHistory::Open(settings.state, services::convert::JobMessages()),
                 .inlets = inlets.registry.get()});
  services::doctor::Examiner examiner(Examined(rails->transports(), *security, worker));
  TD_ASSIGN_OR_RETURN(const auto server,
                      services::server::Server::Create(
                          settings.listen, ServicesOf(worker, *flight, examiner, inlets),
                          tracing.tracer(), security.get()));
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "worker ready",
                 {{"listen", settings.listen}, {"port", absl::StrCat(server->port())}});
  admin->Serve(AdminNode(page, *security, *server, worker));
  supervisor->Ready();
  services::server::WaitForShutdownSignal(services::GiveBackSpareMemory);
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "shutting down");
  supervisor->Stopping(settings.grace);
  limit.emplace(settings.grace);
  limit->SetLeft([] { return "jobs that wait for a file, a device or a storage node"; });
  admin->Drain();
  End(worker, inlets, examiner, *server, dataplane::Deadline::In(settings.grace - kSealTime));
  admin.reset();  // before what its page is made of
  return absl::OkStatus();
}

}  // namespace
}  // namespace tapedeck::gpu_worker

int main(int argc, char** argv) {
  tapedeck::services::PrepareSurroundings();
  tapedeck::services::identity::RefuseOldTls();
  tapedeck::services::RaiseDescriptorLimit();
  tapedeck::services::EndWhenOutOfMemory();
  tapedeck::services::ShareSpareMemory();
  tapedeck::services::server::BlockShutdownSignals();
  tapedeck::services::RouteGrpcLog();
  // Debian builds Abseil with deadlock detection on, which costs a lookup at every lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  int exit_status = 0;
  const auto settings = tapedeck::gpu_worker::ParseSettings(
      argc, argv, tapedeck::gpu_worker::LookAtAll, &exit_status);
  if (!settings.has_value()) return exit_status;
  const auto faults = tapedeck::gpu_worker::LookBeforeStart(*settings);
  if (!faults.empty()) return tapedeck::services::RefusedToStart("tapedeck-worker", faults);
  const absl::Status status = tapedeck::gpu_worker::Run(*settings);
  return status.ok() ? 0 : tapedeck::services::FailedToStart("tapedeck-worker", {status});
}
