// A folder with all below it as values: copied, damaged and put back in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace tapedeck::disaster {

// The bytes of a file, of which only pages that are not zero take memory. Copies share pages.
class Bytes {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  uint64_t size() const { return size_; }
  // Cut, or longer with zeros.
  void Resize(uint64_t size);
  // What lies beyond the end is not there.
  std::string Read(uint64_t offset, uint64_t bytes) const;
  std::string All() const { return Read(0, size_); }
  // Longer where it has to be.
  void Write(uint64_t offset, std::string_view bytes);
  void Zero(uint64_t offset, uint64_t bytes);
  // So many bytes of another's, at `at`; all three are whole pages. Nothing is copied.
  void Share(const Bytes& from, uint64_t offset, uint64_t bytes, uint64_t at);
  // An offset of a byte that is not zero in that range, near the one that is asked for; or that.
  uint64_t NearestUsed(uint64_t begin, uint64_t end, uint64_t wanted) const;

  bool operator==(const Bytes& other) const;

  // Throws where the file system refuses.
  static Bytes Load(const std::string& path);
  void Save(const std::string& path) const;

 private:
  using Page = std::shared_ptr<const std::string>;

  uint64_t size_ = 0;
  std::map<uint64_t, Page> pages_;  // by number; each of kPageBytes
};

struct Node {
  enum class Kind { kFile, kFolder, kLink };
  Kind kind = Kind::kFile;
  Bytes bytes;         // of a file
  std::string target;  // of a link

  bool operator==(const Node&) const = default;
};

// By path relative to the folder: folders come before what is in them.
using Image = std::map<std::string, Node>;

Image LoadImage(const std::string& folder);
// What was there goes.
void SaveImage(const Image& image, const std::string& folder);

}  // namespace tapedeck::disaster
