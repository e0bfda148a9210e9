#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/formats/auxi.h"
#include "services/formats/riff.h"
#include "services/formats/samples_file.h"
#include "services/formats/wav.h"
#include "services/formats/wav_chunks.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint64_t kFormatBytes = 16;  // the least of a format
constexpr uint64_t kMostFormatBytes = 64;
constexpr size_t kGuidAt = 24;  // of WAVE_FORMAT_EXTENSIBLE
// Kinds of chunks that a note names.
constexpr size_t kMostChunksNamed = 16;
// Chunks that say nothing of the samples: fillings, and what the others tell as well.
constexpr absl::string_view kIdle[] = {"JUNK", "junk", "PAD ", "FLLR", "fact", "PEAK", "ds64"};

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
    CutToSamples();
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
      if (!idle && (others_.size() < kMostChunksNamed || others_.contains(chunk.name))) {
        ++others_[chunk.name];
      }
      return absl::OkStatus();
    }
    const bool is_format = chunk.name == "fmt ";
    const uint64_t most = is_format ? kMostFormatBytes : kMostAuxiBytes;
    TD_ASSIGN_OR_RETURN(const std::string bytes,
                        ReadHeader(file_, chunk.begin, std::min(chunk.bytes, most), "a chunk"));
    if (is_format) return TakeFormat(bytes);
    if (chunk.bytes > most) {
      content_.notes.push_back(absl::StrCat("its chunk \"auxi\" has ", chunk.bytes,
                                            " bytes, more than ", most, ": it is not read"));
      return absl::OkStatus();
    }
    TakeAuxi(ReadAuxi(bytes));
    return absl::OkStatus();
  }

  void TakeAuxi(const Auxi& auxi) {
    content_.start_ns = auxi.start_ns;
    if (auxi.frequency_hz.has_value()) {
      content_.annotations = {
          {.label = "signal", .comment = absl::StrCat("frequency=", *auxi.frequency_hz)}};
    }
    content_.notes.insert(content_.notes.end(), auxi.notes.begin(), auxi.notes.end());
  }

  absl::Status TakeFormat(const std::string& chunk) {
    if (chunk.size() < kFormatBytes) {
      return files::Invalid(file_.path, "its chunk \"fmt \" is too short");
    }
    if (!format_.empty() && format_ != chunk) {
      return files::Invalid(file_.path, "has two chunks \"fmt \" that differ");
    }
    format_ = chunk;
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

  void CutToSamples() {
    uint64_t cut = 0;
    for (Extent& extent : extents_) {
      cut += extent.bytes % sample_bytes_;
      extent.bytes -= extent.bytes % sample_bytes_;
      content_.bytes += extent.bytes;
    }
    if (cut == 0) return;
    content_.notes.push_back(
        absl::StrCat(cut, " bytes of its samples are no whole one, and are left out"));
  }

  void NoteOthers() {
    std::vector<std::string> names;
    for (const auto& [name, count] : others_) {
      names.push_back(absl::StrCat("\"", dataplane::Printable(name, 4), "\" (", count, ")"));
    }
    if (names.empty()) return;
    content_.notes.push_back(
        absl::StrCat("chunks that are not taken over: ", absl::StrJoin(names, ", ")));
  }

  const files::InputFile& file_;
  Content content_;
  std::string format_;
  std::vector<Extent> extents_;
  std::map<std::string, uint64_t> others_;
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
