#include "services/rpc/otlp/tracing.h"

#include <random>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/log.h"
#include "services/rpc/otlp/exporter.h"

namespace tapedeck::services::telemetry::otlp {
namespace {

// Long enough for a collector some way off, whose connection was made meanwhile.
constexpr absl::Duration kShortFlush = absl::Milliseconds(200);

// Of ids, which shall not meet those of another program; nobody is kept from guessing them.
class Numbers {
 public:
  uint64_t Next() {
    absl::MutexLock lock(&mutex_);
    return engine_();
  }

 private:
  static std::mt19937_64 Seeded() {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }

  absl::Mutex mutex_;
  std::mt19937_64 engine_ ABSL_GUARDED_BY(mutex_) = Seeded();
};

}  // namespace

Tracing::Tracing(const trace::Settings& settings, Life life) {
  for (const std::string& warning : settings.warnings) {
    dataplane::Log(dataplane::LogLevel::kWarning, "traces",
                   settings.endpoint.empty() ? "no traces" : "ignoring a variable that is wrong",
                   {{"why", warning}});
  }
  if (settings.endpoint.empty()) return;
  ExporterSettings exporter{.endpoint = settings.endpoint, .resource = settings.resource};
  if (life == Life::kShort) {
    exporter.flush_deadline = kShortFlush;
    exporter.tells_at_end = false;
  }
  exporter_ = std::make_unique<Exporter>(std::move(exporter), spans_);
  tracer_ = std::make_unique<trace::Tracer>(
      settings.sampler, clock_, [numbers = std::make_shared<Numbers>()] { return numbers->Next(); },
      spans_);
}

Tracing::~Tracing() = default;

}  // namespace tapedeck::services::telemetry::otlp
