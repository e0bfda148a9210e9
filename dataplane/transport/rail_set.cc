#include "dataplane/transport/rail_set.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/topology/interfaces.h"

namespace tapedeck::dataplane {
namespace {

// An interface in the place of an address gives its own, as it is now.
absl::Status FindAddress(RailSpec& spec) {
  if (spec.interface.empty()) return absl::OkStatus();
  std::string address = topology::AddressOf(spec.interface);
  if (address.empty()) {
    return absl::UnavailableError(absl::StrCat(
        "rail ", spec.name, ": no interface ", spec.interface, " with an IP address here, only ",
        absl::StrJoin(topology::InterfacesWithAddresses(), ", ")));
  }
  spec.address = std::move(address);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RailSet>> RailSet::Create(const std::vector<std::string>& texts,
                                                         RailUse use) {
  auto set = std::unique_ptr<RailSet>(new RailSet());
  TD_RETURN_IF_ERROR(CheckRails(texts));
  for (const std::string& text : texts) {
    TD_ASSIGN_OR_RETURN(RailSpec spec, ParseRailSpec(text));
    TD_RETURN_IF_ERROR(FindAddress(spec));
    spec.listen = use.listen;
    spec.tls = use.tls;
    TD_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> poller,
                        EventLoop::Create(absl::StrCat("rail-", spec.name)));
    TD_ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, CreateTransport(spec, *poller));
    const RailDescription& rail = transport->rail();
    Log(LogLevel::kInfo, "transport", "rail ready",
        {{"rail", rail.name},
         {"transport", rail.transport},
         {"address", rail.address},
         {"port", absl::StrCat(rail.port)},
         {"tls", rail.tls ? "on" : "off"}});
    set->pollers_.push_back(std::move(poller));
    set->transports_.push_back(std::move(transport));
  }
  return set;
}

std::vector<Transport*> RailSet::transports() const {
  std::vector<Transport*> pointers;
  for (const auto& transport : transports_) pointers.push_back(transport.get());
  return pointers;
}

std::vector<Executor*> RailSet::executors() const {
  std::vector<Executor*> pointers;
  for (const auto& poller : pollers_) pointers.push_back(poller.get());
  return pointers;
}

}  // namespace tapedeck::dataplane
