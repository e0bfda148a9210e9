#include "services/observe/telemetry/page.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"

namespace tapedeck::services::telemetry {
namespace {

absl::string_view NameOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      break;
  }
  return "histogram";
}

// Whoever scrapes refuses a page with what is no UTF-8.
std::string LabelValue(absl::string_view value) {
  std::string out;
  while (!value.empty() && out.size() < kMaxLabelBytes) {
    const size_t bytes = dataplane::PrintableBytes(value);
    if (value[0] == '"' || value[0] == '\\') out.push_back('\\');
    if (value[0] == '\n') {
      out += "\\n";
    } else {
      absl::StrAppend(&out, bytes == 0 ? "?" : value.substr(0, bytes));
    }
    value.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return absl::StrFormat("%.15g", value);
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

Family FamilyOf(MetricId metric) {
  if (metric.family() < kMetricCount) {
    const Metric& listed = kMetrics[metric.family()];
    return {std::string(listed.name), listed.type, listed.labels, listed.help};
  }
  const dataplane::CounterInfo& counter = dataplane::kCounters[metric.family() - kMetricCount];
  return {absl::StrCat("tapedeck_", counter.name, "_total"), MetricType::kCounter, "direction",
          counter.help};
}

void Page::Add(MetricId metric, double value, Labels labels) {
  AddSample(metric, "", labels, "", Number(value));
}

void Page::Add(MetricId metric, const dataplane::Histogram& histogram, Labels labels) {
  const auto counts = histogram.counts();
  uint64_t below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    const bool last = i == histogram.kBoundsNs.size();
    const std::string bound = last ? "+Inf" : Number(Seconds(histogram.kBoundsNs[i]));
    AddSample(metric, "_bucket", labels, absl::StrCat("le=\"", bound, "\""), absl::StrCat(below));
  }
  AddSample(metric, "_sum", labels, "", Number(Seconds(histogram.sum_ns())));
  AddSample(metric, "_count", labels, "", absl::StrCat(below));
}

void Page::AddSample(MetricId metric, absl::string_view suffix, Labels labels,
                     absl::string_view more, absl::string_view value) {
  const Family family = FamilyOf(metric);
  const std::vector<absl::string_view> names =
      absl::StrSplit(family.labels, ',', absl::SkipEmpty());
  std::string written;
  for (size_t i = 0; i < std::min(names.size(), labels.size()); ++i) {
    absl::StrAppend(&written, i == 0 ? "" : ",", names[i], "=\"", LabelValue(labels.begin()[i]),
                    "\"");
  }
  if (!more.empty()) absl::StrAppend(&written, written.empty() ? "" : ",", more);
  if (!written.empty()) written = absl::StrCat("{", written, "}");
  const std::string line = absl::StrCat(family.name, suffix, written, " ", value, "\n");
  if (names.size() != labels.size() || bytes_ + line.size() > limit_bytes_) {
    ++left_out_;
    return;
  }
  bytes_ += line.size();
  samples_[metric.family()] += line;
}

std::string Page::Text() const {
  constexpr MetricId kLeftOut = "tapedeck_page_samples_left_out";
  std::string text;
  for (size_t i = 0; i < kFamilies; ++i) {
    const std::string left_out =
        absl::StrCat(kMetrics[kLeftOut.family()].name, " ", left_out_, "\n");
    const std::string& samples = i == kLeftOut.family() ? left_out : samples_[i];
    if (samples.empty()) continue;
    const Family family = FamilyOf(MetricId::Listed(i));
    absl::StrAppend(&text, "# HELP ", family.name, " ", family.help, "\n# TYPE ", family.name, " ",
                    NameOf(family.type), "\n", samples);
  }
  return text;
}

}  // namespace tapedeck::services::telemetry
