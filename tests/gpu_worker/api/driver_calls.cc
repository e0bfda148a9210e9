#include "tests/gpu_worker/api/driver_calls.h"

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdio>

namespace tapedeck::gpu_worker::api {
namespace {

// CUPTI knows one subscriber of a process.
CUpti_SubscriberHandle subscriber = nullptr;
std::array<std::atomic<uint64_t>, 2048> counts;

// As they are called, with whatever version stands behind.
constexpr const char* kWaits[] = {
    "cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize", "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",     "cuMemcpyDtoD_v2",    "cuMemcpy",         "cuMemcpyPeer",
    "cuMemsetD8_v2"};

void CUPTIAPI OnCall(void* /*user*/, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId id,
                     const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER &&
      id < counts.size())
    ++counts[id];
}

bool Refused(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return false;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  std::fprintf(stderr, "%s: %s\n", call, text);
  return true;
}

}  // namespace

std::unique_ptr<DriverCalls> DriverCalls::Count() {
  for (auto& count : counts) count = 0;
  if (Refused(cuptiSubscribe(&subscriber, OnCall, nullptr), "cuptiSubscribe")) return nullptr;
  std::unique_ptr<DriverCalls> calls(new DriverCalls());
  if (Refused(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "cuptiEnableDomain"))
    return nullptr;
  return calls;
}

DriverCalls::~DriverCalls() { cuptiUnsubscribe(subscriber); }

std::map<std::string, uint64_t> DriverCalls::Made() const {
  std::map<std::string, uint64_t> made;
  for (size_t id = 0; id < counts.size(); ++id) {
    const uint64_t count = counts[id];
    const char* name = nullptr;
    if (count == 0) continue;
    if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, static_cast<uint32_t>(id), &name) !=
        CUPTI_SUCCESS)
      continue;
    made[name] += count;
  }
  return made;
}

uint64_t WaitsIn(const std::map<std::string, uint64_t>& calls) {
  uint64_t waits = 0;
  for (const auto& [name, count] : calls) {
    for (const std::string wait : kWaits) {
      // "_ptsz" and the like: the same call of a thread's default stream.
      if (name == wait || name.starts_with(wait + "_pt")) waits += count;
    }
  }
  return waits;
}

}  // namespace tapedeck::gpu_worker::api
