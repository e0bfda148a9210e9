// SigMF metas that cannot be right: each is refused, with the place and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/services/formats/sigmf_field.h"

namespace tapedeck::services::formats {
namespace {

using testing::HasSubstr;

struct RefusedRow {
  const char* name;
  Change change;
  const char* words;  // place, and what is wrong or what to do
};

const RefusedRow kRefused[] = {
    {"rate_0", Global("core:sample_rate", 0), "global.core:sample_rate: 0 is not a rate"},
    {"rate_negative", Global("core:sample_rate", -1e6),
     "global.core:sample_rate: -1000000.0 is no"},
    {"rate_1e400", Instead("1000000.0", "1e400"), "line 1, column "},
    {"rate_20_digits", Instead("1000000.0", "12345678901234567890"),
     "global.core:sample_rate: 1234"},
    {"rate_nan", Instead("1000000.0", "NaN"), "line 1, column "},
    {"type_without_order", Global("core:datatype", "cf32"),
     "global.core:datatype: datatype 'cf32'"},
    {"type_upper_case", Global("core:datatype", "CF32_LE"), "global.core:datatype: "},
    {"type_ci4", Global("core:datatype", "ci4"), "global.core:datatype: "},
    {"type_null", Global("core:datatype", nullptr), "global: core:datatype is missing"},
    {"two_channels", Global("core:num_channels", 2),
     "make a file of each channel, or import x.sigmf-data with --format raw"},
    {"metadata_only", Global("core:metadata_only", true), "there are no samples"},
    {"dataset_in_a_folder", Global("core:dataset", "../x.bin"),
     "global.core:dataset is not the name"},
    {"trailing_beyond", Global("core:trailing_bytes", 4001),
     "global.core:trailing_bytes: 4001 of 4000"},
    {"header_only", CaptureKey("core:header_bytes", 4000), "there are no samples"},
    {"hash_of_other_data", Global("core:sha512", std::string(128, 'a')),
     "remove core:sha512 from the meta"},
    {"time_year_9999", CaptureKey("core:datetime", "9999-12-31T23:59:59Z"),
     "captures[0].core:datetime: \"9999-12-31T23:59:59Z\" is not a time from 1823 to 2116"},
    {"time_empty", CaptureKey("core:datetime", ""),
     "captures[0].core:datetime: \"\" is not a time"},
    {"time_epoch", CaptureKey("core:datetime", 1704164645),
     "captures[0].core:datetime: 1704164645"},
    {"time_date_alone", CaptureKey("core:datetime", "2024-01-02"), "captures[0].core:datetime: "},
    {"time_month_13", CaptureKey("core:datetime", "2024-13-02T03:04:05Z"),
     "captures[0].core:datetime"},
    {"start_2_63", CaptureKey("core:sample_start", uint64_t{1} << 63),
     "captures[0].core:sample_start"},
    {"count_negative",
     [](FieldFiles& x) {
       x.Annotate({{"core:sample_start", 5}, {"core:sample_count", -1}});
     },
     "annotations[0].core:sample_count: -1 is not a whole number"},
    {"comment_in_json", Instead("\"captures\"", "// mine\n\"captures\""), "line 1, column "},
    {"comma_too_many", Instead("\"annotations\":[]", "\"annotations\":[],"), "line 1, column "},
    {"single_quotes", Text("{'global': {}}"), "line 1, column 2: "},
    {"two_objects", [](FieldFiles& x) { x.text = x.meta.dump() + x.meta.dump(); },
     "line 1, column "},
    {"nul_padded", [](FieldFiles& x) { x.text = x.meta.dump() + std::string(4, '\0'); },
     "line 1, column "},
    {"cut_json", Text(R"({"global": {"core:datatype")"), "line 1, column "},
    {"empty_meta", Text(" "), "line 1, column "},
    {"a_list", Text("[1]"), "it is not a JSON object"},
    {"utf16", Text(std::string("\xff\xfe{\0}\0", 6)), "line 1, column "},
    {"lone_surrogate", Instead("1.2.0", "\\ud800"), "line 1, column "},
    {"deep", Text(std::string(100'000, '[')), "nested deeper than 32 levels"},
    {"long_string", Text("{\"global\": \"" + std::string(17 << 20, 'x') + "\"}"), "16777216 bytes"},
    {"member_of_a_pair", [](FieldFiles& x) { x.options.member = "x"; },
     "is not an archive, of which"},
    {"no_data_bytes", [](FieldFiles& x) { x.data.clear(); }, "there are no samples"},
};

TEST_F(SigmfFieldTest, IsRefusedWithThePlaceAndTheReason) {
  for (const auto& [name, change, words] : kRefused) {
    EXPECT_THAT(RefusalOf(Open(change)), HasSubstr(words)) << name;
  }
}

TEST_F(SigmfFieldTest, DataThatIsNoFileIsRefused) {
  const auto open = [this] { return Open([](FieldFiles& x) { x.data_name = ""; }).status(); };
  EXPECT_EQ(ReasonIn(open()), "FILE_NOT_FOUND");
  EXPECT_THAT(std::string(open().message()), HasSubstr("x.sigmf-data"));
  const std::string data = folder_ + "/x.sigmf-data";
  std::filesystem::create_directory(data);
  EXPECT_THAT(std::string(open().message()), HasSubstr("x.sigmf-data: is not a regular file"));
  std::filesystem::remove(data);
  ASSERT_EQ(mkfifo(data.c_str(), 0600), 0);
  EXPECT_THAT(std::string(open().message()), HasSubstr("x.sigmf-data: is not a regular file"));
}

TEST_F(SigmfFieldTest, AnotherFileOfThePairIsNamed) {
  ASSERT_TRUE(Open([](FieldFiles&) {}).ok());
  EXPECT_THAT(RefusalOf(OpenSigmf(folder_ + "/x.sigmf-data")), HasSubstr("x.sigmf-meta"));
  EXPECT_THAT(RefusalOf(OpenSigmf(folder_ + "/x.sigmf-collection")), HasSubstr("one by one"));
}

}  // namespace
}  // namespace tapedeck::services::formats
