#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/formats/archive.h"
#include "services/formats/samples_file.h"
#include "services/formats/sigmf.h"
#include "services/sigmf/foreign_json.h"
#include "services/sigmf/meta.h"

namespace tapedeck::services::formats {
namespace {

using nlohmann::json;

// All of it is in memory while it is read, some ten times as large.
constexpr uint64_t kMaxMetaBytes = 16 << 20;
constexpr uint64_t kMostAnnotated = uint64_t{1} << 62;
// In the year 2116: what is added to it for the samples does not overflow.
constexpr int64_t kLatestNs = int64_t{1} << 62;
// Of a label or a comment, as nodes take them.
constexpr size_t kMaxTextBytes = 1024;
// Of a value in a note.
constexpr size_t kMaxShown = 64;

uint64_t NumberIn(const json& object, const char* name) {
  const json value = object.value(name, json());
  return value.is_number_unsigned() ? std::min(value.get<uint64_t>(), kMostAnnotated) : 0;
}

std::string TextIn(const json& object, const char* name) {
  const json value = object.value(name, json());
  return value.is_string() ? value.get<std::string>() : "";
}

json ListIn(const json& object, const char* name) {
  const json value = object.value(name, json());
  return value.is_array() ? value : json::array();
}

// Of a text whose form has been found right.
class Meta {
 public:
  Meta(const json& object, std::string datatype, uint64_t bytes) : object_(object) {
    content_.datatype = std::move(datatype);
    content_.bytes = bytes;
  }

  Content Read(uint64_t sample_bytes) {
    samples_ = content_.bytes / sample_bytes;
    const json rate = object_["global"].value("core:sample_rate", json());
    if (rate.is_number() && rate.get<double>() > 0) content_.sample_rate = rate.get<double>();
    bool first = true;
    for (const json& capture : ListIn(object_, "captures")) {
      if (capture.is_object()) TakeCapture(capture, std::exchange(first, false));
    }
    for (const json& annotation : ListIn(object_, "annotations")) {
      if (annotation.is_object()) TakeAnnotation(annotation);
    }
    if (left_out_ > 0) {
      content_.notes.push_back(absl::StrCat(
          left_out_,
          " annotations are left out: a recording has no room for more or for one so long, or "
          "they are of no sample of it"));
    }
    return std::move(content_);
  }

 private:
  void TakeCapture(const json& capture, bool first) {
    if (first) TakeStart(TextIn(capture, "core:datetime"));
    const json hertz = capture.value("core:frequency", json());
    if (!hertz.is_number()) return;
    Add({.sample_start = NumberIn(capture, "core:sample_start"),
         .label = "signal",
         .comment = absl::StrFormat("frequency=%.15g", hertz.get<double>())});
  }

  // SigMF's times are UTC, and end with Z. Many writers leave it out.
  void TakeStart(const std::string& text) {
    if (text.empty()) return;
    constexpr char kWithoutZone[] = "%Y-%m-%d%ET%H:%M:%E*S";
    absl::Time time;
    const bool zoned = absl::ParseTime(absl::RFC3339_full, text, &time, nullptr);
    const bool read =
        zoned || absl::ParseTime(kWithoutZone, text, absl::UTCTimeZone(), &time, nullptr);
    if (!read || time >= absl::FromUnixNanos(kLatestNs) ||
        time <= absl::FromUnixNanos(-kLatestNs)) {
      content_.notes.push_back(absl::StrCat("core:datetime \"",
                                            dataplane::Printable(text, kMaxShown),
                                            "\" is no time: the start is unknown"));
      return;
    }
    content_.start_ns = absl::ToUnixNanos(time);
    if (zoned) return;
    content_.notes.push_back(absl::StrCat("core:datetime \"", dataplane::Printable(text, kMaxShown),
                                          "\" names no zone: it is taken as UTC"));
  }

  void TakeAnnotation(const json& annotation) {
    Annotation one{.sample_start = NumberIn(annotation, "core:sample_start"),
                   .sample_count = NumberIn(annotation, "core:sample_count"),
                   .label = TextIn(annotation, "core:label"),
                   .comment = TextIn(annotation, "core:comment")};
    const bool is_gap = one.label == "missing" && absl::StartsWith(one.comment, "not recorded") &&
                        one.sample_count > 0;
    if (!is_gap) return Add(std::move(one));
    const uint64_t begin =
        content_.gaps.empty() ? 0 : content_.gaps.back().first + content_.gaps.back().count;
    const bool in_order = one.sample_start >= begin && one.sample_start < samples_;
    if (!in_order) return Add(std::move(one));
    content_.gaps.push_back(
        {one.sample_start, std::min(one.sample_count, samples_ - one.sample_start)});
  }

  void Add(Annotation one) {
    const size_t bytes = BytesOf(one);
    if (one.sample_start > samples_ || bytes > kMaxAnnotationBytes - annotation_bytes_ ||
        std::max(one.label.size(), one.comment.size()) > kMaxTextBytes) {
      ++left_out_;
      return;
    }
    annotation_bytes_ += bytes;
    content_.annotations.push_back(std::move(one));
  }

  const json& object_;
  Content content_;
  uint64_t samples_ = 0;
  size_t annotation_bytes_ = 0;
  uint64_t left_out_ = 0;
};

struct Found {
  std::string text;  // of the meta
  std::string path;  // of it, for errors
  files::InputFile data;
  uint64_t begin = 0;  // of the samples in that
  uint64_t bytes = 0;
  std::vector<std::string> notes = {};
};

absl::StatusOr<std::unique_ptr<Reader>> Open(Found found, const sigmf::SigmfRecording& meta) {
  if (meta.has_foreign_bytes) {
    return files::Invalid(found.path,
                          "its data has header or trailing bytes, which are no samples");
  }
  const auto type = dataplane::ParseDatatype(meta.datatype);
  if (!type.ok()) return files::Invalid(found.path, type.status().message());
  if (found.bytes == 0) return files::Invalid(found.path, "there are no samples");
  // Of what it has twice, the last counts here, and the form was that of the first.
  const json object = sigmf::ParseForeign(found.text);
  if (!object.is_object() || !object.contains("global") || !object["global"].is_object()) {
    return files::Invalid(found.path, "is no JSON object with a \"global\", or nested too deep");
  }
  Content content = Meta(object, meta.datatype, found.bytes).Read(type->bytes_per_sample());
  if (meta.channels > 1) {
    content.notes.push_back(
        absl::StrCat("the file interleaves ", meta.channels, " channels; they become one stream"));
  }
  content.notes.insert(content.notes.end(), found.notes.begin(), found.notes.end());
  return std::make_unique<SamplesFile>(std::move(found.data), found.begin, std::move(content));
}

absl::StatusOr<std::unique_ptr<Reader>> OpenPair(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(path, kMaxMetaBytes));
  TD_ASSIGN_OR_RETURN(const sigmf::SigmfRecording meta, sigmf::ParseSigmfMeta(path, text));
  TD_ASSIGN_OR_RETURN(files::InputFile data, files::OpenInput(meta.data_path));
  const uint64_t bytes = data.bytes;
  return Open({.text = text, .path = path, .data = std::move(data), .bytes = bytes}, meta);
}

absl::StatusOr<std::unique_ptr<Reader>> OpenArchive(const std::string& path,
                                                    const std::string& member) {
  TD_ASSIGN_OR_RETURN(files::InputFile file, files::OpenInput(path));
  TD_ASSIGN_OR_RETURN(Archive archive, ReadArchive(file));
  TD_ASSIGN_OR_RETURN(const ArchivedRecording found, RecordingIn(archive, member, path));
  if (found.meta.bytes > kMaxMetaBytes) return files::Invalid(path, "its meta is too long");
  TD_ASSIGN_OR_RETURN(const std::string text,
                      ReadHeader(file, found.meta.in_archive.begin, found.meta.bytes, "its meta"));
  TD_ASSIGN_OR_RETURN(const sigmf::SigmfRecording meta, sigmf::ParseSigmfMeta(path, text));
  if (const uint64_t lost = found.data.bytes - found.data.in_archive.bytes; lost > 0) {
    archive.notes.push_back(absl::StrCat("it ends ", lost, " bytes before its samples do"));
  }
  return Open({.text = text,
               .path = path,
               .data = std::move(file),
               .begin = found.data.in_archive.begin,
               .bytes = found.data.in_archive.bytes,
               .notes = std::move(archive.notes)},
              meta);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenSigmf(const std::string& path,
                                                  const ReadOptions& options) {
  if (sigmf::IsSigmfMeta(path)) return OpenPair(path);
  if (absl::EndsWith(path, ".sigmf")) return OpenArchive(path, options.member);
  return files::Invalid(path, "is named neither .sigmf-meta nor .sigmf");
}

}  // namespace tapedeck::services::formats
