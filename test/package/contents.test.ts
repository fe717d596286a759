import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { executableOf, type PackageName, unpack } from "../support/installed.ts";
import { makePlace, type Place, repository } from "./support/place.ts";

const tarballs = inject("tarballs");
let place: Place;
let installed: Record<PackageName, string>;
beforeAll(async () => {
  place = await makePlace();
  installed = unpack(place.base, tarballs);
});
afterAll(() => place[Symbol.asyncDispose]());

describe.each(tarballs)("$name", ({ name, files }) => {
  it("has the licence of the project, a README, and the licences of what is inside", async () => {
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(await readFile(join(installed[name], "LICENSE"), "utf8")).toBe(
      await readFile(join(repository, "LICENSE"), "utf8"),
    );
    const licences = await readFile(join(installed[name], "dist", "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const inside of { lares: ["quickjs-wasi", "ajv"], "@lares/sdk": ["picomatch", "re2js"] }[name])
      expect(licences).toContain(inside);
  });

  it("has nothing of tests, no source maps, no settings of this repository", () => {
    const isUnwanted = (path: string): boolean =>
      /\.(test|map)\b|\.map$|tsconfig|vitest|node_modules|\.stamp$|(^|\/)(test|build)\//.test(path) ||
      // The SDK's part for tests is included, with its declarations in a folder of that name.
      (/(^|\/)testing\//.test(path) && !path.startsWith("dist/types/testing/"));
    expect(files.filter((path) => isUnwanted(path) && !path.endsWith(".template"))).toEqual([]);
  });

  it("has no path of the machine it was made on, and no source map's comment", async () => {
    const found: string[] = [];
    for (const path of files) {
      const text = await readFile(join(installed[name], path), "latin1");
      const places = [repository.replace(/[\\/]$/, ""), process.cwd(), homedir(), "sourceMappingURL=/"];
      for (const one of places) if (one.length > 5 && text.includes(one)) found.push(`${path}: ${one}`);
    }
    expect(found).toEqual([]);
  });
});

it("the kernel's package has nothing that Node would have to strip types from, but sources it bundles", () => {
  const sources = tarballs
    .find(({ name }) => name === "lares")
    ?.files.filter((path) => /\.[mc]?tsx?$/.test(path));
  expect(sources?.filter((path) => !path.startsWith("dist/resources/extensions/"))).toEqual([]);
});

it("the SDK's declarations refer to each other only", async () => {
  const files = tarballs.find(({ name }) => name === "@lares/sdk")?.files ?? [];
  const declarations = files.filter((path) => path.endsWith(".d.ts"));
  expect(declarations).toEqual(
    expect.arrayContaining(["dist/types/index.d.ts", "dist/types/testing/index.d.ts"]),
  );
  for (const path of declarations) {
    const text = await readFile(join(installed["@lares/sdk"], path), "utf8");
    const targets = [...text.matchAll(/(?:from |import\()"([^"]+)"/g)].map(([, target = ""]) => target);
    for (const target of targets) {
      expect(target, path).toMatch(/^\.{1,2}\/.*\.js$/);
      const leads = join(path, "..", target).replaceAll("\\", "/").replace(/\.js$/, ".d.ts");
      expect(files, `${path} → ${target}`).toContain(leads);
    }
  }
});

it("an old Node gets its sentence from the installed executable", () => {
  const pretend = `Object.defineProperty(process, "versions", { value: { node: "18.19.0" } });`;
  const program = `${pretend} require(${JSON.stringify(executableOf(installed))});`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--eval", program], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^lares needs Node\.js 24 or newer; .*npm install -g node@24\n$/);
});
