// What a playback says of parts that no node has.
#include "gpu_worker/job/parts_found.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "services/base/errors.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker::job {
namespace {

constexpr char kPart[] = "luns/l/channels/c/recordings/r";

// A node with one part, or without.
class PartStorage : public services::StorageClient {
 public:
  explicit PartStorage(std::optional<services::model::Part> part) : part_(std::move(part)) {}

  absl::StatusOr<services::Channel> GetChannel(const std::string&) override {
    return absl::UnimplementedError("nobody asks");
  }
  absl::StatusOr<services::Recording> GetRecording(const std::string& name) override {
    if (!part_.has_value()) return services::RecordingNotFound(name, "it has none");
    return services::Recording{.name = name,
                               .blocks = 4,
                               .bytes = 4 << 16,
                               .block_bytes = 1 << 16,
                               .datatype = "cf32_le",
                               .part = part_};
  }
  absl::StatusOr<services::Timeline> GetTimeline(const std::string&) override {
    return absl::UnimplementedError("nobody asks");
  }
  absl::Status AnnotateStream(const std::string&, std::span<const services::Annotation>,
                              services::model::Marked*) override {
    return absl::UnimplementedError("nobody asks");
  }
  void Cancel() override {}
  std::unique_ptr<services::session::ControlStream> OpenSession() override { return nullptr; }

 private:
  const std::optional<services::model::Part> part_;
};

// The notes where only the first node has a part.
services::Notes NotesOf(const services::model::Part& part) {
  const auto found =
      FindParts({{.address = "a:1", .storage = std::make_shared<PartStorage>(part)},
                 {.address = "b:1", .storage = std::make_shared<PartStorage>(std::nullopt)}},
                kPart);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? found->notes : services::Notes();
}

TEST(PartsFoundTest, BlocksOfAPartAreMissing) {
  EXPECT_THAT(
      NotesOf({.number = 1, .parts = 2, .copies = 1, .whole = "r"}),
      testing::ElementsAre(services::Noted("PART_ABSENT|part=2|parts=2|copies=1"),
                           services::Noted("PART_UNKNOWN|node=b:1|reason=RECORDING_NOT_FOUND")));
}

TEST(PartsFoundTest, ButForThoseThatAnotherPartHasToo) {
  EXPECT_THAT(
      NotesOf({.number = 1, .parts = 2, .copies = 2, .whole = "r"}),
      testing::ElementsAre(services::Noted("PART_ABSENT|part=2|parts=2|copies=2"),
                           services::Noted("PART_UNKNOWN|node=b:1|reason=RECORDING_NOT_FOUND")));
  // Two of three parts: some blocks were in both.
  EXPECT_THAT(NotesOf({.number = 1, .parts = 3, .copies = 2, .whole = "r"}),
              testing::Contains(services::Noted("PART_ABSENT|part=2|parts=3|copies=2")));
}

// Answers once another one is asked, too.
class MeetingStorage final : public PartStorage {
 public:
  MeetingStorage(std::atomic<int>& asked, std::optional<services::model::Part> part)
      : PartStorage(std::move(part)), asked_(asked) {}

  absl::StatusOr<services::Recording> GetRecording(const std::string& name) override {
    ++asked_;
    const auto deadline = dataplane::Deadline::In(absl::Seconds(10));
    while (asked_ < 2 && !deadline.passed()) absl::SleepFor(absl::Milliseconds(5));
    EXPECT_EQ(asked_, 2) << "they are asked one after the other";
    return PartStorage::GetRecording(name);
  }

 private:
  std::atomic<int>& asked_;
};

TEST(PartsFoundTest, NodesThatAreSlowAreWaitedForTogether) {
  std::atomic<int> asked = 0;
  const auto part = [](uint32_t number) {
    return services::model::Part{.number = number, .parts = 3, .copies = 1, .whole = "r"};
  };
  const auto found =
      FindParts({{.address = "a:1", .storage = std::make_shared<PartStorage>(part(1))},
                 {.address = "b:1", .storage = std::make_shared<MeetingStorage>(asked, part(2))},
                 {.address = "c:1", .storage = std::make_shared<MeetingStorage>(asked, part(3))}},
                kPart);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->parts.size(), 3u);
  EXPECT_EQ(found->parts[2].node.address, "c:1");
}

}  // namespace
}  // namespace tapedeck::gpu_worker::job
