#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/memory/memory_pool.h"
#include "tests/bytes.h"
#include "tests/sim/ends.h"
#include "tests/sim/luns/playing.h"
#include "tests/sim/site/modelled_site.h"

namespace tapedeck::sim {
namespace {

constexpr size_t kNodeSlots = 64;  // of a session's ring: 64 MiB

// Takes memory only where it is written.
class LazyMemory final : public dataplane::Memory {
 public:
  explicit LazyMemory(size_t bytes)
      : bytes_(static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
               bytes) {
    EXPECT_NE(static_cast<void*>(bytes_.data()), MAP_FAILED);
  }
  ~LazyMemory() override { munmap(bytes_.data(), bytes_.size()); }
  dataplane::MemoryWindow window() const override { return {.bytes = bytes_}; }

 private:
  const std::span<std::byte> bytes_;
};

}  // namespace

std::shared_ptr<dataplane::SlotPool> NewModelledRing(size_t slots) {
  return *dataplane::MemoryPool::Create(std::make_unique<LazyMemory>(slots * kModelledBlockBytes),
                                        kModelledBlockBytes);
}

Machine::Machine(World& world, Ports& ports, const std::string& name) {
  for (size_t i = 0; i < kModelledPorts; ++i) {
    const std::string rail = absl::StrCat("r", i);
    VirtualExecutor& poller = world.NewExecutor(absl::StrCat(name, "/", rail));
    pollers_.push_back(&poller);
    rails_.push_back(ports.NewRail(rail, ports_.emplace_back(poller), poller));
  }
}

void Machine::Freeze(bool frozen) {
  for (VirtualExecutor* poller : pollers_) poller->Freeze(frozen);
}

std::vector<dataplane::Transport*> Machine::transports() const {
  std::vector<dataplane::Transport*> transports;
  for (const auto& rail : rails_) transports.push_back(rail.get());
  return transports;
}

ModelledNode::ModelledNode(World& world, Ports& ports, size_t number, size_t channels,
                           const DriveFigures& figures)
    : world_(world),
      executor_(world.NewExecutor(absl::StrCat("n", number))),
      machine_(world, ports, absl::StrCat("n", number)),
      drives_(disk_, figures, kModelledBlockBytes, world.clock()) {
  disk_.random.seed(world.random()());
  for (size_t i = 0; i < channels; ++i) {
    channels_.push_back(std::make_unique<ResumeHost>(
        disk_,
        ResumeHostSettings{.members = figures.drives,
                           .block_bytes = kHeldBlockBytes,
                           .channel = absl::StrCat("c", i),
                           .make_ring = [] { return NewModelledRing(kNodeSlots); }},
        world.clock()));
  }
}

void ModelledNode::Admit(const services::session::Open& open, dataplane::Executor& executor,
                         std::shared_ptr<services::session::AdmissionWatch> watch,
                         services::session::OnAdmitted admitted) {
  size_t channel = 0;
  if (!absl::SimpleAtoi(open.channel.substr(1), &channel) || channel >= channels_.size()) {
    return admitted(absl::NotFoundError(open.channel));
  }
  drives_.SetInstant(true);
  channels_[channel]->Admit(open, executor, std::move(watch), std::move(admitted));
  drives_.SetInstant(false);
}

std::unique_ptr<services::session::ControlStream> ModelledNode::Dial() {
  ControlPair pair(world_);
  if (!up_) {
    // As a dialler that finds nobody.
    auto dropped = std::make_shared<std::unique_ptr<ControlEnd>>(std::move(pair.node));
    executor_.PostAfter(dataplane::kMillisecondNs, [dropped] { dropped->reset(); });
    return std::move(pair.worker);
  }
  auto served = std::make_unique<Served>();
  Served* const entry = served.get();
  entry->worker_end = pair.worker_state;
  entry->session = std::make_unique<services::session::ServerSession>(
      executor_,
      services::session::ServerSessionSettings{.id = absl::StrCat("s", sessions_.size()),
                                               .transports = machine_.transports(),
                                               .host = this},
      std::move(pair.node), [entry] { entry->ended = true; });
  executor_.Post([entry] {
    if (entry->session != nullptr) entry->session->Start();
  });
  sessions_.push_back(std::move(served));
  return std::move(pair.worker);
}

void ModelledNode::Die(bool power_cut) {
  Freeze(false);
  up_ = false;
  if (power_cut) disk_.operations_left = 0;
  for (const auto& served : sessions_) {
    if (served->session == nullptr) continue;
    served->session = nullptr;
    Break(served->worker_end, absl::UnavailableError("the process is gone"));
  }
  for (const auto& channel : channels_) channel->Stop(/*power_cut=*/false);
  if (power_cut) disk_.CutPower(disk_.random());
}

void ModelledNode::Freeze(bool frozen) {
  executor_.Freeze(frozen);
  machine_.Freeze(frozen);
}

void ModelledNode::ComeBack() {
  for (const auto& channel : channels_) channel->Start();
  up_ = true;
}

bool ModelledNode::at_rest() const {
  return std::ranges::all_of(sessions_,
                             [](const auto& s) { return s->ended || s->session == nullptr; });
}

std::vector<uint64_t> ModelledNode::Recorded(size_t channel) {
  std::vector<uint64_t> blocks;
  drives_.SetInstant(true);
  ResumeHost& host = *channels_[channel];
  if (!up_) host.Start();
  const auto manifest = host.Close();
  EXPECT_TRUE(manifest.ok() || absl::IsNotFound(manifest.status())) << manifest.status();
  if (!manifest.ok()) return blocks;
  Play(host.store(), host.path(), *manifest,
       [&](uint64_t /*sequence*/, std::span<const std::byte> payload) {
         uint64_t word = 0;
         std::memcpy(&word, payload.data(), sizeof(word));
         blocks.push_back(word / 1'000'003);
         std::vector<std::byte> expected(kHeldBlockBytes);
         FillPattern(blocks.back(), expected);
         return SameBytes(payload, expected);
       });
  drives_.SetInstant(false);
  return blocks;
}

}  // namespace tapedeck::sim
