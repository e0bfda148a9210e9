#include "dataplane/transport/ipc/own_windows.h"

#include <utility>

namespace tapedeck::dataplane::ipc {

class OwnWindow::GuardedPath final : public PeerPath {
 public:
  GuardedPath(std::shared_ptr<OwnWindow> own, std::unique_ptr<PeerPath> path)
      : own_(std::move(own)), path_(std::move(path)) {}

  uint64_t bytes() const override { return path_->bytes(); }

  void Read(std::span<std::byte> into, uint64_t offset, Done done) override {
    {
      absl::ReaderMutexLock lock(&own_->mutex_);
      if (!own_->closed_) return path_->Read(into, offset, std::move(done));
    }
    done(Gone());
  }

  void Write(std::span<const std::byte> from, uint64_t offset, Done done) override {
    {
      absl::ReaderMutexLock lock(&own_->mutex_);
      if (!own_->closed_) return path_->Write(from, offset, std::move(done));
    }
    done(Gone());
  }

 private:
  static absl::Status Gone() {
    return absl::AbortedError("the other end, in this process, has freed its memory");
  }

  const std::shared_ptr<OwnWindow> own_;
  const std::unique_ptr<PeerPath> path_;
};

void OwnWindow::Close() {
  absl::WriterMutexLock lock(&mutex_);
  closed_ = true;
}

std::unique_ptr<PeerPath> OwnWindow::Guard(std::shared_ptr<OwnWindow> own,
                                           std::unique_ptr<PeerPath> path) {
  return std::make_unique<GuardedPath>(std::move(own), std::move(path));
}

OwnWindows& OwnWindows::Get() {
  static OwnWindows& windows = *new OwnWindows();
  return windows;
}

void OwnWindows::Add(const Name& name, std::shared_ptr<OwnWindow> own) {
  absl::MutexLock lock(&mutex_);
  windows_[name] = std::move(own);
}

void OwnWindows::Remove(const Name& name) {
  std::shared_ptr<OwnWindow> own;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = windows_.find(name);
    if (found == windows_.end()) return;
    own = std::move(found->second);
    windows_.erase(found);
  }
  own->Close();
}

std::shared_ptr<OwnWindow> OwnWindows::Find(const Name& name) const {
  absl::MutexLock lock(&mutex_);
  const auto found = windows_.find(name);
  return found == windows_.end() ? nullptr : found->second;
}

}  // namespace tapedeck::dataplane::ipc
