// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/parcel.h"

namespace kelvin {

template <class Real>
void Parcel<Real>::add(const Draw<Real>& draw) {
  Packer& pack = packed_[draw.walker - first_];
  pack(draw.walker), pack(draw.index), pack(draw.warmup);
  const_cast<Reading&>(draw.reading).fields(pack);  // `fields` hands out references; none is written
  pack(std::uint64_t(draw.q.size()));
  pack.bytes.append(reinterpret_cast<const char*>(draw.q.data()), draw.q.size_bytes());
}

template <class Real>
void Parcel<Real>::deliver(Comm& comm, const Sink<Real>& sink) {
  std::string mine;
  for (Packer& pack : packed_) mine += pack.bytes, pack.bytes.clear();
  const auto all = comm.gather(mine);
  comm.together([&] {
    for (const std::string& bytes : all)
      for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
        std::uint32_t walker = 0;
        std::uint64_t index = 0;
        bool warmup = false;
        Reading reading;
        std::vector<Real> q;
        unpack(walker), unpack(index), unpack(warmup);
        reading.fields(unpack);
        unpack(q);
        sink({walker, index, reading, q, warmup});
      }
  });
}

template <class Real>
std::vector<ChainState<Real>> gathered_states(Comm& comm, std::span<Chain<Real>> mine) {
  std::vector<ChainState<Real>> states;
  for (auto& chain : mine) states.push_back(chain.state());
  if (comm.size() == 1) return states;
  Packer pack;
  for (auto& state : states) state.fields(pack);
  states.clear();
  for (const std::string& bytes : comm.gather(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) states.emplace_back().fields(unpack);
  return states;
}

template class Parcel<float>;
template class Parcel<double>;
template std::vector<ChainState<float>> gathered_states(Comm&, std::span<Chain<float>>);
template std::vector<ChainState<double>> gathered_states(Comm&, std::span<Chain<double>>);

}  // namespace kelvin
