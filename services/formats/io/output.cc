#include "services/formats/io/output.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"

namespace tapedeck::services::formats {

absl::Status Output::WriteAt(uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return files::WriteFailed(path_, "pwrite", errno);
    bytes = bytes.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return absl::OkStatus();
}

absl::Status Output::FillStream() {
  static const std::vector<std::byte> zeros(1 << 16);
  while (given_ < bytes_) {
    const uint64_t some = std::min<uint64_t>(zeros.size(), bytes_ - given_);
    TD_RETURN_IF_ERROR(stream_->Write(std::span(zeros).first(some)));
    given_ += some;
  }
  return absl::OkStatus();
}

absl::Status Output::Put(std::span<const std::byte> bytes) {
  if (stream_ != nullptr) {
    TD_RETURN_IF_ERROR(FillStream());
    TD_RETURN_IF_ERROR(stream_->Write(bytes));
    given_ += bytes.size();
  } else {
    TD_RETURN_IF_ERROR(WriteAt(bytes_, bytes));
  }
  bytes_ += bytes.size();
  return absl::OkStatus();
}

absl::Status Output::Replace(uint64_t offset, absl::string_view text) {
  return WriteAt(offset, std::as_bytes(std::span<const char>(text.data(), text.size())));
}

absl::Status Output::Put(absl::string_view text) {
  return Put(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

absl::Status Output::Sync() {
  if (stream_ != nullptr) return FillStream();
  if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) {
    return files::WriteFailed(path_, "ftruncate", errno);
  }
  if (fdatasync(fd_) != 0) return files::WriteFailed(path_, "fdatasync", errno);
  return absl::OkStatus();
}

}  // namespace tapedeck::services::formats
