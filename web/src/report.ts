// SPDX-License-Identifier: Apache-2.0
// The document that `kelvin report` puts into the page (kelvin/report/document.h). Numbers that are not finite are null.
export type Num = number | null;

export interface Curve {
  name: string;
  x: Num[];
  y: Num[];
  low: Num[];
  high: Num[];
  style: string;
}

export interface MapData {
  x: number[];
  y: number[];
  z: Num[];
  style: string;
  classes: string[];
  label: string;
}

export interface Figure {
  id: string;
  name: string;
  title: string;
  x_label: string;
  y_label: string;
  curves: Curve[];
  map?: MapData;
  caption: string;
  log_x: boolean;
  log_y: boolean;
  equal_axes: boolean;
}

export type Cell = string | number | boolean | null | undefined;

export interface Table {
  title: string;
  columns: string[];
  rows: Record<string, Cell>[];
}

export interface Finding {
  name: string;
  title: string;
  words: string[];
  tables: Table[];
  figures: Figure[];
  folds?: Fold[];
}

// What is shown on request: a text, or settings.
export interface Fold {
  title: string;
  text?: string;
  settings?: unknown;
}

export interface Run {
  name: string;
  verdict: string[]; // sentences, the first the verdict
  sections: Finding[];
}

export interface Report {
  title: string;
  made: string;
  version: string;
  overview: Finding[];
  runs: Run[];
}
