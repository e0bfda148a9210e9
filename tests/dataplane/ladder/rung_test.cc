#include "dataplane/ladder/rung.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tapedeck::dataplane::ladder {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kFast = 11'000'000'000;

Evidence Rail(const char* name, absl::Status dma_buf, absl::Status peer_memory,
              uint64_t rate = kFast) {
  return {.rail = name,
          .wire_limit_bytes_per_s = 3'063'600'000,
          .dma_buf = {dma_buf, dma_buf.ok() ? rate : 0},
          .peer_memory = {peer_memory, peer_memory.ok() ? rate : 0}};
}

absl::Status NoExport() { return absl::UnimplementedError("ibv_reg_dmabuf_mr: not supported"); }
absl::Status NoModule() { return absl::UnimplementedError("ibv_reg_mr: Bad address"); }

TEST(ChooseRung, TakesTheHighestThatMovesData) {
  const RungChoice dma_buf = ChooseRung(Rail("r0", absl::OkStatus(), absl::OkStatus()));
  EXPECT_EQ(dma_buf.rung, Rung::kDmaBuf);
  EXPECT_EQ(dma_buf.why, "4 KiB and whole blocks moved unchanged, 11.0 GB/s");
  const RungChoice peer = ChooseRung(Rail("r0", NoExport(), absl::OkStatus()));
  EXPECT_EQ(peer.rung, Rung::kPeerMemory);
  EXPECT_THAT(peer.why, HasSubstr("dma-buf: ibv_reg_dmabuf_mr: not supported"));
}

TEST(ChooseRung, TheBounceSaysWhatKeptFromEachRung) {
  const RungChoice choice = ChooseRung(Rail("r0", NoExport(), NoModule()));
  EXPECT_EQ(choice.rung, Rung::kBounce);
  EXPECT_EQ(choice.why,
            "dma-buf: ibv_reg_dmabuf_mr: not supported; nvidia-peermem: ibv_reg_mr: Bad address");
}

TEST(ChooseRung, OneCauseOfBothIsSaidOnce) {
  const absl::Status tcp = absl::UnimplementedError("TCP cannot reach device memory");
  EXPECT_EQ(ChooseRung(Rail("r0", tcp, tcp)).why, "TCP cannot reach device memory");
}

TEST(ChooseRung, WrongDataRulesARungOut) {
  const absl::Status wrong = absl::DataLossError("byte 7 arrived as 0x00");
  EXPECT_EQ(ChooseRung(Rail("r0", wrong, absl::OkStatus())).rung, Rung::kPeerMemory);
  EXPECT_EQ(ChooseRung(Rail("r0", wrong, wrong)).rung, Rung::kBounce);
}

TEST(ChooseRung, ASlowRungIsUsedAndTheReasonToLookForIsNamed) {
  const RungChoice slow = ChooseRung(Rail("r0", absl::OkStatus(), absl::OkStatus(), 1'000'000'000));
  EXPECT_EQ(slow.rung, Rung::kDmaBuf);
  EXPECT_THAT(slow.why, HasSubstr("1.0 GB/s, less than half of the 3.1 GB/s"));
  EXPECT_THAT(slow.why, HasSubstr("nvidia-smi topo -m"));
}

TEST(ChooseRung, RailsOfAJobAgreeOnOne) {
  const std::vector<Evidence> mixed = {Rail("r0", absl::OkStatus(), absl::OkStatus()),
                                       Rail("r1", NoExport(), absl::OkStatus())};
  EXPECT_EQ(ChooseRung(mixed).rung, Rung::kPeerMemory);
  const std::vector<Evidence> same = {mixed[0], mixed[0]};
  EXPECT_EQ(ChooseRung(same).rung, Rung::kDmaBuf);
}

TEST(ChooseRung, OneRailThatCannotSendsAllThroughHostMemory) {
  const std::vector<Evidence> rails = {Rail("r0", absl::OkStatus(), NoModule()),
                                       Rail("r1", NoExport(), NoModule())};
  const RungChoice choice = ChooseRung(rails);
  EXPECT_EQ(choice.rung, Rung::kBounce);
  EXPECT_THAT(choice.why,
              HasSubstr("rail r0: could use dma-buf; rail r1: dma-buf: ibv_reg_dmabuf"));
  const std::vector<Evidence> apart = {Rail("r0", absl::OkStatus(), NoModule()),
                                       Rail("r1", NoExport(), absl::OkStatus())};
  EXPECT_EQ(ChooseRung(apart).rung, Rung::kBounce);
  EXPECT_THAT(ChooseRung(apart).why, Not(HasSubstr("not supported")));
  EXPECT_EQ(ChooseRung(std::span<const Evidence>()).rung, Rung::kBounce);
}

TEST(ChooseRung, ARailIsNamedOnce) {
  const absl::Status tcp = absl::UnimplementedError("rail r0: TCP cannot reach device memory");
  const std::vector<Evidence> rails = {Rail("r0", tcp, tcp)};
  EXPECT_EQ(ChooseRung(rails).why, "rail r0: TCP cannot reach device memory");
}

}  // namespace
}  // namespace tapedeck::dataplane::ladder
