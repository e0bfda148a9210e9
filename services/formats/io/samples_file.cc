
#include "services/formats/io/samples_file.h"

#include "dataplane/status_macros.h"

namespace tapedeck::services::formats {
namespace {

class RawWriter final : public Writer {
 public:
  absl::Status Begin(Output& /*out*/) override { return absl::OkStatus(); }

  absl::Status Write(const Piece& piece, Output& out) override {
    if (!piece.data.empty()) return out.Put(piece.data);
    out.Skip(piece.bytes);
    return absl::OkStatus();
  }

  absl::Status Finish(const Seen& /*seen*/, Output& /*out*/) override { return absl::OkStatus(); }
};

class RawStream final : public Reader {
 public:
  explicit RawStream(std::unique_ptr<InputStream> stream) : stream_(std::move(stream)) {}

  const Content& content() const override {
    content_.bytes = stream_->bytes();
    return content_;
  }
  InputStream* stream() override { return stream_.get(); }
  absl::Status Read(uint64_t /*offset*/, std::span<std::byte> /*into*/) override {
    return absl::FailedPreconditionError("samples of a stream come in order");
  }

 private:
  const std::unique_ptr<InputStream> stream_;
  mutable Content content_;
};

}  // namespace

std::unique_ptr<Writer> CreateRawWriter() { return std::make_unique<RawWriter>(); }

absl::StatusOr<std::unique_ptr<Reader>> OpenRaw(const std::string& path,
                                                const ReadOptions& /*options*/) {
  if (IsStream(path)) {
    TD_ASSIGN_OR_RETURN(auto stream, InputStream::Open(path));
    return std::make_unique<RawStream>(std::move(stream));
  }
  TD_ASSIGN_OR_RETURN(files::InputFile file, files::OpenInput(path));
  const uint64_t bytes = file.bytes;
  return std::make_unique<SamplesFile>(std::move(file), 0, Content{.bytes = bytes});
}

}  // namespace tapedeck::services::formats
