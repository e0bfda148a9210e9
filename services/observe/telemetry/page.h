// The page of metrics in Prometheus' text format 0.0.4. Each metric that has samples is there once,
// in the order of the list, whatever order they come in.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dataplane/histogram.h"
#include "dataplane/transfer/counters.h"
#include "services/observe/telemetry/metrics.h"

namespace tapedeck::services::telemetry {

// Of all samples. A node with 100 LUNs and 8 rails needs a third of it.
inline constexpr size_t kMaxPageBytes = 1 << 20;

// Of one value of a label; the rest is cut.
inline constexpr size_t kMaxLabelBytes = 256;

inline constexpr size_t kFamilies = kMetricCount + std::size(dataplane::kCounters);

// One of the list, by its name: a name that is not there does not compile.
class MetricId {
 public:
  consteval MetricId(const char* name) : family_(Find(name)) {}  // NOLINT(google-explicit-*)

  static MetricId Listed(size_t number) { return MetricId(number); }
  // Of the counter with that number in dataplane/transfer/counters.h.
  static MetricId Counter(size_t number) { return MetricId(kMetricCount + number); }

  size_t family() const { return family_; }

 private:
  explicit MetricId(size_t family) : family_(family) {}
  static consteval size_t Find(absl::string_view name) {
    for (size_t i = 0; i < kMetricCount; ++i) {
      if (kMetrics[i].name == name) return i;
    }
    throw "no such metric";
  }

  size_t family_;
};

// A metric of either list.
struct Family {
  std::string name;
  MetricType type;
  absl::string_view labels;
  absl::string_view help;
};
Family FamilyOf(MetricId metric);

// One thread.
class Page {
 public:
  // The values of the metric's labels, in their order.
  using Labels = std::initializer_list<absl::string_view>;

  explicit Page(size_t limit_bytes = kMaxPageBytes) : limit_bytes_(limit_bytes) {}

  // What goes beyond the limit is left out, and counted on the page.
  void Add(MetricId metric, std::integral auto value, Labels labels = {}) {
    AddSample(metric, "", labels, "", absl::StrCat(value));
  }
  void Add(MetricId metric, double value, Labels labels = {});
  void Add(MetricId metric, const dataplane::Histogram& histogram, Labels labels = {});

  std::string Text() const;

 private:
  // `more` is another label, written.
  void AddSample(MetricId metric, absl::string_view suffix, Labels labels, absl::string_view more,
                 absl::string_view value);

  const size_t limit_bytes_;
  std::array<std::string, kFamilies> samples_;
  size_t bytes_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace tapedeck::services::telemetry
