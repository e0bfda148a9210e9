// Damage to plant in files.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace tapedeck::storage_node {

// Copies `bytes` between places of files, or within one.
inline void CopyBytes(const std::string& from, uint64_t from_offset, const std::string& to,
                      uint64_t to_offset, size_t bytes) {
  std::string buffer(bytes, '\0');
  std::ifstream in(from, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(from_offset));
  in.read(buffer.data(), static_cast<std::streamsize>(bytes));
  std::fstream out(to, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(to_offset));
  out.write(buffer.data(), static_cast<std::streamsize>(bytes));
}

inline void Overwrite(const std::string& path, uint64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void FlipBit(const std::string& path, uint64_t offset) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

}  // namespace tapedeck::storage_node
