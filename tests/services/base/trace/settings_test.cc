// What OpenTelemetry's environment variables mean, and which warning says that one means nothing.
#include "services/base/trace/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tapedeck::services::telemetry::trace {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Settings Read(const Variables& variables) {
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
  EXPECT_EQ(settings.endpoint, "");
  EXPECT_EQ(ResourceOf(settings, "service.name"), "tapedeck-test");
  EXPECT_TRUE(settings.sampler.parent_based);
  EXPECT_EQ(settings.sampler.ratio, 1);
}

TEST(TraceSettingsTest, EndpointOfTracesBeforeThatOfAll) {
  const std::string all = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const std::string traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  EXPECT_EQ(Read({{all, "http://collector:4317"}}).endpoint, "collector:4317");
  EXPECT_EQ(Read({{all, "HTTP://collector:4317/"}}).endpoint, "collector:4317");
  EXPECT_EQ(Read({{all, "[::1]:4317"}}).endpoint, "[::1]:4317");
  EXPECT_EQ(Read({{all, "http://a:1"}, {traces, "http://b:2"}}).endpoint, "b:2");
  EXPECT_EQ(Read({{all, "a:1"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}).endpoint, "a:1");
  EXPECT_EQ(Read({{all, "a:1"}, {"OTEL_TRACES_EXPORTER", "otlp"}}).endpoint, "a:1");
}

TEST(TraceSettingsTest, Resource) {
  const auto settings =
      Read({{"OTEL_RESOURCE_ATTRIBUTES", "site=north%20pole, rack = 7,service.name=x"},
            {"OTEL_SERVICE_NAME", "deck"}});
  EXPECT_EQ(ResourceOf(settings, "site"), "north pole");
  EXPECT_EQ(ResourceOf(settings, "rack"), "7");
  EXPECT_EQ(ResourceOf(settings, "service.name"), "deck");
  EXPECT_EQ(ResourceOf(Read({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=x"}}), "service.name"),
            "x");
}

TEST(TraceSettingsTest, Sampler) {
  const auto sampler = [](const std::string& name, const std::string& argument = "") {
    return Read({{"OTEL_TRACES_SAMPLER", name}, {"OTEL_TRACES_SAMPLER_ARG", argument}}).sampler;
  };
  EXPECT_FALSE(sampler("always_on").parent_based);
  EXPECT_EQ(sampler("always_off").ratio, 0);
  EXPECT_TRUE(sampler("parentbased_always_off").parent_based);
  EXPECT_EQ(sampler("traceidratio", "0.25").ratio, 0.25);
  EXPECT_EQ(sampler("parentbased_traceidratio").ratio, 1);
}

constexpr char kEndpoint[] = "OTEL_EXPORTER_OTLP_ENDPOINT";

std::string WarningOf(const Settings& settings) {
  return settings.warnings.size() == 1 ? settings.warnings.front() : "(not one warning)";
}

// A platform sets these for all its programs, and some of those speak otherwise.
TEST(TraceSettingsTest, WithoutACollectorToReachThereAreNoTraces) {
  const std::pair<std::string, std::string> rows[] = {
      {kEndpoint, "collector"},
      {kEndpoint, "http://collector:0"},
      {kEndpoint, "http://collector:99999"},
      {kEndpoint, "http://collector:4317/v1/traces"},
      {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://collector:4317"},
      {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
      {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"},
      {"OTEL_TRACES_EXPORTER", "zipkin"},
  };
  for (const auto& [name, value] : rows) {
    Variables variables = {{kEndpoint, "http://collector:4317"}};
    variables[name] = value;
    const Settings settings = Read(variables);
    EXPECT_EQ(settings.endpoint, "") << name;
    EXPECT_THAT(WarningOf(settings), HasSubstr(name + "=" + value));
  }
}

TEST(TraceSettingsTest, WhatIsNotUnderstoodCountsAsNotSet) {
  const std::pair<std::string, std::string> rows[] = {
      {"OTEL_RESOURCE_ATTRIBUTES", "site"},
      {"OTEL_RESOURCE_ATTRIBUTES", "=north"},
      {"OTEL_RESOURCE_ATTRIBUTES", "site=%2"},
      {"OTEL_RESOURCE_ATTRIBUTES", "site=" + std::string(513, 'x')},
      {"OTEL_SERVICE_NAME", std::string(513, 'x')},
      {"OTEL_TRACES_SAMPLER", "jaeger_remote"},
      {"OTEL_TRACES_SAMPLER", "parentbased_"},
  };
  for (const auto& [name, value] : rows) {
    const Settings settings = Read({{kEndpoint, "http://collector:4317"}, {name, value}});
    EXPECT_THAT(WarningOf(settings), HasSubstr(name));
    EXPECT_EQ(settings.endpoint, "collector:4317");
    EXPECT_EQ(ResourceOf(settings, "site"), "(none)");
    EXPECT_EQ(ResourceOf(settings, "service.name"), "tapedeck-test");
    EXPECT_TRUE(settings.sampler.parent_based);
    EXPECT_EQ(settings.sampler.ratio, 1);
  }
  for (const char* ratio : {"1.5", "-1", "nan", "half"}) {
    const Settings settings =
        Read({{"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", ratio}});
    EXPECT_THAT(WarningOf(settings), HasSubstr("OTEL_TRACES_SAMPLER_ARG"));
    EXPECT_EQ(settings.sampler.ratio, 1);
  }
}

TEST(TraceSettingsTest, OffIsNoWarning) {
  const std::pair<std::string, std::string> rows[] = {{"OTEL_SDK_DISABLED", "true"},
                                                      {"OTEL_SDK_DISABLED", "TRUE"},
                                                      {"OTEL_TRACES_EXPORTER", "none"}};
  for (const auto& [name, value] : rows) {
    const Settings settings =
        Read({{kEndpoint, "http://collector:4317"}, {"OTEL_TRACES_SAMPLER", "no"}, {name, value}});
    EXPECT_EQ(settings.endpoint, "") << name;
    EXPECT_TRUE(settings.warnings.empty());
  }
  EXPECT_EQ(Read({{kEndpoint, "http://a:1"}, {"OTEL_SDK_DISABLED", "false"}}).endpoint, "a:1");
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
