import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";

const here = fileURLToPath(new URL("../webviews/conversations/", import.meta.url));
/** The page is loaded each time that its view is shown. */
const maxKilobytes = 300;

it("the page can be bundled, compiles no code, which its policy forbids, and stays small", async () => {
  const { outputFiles } = await build({
    entryPoints: [`${here}main.ts`],
    bundle: true,
    minify: true,
    write: false,
    outdir: "dist",
    platform: "browser",
    format: "iife",
    target: "chrome132",
    logLevel: "silent",
  });
  const script = outputFiles.find(({ path }) => path.endsWith(".js"));
  expect(outputFiles.map(({ path }) => path.slice(path.lastIndexOf(".")))).toEqual([".js", ".css"]);
  expect(script?.text).not.toMatch(/\beval\(|new Function\(/);
  expect((script?.contents.length ?? 0) / 1000).toBeLessThan(maxKilobytes);
});

it("no source of the page writes HTML", () => {
  const sources = readdirSync(here).filter((name) => /(?<!\.test)\.tsx?$/.test(name));
  expect(sources.length).toBeGreaterThan(15);
  for (const name of sources)
    expect(readFileSync(`${here}${name}`, "utf8"), name).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|\.render\(/i,
    );
});
