// The inputs that ../shared/cases beside the repository generates: each gives what the table there
// says. Skipped where that folder, or Python's numpy, is not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "services/formats/sigmf/sigmf.h"
#include "services/formats/vita49/vita49.h"
#include "services/formats/wav/wav.h"
#include "tests/services/formats/ramp.h"
#include "tests/services/noted.h"
#include "tests/shared_data.h"

namespace tapedeck::services::formats {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SharedCasesTest : public testing::Test {
 protected:
  // Makes the inputs of a generator.
  void Generate(const std::string& generator) {
    const std::string script = SharedData("../cases/" + generator);
    if (script.empty()) GTEST_SKIP() << "there is no ../shared/cases/" << generator;
    if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) {
      GTEST_SKIP() << "/usr/bin/python3 has no numpy (python3-numpy)";
    }
    folder_ = ScratchPath("cases");
    const std::string command = "/usr/bin/python3 " + script + " " + folder_;
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  ~SharedCasesTest() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string Input(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(SharedCasesTest, Wav) {
  Generate("wav.py");
  if (IsSkipped() || HasFatalFailure()) return;
  for (const char* name : {"w01_plain", "w02_kiwi", "w13_twodata", "w03_sdrconsole16",
                           "w04_auxi164", "w04c_auxi32", "w05_zero", "w05b_ffff", "w05c_trunc",
                           "w08_oddnopad", "w08d_trail4", "w09_rf64", "w09b_bw64"}) {
    SCOPED_TRACE(name);
    ExpectRamp(OpenWav(Input(std::string(name) + ".wav")), 10'000);
  }
  for (const char* name : {"w05_zero", "w05b_ffff", "w05c_trunc"}) {
    const auto reader = OpenWav(Input(std::string(name) + ".wav"));
    const std::string note =
        name == std::string("w05c_trunc") ? "FILE_CUT" : "WAV_SIZE_UNKNOWN|cause=NOT_ENDED";
    EXPECT_THAT((*reader)->content().notes, ElementsAre(Noted(note))) << name;
  }
  const auto odd = OpenWav(Input("w11d_oddsample.wav"));
  ExpectRamp(odd, 9999);
  EXPECT_THAT((*odd)->content().notes, ElementsAre(Noted("PARTIAL_SAMPLE")));
  const auto console = OpenWav(Input("w03_sdrconsole16.wav"));
  EXPECT_EQ((*console)->content().start_ns, 1'579'485'024'000'000'000);
  EXPECT_EQ((*console)->content().annotations.at(0).comment, "frequency=162550000");
  const auto auxi = OpenWav(Input("w04_auxi164.wav"));
  EXPECT_EQ((*auxi)->content().start_ns, 1'704'164'645'678'000'000);
  EXPECT_EQ((*auxi)->content().annotations.at(0).comment, "frequency=100000000");
  const auto brief = OpenWav(Input("w04c_auxi32.wav"));
  EXPECT_THAT((*brief)->content().notes, Contains(Noted("WAV_AUXI_FIELD|cause=ABSENT")));
}

TEST_F(SharedCasesTest, Vita49) {
  Generate("vita49.py");
  if (IsSkipped() || HasFatalFailure()) return;
  const auto open = [&](const std::string& name, const ReadOptions& options = {}) {
    return OpenVita49(Input(name + ".pcap"), options);
  };
  for (const char* name : {"p01_ok", "p02_sll2", "p04_14in16", "p05b_10ns_122", "p06_qinq",
                           "p15_ratedouble", "p21_fwd"}) {
    SCOPED_TRACE(name);
    const auto reader = open(name);
    ExpectRamp(reader, 51'200);
    EXPECT_THAT((*reader)->content().gaps, IsEmpty());
  }
  ExpectRamp(open("p03_noctx", {.datatype = "ci16_le", .sample_rate = 1e6}), 51'200);
  ExpectRamp(open("p22_trunc"), 50'944);
  ExpectRamp(open("p23_rate"), 25'600);
  EXPECT_NEAR((*open("p23_rate"))->content().sample_rate, 1e6 / 3, 1e-6);
  ExpectRamp(open("p19_twostreams", {.stream = 7}), 25'600);
  EXPECT_THAT((*open("p19_twostreams"))->content().notes,
              ElementsAre(Noted("PACKETS_OTHER_STREAM|names=7 (101)")));
  for (const auto& [name, words] :
       {std::pair("p08_snap", "200 packets are cut"), std::pair("p17_vrlp", "204 packets are in"),
        std::pair("p16_frag", "100 packets are fragments")}) {
    EXPECT_THAT(std::string(open(name).status().message()), HasSubstr(words));
  }
  const auto lost = open("p13_lost");
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_THAT((*lost)->content().gaps, ElementsAre(SampleRange{.first = 2560, .count = 512},
                                                   SampleRange{.first = 57 * 256, .count = 256}));
  EXPECT_THAT((*open("p15_ratedouble"))->content().notes,
              ElementsAre(Noted("RATE_CHANGES|samples_per_s=2000000")));
  EXPECT_THAT((*open("p21_fwd"))->content().notes,
              ElementsAre(Noted("CLOCK_SET|seconds=+3600.000000")));
  EXPECT_THAT((*open("p22_trunc"))->content().notes, ElementsAre(Noted("CAPTURE_CUT")));
}

TEST_F(SharedCasesTest, Archives) {
  Generate("sigmf.py");
  if (IsSkipped() || HasFatalFailure()) return;
  const auto open = [&](const std::string& name, const ReadOptions& options = {}) {
    return OpenSigmf(Input(name + ".sigmf"), options);
  };
  for (const char* name :
       {"a01_ok", "a02_rev", "a03_longpax", "a07_mac", "a10_extra", "a11_noeof"}) {
    SCOPED_TRACE(name);
    ExpectRamp(open(name), 100'000);
  }
  EXPECT_THAT(std::string(open("a06_two").status().message()), HasSubstr("a/a, b/b"));
  EXPECT_THAT(std::string(open("a12_mismatch").status().message()),
              HasSubstr("a.sigmf-meta, b.sigmf-data"));
  ExpectRamp(open("a06_two", {.member = "b"}), 100'000);
}

TEST_F(SharedCasesTest, Sigmf) {
  Generate("sigmf.py");
  if (IsSkipped() || HasFatalFailure()) return;
  const auto open = [&](const std::string& name) { return OpenSigmf(Input(name + ".sigmf-meta")); };
  const auto content = [&](const std::string& name) {
    const auto reader = open(name);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? (*reader)->content() : Content();
  };
  for (const char* name : {"s02b_offset", "s03_first", "s05_nodt", "s09_toend", "s12_rich",
                           "s15b_5000", "s21_missing", "s22_beyond", "s23_rate"}) {
    SCOPED_TRACE(name);
    ExpectRamp(open(name), 100'000);
  }
  EXPECT_THAT(content("s01_gap").gaps, ElementsAre(SampleRange{50'000, 10'000'000}));
  EXPECT_EQ(content("s02b_offset").annotations.at(0).sample_start, 500u);
  EXPECT_EQ(content("s03_first").start_ns, 1'704'164'644'950'000'000);
  EXPECT_EQ(content("s05_nodt").start_ns, std::nullopt);
  EXPECT_EQ(content("s07c_headerfloat").bytes, 99'999u * 4);
  EXPECT_EQ(content("s09_toend").annotations.at(0).sample_count, 99'000u);
  EXPECT_THAT(content("s12_rich").metadata, HasSubstr("USRP X310"));
  EXPECT_THAT(content("s12_rich").annotations.at(1).details, HasSubstr("f81d4fae"));
  EXPECT_THAT(content("s14_odd").notes, ElementsAre(Noted("PARTIAL_SAMPLE|bytes=2")));
  EXPECT_EQ(content("s15b_5000").annotations.size(), 5000u);
  EXPECT_EQ(content("s22_beyond").annotations.at(0).sample_count, 10u);
  EXPECT_EQ(content("s22_beyond").notes.size(), 2u);
  EXPECT_EQ(content("s23_rate").sample_rate, 2e6);
  for (const auto& [name, words] :
       {std::pair("s06_sha", "core:sha512"), std::pair("s08_chan", "num_channels: 2"),
        std::pair("s13b_nan", "line 1, column "), std::pair("s20_latin1", "line 1, column ")}) {
    EXPECT_THAT(RefusalOf(open(name)), HasSubstr(words)) << name;
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
