#include "services/formats/io/export_mark.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "services/base/files/errors.h"
#include "services/signal/sigmf/foreign_json.h"

namespace tapedeck::services::formats {
namespace {

using nlohmann::json;

constexpr char kKind[] = "tapedeck export";
constexpr uint64_t kVersion = 2;
// Beyond any recording: sums of two do not overflow.
constexpr uint64_t kMostInMark = uint64_t{1} << 62;

// Reads members of the right type, and remembers whether one was none.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  uint64_t Number(const json& value) {
    if (value.is_number_unsigned() && value.get<uint64_t>() < kMostInMark)
      return value.get<uint64_t>();
    good_ = false;
    return 0;
  }
  uint64_t Number(const char* name) { return Number(Find(name)); }
  std::string Text(const char* name) {
    const json value = Find(name);
    if (value.is_string()) return value.get<std::string>();
    good_ = false;
    return "";
  }
  // Lists of `size` whole numbers.
  std::vector<std::vector<int64_t>> Rows(const char* name, size_t size) {
    std::vector<std::vector<int64_t>> rows;
    const json list = Find(name);
    good_ = good_ && list.is_array();
    if (!good_) return {};
    for (const json& one : list) {
      good_ = good_ && one.is_array() && one.size() == size;
      if (!good_) return {};
      std::vector<int64_t>& row = rows.emplace_back();
      for (const json& value : one) {
        good_ = good_ && value.is_number_integer();
        if (!good_) return {};
        row.push_back(value.get<int64_t>());
      }
    }
    return rows;
  }
  bool good() const { return good_; }

 private:
  json Find(const char* name) const { return object_.value(name, json()); }

  const json& object_;
  bool good_ = true;
};

}  // namespace

std::string EncodeMark(const ExportMark& mark) {
  json runs = json::array(), gaps = json::array();
  for (const sigmf::Run& run : mark.seen.runs) {
    runs.push_back({run.sample, run.sample_index});
  }
  for (const SampleRange& gap : mark.seen.gaps) gaps.push_back({gap.first, gap.count});
  const json object = {{"kind", kKind},
                       {"version", kVersion},
                       {"uid", mark.key.uid},
                       {"format", mark.key.format},
                       {"first_sample", mark.key.first_sample},
                       {"bytes", mark.key.bytes},
                       {"offset", mark.offset},
                       {"file_bytes", mark.file_bytes},
                       {"runs", runs},
                       {"gaps", gaps}};
  return object.dump() + "\n";
}

absl::StatusOr<ExportMark> DecodeMark(const std::string& path, const std::string& text) {
  const json object = sigmf::ParseForeign(text);
  if (!object.is_object() || object.value("kind", json()) != kKind) {
    return files::Invalid(path, "is no mark of an export");
  }
  if (object.value("version", json()) != kVersion) {
    return files::Invalid(path, "is of another version");
  }
  Members members(object);
  ExportMark mark{.key = {.uid = members.Text("uid"),
                          .format = members.Text("format"),
                          .first_sample = members.Number("first_sample"),
                          .bytes = members.Number("bytes")},
                  .offset = members.Number("offset"),
                  .file_bytes = members.Number("file_bytes")};
  for (const std::vector<int64_t>& run : members.Rows("runs", 2)) {
    mark.seen.runs.push_back(
        {.sample = static_cast<uint64_t>(run[0]), .sample_index = static_cast<uint64_t>(run[1])});
  }
  for (const std::vector<int64_t>& gap : members.Rows("gaps", 2)) {
    mark.seen.gaps.push_back(
        {.first = static_cast<uint64_t>(gap[0]), .count = static_cast<uint64_t>(gap[1])});
  }
  if (!members.good() || mark.offset > mark.key.bytes) {
    return files::Invalid(path, "has values that no export has");
  }
  return mark;
}

}  // namespace tapedeck::services::formats
