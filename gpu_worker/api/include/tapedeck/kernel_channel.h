// A recorder as kernels see it that record by themselves, for as long as they run: all threads of a
// thread block call gacquire, fill the slot and call gcommit. The header below says what they are
// told. C++17, for nvcc as well; a thread of the host may call the same, where the deck's device is
// the host.
#pragma once

#include "gpu_worker/sockets/channel.h"

namespace tapedeck {

// From Recorder::GiveToKernels. A plain value, to be handed to a kernel.
struct KernelChannel : gpu_worker::sockets::Channel {};

using gpu_worker::sockets::gacquire;
using gpu_worker::sockets::gcommit;
using gpu_worker::sockets::gend;

}  // namespace tapedeck
