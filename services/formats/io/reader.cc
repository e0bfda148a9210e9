#include "services/formats/io/reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "services/base/files/errors.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::services::formats {
namespace {

std::string Hertz(double hertz) { return absl::StrFormat("%.15g", hertz); }

// `what` as the fact has it, and in words.
void NoteOther(absl::string_view what, absl::string_view words, const std::string& file,
               const std::string& told, Content* content) {
  content->notes.push_back(
      MakeNote("TOLD_OTHERWISE",
               absl::StrCat("the file's ", words, " is ", file, "; the import uses ", told),
               {{"what", std::string(what)}, {"file", file}, {"told", told}}));
}

// From the first sample on.
void TellFrequency(double hertz, Content* content) {
  auto& annotations = content->annotations;
  for (Annotation& one : annotations) {
    if (one.label != vita49::kSignalLabel || one.sample_start != 0) continue;
    auto context = vita49::ContextOf(one.comment);
    if (!context.has_value()) continue;
    if (context->frequency_hz.value_or(hertz) != hertz) {
      NoteOther("frequency", "frequency", Hertz(*context->frequency_hz), Hertz(hertz), content);
    }
    context->frequency_hz = hertz;
    one.comment = vita49::TextOf(*context);
    return;
  }
  annotations.insert(annotations.begin(),
                     {.label = vita49::kSignalLabel,
                      .comment = vita49::TextOf(vita49::Context{.frequency_hz = hertz})});
}

}  // namespace

std::string Instant(int64_t ns) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixNanos(ns), absl::UTCTimeZone());
}

absl::Status Tell(const std::string& path, const ReadOptions& options, Content* content) {
  if (!options.datatype.empty()) {
    if (content->datatype.empty()) content->datatype = options.datatype;
    if (content->datatype != options.datatype) {
      return files::FileInvalid(
          path, absl::StrCat(path, " holds ", content->datatype, ", not ", options.datatype));
    }
  }
  if (options.sample_rate > 0) {
    if (content->sample_rate > 0 && content->sample_rate != options.sample_rate) {
      NoteOther("sample_rate", "sample rate", Hertz(content->sample_rate),
                Hertz(options.sample_rate), content);
    }
    content->sample_rate = options.sample_rate;
  }
  if (options.frequency_hz.has_value()) TellFrequency(*options.frequency_hz, content);
  if (options.start_ns.has_value()) {
    if (content->start_ns.value_or(*options.start_ns) != *options.start_ns) {
      NoteOther("start", "start", Instant(*content->start_ns), Instant(*options.start_ns), content);
    }
    content->start_ns = options.start_ns;
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::formats
