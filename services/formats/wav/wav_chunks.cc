#include "services/formats/wav/wav_chunks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/io/input.h"
#include "services/formats/io/riff.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint64_t kRiffHeadBytes = 12;  // RIFF, size, WAVE
constexpr uint64_t kRiffChunkBytes = 8;  // name, size
// The same with GUIDs, and sizes of 64 bits that count the head, too.
constexpr uint64_t kW64HeadBytes = 40;
constexpr uint64_t kW64ChunkBytes = 24;
constexpr uint64_t kW64Padding = 8;
constexpr absl::string_view kW64Riff("riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0", 16);
constexpr absl::string_view kW64Wave("wave\xf3\xac\xd3\x11\x8c\xd1\0\xc0\x4f\x8e\xdb\x8a", 16);
constexpr uint64_t kSizesBytes = 16;  // of "ds64" what is read: sizes of the file and of "data"
// A KiwiSDR writes two for each 512 samples: a month of them, and 64 MiB of memory.
constexpr uint64_t kMostChunks = uint64_t{1} << 22;

bool IsName(absl::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool IsKnown(absl::string_view name) { return name == "data" || name == "fmt " || name == "auxi"; }

}  // namespace

absl::StatusOr<WavChunks> WavChunks::Create(const files::InputFile& file) {
  WavChunks chunks(file);
  TD_RETURN_IF_ERROR(chunks.ReadHead());
  return chunks;
}

absl::Status WavChunks::ReadHead() {
  TD_ASSIGN_OR_RETURN(std::string head, ReadHeader(*file_, 0, kRiffHeadBytes, "its header"));
  const std::string form = head.substr(0, 4);
  if (form == kW64Riff.substr(0, 4)) {
    TD_ASSIGN_OR_RETURN(head, ReadHeader(*file_, 0, kW64HeadBytes, "its header"));
    if (head.substr(0, 16) != kW64Riff || head.substr(24) != kW64Wave) {
      return files::Invalid(file_->path, "is not a WAV file");
    }
    kind_ = Kind::kW64;
    told_end_ = NumberAt(head, 16, 8);
    at_ = kW64HeadBytes;
    return absl::OkStatus();
  }
  if (form == "RIFX") {
    return files::Invalid(file_->path,
                          "it is a WAV file of big-endian numbers (RIFX), which is not read; "
                          "sox IN.wav -L OUT.wav converts it, without time and frequency");
  }
  const bool large = form == "RF64" || form == "BW64";
  if ((form != "RIFF" && !large) || head.substr(8) != "WAVE") {
    return files::Invalid(file_->path, "is not a WAV file");
  }
  kind_ = large ? Kind::kRf64 : Kind::kRiff;
  told_end_ = NumberAt(head, 4, 4) + 8;
  at_ = kRiffHeadBytes;
  return absl::OkStatus();
}

uint64_t WavChunks::HeadBytes() const {
  return kind_ == Kind::kW64 ? kW64ChunkBytes : kRiffChunkBytes;
}

absl::StatusOr<std::optional<Chunk>> WavChunks::Next() {
  if (at_ >= file_->bytes) return std::nullopt;
  if (++chunks_ > kMostChunks) {
    return files::Invalid(file_->path, absl::StrCat("has more than ", kMostChunks, " chunks"));
  }
  if (file_->bytes - at_ < HeadBytes()) return EndWithout("it ends within a chunk");
  TD_ASSIGN_OR_RETURN(const std::string head, ReadHeader(*file_, at_, HeadBytes(), "a chunk"));
  Chunk chunk{.name = head.substr(0, 4), .begin = at_ + HeadBytes()};
  if (!IsName(chunk.name)) return EndWithout(absl::StrCat("has no chunk at byte ", at_));
  TD_ASSIGN_OR_RETURN(chunk.bytes, ToldBytes(chunk, head));
  if (chunk.name == "data") {
    chunk.bytes = DataBytes(chunk, chunk.bytes);
    has_data_ = true;
  } else if (chunk.bytes > file_->bytes - chunk.begin) {
    return EndWithout(absl::StrCat("it ends within its chunk \"", chunk.name, "\""));
  }
  if (chunk.name == "ds64") TD_RETURN_IF_ERROR(ReadSizes(chunk));
  TD_ASSIGN_OR_RETURN(at_, EndOf(chunk));
  return chunk;
}

absl::StatusOr<uint64_t> WavChunks::ToldBytes(const Chunk& chunk, absl::string_view head) {
  if (kind_ != Kind::kW64) return NumberAt(head, 4, 4);
  const uint64_t bytes = NumberAt(head, 16, 8);
  if (bytes >= kW64ChunkBytes) return bytes - kW64ChunkBytes;
  if (chunk.name == "data" && bytes == 0) return 0;
  return files::Invalid(file_->path, absl::StrCat("its chunk \"", chunk.name, "\" has a size of ",
                                                  bytes, " bytes, fewer than its head"));
}

absl::Status WavChunks::ReadSizes(const Chunk& chunk) {
  if (chunk.bytes < kSizesBytes) {
    return files::Invalid(file_->path, "its chunk \"ds64\" is too short");
  }
  TD_ASSIGN_OR_RETURN(const std::string sizes,
                      ReadHeader(*file_, chunk.begin, kSizesBytes, "a chunk"));
  told_end_ = NumberAt(sizes, 0, 8) + 8;
  large_bytes_ = NumberAt(sizes, 8, 8);
  return absl::OkStatus();
}

// Recorders write sizes when they end; one that is interrupted leaves 0, or the most there is.
uint64_t WavChunks::DataBytes(const Chunk& chunk, uint64_t told) {
  const uint64_t left = file_->bytes - chunk.begin;
  const bool elsewhere =
      kind_ == Kind::kRf64 && (told == kMaxRiffBytes || (told == 0 && !has_data_));
  if (elsewhere) told = large_bytes_.value_or(0);
  const bool unended = elsewhere || told_end_ <= chunk.begin || told_end_ > file_->bytes;
  const bool open = (told == 0 && unended) || told == UINT64_MAX ||
                    (kind_ == Kind::kRiff && told == kMaxRiffBytes);
  if (open && left > 0) {
    notes_.push_back(MakeNote("WAV_SIZE_UNKNOWN",
                              "it was not closed properly: its chunk \"data\" has no size, and all "
                              "that follows is taken as samples",
                              {{"cause", "NOT_ENDED"}}));
    return left;
  }
  if (told > left) {
    notes_.push_back(MakeNote("FILE_CUT",
                              absl::StrCat("it was not closed properly: it ends ", told - left,
                                           " bytes before its chunk \"data\" says"),
                              {{"bytes", absl::StrCat(told - left)}}));
    return left;
  }
  if (kind_ == Kind::kRiff && told < left && left > kMaxRiffBytes &&
      told == (left & kMaxRiffBytes)) {
    notes_.push_back(MakeNote("WAV_SIZE_UNKNOWN",
                              "its chunk \"data\" has a size of 32 bits, which overflowed: all "
                              "that follows is taken as samples",
                              {{"cause", "WRAPPED"}}));
    return left;
  }
  return told;
}

// With its padding, which some programs forget: a zero is one, and so is a letter before a chunk
// that is known.
absl::StatusOr<uint64_t> WavChunks::EndOf(const Chunk& chunk) const {
  const uint64_t end = chunk.begin + chunk.bytes;
  if (kind_ == Kind::kW64) {
    return std::min((end + kW64Padding - 1) / kW64Padding * kW64Padding, file_->bytes);
  }
  if (chunk.bytes % 2 == 0 || end + kRiffChunkBytes > file_->bytes) {
    return std::min(end + chunk.bytes % 2, file_->bytes);
  }
  TD_ASSIGN_OR_RETURN(const std::string next, ReadHeader(*file_, end, 5, "a chunk"));
  return IsName(next.substr(0, 4)) && !IsKnown(next.substr(1)) ? end : end + 1;
}

absl::StatusOr<std::optional<Chunk>> WavChunks::EndWithout(absl::string_view what) {
  if (!has_data_) return files::Invalid(file_->path, what);
  const std::string bytes = absl::StrCat(file_->bytes - at_);
  notes_.push_back(MakeNote(
      "BYTES_BEHIND",
      absl::StrCat(bytes, " bytes behind its samples are not a whole chunk, and are left out"),
      {{"bytes", bytes}}));
  at_ = file_->bytes;
  return std::nullopt;
}

}  // namespace tapedeck::services::formats
