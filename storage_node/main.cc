// tapedeck-storage: composes rails, catalog, sessions and the gRPC server, and ends them in order.

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_set.h"
#include "services/admin/admin.h"
#include "services/console/console.h"
#include "services/convert/trace_codec.h"
#include "services/daemon.h"
#include "services/descriptors.h"
#include "services/doctor/examiner.h"
#include "services/errors.h"
#include "services/flight/recorder.h"
#include "services/grpc_log.h"
#include "services/grpc_threads.h"
#include "services/identity/security.h"
#include "services/out_of_memory.h"
#include "services/placement.h"
#include "services/server/catalog_service.h"
#include "services/server/doctor_service.h"
#include "services/server/node_service.h"
#include "services/server/recorder_service.h"
#include "services/server/server.h"
#include "services/server/signals.h"
#include "services/server/trace_service.h"
#include "services/server/view_service.h"
#include "services/session/registry.h"
#include "services/session_stream/session_service.h"
#include "services/spare_memory.h"
#include "services/supervisor/supervisor.h"
#include "services/surroundings.h"
#include "services/telemetry/node_page.h"
#include "services/telemetry/otlp/tracing.h"
#include "storage_node/look.h"
#include "storage_node/node/check.h"
#include "storage_node/node/describer.h"
#include "storage_node/node/metrics.h"
#include "storage_node/node/node.h"
#include "storage_node/settings.h"
#include "storage_node/store/rados/settings.h"

namespace tapedeck::storage_node {
namespace {

// Sessions that have not ended by themselves so long before the grace is over are cut and sealed.
// Then whatever waits for a disk is left as it is.
constexpr absl::Duration kSealTime = absl::Seconds(4);

// A line for each finding and one for the whole, on stdout.
absl::Status RunCheck(const std::string& state_dir) {
  const dataplane::SystemClock clock;
  TD_ASSIGN_OR_RETURN(const node::CheckTotals totals,
                      node::CheckStorage(state_dir, clock, [](const node::Finding& finding) {
                        std::printf("%s %s: %s\n", finding.where.c_str(), finding.kind.c_str(),
                                    finding.detail.c_str());
                      }));
  const std::string text =
      absl::StrCat(totals.blocks, " blocks of ", totals.recordings, " recordings on ", totals.luns,
                   " LUNs: ", totals.damaged, " damaged, ", totals.missing, " known to be missing");
  std::printf("%s\n", text.c_str());
  if (totals.damaged == 0) return absl::OkStatus();
  return services::BlockDamaged({.blocks = totals.damaged},
                                absl::StrCat(text, "; the other blocks play, with these as gaps"));
}

std::string MetricsPage(const services::telemetry::NodePage& page,
                        const services::identity::Security& security,
                        const services::server::Server& server,
                        const services::session::Registry& registry, node::StorageNode& node) {
  return page.Make([&](services::telemetry::Page& more) {
    security.AddMetrics(more);
    server.AddMetrics(more);
    node::AddSessions(more, registry);
    node.AddMetrics(more);
  });
}

luns::MemberRoots MemberRootsOf(const Settings& settings) {
  return luns::MemberRoots(settings.member_roots);
}

std::string NodeName() { return absl::StrCat(services::HostName(), "/storage"); }

absl::StatusOr<std::unique_ptr<dataplane::RailSet>> MakeRails(const Settings& settings) {
  return dataplane::RailSet::Create(settings.rails,
                                    {.listen = true, .tls = settings.identity.rail_tls});
}

node::StorageSettings StorageOf(const Settings& settings,
                                const std::vector<dataplane::Transport*>& rails) {
  return {.state_dir = settings.state,
          .member_roots = MemberRootsOf(settings),
          .standby_for = settings.standby_for,
          .follow_bytes = settings.follow_bytes,
          .check_threads = recording::CheckThreads::Suggested(),
          .rails = rails};
}

services::console::NodeFacts FactsOf(const Settings& settings,
                                     const services::server::Server& server) {
  const std::string host = settings.listen.substr(0, settings.listen.rfind(':'));
  return {.name = NodeName(), .listen = absl::StrCat(host, ":", server.port())};
}

services::doctor::ExaminerParts Examined(const Settings& settings,
                                         const std::vector<dataplane::Transport*>& rails,
                                         const services::Placement& placement,
                                         const services::identity::Security& security,
                                         node::StorageNode& node) {
  services::doctor::Scene scene{
      .rails = placement.rails(),
      .ports = rails,
      .ring_bytes = node::StorageSettings().ring_bytes,
      .promised = {{.what = "--follow-memory", .bytes = settings.follow_bytes}}};
  return {.scene = std::make_shared<services::doctor::Scene>(std::move(scene)),
          .others = [&node, &security, &placement] {
            auto checks = node.DoctorChecks();
            checks.push_back(security.DoctorCheck(placement.rails()));
            return checks;
          }};
}

std::vector<services::server::ServiceFactory> ServicesOf(node::StorageNode& node,
                                                         const node::Describer& describer,
                                                         const services::flight::Recorder& flight,
                                                         services::doctor::Examiner& examiner,
                                                         services::session::Registry& registry) {
  return {services::server::CatalogServiceOver(node.luns(), node.channels(), node.recordings()),
          services::server::RecorderServiceOver(node.recorder(), node.scrubs()),
          services::server::NodeServiceOver(describer),
          services::server::TraceServiceOver(flight.reader()),
          services::server::DoctorServiceOver(examiner),
          services::server::ViewServiceOver(node.view()),
          services::session_stream::SessionServiceOver(registry)};
}

absl::Status Serve(const Settings& settings) {
  dataplane::flight::SetOn(settings.flight);
  std::optional<services::StopLimit> limit;  // goes last
  services::telemetry::otlp::Tracing tracing(settings.trace);
  TD_ASSIGN_OR_RETURN(const auto security,
                      services::identity::Security::Create(settings.listen, settings.identity));
  TD_ASSIGN_OR_RETURN(auto admin, services::admin::Admin::Create(settings.admin));
  // Connections that close tell their sessions' loops, until their rails go.
  TD_ASSIGN_OR_RETURN(const auto loops, services::MakeSessionLoops());
  TD_ASSIGN_OR_RETURN(const auto rails, MakeRails(settings));
  const auto placement = services::Placement::Discover(rails->transports());
  placement.PinPollers(rails->transports());
  TD_ASSIGN_OR_RETURN(const auto supervisor,
                      services::supervisor::Supervisor::Create(
                          settings.supervisor, {rails->executors(), services::AsExecutors(loops)}));
  TD_ASSIGN_OR_RETURN(const auto node,
                      node::StorageNode::Create(StorageOf(settings, rails->transports())));
  TD_ASSIGN_OR_RETURN(const auto flight, services::flight::Recorder::Create(
                                             {NodeName(), services::NodeRole::kStorage},
                                             settings.state, services::convert::TraceMessages()));
  services::session::Registry registry(services::AsExecutors(loops), rails->transports(),
                                       &node->sessions(), &flight->trails(), tracing.tracer());
  const node::Describer describer(NodeName(), placement, registry);
  services::doctor::Examiner examiner(
      Examined(settings, rails->transports(), placement, *security, *node));
  TD_ASSIGN_OR_RETURN(
      const auto server,
      services::server::Server::Create(settings.listen,
                                       ServicesOf(*node, describer, *flight, examiner, registry),
                                       tracing.tracer(), security.get()));
  TD_ASSIGN_OR_RETURN(
      auto console, services::console::Console::Create(settings.console, FactsOf(settings, *server),
                                                       *security, *server));
  const services::telemetry::NodePage page({.role = services::NodeRole::kStorage,
                                            .rails = rails->transports(),
                                            .places = placement.rails(),
                                            .spans = tracing.spans()});
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "storage node ready",
                 {{"listen", settings.listen}, {"port", absl::StrCat(server->port())}});
  admin->Serve({.metrics = [&] { return MetricsPage(page, *security, *server, registry, *node); },
                .remark = [&] { return node->StateHealth(); }});
  supervisor->Ready();
  services::server::WaitForShutdownSignal(services::GiveBackSpareMemory);
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "shutting down");
  supervisor->Stopping(settings.grace);
  limit.emplace(settings.grace);
  limit->SetLeft([&] { return absl::StrCat(registry.Left(), "; ", node->Waiting()); });
  admin->Drain();
  server->Drain();
  console.reset();  // before the server that it calls
  examiner.Stop();
  registry.Drain(absl::ToInt64Nanoseconds(settings.grace - kSealTime));
  limit->SetLeft([waiting = node->Waiting()] { return waiting; });
  server->Shutdown(absl::Seconds(1));
  admin.reset();  // before what its page is made of
  return absl::OkStatus();
}

absl::Status Run(const Settings& settings) {
  store::rados::SetCluster({.conf = settings.ceph_conf,
                            .user = settings.ceph_user,
                            .lease = absl::Nanoseconds(settings.lun_lease_ns)});
  if (settings.check) return RunCheck(settings.state);
  if (settings.rebuild_catalog) {
    return node::RebuildCatalog(settings.state, settings.members, MemberRootsOf(settings));
  }
  TD_RETURN_IF_ERROR(services::StartGrpc());
  return Serve(settings);
}

}  // namespace
}  // namespace tapedeck::storage_node

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
  const auto settings = tapedeck::storage_node::ParseSettings(
      argc, argv, tapedeck::storage_node::LookAtAll, &exit_status);
  if (!settings.has_value()) return exit_status;
  if (!settings->check && !settings->rebuild_catalog) {
    const auto faults = tapedeck::storage_node::LookBeforeStart(*settings);
    if (!faults.empty()) return tapedeck::services::RefusedToStart("tapedeck-storage", faults);
  }
  const absl::Status status = tapedeck::storage_node::Run(*settings);
  return status.ok() ? 0 : tapedeck::services::FailedToStart("tapedeck-storage", {status});
}
