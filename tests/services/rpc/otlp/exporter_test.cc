// The exporter beside collectors that take, refuse, are slow, or are not there.
#include "services/rpc/otlp/exporter.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/now.h"
#include "services/rpc/otlp/tracing.h"
#include "tapedeck/otlp/v1/trace.pb.h"
#include "tests/services/base/trace/traced.h"

namespace tapedeck::services::telemetry::otlp {
namespace {

namespace v1 = tapedeck::otlp::v1;

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Keeps what it is sent, and answers as it is told; those that it does not answer wait for its end.
class Collector final : public grpc::CallbackGenericService {
 public:
  enum class Answer { kTake, kRefuse, kTakeHalf, kNone };

  explicit Collector(Answer answer) : answer_(answer) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~Collector() override { server_->Shutdown(absl::ToChronoTime(dataplane::WallTime())); }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  std::vector<std::string> Names() {
    absl::MutexLock lock(&mutex_);
    return names_;
  }
  void AwaitCall() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&called_));
  }

 private:
  class Call final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Call(Collector& collector) : collector_(collector) { StartRead(&buffer_); }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::CANCELLED);
      v1::ExportTraceServiceRequest request;
      EXPECT_TRUE(
          grpc::SerializationTraits<v1::ExportTraceServiceRequest>::Deserialize(&buffer_, &request)
              .ok());
      collector_.Take(request);
      v1::ExportTraceServiceResponse response;
      if (collector_.answer_ == Answer::kNone) return;
      if (collector_.answer_ == Answer::kRefuse)
        return Finish({grpc::StatusCode::UNAVAILABLE, "no"});
      if (collector_.answer_ == Answer::kTakeHalf) {
        response.mutable_partial_success()->set_rejected_spans(1);
      }
      bool own = false;
      grpc::SerializationTraits<v1::ExportTraceServiceResponse>::Serialize(response, &answer_, &own)
          .ok();
      StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void OnCancel() override {
      if (collector_.answer_ == Answer::kNone) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    Collector& collector_;
    grpc::ByteBuffer buffer_;
    grpc::ByteBuffer answer_;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    EXPECT_EQ(context->method(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    return new Call(*this);  // gRPC's until OnDone
  }

  void Take(const v1::ExportTraceServiceRequest& request) {
    absl::MutexLock lock(&mutex_);
    for (const auto& span : request.resource_spans(0).scope_spans(0).spans()) {
      names_.push_back(span.name());
    }
    called_ = true;
  }

  const Answer answer_;
  int port_ = 0;
  absl::Mutex mutex_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
  bool called_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<grpc::Server> server_;
};

class ExporterTest : public testing::Test {
 protected:
  std::unique_ptr<Exporter> MakeExporter(const std::string& address) {
    return std::make_unique<Exporter>(ExporterSettings{.endpoint = address,
                                                       .period = absl::Milliseconds(20),
                                                       .deadline = absl::Seconds(20),
                                                       .flush_deadline = absl::Milliseconds(300)},
                                      traced_.spans);
  }
  void End(int spans) {
    for (int i = 0; i < spans; ++i) traced_.root().Start(absl::StrCat("span", i)).End();
  }

  trace::Traced traced_;
};

TEST_F(ExporterTest, TakenSpansAreCounted) {
  Collector collector(Collector::Answer::kTake);
  auto exporter = MakeExporter(collector.address());
  End(2);
  exporter.reset();  // flushes
  EXPECT_THAT(collector.Names(), ElementsAre("span0", "span1"));
  EXPECT_EQ(traced_.spans.exported(), 2u);
  EXPECT_EQ(traced_.spans.dropped(), 0u);
}

TEST_F(ExporterTest, RefusedSpansAreDropped) {
  Collector collector(Collector::Answer::kRefuse);
  auto exporter = MakeExporter(collector.address());
  End(2);
  exporter.reset();
  EXPECT_EQ(traced_.spans.dropped(), 2u);
}

TEST_F(ExporterTest, ThoseThatACollectorRejectsAreDropped) {
  Collector collector(Collector::Answer::kTakeHalf);
  auto exporter = MakeExporter(collector.address());
  End(2);
  exporter.reset();
  EXPECT_EQ(traced_.spans.exported(), 1u);
  EXPECT_EQ(traced_.spans.dropped(), 1u);
}

// While a collector does not answer, whoever ends spans goes on, and the rest finds no room; at the
// end of the program only the flush's deadline is waited for, not the export's.
TEST_F(ExporterTest, AMuteCollectorHoldsNothingUp) {
  Collector collector(Collector::Answer::kNone);
  auto exporter = MakeExporter(collector.address());
  End(1);
  collector.AwaitCall();
  const absl::Time before = dataplane::SteadyTime();
  End(3 * trace::kMaxQueuedSpans);
  EXPECT_GE(traced_.spans.dropped(), 2 * trace::kMaxQueuedSpans);
  exporter.reset();
  EXPECT_LT(dataplane::SteadyTime() - before, absl::Seconds(15));
  EXPECT_EQ(traced_.spans.exported(), 0u);
  EXPECT_EQ(traced_.spans.dropped(), 3 * trace::kMaxQueuedSpans + 1);
}

// As each call of tapectl would be.
TEST_F(ExporterTest, AShortLifeEndsSoonAndSaysNothing) {
  const Collector collector(Collector::Answer::kNone);
  testing::internal::CaptureStderr();
  const absl::Time before = dataplane::SteadyTime();
  for (int call = 0; call < 5; ++call) {
    Tracing tracing({.endpoint = collector.address()}, Life::kShort);
    trace::Branch{.tracer = tracing.tracer()}.Start("tapectl lun list").End();
  }
  EXPECT_LT(dataplane::SteadyTime() - before,
            absl::Seconds(4));  // with a second for each it would be more
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(ExporterTest, SoDoesOneThatIsNotThere) {
  auto exporter = MakeExporter("127.0.0.1:1");
  End(5);
  exporter.reset();
  EXPECT_EQ(traced_.spans.dropped(), 5u);
}

TEST_F(ExporterTest, MessagesHoldWhatSpansDo) {
  trace::Span outer = traced_.root().Start("outer", trace::SpanKind::kServer);
  trace::Span span = outer.branch().Start("inner \xff");
  span.Set("text", "a");
  span.Set("number", int64_t{-3});
  span.Set("half", 0.5);
  span.Set("yes", true);
  traced_.clock.now_ns += 40;
  span.AddEvent("event", {{"rail", "r0"}});
  span.End(absl::UnavailableError("gone"));
  outer.End();
  const auto request = ToProto({{"service.name", "test"}}, traced_.Take());
  const v1::ResourceSpans& program = request.resource_spans(0);
  EXPECT_EQ(program.resource().attributes(0).value().string_value(), "test");
  ASSERT_THAT(program.scope_spans(0).spans(), SizeIs(2));
  const v1::Span& inner = program.scope_spans(0).spans(0);
  EXPECT_EQ(inner.name(), "inner ?");
  EXPECT_EQ(inner.trace_id().size(), 16u);
  EXPECT_EQ(inner.parent_span_id(), program.scope_spans(0).spans(1).span_id());
  EXPECT_EQ(inner.kind(), v1::Span::SPAN_KIND_INTERNAL);
  ASSERT_THAT(inner.attributes(), SizeIs(4));
  EXPECT_EQ(inner.attributes(1).value().int_value(), -3);
  EXPECT_EQ(inner.attributes(2).value().double_value(), 0.5);
  EXPECT_TRUE(inner.attributes(3).value().bool_value());
  EXPECT_EQ(inner.events(0).time_unix_nano(), inner.end_time_unix_nano());
  EXPECT_EQ(inner.end_time_unix_nano() - inner.start_time_unix_nano(), 40u);
  EXPECT_EQ(inner.status().code(), v1::Status::STATUS_CODE_ERROR);
  EXPECT_EQ(inner.status().message(), "UNAVAILABLE: gone");
  EXPECT_EQ(program.scope_spans(0).spans(1).kind(), v1::Span::SPAN_KIND_SERVER);
  EXPECT_EQ(program.scope_spans(0).spans(1).parent_span_id(), "");
  EXPECT_FALSE(program.scope_spans(0).spans(1).has_status());
}

}  // namespace
}  // namespace tapedeck::services::telemetry::otlp
