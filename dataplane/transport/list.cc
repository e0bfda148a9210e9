#include "dataplane/transport/list.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/inproc/transport.h"
#include "dataplane/transport/tcp/transport.h"
#include "dataplane/transport/verbs/transport.h"

namespace tapedeck::dataplane {

std::vector<TransportKind> TransportKinds() {
  // One network for all that come from this list.
  const auto fabric = std::make_shared<inproc::Fabric>();
  const auto create_inproc = [fabric](
                                 const RailSpec& spec,
                                 EventLoop& poller) -> absl::StatusOr<std::unique_ptr<Transport>> {
    return inproc::Create(spec.name, poller, fabric);
  };
  return {{"tcp", "127.0.0.1", tcp::Usable, tcp::Create},
          {"verbs", verbs::LoopbackAddress(), verbs::Usable, verbs::Create},
          {"inproc", "process", [] { return absl::OkStatus(); }, create_inproc}};
}

absl::StatusOr<RailSpec> ParseRailSpec(const std::string& text) {
  const auto bad = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("rail \"", text, "\": ", why, "; expected NAME=KIND:ADDRESS[:PORT]"));
  };
  const size_t equals = text.find('=');
  const size_t colon = text.find(':', equals);
  if (equals == 0 || equals == std::string::npos || colon == std::string::npos) {
    return bad("incomplete");
  }
  if (equals > kMaxRailNameBytes) return bad("its name is longer than 63 bytes");
  RailSpec spec{.name = text.substr(0, equals),
                .kind = text.substr(equals + 1, colon - equals - 1)};
  std::string rest = text.substr(colon + 1);
  std::string port;
  if (!rest.empty() && rest[0] == '[') {  // [IPv6]:PORT
    const size_t end = rest.find(']');
    if (end == std::string::npos) return bad("no closing bracket");
    if (end + 1 < rest.size()) port = rest.substr(end + 2);
    rest = rest.substr(1, end - 1);
  } else if (const size_t at = rest.find(':'); at != std::string::npos && at == rest.rfind(':')) {
    port = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  spec.address = rest;
  uint32_t number = 0;
  if (!port.empty() && (!absl::SimpleAtoi(port, &number) || number > 65535)) return bad("bad port");
  spec.port = static_cast<uint16_t>(number);
  if (spec.address.empty()) return bad("no address");
  return spec;
}

namespace {

// The kind `auto`: RDMA where the address belongs to an RDMA port, else TCP. Says which and why.
absl::StatusOr<std::unique_ptr<Transport>> CreateBest(const RailSpec& spec, EventLoop& poller) {
  absl::StatusOr<std::unique_ptr<Transport>> best = verbs::Create(spec, poller);
  Log(best.ok() ? LogLevel::kInfo : LogLevel::kWarning, "transport",
      best.ok() ? "auto: this rail uses RDMA" : "auto: this rail uses TCP",
      {{"rail", spec.name},
       {"why",
        best.ok() ? "the address belongs to an RDMA port" : std::string(best.status().message())}});
  if (best.ok()) return best;
  RailSpec second = spec;
  second.kind = "tcp";
  return tcp::Create(second, poller);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> CreateTransport(const RailSpec& spec,
                                                           EventLoop& poller) {
  if (spec.kind == "auto") return CreateBest(spec, poller);
  std::string known = "auto";
  for (const TransportKind& kind : TransportKinds()) {
    if (kind.kind == spec.kind) {
      TD_RETURN_IF_ERROR(kind.usable());
      return kind.create(spec, poller);
    }
    absl::StrAppend(&known, ", ", kind.kind);
  }
  return absl::InvalidArgumentError(absl::StrCat("rail ", spec.name, ": no transport \"", spec.kind,
                                                 "\" in this build, only ", known));
}

}  // namespace tapedeck::dataplane
