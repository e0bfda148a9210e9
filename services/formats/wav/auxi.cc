#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "dataplane/printable.h"
#include "services/formats/io/input.h"
#include "services/formats/io/riff.h"
#include "services/formats/wav/wav_chunks.h"

namespace tapedeck::services::formats {
namespace {

constexpr size_t kMostAuxiShown = 64;
constexpr absl::string_view kByteOrderMark16 = "\xff\xfe";
constexpr absl::string_view kByteOrderMark16Big = "\xfe\xff";
constexpr absl::string_view kByteOrderMark8 = "\xef\xbb\xbf";

// As ASCII, in the encoding that its first bytes tell, from the first character on that is no
// space. What is beyond ASCII becomes '?': no field here has any.
std::string TextIn(absl::string_view chunk) {
  const auto begins_wide = [&chunk](size_t low) {
    return chunk.size() >= 2 && chunk[1 - low] == '\0' &&
           (chunk[low] == '<' || absl::ascii_isspace(static_cast<unsigned char>(chunk[low])));
  };
  const bool big = absl::ConsumePrefix(&chunk, kByteOrderMark16Big) || begins_wide(1);
  const bool little = !big && (absl::ConsumePrefix(&chunk, kByteOrderMark16) || begins_wide(0));
  std::string text;
  if (big || little) {
    const size_t low = big ? 1 : 0;
    for (size_t at = 0; at + 1 < chunk.size(); at += 2) {
      text.push_back(chunk[at + 1 - low] == '\0' ? chunk[at + low] : '?');
    }
  } else {
    absl::ConsumePrefix(&chunk, kByteOrderMark8);
    text = std::string(chunk);
  }
  return std::string(absl::StripLeadingAsciiWhitespace(text));
}

using Attributes = std::vector<std::pair<std::string, std::string>>;

// NAME="VALUE" or NAME='VALUE', with spaces around the sign or not. A value without an end is one
// up to the end.
Attributes AttributesIn(absl::string_view xml) {
  if (absl::StartsWith(xml, "<?")) xml.remove_prefix(std::min(xml.size(), xml.find("?>")));
  Attributes attributes;
  for (size_t sign = xml.find('='); sign != absl::string_view::npos; sign = xml.find('=')) {
    absl::string_view name = absl::StripTrailingAsciiWhitespace(xml.substr(0, sign));
    name.remove_prefix(name.find_last_of(" \t\r\n<>/\"'") + 1);
    xml = absl::StripLeadingAsciiWhitespace(xml.substr(sign + 1));
    if (xml.empty() || (xml[0] != '"' && xml[0] != '\'')) continue;
    const size_t end = std::min(xml.size(), xml.find(xml[0], 1));
    attributes.emplace_back(name, xml.substr(1, end - 1));
    xml.remove_prefix(std::min(xml.size(), end + 1));
  }
  return attributes;
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

model::SampleTime SecondsOf(const std::string& text) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(text, &seconds) || seconds < 0 || seconds > int64_t{1} << 33) {
    return std::nullopt;
  }
  return seconds * 1'000'000'000;
}

void NoteLeftOut(const std::vector<std::string>& names, Auxi* auxi) {
  if (names.empty()) return;
  const std::string list = ListOf(names);
  auxi->notes.push_back(MakeNote(
      "LEFT_OUT", absl::StrCat("fields of its chunk \"auxi\" that are not imported: ", list),
      {{"what", "auxi_fields"}, {"names", list}}));
}

void NoteField(Auxi* auxi, absl::string_view name, absl::string_view cause, std::string text,
               const std::string& value = "") {
  model::Note note = MakeNote("WAV_AUXI_FIELD", std::move(text),
                              {{"name", std::string(name)}, {"cause", std::string(cause)}});
  if (!value.empty()) note.facts["value"] = value;
  auxi->notes.push_back(std::move(note));
}

class XmlReader {
 public:
  XmlReader(absl::string_view xml, double sample_rate)
      : attributes_(AttributesIn(xml)), sample_rate_(sample_rate) {}

  Auxi Read() {
    const auto hertz_of = [](const std::string& text) {
      double hertz = 0;
      return absl::SimpleAtod(text, &hertz) ? SignalOf(hertz) : std::nullopt;
    };
    auxi_.signal = ValueOf("RadioCenterFreq", hertz_of);
    const model::SampleTime utc = ValueOf("CurrentTimeUTC", UtcOf);
    const model::SampleTime seconds = ValueOf("UTCSeconds", SecondsOf);
    auxi_.start_ns = utc.has_value() ? utc : seconds;
    if (utc.has_value() && seconds.has_value() && *utc != *seconds) {
      auxi_.start_ns.reset();
      NoteField(
          &auxi_, "CurrentTimeUTC", "DIFFER",
          "its chunk \"auxi\" has a CurrentTimeUTC and a UTCSeconds that differ: the start is "
          "unknown");
    }
    CheckRate();
    std::vector<std::string> others;
    for (const auto& [name, value] : attributes_) {
      if (!value.empty() && std::ranges::find(read_, name) == read_.end()) others.push_back(name);
    }
    NoteLeftOut(others, &auxi_);
    return std::move(auxi_);
  }

 private:
  // None: there is none, or there are two that differ, with a note.
  const std::string* Only(absl::string_view name) {
    read_.emplace_back(name);
    const std::string* text = nullptr;
    for (const auto& [key, value] : attributes_) {
      if (key != name || (text != nullptr && *text == value)) continue;
      if (text != nullptr) {
        NoteField(&auxi_, name, "DIFFER",
                  absl::StrCat("its chunk \"auxi\" has several ", name,
                               " that differ, and none is taken"));
        return nullptr;
      }
      text = &value;
    }
    return text;
  }

  // None: there is none that can be read, with a note if there is one at all.
  template <typename Parse>
  auto ValueOf(absl::string_view name, Parse parse) -> decltype(parse("")) {
    const std::string* const text = Only(name);
    if (text == nullptr) return std::nullopt;
    auto value = parse(*text);
    if (!value.has_value()) NoteValue(name, *text, "UNREAD", "could not be read");
    return value;
  }

  // The format's rate counts.
  void CheckRate() {
    constexpr char kName[] = "SampleRate";
    const std::string* const text = Only(kName);
    double rate = 0;
    if (text == nullptr || (absl::SimpleAtod(*text, &rate) && rate == sample_rate_)) return;
    NoteValue(kName, *text, "RATE", "is not the rate of its chunk \"fmt \"");
  }

  void NoteValue(absl::string_view name, const std::string& text, absl::string_view cause,
                 absl::string_view what) {
    const std::string value = dataplane::Printable(text, kMostAuxiShown);
    NoteField(&auxi_, name, cause,
              absl::StrCat("its chunk \"auxi\" has ", name, "=\"", value, "\", which ", what),
              value);
  }

  const Attributes attributes_;
  const double sample_rate_;
  std::vector<std::string> read_;
  Auxi auxi_;
};

// Numbers that have a place of their own, but are zero, say nothing. The time of the last sample
// follows from the first.
void NoteOtherNumbers(absl::string_view chunk, double sample_rate, Auxi* auxi) {
  constexpr std::pair<size_t, const char*> kOthers[] = {{kAuxiRate, "ADFrequency"},
                                                        {kAuxiRate + 4, "IFFrequency"},
                                                        {kAuxiRate + 8, "Bandwidth"},
                                                        {kAuxiRate + 12, "IQOffset"}};
  std::vector<std::string> others;
  for (const auto& [at, name] : kOthers) {
    if (chunk.size() < at + 4) break;
    const uint64_t value = NumberAt(chunk, at, 4);
    const bool is_rate = at == kAuxiRate && static_cast<double>(value) == sample_rate;
    if (value != 0 && !is_rate) others.emplace_back(name);
  }
  if (chunk.size() > kAuxiNextFile && chunk[kAuxiNextFile] != '\0') {
    others.emplace_back("nextfilename");
  }
  NoteLeftOut(others, auxi);
}

// No part of a time but the year and the milliseconds needs more than a byte: what has more is
// something else.
bool IsTimeFirst(absl::string_view chunk) {
  constexpr size_t kYearEnd = 2;
  constexpr size_t kSecondEnd = 14;
  for (size_t at = kYearEnd; at + 1 < std::min(chunk.size(), kSecondEnd); at += 2) {
    if (chunk[at + 1] != '\0') return false;
  }
  return true;
}

void ReadStart(absl::string_view chunk, Auxi* auxi) {
  const absl::string_view time = chunk.substr(kAuxiStart, kSystemTimeBytes);
  if (std::ranges::all_of(time, [](char c) { return c == '\0'; })) return;
  auxi->start_ns = SystemTimeAt(chunk, kAuxiStart);
  if (auxi->start_ns.has_value()) {
    auxi->notes.push_back(MakeNote("TIME_WITHOUT_ZONE",
                                   "its chunk \"auxi\" names no zone: its time is taken as UTC",
                                   {{"times", "1"}, {"of", "1"}}));
    return;
  }
  const auto part = [&](size_t i) { return NumberAt(time, 2 * i, 2); };
  NoteField(auxi, "StartTime", "YEAR",
            absl::StrFormat("its chunk \"auxi\" has the time %04d-%02d-%02d %02d:%02d:%02d.%03d, "
                            "which is not a time from 1970 to 2261: the start is unknown",
                            part(0), part(1), part(3), part(4), part(5), part(6), part(7)));
}

Auxi FromNumbers(absl::string_view chunk, double sample_rate) {
  Auxi auxi;
  if (!IsTimeFirst(chunk)) {
    auxi.notes.push_back(
        MakeNote("WAV_AUXI_UNREAD",
                 "its chunk \"auxi\" is neither XML nor begins with a time, and is not read",
                 {{"cause", "UNKNOWN"}}));
    return auxi;
  }
  if (chunk.size() >= kAuxiStart + kSystemTimeBytes) ReadStart(chunk, &auxi);
  if (chunk.size() < kAuxiFrequency + 4) {
    NoteField(
        &auxi, "CenterFreq", "ABSENT",
        absl::StrCat("its chunk \"auxi\" has only ", chunk.size(), " bytes, without a frequency"));
    return auxi;
  }
  const uint64_t hertz = NumberAt(chunk, kAuxiFrequency, 4);
  if (hertz > 0) auxi.signal = SignalOf(static_cast<double>(hertz));
  NoteOtherNumbers(chunk, sample_rate, &auxi);
  return auxi;
}

}  // namespace

Auxi ReadAuxi(absl::string_view chunk, double sample_rate) {
  const std::string text = TextIn(chunk);
  return absl::StartsWith(text, "<") ? XmlReader(text, sample_rate).Read()
                                     : FromNumbers(chunk, sample_rate);
}

}  // namespace tapedeck::services::formats
