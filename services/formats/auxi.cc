#include "services/formats/auxi.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/printable.h"
#include "services/formats/riff.h"

namespace tapedeck::services::formats {
namespace {

constexpr size_t kMostAuxiShown = 64;
constexpr absl::string_view kByteOrderMark16 = "\xff\xfe";
constexpr absl::string_view kByteOrderMark8 = "\xef\xbb\xbf";

// XML as ASCII; empty: it is none. What is beyond ASCII becomes '?': no field here has any.
std::string XmlIn(absl::string_view chunk) {
  std::string text;
  const bool marked = chunk.substr(0, 2) == kByteOrderMark16;
  if (marked || (chunk.size() >= 2 && chunk[0] == '<' && chunk[1] == '\0')) {
    for (size_t at = marked ? 2 : 0; at + 1 < chunk.size(); at += 2) {
      text.push_back(chunk[at + 1] == '\0' ? chunk[at] : '?');
    }
  } else {
    text = std::string(chunk.substr(chunk.substr(0, 3) == kByteOrderMark8 ? 3 : 0));
  }
  return !text.empty() && text[0] == '<' ? text : "";
}

// The value of the first attribute of that name.
std::optional<std::string> AttributeIn(absl::string_view xml, absl::string_view name) {
  const std::string key = absl::StrCat(" ", name, "=\"");
  const size_t at = xml.find(key);
  if (at == absl::string_view::npos) return std::nullopt;
  xml.remove_prefix(at + key.size());
  const size_t end = xml.find('"');
  if (end == absl::string_view::npos) return std::nullopt;
  return std::string(xml.substr(0, end));
}

void NoteUnread(absl::string_view name, absl::string_view value, Auxi* auxi) {
  auxi->notes.push_back(absl::StrCat("its chunk \"auxi\" has ", name, "=\"",
                                     dataplane::Printable(value, kMostAuxiShown),
                                     "\", which could not be read"));
}

model::SampleTime UtcOf(const std::string& text) {
  absl::Time time;
  if (!absl::ParseTime("%d-%m-%E4Y %H:%M:%S", text, absl::UTCTimeZone(), &time, nullptr)) {
    return std::nullopt;
  }
  // An int64 of nanoseconds ends in 2262.
  if (time < absl::UnixEpoch() || time > absl::FromUnixSeconds(int64_t{1} << 33)) {
    return std::nullopt;
  }
  return absl::ToUnixNanos(time);
}

Auxi FromXml(absl::string_view xml) {
  Auxi auxi;
  if (const auto hertz = AttributeIn(xml, "RadioCenterFreq"); hertz.has_value()) {
    uint64_t number = 0;
    if (absl::SimpleAtoi(*hertz, &number)) {
      auxi.frequency_hz = number;
    } else {
      NoteUnread("RadioCenterFreq", *hertz, &auxi);
    }
  }
  const auto text = AttributeIn(xml, "CurrentTimeUTC");
  if (text.has_value()) auxi.start_ns = UtcOf(*text);
  if (text.has_value() && !auxi.start_ns.has_value()) NoteUnread("CurrentTimeUTC", *text, &auxi);
  const auto seconds = AttributeIn(xml, "UTCSeconds");
  if (!seconds.has_value()) return auxi;
  int64_t number = 0;
  if (!absl::SimpleAtoi(*seconds, &number) || number < 0 || number > int64_t{1} << 33) {
    NoteUnread("UTCSeconds", *seconds, &auxi);
  } else if (!auxi.start_ns.has_value()) {
    auxi.start_ns = number * 1'000'000'000;
  } else if (*auxi.start_ns != number * 1'000'000'000) {
    auxi.start_ns.reset();
    auxi.notes.push_back(
        "its chunk \"auxi\" has a CurrentTimeUTC and a UTCSeconds that differ: the start is "
        "unknown");
  }
  return auxi;
}

Auxi FromNumbers(absl::string_view chunk) {
  Auxi auxi;
  const bool has_time = chunk.size() >= kAuxiStart + kSystemTimeBytes;
  const bool has_frequency = chunk.size() >= kAuxiFrequency + 4;
  if (has_time) {
    auxi.start_ns = SystemTimeAt(chunk, kAuxiStart);
    const absl::string_view time = chunk.substr(kAuxiStart, kSystemTimeBytes);
    const bool told = std::ranges::any_of(time, [](char c) { return c != '\0'; });
    if (told && !auxi.start_ns.has_value()) {
      auxi.notes.push_back("its chunk \"auxi\" begins with no time: the start is unknown");
    }
  }
  if (!has_frequency) {
    auxi.notes.push_back(absl::StrCat("its chunk \"auxi\" has only ", chunk.size(),
                                      " bytes, and tells no frequency"));
    return auxi;
  }
  const uint64_t hertz = NumberAt(chunk, kAuxiFrequency, 4);
  if (hertz > 0) auxi.frequency_hz = hertz;
  return auxi;
}

}  // namespace

Auxi ReadAuxi(absl::string_view chunk) {
  const std::string xml = XmlIn(chunk);
  return xml.empty() ? FromNumbers(chunk) : FromXml(xml);
}

}  // namespace tapedeck::services::formats
