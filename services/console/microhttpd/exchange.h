// One request of a connection and its answer, as the library's callbacks find it. On the loop.
#pragma once

#include <microhttpd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "services/console/http_server.h"

namespace tapedeck::services::console {

using Response = std::unique_ptr<MHD_Response, decltype(&MHD_destroy_response)>;

// Owned by the library's request, from its headers until it is completed.
class Exchange {
 public:
  Exchange(uint64_t number, MHD_Connection* connection)
      : number_(number), connection_(connection) {}

  uint64_t number() const { return number_; }
  MHD_Connection* connection() const { return connection_; }

  // The request: what its headers say, and whether that is refused before its body is read.
  void ReadHeaders(const char* method, const char* path);
  bool refused() const { return answered_; }
  // False: the body is longer than it said.
  bool AddBody(absl::string_view part);
  HttpRequest TakeRequest() { return std::move(request_); }

  // The handler has it.
  void Asked() { asked_ = true; }
  bool asked() const { return asked_; }

  void Answer(HttpAnswer answer);
  // False: the client reads too slowly.
  bool Send(std::string part);
  void End();
  bool answered() const { return answered_; }
  // Of a whole answer.
  size_t answer_bytes() const { return body_ == nullptr ? 0 : body_->size(); }
  bool streams() const { return streams_; }

  // Gives the library the answer. MHD_NO: the connection is to be closed.
  MHD_Result Queue();

  // Until there is more to do. The library must resume a request before it stops.
  void Suspend();
  void Resume();
  bool suspended() const { return suspended_; }

 private:
  static ssize_t Read(void* own, uint64_t at, char* into, size_t most);
  Response WholeResponse();

  const uint64_t number_;
  MHD_Connection* const connection_;
  HttpRequest request_;
  HttpAnswer answer_;
  std::shared_ptr<const std::string> body_;  // the answer's, shared with the library
  std::string parts_;                        // not read by the library yet
  bool asked_ = false;
  bool answered_ = false;
  bool streams_ = false;
  bool ended_ = false;
  bool suspended_ = false;
};

}  // namespace tapedeck::services::console
