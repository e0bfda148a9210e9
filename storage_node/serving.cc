#include "storage_node/serving.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_set.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/process/daemon.h"
#include "services/console/console.h"
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
#include "services/session/serving/registry.h"
#include "storage_node/luns/member_roots.h"
#include "storage_node/node/describer.h"
#include "storage_node/node/metrics.h"
#include "storage_node/node/node.h"

namespace tapedeck::storage_node {
namespace {

// Sessions that have not ended by themselves so long before the grace is over are cut and sealed.
// Then whatever waits for a disk is left as it is.
constexpr absl::Duration kSealTime = absl::Seconds(4);

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

// In the order in which they are made; the later ones use the earlier ones.
struct Parts {
  explicit Parts(Settings given) : settings(std::move(given)), tracing(settings.trace) {}
  // The page and the console call the rest.
  ~Parts() {
    console.reset();
    admin.reset();
  }

  const Settings settings;
  std::optional<services::StopLimit> limit;  // goes last
  services::telemetry::otlp::Tracing tracing;
  std::unique_ptr<services::identity::Security> security;
  std::unique_ptr<services::admin::Admin> admin;
  // Connections that close tell their sessions' loops, until their rails go.
  std::vector<std::unique_ptr<dataplane::EventLoop>> loops;
  std::unique_ptr<dataplane::RailSet> rails;
  std::optional<services::Placement> placement;
  std::unique_ptr<services::supervisor::Supervisor> supervisor;
  std::unique_ptr<node::StorageNode> node;
  std::unique_ptr<services::flight::Recorder> flight;
  std::optional<services::session::Registry> registry;
  std::optional<node::Describer> describer;
  std::optional<services::doctor::Examiner> examiner;
  std::unique_ptr<services::server::Server> server;
  std::unique_ptr<services::console::Console> console;
  std::optional<services::telemetry::NodePage> page;

  void End();
};

void Parts::End() {
  const absl::Duration grace = settings.grace;
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "shutting down");
  supervisor->Stopping(grace);
  limit.emplace(grace);
  limit->SetLeft([this] { return absl::StrCat(registry->Left(), "; ", node->Waiting()); });
  admin->Drain();
  server->Drain();
  console.reset();  // before the server that it calls
  examiner->Stop();
  registry->Drain(absl::ToInt64Nanoseconds(grace - kSealTime));
  limit->SetLeft([waiting = node->Waiting()] { return waiting; });
  server->Shutdown(absl::Seconds(1));
  admin.reset();  // before what its page is made of
}

}  // namespace

absl::StatusOr<std::unique_ptr<services::Serving>> StartServing(const Settings& settings) {
  dataplane::flight::SetOn(settings.flight);
  auto made = std::make_unique<Parts>(settings);
  Parts& parts = *made;
  TD_ASSIGN_OR_RETURN(auto port, services::ReservedPort::Create(settings.listen));
  TD_ASSIGN_OR_RETURN(parts.security,
                      services::identity::Security::Create(settings.listen, settings.identity));
  TD_ASSIGN_OR_RETURN(parts.admin, services::admin::Admin::Create(settings.admin));
  TD_ASSIGN_OR_RETURN(parts.loops, services::MakeSessionLoops());
  TD_ASSIGN_OR_RETURN(parts.rails, MakeRails(settings));
  const auto rails = parts.rails->transports();
  parts.placement = services::Placement::Discover(rails);
  parts.placement->PinPollers(rails);
  const auto loops = services::AsExecutors(parts.loops);
  TD_ASSIGN_OR_RETURN(parts.supervisor,
                      services::supervisor::Supervisor::Create(settings.supervisor,
                                                               {parts.rails->executors(), loops}));
  TD_ASSIGN_OR_RETURN(parts.node, node::StorageNode::Create(StorageOf(settings, rails)));
  TD_ASSIGN_OR_RETURN(parts.flight, services::flight::Recorder::Create(
                                        {NodeName(), services::NodeRole::kStorage}, settings.state,
                                        services::convert::TraceMessages()));
  parts.registry.emplace(loops, rails, &parts.node->sessions(), &parts.flight->trails(),
                         parts.tracing.tracer());
  parts.describer.emplace(NodeName(), *parts.placement, *parts.registry);
  parts.examiner.emplace(Examined(settings, rails, *parts.placement, *parts.security, *parts.node));
  TD_ASSIGN_OR_RETURN(parts.server, services::server::Server::Create(
                                        std::move(port),
                                        ServicesOf(*parts.node, *parts.describer, *parts.flight,
                                                   *parts.examiner, *parts.registry),
                                        parts.tracing.tracer(), parts.security.get()));
  TD_ASSIGN_OR_RETURN(parts.console, services::console::Console::Create(
                                         settings.console, FactsOf(settings, *parts.server),
                                         *parts.security, *parts.server));
  parts.page.emplace(services::telemetry::NodePageSettings{.role = services::NodeRole::kStorage,
                                                           .rails = rails,
                                                           .places = parts.placement->rails(),
                                                           .spans = parts.tracing.spans()});
  dataplane::Log(dataplane::LogLevel::kInfo, "main", "storage node ready",
                 {{"listen", settings.listen}, {"port", absl::StrCat(parts.server->port())}});
  parts.admin->Serve({.metrics =
                          [&parts] {
                            return MetricsPage(*parts.page, *parts.security, *parts.server,
                                               *parts.registry, *parts.node);
                          },
                      .remark = [&parts] { return parts.node->StateHealth(); }});
  parts.supervisor->Ready();
  return std::make_unique<services::ServingOf<Parts>>(std::move(made));
}

}  // namespace tapedeck::storage_node
