// SPDX-License-Identifier: Apache-2.0
// A surface in space, drawn as SVG from the back to the front so that it prints and needs no graphics card. Drag to turn it.
import { type Range, extent, is_number, make_scale, number_text, padded, svg } from "./axes";
import { colours_of, curve_class } from "./colour";
import { interpolated } from "./map";
import type { Figure, MapData } from "./report";

export interface Angle {
  turn: number; // radians about the upright axis
  tilt: number; // radians above the plane
}
export const first_angle = (): Angle => ({ turn: -0.7, tilt: 0.55 });

type Point = [number, number, number];

const most_cells = 56; // along an axis: more would make turning slow

function every_so_many(count: number): number[] {
  const every = Math.ceil(count / most_cells);
  const kept = Array.from({ length: count }, (_, k) => k).filter((k) => k % every === 0);
  if (kept[kept.length - 1] !== count - 1) kept.push(count - 1);
  return kept;
}

export function draw_surface(
  host: HTMLElement,
  figure: Figure,
  map: MapData,
  angle: Angle,
  size?: { width: number; height: number },
): void {
  const width = Math.max(220, size?.width ?? host.clientWidth);
  const height = size?.height ?? Math.round(Math.min(460, Math.max(280, width * 0.75)));
  const colours = colours_of(map);
  const z_range = extent([map.z], colours.log) ?? [0, 1];
  const unit = (range: Range, log = false) =>
    make_scale(range[0] < range[1] ? range : padded(range, 0.5, log), [-1, 1], log);
  const [to_x, to_y, to_z] = [
    unit(extent([map.x], false) ?? [0, 1]),
    unit(extent([map.y], false) ?? [0, 1]),
    unit(z_range, colours.log),
  ];
  const [cos, sin, up, along] = [
    Math.cos(angle.turn),
    Math.sin(angle.turn),
    Math.cos(angle.tilt),
    Math.sin(angle.tilt),
  ];
  const scale = Math.min(width / 3.5, height / 3.0);
  // To the right, downwards, and towards the eye.
  const seen = ([px, py, pz]: Point): Point => {
    const [right, back, top] = [cos * px - sin * py, sin * px + cos * py, 0.7 * pz];
    return [width / 2 + scale * right, height / 2 - scale * (up * top + along * back), along * top - up * back];
  };
  const picture = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": figure.title,
    class: "space",
  });
  const path = (...points: Point[]) =>
    "M" +
    points
      .map(seen)
      .map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`)
      .join("L");
  const write = (at: Point, text: string, kind: string) => {
    const [a, b] = seen(at);
    picture.append(svg("text", { x: a, y: b, dy: "0.35em", "text-anchor": "middle", class: kind }, text));
  };

  picture.append(svg("path", { d: path([-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1]) + "Z", class: "floor" }));
  // Labels stand at the two lower edges nearest to the eye, heights at the upright edge furthest to the left.
  const near_y = seen([0, -1, -1])[2] > seen([0, 1, -1])[2] ? -1 : 1;
  const near_x = seen([-1, 0, -1])[2] > seen([1, 0, -1])[2] ? -1 : 1;
  const corners: Point[] = [
    [-1, -1, -1],
    [1, -1, -1],
    [1, 1, -1],
    [-1, 1, -1],
  ];
  const left = corners.reduce((a, b) => (seen(a)[0] < seen(b)[0] ? a : b));
  picture.append(svg("path", { d: path(left, [left[0], left[1], 1]), class: "axis" }));

  const columns = every_so_many(map.x.length);
  const rows = every_so_many(map.y.length);
  const corner = (i: number, j: number): Point | undefined => {
    const z = map.z[j * map.x.length + i];
    return is_number(z) && (!colours.log || z > 0) ? [to_x(map.x[i]), to_y(map.y[j]), to_z(z)] : undefined;
  };
  const faces: { depth: number; d: string; fill: string }[] = [];
  for (let b = 0; b + 1 < rows.length; ++b)
    for (let a = 0; a + 1 < columns.length; ++a) {
      const points = [
        corner(columns[a], rows[b]),
        corner(columns[a + 1], rows[b]),
        corner(columns[a + 1], rows[b + 1]),
        corner(columns[a], rows[b + 1]),
      ];
      if (points.some((p) => p === undefined)) continue;
      const solid = points as Point[];
      const mean = solid.reduce((sum, p) => sum + p[2], 0) / 4;
      const depth = solid.reduce((sum, p) => sum + seen([p[0], p[1], 0])[2], 0);
      faces.push({ depth, d: path(...solid) + "Z", fill: colours.of(to_z.invert(mean)) });
    }
  faces.sort((a, b) => a.depth - b.depth);
  const body = svg("g", { class: "faces" });
  for (const face of faces) body.append(svg("path", { d: face.d, fill: face.fill, stroke: face.fill }));
  picture.append(body);

  figure.curves.forEach((curve, k) => {
    const points = curve.x.map((cx, n): Point | undefined => {
      const cy = curve.y[n];
      const z = is_number(cx) && is_number(cy) ? interpolated(map, cx, cy) : undefined;
      return is_number(cx) && is_number(cy) && is_number(z) ? [to_x(cx), to_y(cy), to_z(z) + 0.02] : undefined;
    });
    const group = svg("g", { class: `curve ${curve_class(k)} on-map` });
    const solid = points.filter((p): p is Point => p !== undefined);
    if (curve.style === "points")
      for (const p of solid) group.append(svg("circle", { cx: seen(p)[0], cy: seen(p)[1], r: 3, class: "dots" }));
    else if (solid.length)
      group.append(
        svg("path", { d: path(...solid), class: "halo" }),
        svg("path", { d: path(...solid), class: "line" }),
      );
    picture.append(group);
  });

  for (const end of [-1, 1] as const) {
    write([end * 0.92, near_y * 1.14, -1], number_text(to_x.invert(end), 3), "tick");
    write([near_x * 1.14, end * 0.92, -1], number_text(to_y.invert(end), 3), "tick");
    const [a, b] = seen([left[0], left[1], end]);
    picture.append(
      svg(
        "text",
        { x: a - 6, y: b, dy: "0.35em", "text-anchor": "end", class: "tick" },
        number_text(to_z.invert(end), 3),
      ),
    );
  }
  write([0, near_y * 1.32, -1], figure.x_label, "label");
  write([near_x * 1.32, 0, -1], figure.y_label, "label");
  const [a, b] = seen([left[0], left[1], 1]);
  picture.append(
    svg("text", { x: Math.max(4, a - 30), y: b - 16, class: "label" }, map.label + (colours.log ? " (log scale)" : "")),
  );
  host.replaceChildren(picture);

  picture.addEventListener("pointerdown", (down) => {
    if (down.pointerType === "touch") return;
    const start = { ...angle };
    const move = (event: PointerEvent) => {
      angle.turn = start.turn - (event.clientX - down.clientX) / 150;
      angle.tilt = Math.min(1.5, Math.max(0.05, start.tilt + (event.clientY - down.clientY) / 150));
      requestAnimationFrame(() => draw_surface(host, figure, map, angle, size));
    };
    const stop = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", stop);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", stop);
    down.preventDefault();
  });
}
