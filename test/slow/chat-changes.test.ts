import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import { approve } from "../support/actions.ts";
import { Bench } from "../support/bench.ts";
import { hasTerminals, lares, TerminalRun } from "../support/command-line.ts";
import { HostileMind, type WireAnswer } from "../support/hostile-mind.ts";
import { noModels } from "../support/no-models.ts";
import { until } from "../support/until.ts";

const edits = (path: string, find: string, replace: string): WireAnswer => ({
  calls: [{ name: "files_edit", given: { path, edits: [{ find, replace }], reason: "asked" } }],
});

test("a change that was made without a question is shown, told, and what /undo reverts", async () => {
  // A scripted model would not do: what it says is approved each time.
  await using mind = await HostileMind.open({
    files: { "p2.md": "alpha\n\nbetween\n\ngamma\n", "p3.md": "beta\n" },
  });
  const { bench, client } = mind;
  const environment = { ...noModels, XDG_CONFIG_HOME: join(bench.base, "config") };
  const text = (name: string): string => readFileSync(join(bench.root, name), "utf8");
  const waiting = (): Promise<Action> =>
    until("a proposal", async () => {
      const [first] = await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
      return first === undefined ? null : await client.request<Action>("lares/actions/get", { id: first.id });
    });

  const id = await mind.attack([edits("p2.md", "alpha", "ALPHA")]);
  const asked = await waiting();
  await approve(client, asked, { remember: "always", rules: asked.scopes?.[0]?.rules });
  await until("the first edit", () => text("p2.md").startsWith("ALPHA"));
  await mind.rested(id);
  await mind.next(id, [edits("p3.md", "beta", "BETA")]);
  await approve(client, await waiting());
  await until("the second edit", () => text("p3.md") === "BETA\n");
  await mind.rested(id);
  await mind.next(id, [edits("p2.md", "gamma", "GAMMA")]);
  await until("the edit that the rule allows", () => text("p2.md").includes("GAMMA"));
  await mind.rested(id);

  if (hasTerminals) {
    using run = new TerminalRun(bench, ["chat", "--resume", id.slice(-8)], {
      columns: 100,
      rows: 50,
      environment,
    });
    await run.sees(/✓ done {2}Edit p3\.md[^]*✓ done {2}Edit p2\.md[^\n]*decided automatically/);
    run.type("/undo\r");
    await run.sees(/undone {2}Edit p2\.md/);
    run.type("\u0004");
  } else await lares(bench, ["chat", "--resume", id.slice(-8)], environment, "/undo\n");
  expect([text("p2.md"), text("p3.md")]).toEqual(["ALPHA\n\nbetween\n\ngamma\n", "BETA\n"]);
  const older = await lares(bench, ["chat", "--resume", id.slice(-8)], environment, "/undo\n");
  expect(older.stderr).toContain("Undone: Edit p3.md");

  const told = "changed without asking, as you decided before: p2.md";
  mind.steps.set("channel", [edits("p2.md", "between", "BETWEEN")]);
  expect((await lares(bench, ["ask", "edit it"], environment)).stderr).toContain(told);
  mind.steps.set("channel", [edits("p2.md", "gamma", "GAMMA")]);
  const lines = await lares(bench, ["chat"], environment, "edit it\n/undo\n");
  expect(lines.stderr).toContain(told);
  expect(lines.stderr).toContain("Undone: Edit p2.md");
  expect(text("p2.md")).toBe("ALPHA\n\nBETWEEN\n\ngamma\n");
});

const edit = (task: string, find: string, replace: string): string =>
  `{ process: worker, when: "${task}", call: [{ tool: files/edit, arguments: { path: n3.md, edits: [{ find: "${find}", replace: "${replace}" }], reason: asked } }] }`;
const worker = (task: string): string =>
  `{ tool: spawn_worker, arguments: { task: "${task}", kind: editor } }`;

const SCRIPT = `
turns:
  - { process: channel, when: two at once, call: [${worker("edit one")}, ${worker("edit three")}] }
  - ${edit("edit one", "one", "ONE")}
  - ${edit("edit three", "three", "THREE")}
  - { process: worker, when: "was not made", say: "It went stale.", repeat: true }
  - { process: worker, when: Committed, say: "That edit is in.", repeat: true }
  - { process: channel, when: That edit is in, say: "A worker is done.", repeat: true }
  - { process: channel, when: It went stale, say: "A worker was late.", repeat: true }
  - { process: channel, when: process, say: "A worker works.", repeat: true }
`;

describe.skipIf(!hasTerminals)("two workers of a conversation", () => {
  test("edit one file: both cards wait, and what the first one overtook is rebased and approved", async () => {
    await using bench = await Bench.create();
    const folder = join(bench.base, "notes");
    await mkdir(folder);
    await writeFile(join(folder, "n3.md"), "one\n\ntwo\n\nthree\n");
    const script = join(bench.base, "script.yaml");
    await writeFile(script, SCRIPT);
    const text = (): string => readFileSync(join(folder, "n3.md"), "utf8");
    using run = new TerminalRun(bench, ["chat", "--folder", folder, "--rehearse", script], {
      columns: 100,
      rows: 60,
    });
    const approveOne = async (): Promise<void> => {
      await run.sees(/Tab comes here, then/);
      run.type("\t");
      await run.sees(/▌ a approve/);
      run.type("a");
    };
    await run.shows(/Use it in this folder\? \[a allow, r reject\]/);
    run.type("y\r");
    await run.sees(/Write to Steward/);
    run.type("two at once\r");
    await run.sees(/2 decisions wait for you/);
    await approveOne();
    await run.sees(/done {2}Edit n3\.md/);
    await run.sees(/out of date {2}Edit n3\.md[^]*f rebases it/);
    expect(["ONE\n\ntwo\n\nthree\n", "one\n\ntwo\n\nTHREE\n"]).toContain(text());
    // The worker was told.
    await run.sees(/A worker was late/);
    run.type("\t");
    await run.sees(/f rebase on the new text/);
    run.type("f");
    await approveOne();
    await until("both edits", () => text() === "ONE\n\ntwo\n\nTHREE\n");
    run.type("\u0004");
  });
});
