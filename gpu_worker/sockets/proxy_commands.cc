// What kernels ask of the proxy.
#include <sys/epoll.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "gpu_worker/sockets/proxy_service.h"

namespace tapedeck::gpu_worker::sockets {

using dataplane::Log;
using dataplane::LogLevel;

bool ProxyService::TakeCommands() {
  bool any = false;
  for (uint32_t socket = 0; socket < net_.sockets; ++socket) {
    const uint64_t number = LoadAcquire(&net_.commands[socket]);
    if (number == entries_[socket].taken) continue;
    TakeCommand(socket, number);
    any = true;
  }
  return any;
}

void ProxyService::TakeCommand(uint32_t socket, uint64_t number) {
  Entry& entry = entries_[socket];
  const bool follows = number == entry.taken + 1;
  // What the last command still waits for, nobody waits for any more.
  if (entry.asked != 0 && entry.command.operation == Operation::kAccept) {
    const uint32_t listener = entry.command.listener;
    if (entries_[listener].listener != nullptr) entries_[listener].listener->Leave(socket);
  }
  entry.command = net_.kernel[socket].command;
  entry.taken = entry.asked = number;
  StoreRelease(&net_.proxy[socket].taken, number);
  if (!std::exchange(entry.listed, true)) used_.push_back(socket);
  if (!follows || entry.command.timeout_ns < 0 || entry.command.timeout_ns > kMostTimeoutNs) {
    ++counts_.broken;
    Log(LogLevel::kWarning, "sockets", "a kernel wrote an invalid command",
        {{"socket", absl::StrCat(socket)}});
    if (entry.connection != nullptr) entry.connection->Fail(EPROTO);
    Drop(socket);
    return Answer(socket, EPROTO);
  }
  entry.deadline_ns = now_ns_ + entry.command.timeout_ns;
  Do(socket);
}

void ProxyService::Do(uint32_t socket) {
  const Operation operation = entries_[socket].command.operation;
  if (operation == Operation::kClose) return DoClose(socket);
  // A socket that is opened again has been given up before.
  Drop(socket);
  if (operation == Operation::kListen) return DoListen(socket);
  if (operation == Operation::kAccept) return DoAccept(socket);
  if (operation == Operation::kConnect) return DoConnect(socket);
  Answer(socket, EINVAL);
}

bool ProxyService::IsAllowed(const std::vector<Endpoints>& list, const Command& command,
                             const char* what) {
  if (AnyHas(list, command.address, command.port)) return true;
  ++counts_.refused;
  Log(LogLevel::kWarning, "sockets", "a kernel names an address that it may not use",
      {{"address", EndpointText(command.address, command.port)}, {"to", what}});
  return false;
}

void ProxyService::DoListen(uint32_t socket) {
  Entry& entry = entries_[socket];
  if (!IsAllowed(settings_.bind, entry.command, "listen")) return Answer(socket, EACCES);
  Opened opened = ListenOn(entry.command.address, static_cast<uint16_t>(entry.command.port));
  if (opened.error != 0) return Answer(socket, opened.error);
  entry.listener = std::make_unique<Listener>(std::move(opened.fd));
  const absl::Status watched =
      loop_.Watch(entry.listener->fd().get(), EPOLLIN | EPOLLET, [this, socket](uint32_t) {
        entries_[socket].listener->Note();
        WakeUp();
      });
  if (!watched.ok()) {
    entry.listener = nullptr;
    return Answer(socket, ENOMEM);
  }
  StoreRelease(&net_.proxy[socket].arrived, uint32_t{0});
  Answer(socket, 0, LocalPlace(entry.listener->fd()));
}

void ProxyService::DoAccept(uint32_t socket) {
  const uint32_t from = entries_[socket].command.listener;
  if (from >= net_.sockets || entries_[from].listener == nullptr) return Answer(socket, EINVAL);
  entries_[from].listener->Wait(socket);
  // One that does not wait is answered now.
  ServeListener(from);
}

void ProxyService::DoConnect(uint32_t socket) {
  const Command& command = entries_[socket].command;
  if (!IsAllowed(settings_.reach, command, "connect")) return Answer(socket, EACCES);
  Opened opened = StartConnect(command.address, static_cast<uint16_t>(command.port));
  if (opened.error != 0) return Answer(socket, opened.error);
  Adopt(socket, std::move(opened.fd), /*connected=*/false);
}

void ProxyService::DoClose(uint32_t socket) {
  Entry& entry = entries_[socket];
  if (entry.listener != nullptr) {
    DropListener(socket);
    return Answer(socket, 0);
  }
  if (entry.connection == nullptr) return Answer(socket, EBADF);
  if (!entry.connection->connected()) {
    Drop(socket);
    return Answer(socket, 0);
  }
  if (entry.command.timeout_ns == 0) entry.deadline_ns = now_ns_ + settings_.linger_ns;
}

}  // namespace tapedeck::gpu_worker::sockets
