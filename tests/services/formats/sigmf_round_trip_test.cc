// 200 metadata files made by chance, which use all of SigMF's schema and keys of other namespaces:
// what goes in comes out again.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/formats/sigmf/sigmf.h"
#include "services/signal/sigmf/core_keys.h"
#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {
namespace {

using nlohmann::json;

constexpr int kMetaFiles = 200;
constexpr uint64_t kFileSamples = 3000;
constexpr uint64_t kFeedIndex = 1000;  // what the feed counts its first sample as

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  json Meta() {
    json meta = {{"global", Global()}, {"captures", json::array()}, {"annotations", json::array()}};
    const uint64_t captures = Below(5);
    std::set<uint64_t> starts = {0};
    while (starts.size() <= captures) starts.insert(Below(kFileSamples));
    for (const uint64_t start : starts) meta["captures"].push_back(Capture(start));
    std::multiset<uint64_t> marks;
    for (uint64_t i = Below(20); i > 0; --i) marks.insert(Below(kFileSamples));
    for (const uint64_t start : marks) meta["annotations"].push_back(Annotation(start));
    return meta;
  }

 private:
  uint64_t Below(uint64_t most) { return random_() % most; }
  bool Maybe() { return Below(2) == 0; }

  std::string Text() {
    static constexpr const char* kTexts[] = {"x",          "Ünïcode °", "quoted \"words\"\\",
                                             "two\nlines", "missing",   "lost",
                                             "signal",     "a,b;c=d",   ""};
    return absl::StrCat(kTexts[Below(std::size(kTexts))], Below(100));
  }
  json Any(int depth = 0) {
    switch (Below(depth < 3 ? 7 : 5)) {
      case 0:
        return Text();
      case 1:
        return static_cast<int64_t>(random_()) - (int64_t{1} << 31);
      case 2:
        return static_cast<double>(random_()) / 7;
      case 3:
        return Maybe();
      case 4:
        return nullptr;
      case 5:
        return json::array({Any(depth + 1), Any(depth + 1)});
      default:
        return {{Text(), Any(depth + 1)}, {"core:label", Any(depth + 1)}};
    }
  }
  void Put(json* object, const char* key, json value) {
    if (Maybe()) (*object)[key] = std::move(value);
  }
  void PutOthers(json* object, const char* space) {
    for (uint64_t i = Below(4); i > 0; --i) (*object)[absl::StrCat(space, ":k", i)] = Any();
  }
  json Place() {
    json place = {{"type", "Point"},
                  {"coordinates", {-107.6 + static_cast<double>(Below(9)), 34.5}}};
    Put(&place, "bbox", {1, 2, 3, 4});
    return place;
  }

  json Global() {
    json global = {
        {"core:datatype", "ci16_le"}, {"core:sample_rate", 1e6}, {"core:version", "1.0.0"}};
    for (const char* key : {"core:author", "core:collection", "core:data_doi", "core:description",
                            "core:hw", "core:license", "core:meta_doi", "core:recorder"}) {
      Put(&global, key, Text());
    }
    Put(&global, "core:metadata_only", false);
    Put(&global, "core:num_channels", 1);
    Put(&global, "core:offset", Below(1) + 0);
    Put(&global, "core:trailing_bytes", 0);
    Put(&global, "core:geolocation", Place());
    Put(&global, "core:extensions",
        json::array({{{"name", "antenna"}, {"version", "1.0.0"}, {"optional", Maybe()}}}));
    PutOthers(&global, "antenna");
    return global;
  }

  json Capture(uint64_t start) {
    json capture = {{"core:sample_start", start}};
    Put(&capture, "core:frequency", static_cast<double>(random_()) / 3);
    Put(&capture, "core:global_index", start);
    Put(&capture, "core:header_bytes", 0);
    Put(&capture, "core:geolocation", Place());
    Put(&capture, "core:datetime",
        absl::StrCat("2024-01-02T03:04:05.", 100'000 + start, Maybe() ? "Z" : "+00:00"));
    PutOthers(&capture, "capture_details");
    return capture;
  }

  json Annotation(uint64_t start) {
    json annotation = {{"core:sample_start", start}};
    Put(&annotation, "core:sample_count", Below(kFileSamples - start));
    Put(&annotation, "core:freq_lower_edge", -1.5e6);
    Put(&annotation, "core:freq_upper_edge", static_cast<double>(random_()));
    for (const char* key : {"core:label", "core:comment", "core:generator", "core:description"}) {
      Put(&annotation, key, Text());
    }
    Put(&annotation, "core:comment", std::string(2000, 'c'));
    Put(&annotation, "core:uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
    PutOthers(&annotation, "wifi");
    return annotation;
  }

  std::mt19937 random_;
};

// That the file itself must say anew.
bool IsOfTheFile(const std::string& key) {
  return key == "core:version" || key == "core:header_bytes" || key == "core:offset" ||
         key == "core:trailing_bytes" || key == "core:num_channels";
}

void ExpectKept(const json& before, const json& after, const std::string& place) {
  for (const auto& [key, value] : before.items()) {
    if (IsOfTheFile(key)) continue;
    SCOPED_TRACE(absl::StrCat(place, ".", key));
    ASSERT_TRUE(after.contains(key)) << before << "\n" << after;
    if (key == "core:datetime") {
      EXPECT_EQ(sigmf::ParseDatetime(after[key])->time_ns, sigmf::ParseDatetime(value)->time_ns);
    } else if (key == "core:global_index") {
      EXPECT_EQ(after[key], value.get<uint64_t>() + kFeedIndex);
    } else if (key == "core:extensions") {
      for (const json& one : value) EXPECT_NE(std::ranges::find(after[key], one), after[key].end());
    } else {
      EXPECT_EQ(after[key], value);
    }
  }
}

void ExpectKeptLists(const json& before, const json& after, const std::string& name) {
  ASSERT_EQ(before[name].size(), after[name].size()) << before << "\n" << after;
  const auto all = [&](json list) {
    std::vector<json> sorted(list.begin(), list.end());
    std::ranges::stable_sort(
        sorted, {}, [](const json& one) { return one["core:sample_start"].get<uint64_t>(); });
    return sorted;
  };
  const auto befores = all(before[name]), afters = all(after[name]);
  for (size_t i = 0; i < befores.size(); ++i) {
    ExpectKept(befores[i], afters[i], absl::StrCat(name, "[", i, "]"));
  }
}

TEST(SigmfRoundTrip, KeepsEveryKey) {
  Feed feed{.samples = Samples(kFileSamples * 4)};
  for (uint32_t seed = 1; seed <= kMetaFiles && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const json before = Maker(seed).Meta();
    const std::string in = ScratchPath(absl::StrCat("in", seed, ".sigmf-meta"));
    WriteFile(in, before.dump());
    WriteFile(ScratchPath(absl::StrCat("in", seed, ".sigmf-data")), feed.samples);
    const auto reader = OpenSigmf(in);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const Content& content = (*reader)->content();
    EXPECT_EQ(*ReadAll(**reader), feed.samples);
    Recording recording = RecordingOf(feed.samples, content.datatype);
    recording.start_time_ns = content.start_ns;
    recording.origin.metadata = content.metadata;
    for (Annotation one : content.annotations) {
      one.sample_start += kFeedIndex;
      recording.annotations.push_back(std::move(one));
    }
    const auto subject = SubjectOf(recording, {});
    ASSERT_TRUE(subject.ok()) << subject.status();
    const std::string out = ScratchPath(absl::StrCat("out", seed, ".sigmf-meta"));
    const auto exported = formats::Export(*subject, RequestFor("sigmf", out, feed));
    ASSERT_TRUE(exported.ok()) << exported.status();
    const json after = json::parse(ReadFile(out));
    ExpectKept(before["global"], after["global"], "global");
    ExpectKeptLists(before, after, "captures");
    ExpectKeptLists(before, after, "annotations");
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
