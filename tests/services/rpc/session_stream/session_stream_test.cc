// The control stream through a real server: order, closing, broken peers, and nothing left behind.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/rpc/limits.h"
#include "services/rpc/server/server.h"
#include "services/rpc/session_stream/control_streams.h"
#include "tapedeck/v1/session.grpc.pb.h"

namespace tapedeck::services::session_stream {
namespace {

using session::ControlStream;
using session::Message;

std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : std::string(status.message());
}

// One end in a test: it keeps what arrives. Its stream lives on `loop`.
class End final : public session::ControlEvents {
 public:
  End(std::unique_ptr<ControlStream> stream, dataplane::EventLoop& loop, bool echo = false)
      : loop_(loop), echo_(echo), stream_(std::move(stream)) {
    stream_->Start(this, &loop_);
  }
  ~End() override { Drop(); }

  // Destroys the stream where it lives.
  void Drop() {
    loop_.RunAndWait([this] { stream_.reset(); });
  }

  void OnMessage(Message message) override {
    if (echo_) {
      stream_->Send(session::EndOfStream{std::get<session::EndOfStream>(message).blocks});
    }
    absl::MutexLock lock(&mutex_);
    EXPECT_FALSE(closed_) << "a message after OnClosed";
    messages_.push_back(std::move(message));
  }

  void OnClosed(const absl::Status& cause) override {
    absl::MutexLock lock(&mutex_);
    EXPECT_FALSE(closed_) << "closed twice";
    closed_ = true;
    cause_ = cause;
  }

  bool WaitForMessages(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto arrived = [this, count] { return messages_.size() >= count; };
    return dataplane::AwaitFor(mutex_, absl::Condition(&arrived), absl::Seconds(10));
  }

  // The cause, or DEADLINE_EXCEEDED.
  absl::Status WaitForClosed(absl::Duration timeout = absl::Seconds(10)) {
    absl::MutexLock lock(&mutex_);
    if (!dataplane::AwaitFor(mutex_, absl::Condition(&closed_), timeout)) {
      return absl::DeadlineExceededError("not closed");
    }
    return cause_;
  }

  uint64_t blocks(size_t i) {
    absl::MutexLock lock(&mutex_);
    return std::get<session::EndOfStream>(messages_[i]).blocks;
  }

  size_t count() {
    absl::MutexLock lock(&mutex_);
    return messages_.size();
  }
  // Of Progress; none: it is something else.
  std::optional<std::string> phase(size_t i) {
    absl::MutexLock lock(&mutex_);
    const auto* news = std::get_if<session::Progress>(&messages_[i]);
    return news == nullptr ? std::nullopt : std::optional(news->phase);
  }

  ControlStream& stream() { return *stream_; }

 private:
  dataplane::EventLoop& loop_;
  const bool echo_;
  absl::Mutex mutex_;
  std::deque<Message> messages_;
  bool closed_ = false;
  absl::Status cause_;
  std::unique_ptr<ControlStream> stream_;
};

// A server that keeps the ends it is opened, and echoes on them if asked to.
class ServingNode final : public session::SessionAcceptor {
 public:
  explicit ServingNode(bool echo = false)
      : echo_(echo),
        loop_(dataplane::EventLoop::Create("serving").value()),
        server_(server::Server::Create(ReservedPort::Create("127.0.0.1:0").value(),
                                       {SessionServiceOver(*this)})
                    .value()) {}

  void OnStream(std::unique_ptr<ControlStream> stream) override {
    auto end = std::make_unique<End>(std::move(stream), *loop_, echo_);
    absl::MutexLock lock(&mutex_);
    ends_.push_back(std::move(end));
  }

  End* WaitForEnd(size_t index = 0) {
    absl::MutexLock lock(&mutex_);
    const auto opened = [this, index] { return ends_.size() > index; };
    EXPECT_TRUE(dataplane::AwaitFor(mutex_, absl::Condition(&opened), absl::Seconds(10)));
    return ends_[index].get();
  }

  size_t count() {
    absl::MutexLock lock(&mutex_);
    return ends_.size();
  }

  void Forget() {
    absl::MutexLock lock(&mutex_);
    ends_.clear();
  }

  client::Channel channel() const {
    return client::MakeChannel(absl::StrCat("127.0.0.1:", server_->port()));
  }
  server::Server& server() { return *server_; }

 private:
  const bool echo_;
  const std::unique_ptr<dataplane::EventLoop> loop_;
  absl::Mutex mutex_;
  std::deque<std::unique_ptr<End>> ends_;
  const std::unique_ptr<server::Server> server_;
};

class SessionStreamTest : public ::testing::Test {
 protected:
  StreamOpener opener_;
  std::unique_ptr<dataplane::EventLoop> loop_ = dataplane::EventLoop::Create("opening").value();
};

TEST_F(SessionStreamTest, ThousandMessagesComeBackInOrder) {
  ServingNode node(/*echo=*/true);
  End end(opener_.Open(node.channel()), *loop_);
  for (uint64_t i = 0; i < 1000; ++i) end.stream().Send(session::EndOfStream{i});
  ASSERT_TRUE(end.WaitForMessages(1000));
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(end.blocks(i), i);
  end.stream().Close(absl::OkStatus());
  EXPECT_TRUE(end.WaitForClosed().ok());
  EXPECT_TRUE(node.WaitForEnd()->WaitForClosed().ok());
}

TEST_F(SessionStreamTest, WhatWasSentBeforeCloseArrives) {
  ServingNode node;
  End end(opener_.Open(node.channel()), *loop_);
  for (uint64_t i = 0; i < 100; ++i) end.stream().Send(session::EndOfStream{i});
  end.stream().Close(absl::OkStatus());
  EXPECT_TRUE(node.WaitForEnd()->WaitForClosed().ok());
  EXPECT_TRUE(node.WaitForEnd()->WaitForMessages(100));
}

TEST_F(SessionStreamTest, ServersStatusReachesTheOpener) {
  ServingNode node;
  End end(opener_.Open(node.channel()), *loop_);
  End* const served = node.WaitForEnd();
  served->stream().Send(session::EndOfStream{7});
  served->stream().Close(
      WithReason(absl::ResourceExhaustedError("full"), "LUN_FULL", {{"lun", "luns/l0"}}));
  const absl::Status cause = end.WaitForClosed();
  EXPECT_EQ(cause.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonIn(cause), "LUN_FULL");
  EXPECT_EQ(end.blocks(0), 7u);
  EXPECT_EQ(ReasonIn(served->WaitForClosed()), "LUN_FULL");
  end.stream().Send(session::EndOfStream{8});  // dropped, harmless
}

TEST_F(SessionStreamTest, EitherEndDroppedIsPeerLost) {
  ServingNode node;
  End first(opener_.Open(node.channel()), *loop_);
  node.WaitForEnd(0)->Drop();
  EXPECT_EQ(ReasonIn(first.WaitForClosed()), "PEER_LOST");

  End second(opener_.Open(node.channel()), *loop_);
  End* const served = node.WaitForEnd(1);
  second.Drop();
  const absl::Status cause = served->WaitForClosed();
  EXPECT_EQ(cause.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonIn(cause), "PEER_LOST");
  EXPECT_EQ(second.WaitForClosed(absl::Milliseconds(100)).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(SessionStreamTest, AbortByTheOpenerIsItsOwnCause) {
  ServingNode node;
  End end(opener_.Open(node.channel()), *loop_);
  End* const served = node.WaitForEnd();
  end.stream().Close(absl::AbortedError("why"));
  EXPECT_EQ(end.WaitForClosed().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ReasonIn(served->WaitForClosed()), "PEER_LOST");
}

TEST_F(SessionStreamTest, ServerGoingAwayIsPeerLostAtOnce) {
  ServingNode node;
  End end(opener_.Open(node.channel()), *loop_);
  node.WaitForEnd()->stream().Send(session::EndOfStream{1});
  ASSERT_TRUE(end.WaitForMessages(1));
  const absl::Time start = dataplane::SteadyTime();
  node.server().Shutdown(absl::ZeroDuration());
  EXPECT_EQ(ReasonIn(end.WaitForClosed()), "PEER_LOST");
  EXPECT_EQ(ReasonIn(node.WaitForEnd()->WaitForClosed()), "PEER_LOST");
  EXPECT_LT(dataplane::SteadyTime() - start, absl::Seconds(5));
}

TEST_F(SessionStreamTest, NobodyThereIsNodeUnreachable) {
  End end(opener_.Open(client::MakeChannel("127.0.0.1:1")), *loop_);
  EXPECT_EQ(ReasonIn(end.WaitForClosed()), "NODE_UNREACHABLE");
}

TEST_F(SessionStreamTest, DrainingServerRefuses) {
  ServingNode node;
  node.server().Drain();
  End end(opener_.Open(node.channel()), *loop_);
  EXPECT_EQ(ReasonIn(end.WaitForClosed()), "DRAINING");
}

TEST_F(SessionStreamTest, UnconvertibleMessageEndsTheStream) {
  ServingNode node;
  End end(opener_.Open(node.channel()), *loop_);
  end.stream().Send(session::RailOffer{.endpoint = dataplane::InprocEndpoint{}});
  EXPECT_EQ(end.WaitForClosed().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SessionStreamTest, EmptyMessageIsAProtocolViolation) {
  ServingNode node;
  const auto stub = v1::SessionService::NewStub(node.channel().channel);
  grpc::ClientContext context;
  const auto call = stub->Transfer(&context);
  ASSERT_TRUE(call->Write(v1::TransferRequest()));
  v1::TransferResponse response;
  EXPECT_FALSE(call->Read(&response));
  EXPECT_EQ(call->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonIn(node.WaitForEnd()->WaitForClosed()), "PROTOCOL_VIOLATION");
}

// Others wait with the caller until one of them ends.
TEST_F(SessionStreamTest, AConnectionHasFewStreams) {
  ServingNode node;
  const client::Channel channel = node.channel();
  std::deque<std::unique_ptr<End>> ends;
  for (int i = 0; i < kMaxConnectionStreams + 8; ++i) {
    ends.push_back(std::make_unique<End>(opener_.Open(channel), *loop_));
    node.WaitForEnd();  // whoever has been told of the limit waits
  }
  node.WaitForEnd(kMaxConnectionStreams - 1);
  absl::SleepFor(absl::Milliseconds(300));
  EXPECT_EQ(node.count(), size_t{kMaxConnectionStreams});
  ends.pop_front();
  node.WaitForEnd(kMaxConnectionStreams);
}

// The opener hears each second that a node lives whose sessions say nothing: its last word again,
// until it has said something else than what it is at.
TEST_F(SessionStreamTest, ANodeThatSaysNothingShowsThatItLives) {
  ServingNode node;
  End end(opener_.Open(node.channel()), *loop_);
  End* const served = node.WaitForEnd();
  ASSERT_TRUE(end.WaitForMessages(2));
  EXPECT_EQ(end.phase(0), "its connection answers, its sessions do not yet");
  served->stream().Send(session::Progress{.phase = "waiting for LUN raw"});
  const size_t before = end.count();
  ASSERT_TRUE(end.WaitForMessages(before + 3));
  EXPECT_EQ(end.phase(before + 2), "waiting for LUN raw");
  served->stream().Send(session::EndOfStream{7});
  for (int i = 0; i < 500 && end.phase(end.count() - 1).has_value(); ++i) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  const size_t count = end.count();
  EXPECT_EQ(end.blocks(count - 1), 7u);
  absl::SleepFor(absl::Milliseconds(2500));
  EXPECT_EQ(end.count(), count);
}

// A peer that has opened a stream and reads nothing of it.
TEST_F(SessionStreamTest, AnUnreadStreamEnds) {
  ServingNode node;
  const auto stub = v1::SessionService::NewStub(node.channel().channel);
  grpc::ClientContext context;
  const auto call = stub->Transfer(&context);
  End* const served = node.WaitForEnd();
  for (uint64_t i = 0; i < 100'000; ++i) served->stream().Send(session::EndOfStream{i});
  const absl::Status cause = served->WaitForClosed();
  EXPECT_EQ(cause.code(), absl::StatusCode::kResourceExhausted) << cause;
  EXPECT_EQ(ReasonIn(cause), "LIMIT_REACHED");
}

constexpr char kPeerAddress[] = "TAPEDECK_TEST_PEER_ADDRESS";

// The peer that the next test kills, in a process of its own.
TEST_F(SessionStreamTest, KilledPeer) {
  const char* const address = getenv(kPeerAddress);
  if (address == nullptr) GTEST_SKIP() << "is run by KilledPeerIsNoticedAtOnce";
  End end(opener_.Open(client::MakeChannel(address)), *loop_);
  end.WaitForClosed(absl::Seconds(30)).IgnoreError();
}

TEST_F(SessionStreamTest, KilledPeerIsNoticedAtOnce) {
  ServingNode node;
  const std::string address = node.channel().address;
  const pid_t child = fork();
  if (child == 0) {
    setenv(kPeerAddress, address.c_str(), 1);
    execl("/proc/self/exe", "peer", "--gtest_filter=SessionStreamTest.KilledPeer", nullptr);
    _exit(1);
  }
  End* const served = node.WaitForEnd();
  const absl::Time start = dataplane::SteadyTime();
  kill(child, SIGKILL);
  EXPECT_EQ(ReasonIn(served->WaitForClosed()), "PEER_LOST");
  EXPECT_LT(dataplane::SteadyTime() - start, absl::Seconds(5));
  waitpid(child, nullptr, 0);
}

int Count(const char* directory) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

// Waits for the number to fall to `limit`; returns it.
int Settled(const char* directory, int limit) {
  for (int i = 0; i < 100 && Count(directory) > limit; ++i) absl::SleepFor(absl::Milliseconds(50));
  return Count(directory);
}

TEST_F(SessionStreamTest, TwoHundredDroppedStreamsLeaveNothing) {
  ServingNode node;
  const auto open_and_drop = [&](int count) {
    for (int i = 0; i < count; ++i) {
      End end(opener_.Open(node.channel()), *loop_);
      End* const served = node.WaitForEnd();
      end.Drop();
      served->WaitForClosed().IgnoreError();
      node.Forget();
    }
  };
  open_and_drop(20);  // gRPC's own threads and descriptors
  // gRPC adds a few threads as it sees fit; a leak would be one for each stream.
  const int threads = Count("/proc/self/task") + 20;
  const int descriptors = Count("/proc/self/fd");
  open_and_drop(200);
  EXPECT_LE(Settled("/proc/self/fd", descriptors), descriptors);
  EXPECT_LE(Settled("/proc/self/task", threads), threads);
}

}  // namespace
}  // namespace tapedeck::services::session_stream
