// A call is told of at both ends, and carries the trace from one to the other.
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "services/rpc/client/jobs_client.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/server.h"
#include "tests/services/base/trace/traced.h"
#include "tests/services/fake_worker.h"

namespace tapedeck::services::server {
namespace {

namespace trace = telemetry::trace;

using ::testing::SizeIs;

constexpr char kStart[] = "tapedeck.v1.PipelineService/StartRecord";

std::string TextOf(const trace::SpanData& span, absl::string_view key) {
  for (const trace::Attribute& attribute : span.attributes) {
    if (attribute.key == key) return std::get<std::string>(attribute.value);
  }
  return "(none)";
}

class TracedCalls : public testing::Test {
 protected:
  client::JobsClient Client(const trace::Branch& branch) {
    return {client::MakeChannel(absl::StrCat("127.0.0.1:", server_->port()), branch),
            absl::Seconds(20)};
  }
  // What the server has told of; it ends its spans before the client hears of it.
  trace::SpanBatch Served() { return node_.Take(); }

  const RecordSpec spec_{.transfer = {.storage = "s0:7400", .target = "luns/l/channels/c"},
                         .source = {.name = "synth"},
                         .blocks = 2};
  trace::Traced caller_;
  trace::Traced node_;
  FakeJobs jobs_;
  std::unique_ptr<Server> server_ = Server::Create(ReservedPort::Create("127.0.0.1:0").value(),
                                                   {PipelineServiceOver(jobs_)}, &node_.tracer)
                                        .value();
};

TEST_F(TracedCalls, HangTogether) {
  trace::Span command = caller_.root().Start("command");
  ASSERT_TRUE(Client(command.branch()).StartRecord(spec_).ok());
  const trace::SpanBatch calls = caller_.Take();
  const trace::SpanBatch served = Served();
  ASSERT_THAT(calls, SizeIs(1));
  ASSERT_THAT(served, SizeIs(1));
  EXPECT_EQ(calls[0]->name, kStart);
  EXPECT_EQ(calls[0]->kind, trace::SpanKind::kClient);
  EXPECT_EQ(calls[0]->parent, command.context().span_id);
  EXPECT_EQ(served[0]->name, kStart);
  EXPECT_EQ(served[0]->kind, trace::SpanKind::kServer);
  EXPECT_EQ(served[0]->parent, calls[0]->context.span_id);
  EXPECT_EQ(served[0]->context.trace_id, command.context().trace_id);
  for (const auto* span : {calls[0].get(), served[0].get()}) {
    EXPECT_EQ(TextOf(*span, "rpc.system.name"), "grpc");
    EXPECT_EQ(TextOf(*span, "rpc.method"), kStart);
    EXPECT_EQ(TextOf(*span, "rpc.response.status_code"), "OK");
  }
  // What the call begins hangs below it.
  EXPECT_EQ(jobs_.last_transfer().trace.above, served[0]->context);
  EXPECT_EQ(jobs_.last_transfer().trace.tracer, &node_.tracer);
}

TEST_F(TracedCalls, FailedOnesAreErrors) {
  trace::Span command = caller_.root().Start("command");
  EXPECT_FALSE(Client(command.branch()).GetJob("jobs/none").ok());
  for (const trace::SpanBatch& spans : {caller_.Take(), Served()}) {
    ASSERT_THAT(spans, SizeIs(1));
    EXPECT_TRUE(absl::IsNotFound(spans[0]->status));
    EXPECT_EQ(TextOf(*spans[0], "rpc.response.status_code"), "NOT_FOUND");
  }
}

TEST_F(TracedCalls, StreamsToo) {
  auto client = Client(caller_.root());
  const auto job = client.StartRecord(spec_);
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(client.WatchJob(job->name, absl::Seconds(20), [](const Job&) {}).ok());
  const trace::SpanBatch served = Served();
  const trace::SpanData* watch = trace::Named(served, "tapedeck.v1.PipelineService/WatchJob");
  ASSERT_NE(watch, nullptr);
  EXPECT_TRUE(watch->status.ok());
}

// A client that traces nothing itself hands on what it was given.
TEST_F(TracedCalls, GoThroughWhoDoesNotTrace) {
  const trace::TraceContext above =
      trace::ParseTraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1");
  EXPECT_FALSE(Client({.above = above}).GetJob("jobs/none").ok());
  const trace::SpanBatch served = Served();
  ASSERT_THAT(served, SizeIs(1));
  EXPECT_EQ(served[0]->parent, above.span_id);
  EXPECT_EQ(served[0]->context.state, "a=1");
}

TEST_F(TracedCalls, ANewTraceWhereTheCallerHasNone) {
  EXPECT_FALSE(Client({}).GetJob("jobs/none").ok());
  const trace::SpanBatch served = Served();
  ASSERT_THAT(served, SizeIs(1));
  EXPECT_EQ(served[0]->parent, trace::SpanId());
}

}  // namespace
}  // namespace tapedeck::services::server
