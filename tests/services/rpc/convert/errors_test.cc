// How errors travel: reasons through gRPC and back, and what malformed session messages cause.
#include "services/base/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "services/model/words/resource_name.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/convert/session.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/status.h"

namespace tapedeck::services {
namespace {

using ::testing::HasSubstr;

std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : "";
}

TEST(StatusTest, ReasonAndMetadataSurviveGrpc) {
  const std::map<std::string, std::string> metadata = {{"lun", "luns/x"},
                                                       {"text", "two\nlines=\\and \xc3\xa9"}};
  const absl::Status status =
      WithReason(absl::NotFoundError("no LUN x"), "LUN_NOT_FOUND", metadata);
  const absl::Status back = convert::FromGrpc(convert::ToGrpc(status));
  EXPECT_EQ(back.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(back.message(), "no LUN x");
  EXPECT_EQ(ReasonIn(back), "LUN_NOT_FOUND");
  EXPECT_EQ(ReasonOf(back)->metadata, metadata);
}

TEST(StatusTest, DamagedDetailsLeaveTheCode) {
  const grpc::Status damaged(grpc::StatusCode::ABORTED, "text", "\xff\xff\xff");
  const absl::Status status = convert::FromGrpc(damaged);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_FALSE(ReasonOf(status).has_value());
}

// As it travels in jobs and sessions, and inside a call's trailer.
TEST(StatusTest, CallsJobsAndSessionsSendTheSameBytes) {
  const absl::Status status =
      WithReason(absl::NotFoundError("no LUN x"), "LUN_NOT_FOUND", {{"lun", "luns/x"}});
  const std::string bytes = convert::ToProto(status).SerializeAsString();
  EXPECT_EQ(convert::ToGrpc(status).error_details(), bytes);
  EXPECT_EQ(convert::ToProto(Job{.error = status}).error().SerializeAsString(), bytes);
  const auto finished = convert::ToTransferResponse(session::Finished{.cause = status});
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->finished().error().SerializeAsString(), bytes);
}

TEST(StatusTest, ForeignDetailsAreLeftOut) {
  google::rpc::Status wire;
  wire.set_code(5);
  wire.set_message("text");
  wire.add_details()->set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  wire.mutable_details(0)->set_value("\xff");
  google::rpc::ErrorInfo info;
  info.set_domain("elsewhere");
  info.set_reason("OTHER");
  wire.add_details()->PackFrom(info);
  EXPECT_FALSE(ReasonOf(convert::FromProto(wire)).has_value());
  EXPECT_EQ(convert::FromProto(wire), absl::NotFoundError("text"));
}

TEST(StatusTest, UnknownCodesAreUnknown) {
  google::rpc::Status wire;
  for (const int code : {-1, 17, 1 << 30}) {
    wire.set_code(code);
    EXPECT_EQ(convert::FromProto(wire).code(), absl::StatusCode::kUnknown) << code;
  }
}

TEST(StatusTest, LongTextsEndWithAWholeCharacter) {
  std::string text = "x";
  while (text.size() < 4000) text += "\xc3\xa9";
  const google::rpc::Status wire =
      convert::ToProto(WithReason(absl::InternalError(text), "STORE_IO", {{"member", text}}));
  EXPECT_EQ(wire.message(), text.substr(0, 2047));
  google::rpc::Status read;
  ASSERT_TRUE(read.ParseFromString(wire.SerializeAsString()));
  EXPECT_EQ(ReasonOf(convert::FromProto(read))->metadata.at("member"), text.substr(0, 2047));
}

TEST(StatusTest, OkIsOk) { EXPECT_TRUE(convert::FromGrpc(convert::ToGrpc({})).ok()); }

TEST(SessionErrorsTest, EmptyMessageIsAProtocolViolation) {
  EXPECT_EQ(ReasonIn(convert::FromProto(v1::TransferRequest()).status()), "PROTOCOL_VIOLATION");
  EXPECT_EQ(ReasonIn(convert::FromProto(v1::TransferResponse()).status()), "PROTOCOL_VIOLATION");
}

TEST(SessionErrorsTest, BadOffersAreProtocolViolations) {
  v1::TransferRequest request;
  request.mutable_rail_offer()->set_rail("r0");
  EXPECT_EQ(ReasonIn(convert::FromProto(request).status()), "PROTOCOL_VIOLATION");
  request.mutable_rail_offer()->mutable_tcp()->set_token("short");
  EXPECT_EQ(ReasonIn(convert::FromProto(request).status()), "PROTOCOL_VIOLATION");
  request.mutable_rail_offer()->mutable_tcp()->set_token(std::string(16, 'x'));
  EXPECT_TRUE(convert::FromProto(request).ok());
  request.mutable_rail_offer()->mutable_tcp()->set_port(70000);
  EXPECT_EQ(ReasonIn(convert::FromProto(request).status()), "PROTOCOL_VIOLATION");
}

TEST(SessionErrorsTest, InprocEndpointsStayInTheirProcess) {
  const session::RailOffer offer{.rail = "r0", .endpoint = dataplane::InprocEndpoint{.id = 1}};
  EXPECT_EQ(convert::ToTransferRequest(offer).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SessionErrorsTest, EachEndSendsItsOwnKinds) {
  EXPECT_FALSE(convert::ToTransferRequest(session::Accept{}).ok());
  EXPECT_FALSE(convert::ToTransferResponse(session::Open{}).ok());
}

TEST(SessionErrorsTest, AnotherVersionIsReadFarEnoughToBeRefused) {
  v1::TransferRequest request;
  request.mutable_open()->set_version(99);
  const auto message = convert::FromProto(request);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(std::get<session::Open>(*message).version, 99u);
}

TEST(NamesTest, Ids) {
  for (const std::string& good : std::vector<std::string>{
           "a", "0", "L0", "A.b_c-d", "20260101T000000Z", std::string(63, 'x')}) {
    EXPECT_TRUE(CheckId(good).ok()) << good;
  }
  for (const std::string& bad :
       std::vector<std::string>{"", ".", "..", ".a", "-", "_a", "a/b", "a b", "ä", "a\n",
                                std::string("a\0", 2), std::string(64, 'x')}) {
    EXPECT_EQ(ReasonIn(CheckId(bad)), "NAME_INVALID") << bad;
  }
}

TEST(NamesTest, Forms) {
  EXPECT_TRUE(CheckRecordingName("luns/a/channels/b/recordings/c").ok());
  EXPECT_TRUE(CheckChannelName("luns/-/channels/-", Wildcard::kAllowed).ok());
  EXPECT_FALSE(CheckChannelName("luns/-/channels/-").ok());
  EXPECT_THAT(std::string(CheckLunName("lun/a").message()), HasSubstr("luns/{lun}"));
  EXPECT_FALSE(CheckLunName("luns/a/").ok());
}

// The table in the README has one row per reason and no other.

}  // namespace
}  // namespace tapedeck::services
