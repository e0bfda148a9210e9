#include "dataplane/transport/list.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/rail_tls.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "dataplane/topology/interfaces.h"
#include "dataplane/transport/inproc/transport.h"
#include "dataplane/transport/ipc/transport.h"
#include "dataplane/transport/tcp/kernel_tls.h"
#include "dataplane/transport/tcp/socket.h"
#include "dataplane/transport/tcp/transport.h"
#include "dataplane/transport/verbs/transport.h"

namespace tapedeck::dataplane {

std::vector<TransportKind> TransportKinds() {
  // One network for all that come from this list.
  const auto fabric = std::make_shared<inproc::Fabric>();
  const auto create_inproc =
      [fabric](const RailSpec& spec,
               const Pollers& pollers) -> absl::StatusOr<std::unique_ptr<Transport>> {
    return inproc::Create(spec.name, {pollers.begin(), pollers.end()}, fabric);
  };
  return {{"tcp", "127.0.0.1", tcp::Usable, tcp::Create},
          {"verbs", verbs::LoopbackAddress(), verbs::Usable, verbs::Create},
          {kIpcTransport, "127.0.0.1", tcp::Usable, ipc::Create},
          {"inproc", "process", [] { return absl::OkStatus(); }, create_inproc}};
}

namespace {

// The kind `auto`: RDMA where the address belongs to an RDMA port, else TCP. Says which and why.
absl::StatusOr<std::unique_ptr<Transport>> CreateBest(const RailSpec& spec,
                                                      const Pollers& pollers) {
  absl::StatusOr<std::unique_ptr<Transport>> best =
      spec.tls ? absl::UnavailableError("RDMA cannot encrypt") : verbs::Create(spec, pollers);
  Log(best.ok() ? LogLevel::kInfo : LogLevel::kWarning, "transport",
      best.ok() ? "auto: this rail uses RDMA" : "auto: this rail uses TCP",
      {{"rail", spec.name},
       {"why",
        best.ok() ? "the address belongs to an RDMA port" : std::string(best.status().message())}});
  if (best.ok()) return best;
  RailSpec second = spec;
  second.kind = "tcp";
  return tcp::Create(second, pollers);
}

absl::StatusOr<TransportKind> FindKind(const RailSpec& spec) {
  std::string known = "auto";
  for (TransportKind& kind : TransportKinds()) {
    if (kind.kind == spec.kind) return std::move(kind);
    absl::StrAppend(&known, ", ", kind.kind);
  }
  return absl::InvalidArgumentError(absl::StrCat("rail ", spec.name, ": no transport \"", spec.kind,
                                                 "\" in this build, only ", known));
}

// This machine has the address of the rail, of whatever kind but inproc.
absl::Status CheckAddress(const RailSpec& spec) {
  const absl::Status bound = tcp::TryBind(spec.address);
  if (!absl::IsUnavailable(bound)) return Prefixed(absl::StrCat("rail ", spec.name, ": "), bound);
  return absl::UnavailableError(absl::StrCat(
      "rail ", spec.name, ": ", std::string(bound.message()),
      "; give an address of this machine (ip address), or an interface, e.g. ", spec.name, "=",
      spec.kind, ":%", absl::StrJoin(topology::InterfacesWithAddresses(), ", %")));
}

}  // namespace

absl::Status CheckRail(const std::string& text) {
  TD_ASSIGN_OR_RETURN(const RailSpec spec, ParseRailSpec(text));
  return spec.kind == "auto" ? absl::OkStatus() : FindKind(spec).status();
}

absl::Status CheckRails(const std::vector<std::string>& texts) {
  std::set<std::string> names;
  for (const std::string& text : texts) {
    TD_RETURN_IF_ERROR(CheckRail(text));
    TD_ASSIGN_OR_RETURN(const RailSpec spec, ParseRailSpec(text));
    if (names.insert(spec.name).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("rail ", spec.name, " is given twice"));
  }
  if (!names.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("no rail given; pass --rail NAME=KIND:ADDRESS");
}

absl::Status CheckUsable(const RailSpec& spec) {
  const bool by_tcp = spec.kind == "tcp" || spec.kind == "auto";  // RDMA cannot encrypt
  if (by_tcp) TD_RETURN_IF_ERROR(CheckAddress(spec));
  if (spec.tls && by_tcp) TD_RETURN_IF_ERROR(tcp::TryKernelTls(spec.name, spec.address));
  if (spec.kind == "auto") return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const TransportKind kind, FindKind(spec));
  if (spec.tls && kind.kind != "tcp") {
    return RailTlsUnusable(
        spec.name, absl::StrCat("rail ", spec.name, ": ", kind.kind,
                                " cannot encrypt, and --rail-tls is on; use tcp, or leave "
                                "--rail-tls out and give the rail its own network (VLAN, MACsec)"));
  }
  TD_RETURN_IF_ERROR(kind.usable());
  return by_tcp || kind.kind == "inproc" ? absl::OkStatus() : CheckAddress(spec);
}

absl::StatusOr<std::unique_ptr<Transport>> CreateTransport(const RailSpec& spec,
                                                           const Pollers& pollers) {
  TD_RETURN_IF_ERROR(CheckUsable(spec));
  if (spec.kind == "auto") return CreateBest(spec, pollers);
  TD_ASSIGN_OR_RETURN(const TransportKind kind, FindKind(spec));
  return kind.create(spec, pollers);
}

}  // namespace tapedeck::dataplane
