#include "services/site/nodes.h"

#include "services/site/units.h"

namespace tapedeck::services::tapectl {
namespace {

// For a node that shows no sign of life.
constexpr absl::Duration kCallTimeout = absl::Seconds(60);
// For one that does. Making a memory LUN touches all its pages: a few seconds for each 4 GiB, and a
// minute beside much other work.
constexpr absl::Duration kLongestCall = absl::Minutes(10);

}  // namespace

// The option has been checked when it was read.
absl::Duration Nodes::call_timeout() const {
  return timeout.empty() ? kCallTimeout : absl::Nanoseconds(*ParseDurationNs(timeout));
}

client::CallTime Nodes::call_time() const {
  if (timeout.empty()) return {kLongestCall, kCallTimeout};
  return call_timeout();
}

std::unique_ptr<client::CatalogClient> Nodes::Catalog() const {
  return std::make_unique<client::CatalogClient>(client::MakeChannel(storage, trace, credentials),
                                                 call_time());
}

std::unique_ptr<client::JobsClient> Nodes::Jobs() const {
  return std::make_unique<client::JobsClient>(client::MakeChannel(worker, trace, credentials),
                                              call_time());
}

std::unique_ptr<client::InletClient> Nodes::Inlets() const {
  return std::make_unique<client::InletClient>(client::MakeChannel(worker, trace, credentials),
                                               call_time());
}

std::unique_ptr<client::RecorderClient> Nodes::Recorder() const {
  return std::make_unique<client::RecorderClient>(client::MakeChannel(storage, trace, credentials),
                                                  call_time());
}

std::unique_ptr<client::ViewClient> Nodes::View() const {
  return std::make_unique<client::ViewClient>(client::MakeChannel(storage, trace, credentials),
                                              call_time());
}

}  // namespace tapedeck::services::tapectl
