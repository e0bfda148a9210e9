#include "services/signal/sigmf/meta.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/signal/sigmf/core_keys.h"
#include "services/signal/sigmf/foreign_json.h"

namespace tapedeck::services::sigmf {

using files::Invalid;

namespace {

using nlohmann::json;

// Of the library's words about an error, and of a key in one.
constexpr size_t kMaxErrorBytes = 160;

// "line 3, column 7" of the byte that was read last.
std::string LineOf(absl::string_view text, size_t position) {
  const absl::string_view before = text.substr(0, position > 0 ? position - 1 : 0);
  const size_t begin = before.rfind('\n');
  const size_t column =
      begin == absl::string_view::npos ? before.size() : before.size() - begin - 1;
  return absl::StrCat("line ", 1 + std::count(before.begin(), before.end(), '\n'), ", column ",
                      column + 1);
}

// Reads a text and keeps nothing of it but where it is wrong.
class PlaceFinder final : public nlohmann::json_sax<json> {
 public:
  explicit PlaceFinder(const std::string& text) : text_(text) {}

  // Empty: nothing is wrong.
  std::string Find() {
    // The library takes it as the end, and what follows as not there.
    const size_t zero = text_.find('\0');
    if (zero != std::string::npos) return absl::StrCat(LineOf(text_, zero + 1), ": a byte is 0");
    nlohmann::json_sax<json>* const events = this;
    if (!json::sax_parse(text_, events) && problem_.empty()) problem_ = "it is not JSON";
    if (problem_.empty() && !object_) problem_ = "it is not a JSON object";
    return problem_;
  }

 private:
  struct Level {
    bool list = false;
    uint64_t index = 0;  // of the value in a list
    std::string key;     // the last one of an object
    std::set<std::string> keys;
  };

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(int64_t) override { return Value(); }
  bool number_unsigned(uint64_t) override { return Value(); }
  bool number_float(double, const std::string&) override { return Value(); }
  bool string(std::string&) override { return Value(); }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(size_t) override { return Begin(false); }
  bool start_array(size_t) override { return Begin(true); }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }

  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (level.keys.insert(name).second) return true;
    problem_ = absl::StrCat(Path(), " appears twice");
    return false;
  }

  bool parse_error(size_t position, const std::string&, const json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    absl::string_view why = error.what();
    const size_t words = why.find(": ");
    if (words != absl::string_view::npos) why.remove_prefix(words + 2);
    problem_ =
        absl::StrCat(LineOf(text_, position), ": ", dataplane::Printable(why, kMaxErrorBytes));
    return false;
  }

  bool Begin(bool list) {
    if (levels_.empty()) object_ = !list;
    if (!Value()) return false;
    if (levels_.size() == size_t{kMaxForeignDepth}) {
      problem_ = absl::StrCat("it is nested deeper than ", kMaxForeignDepth, " levels");
      return false;
    }
    levels_.push_back({.list = list});
    return true;
  }
  bool End() {
    levels_.pop_back();
    return true;
  }
  bool Value() {
    if (!levels_.empty() && levels_.back().list) ++levels_.back().index;
    return true;
  }

  // "annotations[3].core:label"
  std::string Path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.list) {
        absl::StrAppend(&path, "[", level.index - 1, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".",
                        dataplane::Printable(level.key, kMaxErrorBytes));
      }
    }
    return path;
  }

  const std::string& text_;
  std::vector<Level> levels_;
  bool object_ = false;
  std::string problem_;
};

// An object. INVALID_ARGUMENT (FILE_INVALID): the text is no JSON, with line and column; it is
// nested deeper than kMaxForeignDepth; or an object has a key twice, with its path.
absl::StatusOr<json> ParsePlaced(const std::string& path, const std::string& text) {
  const std::string problem = PlaceFinder(text).Find();
  if (!problem.empty()) return files::Invalid(path, problem);
  // Its depth is known by now: ParseForeign, which finds that out, takes the square of the time.
  return json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
}

absl::StatusOr<std::string> DataPath(const std::string& path, const nlohmann::json& global) {
  const auto name = TextIn(global, "core:dataset");
  if (!name.has_value()) return absl::StrCat(absl::StripSuffix(path, kMetaSuffix), kDataSuffix);
  // SigMF: a file name in the same directory. A path would read any file of the worker.
  if (name->empty() || *name == "." || *name == ".." ||
      name->find_first_of(std::string("/\0", 2)) != std::string::npos) {
    return Invalid(path, "global.core:dataset is not the name of a file beside it");
  }
  return path.substr(0, path.rfind('/') + 1) + *name;
}

}  // namespace

bool IsSigmfMeta(absl::string_view path) { return absl::EndsWith(path, kMetaSuffix); }

absl::StatusOr<SigmfRecording> ReadSigmfMeta(const files::InputFile& file) {
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(file, kMaxMetaBytes));
  return ParseSigmfMeta(file.path, text);
}

absl::StatusOr<SigmfRecording> ParseSigmfMeta(const std::string& path, const std::string& text) {
  SigmfRecording out{.path = path};
  TD_ASSIGN_OR_RETURN(out.object, ParsePlaced(path, text));
  TD_RETURN_IF_ERROR(CheckCoreKeys(path, out.object));
  const nlohmann::json& global = out.object["global"];
  out.datatype = *TextIn(global, "core:datatype");
  out.channels = CountIn(global, "core:num_channels").value_or(1);
  if (global.value("core:metadata_only", nlohmann::json()) == true) {
    return Invalid(path, "global.core:metadata_only: there are no samples");
  }
  TD_ASSIGN_OR_RETURN(out.data_path, DataPath(path, global));
  return out;
}

}  // namespace tapedeck::services::sigmf
