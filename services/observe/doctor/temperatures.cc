// Network cards that are too hot.
#include "absl/strings/str_format.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {
namespace {

// Most cards throttle at 105 °C, and their optical modules go at 70 to 85.
constexpr double kHotCelsius = 90;

}  // namespace

void CheckTemperatures(const Scene& scene, const Request& /*request*/, Findings& findings) {
  for (const NodeRail& node_rail : scene.rails) {
    const RailFacts rail = FactsOf(scene, node_rail);
    const double celsius = rail.temperature_celsius.value_or(0);
    if (celsius < kHotCelsius) continue;
    findings.push_back(Found("NIC_HOT", absl::StrFormat("%s: its card has %.0f °C, %.0f is hot",
                                                        NameOf(rail), celsius, kHotCelsius)));
  }
}

}  // namespace tapedeck::services::doctor
