// A device store on a small disk image, driven by hand.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "services/base/errors.h"
#include "storage_node/store/device/layout.h"
#include "storage_node/store/device/store.h"
#include "tests/bytes.h"
#include "tests/storage_node/manual_executor.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::storage_node::store::device {

inline constexpr uint64_t kImageBytes = 64 << 20;  // 12 units
inline constexpr uint64_t kBlock = 1 << 20;
inline const RecordingPath kPath{.channel = "c", .recording = "r"};
inline const RecordingPath kOther{.channel = "c", .recording = "s"};

inline bool AllAre(std::span<const std::byte> bytes, uint64_t value) {
  return tapedeck::AllAre(static_cast<std::byte>(value), bytes);
}

class DeviceStoreTest : public testing::Test {
 protected:
  DeviceStoreTest() { Use(dir_.MakeImage("m0", kImageBytes)); }

  void Use(const std::string& member) {
    lun_ = {.name = "luns/l", .uid = "00112233-4455-4677-8899-aabbccddeeff", .members = {member}};
  }
  const std::string& image() const { return lun_.members[0]; }

  void PutBytes(uint64_t offset, const std::string& bytes) {
    std::fstream file(image(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string GetBytes(uint64_t offset, size_t bytes) {
    std::string text(bytes, '\0');
    std::ifstream file(image(), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    return text;
  }

  void CreateStore() {
    auto store = device::Create(lun_, 0);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  void Reopen() {
    store_ = nullptr;
    auto store = device::Open(lun_, 0);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  // Refused for a reason that contains `why`, and nothing of the device is changed.
  void ExpectRefused(const std::string& why) {
    const std::string before = GetBytes(0, kImageBytes);
    const absl::Status status = device::Create(lun_, 0).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                testing::AllOf(testing::HasSubstr(why), testing::HasSubstr(image())));
    const auto reason = services::ReasonOf(status);
    ASSERT_TRUE(reason.has_value());
    EXPECT_EQ(reason->reason, "MEMBER_UNUSABLE");
    EXPECT_TRUE(GetBytes(0, kImageBytes) == before) << "the device was written";
  }

  template <typename Result, typename Start>
  Result Wait(Start start) {
    std::optional<Result> result;
    start([&](Result r) { result.emplace(std::move(r)); });
    EXPECT_TRUE(executor_.RunUntil([&] { return result.has_value(); }));
    return *std::move(result);
  }
  std::unique_ptr<RecordingFiles> Make(const RecordingPath& path) {
    auto files = store_->Open(path, ToCreate(kBlock), executor_);
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }
  std::unique_ptr<RecordingFiles> Again(const RecordingPath& path) {
    auto files = store_->Open(path, {}, executor_);
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }
  dataplane::Block Filled(uint8_t value, size_t bytes = kBlock) {
    if (ring_ == nullptr) ring_ = *store_->MakeRing({.slots = 8, .slot_bytes = 3 * kBlock});
    std::optional<dataplane::Block> block;
    EXPECT_TRUE(executor_.RunUntil([&] { return (block = ring_->Take()).has_value(); }));
    std::memset(block->memory().data(), value, bytes);
    block->header().payload_bytes = static_cast<uint32_t>(bytes);
    return *std::move(block);
  }
  absl::Status Write(RecordingFiles& files, uint64_t offset, uint8_t value, size_t bytes = kBlock) {
    std::optional<absl::Status> status;
    files.WriteBlock({.offset = offset}, Filled(value, bytes),
                     [&](absl::Status s, dataplane::Block) { status = s; });
    EXPECT_TRUE(executor_.RunUntil([&] { return status.has_value(); }));
    return *status;
  }
  absl::StatusOr<dataplane::Block> Read(RecordingFiles& files, uint64_t offset,
                                        size_t bytes = kBlock) {
    if (ring_ == nullptr) ring_ = *store_->MakeRing({.slots = 8, .slot_bytes = 3 * kBlock});
    return Wait<absl::StatusOr<dataplane::Block>>([&](auto done) {
      EXPECT_TRUE(files.ReadBlock({.offset = offset}, static_cast<uint32_t>(bytes), *ring_,
                                  std::move(done)));
    });
  }
  absl::Status SetManifest(RecordingFiles& files, const std::string& text) {
    return Wait<absl::Status>([&](auto done) { files.WriteManifest(text, std::move(done)); });
  }
  std::string GetManifest(RecordingFiles& files) {
    return Wait<absl::StatusOr<std::string>>(
               [&](auto done) { files.ReadManifest(0, std::move(done)); })
        .value_or("none");
  }
  absl::Status PutIndex(RecordingFiles& files, uint64_t offset, const Bytes& bytes) {
    return Wait<absl::Status>(
        [&](auto done) { files.WriteIndex(0, offset, bytes, std::move(done)); });
  }
  Bytes GetIndex(RecordingFiles& files, uint64_t offset, size_t bytes) {
    return *Wait<absl::StatusOr<Bytes>>(
        [&](auto done) { files.ReadIndex(0, offset, bytes, std::move(done)); });
  }
  absl::Status Trim(RecordingFiles& files, uint64_t data, uint64_t index) {
    return Wait<absl::Status>([&](auto done) { files.Trim({data}, index, std::move(done)); });
  }

  TempDir dir_;
  ManualExecutor executor_;
  services::Lun lun_;
  std::unique_ptr<Store> store_;
  std::shared_ptr<dataplane::SlotPool> ring_;
};

}  // namespace tapedeck::storage_node::store::device
