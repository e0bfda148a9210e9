// The bytes of a whole device with a volatile cache, of which only what is not zero takes memory.
// Copied to try many endings of one run: pages are shared.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "tests/sim/disks/losses.h"

namespace tapedeck::sim {

// Offsets and lengths are whole pages. One thread.
class DiskImage {
 public:
  static constexpr size_t kPageBytes = 4096;

  explicit DiskImage(uint64_t bytes) : bytes_(bytes) {}

  uint64_t bytes() const { return bytes_; }
  void Read(uint64_t offset, std::span<std::byte> into) const;
  // Returns the id of the operation, for Complete.
  uint64_t Write(uint64_t offset, std::span<const std::byte> bytes);
  void Complete(uint64_t id) { pending_.at(id).completed = true; }
  // What completed writes have written is durable.
  void Flush();
  Losses CutPower(std::mt19937_64& random);

  // Has any of these bytes, as far as they are durable, ever been something?
  bool HoldsAnything(uint64_t offset, uint64_t bytes) const;
  // Of what is durable: equal for equal bytes.
  uint64_t Fingerprint() const;

 private:
  struct Page {
    std::array<std::byte, kPageBytes> bytes;
    uint64_t fingerprint = 0;  // 0: not yet taken
  };
  // Null: all zeros.
  using PagePtr = std::shared_ptr<Page>;
  struct Operation {
    uint64_t first_page = 0;
    std::vector<PagePtr> pages;
    bool completed = false;
  };
  using Pages = std::map<uint64_t, PagePtr>;

  static void Put(uint64_t number, PagePtr page, Pages* to);
  static void Apply(const Operation& operation, Pages* to);
  void ApplyTorn(const Operation& operation, std::mt19937_64& random);

  uint64_t bytes_;
  Pages durable_;
  Pages cache_;
  std::map<uint64_t, Operation> pending_;
  uint64_t next_id_ = 0;
};

}  // namespace tapedeck::sim
