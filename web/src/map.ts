// SPDX-License-Identifier: Apache-2.0
// A map under the curves of a figure: heat, contours or classes, with the bar that explains its colours.
import { contours } from "d3-contour";
import { type Range, type Scale, extent, is_number, svg, ticks } from "./axes";
import { type Colours, as_rgb, class_colour, colours_of } from "./colour";
import type { MapData } from "./report";

// Where the cells of a grid line begin and end: half way between neighbours, on a logarithmic axis by factors.
function edges(at: number[], log: boolean): number[] {
  if (log) return edges(at.map(Math.log), false).map(Math.exp);
  const n = at.length;
  if (n === 1) return [at[0] - 0.5, at[0] + 0.5];
  const inner = at.slice(1).map((x, k) => (x + at[k]) / 2);
  return [2 * at[0] - inner[0], ...inner, 2 * at[n - 1] - inner[n - 2]];
}

const is_log = (scale: Scale): boolean => "base" in scale;

export function map_extent(map: MapData, axis: "x" | "y", log: boolean): Range | undefined {
  const at = map.style === "contour" ? map[axis] : edges(map[axis], log);
  return extent([at], log);
}

// The index of the cell that holds a value, or -1.
export function cell_of(at: number[], value: number, scale: Scale): number {
  const bounds = edges(at, is_log(scale));
  const rising = bounds[bounds.length - 1] > bounds[0];
  for (let k = 0; k + 1 < bounds.length; ++k) {
    const [a, b] = rising ? [bounds[k], bounds[k + 1]] : [bounds[k + 1], bounds[k]];
    if (value >= a && value < b) return k;
  }
  return -1;
}

// z between the points of the grid; undefined outside.
export function interpolated(map: MapData, x: number, y: number): number | undefined {
  const place = (at: number[], value: number): [number, number] | undefined => {
    for (let k = 0; k + 1 < at.length; ++k) {
      const share = (value - at[k]) / (at[k + 1] - at[k]);
      if (share >= 0 && share <= 1) return [k, share];
    }
    return undefined;
  };
  const column = place(map.x, x);
  const row = place(map.y, y);
  if (!column || !row) return undefined;
  const [i, u] = column;
  const [j, v] = row;
  const z = (a: number, b: number) => map.z[b * map.x.length + a] ?? NaN;
  return (1 - v) * ((1 - u) * z(i, j) + u * z(i + 1, j)) + v * ((1 - u) * z(i, j + 1) + u * z(i + 1, j + 1));
}

function colour_cells(map: MapData, colours: Colours): (z: number) => [number, number, number, number] {
  if (map.style === "classes") return (z) => [...class_colour(z), 90];
  return (z) => [...as_rgb(colours.of(z)), 255];
}

// Whether cells are equally wide to a pixel: then one picture will do for all of them.
function evenly(at: number[]): boolean {
  const width = (at[at.length - 1] - at[0]) / (at.length - 1);
  return at.every((place, k) => Math.abs(place - at[0] - k * width) < 1);
}

function draw_cells(group: SVGGElement, map: MapData, x: Scale, y: Scale, colours: Colours): void {
  const columns = map.x.length;
  const rows = map.y.length;
  const x_edges = edges(map.x, is_log(x)).map((at) => x(at));
  const y_edges = edges(map.y, is_log(y)).map((at) => y(at));
  const colour = colour_cells(map, colours);
  if (!evenly(x_edges) || !evenly(y_edges)) {
    for (let j = 0; j < rows; ++j)
      for (let i = 0; i < columns; ++i) {
        const z = map.z[j * columns + i];
        if (!is_number(z)) continue;
        const [red, green, blue, alpha] = colour(z);
        group.append(
          svg("rect", {
            x: Math.min(x_edges[i], x_edges[i + 1]),
            y: Math.min(y_edges[j], y_edges[j + 1]),
            width: Math.abs(x_edges[i + 1] - x_edges[i]),
            height: Math.abs(y_edges[j + 1] - y_edges[j]),
            fill: `rgba(${red},${green},${blue},${alpha / 255})`,
            "shape-rendering": "crispEdges",
          }),
        );
      }
    return;
  }
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  if (!context) return;
  const pixels = context.createImageData(columns, rows);
  const right = x_edges[columns] > x_edges[0];
  const down = y_edges[rows] > y_edges[0];
  for (let j = 0; j < rows; ++j)
    for (let i = 0; i < columns; ++i) {
      const z = map.z[j * columns + i];
      if (is_number(z))
        pixels.data.set(colour(z), 4 * ((down ? j : rows - 1 - j) * columns + (right ? i : columns - 1 - i)));
    }
  context.putImageData(pixels, 0, 0);
  group.append(
    svg("image", {
      href: canvas.toDataURL(),
      x: Math.min(x_edges[0], x_edges[columns]),
      y: Math.min(y_edges[0], y_edges[rows]),
      width: Math.abs(x_edges[columns] - x_edges[0]),
      height: Math.abs(y_edges[rows] - y_edges[0]),
      preserveAspectRatio: "none",
      style: "image-rendering: pixelated",
    }),
  );
}

function draw_contours(group: SVGGElement, map: MapData, x: Scale, y: Scale, colours: Colours): void {
  const columns = map.x.length;
  const [low, high] = colours.scale.domain();
  const levels = 14;
  const thresholds = Array.from({ length: levels }, (_, k) => colours.scale.invert(k / levels));
  thresholds[0] = low;
  const z = map.z.map((value) => (is_number(value) ? value : high));
  const between = (at: number[], index: number): number => {
    const k = Math.min(Math.max(index - 0.5, 0), at.length - 1);
    const below = Math.floor(k);
    return at[below] + (k - below) * ((at[below + 1] ?? at[below]) - at[below]);
  };
  for (const area of contours().size([columns, map.y.length]).thresholds(thresholds)(z)) {
    const path = area.coordinates
      .flat()
      .map(
        (ring) =>
          "M" +
          ring.map(([i, j]) => `${x(between(map.x, i)).toFixed(1)},${y(between(map.y, j)).toFixed(1)}`).join("L") +
          "Z",
      )
      .join("");
    if (path)
      group.append(svg("path", { d: path, fill: colours.of(area.value), class: "level", "fill-rule": "evenodd" }));
  }
}

function draw_bar(group: SVGGElement, map: MapData, colours: Colours, left: number, top: number, height: number): void {
  const id = "bar" + Math.random().toString(36).slice(2);
  const gradient = svg("linearGradient", { id, x1: 0, x2: 0, y1: 1, y2: 0 });
  const [low, high] = colours.scale.domain() as Range;
  for (let k = 0; k <= 16; ++k)
    gradient.append(svg("stop", { offset: k / 16, "stop-color": colours.of(colours.scale.invert(k / 16)) }));
  group.append(gradient, svg("rect", { x: left, y: top, width: 12, height, fill: `url(#${id})` }));
  const place = colours.scale
    .copy()
    .range([top + height, top])
    .domain([low, high]);
  for (const tick of ticks(place, Math.max(3, height / 60), colours.log)) {
    group.append(svg("line", { x1: left + 12, x2: left + 15, y1: place(tick.at), y2: place(tick.at), class: "axis" }));
    group.append(svg("text", { x: left + 18, y: place(tick.at), dy: "0.35em", class: "tick" }, tick.text));
  }
  if (map.label)
    group.append(
      svg(
        "text",
        { x: left + 12, y: top - 8, "text-anchor": "middle", class: "label" },
        map.label.length > 14 ? "" : map.label,
      ),
    );
}

// Draws the map into `under` and its bar, if it has one, at `bar`.
export function draw_map(
  under: SVGGElement,
  map: MapData,
  x: Scale,
  y: Scale,
  bar?: { group: SVGGElement; left: number; top: number; height: number },
): void {
  const colours = colours_of(map);
  if (map.style === "contour" && map.x.length > 1 && map.y.length > 1) draw_contours(under, map, x, y, colours);
  else draw_cells(under, map, x, y, colours);
  if (bar) draw_bar(bar.group, map, colours, bar.left, bar.top, bar.height);
}
