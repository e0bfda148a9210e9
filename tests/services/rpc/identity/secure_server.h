// A real server with certificates and a policy, on a free port of 127.0.0.1, with all services over
// fakes.
#pragma once

#include <memory>
#include <string>

#include "services/observe/flight/reader.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/identity/security.h"
#include "services/rpc/server/server.h"
#include "tests/services/fake_catalog.h"
#include "tests/services/fake_worker.h"
#include "tests/services/rpc/identity/authority.h"

namespace tapedeck::services::identity {

// One thread, but for what the server does.
class SecureServer {
 public:
  // Without text there is no policy. Another authority than one of its own outlives it.
  explicit SecureServer(const std::string& policy, bool for_others = true,
                        const Authority* authority = nullptr);
  ~SecureServer();

  // Proves itself with these, or with a new certificate of that identity.
  client::Channel ChannelWith(const TlsFiles& files) const;
  client::Channel ChannelOf(const std::string& identity, const std::string& acting_for = "") const;

  const Authority& authority() const { return authority_; }
  const Security& security() const { return *security_; }
  FakeCatalog& catalog() { return catalog_; }
  FakeJobs& jobs() { return jobs_; }
  const std::string& address() const { return address_; }
  server::Server& server() const { return *server_; }

 private:
  struct Others;  // fakes that say nothing

  const std::unique_ptr<const Authority> own_authority_;
  const Authority& authority_;
  FakeCatalog catalog_;
  FakeJobs jobs_;
  FakeNode node_{NodeRole::kStorage};
  const std::unique_ptr<Others> others_;
  const std::unique_ptr<Security> security_;
  const std::unique_ptr<server::Server> server_;
  const std::string address_;
};

}  // namespace tapedeck::services::identity
