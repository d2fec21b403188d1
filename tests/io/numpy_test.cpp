// SPDX-License-Identifier: Apache-2.0
// NumPy itself writes what we read and reads what we write.
#include <cstring>

#include "kelvin/io/npy.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::ElementsAre;

void python(const Directory& dir, const std::string& script) {
  dir.write("script.py", "import numpy as np, os\n" + script);
  ASSERT_EQ(std::system(("cd '" + dir.path("") + "' && /usr/bin/python3 script.py").c_str()), 0);
}

// a[i, j, k] = 100 i + 10 j + k in every type, order and byte order
std::vector<double> counted(double sign) {
  std::vector<double> values;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) values.push_back(sign * (100 * i + 10 * j + k));
  return values;
}

TEST(Numpy, EveryTypeOrderAndByteOrderItWritesIsRead) {
  const Directory dir;
  python(dir, R"(
i, j, k = np.indices((2, 3, 4))
a = 100 * i + 10 * j + k
every = {}
for t in ['f2', 'f4', 'f8', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8']:
    for order in 'CF':
        for side in '<>':
            b = np.array(a if t[0] == 'u' else -a, dtype=side + t, order=order)
            np.save(f'{t}{order}{"le" if side == "<" else "be"}.npy', b)
            every[f'{t}{order}{"le" if side == "<" else "be"}'] = b
np.savez('stored.npz', **every)
np.savez_compressed('packed.npz', **every)
np.save('bool.npy', np.array([True, False]))
np.save('strided.npy', a[::1, ::2, ::3].astype(float))
np.save('empty.npy', np.zeros((0, 3)))
np.save('scalar.npy', np.float64(0.1))
np.save('text.npy', np.array(['a']))
np.save('complex.npy', np.array([1j]))
)");
  const auto stored = read_npz(dir.path("stored.npz")), packed = read_npz(dir.path("packed.npz"));
  EXPECT_EQ(stored.size(), 40u);
  for (const std::string type : {"f2", "f4", "f8", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})
    for (const std::string order : {"C", "F"})
      for (const std::string side : {"le", "be"}) {
        const std::string name = type + order + side;
        for (const Array& a : {read_npy(dir.path(name + ".npy")), stored.at(name), packed.at(name)}) {
          EXPECT_THAT(a.shape, ElementsAre(2, 3, 4)) << name;
          EXPECT_EQ(a.values, counted(type[0] == 'u' ? 1 : -1)) << name;
        }
      }
  EXPECT_THAT(read_npy(dir.path("bool.npy")).values, ElementsAre(1, 0));
  EXPECT_THAT(read_npy(dir.path("strided.npy")).values, ElementsAre(0, 3, 20, 23, 100, 103, 120, 123));
  EXPECT_THAT(read_npy(dir.path("empty.npy")).shape, ElementsAre(0, 3));
  EXPECT_THAT(read_npy(dir.path("scalar.npy")).values, ElementsAre(0.1));
  for (const char* name : {"text.npy", "complex.npy"})
    EXPECT_THAT(error_of([&] { read_npy(dir.path(name)); }), testing::HasSubstr("cannot be read")) << name;
}

TEST(Numpy, ReadsWhatWeWriteToTheBit) {
  const Directory dir;
  const std::vector<float> f = {0.1f, -1e-30f, 3, 4, 5, 6};
  const std::vector<double> d = {0.1, 1e-300};
  write_npy<float>(dir.path("f.npy"), {{3, 2}, f});
  write_npz<double>(dir.path("d.npz"), {{"layer1.weight", {{1, 2}, d}}, {"scalar", {{}, std::span(d).first(1)}}});
  python(dir, R"(
f = np.load('f.npy', allow_pickle=False)
assert f.dtype == np.float32 and f.shape == (3, 2), f
assert (f == np.array([[0.1, -1e-30], [3, 4], [5, 6]], np.float32)).all(), f
with np.load('d.npz', allow_pickle=False) as d:
    assert sorted(d.files) == ['layer1.weight', 'scalar'], d.files
    assert d['layer1.weight'].dtype == np.float64 and d['layer1.weight'].tolist() == [[0.1, 1e-300]]
    assert d['scalar'].shape == () and d['scalar'] == 0.1
)");
}

}  // namespace
}  // namespace kelvin
