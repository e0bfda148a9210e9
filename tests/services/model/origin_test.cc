#include "services/model/recording/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tapedeck::services::model {
namespace {

using testing::HasSubstr;

Origin Synth() {
  return {.source = {.name = "synth", .parameters = {{"seed", "7"}, {"noise", "0"}}},
          .transforms = {{.name = "fft", .parameters = {{"points", "64"}}}},
          .datatype = "cf32_le",
          .device = "host",
          .worker = "w1",
          .version = "0.1.0"};
}

TEST(OriginTest, IsATextForPeople) {
  EXPECT_EQ(OriginText(Synth()), "synth(noise=0, seed=7) -> fft(points=64), on host, by w1 0.1.0");
  EXPECT_EQ(OriginText({}), "unknown source");
  EXPECT_EQ(OriginText({.source = {.name = "file"}}), "file");
}

TEST(OriginTest, SaysWhatTheSamplesAre) {
  EXPECT_EQ(SampleType({}, "cu8"), "cu8");
  EXPECT_EQ(SampleType({.datatype = "rf32_le"}, "cf32_le"), "rf32_le");
}

TEST(OriginTest, HasBounds) {
  EXPECT_EQ(OriginProblem({}), "");
  EXPECT_EQ(OriginProblem(Synth()), "");
  const auto problem = [](auto change) {
    Origin origin = Synth();
    change(origin);
    return OriginProblem(origin);
  };
  const std::string wide(kMaxOriginTextBytes + 1, 'x');
  EXPECT_THAT(problem([](Origin& o) { o.transforms.resize(kMaxOriginTransforms + 1); }),
              HasSubstr("more than 32 transforms"));
  EXPECT_THAT(problem([](Origin& o) { o.transforms[0].name = ""; }), HasSubstr("without a name"));
  EXPECT_THAT(problem([&](Origin& o) { o.source.name = wide; }), HasSubstr("long name"));
  EXPECT_THAT(problem([](Origin& o) { o.source.parameters["a\nb"] = ""; }), HasSubstr("bad name"));
  EXPECT_THAT(problem([](Origin& o) { o.source.parameters["a"] = std::string(4097, 'x'); }),
              HasSubstr("4096 bytes"));
  EXPECT_THAT(problem([](Origin& o) {
                for (int i = 0; i < 65; ++i) o.source.parameters[std::to_string(i)];
              }),
              HasSubstr("more than 64 parameters"));
  EXPECT_THAT(problem([](Origin& o) {
                for (int i = 0; i < 17; ++i) {
                  o.source.parameters[std::to_string(i)] = std::string(4096, 'x');
                }
              }),
              HasSubstr("longer than 65536 bytes"));
  EXPECT_THAT(problem([&](Origin& o) { o.device = wide; }), HasSubstr("256 bytes"));
  EXPECT_THAT(problem([](Origin& o) { o.datatype = "no type"; }), HasSubstr("not a SigMF type"));
}

TEST(OriginTest, TakesWhatItsTextTakesInAManifest) {
  Origin escaped = Synth();
  escaped.source.parameters["path"] = std::string(100, '\x01');
  EXPECT_GE(WrittenBytes(escaped), WrittenBytes(Synth()) + 600);
}

}  // namespace
}  // namespace tapedeck::services::model
