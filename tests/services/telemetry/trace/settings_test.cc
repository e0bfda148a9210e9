// What OpenTelemetry's environment variables mean, and what is refused of them.
#include "services/telemetry/trace/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "services/errors.h"

namespace tapedeck::services::telemetry::trace {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

absl::StatusOr<Settings> Read(const Variables& variables) {
  return ReadSettings(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
      },
      "tapedeck-test");
}

std::string ResourceOf(const Settings& settings, const std::string& key) {
  for (const Attribute& attribute : settings.resource) {
    if (attribute.key == key) return std::get<std::string>(attribute.value);
  }
  return "(none)";
}

TEST(TraceSettingsTest, OffByDefault) {
  const auto settings = Read({});
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->endpoint, "");
  EXPECT_EQ(ResourceOf(*settings, "service.name"), "tapedeck-test");
  EXPECT_TRUE(settings->sampler.parent_based);
  EXPECT_EQ(settings->sampler.ratio, 1);
}

TEST(TraceSettingsTest, EndpointOfTracesBeforeThatOfAll) {
  const std::string all = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const std::string traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  EXPECT_EQ(Read({{all, "http://collector:4317"}})->endpoint, "collector:4317");
  EXPECT_EQ(Read({{all, "HTTP://collector:4317/"}})->endpoint, "collector:4317");
  EXPECT_EQ(Read({{all, "[::1]:4317"}})->endpoint, "[::1]:4317");
  EXPECT_EQ(Read({{all, "http://a:1"}, {traces, "http://b:2"}})->endpoint, "b:2");
  EXPECT_TRUE(Read({{all, "a:1"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}).ok());
}

TEST(TraceSettingsTest, Resource) {
  const auto settings =
      Read({{"OTEL_RESOURCE_ATTRIBUTES", "site=north%20pole, rack = 7,service.name=x"},
            {"OTEL_SERVICE_NAME", "deck"}});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(ResourceOf(*settings, "site"), "north pole");
  EXPECT_EQ(ResourceOf(*settings, "rack"), "7");
  EXPECT_EQ(ResourceOf(*settings, "service.name"), "deck");
  EXPECT_EQ(ResourceOf(*Read({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=x"}}), "service.name"),
            "x");
}

TEST(TraceSettingsTest, Sampler) {
  const auto sampler = [](const std::string& name, const std::string& argument = "") {
    return Read({{"OTEL_TRACES_SAMPLER", name}, {"OTEL_TRACES_SAMPLER_ARG", argument}})->sampler;
  };
  EXPECT_FALSE(sampler("always_on").parent_based);
  EXPECT_EQ(sampler("always_off").ratio, 0);
  EXPECT_TRUE(sampler("parentbased_always_off").parent_based);
  EXPECT_EQ(sampler("traceidratio", "0.25").ratio, 0.25);
  EXPECT_EQ(sampler("parentbased_traceidratio").ratio, 1);
}

TEST(TraceSettingsTest, WhatIsWrongIsNamed) {
  const std::pair<std::string, std::string> rows[] = {
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "collector"},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:0"},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:99999"},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317/v1/traces"},
      {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://collector:4317"},
      {"OTEL_RESOURCE_ATTRIBUTES", "site"},
      {"OTEL_RESOURCE_ATTRIBUTES", "=north"},
      {"OTEL_RESOURCE_ATTRIBUTES", "site=%2"},
      {"OTEL_RESOURCE_ATTRIBUTES", "site=" + std::string(513, 'x')},
      {"OTEL_SERVICE_NAME", std::string(513, 'x')},
      {"OTEL_TRACES_SAMPLER", "sometimes"},
      {"OTEL_TRACES_SAMPLER", "parentbased_"},
  };
  for (const auto& [name, value] : rows) {
    const absl::Status status = Read({{name, value}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << name << "=" << value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    ASSERT_TRUE(ReasonOf(status).has_value());
    EXPECT_EQ(ReasonOf(status)->reason, "ARGUMENT_INVALID");
  }
  for (const char* ratio : {"1.5", "-1", "nan", "half"}) {
    EXPECT_FALSE(
        Read({{"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", ratio}}).ok())
        << ratio;
  }
  EXPECT_FALSE(Read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "a:1"},
                     {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"}})
                   .ok());
}

TEST(TraceSettingsTest, ContextOfACommand) {
  const auto read = [](const Variables& variables) {
    return ReadContext([&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? "" : found->second;
    });
  };
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(read({{"TRACEPARENT", parent}, {"TRACESTATE", "a=1"}}).Traceparent(), parent);
  EXPECT_FALSE(read({}).valid());
  EXPECT_FALSE(read({{"TRACEPARENT", "nonsense"}}).valid());
}

}  // namespace
}  // namespace tapedeck::services::telemetry::trace
