// Every call, good and bad, through a real server: the right code, the right reason, no effect of
// what is refused.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <cmath>

#include "services/base/errors.h"
#include "services/rpc/client/calls/call_status.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/jobs_client.h"
#include "services/rpc/client/node_client.h"
#include "tapedeck/v1/catalog.grpc.pb.h"
#include "tapedeck/v1/node.grpc.pb.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::server {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(5);

std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : std::string(status.message());
}

class CallsTest : public ::testing::Test {
 protected:
  absl::Status CreateLun(const Lun& lun) { return catalog_.CreateLun(lun).status(); }
  absl::Status CreateChannel(Channel channel) {
    channel.name = "luns/l0/channels/c0";
    return catalog_.CreateChannel(channel).status();
  }
  // The status of a raw call.
  template <typename Request, typename Response, typename Method>
  absl::Status Call(Method method, const Request& request, Response& response) {
    grpc::ClientContext context;
    const auto stub = v1::CatalogService::NewStub(node_.channel.channel);
    return client::CallStatus((stub.get()->*method)(&context, request, &response), "node");
  }

  LoopbackNode node_;
  client::CatalogClient catalog_{node_.channel, kTimeout};
  client::JobsClient jobs_{node_.channel, kTimeout};
  const Lun lun_{.name = "luns/l0", .store = "posix", .members = {"/tmp/a"}};
  const Channel channel_{.block_bytes = 1 << 20, .datatype = "cf32_le", .sample_rate = 1e9};
};

TEST_F(CallsTest, LunLife) {
  ASSERT_TRUE(CreateLun(lun_).ok());
  EXPECT_EQ(node_.catalog.last_request_id().size(), 36u);
  const absl::Status again = CreateLun(lun_);
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonIn(again), "LUN_EXISTS");
  const auto luns = catalog_.ListLuns();
  ASSERT_TRUE(luns.ok()) << luns.status();
  ASSERT_EQ(luns->size(), 1u);
  EXPECT_EQ((*luns)[0].members, lun_.members);
  node_.catalog.AddRecording("r", 1);
  EXPECT_EQ(ReasonIn(catalog_.DeleteLun("luns/l0", false)), "LUN_NOT_EMPTY");
  EXPECT_TRUE(catalog_.DeleteLun("luns/l0", true).ok());
  const absl::Status gone = catalog_.DeleteLun("luns/l0", true);
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReasonIn(gone), "LUN_NOT_FOUND");
  EXPECT_EQ(ReasonIn(catalog_.DeleteLun("nonsense", true)), "NAME_INVALID");
}

TEST_F(CallsTest, LunAndChannelAreUpdated) {
  EXPECT_EQ(
      ReasonIn(
          catalog_.UpdateLun(LunUpdate{.name = lun_.name}.Set(&Lun::max_fill_percent, 9)).status()),
      "LUN_NOT_FOUND");
  ASSERT_TRUE(CreateLun(lun_).ok());
  ASSERT_TRUE(CreateChannel(channel_).ok());
  const auto lun = catalog_.UpdateLun(LunUpdate{.name = lun_.name}.Set(&Lun::max_fill_percent, 9));
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(node_.catalog.last_request_id().size(), 36u);
  EXPECT_EQ(lun->max_fill_percent, 9u);
  EXPECT_EQ(lun->members, lun_.members);
  const auto channel =
      catalog_.UpdateChannel(ChannelUpdate{.name = "luns/l0/channels/c0"}
                                 .Set(&Channel::op, dataplane::TransferOp::kSend)
                                 .Set(&Channel::commit, dataplane::CommitLevel::kWritten));
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_EQ(node_.catalog.last_request_id().size(), 36u);
  EXPECT_EQ(channel->op, dataplane::TransferOp::kSend);
  EXPECT_EQ(channel->commit, dataplane::CommitLevel::kWritten);
  EXPECT_EQ(channel->sample_rate, 1e9);
  EXPECT_EQ(ReasonIn(catalog_.UpdateLun(LunUpdate{.name = lun_.name}).status()),
            "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonIn(catalog_.UpdateLun(LunUpdate{.name = "l0"}).status()), "NAME_INVALID");
  EXPECT_EQ(ReasonIn(catalog_.UpdateChannel(ChannelUpdate{.name = lun_.name}).status()),
            "NAME_INVALID");
}

TEST_F(CallsTest, LunIsAttachedAndDetached) {
  const auto found = catalog_.AttachLun({.members = {"/b", "/a"}}, kTimeout);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(node_.catalog.last_request_id().size(), 36u);
  EXPECT_EQ(found->name, "luns/found");
  EXPECT_EQ(found->uid, "old");
  EXPECT_EQ(found->members, (std::vector<std::string>{"/b", "/a"}));
  EXPECT_EQ(ReasonIn(catalog_.AttachLun({.members = {"/b"}}, kTimeout).status()), "LUN_EXISTS");
  const auto copy =
      catalog_.AttachLun({.members = {"/c"}, .name = "luns/copy", .as_new = true}, kTimeout);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->name, "luns/copy");
  EXPECT_EQ(copy->uid, "new");
  EXPECT_TRUE(catalog_.DetachLun("luns/copy").ok());
  EXPECT_EQ(ReasonIn(catalog_.DetachLun("luns/copy")), "LUN_NOT_FOUND");
  EXPECT_EQ(ReasonIn(catalog_.DetachLun("luns/")), "NAME_INVALID");
}

TEST_F(CallsTest, BadAttachmentsAreRefused) {
  const auto reason = [&](const LunAttachment& asked) {
    return ReasonIn(catalog_.AttachLun(asked, kTimeout).status());
  };
  EXPECT_EQ(reason({.members = {""}}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.members = {"relative"}}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.members = std::vector<std::string>(65, "/m")}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.members = {"/m"}, .as_new = true}), "ARGUMENT_INVALID");
  v1::AttachLunRequest request;
  v1::Lun response;
  request.add_members("/m");
  request.set_lun_id("../x");
  EXPECT_EQ(ReasonIn(Call(&v1::CatalogService::Stub::AttachLun, request, response)),
            "NAME_INVALID");
}

TEST_F(CallsTest, BadLunsAreRefused) {
  Lun lun = lun_;
  for (const char* member : {"", "relative", "./also:this", "A:b", ":b"}) {
    lun.members = {member};
    EXPECT_EQ(ReasonIn(CreateLun(lun)), "ARGUMENT_INVALID") << member;
  }
  v1::CreateLunRequest request;
  v1::Lun response;
  request.set_lun_id("../x");
  EXPECT_EQ(ReasonIn(Call(&v1::CatalogService::Stub::CreateLun, request, response)),
            "NAME_INVALID");
  EXPECT_TRUE(catalog_.ListLuns()->empty());
}

TEST_F(CallsTest, ChannelLife) {
  ASSERT_TRUE(CreateChannel(channel_).ok());
  const auto channels = catalog_.ListChannels("luns/-");
  ASSERT_TRUE(channels.ok()) << channels.status();
  ASSERT_EQ(channels->size(), 1u);
  EXPECT_FALSE((*channels)[0].op.has_value());
  EXPECT_EQ((*channels)[0].commit, dataplane::CommitLevel::kDurable);
  EXPECT_TRUE(catalog_.DeleteChannel("luns/l0/channels/c0").ok());
  EXPECT_EQ(ReasonIn(catalog_.DeleteChannel("luns/l0/channels/c0")), "CHANNEL_NOT_FOUND");
}

TEST_F(CallsTest, BadChannelsAreRefused) {
  for (const uint64_t bytes : {0ul, 1000ul, 4096ul, (1ul << 20) + 1, 16ul << 20}) {
    Channel channel = channel_;
    channel.block_bytes = bytes;
    const absl::Status status = CreateChannel(channel);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonIn(status), "BLOCK_SIZE_INVALID") << bytes;
  }
  Channel channel = channel_;
  channel.datatype = "cf99_le";
  EXPECT_EQ(ReasonIn(CreateChannel(channel)), "DATATYPE_INVALID");
  channel = channel_;
  channel.sample_rate = std::nan("");
  EXPECT_EQ(ReasonIn(CreateChannel(channel)), "ARGUMENT_INVALID");
  EXPECT_TRUE(catalog_.ListChannels("luns/-")->empty());
}

TEST_F(CallsTest, RecordingsNewestFirstInPages) {
  for (int i = 0; i < 5; ++i) node_.catalog.AddRecording(absl::StrCat("r", i), i + 1);
  v1::ListRecordingsRequest request;
  request.set_parent("luns/-/channels/-");
  request.set_page_size(2);
  std::string ids;
  int pages = 0;
  do {
    v1::ListRecordingsResponse response;
    ASSERT_TRUE(Call(&v1::CatalogService::Stub::ListRecordings, request, response).ok());
    for (const auto& recording : response.recordings()) ids += recording.name().back();
    // What goes between two pages does not disturb the rest.
    if (++pages == 1) {
      ASSERT_TRUE(catalog_.DeleteRecording("luns/l0/channels/c0/recordings/r3").ok());
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(ids, "43210");
  EXPECT_EQ(pages, 3);
}

TEST_F(CallsTest, BadPagesAreRefused) {
  v1::ListLunsRequest request;
  v1::ListLunsResponse response;
  request.set_page_size(-1);
  EXPECT_EQ(ReasonIn(Call(&v1::CatalogService::Stub::ListLuns, request, response)),
            "ARGUMENT_INVALID");
  request.set_page_size(1);
  request.set_page_token("!!!");
  EXPECT_EQ(ReasonIn(Call(&v1::CatalogService::Stub::ListLuns, request, response)),
            "ARGUMENT_INVALID");
  v1::ListChannelsRequest channels;
  v1::ListChannelsResponse none;
  channels.set_parent("luns/-");
  channels.set_page_token("!!!");
  EXPECT_EQ(ReasonIn(Call(&v1::CatalogService::Stub::ListChannels, channels, none)),
            "ARGUMENT_INVALID");
  EXPECT_EQ(node_.catalog.lists(), 0) << "it was looked for what is not to be answered";
}

TEST_F(CallsTest, PagesStayBelowTheMessageLimit) {
  Lun lun = lun_;
  lun.members = {"/" + std::string(8000, 'x')};
  for (int i = 0; i < 300; ++i) {
    lun.name = absl::StrCat("luns/l", i);
    ASSERT_TRUE(node_.catalog.CreateLun(lun, "").ok());
  }
  const auto luns = catalog_.ListLuns();
  ASSERT_TRUE(luns.ok()) << luns.status();
  EXPECT_EQ(luns->size(), 300u);
}

TEST_F(CallsTest, VerifyStreamsProgressAndDamage) {
  node_.catalog.AddRecording("r", 1);
  const std::string name = "luns/l0/channels/c0/recordings/r";
  std::vector<DamagedBlock> damage(2500);
  for (size_t i = 0; i < damage.size(); ++i) damage[i] = {i, DamageKind::kRot, "crc"};
  node_.catalog.SetDamage(damage);
  size_t found = 0;
  uint64_t checked = 0;
  const absl::Status status =
      catalog_.VerifyRecording(name, kTimeout, [&](const VerifyProgress& progress) {
        found += progress.damaged.size();
        checked = progress.checked_blocks;
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(found, 2500u);
  EXPECT_EQ(checked, 4u);
  const auto ignore = [](const VerifyProgress&) {};
  EXPECT_EQ(ReasonIn(catalog_.VerifyRecording(name + "x", kTimeout, ignore)),
            "RECORDING_NOT_FOUND");
  EXPECT_EQ(ReasonIn(catalog_.VerifyRecording("x", kTimeout, ignore)), "NAME_INVALID");
}

RecordSpec GoodRecord() {
  return {.transfer = {.storage = "s0:7400",
                       .target = "luns/l0/channels/c0",
                       .transforms = {{"fft", {{"points", 1024}}}}},
          .source = {"synth", {{"seed", ~uint64_t{0}}}},
          .blocks = 3};
}

TEST_F(CallsTest, RecordRunsToItsEnd) {
  const auto started = jobs_.StartRecord(GoodRecord());
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_EQ(node_.jobs.last_transfer().transforms, GoodRecord().transfer.transforms);
  EXPECT_EQ(node_.jobs.last_transfer().request_id.size(), 36u);
  EXPECT_EQ(node_.jobs.last_record().source, GoodRecord().source);
  int reports = 0;
  const auto ended = jobs_.WatchJob(started->name, kTimeout, [&](const Job&) { ++reports; });
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state, JobState::kSucceeded);
  EXPECT_EQ(ended->blocks, 3u);
  EXPECT_EQ(ended->rails[0].bytes, 2u << 20);
  EXPECT_EQ(reports, 3);
  EXPECT_EQ(jobs_.ListJobs()->size(), 1u);
}

TEST_F(CallsTest, FailedJobCarriesItsReason) {
  const auto started = jobs_.StartPlayback(
      {.transfer = {.storage = "s0:1", .target = "luns/l0/channels/c0/recordings/broken"},
       .sink = {"null"}});
  ASSERT_TRUE(started.ok()) << started.status();
  const auto ended = jobs_.WatchJob(started->name, kTimeout, [](const Job&) {});
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state, JobState::kFailed);
  EXPECT_EQ(ReasonIn(ended->error), "PEER_LOST");
  EXPECT_EQ(ReasonOf(ended->error)->metadata.at("node"), "s0");
}

TEST_F(CallsTest, BadRecordsAreRefused) {
  const auto reason_of = [this](auto change) {
    RecordSpec spec = GoodRecord();
    change(spec);
    return ReasonIn(jobs_.StartRecord(spec).status());
  };
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.target = "c0"; }), "NAME_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.storage = "s0"; }), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.slots = 1 << 30; }), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.rails = {"a b"}; }), "NAME_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.source = {}; }), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.blocks = 0, s.duration_ns = -1; }), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.target = "luns/l0/channels/absent"; }),
            "CHANNEL_NOT_FOUND");
  EXPECT_TRUE(jobs_.ListJobs()->empty());
}

TEST_F(CallsTest, AMemberOfAGroupBeginsAtAnInstant) {
  RecordSpec member = GoodRecord();
  member.transfer.group = {.id = "g", .name = "array", .number = 2, .members = 4};
  member.at_ns = dataplane::SystemClock().WallNs() + dataplane::kSecondNs;
  ASSERT_TRUE(jobs_.StartRecord(member).ok());
  EXPECT_EQ(node_.jobs.last_transfer().group, member.transfer.group);
  EXPECT_EQ(node_.jobs.last_record().at_ns, member.at_ns);
  const auto reason_of = [&](auto change) {
    RecordSpec spec = member;
    change(spec);
    return ReasonIn(jobs_.StartRecord(spec).status());
  };
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.at_ns = 0; }), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.at_ns -= 3 * dataplane::kSecondNs; }),
            "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.at_ns += 25 * 3600 * dataplane::kSecondNs; }),
            "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.group->number = 5; }), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.group->id = "a b"; }), "NAME_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& s) { s.transfer.device = "all"; }), "ARGUMENT_INVALID");
}

TEST_F(CallsTest, JobsThatAreNotThere) {
  EXPECT_EQ(ReasonIn(jobs_.GetJob("jobs/none").status()), "JOB_NOT_FOUND");
  EXPECT_EQ(ReasonIn(jobs_.GetJob("none").status()), "NAME_INVALID");
  EXPECT_EQ(ReasonIn(jobs_.WatchJob("jobs/none", kTimeout, [](const Job&) {}).status()),
            "JOB_NOT_FOUND");
}

TEST_F(CallsTest, NodeAndItsCounters) {
  const auto info = client::GetNode(node_.channel, kTimeout);
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->rails.size(), 2u);
  EXPECT_EQ(info->rails[0].place.numa_node, 0);
  EXPECT_EQ(info->rails[1].place.numa_node, std::nullopt);
  EXPECT_EQ(info->version, "0.1.0");

  const auto stub = v1::NodeService::NewStub(node_.channel.channel);
  grpc::ClientContext context;
  v1::WatchStatsRequest request;
  request.mutable_interval()->set_nanos(100'000'000);
  const auto reader = stub->WatchStats(&context, request);
  v1::WatchStatsResponse response;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.sessions_opened(), 5u);
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);

  grpc::ClientContext bad_context;
  request.mutable_interval()->set_nanos(1);
  const auto bad = stub->WatchStats(&bad_context, request);
  EXPECT_FALSE(bad->Read(&response));
  EXPECT_EQ(bad->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(UnreachableTest, NamesTheNode) {
  client::CatalogClient catalog(client::MakeChannel("127.0.0.1:1"), kTimeout);
  const absl::Status status = catalog.ListLuns().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  ASSERT_EQ(ReasonIn(status), "NODE_UNREACHABLE");
  EXPECT_EQ(ReasonOf(status)->metadata.at("node"), "127.0.0.1:1");
}

}  // namespace
}  // namespace tapedeck::services::server
