// Which of the two nodes a program is.
#pragma once

namespace tapedeck::services {

enum class NodeRole { kStorage = 1, kWorker = 2 };

}  // namespace tapedeck::services
