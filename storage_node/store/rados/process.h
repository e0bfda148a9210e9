// Which process has a LUN: told so that another one on the same machine can see whether it is gone.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::store::rados {

// This one, and nobody else ever: words of host, pid, start, machine's boot and pid namespace, and
// a random one.
std::string ProcessCookie();

// Whether it was of a process of this machine, in this pid namespace, that has ended. False where
// that cannot be told.
bool IsOfDeadProcess(absl::string_view cookie);

// For people.
std::string DescribeProcess(absl::string_view cookie);

}  // namespace tapedeck::storage_node::store::rados
