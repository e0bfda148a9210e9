// A real gRPC server on a free port of 127.0.0.1 with all services over fakes.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/server.h"
#include "tests/services/fake_catalog.h"
#include "tests/services/fake_worker.h"

namespace tapedeck::services {

struct LoopbackNode {
  FakeCatalog catalog;
  FakeJobs jobs;
  FakeNode node{NodeRole::kStorage};
  std::unique_ptr<server::Server> server =
      server::Server::Create(ReservedPort::Create("127.0.0.1:0").value(),
                             {server::CatalogServiceOver(catalog, catalog, catalog),
                              server::PipelineServiceOver(jobs), server::NodeServiceOver(node)})
          .value();
  std::string address = absl::StrCat("127.0.0.1:", server->port());
  client::Channel channel = client::MakeChannel(address);
};

}  // namespace tapedeck::services
