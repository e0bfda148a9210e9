// Every message a peer can send, with each of its fields at values that cannot be, given to a whole
// session at either end: it ends with an error that names peer, message and field.
#include "services/session/protocol/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "services/base/errors.h"
#include "services/session/opening/client_session.h"
#include "services/session/serving/server_session.h"
#include "tests/services/session/bad_messages.h"
#include "tests/sim/ends.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::services::session {
namespace {

using storage_node::ManualExecutor;

// A control stream whose other end is the test.
class TestedStream final : public ControlStream {
 public:
  explicit TestedStream(ControlEvents** events, std::vector<Message>* sent)
      : events_(events), sent_(sent) {}
  void Start(ControlEvents* events, dataplane::Executor*) override { *events_ = events; }
  void Send(const Message& message) override { sent_->push_back(message); }
  void Close(const absl::Status&) override {}

 private:
  ControlEvents** const events_;
  std::vector<Message>* const sent_;
};

TransferEnd EndFor(bool sending) {
  const auto ring =
      *dataplane::MemoryPool::Create(*dataplane::host::Create(8 * kGoodSlotBytes), kGoodSlotBytes);
  TransferEnd end{.ring = ring};
  if (sending) end.source = std::make_unique<sim::PatternSource>(ring, 4);
  if (!sending) end.sink = std::make_unique<sim::PatternSink>([](uint64_t) {});
  return end;
}

class CheckTest : public testing::Test, public SessionHost {
 protected:
  void Admit(const Open& open, dataplane::Executor&, std::shared_ptr<AdmissionWatch>,
             OnAdmitted admitted) override {
    ++admitted_;
    TransferEnd end = EndFor(open.direction == Direction::kPlayback);
    admitted(Admission{.sink = std::move(end.sink),
                       .source = std::move(end.source),
                       .ring = std::move(end.ring),
                       .accept = GoodAccept()});
  }

  // The error that the worker's end gives its job.
  absl::Status WorkerAnswers(const BadMessage& row) {
    ManualExecutor executor{absl::ZeroDuration()};
    std::vector<Message> sent;
    ControlEvents* events = nullptr;
    Snapshot last;
    ClientSessionSettings settings{.node = "s:1", .open = GoodOpen(row.direction)};
    settings.make_end = [&](const Accept&) { return EndFor(row.direction == Direction::kRecord); };
    ClientSession session(executor, settings, std::make_unique<TestedStream>(&events, &sent));
    session.Start([&](const Snapshot& snapshot) { last = snapshot; });
    if (row.message != "Accept") events->OnMessage(GoodAccept());
    events->OnMessage(row.bad);
    if (!executor.RunUntil([&] { return last.ended; })) return absl::InternalError("no end");
    return last.error;
  }

  // The error that the node's end tells the worker.
  absl::Status NodeAnswers(const BadMessage& row) {
    ManualExecutor executor{absl::ZeroDuration()};
    std::vector<Message> sent;
    ControlEvents* events = nullptr;
    ServerSession session(executor, {.id = "s", .host = this},
                          std::make_unique<TestedStream>(&events, &sent), [] {});
    session.Start();
    if (row.message != "Open") events->OnMessage(GoodOpen(row.direction));
    events->OnMessage(row.bad);
    const auto finished = [&]() -> const Finished* {
      return sent.empty() ? nullptr : std::get_if<Finished>(&sent.back());
    };
    if (!executor.RunUntil([&] { return finished() != nullptr; })) {
      return absl::InternalError("no end");
    }
    return finished()->cause;
  }

  static void Expect(const absl::Status& status, const BadMessage& row, const std::string& peer) {
    SCOPED_TRACE(row.message + "." + row.field);
    const auto reason = ReasonOf(status);
    ASSERT_TRUE(reason.has_value()) << status;
    ASSERT_EQ(reason->reason, "PROTOCOL_VIOLATION") << status;
    EXPECT_EQ(reason->metadata.at("peer"), peer);
    EXPECT_EQ(reason->metadata.at("message"), row.message);
    EXPECT_EQ(reason->metadata.at("field"), row.field);
  }

  int admitted_ = 0;
};

TEST_F(CheckTest, TheWorkerNamesEachBadField) {
  std::vector<BadMessage> rows = BadShared(Direction::kRecord);
  std::ranges::move(BadAccepts(), std::back_inserter(rows));
  for (const BadMessage& row : rows) Expect(WorkerAnswers(row), row, "storage node s:1");
}

TEST_F(CheckTest, TheNodeNamesEachBadField) {
  for (const BadMessage& row : BadShared(Direction::kPlayback)) {
    Expect(NodeAnswers(row), row, "the worker");
  }
}

TEST_F(CheckTest, TheNodeAdmitsNoBadOpen) {
  for (const BadMessage& row : BadOpens()) Expect(NodeAnswers(row), row, "the worker");
  EXPECT_EQ(admitted_, 0);
}

TEST_F(CheckTest, GoodMessagesPass) {
  const Known known{.peer = "the worker"};
  EXPECT_TRUE(CheckMessage(known, GoodOpen(Direction::kRecord)).ok());
  EXPECT_TRUE(CheckMessage(known, GoodAccept()).ok());
  EXPECT_TRUE(CheckMessage(known, RailOffer{.rail = "r0"}).ok());
  EXPECT_TRUE(CheckMessage(known, EndOfStream{.blocks = 1'000'000}).ok());
  EXPECT_TRUE(CheckMessage(known, Progress{}).ok());
  EXPECT_TRUE(CheckMessage(known, Finished{}).ok());
  // Another version is told so, whatever else its fields hold.
  EXPECT_TRUE(CheckMessage(known, Open{.version = kProtocolVersion + 1}).ok());
}

TEST_F(CheckTest, AStreamEndsOnce) {
  const Known known{.peer = "the worker", .block_bytes = kGoodSlotBytes, .arrived = 5, .total = 7};
  EXPECT_TRUE(CheckMessage(known, EndOfStream{.blocks = 7}).ok());
  EXPECT_FALSE(CheckMessage(known, EndOfStream{.blocks = 6}).ok());
  EXPECT_FALSE(CheckMessage(Known{.arrived = 5}, EndOfStream{.blocks = 4}).ok());
}

}  // namespace
}  // namespace tapedeck::services::session
