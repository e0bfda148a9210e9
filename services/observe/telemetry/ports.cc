#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "services/observe/telemetry/node_page.h"
#include "services/observe/telemetry/small_file.h"

namespace tapedeck::services::telemetry {
namespace {

constexpr size_t kMostSensors = 8;

void AddTemperature(Page& page, const std::string& rail, const std::string& hwmon) {
  for (const std::string& sensor : NamesIn(hwmon, kMostSensors)) {
    const auto thousandths = ReadNumber(absl::StrCat(hwmon, "/", sensor, "/temp1_input"));
    if (!thousandths.has_value()) continue;
    return page.Add("tapedeck_rail_temperature_celsius", static_cast<double>(*thousandths) / 1000,
                    {rail});
  }
}

void AddHardwareCounters(Page& page, const std::string& rail, const std::string& port) {
  for (size_t i = 0; i < kMetricCount; ++i) {
    if (kMetrics[i].hw_counter.empty()) continue;
    const auto count = ReadNumber(absl::StrCat(port, "/hw_counters/", kMetrics[i].hw_counter));
    if (count.has_value()) page.Add(MetricId::Listed(i), *count, {rail});
  }
}

}  // namespace

void AddPort(Page& page, const std::string& rail, const std::string& device,
             const std::string& sysfs) {
  const size_t slash = device.find('/');
  if (device.empty() || absl::StrContains(device, "..")) return;
  if (slash == std::string::npos) {
    const std::string interface = absl::StrCat(sysfs, "/class/net/", device);
    if (const auto state = ReadSmallFile(interface + "/operstate")) {
      // "unknown" is what loopback and other interfaces without a link say.
      const bool up = absl::StartsWith(*state, "up") || absl::StartsWith(*state, "unknown");
      page.Add("tapedeck_rail_up", up, {rail});
    }
    return AddTemperature(page, rail, interface + "/device/hwmon");
  }
  const std::string card = absl::StrCat(sysfs, "/class/infiniband/", device.substr(0, slash));
  const std::string port = absl::StrCat(card, "/ports/", device.substr(slash + 1));
  if (const auto state = ReadSmallFile(port + "/state")) {
    page.Add("tapedeck_rail_up", absl::StartsWith(*state, "4:"), {rail});  // "4: ACTIVE"
  }
  AddTemperature(page, rail, card + "/device/hwmon");
  AddHardwareCounters(page, rail, port);
}

}  // namespace tapedeck::services::telemetry
