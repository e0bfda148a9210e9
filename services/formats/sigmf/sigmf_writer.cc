#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/files/errors.h"
#include "services/base/files/input_file.h"
#include "services/base/files/part_file.h"
#include "services/formats/io/samples_file.h"
#include "services/formats/sigmf/sigmf.h"
#include "services/formats/sigmf/tar.h"
#include "services/signal/sigmf/foreign_json.h"

namespace tapedeck::services::formats {
namespace {

constexpr char kArchive[] = ".sigmf";
constexpr char kData[] = ".sigmf-data";
constexpr char kMeta[] = ".sigmf-meta";

// Longer than any that is written here.
constexpr uint64_t kMaxOwnMetaBytes = 32 << 20;

std::string MetaOf(const Subject& subject, const Seen& seen, const std::string& collection) {
  const Recording& recording = subject.recording;
  sigmf::Metadata metadata{.datatype = subject.datatype,
                           .sample_rate = recording.sample_rate,
                           .start_time_ns = TimeOf(subject, 0),
                           .description = recording.description,
                           .labels = recording.labels,
                           .origin = recording.origin,
                           .group = recording.group,
                           .uid = recording.uid,
                           .recording = recording.name,
                           .state = std::string(model::NameOf(recording.state)),
                           .block_samples = recording.block_bytes / subject.sample_bytes(),
                           .samples = subject.samples(),
                           .collection = collection,
                           .annotations = recording.annotations,
                           .runs = seen.runs};
  for (const SampleRange& gap : seen.gaps) {
    metadata.gaps.push_back(
        {.first = gap.first, .count = gap.count, .comment = "not recorded, or damaged: zeros"});
  }
  return sigmf::Encode(metadata);
}

bool IsOwnMeta(const std::string& path, const std::string& uid) {
  const auto text = files::ReadText(path, kMaxOwnMetaBytes);
  if (!text.ok()) return false;
  const nlohmann::json object = sigmf::ParseForeign(*text);
  return sigmf::IsOwn(object) && object["global"].value("tapedeck:uid", nlohmann::json()) == uid;
}

class PairWriter final : public Writer {
 public:
  PairWriter(const Subject& subject, std::string meta_path, bool replace, std::string collection)
      : subject_(subject),
        meta_path_(std::move(meta_path)),
        replace_(replace),
        collection_(std::move(collection)) {}

  absl::Status Begin(Output& /*out*/) override { return absl::OkStatus(); }
  absl::Status Write(const Piece& piece, Output& out) override { return raw_->Write(piece, out); }

  absl::Status Finish(const Seen& seen, Output& /*out*/) override {
    TD_ASSIGN_OR_RETURN(const auto part, files::PartFile::Create(meta_path_, replace_));
    Output meta(part->path(), part->fd(), 0);
    TD_RETURN_IF_ERROR(meta.Put(MetaOf(subject_, seen, collection_)));
    return part->Publish();
  }

 private:
  const Subject subject_;
  const std::string meta_path_;
  const bool replace_;
  const std::string collection_;
  const std::unique_ptr<Writer> raw_ = CreateRawWriter();
};

class ArchiveWriter final : public Writer {
 public:
  ArchiveWriter(const Subject& subject, std::string name)
      : subject_(subject), name_(std::move(name)) {}

  absl::Status Begin(Output& out) override {
    return out.Put(TarHeader({name_, name_ + kData, subject_.bytes}));
  }
  absl::Status Write(const Piece& piece, Output& out) override { return raw_->Write(piece, out); }

  absl::Status Finish(const Seen& seen, Output& out) override {
    const std::string meta = MetaOf(subject_, seen, "");
    out.Skip(TarPadding(subject_.bytes));
    TD_RETURN_IF_ERROR(out.Put(TarHeader({name_, name_ + kMeta, meta.size()})));
    TD_RETURN_IF_ERROR(out.Put(meta));
    out.Skip(TarPadding(meta.size()) + kTarEndBytes);
    return absl::OkStatus();
  }

 private:
  const Subject subject_;
  const std::string name_;  // of the folder in the archive, and its files
  const std::unique_ptr<Writer> raw_ = CreateRawWriter();
};

}  // namespace

std::string SigmfFile(const std::string& named) {
  if (absl::EndsWith(named, kArchive)) return named;
  return absl::StrCat(absl::StripSuffix(absl::StripSuffix(named, kData), kMeta), kData);
}

absl::StatusOr<std::unique_ptr<Writer>> CreateSigmfWriter(const Subject& subject,
                                                          const WriterOptions& options) {
  const std::string& file = options.file;
  if (options.streams) {
    const std::string& name = subject.recording.name;
    return std::make_unique<ArchiveWriter>(subject, name.substr(name.rfind('/') + 1));
  }
  if (absl::EndsWith(file, kArchive)) {
    const std::string name(absl::StripSuffix(file.substr(file.rfind('/') + 1), kArchive));
    if (name.empty() || name.size() + sizeof(kMeta) > kMaxTarNameBytes) {
      return ArgumentInvalid("to", absl::StrCat(file, ": an archive's name has 1 to ",
                                                kMaxTarNameBytes - sizeof(kMeta), " bytes"));
    }
    return std::make_unique<ArchiveWriter>(subject, name);
  }
  const std::string meta = absl::StrCat(absl::StripSuffix(file, kData), kMeta);
  const bool there = access(meta.c_str(), F_OK) == 0;
  if (there && !(options.resumed && IsOwnMeta(meta, subject.recording.uid))) {
    return files::Exists(meta);
  }
  return std::make_unique<PairWriter>(subject, meta, there, options.collection);
}

}  // namespace tapedeck::services::formats
