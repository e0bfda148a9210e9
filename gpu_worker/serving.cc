#include "gpu_worker/serving.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_set.h"
#include "gpu_worker/device/peer_copies.h"
#include "gpu_worker/inlets/inlet_registry.h"
#include "gpu_worker/job_permissions.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/transfer/ring.h"
#include "gpu_worker/worker.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/process/daemon.h"
#include "services/daemon/admin/admin.h"
#include "services/daemon/placement.h"
#include "services/daemon/supervisor/supervisor.h"
#include "services/observe/doctor/examiner.h"
#include "services/observe/flight/recorder.h"
#include "services/observe/telemetry/node_page.h"
#include "services/rpc/convert/codecs.h"
#include "services/rpc/identity/security.h"
#include "services/rpc/otlp/tracing.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/server.h"
#include "services/rpc/session_stream/control_streams.h"
#include "services/rpc/storage_client/dialer.h"
#include "services/session/protocol/storage.h"
#include "services/session/serving/registry.h"

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

std::vector<services::server::ServiceFactory> ServicesOf(Worker& worker,
                                                         const services::flight::Recorder& flight,
                                                         services::doctor::Examiner& examiner,
                                                         services::session::Registry* inlets) {
  std::vector<services::server::ServiceFactory> list = {
      services::server::PipelineServiceOver(worker), services::server::InletServiceOver(worker),
      services::server::NodeServiceOver(worker),
      services::server::TraceServiceOver(flight.reader()),
      services::server::DoctorServiceOver(examiner)};
  if (inlets != nullptr) {
    list.push_back(services::session_stream::SessionServiceOver(*inlets));
  }
  return list;
}

// Takes no more work; jobs go on by themselves until `deadline`.
void EndJobs(Worker& worker, services::session::Registry* inlets,
             services::doctor::Examiner& examiner, services::server::Server& server,
             dataplane::Deadline deadline) {
  server.Drain();
  examiner.Stop();
  worker.Drain(deadline);
  worker.CancelAll();
  if (inlets != nullptr) inlets->Drain(0);
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

// In the order in which they are made; the later ones use the earlier ones.
struct Parts {
  explicit Parts(Settings given) : settings(std::move(given)), tracing(settings.trace) {}
  ~Parts() { admin.reset(); }  // before what its page is made of

  const Settings settings;
  std::vector<pipeline::DeviceChoice> devices;  // until the worker has them
  std::optional<services::StopLimit> limit;     // goes last
  std::optional<services::ReservedPort> port;   // until the server has it
  services::telemetry::otlp::Tracing tracing;
  std::unique_ptr<services::identity::Security> security;
  std::unique_ptr<services::admin::Admin> admin;
  std::unique_ptr<device::DevicePeerCopies> copies;
  // Connections that close tell their sessions' loops, until their rails go.
  std::vector<std::unique_ptr<dataplane::EventLoop>> loops;
  std::unique_ptr<dataplane::RailSet> rails;
  std::unique_ptr<services::supervisor::Supervisor> supervisor;
  std::unique_ptr<services::StorageDialer> dialer;
  std::optional<services::telemetry::NodePage> page;
  std::unique_ptr<services::flight::Recorder> flight;
  // What streams of other workers come through; null where none may come.
  std::unique_ptr<inlets::InletRegistry> inlet_registry;
  std::unique_ptr<services::session::Registry> inlet_sessions;
  std::unique_ptr<Worker> worker;
  std::optional<services::doctor::Examiner> examiner;
  std::unique_ptr<services::server::Server> server;

  absl::Status MakeInlets();
  // The worker takes jobs.
  absl::Status Serve();
  void End();
};

absl::Status Parts::MakeInlets() {
  if (!settings.inlets) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(inlet_registry, inlets::InletRegistry::Create());
  inlet_sessions = std::make_unique<services::session::Registry>(
      services::AsExecutors(loops), rails->transports(), inlet_registry.get(), /*trails=*/nullptr,
      tracing.tracer());
  return absl::OkStatus();
}

absl::Status Parts::Serve() {
  examiner.emplace(Examined(rails->transports(), *security, *worker));
  TD_ASSIGN_OR_RETURN(
      server, services::server::Server::Create(
                  *std::move(port), ServicesOf(*worker, *flight, *examiner, inlet_sessions.get()),
                  tracing.tracer(), security.get()));
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "worker ready",
                 {{"listen", settings.listen}, {"port", absl::StrCat(server->port())}});
  admin->Serve(AdminNode(*page, *security, *server, *worker));
  supervisor->Ready();
  return absl::OkStatus();
}

void Parts::End() {
  const absl::Duration grace = settings.grace;
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "shutting down");
  supervisor->Stopping(grace);
  limit.emplace(grace);
  limit->SetLeft([] { return "jobs that wait for a file, a device or a storage node"; });
  admin->Drain();
  EndJobs(*worker, inlet_sessions.get(), *examiner, *server,
          dataplane::Deadline::In(grace - kSealTime));
  admin.reset();  // before what its page is made of
}

}  // namespace

absl::StatusOr<std::unique_ptr<services::Serving>> StartServing(const Settings& settings) {
  auto made = std::make_unique<Parts>(settings);
  Parts& parts = *made;
  TD_ASSIGN_OR_RETURN(parts.devices, ChooseDevices(settings));
  dataplane::flight::SetOn(settings.flight);
  TD_ASSIGN_OR_RETURN(parts.port, services::ReservedPort::Create(settings.listen));
  TD_ASSIGN_OR_RETURN(parts.security,
                      services::identity::Security::Create(settings.listen, settings.identity));
  TD_ASSIGN_OR_RETURN(JobPermissions permissions,
                      JobPermissions::Create(settings.file_roots, settings.storage_allow,
                                             settings.send_allow, parts.security->local()));
  TD_ASSIGN_OR_RETURN(parts.admin, services::admin::Admin::Create(settings.admin));
  parts.copies = std::make_unique<device::DevicePeerCopies>(DevicesOf(parts.devices));
  TD_ASSIGN_OR_RETURN(parts.loops, services::MakeSessionLoops());
  TD_ASSIGN_OR_RETURN(parts.rails, MakeRails(settings, *parts.copies));
  const auto rails = parts.rails->transports();
  const auto loops = services::AsExecutors(parts.loops);
  auto placement = services::Placement::Discover(rails);
  placement.PinPollers(rails);
  TD_ASSIGN_OR_RETURN(parts.supervisor,
                      services::supervisor::Supervisor::Create(settings.supervisor,
                                                               {parts.rails->executors(), loops}));
  parts.dialer = services::storage_client::MakeStorageDialer({.tls = parts.security->tls()});
  parts.page.emplace(services::telemetry::NodePageSettings{.role = services::NodeRole::kWorker,
                                                           .rails = rails,
                                                           .places = placement.rails(),
                                                           .spans = parts.tracing.spans()});
  const std::string name = absl::StrCat(services::HostName(), "/worker");
  TD_ASSIGN_OR_RETURN(parts.flight, MakeFlight(name, settings));
  TD_RETURN_IF_ERROR(parts.MakeInlets());
  parts.worker = std::make_unique<Worker>(WorkerParts{
      .name = name,
      .rails = rails,
      .executors = loops,
      .storage = parts.dialer.get(),
      .devices = std::move(parts.devices),
      .permissions = std::move(permissions),
      .placement = std::move(placement),
      .connections_per_rail = settings.connections_per_rail,
      .trails = &parts.flight->trails(),
      .history = job::JobHistory::Open(settings.state, services::convert::JobMessages()),
      .inlets = parts.inlet_registry.get()});
  TD_RETURN_IF_ERROR(made->Serve());
  return std::make_unique<services::ServingOf<Parts>>(std::move(made));
}

}  // namespace tapedeck::gpu_worker
