// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/draw_buffer.h"

#include <utility>

namespace kelvin {

template <class Real>
void DrawBuffer<Real>::add(const Draw<Real>& draw) {
  Packer& pack = packed_[draw.walker - first_];
  pack(draw.walker);
  pack(draw.index);
  pack(draw.warmup);
  const_cast<Reading&>(draw.reading).fields(pack);  // `fields` hands out references; none is written
  pack(std::uint64_t(draw.q.size()));
  pack.bytes.append(reinterpret_cast<const char*>(draw.q.data()), draw.q.size_bytes());
}

template <class Real>
void DrawBuffer<Real>::deliver(Comm& comm, const Sink<Real>& sink) {
  std::string mine;
  for (Packer& pack : packed_) mine += std::exchange(pack.bytes, {});
  const auto all = comm.gather(mine);
  comm.together([&] {
    for (const std::string& bytes : all)
      for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
        std::uint32_t walker = 0;
        std::uint64_t index = 0;
        bool warmup = false;
        Reading reading;
        std::vector<Real> q;
        unpack(walker);
        unpack(index);
        unpack(warmup);
        reading.fields(unpack);
        unpack(q);
        sink({walker, index, reading, q, warmup});
      }
  });
}

template class DrawBuffer<float>;
template class DrawBuffer<double>;

}  // namespace kelvin
