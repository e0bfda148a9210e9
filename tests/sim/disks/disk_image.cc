#include "tests/sim/disks/disk_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/sim/disks/fingerprint.h"

namespace tapedeck::sim {
namespace {

bool AllZero(std::span<const std::byte> bytes) {
  return bytes[0] == std::byte{0} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

void DiskImage::Read(uint64_t offset, std::span<std::byte> into) const {
  std::ranges::fill(into, std::byte{0});
  const uint64_t end = (offset + into.size()) / kPageBytes;
  for (auto page = cache_.lower_bound(offset / kPageBytes);
       page != cache_.end() && page->first < end; ++page) {
    std::memcpy(&into[page->first * kPageBytes - offset], page->second->bytes.data(), kPageBytes);
  }
}

uint64_t DiskImage::Write(uint64_t offset, std::span<const std::byte> bytes) {
  Operation operation{.first_page = offset / kPageBytes};
  for (; !bytes.empty(); bytes = bytes.subspan(kPageBytes)) {
    PagePtr page;
    if (const auto one = bytes.first(kPageBytes); !AllZero(one)) {
      page = std::make_shared<Page>();
      std::ranges::copy(one, page->bytes.begin());
    }
    operation.pages.push_back(std::move(page));
  }
  Apply(operation, &cache_);
  pending_.emplace(next_id_, std::move(operation));
  return next_id_++;
}

void DiskImage::Flush() {
  std::erase_if(pending_, [this](const auto& entry) {
    if (entry.second.completed) Apply(entry.second, &durable_);
    return entry.second.completed;
  });
}

Losses DiskImage::CutPower(std::mt19937_64& random) {
  Losses losses;
  for (const auto& [id, operation] : pending_) {
    switch (FateOf(random)) {
      case Fate::kLost:
        ++losses.lost;
        break;
      case Fate::kWhole:
        Apply(operation, &durable_);
        break;
      case Fate::kTorn:
        ++losses.torn;
        ApplyTorn(operation, random);
        break;
    }
  }
  pending_.clear();
  cache_ = durable_;
  return losses;
}

void DiskImage::Put(uint64_t number, PagePtr page, Pages* to) {
  if (page == nullptr) {
    to->erase(number);
  } else {
    (*to)[number] = std::move(page);
  }
}

void DiskImage::Apply(const Operation& operation, Pages* to) {
  for (size_t i = 0; i < operation.pages.size(); ++i) {
    Put(operation.first_page + i, operation.pages[i], to);
  }
}

void DiskImage::ApplyTorn(const Operation& operation, std::mt19937_64& random) {
  constexpr size_t kSectors = kPageBytes / kSectorBytes;
  for (size_t i = 0; i < operation.pages.size(); ++i) {
    const uint64_t number = operation.first_page + i;
    const uint64_t arrived = random() % (1 << kSectors);
    const auto old = durable_.find(number);
    auto torn = old == durable_.end() ? std::make_shared<Page>()
                                      : std::make_shared<Page>(Page{.bytes = old->second->bytes});
    for (size_t sector = 0; sector < kSectors; ++sector) {
      if ((arrived >> sector & 1) == 0) continue;
      std::byte* to = torn->bytes.data() + sector * kSectorBytes;
      if (operation.pages[i] == nullptr) {
        std::memset(to, 0, kSectorBytes);
      } else {
        std::memcpy(to, operation.pages[i]->bytes.data() + sector * kSectorBytes, kSectorBytes);
      }
    }
    Put(number, AllZero(torn->bytes) ? nullptr : std::move(torn), &durable_);
  }
}

bool DiskImage::HoldsAnything(uint64_t offset, uint64_t bytes) const {
  const auto page = durable_.lower_bound(offset / kPageBytes);
  return page != durable_.end() && page->first < (offset + bytes) / kPageBytes;
}

uint64_t DiskImage::Fingerprint() const {
  uint64_t all = bytes_;
  for (const auto& [number, page] : durable_) {
    if (page->fingerprint == 0) page->fingerprint = FingerprintOf(page->bytes) | 1;
    all = Join(Join(all, number), page->fingerprint);
  }
  return all;
}

}  // namespace tapedeck::sim
