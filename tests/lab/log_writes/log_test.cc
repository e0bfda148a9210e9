// The log of dm-log-writes as this room reads it, and what the marks in it promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "storage_node/disk/durable_file.h"
#include "tests/lab/log_writes/ledger.h"
#include "tests/lab/log_writes/write_log.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::lab {
namespace {

constexpr size_t kSector = 512;

// Laid out by hand, as drivers/md/dm-log-writes.c does.
class LogFile {
 public:
  LogFile() { Sector({0x6a736677736872, 1, 0, kSector}); }

  void Write(uint64_t sector, uint64_t sectors, uint64_t flags, char fill) {
    Entry({sector, sectors, flags, 0});
    bytes_.append(sectors * kSector, fill);
  }
  void Discard(uint64_t sector, uint64_t sectors) { Entry({sector, sectors, 4, 0}); }
  void Mark(const std::string& text) {
    Entry({0, 0, 8, text.size()});
    bytes_.replace(bytes_.size() - kSector + 32, text.size(), text);
  }
  void Cut(size_t bytes) { bytes_.resize(bytes_.size() - bytes); }
  void Overwrite(size_t at, char value) { bytes_[at] = value; }

  absl::StatusOr<std::unique_ptr<WriteLog>> Open() {
    bytes_[16] = static_cast<char>(entries_);
    const std::string path = dir_.path() + "/log";
    EXPECT_TRUE(storage_node::disk::WriteFileAtomically(path, bytes_, path).ok());
    return WriteLog::Open(path);
  }

 private:
  void Sector(const std::vector<uint64_t>& numbers) {
    std::string sector(kSector, '\0');
    std::memcpy(sector.data(), numbers.data(), numbers.size() * sizeof(uint64_t));
    bytes_ += sector;
  }
  void Entry(const std::vector<uint64_t>& numbers) {
    Sector(numbers);
    ++entries_;
  }

  storage_node::TempDir dir_;
  std::string bytes_;
  uint64_t entries_ = 0;
};

TEST(WriteLog, GivesEntriesInOrderWithTheirData) {
  LogFile file;
  file.Write(8, 2, 0, 'a');
  file.Mark("begin");
  file.Discard(100, 1'000'000);
  file.Write(0, 0, 1, ' ');
  file.Write(16, 1, 1 | 2 | 16, 'b');
  const auto log = file.Open();
  ASSERT_TRUE(log.ok()) << log.status();
  const auto& entries = (*log)->entries();
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[0].offset, 8 * kSector);
  ASSERT_EQ(entries[0].bytes, 2 * kSector);
  EXPECT_EQ(entries[0].data[2 * kSector - 1], std::byte{'a'});
  EXPECT_FALSE(entries[0].flush || entries[0].fua);
  EXPECT_EQ(entries[1].mark, "begin");
  EXPECT_TRUE(entries[2].discard);
  EXPECT_EQ(entries[2].data, nullptr);
  EXPECT_TRUE(entries[3].flush);
  EXPECT_EQ(entries[3].bytes, 0u);
  EXPECT_TRUE(entries[4].flush && entries[4].fua);
  EXPECT_EQ(entries[4].data[0], std::byte{'b'});
}

TEST(WriteLog, RefusesWhatIsCutShortOrNoLog) {
  LogFile file;
  file.Write(8, 2, 0, 'a');
  file.Cut(1);
  EXPECT_TRUE(absl::IsDataLoss(file.Open().status()));
  LogFile other;
  other.Overwrite(0, 'x');
  EXPECT_TRUE(absl::IsDataLoss(other.Open().status()));
}

TEST(Ledger, PromisesTheHighestWatermarkAndWhatIsClosed) {
  Ledger ledger;
  EXPECT_TRUE(ledger.Read("at:r:RECORDING:0:5").ok());
  EXPECT_FALSE(ledger.begun());
  EXPECT_TRUE(ledger.Read("begin").ok());
  EXPECT_TRUE(ledger.Read("at:r:RECORDING:0:3").ok());
  EXPECT_TRUE(ledger.begun());
  EXPECT_EQ(ledger.promises().at("r").blocks, 5u);
  EXPECT_EQ(ledger.promises().at("r").closed, "");
  EXPECT_TRUE(ledger.Read("at:r:SEALED:9:9").ok());
  EXPECT_EQ(ledger.promises().at("r").closed, "SEALED");
  EXPECT_EQ(ledger.promises().at("r").all_blocks, 9u);
}

TEST(Ledger, DeletionIsAllowedFirstAndFinalThen) {
  Ledger ledger;
  EXPECT_TRUE(ledger.Read("deleting:r").ok());
  EXPECT_TRUE(ledger.promises().at("r").may_be_gone);
  EXPECT_FALSE(ledger.promises().at("r").gone);
  EXPECT_TRUE(ledger.Read("deleted:r").ok());
  EXPECT_TRUE(ledger.Read("at:r:SEALED:9:9").ok());  // seen before the deletion, marked after it
  EXPECT_TRUE(ledger.promises().at("r").gone);
}

TEST(Ledger, RefusesMarksThatMakeNoSense) {
  Ledger ledger;
  EXPECT_TRUE(ledger.Read("dm-log-writes-end").ok());
  EXPECT_FALSE(ledger.Read("at:r:RECORDING:5").ok());
  EXPECT_FALSE(ledger.Read("at:r:RECORDING:0:many").ok());
  EXPECT_FALSE(ledger.Read("beginning").ok());
}

}  // namespace
}  // namespace tapedeck::lab
