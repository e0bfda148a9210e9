// What a reader says of a file as one line, and whether its samples are those that the file's maker
// wrote beside it: a table of such lines holds a reader to its word.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "dataplane/datatype.h"
#include "services/formats/io/reader.h"
#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {

inline std::string SamplesText(const Content& content) {
  const auto type = dataplane::ParseDatatype(content.datatype);
  if (!type.ok()) return content.datatype;
  return absl::StrCat(content.bytes / type->bytes_per_sample(), " ", content.datatype);
}

inline std::string RateText(double rate) {
  return rate == 0 ? "no rate" : absl::StrFormat("%.15g S/s", rate);
}

// "COUNT DATATYPE RATE [START] [ANNOTATION] | NOTE | NOTE", or "refused: WHY". `samples` are the
// right ones.
inline std::string OutcomeOf(const absl::StatusOr<std::unique_ptr<Reader>>& opened,
                             const std::string& path, const std::string& samples) {
  if (!opened.ok()) {
    const std::string reason = ReasonIn(opened.status());
    const std::string text = absl::StrReplaceAll(opened.status().message(), {{path, "F"}});
    return absl::StrCat(reason == "FILE_INVALID" ? "refused" : reason, ": ", text);
  }
  const Content& content = (*opened)->content();
  std::string text = absl::StrCat(SamplesText(content), " ", RateText(content.sample_rate));
  if (content.start_ns.has_value()) {
    text += absl::FormatTime(" %E4Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixNanos(*content.start_ns),
                             absl::UTCTimeZone());
  }
  for (const Annotation& one : content.annotations) absl::StrAppend(&text, " ", one.comment);
  for (const SampleRange& gap : content.gaps) {
    absl::StrAppend(&text, " gap ", gap.first, "+", gap.count);
  }
  for (const model::Note& note : content.notes) absl::StrAppend(&text, " | ", note.text);
  const auto read = ReadAll(**opened);
  if (!read.ok()) {
    return absl::StrCat(text, " UNREAD ",
                        absl::StrReplaceAll(read.status().message(), {{path, "F"}}));
  }
  if (*read != samples) absl::StrAppend(&text, " WRONG SAMPLES (", read->size(), " bytes)");
  return text;
}

}  // namespace tapedeck::services::formats
