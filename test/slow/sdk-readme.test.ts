import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const top = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(top, "extensions/sdk/README.md"), "utf8");
const examples = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);

/** What the text around an example says of its names. */
const given = {
  entry: 'import("@lares/sdk").Entry',
  event: 'import("@lares/sdk").HookEvent',
  text: "string",
  name: "string",
  path: "string",
  note: "string",
  notes: "string[]",
  pixels: "Float32Array",
  embedding: "Float32Array",
  other: "Float32Array",
  expect: "(value: unknown) => { toBe(other: unknown): void }",
};

/** Returns an example as a whole module: parts of an agent in an agent, statements in a function with a context. */
function moduleOf(code: string): string {
  if (code.includes("export default"))
    return code.includes("import ") ? code : `import { defineAgent } from "@lares/sdk";\n${code}`;
  if (/^(hooks|jobs|tools|tasks|actions): \{/.test(code))
    return `import { defineAgent } from "@lares/sdk";\nexport default defineAgent<any>({\n${code}});\n`;
  const lines = code.split("\n");
  const imports = lines.filter((line) => line.startsWith("import "));
  const context = code.includes("const ctx =") ? "" : 'ctx: import("@lares/sdk").ToolContext<any>';
  return [
    ...imports,
    ...Object.entries(given)
      .filter(([each]) => !new RegExp(`const \\{?[^=]*\\b${each}\\b[^=]*=`).test(code))
      .map(([each, type]) => `declare const ${each}: ${type};`),
    `export async function example(${context}): Promise<void> {`,
    ...lines.filter((line) => !line.startsWith("import ")),
    "}",
  ].join("\n");
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lares-readme-"));
  await mkdir(join(folder, "node_modules/@lares"), { recursive: true });
  await symlink(join(top, "extensions/sdk"), join(folder, "node_modules/@lares/sdk"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: "es2024",
        lib: ["es2024", "esnext.disposable"],
        module: "nodenext",
        customConditions: ["lares-source"],
        types: [],
        skipLibCheck: true,
        allowImportingTsExtensions: true,
      },
      include: ["*.ts"],
    }),
  );
  for (const [index, code] of examples.entries())
    await writeFile(join(folder, index === 0 ? "agent.ts" : `example-${index + 1}.ts`), moduleOf(code));
});
afterAll(() => rm(folder, { recursive: true }));

test("every example in the SDK's README is accepted by the compiler, as its reader's would be", async () => {
  expect(examples.length).toBeGreaterThan(10);
  const compiler = join(top, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [compiler, "-p", folder, "--pretty", "false"], {
    cwd: folder,
  }).catch((error: unknown) => error as { stdout: string });
  // The SDK's own sources are checked with the checkout's stricter settings.
  expect(stdout.split("\n").filter((line) => /^(agent|example-\d+)\.ts/.test(line))).toEqual([]);
});

test("the first example is an agent that does what its own test in the README expects", async () => {
  const ownTest = examples.find((code) => code.includes('from "./agent.ts"')) ?? "";
  await writeFile(
    join(folder, "run.ts"),
    [
      'import { strictEqual } from "node:assert/strict";',
      "const expect = (value: unknown) => ({ toBe: (other: unknown) => strictEqual(value, other) });",
      'const event: any = { entry: { path: "notes/a.md", name: "a.md" } };',
      ownTest,
      "console.log(JSON.stringify(ctx.recorded.actions));",
    ].join("\n"),
  );
  const { stdout } = await run(
    process.execPath,
    ["--conditions=lares-source", "--preserve-symlinks-main", "run.ts"],
    { cwd: folder },
  );
  expect(JSON.parse(stdout)).toMatchObject([
    { effects: [{ kind: "file.write", path: "notes/a.md", content: "# a.md\n\ntext" }] },
  ]);
});
