import { chromium } from "playwright-core";
const [file, width, scheme, top, height, out] = process.argv.slice(2);
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const p = await b.newPage({ viewport: { width: +width, height: +height }, colorScheme: scheme });
await p.goto("file://" + file);
await p.evaluate((y) => { document.documentElement.style.scrollBehavior="auto"; window.scrollTo(0, y); }, +top);
await p.waitForTimeout(200);
await p.screenshot({ path: out });
await b.close();
