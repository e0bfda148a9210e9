// Measures sockets of kernels from outside, in two processes:
//   gpu_worker_socket_bench serve cuda|host|plain SECONDS [RING_BYTES [SPIN_US NAP_US]]
//   gpu_worker_socket_bench ask PORT echo|take|give BYTES MESSAGES [BATCH [WAIT_US]]
// `serve` prints "port N" and is the far end: a kernel, a thread over the same rings and proxy, or
// an ordinary program. It ends after so many seconds, or when its standard input does; status 77
// where this machine has no such device. `ask` is an ordinary program; it prints a line of JSON.
#include <netinet/tcp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu_worker/sockets/applications/fixture.h"
#include "tests/gpu_worker/sockets/applications/serving.h"
#include "tests/gpu_worker/sockets/bench/measured.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

constexpr uint32_t kBlocks = 1;

void SwitchOffDelay(const Fd& fd) {
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// ---- The far end as an ordinary program.

struct PlainPeer {
  const Fd& fd;

  int64_t Some(void* to, uint64_t bytes) const { return recv(fd.get(), to, bytes, 0); }
  bool Whole(void* to, uint64_t bytes) const {
    return recv(fd.get(), to, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }
  bool Send(const void* from, uint64_t bytes) const {
    uint64_t sent = 0;
    while (sent < bytes) {
      const auto* const rest = static_cast<const char*>(from) + sent;
      const ssize_t now = send(fd.get(), rest, bytes - sent, MSG_NOSIGNAL);
      if (now <= 0) return false;
      sent += static_cast<uint64_t>(now);
    }
    return true;
  }
};

int ServePlain(int seconds) {
  uint32_t port = 0;
  const Fd listener = PlainListen(&port);
  std::thread serves([&] {
    const auto memory = std::make_unique<BenchMemory>();
    while (true) {
      const Fd client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (client.get() < 0 && errno == EAGAIN) continue;
      if (client.get() < 0) return;
      SwitchOffDelay(client);
      const PlainPeer peer{client};
      if (peer.Whole(&memory->question, sizeof(memory->question))) DoWork(peer, *memory);
    }
  });
  SayPortAndAwaitEnd(port, seconds);
  shutdown(listener.get(), SHUT_RD);
  serves.join();
  return 0;
}

// ---- The far end over rings.

struct RingOptions {
  uint64_t ring_bytes = 1 << 20;
  ProxySettings proxy;
};

int ServeRings(device::Device& device, int seconds, const RingOptions& options) {
  const bool on_gpu = !device.info().works_in_host_memory;
  if (!AreLoaded<Listen, BenchServer>(device)) return 1;
  const auto memory = DeviceBytes::Create(device, kBlocks * sizeof(BenchMemory));
  if (!memory.ok()) return Fail(memory.status().ToString());
  auto listening =
      Listening::Create(device, {.sockets = 8, .ring_bytes = options.ring_bytes}, options.proxy);
  if (!listening.ok()) return Fail(listening.status().ToString());
  const BenchServer program{listening->NewArgs(), memory->as<BenchMemory>()};
  Server server(on_gpu, program, program.args.stop, kBlocks);
  SayPortAndAwaitEnd(listening->port(), seconds);
  if (const std::string error = server.Stop(); !error.empty()) return Fail(error);
  const int64_t fault = SumOf(program.args.served, kBlocks).fault;
  return fault == 0 ? 0 : Fail(strerror(static_cast<int>(-fault)));
}

int Serve(const std::vector<std::string>& words) {
  const int seconds = std::atoi(words[1].c_str());
  if (!IsServingTime(seconds)) return Fail("SECONDS: 1 to 239", 2);
  if (words[0] == "plain") return ServePlain(seconds);
  RingOptions options;
  if (words.size() > 2) options.ring_bytes = std::strtoull(words[2].c_str(), nullptr, 10);
  if (words.size() > 4) {
    options.proxy.spin_ns = std::atoll(words[3].c_str()) * dataplane::kMicrosecondNs;
    options.proxy.nap_ns = std::atoll(words[4].c_str()) * dataplane::kMicrosecondNs;
  }
  return OnDeviceOfKind(
      words[0], [&](device::Device& device) { return ServeRings(device, seconds, options); });
}

// ---- The near end.

double Microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

struct Asking {
  BenchQuestion question;
  uint64_t batch;  // messages under way
};

// Rounds of a batch of messages each; the far end's pause is not counted.
int AskEcho(const Fd& client, const Asking& asking) {
  const BenchQuestion& question = asking.question;
  const std::string message(question.bytes, 'm');
  std::vector<double> rounds_us;
  for (uint64_t round = 0; round < question.messages / asking.batch; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < asking.batch; ++i) {
      if (!PlainSend(client, message)) return Fail("the far end is gone");
    }
    const size_t bytes = asking.batch * question.bytes;
    if (PlainReceive(client, bytes).size() != bytes) return Fail("the far end is gone");
    rounds_us.push_back(Microseconds(std::chrono::steady_clock::now() - begin) -
                        static_cast<double>(question.wait_ns) / 1e3);
  }
  std::sort(rounds_us.begin(), rounds_us.end());
  double sum_us = 0;
  for (const double round : rounds_us) sum_us += round;
  std::printf("{\"p50_us\": %.3f, \"p99_us\": %.3f, \"message_us\": %.3f}\n",
              rounds_us[rounds_us.size() / 2], rounds_us[rounds_us.size() * 99 / 100],
              sum_us / static_cast<double>(rounds_us.size() * asking.batch));
  return 0;
}

int AskRate(const Fd& client, const BenchQuestion& question) {
  std::vector<char> message(question.bytes, 'm');
  const PlainPeer peer{client};
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < question.messages; ++i) {
    const bool good = question.work == Work::kTake ? peer.Send(message.data(), message.size())
                                                   : peer.Whole(message.data(), message.size());
    if (!good) return Fail("the far end is gone");
  }
  if (question.work == Work::kTake && !peer.Whole(message.data(), 1)) return Fail("no answer");
  const double us = Microseconds(std::chrono::steady_clock::now() - begin);
  std::printf("{\"mb_per_s\": %.1f}\n",
              static_cast<double>(question.bytes * question.messages) / us);
  return 0;
}

int Ask(const std::vector<std::string>& words) {
  const auto number = [&](size_t at, uint64_t otherwise) {
    return words.size() > at ? std::strtoull(words[at].c_str(), nullptr, 10) : otherwise;
  };
  Asking asking{};
  BenchQuestion& question = asking.question;
  question.work = words[1] == "echo" ? Work::kEcho : words[1] == "take" ? Work::kTake : Work::kGive;
  question.bytes = number(2, 0);
  question.messages = number(3, 0);
  asking.batch = number(4, 1);
  question.wait_ns = static_cast<int64_t>(number(5, 0)) * dataplane::kMicrosecondNs;
  if (question.bytes == 0 || question.bytes > kMostMessageBytes || asking.batch == 0 ||
      question.messages < asking.batch) {
    return Fail("BYTES from 1 to 1048576, MESSAGES from BATCH on", 2);
  }
  const Fd client = PlainConnect(static_cast<uint32_t>(number(0, 0)));
  SwitchOffDelay(client);
  if (!PlainSend(client, BytesOf(question))) return Fail("the far end is gone");
  if (question.work == Work::kEcho) return AskEcho(client, asking);
  return AskRate(client, question);
}

int Main(std::vector<std::string> words) {
  const std::string what = words.empty() ? "" : words[0];
  if (!words.empty()) words.erase(words.begin());
  if (what == "serve" && words.size() >= 2) return Serve(words);
  if (what == "ask" && words.size() >= 4) return Ask(words);
  return Fail("serve DEVICE SECONDS ... or ask PORT WORK BYTES MESSAGES ...", 2);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets

int main(int argc, char** argv) {
  return tapedeck::gpu_worker::sockets::Main(std::vector<std::string>(argv + 1, argv + argc));
}
