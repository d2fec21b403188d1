// SPDX-License-Identifier: Apache-2.0
// A finding with every kind of curve and map, and names that try to be markup.
const range = (n, from, to) => Array.from({ length: n }, (_, k) => from + ((to - from) * k) / (n - 1));
const empty = { low: [], high: [] };

export function zoo() {
  const x = range(120, -3, 3);
  const grid = range(41, -2, 2);
  const on_grid = (f) => grid.flatMap((b) => grid.map((a) => f(a, b)));
  const figure = (name, title, more) => ({
    name,
    title,
    x_label: "x",
    y_label: "y",
    caption: "What to look for.",
    curves: [],
    log_x: false,
    log_y: false,
    equal_axes: false,
    ...more,
  });
  const map = (style, f, label) => ({ x: grid, y: grid, z: on_grid(f), style, classes: [], label });
  const walk = {
    name: "way",
    x: range(30, -1.5, 1.5),
    y: range(30, -1.5, 1.5).map((t) => t * t - 1),
    ...empty,
    style: "line",
  };
  const hostile = '<script>alert("x")</script><!-- <img src=x onerror=alert(1)>';
  return {
    name: "zoo",
    title: `Every kind of figure ${hostile}`,
    words: ["Each kind of curve and map is here once.", `A name may be ${hostile}.`],
    tables: [
      {
        title: hostile,
        columns: ["name", "number", "sure", "text"],
        rows: range(30, 0, 29).map((k) => ({
          name: `row ${k}`,
          number: k === 3 ? null : (k - 7) ** 7 / 1e4,
          sure: k % 2 === 0,
          text: "a text that is long enough to be wrapped, " + hostile,
        })),
      },
    ],
    figures: [
      figure("band", "Line with a band, dashed line and points", {
        curves: [
          {
            name: "mean",
            x,
            y: x.map(Math.sin),
            low: x.map((t) => Math.sin(t) - 0.1 - 0.1 * t * t),
            high: x.map((t) => Math.sin(t) + 0.1 + 0.1 * t * t),
            style: "line",
          },
          { name: "truth", x, y: x.map((t) => Math.sin(t) * 1.05), ...empty, style: "dashed" },
          {
            name: "data",
            x: range(25, -3, 3),
            y: range(25, -3, 3).map((t, k) => Math.sin(t) + 0.2 * Math.cos(17 * k)),
            ...empty,
            style: "points",
          },
        ],
      }),
      figure("errors", "Points with errors, on logarithmic axes", {
        log_x: true,
        log_y: true,
        curves: [
          {
            name: "measured",
            x: [1, 10, 100, 1000, 0],
            y: [2, 0.3, 0.02, null, 1],
            low: [1.5, 0.2, 0.01, null, 1],
            high: [2.5, 0.4, 0.04, null, 1],
            style: "points",
          },
        ],
      }),
      figure("ranks", "Bars side by side", {
        curves: [0, 1, 2].map((w) => ({
          name: `walker ${w}`,
          x: range(12, 0, 11),
          y: range(12, 0, 11).map((k) => 50 + 8 * Math.sin(3 * k + w)),
          ...empty,
          style: "bars",
        })),
      }),
      figure("steps", "Steps", {
        y_label: "a density with a rather long name",
        curves: [0, 1].map((w) => ({
          name: `block ${w}`,
          x: range(40, -2, 2),
          y: range(40, -2, 2).map((t) => Math.exp(-t * t * (w + 1))),
          ...empty,
          style: "steps",
        })),
      }),
      figure("constant", "A constant and a single point", {
        curves: [
          { name: "one", x: [5], y: [7], ...empty, style: "points" },
          { name: "same", x: [4, 6], y: [7, 7], ...empty, style: "line" },
        ],
      }),
      figure("heat", "Heat", { map: map("heat", (a, b) => Math.exp(-a * a - b * b), "density"), equal_axes: true }),
      figure("signed", "Signed heat", { map: map("heat", (a, b) => Math.sin(2 * a) * Math.cos(b), "correlation") }),
      figure("contour", "Contours over decades, with a way", {
        map: map("contour", (a, b) => 1e-3 + (a * a - b - 1) ** 2 * 3 + a * a, "loss"),
        curves: [walk],
      }),
      figure("classes", "Classes with data", {
        equal_axes: true,
        map: {
          ...map("classes", (a, b) => (a * a + b * b < 1 ? 0 : a > 0 ? 1 : 2), "class"),
          classes: ["inside", hostile, "left"],
        },
        curves: [
          { name: "inside", x: [0, 0.3], y: [0.1, 0.5], ...empty, style: "points" },
          { name: "outside", x: [1.5, 1.2], y: [1, -1], ...empty, style: "points" },
        ],
      }),
      figure("surface", "A surface in space", {
        x_label: "first direction",
        y_label: "second direction",
        map: map("surface", (a, b) => (a * a - 1) ** 2 + b * b + 0.2 * a, "loss"),
        curves: [walk],
      }),
    ],
  };
}
