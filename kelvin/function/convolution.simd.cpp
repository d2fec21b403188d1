// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/lanes.h"
#include "kelvin/function/convolution_loops.h"

namespace kelvin::KELVIN_ISA {
namespace {

// Calls each(pixel of x, pixel of y, tap) for all that belong together, rows and pixels of y in order.
template <class Each>
KELVIN_INLINE void for_each_tap(const ConvolutionLoops& loops, Each&& each) {
  const ConvolutionAxis &down = loops.down, &along = loops.along;
  for (std::size_t row = 0; row < loops.rows; ++row)
    for (std::size_t v = 0; v < down.y; ++v)
      for (std::size_t i = 0; i < down.taps; ++i) {
        const std::size_t line = v * down.stride + i * down.dilation - down.before;  // wraps where it is below 0
        if (line >= down.x) continue;
        for (std::size_t h = 0; h < along.y; ++h)
          for (std::size_t j = 0; j < along.taps; ++j) {
            const std::size_t place = h * along.stride + j * along.dilation - along.before;
            if (place < along.x)
              each((row * down.x + line) * along.x + place, (row * down.y + v) * along.y + h, i * along.taps + j);
          }
      }
}

// to += x w
template <class Real>
KELVIN_INLINE void add(std::size_t n, Real x, const Real* __restrict w, Real* __restrict to) {
  for (std::size_t k = 0; k < n; ++k) to[k] += x * w[k];
}
// to += x * w, number by number: a group for each channel
template <class Real>
KELVIN_INLINE void add_each(std::size_t n, const Real* __restrict x, const Real* __restrict w, Real* __restrict to) {
  for (std::size_t k = 0; k < n; ++k) to[k] += x[k] * w[k];
}

// from -> to through weights that lie as taps x groups x `in` x `out`.
template <class Real>
KELVIN_INLINE void pixel(std::size_t groups, std::size_t in, std::size_t out, const Real* from, const Real* w,
                         Real* to) {
  if (in == 1 && out == 1) return add_each(groups, from, w, to);
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t k = 0; k < in; ++k) add(out, from[g * in + k], w + (g * in + k) * out, to + g * out);
}

template <class Real>
KELVIN_INLINE void convolve_(const ConvolutionLoops& loops, const Real* taps, const Real* x, Real* y) {
  const std::size_t G = loops.groups, in = loops.x_channels, out = loops.y_channels;
  for_each_tap(loops, [&](std::size_t from, std::size_t to, std::size_t tap) {
    pixel(G, in, out, x + from * G * in, taps + tap * G * in * out, y + to * G * out);
  });
}

template <class Real>
KELVIN_INLINE void convolve_back_(const ConvolutionLoops& loops, const Real* turned, const Real* dy, Real* dx) {
  const std::size_t G = loops.groups, in = loops.x_channels, out = loops.y_channels;
  for_each_tap(loops, [&](std::size_t to, std::size_t from, std::size_t tap) {
    pixel(G, out, in, dy + from * G * out, turned + tap * G * in * out, dx + to * G * in);
  });
}

template <class Real>
KELVIN_INLINE void convolve_slopes_(const ConvolutionLoops& loops, const Real* x, const Real* dy, Real* taps) {
  const std::size_t G = loops.groups, in = loops.x_channels, out = loops.y_channels;
  for_each_tap(loops, [&](std::size_t of_x, std::size_t of_y, std::size_t tap) {
    const Real *from = x + of_x * G * in, *slope = dy + of_y * G * out;
    Real* to = taps + tap * G * in * out;
    if (in == 1 && out == 1) return add_each(G, from, slope, to);
    for (std::size_t k = 0; k < G * in; ++k) add(out, from[k], slope + k / in * out, to + k * out);
  });
}

}  // namespace

#define KELVIN_DEFINE_CONVOLUTIONS(Real)                                                            \
  void convolve(const ConvolutionLoops& loops, const Real* taps, const Real* x, Real* y) {          \
    convolve_(loops, taps, x, y);                                                                   \
  }                                                                                                 \
  void convolve_back(const ConvolutionLoops& loops, const Real* turned, const Real* dy, Real* dx) { \
    convolve_back_(loops, turned, dy, dx);                                                          \
  }                                                                                                 \
  void convolve_slopes(const ConvolutionLoops& loops, const Real* x, const Real* dy, Real* taps) {  \
    convolve_slopes_(loops, x, dy, taps);                                                           \
  }
KELVIN_DEFINE_CONVOLUTIONS(float)
KELVIN_DEFINE_CONVOLUTIONS(double)

}  // namespace kelvin::KELVIN_ISA
