// A writer over a store whose every operation the test answers.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "storage_node/format/limits.h"
#include "storage_node/recording/writing/recording_writer.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::storage_node {

using dataplane::Block;

inline constexpr uint64_t kWriterBlockBytes = 64 << 10;
inline const uint64_t kEntryBytes = format::EntryFormat::Of(kWriterBlockBytes, 0).entry_bytes;

// What the files were asked to do, in order, and answers still owed. The test owns it.
struct Disk {
  std::vector<std::string> log;
  std::list<std::pair<std::string, dataplane::Task>> owed;
  std::list<absl::Status> failures;  // of the next block writes
  absl::Status flush_failure;
  absl::Status index_failure;
  std::set<std::string> held;  // operations whose answers the test gives itself
};

class ScriptedFiles final : public store::RecordingFiles {
 public:
  ScriptedFiles(Disk& disk, dataplane::Executor& executor) : disk_(disk), executor_(executor) {}

  void WriteBlock(format::Place place, Block block, store::BlockDone done) override {
    disk_.log.push_back("data " + std::to_string(place.offset / kWriterBlockBytes));
    absl::Status status;
    if (!disk_.failures.empty()) {
      status = disk_.failures.front();
      disk_.failures.pop_front();
    }
    if (status.ok()) block.Reset();
    executor_.Post([status, block = std::move(block), done = std::move(done)]() mutable {
      done(status, std::move(block));
    });
  }
  bool ReadBlock(format::Place, uint32_t, dataplane::SlotPool&, store::BlockRead) override {
    return false;
  }
  void Flush(store::Done done) override { Answer("flush", std::move(done), disk_.flush_failure); }
  void Trim(std::vector<uint64_t>, uint64_t, store::Done done) override {
    Answer("trim", std::move(done));
  }
  uint32_t index_copies() const override { return 1; }
  void WriteIndex(uint32_t, uint64_t offset, store::Bytes bytes, store::Done done) override {
    const bool entries = offset >= format::kEntriesOffset;
    Answer(entries ? "index " + std::to_string(bytes.size() / kEntryBytes)
                   : (offset == 0 ? "header" : "watermark"),
           std::move(done), entries ? disk_.index_failure : absl::OkStatus());
  }
  void ReadIndex(uint32_t, uint64_t, size_t, store::BytesRead) override {}
  void WriteManifest(std::string text, store::Done done) override {
    Answer(text.find("RECORDING") != std::string::npos ? "manifest" : "sealed", std::move(done));
  }
  void ReadManifest(uint32_t, store::TextRead) override {}

 private:
  void Answer(const std::string& what, store::Done done, absl::Status status = absl::OkStatus()) {
    disk_.log.push_back(what);
    dataplane::Task answer = [status = std::move(status), done = std::move(done)]() mutable {
      done(status);
    };
    if (disk_.held.contains(what)) {
      disk_.owed.emplace_back(what, std::move(answer));
    } else {
      executor_.Post(std::move(answer));
    }
  }

  Disk& disk_;
  dataplane::Executor& executor_;
};

class WriterTest : public testing::Test {
 protected:
  void SetUp() override {
    pool_ = *dataplane::MemoryPool::Create(*dataplane::host::Create(16 * kWriterBlockBytes),
                                           kWriterBlockBytes);
    MakeWriter();
    executor_.RunReady();
    disk_.log.clear();
  }

  void MakeWriter(uint64_t capacity_bytes = 0) {
    writer_ = std::make_unique<recording::RecordingWriter>(
        recording::WriterOptions{
            .name = "luns/l/channels/c/recordings/r",
            .manifest = {.id = "r", .members = 1, .block_bytes = kWriterBlockBytes},
            .ring_slots = 16,
            .capacity = std::make_shared<recording::Capacity>(capacity_bytes),
            .live = std::make_shared<recording::LiveRecording>(),
            .on_sealed =
                [this](const format::Manifest& m, const std::function<void()>& done) {
                  sealed_ = m;
                  done();
                },
            .verifier = verifier_,
            .stages = stages_},
        std::make_unique<ScriptedFiles>(disk_, executor_), executor_);
  }

  // Gives the answers that are owed, with all else done before.
  void AnswerOwed() {
    executor_.RunReady();
    disk_.held.clear();
    ASSERT_FALSE(disk_.owed.empty());
    for (auto& [what, answer] : disk_.owed) answer();
    disk_.owed.clear();
    executor_.RunReady();
  }

  absl::Status Push(uint64_t sequence) {
    Block block = *pool_->Take();
    block.header() = {.sequence = sequence, .payload_bytes = kWriterBlockBytes};
    return writer_->Push(&block).status();
  }

  absl::Status Finish(const absl::Status& cause) {
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    executor_.RunUntil([&] {
      flow = writer_->Finish(cause);
      return !flow.ok() || *flow == dataplane::Flow::kEnd;
    });
    return flow.status();
  }

  ManualExecutor executor_;
  Disk disk_;
  std::shared_ptr<dataplane::MemoryPool> pool_;
  const std::shared_ptr<recording::WriteVerifier> verifier_ =
      std::make_shared<recording::WriteVerifier>([n = uint64_t{0}]() mutable { return ++n; });
  const std::shared_ptr<services::session::SessionStageTimes> stages_ =
      std::make_shared<services::session::SessionStageTimes>();
  std::optional<format::Manifest> sealed_;
  std::unique_ptr<recording::RecordingWriter> writer_;
};

}  // namespace tapedeck::storage_node
