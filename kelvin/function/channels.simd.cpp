// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/channels.h"

#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {
namespace {

constexpr int vectors_at_once = 4;
constexpr std::size_t pixels_in_a_run = 32;
template <class Real>
constexpr std::size_t widest_pixel = vectors_at_once* lanes<Real>;

// Narrow pixels that lie next to each other are taken so many at a time, as one pixel of as many times the channels.
template <class Real>
KELVIN_INLINE std::size_t taken_together(const ChannelRows& rows) {
  const bool fits = rows.channels < widest_pixel<Real> && widest_pixel<Real> % rows.channels == 0;
  return fits && rows.stride == rows.channels ? widest_pixel<Real> / rows.channels : 1;
}
// Calls act(pixels, where the first begins): wide ones, then those that are left.
template <class Real>
KELVIN_INLINE void in_wide_pixels(const ChannelRows& rows, auto&& act) {
  const std::size_t times = taken_together<Real>(rows), whole = rows.pixels / times, rest = rows.pixels % times;
  if (whole > 0) act(ChannelRows{whole, times * rows.channels, times * rows.stride}, std::size_t(0));
  if (rest > 0) act(ChannelRows{rest, rows.channels, rows.stride}, whole * times * rows.stride);
}

// One number for each channel, repeated for pixels that are taken together; or none.
template <class Real>
struct Repeated {
  Real room[widest_pixel<Real>];
  const Real* at;
  KELVIN_INLINE Repeated(const ChannelRows& rows, const Real* of_channels) : at(of_channels) {
    if (!of_channels || taken_together<Real>(rows) == 1) return;
    for (std::size_t k = 0; k < widest_pixel<Real>; ++k) room[k] = of_channels[k % rows.channels];
    at = room;
  }
};

// Some channels of one pixel: where they lie, the first of them, and how many. Whole vectors need no masks.
template <bool whole>
struct SomeChannels {
  std::size_t at, first, count;

  template <class Real>
  KELVIN_INLINE Lanes<Real> of_pixel(const Real* x) const {
    if constexpr (whole) return load(x + at);
    else return load_some(x + at, count);
  }
  template <class Real>
  KELVIN_INLINE Lanes<Real> of_channel(const Real* x) const {
    if constexpr (whole) return load(x + first);
    else return load_some(x + first, count);
  }
  template <class Real>
  KELVIN_INLINE void put(Real* x, Lanes<Real> v) const {
    if constexpr (whole) store<Real>(x + at, v);
    else store_some<Real>(x + at, v, count);
  }
};

// Calls act(vector, channels) for the vectors of a block of channels of a pixel that begins at `at`.
template <class Real, int vectors, bool whole>
KELVIN_INLINE void each_vector(const ChannelRows& rows, std::size_t at, std::size_t first, auto&& act) {
  for (int v = 0; v < vectors; ++v) {
    const std::size_t k = first + std::size_t(v * lanes<Real>);
    act(v, SomeChannels<whole>{at + k, k, whole ? std::size_t(lanes<Real>) : rows.channels - k});
  }
}

// Calls block.operator()<vectors, whether they are whole>(first channel) for all channels.
template <class Real>
KELVIN_INLINE void in_blocks(std::size_t channels, auto&& block) {
  std::size_t first = 0;
  for (; first + widest_pixel<Real> <= channels; first += widest_pixel<Real>)
    block.template operator()<vectors_at_once, true>(first);
  for (; first + lanes<Real> <= channels; first += lanes<Real>) block.template operator()<1, true>(first);
  if (first < channels) block.template operator()<1, false>(first);
}

// Calls each(begin, end) for runs of a few pixels.
KELVIN_INLINE void in_runs(std::size_t pixels, auto&& each) {
  for (std::size_t begin = 0; begin < pixels; begin += pixels_in_a_run)
    each(begin, pixels - begin < pixels_in_a_run ? pixels : begin + pixels_in_a_run);
}

// Sums of a block of channels, in double; some channels may stand in it several times.
template <class Real>
struct BlockSums {
  double of[widest_pixel<Real>] = {};

  template <int vectors>
  KELVIN_INLINE void add(const Lanes<Real> (&run)[vectors]) {
    Real numbers[vectors * lanes<Real>];
    for (int v = 0; v < vectors; ++v) store<Real>(numbers + v * lanes<Real>, run[v]);
    for (int k = 0; k < vectors * lanes<Real>; ++k) of[k] += double(numbers[k]);
  }
  // r^2 / n of sums r over n pixels
  template <int vectors>
  KELVIN_INLINE void add_squares(const Lanes<Real> (&run)[vectors], double share) {
    Real numbers[vectors * lanes<Real>];
    for (int v = 0; v < vectors; ++v) store<Real>(numbers + v * lanes<Real>, run[v]);
    for (int k = 0; k < vectors * lanes<Real>; ++k) of[k] += share * double(numbers[k]) * double(numbers[k]);
  }
  KELVIN_INLINE void add_to(double* sums, std::size_t channels, std::size_t first, std::size_t count) const {
    for (std::size_t k = 0; k < count; ++k) sums[(first + k) % channels] += of[k];
  }
};

template <class Real>
struct Terms {
  Lanes<Real> of[2];
};

// sums[s][k] = sum over the pixels of terms(some channels).of[s]
template <class Real, int count>
KELVIN_INLINE void sum_over_pixels(const ChannelRows& given, double* const (&sums)[count], auto&& terms) {
  for (double* sum : sums)
    for (std::size_t k = 0; k < given.channels; ++k) sum[k] = 0;
  in_wide_pixels<Real>(given, [&](const ChannelRows& rows, std::size_t start) {
    in_blocks<Real>(rows.channels, [&]<int vectors, bool whole>(std::size_t first) {
      BlockSums<Real> totals[count];
      in_runs(rows.pixels, [&](std::size_t begin, std::size_t end) {
        Lanes<Real> run[count][vectors] = {};
        for (std::size_t i = begin; i < end; ++i)
          each_vector<Real, vectors, whole>(rows, start + i * rows.stride, first, [&](int v, auto some) {
            const Terms<Real> term = terms(some);
            for (int s = 0; s < count; ++s) run[s][v] += term.of[s];
          });
        for (int s = 0; s < count; ++s) totals[s].add(run[s]);
      });
      const std::size_t left = rows.channels - first, held = std::size_t(vectors) * lanes<Real>;
      for (int s = 0; s < count; ++s) totals[s].add_to(sums[s], given.channels, first, left < held ? left : held);
    });
  });
}

// Of each run, with r its sum over n pixels:  sum x^2 = sum (x - r/n)^2 + r^2 / n. What is subtracted in the end is
// subtracted in double.
template <class Real>
KELVIN_INLINE void statistics_(const ChannelRows& given, const Real* x, double* sums, double* squares) {
  for (std::size_t k = 0; k < given.channels; ++k) sums[k] = squares[k] = 0;
  in_wide_pixels<Real>(given, [&](const ChannelRows& rows, std::size_t start) {
    in_blocks<Real>(rows.channels, [&]<int vectors, bool whole>(std::size_t first) {
      BlockSums<Real> total, total_square;
      in_runs(rows.pixels, [&](std::size_t begin, std::size_t end) {
        const Real share = 1 / Real(end - begin);
        Lanes<Real> run[vectors] = {}, square[vectors] = {};
        for (std::size_t i = begin; i < end; ++i)
          each_vector<Real, vectors, whole>(rows, start + i * rows.stride, first,
                                            [&](int v, auto some) { run[v] += some.of_pixel(x); });
        for (std::size_t i = begin; i < end; ++i)
          each_vector<Real, vectors, whole>(rows, start + i * rows.stride, first, [&](int v, auto some) {
            const Lanes<Real> off = some.of_pixel(x) - share * run[v];
            square[v] += off * off;
          });
        total.add(run);
        total_square.add(square);
        total_square.add_squares(run, 1 / double(end - begin));
      });
      const std::size_t left = rows.channels - first, held = std::size_t(vectors) * lanes<Real>;
      total.add_to(sums, given.channels, first, left < held ? left : held);
      total_square.add_to(squares, given.channels, first, left < held ? left : held);
    });
  });
  for (std::size_t k = 0; k < given.channels; ++k) {
    const double about_mean = squares[k] - sums[k] * sums[k] / double(given.pixels);
    squares[k] = about_mean < 0 ? 0 : about_mean;  // rounding
  }
}

template <class Real>
KELVIN_INLINE void slope_sums_(const ChannelRows& rows, const ChannelCut<Real>& cut, double* sums, double* products) {
  const Repeated<Real> mean(rows, cut.mean);
  double* const both[] = {sums, products};
  const auto terms = [&](auto some, Lanes<Real> dy) {
    return Terms<Real>{{dy, dy * (some.of_pixel(cut.x) - some.of_channel(mean.at))}};
  };
  if (!cut.y) return sum_over_pixels<Real>(rows, both, [&](auto some) { return terms(some, some.of_pixel(cut.dy)); });
  sum_over_pixels<Real>(rows, both, [&](auto some) {
    const Lanes<Real> slope = some.of_pixel(cut.dy);
    const Lanes<Real> left = some.of_pixel(cut.y) > 0 ? slope : Lanes<Real>{};
    some.put(cut.dy, left);
    return terms(some, left);
  });
}

template <class Real>
KELVIN_INLINE void cut_(const ChannelRows& rows, const Real* y, const Real* threshold, Real* dy, double* sums) {
  const Repeated<Real> least(rows, threshold);
  double* const one[] = {sums};
  sum_over_pixels<Real>(rows, one, [&](auto some) {
    const Lanes<Real> slope = some.of_pixel(dy);
    const auto cut = some.of_pixel(y) <= some.of_channel(least.at);
    some.put(dy, cut ? Lanes<Real>{} : slope);
    return Terms<Real>{{cut ? slope : Lanes<Real>{}}};
  });
}

// Calls act(some channels) for all channels of all pixels.
template <class Real>
KELVIN_INLINE void for_all(const ChannelRows& given, auto&& act) {
  in_wide_pixels<Real>(given, [&](const ChannelRows& rows, std::size_t start) {
    for (std::size_t i = 0; i < rows.pixels; ++i)
      in_blocks<Real>(rows.channels, [&]<int vectors, bool whole>(std::size_t first) {
        each_vector<Real, vectors, whole>(rows, start + i * rows.stride, first, [&](int, auto some) { act(some); });
      });
  });
}

template <class Real>
KELVIN_INLINE void map_(const ChannelRows& rows, const Real* x, const ChannelMap<Real>& map, Real* y) {
  const Repeated<Real> mean(rows, map.mean), scale(rows, map.scale), bias(rows, map.bias), least(rows, map.threshold);
  const auto value = [&](auto some) {
    return (some.of_pixel(x) - some.of_channel(mean.at)) * some.of_channel(scale.at) + some.of_channel(bias.at);
  };
  if (!map.threshold) return for_all<Real>(rows, [&](auto some) { some.put(y, value(some)); });
  for_all<Real>(rows, [&](auto some) {
    const Lanes<Real> mapped = value(some), threshold = some.of_channel(least.at);
    some.put(y, mapped < threshold ? threshold : mapped);
  });
}

template <class Real>
KELVIN_INLINE void slopes_(const ChannelRows& rows, const Real* dy, const Real* x, const ChannelSlopes<Real>& by,
                           Real* dx) {
  const Repeated<Real> mean(rows, by.mean), scale(rows, by.scale), offset(rows, by.offset), along(rows, by.along);
  for_all<Real>(rows, [&](auto some) {
    const auto number = [&](const Repeated<Real>& of) { return some.of_channel(of.at); };
    some.put(dx,
             number(scale) * some.of_pixel(dy) - number(offset) - (some.of_pixel(x) - number(mean)) * number(along));
  });
}

template <class Real>
KELVIN_INLINE void sums_(const ChannelRows& rows, double* sums, auto&& term) {
  double* const one[] = {sums};
  sum_over_pixels<Real>(rows, one, [&](auto some) { return Terms<Real>{{term(some)}}; });
}

template <class Real>
KELVIN_INLINE void squares_(const ChannelRows& rows, const Real* x, const Real* mean, double* sums) {
  const Repeated<Real> about(rows, mean);
  sums_<Real>(rows, sums, [&](auto some) {
    const Lanes<Real> off = some.of_pixel(x) - some.of_channel(about.at);
    return off * off;
  });
}

}  // namespace

#define KELVIN_DEFINE_CHANNELS(Real)                                                                              \
  void channel_sums(const ChannelRows& rows, const Real* x, double* sums) {                                       \
    sums_<Real>(rows, sums, [&](auto some) { return some.of_pixel(x); });                                         \
  }                                                                                                               \
  void channel_squares(const ChannelRows& rows, const Real* x, const Real* mean, double* sums) {                  \
    squares_(rows, x, mean, sums);                                                                                \
  }                                                                                                               \
  void channel_cut(const ChannelRows& rows, const Real* y, const Real* threshold, Real* dy, double* sums) {       \
    cut_(rows, y, threshold, dy, sums);                                                                           \
  }                                                                                                               \
  void channel_statistics(const ChannelRows& rows, const Real* x, double* sums, double* squares) {                \
    statistics_(rows, x, sums, squares);                                                                          \
  }                                                                                                               \
  void channel_slope_sums(const ChannelRows& rows, const ChannelCut<Real>& cut, double* sums, double* products) { \
    slope_sums_(rows, cut, sums, products);                                                                       \
  }                                                                                                               \
  void channel_map(const ChannelRows& rows, const Real* x, const ChannelMap<Real>& map, Real* y) {                \
    map_(rows, x, map, y);                                                                                        \
  }                                                                                                               \
  void channel_slopes(const ChannelRows& rows, const Real* dy, const Real* x, const ChannelSlopes<Real>& by,      \
                      Real* dx) {                                                                                 \
    slopes_(rows, dy, x, by, dx);                                                                                 \
  }
KELVIN_DEFINE_CHANNELS(float)
KELVIN_DEFINE_CHANNELS(double)

}  // namespace kelvin::KELVIN_ISA
