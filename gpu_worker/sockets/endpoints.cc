#include "gpu_worker/sockets/endpoints.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

std::optional<uint16_t> ReadPort(absl::string_view text) {
  uint32_t port = 0;
  if (text.size() > 5 || !std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &port) || port == 0 || port > UINT16_MAX) {
    return std::nullopt;
  }
  return static_cast<uint16_t>(port);
}

}  // namespace

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
    const std::optional<uint16_t> first = ReadPort(ports.first);
    const std::optional<uint16_t> last = ReadPort(one ? ports.first : ports.second);
    good = good && first.has_value() && last.has_value() && *first <= *last;
    out.first_port = first.value_or(0);
    out.last_port = last.value_or(0);
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
