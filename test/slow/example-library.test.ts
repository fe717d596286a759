/** Runs `examples/library/` as `npm start` does, and tries what examples/README.md says of it. */
import { cp, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PlaceAnswer } from "../../extensions/photos/answers.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { lares } from "../support/command-line.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const checkout = fileURLToPath(new URL("../../", import.meta.url));
const agents = ["filetypes", "heartbeat", "notes", "photos", "safety", "steward", "storage"];

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create();
  await cp(join(checkout, "examples/library"), bench.root, { recursive: true });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const actions = (query: object): Promise<Action[]> =>
  client.request<Action[]>("lares/actions/list", { limit: 100, ...query });
const proposal = (title: RegExp): Promise<Action> =>
  until(`a proposal ${title}`, async () =>
    (await actions({ state: "PendingApproval" })).find((action) => title.test(action.title)),
  );
const approve = ({ id, digest }: Action): Promise<Action> =>
  client.request<Action>("lares/actions/approve", { id, digest });

test("a run to the end enables seven agents, archives copies in the inbox, and leaves the rest to a person", async () => {
  const ended = await lares(bench, [
    "run",
    join(checkout, "examples/library"),
    "--trust",
    "--once",
    "--approve",
    "policy",
  ]);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  for (const agent of agents) expect(ended.stdout).toContain(` dev.lares.${agent} `);
  expect(ended.stdout).toContain("✓ done  Archive 1 extra copy of lavender.jpg (26 KB)  dev.lares.storage");
  expect(ended.stdout).toContain("✓ done  Note time and place of 17 photos  dev.lares.photos");
  expect(ended.stdout).toContain("Give roof.md the heading “Roof”");
  expect(ended.stdout).toMatch(/\n7 agents, \d+ events, \d+ actions, 0 refusals\n$/);
});

test("Photos finds places, and makes an album that a person approves", async () => {
  const places = await until("places", async () => {
    const found = await tool<PlaceAnswer[]>(client, "dev.lares.photos", "places");
    return found[0]?.photos === 4 && found;
  });
  expect(places[0]).toMatchObject({ name: "Rome", country: "IT" });
  const album = await tool<{ action: string }>(client, "dev.lares.photos", "create_album", {
    name: "Rome",
    place: "Rome",
  });
  const page = await client.request<Action>("lares/actions/get", { id: album.action });
  expect(await approve(page)).toMatchObject({ state: "Committed" });
  expect(await readFile(bench.path("albums/Rome.album.md"), "utf8")).toContain("tiber-morning.jpg");
});

test("Notes knows links and tasks, gives the note without a heading one, and repairs links", async () => {
  const notes = "dev.lares.notes";
  expect(await tool(client, notes, "links", { path: "notes/roof.md" })).toMatchObject({
    links: ["notes/reading-list.md"],
  });
  expect(await tool(client, notes, "tasks")).toMatchObject({ total: 5 });
  expect(await tool(client, notes, "tags")).toEqual([{ tag: "house", count: 1, notes: ["notes/roof.md"] }]);
  expect(await approve(await proposal(/heading “Roof”/))).toMatchObject({ state: "Committed" });
  expect(await readFile(bench.path("notes/roof.md"), "utf8")).toMatch(/^# Roof\n\nThe gutter/);
  await rename(bench.path("notes/reading-list.md"), bench.path("notes/books.md"));
  await approve(await proposal(/^Repair links in 1 note/));
  expect(await readFile(bench.path("notes/roof.md"), "utf8")).toContain("[[books]]");
});

test("Heartbeat finds nothing wrong, and Safety has the rule of the example", async () => {
  expect(await tool(client, "dev.lares.heartbeat", "health")).toEqual([]);
  const { rules, problems } = await tool<{ rules: { reason: string }[]; problems: string[] }>(
    client,
    "dev.lares.safety",
    "rules",
  );
  expect(problems).toEqual([]);
  expect(rules.map(({ reason }) => reason)).toContain("Papers of the house are kept as they are.");
});
