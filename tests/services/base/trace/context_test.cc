// What is taken for a W3C trace context, and what it is when it is sent on.
#include "services/base/trace/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/log.h"

namespace tapedeck::services::telemetry::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kParent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContextTest, GoesOnAsItCame) {
  const TraceContext context = ParseTraceContext(kParent, "vendor=1,other=a b");
  ASSERT_TRUE(context.valid());
  EXPECT_TRUE(context.sampled);
  EXPECT_EQ(Hex(context.trace_id), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(Hex(context.span_id), "b7ad6b7169203331");
  EXPECT_EQ(context.state, "vendor=1,other=a b");
  EXPECT_EQ(context.Traceparent(), kParent);
}

TEST(TraceContextTest, OfFlagsOnlySampledIsKnown) {
  const std::string ids = "-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-";
  EXPECT_FALSE(ParseTraceContext("00" + ids + "00", "").sampled);
  EXPECT_FALSE(ParseTraceContext("00" + ids + "fe", "").sampled);
  EXPECT_TRUE(ParseTraceContext("00" + ids + "ff", "").sampled);
}

TEST(TraceContextTest, LaterVersionsMayGoOn) {
  const std::string rest = "-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_TRUE(ParseTraceContext("cc" + rest, "").valid());
  EXPECT_TRUE(ParseTraceContext("cc" + rest + "-what-comes", "").valid());
  EXPECT_FALSE(ParseTraceContext("cc" + rest + "what-comes", "").valid());
  EXPECT_FALSE(ParseTraceContext("00" + rest + "-what-comes", "").valid());
}

TEST(TraceContextTest, OfWhatIsWrongNothingIsLeft) {
  for (const char* wrong : {
           "",
           "00",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
       }) {
    const TraceContext context = ParseTraceContext(wrong, "vendor=1");
    EXPECT_EQ(context, TraceContext()) << wrong;
    EXPECT_EQ(context.Traceparent(), "") << wrong;
  }
}

TEST(TraceContextTest, AStateThatNobodyMaySendIsLeftOut) {
  EXPECT_EQ(ParseTraceContext(kParent, std::string(512, 'x')).state.size(), 512u);
  EXPECT_EQ(ParseTraceContext(kParent, std::string(513, 'x')).state, "");
  EXPECT_EQ(ParseTraceContext(kParent, "vendor=\n1").state, "");
  EXPECT_EQ(ParseTraceContext(kParent, "vendor=\xff").state, "");
}

std::string Logged() {
  testing::internal::CaptureStderr();
  dataplane::LogEach(dataplane::LogLevel::kInfo, "test", "line");
  return testing::internal::GetCapturedStderr();
}

TEST(LogUnderTest, LinesCarryTheInnermostSpan) {
  {
    const LogUnder outer(ParseTraceContext(kParent, ""));
    {
      TraceContext below = ParseTraceContext(kParent, "");
      below.span_id[0] = 0;
      const LogUnder inner(below);
      EXPECT_THAT(Logged(), HasSubstr(" trace_id=0af7651916cd43dd8448eb211c80319c "
                                      "span_id=00ad6b7169203331\n"));
      const LogUnder none{TraceContext()};
      EXPECT_THAT(Logged(), HasSubstr("span_id=00ad6b7169203331\n"));
    }
    EXPECT_THAT(Logged(), HasSubstr("span_id=b7ad6b7169203331\n"));
  }
  EXPECT_THAT(Logged(), Not(HasSubstr("trace_id")));
}

}  // namespace
}  // namespace tapedeck::services::telemetry::trace
