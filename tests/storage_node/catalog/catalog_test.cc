// The catalog's answers, their errors, and that they come out of the files alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

// Everything the catalog says, as text.
std::string Answers(node::StorageNode& node) {
  std::ostringstream out;
  const auto luns = node.luns().ListLuns();
  for (const auto& lun : *luns) {
    out << lun.name << ' ' << lun.uid << ' ' << lun.store << ' ' << lun.capacity_bytes << ' '
        << lun.used_bytes << ' ' << lun.recordings << ' ' << lun.create_time_ns;
    for (const auto& member : lun.members) out << ' ' << member;
    out << '\n';
  }
  const auto channels = node.channels().ListChannels("luns/-");
  for (const auto& c : *channels) {
    out << c.name << ' ' << c.block_bytes << ' ' << c.datatype << ' ' << c.sample_rate << ' '
        << static_cast<int>(c.op.value_or(dataplane::TransferOp{})) << static_cast<int>(c.commit)
        << ' ' << c.create_time_ns << '\n';
  }
  const auto recordings = node.recordings().ListRecordings("luns/-/channels/-");
  for (const auto& r : *recordings) {
    out << r.name << ' ' << r.uid << ' ' << static_cast<int>(r.state) << ' ' << r.blocks << ' '
        << r.bytes << ' ' << r.missing_blocks << ' ' << r.durable_watermark << ' ' << r.datatype
        << ' ' << r.sample_rate << ' ' << r.open_time_ns << ' ' << r.start_time_ns.value_or(-1)
        << ' ' << r.close_time_ns << ' ' << r.cause << " recorder=" << r.origin.worker;
    for (const auto& [key, value] : r.labels) out << ' ' << key << '=' << value;
    out << '\n';
  }
  return out.str();
}

TEST(Catalog, RebuildGivesTheSameAnswers) {
  NodeFixture node("posix", 2);
  node.MakeChannel("d", dataplane::CommitLevel::kWritten);
  ASSERT_TRUE(node.node()
                  .luns()
                  .CreateLun({.name = "luns/mem", .store = "memory", .capacity_bytes = 1 << 20}, "")
                  .ok());
  for (int i = 0; i < 3; ++i) node.RecordAndSeal(10 + i);
  auto recorder = *node.Record(
      {.channel = "luns/l/channels/d", .recorder = "w1", .labels = {{"source", "synth"}}});
  for (const uint64_t i : {0, 2}) ASSERT_TRUE(recorder.Push(i).ok());
  ASSERT_TRUE(recorder.Finish(absl::AbortedError("test")).ok());
  recorder.admission = {};

  const std::string before = Answers(node.node());
  EXPECT_THAT(before, testing::HasSubstr("recorder=w1"));
  node.Stop();
  ASSERT_TRUE(node::RebuildCatalog(node.state_dir()).ok());
  node.Start();
  EXPECT_EQ(Answers(node.node()), before);
  node.Stop();
  std::filesystem::remove(node.state_dir() + "/catalog.sqlite");
  node.Start();
  EXPECT_EQ(Answers(node.node()), before) << "a lost catalog is rebuilt at start";
}

TEST(Catalog, RebuildIsRefusedWhileANodeRuns) {
  NodeFixture node;
  EXPECT_EQ(Reason(node::RebuildCatalog(node.state_dir())), "MEMBER_UNUSABLE");
}

TEST(Catalog, NewestRecordingsComeFirst) {
  NodeFixture node;
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) names.push_back(node.RecordAndSeal(1));
  std::vector<std::string> listed;
  const auto recordings = node.node().recordings().ListRecordings("luns/l/channels/c");
  for (const auto& r : *recordings) {
    listed.push_back(r.name);
  }
  EXPECT_THAT(listed, testing::ElementsAre(names[2], names[1], names[0]));
}

TEST(Catalog, UnknownNamesAreNotFoundWithTheirReason) {
  NodeFixture node;
  node::StorageNode& n = node.node();
  EXPECT_EQ(Reason(n.luns().GetLun("luns/x").status()), "LUN_NOT_FOUND");
  EXPECT_EQ(Reason(n.luns().DeleteLun("luns/x", true)), "LUN_NOT_FOUND");
  EXPECT_EQ(Reason(n.channels().GetChannel("luns/x/channels/c").status()), "LUN_NOT_FOUND");
  EXPECT_EQ(Reason(n.channels().GetChannel("luns/l/channels/x").status()), "CHANNEL_NOT_FOUND");
  EXPECT_EQ(Reason(n.channels().ListChannels("luns/x").status()), "LUN_NOT_FOUND");
  EXPECT_EQ(Reason(n.recordings().GetRecording("luns/l/channels/c/recordings/x").status()),
            "RECORDING_NOT_FOUND");
  EXPECT_EQ(Reason(n.recordings().ListRecordings("luns/l/channels/x").status()),
            "CHANNEL_NOT_FOUND");
  EXPECT_EQ(Reason(n.luns().GetLun("nonsense").status()), "NAME_INVALID");
  EXPECT_EQ(Reason(node.Record({.channel = "luns/l/channels/x"}).status()), "CHANNEL_NOT_FOUND");
  EXPECT_EQ(Reason(node.Record({.channel = "luns/x/channels/x"}).status()), "LUN_NOT_FOUND");
}

TEST(Catalog, ChannelsAreChecked) {
  NodeFixture node;
  const auto create = [&](services::Channel channel) {
    return Reason(node.node().channels().CreateChannel(channel, "").status());
  };
  services::Channel good{.name = "luns/l/channels/n", .block_bytes = 65'536, .datatype = "cu8"};
  for (const uint64_t bytes : {0, 4096, 65'535, 65'537, 69'633, 8'388'609, 16'777'216}) {
    services::Channel bad = good;
    bad.block_bytes = bytes;
    EXPECT_EQ(create(bad), "BLOCK_SIZE_INVALID") << bytes;
  }
  services::Channel bad = good;
  bad.datatype = "cf99";
  EXPECT_EQ(create(bad), "DATATYPE_INVALID");
  bad = good;
  bad.sample_rate = -1;
  EXPECT_EQ(create(bad), "ARGUMENT_INVALID");
  bad = good;
  bad.name = "luns/l/channels/.n";
  EXPECT_EQ(create(bad), "NAME_INVALID");
  bad.name = "luns/x/channels/n";
  EXPECT_EQ(create(bad), "LUN_NOT_FOUND");
  EXPECT_EQ(node.node().channels().ListChannels("luns/l")->size(), 1u) << "nothing was created";
  EXPECT_EQ(create(good), "none");
  EXPECT_EQ(create(good), "CHANNEL_EXISTS");
}

TEST(Catalog, LunsAreChecked) {
  NodeFixture node;
  const auto create = [&](services::Lun lun) {
    return Reason(node.node().luns().CreateLun(lun, "").status());
  };
  const auto posix = [&](std::vector<std::string> members) {
    return services::Lun{.name = "luns/n", .store = "posix", .members = std::move(members)};
  };
  const std::string free = node.dir().Make("free");
  EXPECT_EQ(create(posix({})), "ARGUMENT_INVALID");
  EXPECT_EQ(create(posix({free, free + "/."})), "ARGUMENT_INVALID");
  EXPECT_EQ(create(posix({"pool:fast"})), "ARGUMENT_INVALID");
  EXPECT_EQ(create(posix({node.dir().MakeImage("image", 1 << 30)})), "MEMBER_UNUSABLE");
  EXPECT_EQ(create({.name = "luns/n", .store = "device", .members = {free}}), "MEMBER_UNUSABLE");
  EXPECT_EQ(create({.name = "luns/n", .members = {free}}), "ARGUMENT_INVALID");
  EXPECT_EQ(
      create({.name = "luns/n", .store = "memory", .members = {free}, .capacity_bytes = 1 << 20}),
      "ARGUMENT_INVALID");
  EXPECT_EQ(create(posix({free, free + "/none"})), "MEMBER_UNUSABLE");
  EXPECT_EQ(create(posix({free, node.dir().path() + "/m0"})), "MEMBER_UNUSABLE");
  EXPECT_EQ(create({.name = "luns/n", .store = "memory"}), "ARGUMENT_INVALID");
  EXPECT_EQ(create({.name = "luns/l", .store = "memory", .capacity_bytes = 1 << 20}), "LUN_EXISTS");
  EXPECT_EQ(create(posix({free})), "none") << "refused attempts leave members usable";
  EXPECT_TRUE(node.node().luns().DeleteLun("luns/n", false).ok());
  EXPECT_EQ(create(posix({free})), "none");
}

TEST(Catalog, AStoreThatThereIsNotIsNamedWithThoseThereAre) {
  NodeFixture node;
  const absl::Status status =
      node.node().luns().CreateLun({.name = "luns/n", .store = "block"}, "").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("field"), "store");
  EXPECT_NE(status.message().find("no store 'block' in this build, only posix, direct"),
            std::string::npos)
      << status;
  const std::string endless(1 << 20, '\n');
  EXPECT_LT(node.node()
                .luns()
                .CreateLun({.name = "luns/n", .store = endless}, "")
                .status()
                .message()
                .size(),
            400u);
}

TEST(Catalog, SameRequestIdSameResult) {
  NodeFixture node;
  const services::Lun lun{.name = "luns/m", .store = "memory", .capacity_bytes = 1 << 20};
  const auto first = node.node().luns().CreateLun(lun, "req-1");
  ASSERT_TRUE(first.ok());
  const services::Channel channel{
      .name = "luns/m/channels/c", .block_bytes = 65'536, .datatype = "cu8"};
  ASSERT_TRUE(node.node().channels().CreateChannel(channel, "req-2").ok());
  node.Stop();
  node.Start();
  const auto again = node.node().luns().CreateLun(lun, "req-1");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->uid, first->uid);
  EXPECT_TRUE(node.node().channels().CreateChannel(channel, "req-2").ok());
  EXPECT_EQ(Reason(node.node().channels().CreateChannel(channel, "req-1").status()),
            "ARGUMENT_INVALID");
  EXPECT_EQ(Reason(node.node().luns().CreateLun(lun, "req-3").status()), "LUN_EXISTS");
}

TEST(Catalog, NothingInUseIsDeleted) {
  NodeFixture node;
  node::StorageNode& n = node.node();
  const std::string sealed = node.RecordAndSeal(2);
  EXPECT_EQ(Reason(n.luns().DeleteLun("luns/l", false)), "LUN_NOT_EMPTY");
  EXPECT_EQ(Reason(n.channels().DeleteChannel("luns/l/channels/c")), "CHANNEL_IN_USE");
  {
    auto recorder = node.Record();
    EXPECT_EQ(Reason(n.luns().DeleteLun("luns/l", true)), "LUN_NOT_EMPTY");
    EXPECT_EQ(Reason(n.channels().DeleteChannel("luns/l/channels/c")), "CHANNEL_IN_USE");
    ASSERT_TRUE(recorder->Finish().ok());
  }
  EXPECT_TRUE(n.luns().DeleteLun("luns/l", true).ok());
  EXPECT_EQ(Reason(n.recordings().GetRecording(sealed).status()), "LUN_NOT_FOUND");
  EXPECT_TRUE(n.recordings().ListRecordings("luns/-/channels/-")->empty());
  EXPECT_TRUE(std::filesystem::is_empty(node.dir().path() + "/m0")) << "members are left clean";
}

TEST(Admission, SaysWhatWasAgreed) {
  NodeFixture node;
  node.Restart({});
  auto recorder = node.Record({.recorder = "w1"});
  ASSERT_TRUE(recorder.ok());
  const auto& accept = recorder->admission.accept;
  EXPECT_THAT(accept.recording, testing::StartsWith("luns/l/channels/c/recordings/"));
  EXPECT_EQ(accept.block_bytes, kBlockBytes);
  EXPECT_EQ(accept.datatype, "cf32_le");
  EXPECT_EQ(accept.op, dataplane::TransferOp::kRead);
  EXPECT_EQ(accept.commit, dataplane::CommitLevel::kDurable);
  EXPECT_EQ(recorder->admission.ring->slots(), 256u);
  EXPECT_EQ(recorder->admission.ring->slot_bytes(), kBlockBytes);
  ASSERT_TRUE(recorder->Push(0).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  const auto playback = node.Play(accept.recording);
  ASSERT_TRUE(playback.ok());
  EXPECT_EQ(playback->accept.op, dataplane::TransferOp::kWrite);
  EXPECT_EQ(playback->accept.blocks, 1u);
  EXPECT_TRUE(playback->accept.labels.empty());
}

TEST(Admission, SlotsOfTheWorkerMustHoldABlock) {
  NodeFixture node;
  EXPECT_EQ(Reason(node.Record({.slot_bytes = kBlockBytes - 1}).status()), "ARGUMENT_INVALID");
}

}  // namespace
}  // namespace tapedeck::storage_node
