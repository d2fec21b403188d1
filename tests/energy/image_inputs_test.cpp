// SPDX-License-Identifier: Apache-2.0
// Rows kept in bytes, and images that are changed in training.
#include <gmock/gmock.h>

#include "kelvin/core/text.h"
#include "tests/allocations.h"
#include "tests/small_network.h"

namespace kelvin {
namespace {

// Images of one channel, 6 x 8, in bytes, standardised.
Dataset images_in_bytes(std::size_t rows) {
  Dataset d;
  d.rows = rows;
  d.shape = {1, 6, 8};
  d.input_names = column_names(d.shape.size(), "x");
  d.target_names = {"y"};
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < rows * d.shape.size(); ++i) bytes.push_back(std::uint8_t(i * i % 251));
  d.inputs = InputValues(std::move(bytes), 255);
  d.input_units = {std::vector<double>(d.shape.size(), 0.4), std::vector<double>(d.shape.size(), 0.3)};
  d.inputs.standardise(d.input_units.mean, d.input_units.scale);
  d.targets = some_point(rows, 1, "targets");
  return d;
}

Dataset in_doubles(Dataset d) {
  d.inputs.doubles();
  return d;
}

const std::vector<std::uint32_t> some_rows = {3, 3, 1500, 0, 77, 1999, 42};

template <class Real>
struct Evaluated {
  double U;
  std::vector<Real> g;
  bool operator==(const Evaluated&) const = default;
};

template <class Real>
Evaluated<Real> evaluated(Potential<Real>& potential, Batch rows, std::uint64_t evaluation = 0) {
  const auto offsets = offsets_of(potential.blocks(), potential.blocks());
  const std::size_t size = parameter_count(potential.blocks());
  const std::vector<double> point = some_point(size, 1, "point");
  std::vector<Real> q(point.begin(), point.end()), g(size);
  const Stream stream{.key = 5, .walker = 0, .step = evaluation};
  const double U = potential({q.data(), offsets.data()}, {.rows = rows, .stream = stream}, {g.data(), offsets.data()});
  return {U, g};
}

template <class Real>
class ImageInputs : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ImageInputs, Reals);

// Loops for narrow, medium and wide first layers, in chunks and in batches: the same bytes of energy and gradient.
TYPED_TEST(ImageInputs, BytesAreWorthTheirNumbers) {
  const Dataset bytes = images_in_bytes(2000), doubles = in_doubles(bytes);
  ASSERT_TRUE(bytes.inputs.bytes() && !doubles.inputs.bytes());
  for (const std::vector<long>& sizes : {std::vector<long>{48, 1}, {48, 30, 1}, {48, 5, 1}, {48, 3000, 1}}) {
    const ModelSettings model = network(sizes, {"tanh"});
    const auto from_bytes = make<TypeParam>(model, bytes), from_doubles = make<TypeParam>(model, doubles);
    for (const Batch rows : {Batch(), Batch(some_rows)})
      EXPECT_EQ(evaluated(*from_bytes, rows), evaluated(*from_doubles, rows)) << sizes[1];
    EXPECT_EQ(evaluated(*from_bytes->clone(), some_rows), evaluated(*from_doubles, some_rows));
  }
}

TYPED_TEST(ImageInputs, NothingIsAllocatedAfterTheFirstBatch) {
  auto potential = make<TypeParam>(network({48, 30, 1}, {"tanh"}), images_in_bytes(2000));
  potential->augment({{"flip", "crop 2"}, images_in_bytes(1)});
  const auto offsets = offsets_of(potential->blocks(), potential->blocks());
  std::vector<TypeParam> q(parameter_count(potential->blocks())), g(q.size());
  const auto evaluate = [&] {
    (*potential)({q.data(), offsets.data()}, {.rows = some_rows}, {g.data(), offsets.data()});
  };
  evaluate();
  const auto before = allocations.load();
  evaluate();
  EXPECT_EQ(allocations.load(), before);
}

TYPED_TEST(ImageInputs, ChangesAreDrawnForEachEvaluationAndNeverInPredictions) {
  const Dataset images = images_in_bytes(2000);
  auto plain = make<TypeParam>(network({48, 5, 1}, {"tanh"}), images);
  auto changed = make<TypeParam>(network({48, 5, 1}, {"tanh"}), images);
  changed->augment({{"flip"}, images});
  EXPECT_FALSE(plain->random());
  EXPECT_TRUE(changed->random());
  EXPECT_TRUE(changed->clone()->random());
  for (const Batch rows : {Batch(), Batch(some_rows)}) {
    EXPECT_EQ(evaluated(*changed, rows, 1), evaluated(*changed->clone(), rows, 1));
    EXPECT_NE(evaluated(*changed, rows, 1), evaluated(*changed, rows, 2));
    EXPECT_NE(evaluated(*changed, rows, 1), evaluated(*plain, rows, 1));
  }
  // Of doubles, which lie ready, as of bytes; and a row is changed as it is in a batch of others.
  auto of_doubles = make<TypeParam>(network({48, 5, 1}, {"tanh"}), in_doubles(images));
  of_doubles->augment({{"flip"}, images});
  EXPECT_EQ(evaluated(*of_doubles, some_rows, 3), evaluated(*changed, some_rows, 3));
  double sum = 0;
  for (const std::uint32_t row : some_rows) sum += evaluated(*changed, Batch(&row, 1), 3).U;
  EXPECT_NEAR(sum / double(some_rows.size()), evaluated(*changed, some_rows, 3).U, 1e-5);
  const auto offsets = offsets_of(plain->blocks(), plain->blocks());
  const std::vector<TypeParam> q(parameter_count(plain->blocks()), TypeParam(0.1));
  std::vector<TypeParam> one(2000), two(2000);
  plain->predict({q.data(), offsets.data()}, {}, one);
  changed->predict({q.data(), offsets.data()}, {}, two);
  EXPECT_EQ(one, two);
  EXPECT_EQ(plain->score({q.data(), offsets.data()}, {}).loss, changed->score({q.data(), offsets.data()}, {}).loss);
}

}  // namespace
}  // namespace kelvin
