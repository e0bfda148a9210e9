#include "gpu_worker/sockets/endpoints.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
#include "dataplane/socket_address.h"

namespace tapedeck::gpu_worker::sockets {

using dataplane::ParsePort;

absl::StatusOr<Endpoints> Endpoints::Parse(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  Endpoints out;
  in_addr address{};
  bool good = inet_pton(AF_INET, std::string(parts.first).c_str(), &address) == 1;
  out.address = ntohl(address.s_addr);
  if (parts.second != "*") {
    const std::pair<absl::string_view, absl::string_view> ports =
        absl::StrSplit(parts.second, absl::MaxSplits('-', 1));
    const bool one = parts.second.find('-') == absl::string_view::npos;
    const uint16_t first = ParsePort(ports.first).value_or(0);
    const uint16_t last = ParsePort(one ? ports.first : ports.second).value_or(0);
    good = good && first != 0 && first <= last;
    out.first_port = first;
    out.last_port = last;
  }
  if (good) return out;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", dataplane::Printable(text),
                   "\" is no ADDRESS:PORT, ADDRESS:FIRST-LAST or ADDRESS:* of an IPv4 address"));
}

bool Endpoints::Has(uint32_t of_address, uint32_t port) const {
  if (of_address != address || port > UINT16_MAX) return false;
  return first_port == 0 || (port >= first_port && port <= last_port);
}

bool AnyHas(const std::vector<Endpoints>& list, uint32_t address, uint32_t port) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Endpoints& endpoints) { return endpoints.Has(address, port); });
}

std::string EndpointText(uint32_t address, uint32_t port) {
  return absl::StrCat(address >> 24, ".", address >> 16 & 255, ".", address >> 8 & 255, ".",
                      address & 255, ":", port);
}

}  // namespace tapedeck::gpu_worker::sockets
