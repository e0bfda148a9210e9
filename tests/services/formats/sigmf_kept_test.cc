// SigMF metas as field software and people write them: each is kept, or named in a note.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/ascii.h"
#include "services/signal/sigmf/sha512.h"
#include "tests/services/formats/sigmf_field.h"
#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct KeptRow {
  const char* name;
  Change change;
  std::vector<const char*> notes = {};  // as Noted has them, in this order
  std::function<void(const Content&)> look = [](const Content&) {};
  uint64_t samples = kFieldSamples;
};

Change At(const char* datetime) { return CaptureKey("core:datetime", datetime); }
std::function<void(const Content&)> Begins(int64_t ns) {
  return [ns](const Content& content) { EXPECT_EQ(content.start_ns, ns); };
}
std::function<void(const Content&)> TellsType(const char* datatype) {
  return [datatype](const Content& content) { EXPECT_EQ(content.datatype, datatype); };
}

const KeptRow kKept[] = {
    {"time_offset", At("2024-01-02T05:34:05+02:30"), {}, Begins(kFieldNs)},
    {"time_no_colon", At("2024-01-01T22:04:05-0500"), {}, Begins(kFieldNs)},
    {"time_lower_case", At("2024-01-02t03:04:05z"), {}, Begins(kFieldNs)},
    {"time_no_zone",
     At("2024-01-02T03:04:05"),
     {"TIME_WITHOUT_ZONE|times=1|of=1"},
     Begins(kFieldNs)},
    {"time_space",
     At("2024-01-02 03:04:05,25"),
     {"TIME_WITHOUT_ZONE|times=1|of=1"},
     Begins(kFieldNs + 250'000'000)},
    {"time_12_digits", At("2024-01-02T03:04:05.123456789012Z"), {}, Begins(kFieldNs + 123'456'789)},
    {"time_leap_second",
     At("2016-12-31T23:59:60.5Z"),
     {"LEAP_SECOND|times=1|of=1"},
     Begins(1'483'228'800'500'000'000)},
    {"time_before_1970", At("1969-12-31T23:59:58.5Z"), {}, Begins(-1'500'000'000)},
    {"time_1970", At("1970-01-01T00:00:00Z"), {}, Begins(0)},
    {"time_null",
     CaptureKey("core:datetime", nullptr),
     {},
     [](const Content& content) { EXPECT_FALSE(content.start_ns.has_value()); }},
    {"rate_null",
     Global("core:sample_rate", nullptr),
     {},
     [](const Content& content) { EXPECT_EQ(content.sample_rate, 0); }},
    {"type_cf32_be", Global("core:datatype", "cf32_be"), {}, TellsType("cf32_be"), 500},
    {"type_ri8", Global("core:datatype", "ri8"), {}, TellsType("ri8"), 4000},
    {"type_cu8", Global("core:datatype", "cu8"), {}, TellsType("cu8"), 2000},
    {"type_rf64", Global("core:datatype", "rf64_le"), {}, TellsType("rf64_le"), 500},
    {"bom_and_crlf",
     [](FieldFiles& x) {
       x.text = "\xef\xbb\xbf" + absl::StrReplaceAll(x.meta.dump(2), {{"\n", "\r\n"}}) + "\r\n";
     }},
    {"no_captures", [](FieldFiles& x) { x.meta.erase("captures"); }},
    {"captures_empty", [](FieldFiles& x) { x.meta["captures"] = json::array(); }},
    {"annotations_null", [](FieldFiles& x) { x.meta["annotations"] = nullptr; }},
    {"retuned",
     [](FieldFiles& x) {
       x.meta["captures"] = {{{"core:sample_start", 0}, {"core:frequency", 100e6}},
                             {{"core:sample_start", 400}, {"core:frequency", 101e6}},
                             {{"core:sample_start", 400}, {"core:frequency", 102.5e6}}};
     },
     {},
     [](const Content& content) {
       ASSERT_EQ(content.annotations.size(), 3u);
       EXPECT_EQ(content.annotations[1].sample_start, 400u);
       EXPECT_EQ(content.annotations[2].comment, "frequency=102500000");
     }},
    {"capture_header_cut",
     [](FieldFiles& x) {
       x.meta["captures"].push_back({{"core:sample_start", 990}, {"core:header_bytes", 100}});
     },
     {"SIGMF_CAPTURES_BEYOND|captures=1"},
     [](const Content&) {},
     990},
    {"dataset_wav",
     [](FieldFiles& x) {
       x.global()["core:dataset"] = x.data_name = "x y.wav";
       x.global()["core:trailing_bytes"] = 6;
       x.capture()["core:header_bytes"] = 44;
       x.data = std::string(44, 'h') + x.data + "LIST..";
     }},
    {"hash_upper_case",
     [](FieldFiles& x) {
       x.global()["core:sha512"] = absl::AsciiStrToUpper(sigmf::Sha512(x.data));
     }},
    {"sigmf_python",
     [](FieldFiles& x) {
       x.global().update(
           {{"core:num_channels", 1}, {"core:offset", 0}, {"core:extensions", json::array()}});
       x.capture()["core:datetime"] = "2024-01-02T03:04:05.000000+00:00";
     },
     {},
     Begins(kFieldNs)},
    {"extension_that_is_needed",
     [](FieldFiles& x) {
       x.global()["core:extensions"] = {
           {{"name", "spatial"}, {"version", "1.0.0"}, {"optional", false}},
           {{"name", "antenna"}, {"version", "1.0.0"}, {"optional", true}}};
     },
     {"SIGMF_EXTENSIONS_KEPT|count=1|names=spatial"},
     [](const Content& content) { EXPECT_THAT(content.metadata, HasSubstr("spatial")); }},
    {"extensions_of_0_0_1",
     Global("core:extensions", {{"antenna", "v0.9.0"}}),
     {},
     [](const Content& content) {
       EXPECT_EQ(json::parse(content.metadata)["global"]["core:extensions"],
                 json::parse(R"([{"name": "antenna", "version": "v0.9.0", "optional": true}])"));
     }},
    {"version_2", Global("core:version", "2.0.0"), {"SIGMF_VERSION|version=2.0.0"}},
    {"annotations_in_any_order",
     [](FieldFiles& x) {
       x.Annotate({{"core:sample_start", 500}, {"core:sample_count", 400}, {"core:label", "b"}});
       x.Annotate({{"core:sample_start", 100}, {"core:sample_count", 800}, {"core:label", "a"}});
       x.Annotate({{"core:sample_start", 999}, {"core:sample_count", 0}, {"core:label", nullptr}});
     },
     {},
     [](const Content& content) {
       ASSERT_EQ(content.annotations.size(), 3u);
       EXPECT_EQ(content.annotations[1].sample_count, 800u);
       EXPECT_EQ(content.annotations[2].sample_count, 0u);
     }},
    {"annotation_before_offset",
     [](FieldFiles& x) {
       x.global()["core:offset"] = 10;
       x.capture()["core:sample_start"] = 10.0;
       x.Annotate({{"core:sample_start", 9}, {"core:sample_count", 5}});
     },
     {"SIGMF_ANNOTATIONS_BEYOND|count=1"}},
    {"comment_of_8_kib",
     [](FieldFiles& x) {
       x.Annotate({{"core:sample_start", 1}, {"core:comment", std::string(8192, 'c')}});
     },
     {},
     [](const Content& content) { EXPECT_GT(content.annotations.at(0).details.size(), 8192u); }},
    {"comment_of_1_mib",
     [](FieldFiles& x) {
       x.Annotate({{"core:sample_start", 1}, {"core:comment", std::string(1 << 20, 'c')}});
     },
     {"SIGMF_KEYS_LONG|count=1"}},
    {"rate_told",
     [](FieldFiles& x) {
       x.global().erase("core:sample_rate");
       x.capture()["core:datetime"] = "2024-01-02T03:04:05.0000Z";
       x.meta["captures"].push_back(
           {{"core:sample_start", 500}, {"core:datetime", "2024-01-02T03:04:05.0105Z"}});
       x.options.sample_rate = 1e6;
     },
     {},
     [](const Content& content) {
       EXPECT_THAT(content.gaps, testing::ElementsAre(SampleRange{500, 10'000}));
     },
     11'000},
    {"rate_untold",
     [](FieldFiles& x) {
       x.global().erase("core:sample_rate");
       x.meta["captures"].push_back(
           {{"core:sample_start", 500}, {"core:datetime", "2024-01-02T03:04:15Z"}});
     },
     {"TIMES_NOT_COMPARED|times=1"},
     [](const Content& content) {
       EXPECT_THAT(content.annotations.at(0).details, HasSubstr("03:04:15Z"));
     }},
    {"odd_name",
     [](FieldFiles& x) {
       x.name = "-a b%20\xc3\xa4";
       x.data_name = x.name + ".sigmf-data";
     }},
};

TEST_F(SigmfFieldTest, IsKeptOrNamedInANote) {
  for (const KeptRow& row : kKept) {
    SCOPED_TRACE(row.name);
    const auto reader = Open(row.change);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) continue;
    const Content& content = (*reader)->content();
    const size_t sample_bytes = content.bytes / row.samples;
    EXPECT_EQ(content.bytes, row.samples * sample_bytes);
    std::string samples = *ReadAll(**reader);
    for (const SampleRange& gap : content.gaps) {
      samples.erase(gap.first * sample_bytes, gap.count * sample_bytes);
    }
    EXPECT_TRUE(Ramp(kFieldSamples).starts_with(samples));
    EXPECT_THAT(content.notes, testing::ElementsAreArray(NotedEach(row.notes)));
    row.look(content);
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
