#include "services/base/trace/settings.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/version.h"

namespace tapedeck::services::telemetry::trace {
namespace {

// OpenTelemetry's rule for a value that a program does not understand: it warns, and goes on as if
// the variable were not set.
absl::Status Wrong(absl::string_view name, absl::string_view value, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, "=", value.substr(0, kMaxTextBytes), ": ", why));
}

bool IsOff(const Environment& environment) {
  return absl::EqualsIgnoreCase(environment("OTEL_SDK_DISABLED"), "true") ||
         environment("OTEL_TRACES_EXPORTER") == "none";
}

absl::Status CheckExporter(const Environment& environment) {
  const std::string exporter = environment("OTEL_TRACES_EXPORTER");
  if (exporter.empty() || exporter == "otlp") return absl::OkStatus();
  return Wrong("OTEL_TRACES_EXPORTER", exporter, "expected otlp or none");
}

// The one for traces alone counts before the one for all signals.
std::pair<std::string, std::string> ForTraces(const Environment& environment,
                                              const std::string& rest) {
  const std::string traces = absl::StrCat("OTEL_EXPORTER_OTLP_TRACES_", rest);
  const std::string all = absl::StrCat("OTEL_EXPORTER_OTLP_", rest);
  const std::string value = environment(traces.c_str());
  return value.empty() ? std::pair(all, environment(all.c_str())) : std::pair(traces, value);
}

absl::StatusOr<std::string> ReadEndpoint(const Environment& environment) {
  const auto [name, value] = ForTraces(environment, "ENDPOINT");
  absl::string_view address = value;
  if (address.empty()) return std::string();
  if (absl::StartsWithIgnoreCase(address, "https://")) {
    return Wrong(name, value,
                 "connections to a collector are not encrypted here: http://HOST:PORT");
  }
  if (absl::StartsWithIgnoreCase(address, "http://")) address.remove_prefix(sizeof("http://") - 1);
  absl::ConsumeSuffix(&address, "/");
  const auto collector = naming::ParseNodeName(address);
  if (!collector.ok())
    return Wrong(name, value, "expected http://HOST:PORT, e.g. http://127.0.0.1:4317");
  const auto [protocol_name, protocol] = ForTraces(environment, "PROTOCOL");
  if (!protocol.empty() && protocol != "grpc") {
    return Wrong(protocol_name, protocol, "only grpc is spoken here");
  }
  TD_RETURN_IF_ERROR(CheckExporter(environment));
  return collector->text();
}

// "%20" and the like.
absl::StatusOr<std::string> Decoded(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const absl::string_view digits = text.substr(i + 1, 2);
    if (digits.size() != 2 || !absl::ascii_isxdigit(digits[0]) ||
        !absl::ascii_isxdigit(digits[1])) {
      return absl::InvalidArgumentError("a % is not followed by two hexadecimal digits");
    }
    out += absl::HexStringToBytes(digits);
    i += 2;
  }
  return out;
}

absl::StatusOr<std::vector<Attribute>> ReadResource(const Environment& environment) {
  constexpr char kName[] = "OTEL_RESOURCE_ATTRIBUTES";
  std::vector<Attribute> resource;
  const std::string value = environment(kName);
  for (const absl::string_view entry : absl::StrSplit(value, ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    const absl::string_view key = absl::StripAsciiWhitespace(parts.first);
    if (key.empty() || !absl::StrContains(entry, '=')) {
      return Wrong(kName, value, "expected KEY=VALUE,KEY=VALUE");
    }
    const auto decoded = Decoded(absl::StripAsciiWhitespace(parts.second));
    if (!decoded.ok()) {
      const absl::string_view why = decoded.status().message();
      return Wrong(kName, value, why);
    }
    if (key.size() > kMaxTextBytes || decoded->size() > kMaxTextBytes ||
        resource.size() >= kMaxResourceAttributes) {
      return Wrong(kName, value,
                   absl::StrCat("more than ", kMaxResourceAttributes, " attributes, or one longer ",
                                "than ", kMaxTextBytes, " bytes"));
    }
    resource.push_back({std::string(key), *decoded});
  }
  return resource;
}

// The program's name and version, and whether the name was one.
absl::Status AddService(const Environment& environment, const std::string& service,
                        std::vector<Attribute>& resource) {
  std::string name = environment("OTEL_SERVICE_NAME");
  const bool is_long = name.size() > kMaxTextBytes;
  if (is_long) name.clear();
  const auto named = std::ranges::find(resource, "service.name", &Attribute::key);
  if (named == resource.end()) {
    if (name.empty()) name = service;
    resource.push_back({"service.name", std::move(name)});
  } else if (!name.empty()) {
    named->value = std::move(name);
  }
  if (std::ranges::find(resource, "service.version", &Attribute::key) == resource.end()) {
    resource.push_back({"service.version", std::string(kVersion)});
  }
  return is_long ? Wrong("OTEL_SERVICE_NAME", environment("OTEL_SERVICE_NAME"), "is too long")
                 : absl::OkStatus();
}

absl::StatusOr<Sampler> ReadSampler(const Environment& environment) {
  const std::string name = environment("OTEL_TRACES_SAMPLER");
  absl::string_view kind = name;
  Sampler sampler;
  sampler.parent_based = name.empty() || absl::ConsumePrefix(&kind, "parentbased_");
  if (kind == "always_off") {
    sampler.ratio = 0;
  } else if (kind == "traceidratio") {
    const std::string argument = environment("OTEL_TRACES_SAMPLER_ARG");
    const bool number = argument.empty() || absl::SimpleAtod(argument, &sampler.ratio);
    if (!number || !(sampler.ratio >= 0 && sampler.ratio <= 1)) {
      return Wrong("OTEL_TRACES_SAMPLER_ARG", argument, "expected a number from 0 to 1");
    }
  } else if (!name.empty() && kind != "always_on") {
    return Wrong("OTEL_TRACES_SAMPLER", name,
                 "expected always_on, always_off or traceidratio, or one of them after "
                 "parentbased_");
  }
  return sampler;
}

}  // namespace

std::string FromProcess(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Settings ReadSettings(const Environment& environment, const std::string& service) {
  Settings settings;
  if (IsOff(environment)) return settings;
  // The value, or what a program has whose environment says nothing.
  const auto understood = [&settings](auto value) {
    if (value.ok()) return *std::move(value);
    settings.warnings.emplace_back(value.status().message());
    return typename decltype(value)::value_type();
  };
  settings.endpoint = understood(ReadEndpoint(environment));
  settings.sampler = understood(ReadSampler(environment));
  settings.resource = understood(ReadResource(environment));
  const absl::Status named = AddService(environment, service, settings.resource);
  if (!named.ok()) settings.warnings.emplace_back(named.message());
  return settings;
}

TraceContext ReadContext(const Environment& environment) {
  return ParseTraceContext(environment("TRACEPARENT"), environment("TRACESTATE"));
}

}  // namespace tapedeck::services::telemetry::trace
