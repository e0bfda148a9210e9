#include "tests/disaster/image.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tapedeck::disaster {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Throw(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class File {
 public:
  File(const std::string& path, int flags) : path_(path), fd_(open(path.c_str(), flags, 0640)) {
    if (fd_ < 0) Throw(path);
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }
  void CheckAll(ssize_t done, size_t wanted) const {
    if (done != static_cast<ssize_t>(wanted)) Throw(path_);
  }

 private:
  const std::string path_;
  const int fd_;
};

bool IsZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

void Bytes::Resize(uint64_t size) {
  if (size < size_) {
    const uint64_t within = size % kPageBytes;
    if (within != 0) Zero(size, kPageBytes - within);
    pages_.erase(pages_.lower_bound((size + kPageBytes - 1) / kPageBytes), pages_.end());
  }
  size_ = size;
}

std::string Bytes::Read(uint64_t offset, uint64_t bytes) const {
  if (offset >= size_) return {};
  std::string all(std::min(bytes, size_ - offset), '\0');
  for (auto it = pages_.lower_bound(offset / kPageBytes); it != pages_.end(); ++it) {
    const uint64_t start = it->first * kPageBytes;
    if (start >= offset + all.size()) break;
    const uint64_t from = std::max(start, offset);
    const uint64_t to = std::min(start + kPageBytes, offset + all.size());
    std::copy_n(&(*it->second)[from - start], to - from, &all[from - offset]);
  }
  return all;
}

void Bytes::Write(uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  size_ = std::max(size_, offset + bytes.size());
  while (!bytes.empty()) {
    const uint64_t number = offset / kPageBytes, within = offset % kPageBytes;
    const size_t here = std::min<size_t>(bytes.size(), kPageBytes - within);
    Page& page = pages_[number];
    std::string changed = page == nullptr ? std::string(kPageBytes, '\0') : *page;
    std::copy_n(bytes.data(), here, &changed[within]);
    if (IsZero(changed)) {
      pages_.erase(number);
    } else {
      page = std::make_shared<const std::string>(std::move(changed));
    }
    offset += here;
    bytes.remove_prefix(here);
  }
}

void Bytes::Zero(uint64_t offset, uint64_t bytes) {
  const uint64_t end = offset + bytes;
  auto it = pages_.lower_bound(offset / kPageBytes);
  while (it != pages_.end() && it->first * kPageBytes < end) {
    const uint64_t start = it->first * kPageBytes;
    std::string changed = *it->second;
    const uint64_t from = std::max(start, offset), to = std::min(start + kPageBytes, end);
    std::fill_n(&changed[from - start], to - from, '\0');
    if (IsZero(changed)) {
      it = pages_.erase(it);
    } else {
      it->second = std::make_shared<const std::string>(std::move(changed));
      ++it;
    }
  }
}

void Bytes::Share(const Bytes& from, uint64_t offset, uint64_t bytes, uint64_t at) {
  size_ = std::max(size_, at + bytes);
  const auto end = from.pages_.lower_bound((offset + bytes) / kPageBytes);
  for (auto it = from.pages_.lower_bound(offset / kPageBytes); it != end; ++it) {
    pages_[it->first - offset / kPageBytes + at / kPageBytes] = it->second;
  }
}

uint64_t Bytes::NearestUsed(uint64_t begin, uint64_t end, uint64_t wanted) const {
  auto it = pages_.lower_bound(wanted / kPageBytes);
  if (it == pages_.end() || it->first * kPageBytes >= end)
    it = pages_.lower_bound(begin / kPageBytes);
  if (it == pages_.end() || it->first * kPageBytes >= end) return wanted;
  const uint64_t start = it->first * kPageBytes;
  for (uint64_t i = 0; i < kPageBytes; ++i) {
    const uint64_t at = start + (wanted + i) % kPageBytes;
    if (at >= begin && at < end && (*it->second)[at - start] != '\0') return at;
  }
  return wanted;
}

bool Bytes::operator==(const Bytes& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && (a.second == b.second || *a.second == *b.second);
  };
  return size_ == other.size_ && std::ranges::equal(pages_, other.pages_, same);
}

Bytes Bytes::Load(const std::string& path) {
  const File file(path, O_RDONLY | O_CLOEXEC);
  Bytes bytes;
  bytes.size_ = fs::file_size(path);
  std::array<char, kPageBytes> page;
  off_t at = 0;
  while ((at = lseek(file.fd(), at, SEEK_DATA)) >= 0) {
    const off_t end = lseek(file.fd(), at, SEEK_HOLE);
    for (at -= at % static_cast<off_t>(kPageBytes); at < end; at += kPageBytes) {
      const ssize_t got = pread(file.fd(), page.data(), page.size(), at);
      if (got < 0) Throw(path);
      bytes.Write(static_cast<uint64_t>(at), {page.data(), static_cast<size_t>(got)});
    }
    at = end;
  }
  return bytes;
}

void Bytes::Save(const std::string& path) const {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  if (ftruncate(file.fd(), static_cast<off_t>(size_)) != 0) Throw(path);
  for (const auto& [number, page] : pages_) {
    const uint64_t start = number * kPageBytes;
    const size_t here = std::min(kPageBytes, size_ - start);
    file.CheckAll(pwrite(file.fd(), page->data(), here, static_cast<off_t>(start)), here);
  }
}

Image LoadImage(const std::string& folder) {
  Image image;
  for (auto it = fs::recursive_directory_iterator(folder); it != fs::end(it); ++it) {
    const std::string name = it->path().lexically_relative(folder).string();
    if (it->is_symlink()) {
      image[name] = {
          .kind = Node::Kind::kLink, .bytes = {}, .target = fs::read_symlink(it->path())};
    } else if (it->is_directory()) {
      image[name] = {.kind = Node::Kind::kFolder, .bytes = {}, .target = {}};
    } else {
      image[name] = {.bytes = Bytes::Load(it->path()), .target = {}};
    }
  }
  return image;
}

void SaveImage(const Image& image, const std::string& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, node] : image) {
    const std::string path = folder + "/" + name;
    if (node.kind == Node::Kind::kFolder) fs::create_directories(path);
    if (node.kind == Node::Kind::kLink) fs::create_symlink(node.target, path);
    if (node.kind == Node::Kind::kFile) node.bytes.Save(path);
  }
}

}  // namespace tapedeck::disaster
