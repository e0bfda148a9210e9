// The nodes that a program asks, and how long it waits for their answers.
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "services/base/trace/span.h"
#include "services/rpc/client/calls/call_limits.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/inlet_client.h"
#include "services/rpc/client/jobs_client.h"
#include "services/rpc/client/recorder_client.h"
#include "services/rpc/client/view_client.h"

namespace tapedeck::services::tapectl {

// One thread.
struct Nodes {
  std::string storage = "localhost:7400";  // one node, or several: A,B,C
  std::string worker = "localhost:7500";
  std::string timeout;  // of a call, "90s"; empty: the default

  telemetry::trace::Branch trace;   // what the calls are part of
  client::Credentials credentials;  // none: plain text

  // `timeout`, or 60 s.
  absl::Duration call_timeout() const;
  // `timeout`, or 10 minutes, of which the node shows no sign of life for 60 s at most.
  client::CallTime call_time() const;

  std::unique_ptr<client::CatalogClient> Catalog() const;
  std::unique_ptr<client::JobsClient> Jobs() const;
  std::unique_ptr<client::InletClient> Inlets() const;
  std::unique_ptr<client::RecorderClient> Recorder() const;
  std::unique_ptr<client::ViewClient> View() const;
};

}  // namespace tapedeck::services::tapectl
