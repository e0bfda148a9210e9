#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/list.h"
#include "gpu_worker/devices.h"
#include "gpu_worker/transfer/rails.h"
#include "services/base/errors.h"
#include "services/daemon/placement.h"
#include "tests/dataplane/topology/machines.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::EventLoop;
using dataplane::Transport;
using dataplane::topology::Topology;
using services::MemoryKindInfo;
using services::NodeRail;
using services::Placement;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kGpu0[] = "00000000:18:00.0";
constexpr char kGpu1[] = "0000:9A:00.0";

// A worker's rails r0, r1 …, each on a port of a machine; an unknown port's rail has no place.
class TransferRailsTest : public testing::Test {
 protected:
  void UseRails(const Topology& machine, const std::vector<std::string>& ports) {
    std::vector<NodeRail> placed;
    for (const std::string& port : ports) {
      const std::string name = "r" + std::to_string(owned_.size());
      owned_.push_back(
          *dataplane::CreateTransport({.name = name, .kind = "inproc"}, {loop_.get()}));
      rails_.push_back(owned_.back().get());
      const auto* device = machine.Find(port);
      placed.push_back({.rail = owned_.back()->rail()});
      if (device != nullptr) placed.back().place = device->place;
    }
    placement_.emplace(machine, std::move(placed));
  }

  MemoryKindInfo Gpu(const std::string& pci_address) const {
    return placement_->GpuMemory({.device = "cuda:0"}, pci_address);
  }

  transfer::ChosenRails Unnamed(const MemoryKindInfo& memory) const {
    return *transfer::RailsFor({}, rails_, memory);
  }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create("rail");
  std::vector<std::unique_ptr<Transport>> owned_;
  std::vector<Transport*> rails_;
  std::optional<Placement> placement_;
};

TEST_F(TransferRailsTest, EachGpuTakesThePortsNearestToIt) {
  TAPEDECK_MACHINE_OR_SKIP(machine, dataplane::topology::TwoGpusFourPorts());
  UseRails(machine, {"ens10", "ens11", "ens20", "ens21"});
  const transfer::ChosenRails first = Unnamed(Gpu(kGpu0));
  EXPECT_EQ(transfer::NamesOf(first.rails), "r0");
  EXPECT_EQ(first.why, "nearest to cuda:0 (SWITCH)");
  EXPECT_THAT(first.notes,
              ElementsAre(services::Noted("RAILS_LEFT_OUT|rails=r0|all_rails=r0,r1,r2,r3")));
  EXPECT_EQ(transfer::NamesOf(Unnamed(Gpu(kGpu1)).rails), "r2");
}

TEST_F(TransferRailsTest, EachDeviceOfAWorkerTakesItsOwn) {
  TAPEDECK_MACHINE_OR_SKIP(machine, dataplane::topology::TwoGpusFourPorts());
  UseRails(machine, {"ens10", "ens11", "ens20", "ens21"});
  std::vector<pipeline::DeviceChoice> choices(2);
  for (const auto& [choice, name, pci_address] :
       {std::tuple(&choices[0], "gpu:0", kGpu0), std::tuple(&choices[1], "gpu:1", kGpu1)}) {
    auto host = pipeline::ChooseDevice("host").value().device;
    choice->device = std::make_unique<SplitDevice>(std::move(host), -1, name, pci_address);
  }
  const Devices devices(choices, rails_, *placement_);
  const auto rails_of = [&](const char* name) {
    const auto chosen = devices.Choose(name, nullptr);
    return chosen.ok() ? transfer::NamesOf(Unnamed(chosen->at(0)->Memory()).rails) : "none";
  };
  EXPECT_EQ(rails_of("gpu:0"), "r0");
  EXPECT_EQ(rails_of("gpu:1"), "r2");
}

TEST_F(TransferRailsTest, FarPortsServeAGpuThatHasNoNearOne) {
  TAPEDECK_MACHINE_OR_SKIP(machine, dataplane::topology::TwoGpusFourPorts());
  UseRails(machine, {"lo", "ens10", "ens11"});
  EXPECT_EQ(transfer::NamesOf(Unnamed(Gpu(kGpu1)).rails), "r1,r2");
  EXPECT_EQ(Unnamed(Gpu(kGpu1)).why, "nearest to cuda:0 (SYSTEM)");
}

TEST_F(TransferRailsTest, WithoutAnyKnownDistanceAllServe) {
  TAPEDECK_MACHINE_OR_SKIP(machine, dataplane::topology::TwoGpusFourPorts());
  UseRails(machine, {"lo", "lo"});
  for (const MemoryKindInfo& memory : {Gpu(kGpu0), placement_->HostMemory()}) {
    const transfer::ChosenRails all = Unnamed(memory);
    EXPECT_EQ(transfer::NamesOf(all.rails), "r0,r1");
    EXPECT_THAT(all.why, HasSubstr("no rail's distance to " + memory.device + " is known"));
    EXPECT_THAT(all.notes, IsEmpty());
  }
}

TEST_F(TransferRailsTest, AGpuThatIsNotInTheDescriptionHasNoDistance) {
  TAPEDECK_MACHINE_OR_SKIP(machine, dataplane::topology::TwoGpusFourPorts());
  UseRails(machine, {"ens10", "ens20"});
  EXPECT_EQ(Gpu("0000:77:00.0").place.pci_address, "0000:77:00.0");
  EXPECT_EQ(transfer::NamesOf(Unnamed(Gpu("0000:77:00.0")).rails), "r0,r1");
}

TEST_F(TransferRailsTest, NamedRailsAreTakenAsTheyAre) {
  UseRails(Topology(), {"lo", "lo", "lo"});
  const auto named = transfer::RailsFor({"r2", "r0"}, rails_, placement_->HostMemory());
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(transfer::NamesOf(named->rails), "r2,r0");
  EXPECT_THAT(named->notes, IsEmpty());
  const auto unknown = transfer::RailsFor({"r0", "r7"}, rails_, placement_->HostMemory());
  EXPECT_EQ(services::ReasonOf(unknown.status())->reason, "RAIL_UNKNOWN");
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("r0,r1,r2"));
}

TEST_F(TransferRailsTest, LoopbackRailsHaveNoPlaceOnThisMachine) {
  auto r0 = dataplane::CreateTransport({.name = "r0", .kind = "tcp", .address = "127.0.0.1"},
                                       {loop_.get()});
  auto r1 = dataplane::CreateTransport({.name = "r1", .kind = "tcp", .address = "127.0.0.2"},
                                       {loop_.get()});
  ASSERT_TRUE(r0.ok() && r1.ok());
  rails_ = {r0->get(), r1->get()};
  const Placement placement = Placement::Discover(rails_);
  EXPECT_EQ(placement.rails()[1].rail.device, "lo");
  EXPECT_EQ(placement.rails()[1].place.pci_address, "");
  EXPECT_EQ(transfer::NamesOf(Unnamed(placement.HostMemory()).rails), "r0,r1");
}

}  // namespace
}  // namespace tapedeck::gpu_worker
