#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/io/input.h"
#include "services/formats/sigmf/archive.h"
#include "services/formats/sigmf/sigmf.h"
#include "services/signal/sigmf/contents.h"
#include "services/signal/sigmf/core_keys.h"
#include "services/signal/sigmf/meta.h"
#include "services/signal/sigmf/sha512.h"

namespace tapedeck::services::formats {
namespace {

constexpr size_t kShaPieceBytes = 1 << 20;

// Samples that lie in stretches of a file, with those between them that are missing.
class SigmfSamples final : public Reader {
 public:
  SigmfSamples(files::InputFile file, uint64_t begin, std::vector<sigmf::Stretch> stretches,
               uint64_t sample_bytes, Content content)
      : file_(std::move(file)),
        begin_(begin),
        stretches_(std::move(stretches)),
        sample_bytes_(sample_bytes),
        content_(std::move(content)) {}

  const Content& content() const override { return content_; }

  absl::Status Read(uint64_t offset, std::span<std::byte> into) override {
    std::ranges::fill(into, std::byte{0});
    const uint64_t end = offset + into.size();
    const auto ends_behind = [&](const sigmf::Stretch& one) {
      return (one.sample + one.samples) * sample_bytes_ <= offset;
    };
    for (auto it = std::ranges::partition_point(stretches_, ends_behind); it != stretches_.end();
         ++it) {
      const uint64_t first = it->sample * sample_bytes_;
      if (first >= end) break;
      const uint64_t from = std::max(first, offset);
      const uint64_t to = std::min(first + it->samples * sample_bytes_, end);
      TD_RETURN_IF_ERROR(ReadExactly(file_, begin_ + it->byte + (from - first),
                                     into.subspan(from - offset, to - from)));
    }
    BlankGaps(offset, into);
    return absl::OkStatus();
  }

 private:
  // A file may have older samples where a recording has none.
  void BlankGaps(uint64_t offset, std::span<std::byte> into) const {
    const uint64_t end = offset + into.size();
    const auto ends_behind = [&](const SampleRange& gap) {
      return (gap.first + gap.count) * sample_bytes_ <= offset;
    };
    for (auto gap = std::ranges::partition_point(content_.gaps, ends_behind);
         gap != content_.gaps.end() && gap->first * sample_bytes_ < end; ++gap) {
      const uint64_t from = std::max(gap->first * sample_bytes_, offset);
      const uint64_t to = std::min((gap->first + gap->count) * sample_bytes_, end);
      std::ranges::fill(into.subspan(from - offset, to - from), std::byte{0});
    }
  }

  const files::InputFile file_;
  const uint64_t begin_;
  const std::vector<sigmf::Stretch> stretches_;  // in order
  const uint64_t sample_bytes_;
  const Content content_;
};

struct Found {
  std::string path;  // of the meta, for errors
  files::InputFile data;
  uint64_t begin = 0;  // of the dataset in that
  uint64_t bytes = 0;
  model::Notes notes = {};
};

// Whether the dataset is what the meta was written for.
absl::Status CheckSha512(const Found& found, const std::string& told) {
  if (told.empty()) return absl::OkStatus();
  sigmf::Sha512Sum sum;
  std::vector<std::byte> piece(std::min<uint64_t>(kShaPieceBytes, found.bytes));
  for (uint64_t at = 0; at < found.bytes; at += piece.size()) {
    const std::span part = std::span(piece).first(std::min(piece.size(), found.bytes - at));
    TD_RETURN_IF_ERROR(ReadExactly(found.data, found.begin + at, part));
    sum.Add(part);
  }
  const std::string has = sum.Hex();
  if (has == told) return absl::OkStatus();
  return files::Invalid(
      found.path, absl::StrCat("the data does not match the meta: its SHA-512 is ",
                               has.substr(0, 16), "..., and core:sha512 says ", told.substr(0, 16),
                               "...; to import it anyway, remove core:sha512 from the meta"));
}

absl::StatusOr<std::unique_ptr<Reader>> Open(Found found, const sigmf::SigmfRecording& meta,
                                             double told_rate) {
  TD_ASSIGN_OR_RETURN(sigmf::Contents contents, sigmf::ReadContents(meta, found.bytes, told_rate));
  TD_RETURN_IF_ERROR(CheckSha512(found, contents.sha512));
  const uint64_t sample_bytes = dataplane::ParseDatatype(meta.datatype)->bytes_per_sample();
  contents.notes.insert(contents.notes.end(), found.notes.begin(), found.notes.end());
  sigmf::Layout& layout = contents.layout;
  Content content{.datatype = meta.datatype,
                  .sample_rate = contents.sample_rate,
                  .start_ns = layout.start_time_ns,
                  .first_index = layout.first_index,
                  .bytes = layout.samples * sample_bytes,
                  .annotations = std::move(contents.annotations),
                  .metadata = std::move(contents.metadata),
                  .transforms = std::move(contents.transforms),
                  .notes = std::move(contents.notes)};
  for (const sigmf::Gap& gap : layout.gaps) content.gaps.push_back({gap.first, gap.count});
  return std::make_unique<SigmfSamples>(std::move(found.data), found.begin,
                                        std::move(layout.stretches), sample_bytes,
                                        std::move(content));
}

absl::StatusOr<std::unique_ptr<Reader>> OpenPair(const std::string& path, double told_rate) {
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(path, sigmf::kMaxMetaBytes));
  TD_ASSIGN_OR_RETURN(const sigmf::SigmfRecording meta, sigmf::ParseSigmfMeta(path, text));
  TD_ASSIGN_OR_RETURN(files::InputFile data, files::OpenInput(meta.data_path));
  const uint64_t bytes = data.bytes;
  return Open({.path = path, .data = std::move(data), .bytes = bytes}, meta, told_rate);
}

absl::StatusOr<std::unique_ptr<Reader>> OpenArchive(const std::string& path,
                                                    const ReadOptions& options) {
  TD_ASSIGN_OR_RETURN(files::InputFile file, files::OpenInput(path));
  TD_ASSIGN_OR_RETURN(Archive archive, ReadArchive(file));
  TD_ASSIGN_OR_RETURN(const ArchivedRecording found, RecordingIn(archive, options.member, path));
  const std::string base = found.name.substr(found.name.rfind('/') + 1);
  if (found.meta.bytes > sigmf::kMaxMetaBytes) {
    return files::Invalid(path, absl::StrCat(base, sigmf::kMetaSuffix, " in it has more than ",
                                             sigmf::kMaxMetaBytes, " bytes"));
  }
  TD_ASSIGN_OR_RETURN(const std::string text,
                      ReadHeader(file, found.meta.in_archive.begin, found.meta.bytes, "its meta"));
  TD_ASSIGN_OR_RETURN(const sigmf::SigmfRecording meta, sigmf::ParseSigmfMeta(path, text));
  const std::string data = absl::StrCat(base, sigmf::kDataSuffix);
  const auto dataset = sigmf::TextIn(meta.object.at("global"), "core:dataset");
  if (dataset.value_or(data) != data) {
    return files::Invalid(path, absl::StrCat("global.core:dataset: \"", *dataset, "\" is not the ",
                                             data, " in the archive"));
  }
  if (const uint64_t lost = found.data.bytes - found.data.in_archive.bytes; lost > 0) {
    archive.notes.push_back(MakeNote("FILE_CUT",
                                     absl::StrCat("it ends ", lost, " bytes before its samples do"),
                                     {{"bytes", absl::StrCat(lost)}}));
  }
  return Open({.path = path,
               .data = std::move(file),
               .begin = found.data.in_archive.begin,
               .bytes = found.data.in_archive.bytes,
               .notes = std::move(archive.notes)},
              meta, options.sample_rate);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenSigmf(const std::string& path,
                                                  const ReadOptions& options) {
  if (sigmf::IsSigmfMeta(path)) {
    if (options.member.empty()) return OpenPair(path, options.sample_rate);
    return files::Invalid(path, "is not an archive, of which --member could name a recording");
  }
  if (absl::EndsWith(path, ".sigmf")) return OpenArchive(path, options);
  absl::string_view stem = path;
  if (absl::ConsumeSuffix(&stem, sigmf::kDataSuffix)) {
    return files::Invalid(
        path, absl::StrCat("holds the samples; name ", stem, sigmf::kMetaSuffix, " instead"));
  }
  if (absl::EndsWith(path, ".sigmf-collection")) {
    return files::Invalid(path,
                          "is a collection; name the .sigmf-meta of its recordings one by one");
  }
  return files::Invalid(path, "is named neither .sigmf-meta nor .sigmf");
}

}  // namespace tapedeck::services::formats
