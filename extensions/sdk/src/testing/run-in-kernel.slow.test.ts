import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runInKernel } from "./index.ts";

let base = "";

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "lares-sdk-")));
});
afterEach(() => rm(base, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), text);
}

async function extension(program: string): Promise<string> {
  await write(
    "extension/extension.yaml",
    `extension:
  id: test.marker
  name: Marker
  version: 1.0.0
  permissions: { read_entries: true, write_tags: true, propose_actions: [file.write] }
  tools:
    - { name: mark, description: Marks, handler: mark }
    - { name: fail, description: Fails, handler: fail }
`,
  );
  await write("extension/agent.ts", program);
  return join(base, "extension");
}

const program = `import { defineAgent } from "@lares/sdk";
export default defineAgent({ tools: {
  async mark(_, ctx) {
    const effect = { kind: "file.write", path: "mark.md", content: ctx.config.text };
    return (await ctx.actions.propose([effect], { title: "Mark", reason: "asked" })).state;
  },
  async fail() { throw new Error("as told"); },
} });
`;

it("works in a copy with only the granted permissions; the folder is not changed", async () => {
  await write(
    "w/lares.yaml",
    "version: 1\nextensions: [{ id: dev.lares.filetypes, grants: { locations: ['.'] } }]\n",
  );
  await write(
    "w/.lares/extensions/other/extension.yaml",
    "extension: { id: test.other, name: Other, version: 1.0.0 }\n",
  );
  await write("w/a.md", "a");
  const before = await readdir(join(base, "w"), { recursive: true });
  let copy = "";
  {
    await using kernel = await runInKernel(await extension(program), join(base, "w"), {
      grants: { locations: ["."], deny: ["write_tags"] },
      config: { text: "marked" },
    });
    copy = kernel.workspace;
    expect(await kernel.status()).toMatchObject({ trusted: true, agents: 1, index: { entries: 1 } });
    expect((await kernel.agent()).permissions).toEqual(["read_entries", "propose_actions"]);
    expect(await kernel.call("mark")).toBe("PendingApproval");
    const [action] = await kernel.actions();
    await kernel.approve(action?.id ?? "");
    expect(await kernel.read("mark.md")).toBe("marked");
    await expect(kernel.call("fail")).rejects.toMatchObject({
      code: "ToolError",
      message: expect.stringContaining("as told") as string,
    });
    await expect(kernel.read("../extension/agent.ts")).rejects.toThrow("is not a path in the workspace");
    await expect(kernel.write("/etc/x", "")).rejects.toThrow("is not a path in the workspace");
    await expect(kernel.waitFor(() => false, { timeoutMs: 100 })).rejects.toThrow("Not true within 100 ms");
  }
  expect(await readdir(join(base, "w"), { recursive: true })).toEqual(before);
  await expect(stat(copy)).rejects.toThrow("ENOENT");
});

it("in place works in the folder itself; a program that does not load shows in the agent", async () => {
  await write("w/a.md", "a");
  const broken = await extension(program.replace("export default", "const x = ; export default"));
  {
    await using kernel = await runInKernel(broken, join(base, "w"), { inPlace: true });
    expect(kernel.workspace).toBe(join(base, "w"));
    expect(await kernel.agent()).toMatchObject({
      state: "Error",
      error: expect.stringContaining("agent.ts:2:") as string,
    });
    await expect(kernel.call("mark")).rejects.toMatchObject({ code: "AgentError" });
    await kernel.write("b.md", "b");
    await kernel.idle();
    expect((await kernel.status()).index.entries).toBe(2);
  }
  expect(await readdir(join(base, "w"))).toEqual(["a.md", "b.md"]);
  expect(await readFile(join(base, "w/b.md"), "utf8")).toBe("b");
});

it("names what is missing: a folder, a manifest", async () => {
  await mkdir(join(base, "w"));
  await expect(runInKernel(join(base, "none"), join(base, "w"))).rejects.toThrow("is not a folder");
  await expect(runInKernel(join(base, "w"), join(base, "w"))).rejects.toThrow("There is no extension.yaml");
});
