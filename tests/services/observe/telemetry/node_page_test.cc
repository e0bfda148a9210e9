// What both nodes show: of a system made of files, and of rails that have been used.
#include "services/observe/telemetry/node_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dataplane/transport/inproc/fabric.h"
#include "dataplane/transport/inproc/transport.h"
#include "services/base/version.h"
#include "tests/storage_node/manual_executor.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::services::telemetry {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SystemOfFiles : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = dir_.path() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  std::string PageOf(const std::string& device) const {
    Page page;
    AddPort(page, "r0", device, dir_.path());
    return page.Text();
  }

  storage_node::TempDir dir_;
};

TEST_F(SystemOfFiles, PortOfAnRdmaCard) {
  const std::string port = "class/infiniband/mlx5_0/ports/1/";
  Write(port + "state", "4: ACTIVE\n");
  Write(port + "hw_counters/out_of_sequence", "12\n");
  Write(port + "hw_counters/np_cnp_sent", "18446744073709551615\n");  // beyond what is counted
  Write(port + "hw_counters/rp_cnp_handled", "nonsense\n");
  Write(port + "hw_counters/roce_adp_retrans", "3\n");
  Write("class/infiniband/mlx5_0/device/hwmon/hwmon3/temp1_input", "61500\n");
  EXPECT_THAT(
      PageOf("mlx5_0/1"),
      AllOf(HasSubstr("tapedeck_rail_up{rail=\"r0\"} 1\n"),
            HasSubstr("tapedeck_infiniband_out_of_sequence_packets_received_total{rail=\"r0\"} "
                      "12\n"),
            HasSubstr("tapedeck_infiniband_roce_adp_retransmits_total{rail=\"r0\"} 3\n"),
            HasSubstr("tapedeck_rail_temperature_celsius{rail=\"r0\"} 61.5\n"),
            Not(HasSubstr("cnp"))));
  Write(port + "state", "1: DOWN\n");
  EXPECT_THAT(PageOf("mlx5_0/1"), HasSubstr("tapedeck_rail_up{rail=\"r0\"} 0\n"));
}

TEST_F(SystemOfFiles, NetworkInterface) {
  Write("class/net/eth0/operstate", "up\n");
  Write("class/net/eth0/device/hwmon/hwmon0/temp1_input", "40000\n");
  Write("class/net/lo/operstate", "unknown\n");
  Write("class/net/eth1/operstate", "lowerlayerdown\n");
  EXPECT_THAT(PageOf("eth0"), AllOf(HasSubstr("tapedeck_rail_up{rail=\"r0\"} 1\n"),
                                    HasSubstr("temperature_celsius{rail=\"r0\"} 40\n")));
  EXPECT_THAT(PageOf("lo"), HasSubstr("tapedeck_rail_up{rail=\"r0\"} 1\n"));
  EXPECT_THAT(PageOf("eth1"), HasSubstr("tapedeck_rail_up{rail=\"r0\"} 0\n"));
}

TEST_F(SystemOfFiles, WhatCannotBeReadIsLeftOut) {
  Write("secret", "up\n");
  for (const char* device : {"", "eth9", "mlx5_9/1", "../secret", "mlx5_0/../../secret"}) {
    EXPECT_THAT(PageOf(device), Not(HasSubstr("r0"))) << device;
  }
}

TEST_F(SystemOfFiles, ReadsNoMoreOfAFileThanItNeeds) {
  Write("class/net/eth0/operstate", "up" + std::string(1 << 20, 'x'));
  EXPECT_LT(PageOf("eth0").size(), 1000u);
}

TEST_F(SystemOfFiles, Process) {
  // The 2nd field is the name; utime and stime are the 14th and 15th, threads the 20th, the start
  // the 22nd, the resident pages the 24th.
  Write("self/stat", "1 (a) b) S 1 1 1 0 -1 0 0 0 0 0 250 150 0 0 20 0 9 0 1000 5000 40 0\n");
  Write("uptime", "2000.00 3000.00\n");
  for (const char* fd : {"0", "1", "2"}) Write(std::string("self/fd/") + fd, "");
  EXPECT_EQ(ProcessStart(dir_.path(), 1'700'002'000), 1'700'000'010);
  Page page;
  AddProcess(page, dir_.path());
  EXPECT_EQ(sysconf(_SC_CLK_TCK), 100);
  EXPECT_THAT(page.Text(),
              AllOf(HasSubstr("process_cpu_seconds_total 4\n"), HasSubstr("process_threads 9\n"),
                    HasSubstr("process_open_fds 3\n"),
                    HasSubstr(absl::StrCat("process_resident_memory_bytes ",
                                           40 * sysconf(_SC_PAGESIZE), "\n"))));
}

TEST(NodePageTest, ShowsRailsAndWhatTheNodeAdds) {
  storage_node::ManualExecutor executor;
  const auto rail =
      dataplane::inproc::Create("r0", executor, std::make_shared<dataplane::inproc::Fabric>());
  rail->meter().sent.Count(100);
  rail->meter().received.Count(50);
  rail->meter().received.Count(50);
  const NodePage page(
      {.role = NodeRole::kWorker, .rails = {rail.get()}, .places = {{.rail = rail->rail()}}});
  const std::string text =
      page.Make([](Page& more) { more.Add("tapedeck_sessions", 3, {"record"}); });
  EXPECT_THAT(
      text, AllOf(HasSubstr(absl::StrCat("tapedeck_build_info{role=\"worker\",version=\"", kVersion,
                                         "\"} 1\n")),
                  HasSubstr("tapedeck_rail_blocks_total{rail=\"r0\",direction=\"sent\"} 1\n"),
                  HasSubstr("{rail=\"r0\",direction=\"received\"} 2\n"),
                  HasSubstr("{rail=\"r0\",direction=\"received\"} 100\n"),
                  HasSubstr("tapedeck_sessions{direction=\"record\"} 3\n"),
                  HasSubstr("tapedeck_log_lines_total{level=\"error\"} "),
                  HasSubstr("process_threads "), HasSubstr("tapedeck_page_samples_left_out 0\n")));
}

}  // namespace
}  // namespace tapedeck::services::telemetry
