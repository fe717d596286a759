import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const executable = fileURLToPath(new URL("../../../bin/lares.js", import.meta.url));
let base = "";
let child: ChildProcess | null = null;
let output = "";

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "lares-run-")));
  output = "";
});
afterEach(async () => {
  if (child?.exitCode === null) child.kill("SIGKILL");
  await rm(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const workspace = (path: string): string => join(base, "workspace", path);

async function manifest(permissions: string): Promise<void> {
  await writeFile(
    workspace("seer/extension.yaml"),
    `extension:
  id: test.seer
  name: Seer
  version: 1.0.0
  permissions: ${permissions}
  hooks: [{ on: EntryCreated, filter: entry.extension == "md", handler: seen }]
`,
  );
}

/** Saves as many editors do: beside, then over the old. */
async function program(version: string, more = ""): Promise<void> {
  const text = `import { defineAgent } from "@lares/sdk";
export default defineAgent({
  hooks: { async seen({ entry }, ctx) { ctx.trace.info("${version} sees " + entry.name); } },
});
${more}`;
  await writeFile(workspace("seer/agent.ts.new"), text);
  await rename(workspace("seer/agent.ts.new"), workspace("seer/agent.ts"));
}

function says(text: string): Promise<void> {
  return vi.waitFor(() => expect(output).toContain(text), { timeout: 20_000, interval: 20 });
}

it("run --watch accepts a changed program when it is saved, keeps the old one if it is broken, and asks for wider requests", async () => {
  await mkdir(workspace("seer"), { recursive: true });
  await writeFile(
    workspace("lares.yaml"),
    'version: 1\nextensions: [{ path: seer, grants: { locations: ["."] } }]\n',
  );
  await manifest("{ read_entries: true }");
  await program("v1");
  child = spawn(process.execPath, [executable, "run", workspace("."), "--trust", "--watch"], {
    env: {
      ...process.env,
      LARES_HOME: join(base, "home"),
      XDG_CONFIG_HOME: join(base, "configuration"),
      LARES_KERNEL_LINGER: "0s",
      NO_COLOR: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child?.once("exit", resolve));
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += String(text)));
  await writeFile(workspace("a.md"), "a");
  await says("v1 sees a.md");

  await program("v2");
  await says("accepted the changed program of test.seer (--watch)");
  await writeFile(workspace("b.md"), "b");
  await says("v2 sees b.md");

  await program("v3", "const = broken;");
  await says("agent.ts:5:");
  await writeFile(workspace("c.md"), "c");
  await says("v2 sees c.md");

  await manifest("{ read_entries: true, propose_actions: [file.delete] }");
  await program("v4");
  await says(
    'waits for your consent, and has no effect until then: Seer (test.seer, from this workspace\'s seer) asks to see and read files (read_entries); to propose changes: "file.delete" (propose_actions)',
  );
  await writeFile(workspace("d.md"), "d");
  await says("v2 sees d.md");
  expect(output.split("accepted the changed program")).toHaveLength(2);

  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});
