
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

}  // namespace

std::unique_ptr<Writer> CreateRawWriter() { return std::make_unique<RawWriter>(); }

absl::StatusOr<std::unique_ptr<Reader>> OpenRaw(const std::string& path,
                                                const ReadOptions& /*options*/) {
  TD_ASSIGN_OR_RETURN(files::InputFile file, files::OpenInput(path));
  const uint64_t bytes = file.bytes;
  return std::make_unique<SamplesFile>(std::move(file), 0, Content{.bytes = bytes});
}

}  // namespace tapedeck::services::formats
