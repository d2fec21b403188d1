// SPDX-License-Identifier: Apache-2.0
// Colours of maps. Curves take theirs from the style sheet (c0, c1, ...), so that themes and print need no redrawing.
import { interpolateRdBu, interpolateViridis } from "d3-scale-chromatic";
import { type Range, type Scale, extent, make_scale, spans_decades } from "./axes";
import type { MapData } from "./report";

export const curve_class = (curve: number): string => `c${curve % 8}`; // as style.css names them

// Regions of classes, on a light and a dark page alike; the same order as c0, c1, ...
const classes: [number, number, number][] = [
  [0, 114, 178],
  [213, 94, 0],
  [0, 158, 115],
  [204, 121, 167],
  [230, 159, 0],
  [86, 180, 233],
  [127, 127, 127],
  [170, 150, 0],
];

export interface Colours {
  log: boolean;
  scale: Scale; // z -> 0 ... 1
  of(z: number): string;
}

// Signed numbers get two hues that meet at zero; numbers over several decades are coloured by their logarithm.
export function colours_of(map: MapData): Colours {
  const range = extent([map.z], false) ?? [0, 1];
  const widened: Range = range[0] < range[1] ? range : [range[0] - 0.5, range[0] + 0.5];
  const [low, high] = widened;
  if (low < 0 && high > 0 && Math.max(-low / high, -high / low) < 5) {
    const most = Math.max(-low, high);
    const scale = make_scale([-most, most], [0, 1], false);
    return { log: false, scale, of: (z) => interpolateRdBu(1 - scale(z)) };
  }
  const log = spans_decades(widened);
  const scale = make_scale(widened, [0, 1], log);
  return { log, scale, of: (z) => interpolateViridis(scale(z)) };
}

export function class_colour(number: number): [number, number, number] {
  return classes[Math.abs(Math.round(number)) % classes.length];
}

export function as_rgb(colour: string): [number, number, number] {
  if (colour.startsWith("#"))
    return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16)) as [number, number, number];
  return (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number) as [number, number, number];
}
