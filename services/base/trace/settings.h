// What OpenTelemetry's environment variables say of tracing. Read once, in the settings of a
// program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "services/base/trace/context.h"
#include "services/base/trace/span.h"

namespace tapedeck::services::telemetry::trace {

// Of OTEL_RESOURCE_ATTRIBUTES.
inline constexpr size_t kMaxResourceAttributes = 32;

struct Settings {
  std::string endpoint;             // HOST:PORT of the collector; empty: tracing is off
  std::vector<Attribute> resource;  // which program it is
  Sampler sampler;
  std::vector<std::string> warnings;  // each names a variable and what is wrong with it
};

// The value of a variable; empty: it is not set.
using Environment = std::function<std::string(const char* name)>;

// That of the process.
std::string FromProcess(const char* name);

// Of a program that is called `service` unless the environment says otherwise. Operators set these
// variables for all programs of a machine: what is not understood is a warning, and counts as not
// set, as OpenTelemetry's specification of them asks; without a collector that can be reached so,
// there are no traces.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
Settings ReadSettings(const Environment& environment, const std::string& service);

// Of TRACEPARENT and TRACESTATE, which say what a command is part of; not valid where there is
// none, or what is there is wrong.
TraceContext ReadContext(const Environment& environment);

}  // namespace tapedeck::services::telemetry::trace
