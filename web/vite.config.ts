// SPDX-License-Identifier: Apache-2.0
// Builds one file, dist/report.html: style and script inside it, and a checksum of the sources it was made from, which
// tests/report_test.cpp compares with the sources that are there.
import { readFileSync, readdirSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

const notice = `<!--
Kelvin, Apache-2.0. This page contains parts of d3 (d3-array, d3-color, d3-contour, d3-format, d3-interpolate, d3-path, d3-scale,
d3-scale-chromatic, d3-shape, d3-time, d3-time-format) and internmap, Copyright 2010-2024 Mike Bostock, under the ISC licence:
Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided
that the above copyright notice and this permission notice appear in all copies. THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR
DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT
SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM
LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION
WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
Colour scheme RdBu: Copyright 2002 Cynthia Brewer, Mark Harrower and The Pennsylvania State University, Apache-2.0.
-->`;

function crc32(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; ++bit) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

function sources(): string {
  const files = ["index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];
  files.push(
    ...readdirSync("src")
      .sort()
      .map((name) => "src/" + name),
  );
  return crc32(Buffer.concat(files.map((name) => readFileSync(name))))
    .toString(16)
    .padStart(8, "0");
}

function one_file(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("no page was built");
      let html = String(page.source).replace("@sources@", sources());
      let script = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code;
        else if (name.endsWith(".css"))
          html = html.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>\n${file.source}</style>`);
        else continue;
        delete bundle[name];
      }
      html = html.replace(/\s*<script type="module"[^>]*><\/script>/, "");
      html = html.replace("</body>", () => `<script>${script.replaceAll("</script", "<\\/script")}</script>\n</body>`);
      page.source = html.replace("<html", () => notice + "\n<html");
      page.fileName = "report.html";
    },
  };
}

export default defineConfig({
  plugins: [one_file()],
  build: { modulePreload: false, cssCodeSplit: false, target: "es2020", rollupOptions: { output: { format: "iife" } } },
});
