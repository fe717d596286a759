import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the races with a promise that an object keeps: it would keep the result of each race for as long as it lasts. */
const lastingRaces = (source: string): string[] =>
  source.match(/Promise\.race\(\[[^;]*?this\.#?\w+\.promise\b[^;]*?\]\)/gu) ?? [];

test("a race with a promise of a field is found, one with a promise of this call is not", () => {
  expect(lastingRaces("await Promise.race([made, this.#closed.promise]);")).toHaveLength(1);
  expect(lastingRaces("const late = withResolvers(); await Promise.race([made, late.promise]);")).toEqual([]);
});

test("no source races work with a promise that outlives it: `unlessOver` and `unlessAborted` leave nothing behind", () => {
  const sources = globSync("{kernel,vscode-client,extensions}/**/src/**/*.ts", { cwd: root }).filter(
    (path) => !/(?:^|[\\/])(?:node_modules|dist|build-output|testing)[\\/]|\.test\.ts$/u.test(path),
  );
  expect(sources.length).toBeGreaterThan(500);
  const found = sources.flatMap((path) =>
    lastingRaces(readFileSync(`${root}${path}`, "utf8")).map((race) => `${path}: ${race}`),
  );
  expect(found).toEqual([]);
});
