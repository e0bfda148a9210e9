// Attacks over control streams and calls.
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <chrono>
#include <deque>
#include <thread>

#include "dataplane/now.h"
#include "tapedeck/v1/catalog.grpc.pb.h"
#include "tests/e2e/hostile/raw_session.h"

namespace tapedeck::hostile {
namespace {

constexpr int kStreamConnections = 8;
constexpr int kStreamsOfConnection = 100;
constexpr size_t kCallsAtOnce = 2000;
constexpr int kIdleSessions = 48;

void Pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// A recording without a block, which takes no rail to make.
std::string MakeEmpty(Target& target, const std::shared_ptr<grpc::Channel>& channel) {
  RawSession session(channel);
  if (!session.Open(RecordInto(target.channel + "-c", v1::TRANSFER_OP_SEND))) return "";
  v1::TransferRequest end;
  end.mutable_end_of_stream()->set_blocks(0);
  session.Say(end);
  while (const auto answer = session.Hear()) {
    if (answer->has_finished()) return session.accept().recording();
  }
  return "";
}

void HoldStreams(Target& target, Tally& tally) {
  const auto channel = Connect(target);
  const auto stub = v1::SessionService::NewStub(channel);
  while (target.goes_on()) {
    std::deque<grpc::ClientContext> contexts;
    std::deque<std::unique_ptr<RawSession::Stream>> streams;
    const auto until = absl::ToChronoTime(dataplane::WallTime() + absl::Seconds(3));
    for (int i = 0; i < kStreamsOfConnection && target.goes_on(); ++i) {
      contexts.emplace_back().set_deadline(until);
      streams.push_back(stub->Transfer(&contexts.back()));  // waits for those before it
      tally.Count();
    }
    target.StayQuiet();
    for (auto& context : contexts) context.TryCancel();
    for (auto& stream : streams) stream->Finish();
  }
}

void IdleOnce(Tally& tally, const std::shared_ptr<grpc::Channel>& channel,
              const std::string& recording) {
  RawSession session(channel);
  if (!session.Open(Play(recording, v1::TRANSFER_OP_WRITE))) return Pause(200);
  tally.Count();
  while (session.Hear().has_value()) {
  }
}

struct Call {
  grpc::ClientContext context;
  v1::Recording answer;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::Recording>> reader;
};

}  // namespace

// Offers with long names end their sessions; offers without end of one connection do, too.
void FloodOffers(Target& target, Tally& tally) {
  const auto channel = Connect(target);
  v1::TransferRequest request;
  v1::RailOffer& offer = *request.mutable_rail_offer();
  offer.mutable_tcp()->set_address("127.0.0.1");
  offer.mutable_tcp()->set_token(std::string(16, 0));
  for (int round = 0; target.goes_on(); ++round) {
    RawSession session(channel);
    if (!session.Open(RecordInto(target.channel + "-d", v1::TRANSFER_OP_SEND))) {
      Pause(200);
      continue;
    }
    const bool long_names = round % 2 == 0;
    for (int i = 0; target.goes_on() && i < 5000; ++i) {
      offer.set_rail(long_names ? std::string(200 << 10, 'x') + std::to_string(i) : "r0");
      offer.set_generation(static_cast<uint32_t>(i));
      if (!session.Say(request)) break;
      tally.Count();
    }
    target.StayQuiet();
  }
}

void IdleOnNothing(Target& target, Tally& tally) {
  const auto first = Connect(target);
  std::string recording;
  while (target.goes_on() && recording.empty()) recording = MakeEmpty(target, first);
  std::deque<std::thread> threads;
  std::shared_ptr<grpc::Channel> channel;
  for (int i = 0; i < kIdleSessions; ++i) {
    if (i % 16 == 0) channel = Connect(target);
    threads.emplace_back([&, channel] {
      while (target.goes_on()) IdleOnce(tally, channel, recording);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void OpenStreams(Target& target, Tally& tally) {
  std::deque<std::thread> threads;
  for (int i = 0; i < kStreamConnections; ++i) {
    threads.emplace_back([&] { HoldStreams(target, tally); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Calls with large requests, as many as the node lets in.
void FloodCalls(Target& target, Tally& tally) {
  grpc::CompletionQueue queue;
  std::deque<std::unique_ptr<v1::CatalogService::Stub>> stubs;
  for (int i = 0; i < kStreamConnections; ++i) {
    stubs.push_back(v1::CatalogService::NewStub(Connect(target)));
  }
  v1::GetRecordingRequest request;
  request.set_name("luns/" + std::string(200 << 10, 'x'));
  for (size_t begun = 0, ended = 0; target.goes_on() || ended < begun;) {
    if (target.goes_on() && begun - ended < kCallsAtOnce) {
      auto* call = new Call;
      call->context.set_deadline(absl::ToChronoTime(dataplane::WallTime() + absl::Seconds(5)));
      call->reader =
          stubs[begun++ % stubs.size()]->AsyncGetRecording(&call->context, request, &queue);
      call->reader->Finish(&call->answer, &call->status, call);
      tally.Count();
      continue;
    }
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    ++ended;
    delete static_cast<Call*>(tag);
  }
  target.StayQuiet();
}

}  // namespace tapedeck::hostile
