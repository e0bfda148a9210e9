#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/formats/riff.h"
#include "services/formats/samples_file.h"
#include "services/formats/wav.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint64_t kHeadBytes = 12;  // RIFF, size, WAVE
constexpr uint64_t kChunkBytes = 8;  // name, size
constexpr int kMaxChunks = 1024;
// Of what is read of a chunk; the longest that is looked at has 164 bytes.
constexpr uint64_t kMaxChunkBytes = 4096;
constexpr uint64_t kSizesBytes = 24;   // of ds64 what is read
constexpr uint64_t kFormatBytes = 16;  // the least of a format
constexpr size_t kGuidAt = 24;         // of WAVE_FORMAT_EXTENSIBLE

class WavParser {
 public:
  explicit WavParser(const files::InputFile& file) : file_(file) {}

  absl::Status Parse() {
    TD_ASSIGN_OR_RETURN(const std::string head, ReadHeader(file_, 0, kHeadBytes, "its header"));
    large_ = head.substr(0, 4) == "RF64";
    if ((!large_ && head.substr(0, 4) != "RIFF") || head.substr(8) != "WAVE") {
      return files::Invalid(file_.path, "is no WAV file");
    }
    uint64_t at = kHeadBytes;
    for (int i = 0; at < file_.bytes; ++i) {
      if (i == kMaxChunks) return files::Invalid(file_.path, "has more than 1024 chunks");
      TD_ASSIGN_OR_RETURN(at, ParseChunk(at));
    }
    if (content_.datatype.empty()) return files::Invalid(file_.path, "has no chunk \"fmt \"");
    if (!has_data_) return files::Invalid(file_.path, "has no chunk \"data\"");
    content_.bytes -= content_.bytes % sample_bytes_;
    return absl::OkStatus();
  }

  Content TakeContent() { return std::move(content_); }
  uint64_t data_at() const { return data_at_; }

 private:
  // The place of the next one.
  absl::StatusOr<uint64_t> ParseChunk(uint64_t at) {
    TD_ASSIGN_OR_RETURN(const std::string head, ReadHeader(file_, at, kChunkBytes, "a chunk"));
    const std::string name = head.substr(0, 4);
    uint64_t bytes = NumberAt(head, 4, 4);
    at += kChunkBytes;
    if (name == "data" && large_ && bytes == kMaxRiffBytes) bytes = large_bytes_;
    if (bytes > file_.bytes - at) {
      return files::Invalid(file_.path, absl::StrCat("it ends within its chunk \"", name, "\""));
    }
    if (name == "data") {
      data_at_ = at;
      content_.bytes = bytes;
      has_data_ = true;
    } else if (name == "fmt " || name == "auxi" || name == "ds64") {
      const uint64_t wanted = std::min(bytes, kMaxChunkBytes);
      TD_ASSIGN_OR_RETURN(const std::string chunk, ReadHeader(file_, at, wanted, "a chunk"));
      TD_RETURN_IF_ERROR(Take(name, chunk));
    }
    const uint64_t next = at + bytes + bytes % 2;
    return std::min(next, file_.bytes);  // the last one's padding may be left out
  }

  absl::Status Take(const std::string& name, const std::string& chunk) {
    if (name == "ds64") {
      if (chunk.size() < kSizesBytes) return TooShort(name);
      large_bytes_ = NumberAt(chunk, 8, 8);
      return absl::OkStatus();
    }
    if (name == "fmt ") return TakeFormat(chunk);
    if (chunk.size() < kLeastAuxiBytes) return TooShort(name);
    content_.start_ns = SystemTimeAt(chunk, kAuxiStart);
    if (const uint64_t hertz = NumberAt(chunk, kAuxiFrequency, 4); hertz > 0) {
      content_.annotations.push_back(
          {.label = "signal", .comment = absl::StrCat("frequency=", hertz)});
    }
    return absl::OkStatus();
  }

  absl::Status TakeFormat(const std::string& chunk) {
    if (chunk.size() < kFormatBytes) return TooShort("fmt ");
    uint64_t format = NumberAt(chunk, 0, 2);
    const uint64_t channels = NumberAt(chunk, 2, 2);
    const uint64_t bits = NumberAt(chunk, 14, 2);
    if (format == kWaveExtensible && chunk.size() >= kGuidAt + 2) {
      format = NumberAt(chunk, kGuidAt, 2);
    }
    content_.sample_rate = static_cast<double>(NumberAt(chunk, 4, 4));
    const bool floats = format == kWaveFloat && (bits == 32 || bits == 64);
    const bool whole = format == kWavePcm && (bits == 8 || bits == 16 || bits == 32);
    if ((channels != 1 && channels != 2) || (!floats && !whole)) {
      return files::Invalid(
          file_.path, absl::StrCat("has ", channels, " channels of ", bits, " bits in format ",
                                   format, ", which is no datatype of SigMF"));
    }
    content_.datatype = absl::StrCat(channels == 2 ? "c" : "r",
                                     floats      ? "f"
                                     : bits == 8 ? "u"
                                                 : "i",
                                     bits, bits == 8 ? "" : "_le");
    sample_bytes_ = channels * bits / 8;
    return absl::OkStatus();
  }

  absl::Status TooShort(const std::string& name) const {
    return files::Invalid(file_.path, absl::StrCat("its chunk \"", name, "\" is too short"));
  }

  const files::InputFile& file_;
  Content content_;
  bool large_ = false;
  bool has_data_ = false;
  uint64_t large_bytes_ = 0;
  uint64_t data_at_ = 0;
  uint64_t sample_bytes_ = 1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenWav(const std::string& path) {
  TD_ASSIGN_OR_RETURN(files::InputFile file, files::OpenInput(path));
  WavParser parser(file);
  TD_RETURN_IF_ERROR(parser.Parse());
  const uint64_t data_at = parser.data_at();
  return std::make_unique<SamplesFile>(std::move(file), data_at, parser.TakeContent());
}

}  // namespace tapedeck::services::formats
