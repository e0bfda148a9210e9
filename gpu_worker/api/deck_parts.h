// What a deck is made of.
#pragma once

#include <memory>
#include <string>

#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/rail_set.h"
#include "gpu_worker/api/include/tapedeck/deck.h"
#include "gpu_worker/api/proxy/proxy.h"
#include "gpu_worker/api/slot_session.h"
#include "gpu_worker/device/choose.h"
#include "gpu_worker/pipeline/memory_ladder.h"
#include "services/session/protocol/storage.h"

namespace tapedeck {

// Shared by the deck and its sessions, whose environment names it; what is later goes first.
struct Deck::Parts {
  gpu_worker::device::Chosen device;
  std::unique_ptr<dataplane::EventLoop>
      loop;  // connections that close tell it until their rails go
  std::unique_ptr<dataplane::RailSet> rails;
  std::unique_ptr<services::StorageDialer> dialer;
  std::unique_ptr<gpu_worker::pipeline::MemoryLadder> ladder;
  std::unique_ptr<gpu_worker::api::Proxy> proxy;
  gpu_worker::api::SlotEnvironment environment;
};

}  // namespace tapedeck
