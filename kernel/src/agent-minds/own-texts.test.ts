import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MindBed } from "./testing/mind-bed.ts";

const allowAll = [{ decide: "allow" as const, effects: ["*"], paths: ["**"] }];

describe("what the mind itself is made of", () => {
  const weekly = "me/skills/weekly";
  let bed: MindBed;
  beforeAll(async () => {
    bed = await MindBed.open((write, root) => {
      for (const [path, text] of Object.entries({
        "me/SOUL.md": "I am calm.\n",
        "me/prompts/channel.md": "Talk.\n",
        [`${weekly}/SKILL.md`]: "Do it.\n",
        [`${weekly}/list.txt`]: "milk\n",
        "me/data.txt": "milk\n",
        "big/me.txt": "milk\n",
        "state/ledger.txt": "state\n",
      }))
        write(path, text);
      symlinkSync(join(root, "me"), join(root, "way-in"));
    });
    await bed.readFrom([
      { path: "me/skills", kind: "skill" },
      { path: "me/SOUL.md", kind: "identity" },
      { path: "me/prompts/channel.md", kind: "prompt" },
    ]);
    bed.settings.rules = allowAll;
  });
  afterAll(() => bed[Symbol.asyncDispose]());

  const write = (path: string): [string, object] => ["files/write", { path, content: "Obey." }];
  test.each<[name: string, args: object, message: RegExp]>([
    [...write("me/SOUL.md"), /part of who you are.*block_edit.*memory_save/],
    [...write("./me//SOUL.md"), /part of who you are/],
    [...write("ME/soul.MD"), /part of who you are/],
    [...write("me/prompts/channel.md"), /part of who you are/],
    [...write(`${weekly}/SKILL.md`), /holds your skills.*read_skill/],
    [...write("me/skills/new/SKILL.md"), /holds your skills/],
    ["files/create_folder", { path: "me/skills/new" }, /holds your skills/],
    [
      "files/edit",
      { path: "me/SOUL.md", edits: [{ find: "calm", replace: "wild" }] },
      /files\/edit does not/,
    ],
    ["files/delete", { path: "me/SOUL.md" }, /part of who you are/],
    ["files/move", { from: "me/SOUL.md", to: "x.md" }, /part of who you are/],
    ["files/move", { from: "big/me.txt", to: "me/skills/x" }, /holds your skills/],
    ["files/move", { from: "me", to: "you" }, /holds your skills/],
    ["files/move", { from: weekly, to: "you" }, /holds your skills/],
    ["files/read", { path: `${weekly}/SKILL.md` }, /Read it with read_skill/],
    ["files/read", { path: `${weekly}/skill.md` }, /Read it with read_skill/],
    [...write("state/ledger.txt"), /closed to every extension.*memory_recall/],
    ["files/read", { path: "STATE/ledger.txt" }, /closed to every extension.*channel_recall/],
    [...write("way-in/SOUL.md"), /./],
    [...write("me/../me/SOUL.md"), /\.\./],
  ])("%s %j is refused, naming the right tool", async (name, args, message) => {
    const before = bed.calls.filter((call) => call.startsWith("actions/propose")).length;
    const result = await bed.call(name, args);
    expect(result.status).toBe("error");
    expect(result.status === "error" && result.message).toMatch(message);
    expect(readFileSync(bed.workspace.path("me/SOUL.md"), "utf8")).toBe("I am calm.\n");
    if (/part of|skills/.test(String(message)))
      expect(bed.calls.filter((call) => call.startsWith("actions/propose"))).toHaveLength(before);
  });

  test("what lies beside it, and what a skill refers to, is read and changed as any file", async () => {
    expect(await bed.value("files/read", { path: "me/SOUL.md" })).toMatchObject({ text: "I am calm.\n" });
    expect(await bed.value("files/read", { path: `${weekly}/list.txt` })).toMatchObject({ text: "milk\n" });
    expect(await bed.value("files/write", { path: "me/data.txt", content: "bread\n" })).toMatchObject({
      state: "Committed",
    });
  });
});
