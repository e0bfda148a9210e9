#include "services/base/addresses/resolve.h"

#include <netdb.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/reason.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/addresses/service_records.h"
#include "services/base/errors.h"

namespace tapedeck::services::naming {
namespace {

using Nodes = absl::StatusOr<std::vector<std::string>>;

absl::Status Wrong(const absl::Status& why) { return ArgumentInvalid("storage", why.message()); }

absl::Status NoNodes(const std::string& list, absl::string_view why) {
  return NodeUnreachable(list, absl::StrCat("resolve(", list, "): ", why));
}

absl::Status Failed(const std::string& list, int error) {
  const bool silent = error == EAI_AGAIN;
  return NoNodes(list, silent ? "no name server answers" : gai_strerror(error));
}

// The addresses of one kind of a host.
std::set<std::string> AddressesOf(const addrinfo* found, int family) {
  std::set<std::string> out;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != family) continue;
    if (const std::string text = dataplane::SocketAddress(*each).host(); !text.empty())
      out.insert(text);
  }
  return out;
}

Nodes NodesAtHost(const std::string& list, const NodeName& host) {
  if (absl::StartsWith(host.host, "[")) return std::vector<std::string>{host.text()};
  const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.host.c_str(), nullptr, &hints, &found); error != 0) {
    return Failed(list, error);
  }
  std::set<std::string> addresses = AddressesOf(found, AF_INET);
  if (addresses.empty()) addresses = AddressesOf(found, AF_INET6);
  freeaddrinfo(found);
  std::vector<std::string> nodes;
  for (const std::string& address : addresses) {
    NodeName node = host;
    node.address = addresses.size() > 1 ? address : "";
    nodes.push_back(node.text());
  }
  return nodes;
}

Nodes NodesOfService(const std::string& list, const std::string& name, const Lookup& lookup) {
  absl::StatusOr<std::vector<ServiceRecord>> records = AskForService(name, lookup.server);
  if (!records.ok()) return NoNodes(list, records.status().message());
  std::ranges::sort(*records, {}, [](const ServiceRecord& one) {
    return std::tuple(one.priority, one.host, one.port);
  });
  std::vector<std::string> nodes;
  for (const ServiceRecord& record : *records) {
    const std::string node = absl::StrCat(record.host, ":", record.port);
    if (const absl::Status named = CheckNodeName(node); !named.ok()) {
      return NoNodes(list, absl::StrCat("it names ", named.message()));
    }
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  return nodes;
}

// What `ask` says, on a thread of its own, if it says it in time.
Nodes Within(absl::Duration timeout, const std::string& list, std::function<Nodes()> ask) {
  struct Asked {
    absl::Mutex mutex;
    bool done ABSL_GUARDED_BY(mutex) = false;
    Nodes nodes ABSL_GUARDED_BY(mutex);
  };
  auto asked = std::make_shared<Asked>();
  TD_ASSIGN_OR_RETURN(std::thread thread, dataplane::StartThread("resolve", [asked, ask] {
                        Nodes nodes = ask();
                        absl::MutexLock lock(&asked->mutex);
                        asked->nodes = std::move(nodes);
                        asked->done = true;
                      }));
  thread.detach();
  absl::MutexLock lock(&asked->mutex);
  if (dataplane::AwaitFor(asked->mutex, absl::Condition(&asked->done), timeout))
    return asked->nodes;
  return NoNodes(list,
                 absl::StrCat("no name server answers within ", absl::FormatDuration(timeout)));
}

absl::StatusOr<std::function<Nodes()>> Question(const std::string& list, const Lookup& lookup) {
  if (absl::StartsWithIgnoreCase(list, "srv:")) {
    const absl::StatusOr<std::string> name = ParseServiceName(list);
    if (!name.ok()) return Wrong(name.status());
    return [=, name = *name] { return NodesOfService(list, name, lookup); };
  }
  const absl::StatusOr<NodeName> host = ParseNodeName(list);
  if (!host.ok()) return Wrong(host.status());
  return [=, host = *host] { return NodesAtHost(list, host); };
}

}  // namespace

Nodes NodesOf(const std::string& list, const Lookup& lookup) {
  TD_ASSIGN_OR_RETURN(std::function<Nodes()> ask, Question(list, lookup));
  TD_ASSIGN_OR_RETURN(std::vector<std::string> nodes, Within(lookup.timeout, list, std::move(ask)));
  if (nodes.empty()) return NoNodes(list, "it has no nodes");
  if (nodes.size() <= kMaxNodes) return nodes;
  return ArgumentInvalid("storage", absl::StrCat(list, " has ", nodes.size(), " nodes; at most ",
                                                 kMaxNodes, " are allowed"));
}

}  // namespace tapedeck::services::naming
