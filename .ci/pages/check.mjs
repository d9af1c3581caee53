// Checks HTML pages: valid markup (html-validate), accessibility (axe-core), no request to the network, no error of a
// script, and no horizontal scrolling, in light and dark, on a phone and on a desktop.
//
// usage: node check.mjs [--pictures FOLDER] PAGE.html ...
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { HtmlValidate, formatterFactory } from "html-validate";
import { chromium } from "playwright-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--no-first-run"];
const WIDTHS = [390, 1400];
// drawings have attributes of SVG that HTML does not have, and ids that belong to them
const RULES = { extends: ["html-validate:recommended"], rules: { "long-title": "off", "no-inline-style": "error" } };

const words = process.argv.slice(2);
let pictures = null;
if (words[0] === "--pictures") {
  pictures = words[1];
  mkdirSync(pictures, { recursive: true });
  words.splice(0, 2);
}
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const validator = new HtmlValidate(RULES);
let faults = 0;
const fault = (page, text) => {
  faults += 1;
  console.error(`${page}: ${text}`);
};

for (const path of words) {
  const report = await validator.validateFile(path);
  if (!report.valid) fault(path, formatterFactory("text")(report.results));
}
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
for (const path of words) {
  // one page for each processor of a small machine
  await Promise.all(["light", "dark"].map(async (colorScheme) => {
    for (const width of WIDTHS) {
      const place = `${path} (${colorScheme}, ${width} px)`;
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      page.on("pageerror", (error) => fault(place, error));
      page.on("console", (message) => message.type() === "error" && fault(place, message.text()));
      page.on("request", (request) => {
        if (!/^(file|data|blob):/.test(request.url())) fault(place, `asks for ${request.url()}`);
      });
      await page.goto(`file://${resolve(path)}`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      for (const { id, help, nodes } of violations) {
        fault(place, `${id}: ${help}\n  ${nodes.slice(0, 3).map((node) => node.html).join("\n  ")}`);
      }
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wider > 0) fault(place, `is ${wider} px wider than the window`);
      if (pictures) {
        const name = `${basename(dirname(resolve(path)))}-${basename(path, ".html")}-${colorScheme}-${width}.png`;
        await page.screenshot({ path: join(pictures, name), fullPage: true });
      }
      await page.close();
    }
  }));
}
await browser.close();
console.log(`${words.length} pages, ${faults} faults`);
process.exit(faults > 0 ? 1 : 0);
