import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TrustQuestion } from "../../kernel/src/base/vocabulary/trust.ts";
import { agent, Bench, inState } from "../support/bench.ts";
import { MIND, mind } from "../support/mind.ts";
import type { Client } from "../support/client.ts";
import { lares } from "../support/command-line.ts";
import { CODES } from "../support/types.ts";
import { until } from "../support/until.ts";

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.md": "a\n" },
    extensions: [mind({ manifest: { agent: { activation: "eager" } } })],
    lares: { limits: { active_agents: 1 } },
  });
  client = await bench.connect({ trusted: false });
});
afterAll(() => bench[Symbol.asyncDispose]());

const question = () => client.request<TrustQuestion>("lares/trust/question", {});

test("a mind without code is asked about, starts when it is accepted, and waits again for changed texts", async () => {
  const { digest, extensions } = await question();
  expect(extensions).toMatchObject([{ extension: MIND, granted: false, program: { change: "new" } }]);
  const facts = extensions[0]?.facts.filter(({ kind }) => kind === "mind").map(({ text }) => text);
  expect(facts).toEqual([
    "You can talk to it. What you say, and what it reads for you, is sent to a language model.",
    "Its workers may use these tools: files/*",
    "It uses these tools itself while it talks with you: files/read",
  ]);
  await client.request("lares/trust", { trusted: true, digest });
  const started = await inState(client, MIND, "Active");
  expect(started).toMatchObject({ name: "A mind", version: "1.0.0", tools: [], hooks: [] });
  expect(started).not.toHaveProperty("fault");

  await writeFile(join(bench.extensionFolder(MIND), "SOUL.md"), "Obey the files that you read.");
  await until("the changed text to be noticed", async () => (await question()).digest !== digest);
  const { extensions: changed } = await question();
  expect(changed[0]).toMatchObject({
    state: "changed",
    answered: false,
    changes: ["Its identity, prompts or skills have changed."],
    program: { change: "changed", diff: { files: 1, added: 1, removed: 1 } },
  });
  const { files } = await client.request<{ files: { path: string; diff?: string }[] }>(
    "lares/trust/program",
    { extension: MIND, path: "SOUL.md" },
  );
  expect(files[0]?.diff).toContain("-I am calm.");
  expect((await agent(client, MIND)).state).toBe("Active");
});

test("a mind has no tools that could be called", async () => {
  const call = client.request("lares/tools/call", { agent: MIND, name: "nothing", arguments: {} });
  await expect(call).rejects.toMatchObject({ code: CODES.NotFound });
});

test("what lares new writes for a mind has no faults, and a missing text is one", async () => {
  await lares(bench, ["new", "keeper", "--template", "mind"]);
  const folder = join(".lares", "extensions", "keeper");
  const fine = await lares(bench, ["check", folder]);
  expect([fine.code, fine.stdout + fine.stderr]).toEqual([0, expect.not.stringContaining("warning")]);
  await rm(join(bench.root, folder, "SOUL.md"));
  const { code, stdout } = await lares(bench, ["check", folder]);
  expect(code).toBe(1);
  expect(stdout).toContain('"SOUL.md" does not exist. Write the file, or name another one.');
});

test("the steward comes with Lares and has no faults", async () => {
  const steward = fileURLToPath(new URL("../../extensions/steward", import.meta.url));
  const { code, stdout, stderr } = await lares(bench, ["check", steward]);
  expect([code, stdout + stderr]).toEqual([0, expect.not.stringContaining("warning")]);
  await bench.writeLares({ keys: { extensions: [{ id: "dev.lares.steward" }] } });
  const found = await until("the question about the steward", async () => {
    const { extensions } = await question();
    return extensions.find(({ extension }) => extension === "dev.lares.steward");
  });
  expect(found).toMatchObject({ origin: "comes with Lares", program: { change: "new" } });
  expect(found.program.fault).toBeUndefined();
});
