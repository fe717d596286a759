import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import { describe, expect, it } from "vitest";
import { extensionOf, sdkFolder } from "../guest/testing/run-guest.ts";
import { Bundler, type BundleError, type BundleResult } from "./bundle.ts";
import { packageEntry, sourceCondition } from "./package-exports.ts";

const agent = `import { defineAgent } from "@lares/sdk";\nexport default defineAgent({});\n`;

async function bundle(
  files: Record<string, string>,
  links: Record<string, string> = {},
): Promise<BundleResult> {
  await using extension = await extensionOf(files);
  for (const [name, target] of Object.entries(links)) {
    await mkdir(dirname(join(extension.folder, name)), { recursive: true });
    await symlink(target, join(extension.folder, name));
  }
  return await new Bundler(sdkFolder).bundle(extension.folder, "agent.ts");
}

async function errorsOf(
  files: Record<string, string>,
  links?: Record<string, string>,
): Promise<readonly BundleError[]> {
  const result = await bundle(files, links);
  return result.ok ? [] : result.errors;
}

async function codeOf(files: Record<string, string>, links?: Record<string, string>): Promise<string> {
  const result = await bundle(files, links);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return new TextDecoder().decode(result.program.bytes);
}

describe("what goes in", () => {
  it("takes the extension's files, its own packages, JSON and text, each listed with its hash", async () => {
    const result = await bundle({
      "agent.ts": `${agent}import a from "./a.js"; import b from "./dir"; import data from "./data.json"; import text from "./note.txt";
        import { thing } from "thing"; import deep from "@scope/pkg/deep"; console.log(a, b, data, text, thing, deep);`,
      "a.ts": "export default 'from a.ts';",
      "dir/index.tsx": "export default 'from index';",
      "data.json": `{"key": "from json"}`,
      "note.txt": "from text",
      "unused.ts": "export default 'unused';",
      "tsconfig.json": `{"extends": "/etc/passwd", "compilerOptions": {"paths": {"*": ["/etc/*"]}}}`,
      "node_modules/thing/package.json": `{"main": "lib.js", "browser": {"./lib.js": "../../../etc/passwd"}}`,
      "node_modules/thing/lib.js": "exports.thing = 'from a package';",
      "node_modules/@scope/pkg/package.json": `{"exports": {"./*": {"node": "./node.js", "import": "./src/*.mjs"}}}`,
      "node_modules/@scope/pkg/src/deep.mjs": "export default 'from exports';",
    });
    if (!result.ok) throw new Error(JSON.stringify(result.errors));
    const code = new TextDecoder().decode(result.program.bytes);
    for (const text of ["a.ts", "index", "json", "text", "a package", "exports"])
      expect(code).toContain(`from ${text}`);
    expect(code).not.toContain("unused");
    expect(result.program.inputs.map(({ path }) => path)).toEqual([
      "a.ts",
      "agent.ts",
      "data.json",
      "dir/index.tsx",
      "node_modules/@scope/pkg/package.json",
      "node_modules/@scope/pkg/src/deep.mjs",
      "node_modules/thing/lib.js",
      "node_modules/thing/package.json",
      "note.txt",
    ]);
  });

  it("gives the same program and inputs in any folder, and a different program when a file changes", async () => {
    const files = {
      "agent.ts": `${agent}import "./lib/b.ts"; import "./lib/a.ts";`,
      "lib/a.ts": "console.log('a');",
      "lib/b.ts": "console.log('b');",
    };
    await using one = await extensionOf(files);
    const other = await mkdtemp(join(tmpdir(), "lares-other-"));
    try {
      await cp(one.folder, join(other, "deeper", "down"), { recursive: true });
      const [first, second] = await Promise.all(
        [one.folder, join(other, "deeper", "down")].map((folder) =>
          new Bundler(sdkFolder).bundle(folder, "agent.ts"),
        ),
      );
      expect(first).toEqual(second);
      await writeFile(join(one.folder, "lib/a.ts"), "console.log('changed');");
      const changed = await new Bundler(sdkFolder).bundle(one.folder, "agent.ts");
      expect(changed.ok && first?.ok && changed.program.digest !== first.program.digest).toBe(true);
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  });

  it("follows links that stay inside", async () => {
    const files = {
      "agent.ts": `${agent}import "./alias.ts"; import "./folder/b.ts";`,
      "real/a.ts": "console.log('a');",
      "real/b.ts": "console.log('b');",
    };
    const code = await codeOf(files, { "alias.ts": "real/a.ts", folder: "real" });
    expect(code).toContain('console.log("a")');
    expect(code).toContain('console.log("b")');
  });
});

describe("what is refused, naming the file that imports it", () => {
  const importing: [name: string, statement: string, column: number, message: string][] = [
    ["a Node module by its address", `import fs from "node:fs";`, 16, "Node.js modules do not exist"],
    ["a Node module by its name", `import fs from "fs";`, 16, "Node.js modules do not exist"],
    [
      "a package that is not its own",
      `import lodash from "lodash";`,
      20,
      "neither a file of the extension nor a package",
    ],
    ["a path above the folder", `import "../../secret.json";`, 8, "outside the extension's folder"],
    [
      "a path that goes up and comes back",
      `import "./lib/../../../x/agent.ts";`,
      8,
      "outside the extension's folder",
    ],
    ["an absolute path", `import "/etc/passwd";`, 8, "absolute paths are outside the extension"],
    [
      "an absolute path of Windows",
      `import "C:\\\\secret.ts";`,
      8,
      "absolute paths are outside the extension",
    ],
    ["a file address", `import "file:///etc/passwd";`, 8, "programs cannot load code from a URL"],
    ["an address", `import "https://example.com/x.js";`, 8, "programs cannot load code from a URL"],
    ["an inline address", `import "data:text/javascript,1";`, 8, "programs cannot load code from a URL"],
    [
      "by require",
      `const x = require("../../secret.json"); console.log(x);`,
      19,
      "outside the extension's folder",
    ],
    [
      "by a dynamic import",
      `const x = import("../../secret.json"); console.log(x);`,
      18,
      "outside the extension's folder",
    ],
    ["by re-export", `export * from "../../secret.json";`, 15, "outside the extension's folder"],
    ["a link that leads outside", `import "./link.ts";`, 8, "leads out of the extension's folder"],
    ["through a linked folder", `import "./linked/passwd";`, 8, "leads out of the extension's folder"],
    ["through a linked package", `import "linked-package";`, 8, "leads out of the extension's folder"],
    ["an own import map", `import "#internal";`, 8, "import a file by its path"],
    ["a file that is not there", `import "./missing.ts";`, 8, "no such file"],
    ["the SDK's part for tests", `import "@lares/sdk/testing";`, 8, "for tests"],
    ["a part the SDK has not", `import "@lares/sdk/src/guest/host.ts";`, 8, "no such part"],
  ];
  it.each(importing)("%s", async (_name, statement, column, message) => {
    const errors = await errorsOf(
      { "agent.ts": `${agent}import "./lib/helper.ts";`, "lib/helper.ts": `// first line\n${statement}` },
      { "lib/link.ts": "/etc/passwd", "lib/linked": "/etc", "node_modules/linked-package": "/etc" },
    );
    expect(errors).toEqual([
      { file: "lib/helper.ts", line: 2, column, message: expect.stringContaining(message) as string },
    ]);
  });

  it("a file of an unsupported kind, and one that does not parse", async () => {
    const errors = await errorsOf({
      "agent.ts": `${agent}import "./style.css"; import "./broken.ts"; import "./bad.json";`,
      "style.css": "body { background: url(/etc/passwd) }",
      "broken.ts": 'const text = "äö"; const = 1;',
      "bad.json": "{\n  bad\n}",
    });
    expect(errors.map(({ file, line, column }) => `${file}:${line}:${column}`).toSorted()).toEqual([
      "agent.ts:3:8",
      "bad.json:2:3",
      "broken.ts:1:26",
    ]);
    expect(errors.map(({ message }) => message).join()).toContain('ending ".css"');
  });

  it("a main that is missing, leads outside, or an extension that is not there", async () => {
    expect(await errorsOf({ "other.ts": "" })).toEqual([
      { file: "agent.ts", line: 1, column: 1, message: expect.stringContaining("no such file") as string },
    ]);
    expect(await errorsOf({ "other.ts": "" }, { "agent.ts": "/etc/passwd" })).toEqual([
      { file: "agent.ts", line: 1, column: 1, message: expect.stringContaining("leads out") as string },
    ]);
    const result = await new Bundler(sdkFolder).bundle("/nonexistent/lares", "agent.ts");
    expect(result.ok ? [] : result.errors[0]?.message).toContain("/nonexistent/lares");
  });
});

it("a source map holds the author's code alone, and nothing of the SDK is taken for it", async () => {
  const result = await bundle({ "agent.ts": `${agent}console.log(1);` });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  const { bytes, sourceMap } = result.program;
  expect((JSON.parse(sourceMap) as { sources: string[] }).sources).toEqual(["program:agent.ts"]);
  const map = new TraceMap(sourceMap);
  const found = new TextDecoder()
    .decode(bytes)
    .split("\n")
    .flatMap((line, at) => {
      const { line: source } = originalPositionFor(map, { line: at + 1, column: line.length });
      return source === null ? [] : [line.trim()];
    });
  // Before them stand the module's exports, which the bundler writes for the author's file.
  expect(found.slice(-2)).toEqual(["var agent_default = defineAgent({});", "console.log(1);"]);
  expect(found.length).toBeLessThan(10);
});

it("reads no source map that a file names, not even an inline one", async () => {
  await using outside = await extensionOf({
    "x.map": `{"version":3,"sources":["spoofed.ts"],"names":[],"mappings":"AAAA"}`,
  });
  const path = join(outside.folder, "x.map");
  const inline = `data:application/json;base64,${btoa(await readFile(path, "utf8"))}`;
  for (const url of [path, `file://${path}`, relative(tmpdir(), path), inline]) {
    const result = await bundle({ "agent.ts": `${agent}console.log(1);\n//# sourceMappingURL=${url}` });
    if (!result.ok) throw new Error(JSON.stringify(result.errors));
    const sources = (JSON.parse(result.program.sourceMap) as { sources: string[] }).sources;
    expect(sources).toContain("program:agent.ts");
    expect(sources.join()).not.toContain("spoofed");
  }
});

describe("bounds", () => {
  it("refuses a file over 2 MiB, more than 2,000 files, and a program over 8 MiB", async () => {
    const big = (size: number): string => `console.log("${"x".repeat(size)}");`;
    const [tooBig] = await errorsOf({
      "agent.ts": `${agent}import "./big.ts";`,
      "big.ts": big(2 * 1024 * 1024),
    });
    expect(tooBig).toMatchObject({ file: "agent.ts", message: expect.stringContaining("2097152") as string });
    const many = Object.fromEntries(
      Array.from({ length: 2001 }, (_, i) => [`f${i}.ts`, `export const x = ${i};`]),
    );
    const imports = Object.keys(many).map((name) => `import "./${name}";`);
    const tooMany = await errorsOf({ "agent.ts": agent + imports.join("\n"), ...many });
    expect(tooMany[0]?.message).toContain("more than 2000 files");
    const five = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [`${name}.ts`, big(1_900_000)]));
    const [tooLarge] = await errorsOf({
      "agent.ts":
        agent +
        Object.keys(five)
          .map((name) => `import "./${name}";`)
          .join(""),
      ...five,
    });
    expect(tooLarge?.message).toMatch(/bytes when bundled; at most 8388608/);
  });
});

describe("a package's entry", () => {
  const check = (manifest: unknown, subpath: string, entry: string | undefined): void => {
    it(`${JSON.stringify(manifest)} gives ${String(entry)} for ${subpath}`, () =>
      expect(packageEntry(manifest, subpath)).toBe(entry));
  };
  check({}, ".", "./index");
  check({ main: "a.js", module: "b.js" }, ".", "b.js");
  check({ main: "a.js" }, "./sub/x", "./sub/x");
  check({ exports: "./a.js" }, ".", "./a.js");
  check({ exports: "./a.js" }, "./b.js", undefined);
  check({ exports: { import: "./a.mjs", require: "./a.cjs" } }, ".", "./a.mjs");
  check({ exports: { ".": { node: "./node.js", default: { import: ["./a.mjs"] } } } }, ".", "./a.mjs");
  check(
    { exports: { "./*": "./src/*.js", "./deep/*": "./deep/*.js", "./deep/no": null } },
    "./deep/x",
    "./deep/x.js",
  );
  check({ exports: { "./*": "./src/*.js", "./deep/no": null } }, "./deep/no", undefined);
  check({ exports: { "./*": "./src/*.js" } }, "__proto__", undefined);

  it("is a source file only for the SDK beside the kernel, never for an extension's package", () => {
    const manifest = { exports: { ".": { "lares-source": "./src/a.ts", default: "./dist/a.js" } } };
    expect(packageEntry(manifest, ".")).toBe("./dist/a.js");
    expect(packageEntry(manifest, ".", [sourceCondition])).toBe("./src/a.ts");
  });
});
