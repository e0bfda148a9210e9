// The address of a node as people, settings and jobs name it, in the words of gRPC's naming
// document (https://github.com/grpc/grpc/blob/master/doc/naming.md), as far as they are safe where
// others name what this process calls. No name is looked up here: resolve.h does. Any thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::naming {

// One node. What it has was checked: no other resolver than that of names and IP addresses reads
// anything else in it.
struct NodeName {
  std::string host;     // a name, an IPv4 address, or an IPv6 address in brackets
  std::string port;     // 1 to 65535
  std::string address;  // the IP address, IPv6 in brackets, at which `host` is called; or empty

  // "HOST:PORT": whom the certificate must name.
  std::string authority() const;
  // "HOST:PORT", or of `address`: what is connected to.
  std::string target() const;
  // "HOST:PORT" or "HOST:PORT@ADDRESS", which means the same again.
  std::string text() const;
};

// HOST:PORT, dns:HOST:PORT, dns:///HOST:PORT, ipv4:A.B.C.D:PORT, ipv6:[A::B]:PORT, or
// HOST:PORT@ADDRESS. INVALID_ARGUMENT says what is wrong: another scheme, a name server of its own
// (dns://SERVER/HOST), a host or a port that is none.
absl::StatusOr<NodeName> ParseNodeName(absl::string_view text);

// The same, of options.
absl::Status CheckNodeName(const std::string& text);

// Whether two texts are the same node, in whichever spelling; what is no name, if they are equal.
bool IsSameNode(absl::string_view one, absl::string_view other);

// A name that stands for all nodes that DNS has under it: "dns:HOST:PORT" and "dns:///HOST:PORT",
// or "srv:_SERVICE._PROTO.NAME".
bool IsNodeList(absl::string_view text);

// The NAME of "srv:NAME", or of a longer form, "srv:///NAME". INVALID_ARGUMENT: it is none.
absl::StatusOr<std::string> ParseServiceName(absl::string_view text);

// ParseNodeName's or ParseServiceName's error, of what either may be.
absl::Status CheckNodeOrList(const std::string& text);

// Whether it is a name of DNS or an IPv4 address: letters, digits, dots, dashes and underscores.
bool IsHostName(absl::string_view text);

}  // namespace tapedeck::services::naming
