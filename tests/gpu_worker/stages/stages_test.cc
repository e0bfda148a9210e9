// What stages are told: every parameter is checked where it is read, and the list knows every
// stage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/stages/convert/transform.h"
#include "gpu_worker/stages/fft/transform.h"
#include "gpu_worker/stages/file/file.h"
#include "gpu_worker/stages/list.h"
#include "gpu_worker/stages/null/sink.h"
#include "gpu_worker/stages/power/transform.h"
#include "gpu_worker/stages/synth/source.h"
#include "gpu_worker/stages/verify/sink.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages {
namespace {

using services::StageParameters;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::MatchesRegex;
using testing::StartsWith;

void ExpectRefused(const absl::Status& status, const std::string& field, const std::string& text) {
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  const auto reason = services::ReasonOf(status);
  ASSERT_TRUE(reason.has_value()) << status;
  EXPECT_EQ(reason->reason, "ARGUMENT_INVALID");
  EXPECT_EQ(reason->metadata.at("field"), field);
  EXPECT_EQ(status.message(), text);
}

struct Refusal {
  StageParameters given;
  std::string field;
  std::string text;
};

TEST(SynthParametersTest, AreReadWhateverTheirType) {
  EXPECT_EQ(*synth::Parse({}), synth::Parameters());
  const synth::Parameters wanted{.seed = ~uint64_t{0}, .tones = {0.5, -0.5}, .noise = 2};
  EXPECT_EQ(
      *synth::Parse(
          {{"seed", ~uint64_t{0}}, {"tones", std::vector<double>{0.5, -0.5}}, {"noise", 2.0}}),
      wanted);
  EXPECT_EQ(*synth::Parse({{"seed", "18446744073709551615"}, {"tones", "0.5,-0.5"}, {"noise", 2}}),
            wanted);
  EXPECT_EQ(synth::Parse({{"seed", 0}, {"noise", 0}})->seed, 0u);
  EXPECT_TRUE(synth::Parse({{"tones", ""}})->tones.empty());
  EXPECT_THAT(synth::Parse({{"tones", 0.25}})->tones, ElementsAre(0.25));
  EXPECT_EQ(synth::Parse({{"tones", std::vector<double>(16, 0.5)}})->tones.size(), 16u);
}

TEST(SynthParametersTest, RefusesWhatCannotBe) {
  const std::string tones = "; it must be at most 16 numbers from -0.5 to 0.5";
  const std::string noise = "; it must be a number from 0 to 1e+06";
  const std::string seed = "; it must be a whole number from 0 to 18446744073709551615";
  const Refusal rows[] = {
      {{{"tones", std::vector<double>{0.1, 0.51}}},
       "synth.tones",
       "synth: tones is 0.1,0.51" + tones},
      {{{"tones", std::vector<double>{NAN}}}, "synth.tones", "synth: tones is nan" + tones},
      {{{"tones", std::vector<double>(17)}},
       "synth.tones",
       "synth: tones is 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0" + tones},
      {{{"tones", "0.1,x"}}, "synth.tones", "synth: tones is \"0.1,x\"" + tones},
      {{{"noise", -1}}, "synth.noise", "synth: noise is -1" + noise},
      {{{"noise", 1e6 + 1}}, "synth.noise", "synth: noise is 1000001" + noise},
      {{{"noise", NAN}}, "synth.noise", "synth: noise is nan" + noise},
      {{{"noise", std::numeric_limits<double>::infinity()}},
       "synth.noise",
       "synth: noise is inf" + noise},
      {{{"noise", true}}, "synth.noise", "synth: noise is true" + noise},
      {{{"seed", -1}}, "synth.seed", "synth: seed is -1" + seed},
      {{{"seed", 1.0}}, "synth.seed", "synth: seed is 1" + seed},
      {{{"seed", "18446744073709551616"}},
       "synth.seed",
       "synth: seed is \"18446744073709551616\"" + seed},
      {{{"seed", "a\n\"b"}}, "synth.seed", "synth: seed is \"a \"b\"" + seed},
      {{{"seeed", 1}}, "synth.seeed", "synth has no parameter \"seeed\"; did you mean \"seed\"?"},
      {{{"colour", 1}, {"noise", -1}},
       "synth.colour",
       "synth has no parameter \"colour\"; it has seed, tones, noise"},
  };
  for (const Refusal& row : rows)
    ExpectRefused(synth::Parse(row.given).status(), row.field, row.text);
}

TEST(SynthParametersTest, LongValuesAreCut) {
  const absl::Status status = synth::Parse({{"seed", std::string(5000, 'x')}}).status();
  EXPECT_LT(status.message().size(), 200u);
}

TEST(FftParametersTest, PointsAreAnyNumberWithinBounds) {
  EXPECT_EQ(fft::Parse({{"points", 2}})->points, 2u);
  EXPECT_EQ(fft::Parse({{"points", 1009}})->points, 1009u);
  EXPECT_EQ(fft::Parse({{"points", "65536"}})->points, 65536u);
  EXPECT_EQ(fft::Parse({{"points", 16}, {"window", "hann"}})->window, "hann");
  const std::string allowed = "; it must be a whole number from 2 to 65536";
  const Refusal rows[] = {
      {{}, "fft.points", "fft: points is missing" + allowed},
      {{{"points", 0}}, "fft.points", "fft: points is 0" + allowed},
      {{{"points", 1}}, "fft.points", "fft: points is 1" + allowed},
      {{{"points", 65537}}, "fft.points", "fft: points is 65537" + allowed},
      {{{"points", uint64_t{1} << 36}},
       "fft.points",
       "fft: points is 68719476736; it must be a whole number from 0 to 4294967295"},
      {{{"points", 16}, {"window", "han"}},
       "fft.window",
       "fft: window is \"han\"; it must be one of none, hann, hamming, blackman, flattop"},
      {{{"point", 16}}, "fft.point", "fft has no parameter \"point\"; did you mean \"points\"?"},
  };
  for (const Refusal& row : rows)
    ExpectRefused(fft::Parse(row.given).status(), row.field, row.text);
}

TEST(PowerParametersTest, PointsAndAverageHaveBounds) {
  EXPECT_EQ(power::Parse({{"points", 1024}})->average, 1u);
  EXPECT_EQ(power::Parse({{"points", "1"}, {"average", "65536"}})->average, 65536u);
  const std::string allowed = "; it must be a whole number from 1 to 65536";
  const Refusal rows[] = {
      {{}, "power.points", "power: points is missing" + allowed},
      {{{"points", 65537}}, "power.points", "power: points is 65537" + allowed},
      {{{"points", 4}, {"average", 0}}, "power.average", "power: average is 0" + allowed},
      {{{"points", 4}, {"average", 65537}}, "power.average", "power: average is 65537" + allowed},
  };
  for (const Refusal& row : rows)
    ExpectRefused(power::Parse(row.given).status(), row.field, row.text);
}

TEST(ConvertParametersTest, AreTwoDatatypesThatDiffer) {
  const auto description = convert::Describe(*convert::Parse({{"to", "ri16_be"}}));
  EXPECT_EQ(description.takes, "cf32_le");
  EXPECT_EQ(description.gives, "ri16_be");
  EXPECT_EQ(convert::Parse({{"from", "cu8"}})->to, "cf32_le");
  const std::string allowed = "; it must be a SigMF datatype, e.g. ci16_le";
  const Refusal rows[] = {
      {{{"from", "cu9"}}, "convert.from", "convert: from is \"cu9\"" + allowed},
      {{{"to", "ci16"}}, "convert.to", "convert: to is \"ci16\"" + allowed},
      {{},
       "convert.to",
       "convert: to is missing; it must be another datatype than from, which is cf32_le"},
  };
  for (const Refusal& row : rows)
    ExpectRefused(convert::Parse(row.given).status(), row.field, row.text);
}

TEST(FileParametersTest, PathsAndFlags) {
  EXPECT_TRUE(file::ParseSource({{"path", "a"}, {"loop", "true"}})->loop);
  EXPECT_TRUE(file::ParseSink({{"path", "a"}, {"replace", true}})->replace);
  EXPECT_EQ(file::ParseSource({{"path", std::string(4096, 'x')}})->path.size(), 4096u);
  const std::string path = "; it must be a path on the worker's machine, of at most 4096 bytes";
  const Refusal rows[] = {
      {{}, "file.path", "file: path is missing" + path},
      {{{"path", ""}}, "file.path", "file: path is \"\"" + path},
      {{{"path", 5}}, "file.path", "file: path is 5; it must be a text"},
      {{{"path", std::string("a\0b", 3)}}, "file.path", "file: path is \"a\\x00b\"" + path},
      {{{"path", std::string(4097, 'x')}},
       "file.path",
       "file: path is \"" + std::string(80, 'x') + "...\"" + path},
  };
  for (const Refusal& row : rows) {
    ExpectRefused(file::ParseSource(row.given).status(), row.field, row.text);
    ExpectRefused(file::ParseSink(row.given).status(), row.field, row.text);
  }
  ExpectRefused(file::ParseSource({{"path", "a"}, {"loop", 1}}).status(), "file.loop",
                "file: loop is 1; it must be true or false");
  ExpectRefused(file::ParseSink({{"path", "a"}, {"loop", true}}).status(), "file.loop",
                "file has no parameter \"loop\"; it has path, replace");
  ExpectRefused(file::ParseSource({{"path", "a"}, {"replace", true}}).status(), "file.replace",
                "file has no parameter \"replace\"; it has path, loop");
}

TEST(PlainSinksTest, HaveNoParameters) {
  EXPECT_TRUE(null::Parse({}).ok());
  EXPECT_TRUE(verify::Parse({}).ok());
  ExpectRefused(null::Parse({{"path", "a"}}).status(), "null.path",
                "null has no parameter \"path\"; it has none");
  ExpectRefused(verify::Parse({{"strict", true}}).status(), "verify.strict",
                "verify has no parameter \"strict\"; it has none");
}

TEST(StageListTest, KnowsEachStageByItsName) {
  EXPECT_THAT(Names(), IsSupersetOf({"source file", "source synth", "transform fft", "sink file",
                                     "sink null", "sink verify"}));
  const auto synth = ChooseSource({"synth", {{"seed", 9}}});
  ASSERT_TRUE(synth.ok()) << synth.status();
  EXPECT_EQ(synth->name, "synth");
  EXPECT_FALSE(synth->description.ends);
  EXPECT_EQ(synth->description.parameters, (TextParameters{{"version", "1"},
                                                           {"seed", "9"},
                                                           {"tones", "0.125,-0.25"},
                                                           {"noise", "0.10000000000000001"}}));
  const auto file = ChooseSource({"file", {{"path", "/a"}}});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->description.ends);
  EXPECT_EQ(file->description.parameters, (TextParameters{{"path", "/a"}}));
  EXPECT_FALSE(ChooseSource({"file", {{"path", "/a"}, {"loop", true}}})->description.ends);
  EXPECT_EQ(ChooseTransform({"fft", {{"points", 1024}}})->description.parameters,
            (TextParameters{{"points", "1024"}}));
  const TextParameters windowed{{"points", "1024"}, {"window", "hann"}};
  EXPECT_EQ(
      ChooseTransform({"fft", {{"points", 1024}, {"window", "hann"}}})->description.parameters,
      windowed);
  EXPECT_EQ(fft::Describe(*fft::FromOrigin(windowed)).parameters, windowed);
  for (const char* name : {"verify", "null"}) EXPECT_TRUE(ChooseSink({name}).ok()) << name;
}

TEST(StageListTest, NamesTheNearestOfWhatItDoesNotHave) {
  ExpectRefused(ChooseSource({"snyth"}).status(), "source",
                "no source \"snyth\"; did you mean \"synth\"?");
  // Whichever those are.
  EXPECT_THAT(std::string(ChooseSource({"radio"}).status().message()),
              MatchesRegex("no source \"radio\"; this worker has .*file.*synth.*"));
  EXPECT_THAT(std::string(ChooseSource({"verify"}).status().message()),
              StartsWith("no source \"verify\"; this worker has "));
  ExpectRefused(ChooseTransform({"ftt"}).status(), "transform",
                "no transform \"ftt\"; did you mean \"fft\"?");
  EXPECT_THAT(std::string(ChooseSink({"a\nb"}).status().message()),
              StartsWith("no sink \"a b\"; this worker has "));
}

class DeviceOfKind final : public device::Device {
 public:
  explicit DeviceOfKind(const std::string& kind)
      : Device({.kind = kind, .description = kind + ":0"}) {}

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewDeviceMemory(size_t /*bytes*/) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewHostMemory(size_t /*bytes*/) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::unique_ptr<device::Queue>> NewQueue() override {
    return absl::UnimplementedError("");
  }
  device::DirectAccess* direct() override { return nullptr; }
};

void ExpectUnusable(const absl::Status& status, const std::string& text) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << text;
  const auto reason = services::ReasonOf(status);
  ASSERT_TRUE(reason.has_value()) << status;
  EXPECT_EQ(reason->reason, "DEVICE_UNUSABLE");
  EXPECT_EQ(status.message(), text);
}

// What each stage that computes on a device says of one that it has no source for.
void ExpectNoSourceFor(const std::string& kind, const std::string& why, const std::string& fft) {
  DeviceOfKind other(kind);
  const auto host = pipeline::ChooseDevice("host");
  const auto queue = host->device->NewQueue();
  ExpectUnusable(ChooseSource({"synth"})->create({.device = &other}).status(), "synth" + why);
  const TransformSetup setup{.device = &other, .queue = queue->get(), .block_bytes = 1 << 20};
  const auto create = [&](const services::StageSpec& spec) {
    return ChooseTransform(spec)->create(setup).status();
  };
  ExpectUnusable(create({"convert", {{"from", "cu8"}}}), "convert" + why);
  ExpectUnusable(create({"power", {{"points", 64}}}), "power" + why);
  const std::string cannot = "fft: " + kind + ":0 cannot transform: " + fft;
  ExpectUnusable(create({"fft", {{"points", 64}}}), cannot);
  ExpectUnusable(create({"detect", {{"points", 64}, {"threshold", 0}}}), cannot);
}

TEST(StageListTest, AStageSaysWhyItHasNothingForADevice) {
  ExpectNoSourceFor("other", ": none for devices of kind other", "no FFT for devices of its kind");
  const auto gpu = pipeline::ChooseDevice("cuda:0");
  if (!absl::StrContains(gpu.status().message(), "built without CUDA")) return;
  ExpectNoSourceFor("cuda", ": built without CUDA", "built without CUDA");
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages
