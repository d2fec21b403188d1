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

// Some channels of one pixel: where they lie, the first of them, and how many.
struct SomeChannels {
  std::size_t at, first, count;
};

// Calls act(vector, channels) for the vectors of a block of channels of a pixel.
template <class Real, int vectors>
KELVIN_INLINE void each_vector(const ChannelRows& rows, std::size_t pixel, std::size_t first, auto&& act) {
  for (int v = 0; v < vectors; ++v) {
    const std::size_t k = first + std::size_t(v * lanes<Real>), left = rows.channels - k;
    act(v, SomeChannels{pixel * rows.stride + k, k, left < lanes<Real> ? left : std::size_t(lanes<Real>)});
  }
}

// Calls block.operator()<vectors>(first channel) for all channels.
template <class Real>
KELVIN_INLINE void in_blocks(std::size_t channels, auto&& block) {
  constexpr std::size_t all_but_one = (vectors_at_once - 1) * lanes<Real>;
  for (std::size_t first = 0; first < channels;)
    if (channels - first > all_but_one) {
      block.template operator()<vectors_at_once>(first);
      first += widest_pixel<Real>;
    } else {
      block.template operator()<1>(first);
      first += lanes<Real>;
    }
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
    in_blocks<Real>(rows.channels, [&]<int vectors>(std::size_t first) {
      BlockSums<Real> totals[count];
      in_runs(rows.pixels, [&](std::size_t begin, std::size_t end) {
        Lanes<Real> run[count][vectors] = {};
        for (std::size_t i = begin; i < end; ++i)
          each_vector<Real, vectors>(rows, i, first, [&](int v, SomeChannels some) {
            const Terms<Real> term = terms(SomeChannels{start + some.at, some.first, some.count});
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
    in_blocks<Real>(rows.channels, [&]<int vectors>(std::size_t first) {
      BlockSums<Real> total, total_square;
      in_runs(rows.pixels, [&](std::size_t begin, std::size_t end) {
        const Real share = 1 / Real(end - begin);
        Lanes<Real> run[vectors] = {}, square[vectors] = {};
        for (std::size_t i = begin; i < end; ++i)
          each_vector<Real, vectors>(
              rows, i, first, [&](int v, SomeChannels some) { run[v] += load_some(x + start + some.at, some.count); });
        for (std::size_t i = begin; i < end; ++i)
          each_vector<Real, vectors>(rows, i, first, [&](int v, SomeChannels some) {
            const Lanes<Real> off = load_some(x + start + some.at, some.count) - share * run[v];
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
  const auto terms = [&](SomeChannels some, Lanes<Real> dy) {
    return Terms<Real>{
        {dy, dy * (load_some(cut.x + some.at, some.count) - load_some(mean.at + some.first, some.count))}};
  };
  if (!cut.y)
    return sum_over_pixels<Real>(
        rows, both, [&](SomeChannels some) { return terms(some, load_some(cut.dy + some.at, some.count)); });
  sum_over_pixels<Real>(rows, both, [&](SomeChannels some) {
    const Lanes<Real> slope = load_some(cut.dy + some.at, some.count);
    const Lanes<Real> left = load_some(cut.y + some.at, some.count) > 0 ? slope : Lanes<Real>{};
    store_some(cut.dy + some.at, left, some.count);
    return terms(some, left);
  });
}

template <class Real>
KELVIN_INLINE void cut_(const ChannelRows& rows, const Real* y, const Real* threshold, Real* dy, double* sums) {
  const Repeated<Real> least(rows, threshold);
  double* const one[] = {sums};
  sum_over_pixels<Real>(rows, one, [&](SomeChannels some) {
    const Lanes<Real> slope = load_some(dy + some.at, some.count);
    const auto cut = load_some(y + some.at, some.count) <= load_some(least.at + some.first, some.count);
    store_some(dy + some.at, cut ? Lanes<Real>{} : slope, some.count);
    return Terms<Real>{{cut ? slope : Lanes<Real>{}}};
  });
}

// Calls act(some channels) for all channels of all pixels.
template <class Real>
KELVIN_INLINE void for_all(const ChannelRows& given, auto&& act) {
  in_wide_pixels<Real>(given, [&](const ChannelRows& rows, std::size_t start) {
    for (std::size_t i = 0; i < rows.pixels; ++i)
      in_blocks<Real>(rows.channels, [&]<int vectors>(std::size_t first) {
        each_vector<Real, vectors>(rows, i, first, [&](int, SomeChannels some) {
          act(SomeChannels{start + some.at, some.first, some.count});
        });
      });
  });
}

template <class Real>
KELVIN_INLINE void map_(const ChannelRows& rows, const Real* x, const ChannelMap<Real>& map, Real* y) {
  const Repeated<Real> mean(rows, map.mean), scale(rows, map.scale), bias(rows, map.bias), least(rows, map.threshold);
  const auto value = [&](SomeChannels some) {
    return (load_some(x + some.at, some.count) - load_some(mean.at + some.first, some.count)) *
               load_some(scale.at + some.first, some.count) +
           load_some(bias.at + some.first, some.count);
  };
  if (!map.threshold)
    return for_all<Real>(rows, [&](SomeChannels some) { store_some(y + some.at, value(some), some.count); });
  for_all<Real>(rows, [&](SomeChannels some) {
    const Lanes<Real> mapped = value(some), threshold = load_some(least.at + some.first, some.count);
    store_some(y + some.at, mapped < threshold ? threshold : mapped, some.count);
  });
}

template <class Real>
KELVIN_INLINE void slopes_(const ChannelRows& rows, const Real* dy, const Real* x, const ChannelSlopes<Real>& by,
                           Real* dx) {
  const Repeated<Real> mean(rows, by.mean), scale(rows, by.scale), offset(rows, by.offset), along(rows, by.along);
  for_all<Real>(rows, [&](SomeChannels some) {
    const auto number = [&](const Repeated<Real>& of) { return load_some(of.at + some.first, some.count); };
    store_some(dx + some.at,
               number(scale) * load_some(dy + some.at, some.count) - number(offset) -
                   (load_some(x + some.at, some.count) - number(mean)) * number(along),
               some.count);
  });
}

template <class Real>
KELVIN_INLINE void sums_(const ChannelRows& rows, double* sums, auto&& term) {
  double* const one[] = {sums};
  sum_over_pixels<Real>(rows, one, [&](SomeChannels some) { return Terms<Real>{{term(some)}}; });
}

template <class Real>
KELVIN_INLINE void squares_(const ChannelRows& rows, const Real* x, const Real* mean, double* sums) {
  const Repeated<Real> about(rows, mean);
  sums_<Real>(rows, sums, [&](SomeChannels some) {
    const Lanes<Real> off = load_some(x + some.at, some.count) - load_some(about.at + some.first, some.count);
    return off * off;
  });
}

}  // namespace

#define KELVIN_DEFINE_CHANNELS(Real)                                                                              \
  void channel_sums(const ChannelRows& rows, const Real* x, double* sums) {                                       \
    sums_<Real>(rows, sums, [&](SomeChannels some) { return load_some(x + some.at, some.count); });               \
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
