// What the proxy looks after.
#pragma once

namespace tapedeck::gpu_worker::api {

class Watched {
 public:
  virtual ~Watched() = default;

  // On the proxy's thread, again and again: acts on what streams have set. Does not wait. Whether
  // there was something.
  virtual bool Look() = 0;
  // Whether a stream may set something soon. Any thread.
  virtual bool expects() const = 0;
};

}  // namespace tapedeck::gpu_worker::api
