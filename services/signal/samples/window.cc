#include "services/signal/samples/window.h"

#include <array>
#include <cmath>
#include <numbers>

namespace tapedeck::services::samples {
namespace {

constexpr size_t kTerms = 5;

struct CosineSum {
  absl::string_view name;
  std::array<double, kTerms> terms;  // a
};

// No constant expression where sanitizers look at each address.
const CosineSum kWindows[] = {
    {kNoWindow, {1}},
    {"hann", {0.5, 0.5}},
    {"hamming", {0.54, 0.46}},
    {"blackman", {0.42, 0.5, 0.08}},
    {"flattop", {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}},
};

double Weight(const std::array<double, kTerms>& terms, uint64_t n, uint32_t points) {
  double sum = 0;
  for (uint64_t k = 0; k < kTerms; ++k) {
    // Whole turns are left out, which keeps the angle exact.
    const double turn = static_cast<double>(k * n % points) / points;
    sum += (k % 2 == 0 ? 1 : -1) * terms[k] * std::cos(2 * std::numbers::pi * turn);
  }
  return sum;
}

}  // namespace

std::vector<std::string> WindowNames() {
  std::vector<std::string> names;
  for (const CosineSum& window : kWindows) names.emplace_back(window.name);
  return names;
}

std::vector<double> WindowWeights(absl::string_view window, uint32_t points) {
  std::vector<double> weights;
  for (const CosineSum& known : kWindows) {
    if (known.name != window) continue;
    for (uint32_t n = 0; n < points; ++n) weights.push_back(Weight(known.terms, n, points));
  }
  return weights;
}

}  // namespace tapedeck::services::samples
