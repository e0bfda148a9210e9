#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/transport/wire_share.h"
#include "services/observe/doctor/checks.h"
#include "services/observe/telemetry/small_file.h"

namespace tapedeck::services::doctor {
namespace {

constexpr size_t kMostSensors = 8;
constexpr size_t kMostInterfaces = 16;

double NumberIn(const Scene& scene, const std::string& path) {
  // "25 Gb/sec (1X EDR)"
  const std::string text = TextIn(scene, path);
  double number = 0;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(' ', 1));
  return absl::SimpleAtod(parts.first, &number) ? number : 0;
}

uint64_t BitsPerS(const Scene& scene, const std::string& port, const std::string& interface) {
  const double gbits = port.empty() ? 0 : NumberIn(scene, absl::StrCat(port, "/rate"));
  if (gbits > 0) return static_cast<uint64_t>(gbits * 1e9);
  // -1, or no file's content at all, where the interface has no speed.
  const double mbits = NumberIn(scene, absl::StrCat("/sys/class/net/", interface, "/speed"));
  return mbits > 0 ? static_cast<uint64_t>(mbits * 1e6) : 0;
}

// Of the card that a directory of /sys belongs to.
std::optional<double> TemperatureOf(const Scene& scene, const std::string& device) {
  const std::string hwmon = absl::StrCat(scene.root, device, "/device/hwmon");
  for (const std::string& sensor : telemetry::NamesIn(hwmon, kMostSensors)) {
    const auto thousandths =
        telemetry::ReadNumber(absl::StrCat(hwmon, "/", sensor, "/temp1_input"));
    if (thousandths.has_value()) return static_cast<double>(*thousandths) / 1000;
  }
  return std::nullopt;
}

void SetLimits(RailFacts& facts) {
  const bool roce = facts.transport == "verbs";
  const auto limit = [&](uint32_t mtu, uint32_t path_mtu) {
    const double share = roce ? dataplane::RoceShare(path_mtu) : dataplane::TcpShare(mtu);
    return static_cast<uint64_t>(static_cast<double>(facts.bits_per_s) / 8 * share);
  };
  facts.limit_bytes_per_s = limit(facts.mtu_bytes, facts.path_mtu_bytes);
  facts.best_limit_bytes_per_s =
      limit(std::max(facts.mtu_bytes, dataplane::kBestInterfaceMtu), dataplane::kBestRoceMtu);
}

}  // namespace

std::string TextIn(const Scene& scene, const std::string& path) {
  const auto text = telemetry::ReadSmallFile(absl::StrCat(scene.root, path));
  return std::string(absl::StripAsciiWhitespace(text.value_or("")));
}

std::string RdmaPortOf(const NodeRail& rail) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(rail.rail.device, absl::MaxSplits('/', 1));
  if (rail.rail.transport != "verbs" || parts.second.empty()) return "";
  return absl::StrCat("/sys/class/infiniband/", parts.first, "/ports/", parts.second);
}

std::string InterfaceOf(const Scene& scene, const NodeRail& rail) {
  std::string interface = scene.interface_of(rail.rail.address);
  const std::string port = RdmaPortOf(rail);
  for (size_t i = 0; interface.empty() && !port.empty() && i < kMostInterfaces; ++i) {
    interface = TextIn(scene, absl::StrCat(port, "/gid_attrs/ndevs/", i));
  }
  return interface;
}

RailFacts FactsOf(const Scene& scene, const NodeRail& rail) {
  RailFacts facts{.name = rail.rail.name,
                  .transport = rail.rail.transport,
                  .address = rail.rail.address,
                  .interface = InterfaceOf(scene, rail)};
  const int prefix_bits = dataplane::topology::PrefixBitsOf(facts.address);
  facts.prefix_bits = static_cast<uint32_t>(prefix_bits);
  if (facts.interface.empty()) return facts;
  const std::string interface = absl::StrCat("/sys/class/net/", facts.interface);
  facts.mtu_bytes = static_cast<uint32_t>(NumberIn(scene, interface + "/mtu"));
  const std::string port = RdmaPortOf(rail);
  if (!port.empty()) facts.path_mtu_bytes = dataplane::RoceMtuOf(facts.mtu_bytes);
  facts.bits_per_s = BitsPerS(scene, port, facts.interface);
  facts.temperature_celsius = TemperatureOf(scene, interface);
  SetLimits(facts);
  return facts;
}

std::string NameOf(const RailFacts& rail) {
  const std::string interface = rail.interface.empty() ? "" : absl::StrCat(", ", rail.interface);
  return absl::StrCat("rail ", rail.name, " (", rail.address, interface, ")");
}

}  // namespace tapedeck::services::doctor
