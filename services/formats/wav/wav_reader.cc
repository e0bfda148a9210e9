#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/io/input.h"
#include "services/formats/io/riff.h"
#include "services/formats/io/samples_file.h"
#include "services/formats/wav/wav.h"
#include "services/formats/wav/wav_chunks.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint64_t kFormatBytes = 16;  // the least of a format
constexpr uint64_t kMostFormatBytes = 64;
// Of WAVE_FORMAT_EXTENSIBLE: how many bits are valid, and a GUID, whose first two bytes are a
// format if one of these follows: Microsoft's, and that of ambisonic recorders.
constexpr uint64_t kExtensibleBytes = 40;
constexpr size_t kValidBitsAt = 18;
constexpr size_t kGuidAt = 24;
constexpr absl::string_view kGuidTails[] = {{"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14},
                                            {"\0\0\x21\x07\xd3\x11\x86\x44\xc8\xc1\xca\0\0\0", 14}};
// Kinds of chunks that are counted each for itself.
constexpr size_t kMostChunksNamed = 16;
// Chunks that say nothing of the samples: fillings, and what the others tell as well.
constexpr absl::string_view kIdle[] = {"JUNK", "junk", "PAD ", "FLLR", "fact", "PEAK", "ds64"};

std::string FormatName(uint64_t format) {
  switch (format) {
    case kWavePcm:
      return "PCM";
    case kWaveFloat:
      return "float";
    case 6:
      return "A-law";
    case 7:
      return "µ-law";
    default:
      return absl::StrCat("the format ", format);
  }
}

class WavParser {
 public:
  explicit WavParser(const files::InputFile& file) : file_(file) {}

  absl::Status Parse() {
    TD_ASSIGN_OR_RETURN(WavChunks chunks, WavChunks::Create(file_));
    while (true) {
      TD_ASSIGN_OR_RETURN(const auto chunk, chunks.Next());
      if (!chunk.has_value()) break;
      TD_RETURN_IF_ERROR(Take(*chunk));
    }
    if (content_.datatype.empty()) return files::Invalid(file_.path, "has no chunk \"fmt \"");
    if (extents_.empty()) return files::Invalid(file_.path, "has no chunk \"data\"");
    const auto& odd = chunks.notes();
    content_.notes.insert(content_.notes.begin(), odd.begin(), odd.end());
    TD_RETURN_IF_ERROR(CutToSamples());
    UseAuxi();
    NoteOthers();
    return absl::OkStatus();
  }

  Content TakeContent() { return std::move(content_); }
  const std::vector<Extent>& extents() const { return extents_; }

 private:
  absl::Status Take(const Chunk& chunk) {
    if (chunk.name == "data") {
      extents_.push_back({chunk.begin, chunk.bytes});
      return absl::OkStatus();
    }
    if (chunk.name != "fmt " && chunk.name != "auxi") {
      const bool idle = std::ranges::find(kIdle, chunk.name) != std::end(kIdle);
      const bool counted = others_.size() < kMostChunksNamed || others_.contains(chunk.name);
      if (!idle) ++(counted ? others_[chunk.name] : more_others_);
      return absl::OkStatus();
    }
    const bool is_format = chunk.name == "fmt ";
    const uint64_t most = is_format ? kMostFormatBytes : kMostAuxiBytes;
    TD_ASSIGN_OR_RETURN(const std::string bytes,
                        ReadHeader(file_, chunk.begin, std::min(chunk.bytes, most), "a chunk"));
    if (is_format) return TakeFormat(bytes);
    if (chunk.bytes > most) {
      content_.notes.push_back(
          MakeNote("WAV_AUXI_UNREAD",
                   absl::StrCat("its chunk \"auxi\" has ", chunk.bytes, " bytes, more than ", most,
                                ": it is not read"),
                   {{"cause", "LONG"}}));
      return absl::OkStatus();
    }
    if (auxi_.has_value() && *auxi_ != bytes) auxis_differ_ = true;
    auxi_ = bytes;
    return absl::OkStatus();
  }

  void UseAuxi() {
    if (!auxi_.has_value()) return;
    if (auxis_differ_) {
      content_.notes.push_back(MakeNote(
          "WAV_AUXI_UNREAD", "it has chunks \"auxi\" that differ: start and frequency are unknown",
          {{"cause", "DIFFER"}}));
      return;
    }
    const Auxi auxi = ReadAuxi(*auxi_, content_.sample_rate);
    content_.start_ns = auxi.start_ns;
    if (auxi.signal.has_value()) content_.annotations = {*auxi.signal};
    content_.notes.insert(content_.notes.end(), auxi.notes.begin(), auxi.notes.end());
  }

  absl::Status TakeFormat(const std::string& chunk) {
    if (chunk.size() < kFormatBytes) {
      return files::Invalid(file_.path, "its chunk \"fmt \" is too short");
    }
    if (!format_.empty() && format_ != chunk) {
      return files::Invalid(file_.path, "has two chunks \"fmt \" that differ");
    }
    if (format_ == chunk) return absl::OkStatus();
    format_ = chunk;
    const uint64_t channels = NumberAt(chunk, 2, 2);
    const uint64_t bits = NumberAt(chunk, 14, 2);
    TD_ASSIGN_OR_RETURN(const uint64_t format, FormatIn(chunk, bits));
    const bool floats = format == kWaveFloat && (bits == 32 || bits == 64);
    const bool whole = format == kWavePcm && (bits == 8 || bits == 16 || bits == 32);
    if (!floats && !whole) {
      return files::Invalid(
          file_.path,
          absl::StrCat("has samples of ", bits, " bits as ", FormatName(format),
                       ", which is not a datatype of SigMF; sox IN.wav -e signed-integer -b 32 "
                       "OUT.wav converts it, without time and frequency"));
    }
    if (channels != 1 && channels != 2) {
      return files::Invalid(
          file_.path, absl::StrCat("has ", channels,
                                   " channels, where a recording holds 1 (real) "
                                   "or 2 (I and Q); sox IN.wav OUT.wav remix 1 2 takes two of "
                                   "them, without time and frequency"));
    }
    content_.datatype = absl::StrCat(channels == 2 ? "c" : "r",
                                     floats      ? "f"
                                     : bits == 8 ? "u"
                                                 : "i",
                                     bits, bits == 8 ? "" : "_le");
    sample_bytes_ = channels * bits / 8;
    return CheckNumbers(NumberAt(chunk, 4, 4), NumberAt(chunk, 12, 2));
  }

  // The format of the samples, also where it lies in a GUID.
  absl::StatusOr<uint64_t> FormatIn(const std::string& chunk, uint64_t bits) {
    const uint64_t format = NumberAt(chunk, 0, 2);
    if (format != kWaveExtensible) return format;
    if (chunk.size() < kExtensibleBytes) {
      return files::Invalid(
          file_.path, absl::StrCat("its chunk \"fmt \" has ", chunk.size(),
                                   " bytes, and WAVE_FORMAT_EXTENSIBLE needs ", kExtensibleBytes));
    }
    const std::string guid = chunk.substr(kGuidAt, kExtensibleBytes - kGuidAt);
    if (std::ranges::find(kGuidTails, guid.substr(2)) == std::end(kGuidTails)) {
      return files::Invalid(
          file_.path, absl::StrCat("its chunk \"fmt \" has the GUID ", absl::BytesToHexString(guid),
                                   ", which is not a format known here"));
    }
    const uint64_t valid = NumberAt(chunk, kValidBitsAt, 2);
    if (valid != 0 && valid != bits) {
      content_.notes.push_back(
          MakeNote("WAV_VALID_BITS",
                   absl::StrCat("its chunk \"fmt \" says that ", valid, " of ", bits,
                                " bits are valid; all are taken as they are"),
                   {{"valid_bits", absl::StrCat(valid)}, {"bits", absl::StrCat(bits)}}));
    }
    return NumberAt(guid, 0, 2);
  }

  // What else the format says of the samples.
  absl::Status CheckNumbers(uint64_t rate, uint64_t told_sample_bytes) {
    content_.sample_rate = static_cast<double>(rate);
    if (rate == 0) {
      content_.notes.push_back(
          MakeNote("WAV_RATE_UNKNOWN", "its chunk \"fmt \" has a sample rate of 0: it is unknown"));
    }
    if (told_sample_bytes == 0) {
      content_.notes.push_back(MakeNote("WAV_SAMPLE_SIZE_ZERO",
                                        absl::StrCat("its chunk \"fmt \" has samples of 0 bytes; ",
                                                     content_.datatype, " has ", sample_bytes_),
                                        {{"bytes", absl::StrCat(sample_bytes_)}}));
    } else if (told_sample_bytes != sample_bytes_) {
      return files::Invalid(
          file_.path, absl::StrCat("its chunk \"fmt \" has samples of ", told_sample_bytes,
                                   " bytes, and ", content_.datatype, " has ", sample_bytes_));
    }
    return absl::OkStatus();
  }

  // A sample may be cut by the end of the file, and not by that of a chunk before others.
  absl::Status CutToSamples() {
    uint64_t cut = 0;
    for (Extent& extent : extents_) {
      if (cut > 0 && extent.bytes > 0) {
        return files::Invalid(file_.path, absl::StrCat("the chunk \"data\" before byte ",
                                                       extent.begin, " ends within a sample"));
      }
      cut += extent.bytes % sample_bytes_;
      extent.bytes -= extent.bytes % sample_bytes_;
      content_.bytes += extent.bytes;
    }
    if (cut > 0) {
      content_.notes.push_back(
          MakeNote("PARTIAL_SAMPLE",
                   absl::StrCat(cut, " bytes at its end are not a whole sample, and are left out"),
                   {{"bytes", absl::StrCat(cut)}}));
    }
    return absl::OkStatus();
  }

  void NoteOthers() {
    std::vector<std::string> names;
    for (const auto& [name, count] : others_) {
      names.push_back(absl::StrCat("\"", name, "\" (", count, ")"));
    }
    if (names.empty()) return;
    const std::string list = ListOf(names, more_others_);
    content_.notes.push_back(MakeNote("LEFT_OUT",
                                      absl::StrCat("chunks that are not imported: ", list),
                                      {{"what", "chunks"}, {"names", list}}));
  }

  const files::InputFile& file_;
  Content content_;
  std::string format_;
  std::optional<std::string> auxi_;
  bool auxis_differ_ = false;
  std::vector<Extent> extents_;
  std::map<std::string, uint64_t> others_;
  uint64_t more_others_ = 0;
  uint64_t sample_bytes_ = 1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenWav(const std::string& path,
                                                const ReadOptions& /*options*/) {
  TD_ASSIGN_OR_RETURN(files::InputFile file, files::OpenInput(path));
  WavParser parser(file);
  TD_RETURN_IF_ERROR(parser.Parse());
  const std::vector<Extent> extents = parser.extents();
  return std::make_unique<SamplesFile>(std::move(file), extents, parser.TakeContent());
}

}  // namespace tapedeck::services::formats
