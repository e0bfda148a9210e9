#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/vita49/vita49.h"
#include "services/formats/vita49/vita49_packets.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::services::formats {
namespace {

// Of what a file may tell: an import takes over fewer annotations, and a recording has fewer gaps.
constexpr size_t kMostGaps = 65'536;
constexpr size_t kMostAnnotations = 65'536;
// Of the device's clock that was set; the note counts all.
constexpr size_t kMostSteps = 1'000;
// The bytes of all samples stay below 2^63.
constexpr uint64_t kMostSamples = uint64_t{1} << 59;

// What a pass over all packets finds.
class Contents {
 public:
  Contents(const files::InputFile& file, Vita49Packets& packets)
      : file_(file), packets_(packets), sample_bytes_(packets.type().bytes_per_sample()) {}

  absl::StatusOr<Content> Find() {
    dataplane::Datatype type = packets_.type();
    type.big_endian = false;
    content_.datatype = dataplane::DatatypeName(type);
    content_.sample_rate = packets_.sample_rate();
    content_.start_ns = packets_.start_ns();
    while (true) {
      TD_ASSIGN_OR_RETURN(const auto placed, packets_.Next());
      if (!placed.has_value()) break;
      TD_RETURN_IF_ERROR(placed->context.has_value() ? NoteContext(*placed) : NoteSamples(*placed));
    }
    if (end_ == 0) {
      return files::Invalid(file_.path, absl::StrCat("has no packet with whole samples of ",
                                                     content_.datatype, packets_.PassedOver()));
    }
    content_.bytes = end_ * sample_bytes_;
    content_.notes = packets_.Notes();
    std::erase_if(content_.annotations,
                  [this](const Annotation& told) { return told.sample_start >= end_; });
    TD_RETURN_IF_ERROR(packets_.Rewind());
    return std::move(content_);
  }

 private:
  absl::Status NoteSamples(const Placed& placed) {
    const uint64_t end = placed.first + placed.samples.size() / sample_bytes_;
    if (end > kMostSamples) return TooMuch("samples, by its times");
    if (placed.first > end_) {
      if (content_.gaps.size() == kMostGaps) return TooMuch("losses");
      content_.gaps.push_back({.first = end_, .count = placed.first - end_});
    }
    end_ = end;
    if (!placed.clock_step_s.has_value() || steps_ == kMostSteps) return absl::OkStatus();
    ++steps_;
    return Note(placed.first, vita49::kClockStepLabel, vita49::StepTextOf(*placed.clock_step_s));
  }

  // Devices tell again and again what has not changed.
  absl::Status NoteContext(const Placed& placed) {
    std::string text = vita49::TextOf(*placed.context);
    if (text.empty() || text == last_) return absl::OkStatus();
    last_ = text;
    return Note(placed.first, vita49::kSignalLabel, std::move(text));
  }

  absl::Status Note(uint64_t sample, const std::string& label, std::string text) {
    if (content_.annotations.size() == kMostAnnotations) return TooMuch("changes of its signal");
    content_.annotations.push_back(
        {.sample_start = sample, .label = label, .comment = std::move(text)});
    return absl::OkStatus();
  }

  absl::Status TooMuch(absl::string_view what) const {
    return files::Invalid(file_.path, absl::StrCat("has too many ", what));
  }

  const files::InputFile& file_;
  Vita49Packets& packets_;
  const size_t sample_bytes_;
  Content content_;
  uint64_t end_ = 0;
  size_t steps_ = 0;
  std::string last_;
};

class Vita49Reader final : public Reader {
 public:
  static absl::StatusOr<std::unique_ptr<Reader>> Create(files::InputFile file,
                                                        const ReadOptions& options) {
    auto reader = std::unique_ptr<Vita49Reader>(new Vita49Reader(std::move(file)));
    TD_ASSIGN_OR_RETURN(reader->packets_, Vita49Packets::Create(reader->file_, options));
    TD_ASSIGN_OR_RETURN(reader->content_, Contents(reader->file_, *reader->packets_).Find());
    return reader;
  }

  const Content& content() const override { return content_; }

  absl::Status Read(uint64_t offset, std::span<std::byte> into) override {
    std::ranges::fill(into, std::byte{0});
    if (offset < read_to_) {
      TD_RETURN_IF_ERROR(packets_->Rewind());
      at_.reset();
    }
    read_to_ = offset + into.size();
    while (true) {
      if (!at_.has_value()) TD_RETURN_IF_ERROR(Advance());
      if (!at_.has_value() || begin() >= read_to_) break;
      if (end() > offset) Copy(offset, into);
      if (end() > read_to_) break;
      at_.reset();
    }
    if (packets_->type().bits > 8) {
      SwapBytes(into, static_cast<size_t>(packets_->type().bits / 8));
    }
    return absl::OkStatus();
  }

 private:
  explicit Vita49Reader(files::InputFile file) : file_(std::move(file)) {}

  // The bytes that the packet's samples are.
  uint64_t begin() const { return at_->first * packets_->type().bytes_per_sample(); }
  uint64_t end() const { return begin() + at_->samples.size(); }

  // To the next packet with samples; none: that was the last.
  absl::Status Advance() {
    do {
      TD_ASSIGN_OR_RETURN(at_, packets_->Next());
    } while (at_.has_value() && at_->context.has_value());
    return absl::OkStatus();
  }

  void Copy(uint64_t offset, std::span<std::byte> into) const {
    const uint64_t from = std::max(begin(), offset);
    const uint64_t to = std::min(end(), offset + into.size());
    std::ranges::copy(at_->samples.subspan(from - begin(), to - from),
                      into.begin() + static_cast<std::ptrdiff_t>(from - offset));
  }

  const files::InputFile file_;
  std::optional<Vita49Packets> packets_;
  Content content_;
  std::optional<Placed> at_;  // the packet that the next sample may be of
  uint64_t read_to_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenVita49(const std::string& path,
                                                   const ReadOptions& options) {
  TD_ASSIGN_OR_RETURN(files::InputFile file, files::OpenInput(path));
  return Vita49Reader::Create(std::move(file), options);
}

}  // namespace tapedeck::services::formats
