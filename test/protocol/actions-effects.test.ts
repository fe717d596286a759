import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, stat, symlink, utimes } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  approve,
  pick,
  preview,
  propose,
  snapshot,
  tryToPropose,
  undo,
  type EffectInput,
} from "../support/actions.ts";
import { call, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { CODES, type Action, type Entry } from "../support/types.ts";

const PROBE = "test.probe";
const hash = (bytes: string | Uint8Array): string =>
  `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const TEXT = "one\ntwo\nthree\ntwo\n";
const ABSENT = Symbol("absent");

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({ files: { "seed.txt": "seed\n" }, extensions: [probe({ id: PROBE })] });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

beforeEach(async () => {
  await bench.write("text.txt", TEXT);
  await bench.write("other.txt", "other\n");
  await bench.write("folder/inner.txt", "inner\n");
  await chmod(bench.path("text.txt"), 0o750);
  await utimes(
    bench.path("text.txt"),
    new Date("2001-02-03T04:05:06Z"),
    new Date("2001-02-03T04:05:06.789Z"),
  );
});

const content = async (path: string): Promise<string | symbol> => {
  try {
    return await readFile(bench.path(path), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ABSENT;
    throw error;
  }
};

/** The effect, what the action says about it, and the files after its approval. */
const fileEffects: [
  string,
  EffectInput[],
  Partial<Action["effects"][0]>[],
  Record<string, string | symbol>,
][] = [
  [
    "file.write over a file",
    [{ kind: "file.write", path: "text.txt", content: "new\n" }],
    [
      {
        path: "text.txt",
        before: hash(TEXT),
        after: hash("new\n"),
        diff: expect.stringContaining("-one\n") as string,
      },
    ],
    { "text.txt": "new\n" },
  ],
  [
    "file.write with the expected hash",
    [{ kind: "file.write", path: "text.txt", content: "new\n", expected: hash(TEXT) }],
    [{ before: hash(TEXT) }],
    { "text.txt": "new\n" },
  ],
  [
    "file.write of a new file in a new folder",
    [{ kind: "file.write", path: "deep/er/new.txt", content: "ü\n", expected: null }],
    [{ before: null, after: hash("ü\n"), diff: expect.stringContaining("+ü") as string }],
    { "deep/er/new.txt": "ü\n" },
  ],
  [
    "file.write in base64",
    [{ kind: "file.write", path: "bytes.bin", content_base64: Buffer.of(0, 255, 1).toString("base64") }],
    [{ before: null, after: hash(Buffer.of(0, 255, 1)) }],
    {},
  ],
  [
    "file.edit",
    [
      {
        kind: "file.edit",
        path: "text.txt",
        edits: [
          { find: "one", replace: "1" },
          { find: "two", replace: "2", all: true },
        ],
      },
    ],
    [
      {
        before: hash(TEXT),
        after: hash("1\n2\nthree\n2\n"),
        diff: expect.stringContaining("+2\n") as string,
      },
    ],
    { "text.txt": "1\n2\nthree\n2\n" },
  ],
  [
    "file.move",
    [{ kind: "file.move", from: "text.txt", to: "folder/moved.txt" }],
    [{ from: "text.txt", path: "folder/moved.txt" }],
    { "text.txt": ABSENT, "folder/moved.txt": TEXT },
  ],
  [
    "file.delete",
    [{ kind: "file.delete", path: "text.txt" }],
    [{ before: hash(TEXT), after: null }],
    { "text.txt": ABSENT },
  ],
  [
    "several effects, one upon another",
    [
      { kind: "folder.create", path: "made" },
      { kind: "file.write", path: "made/a.txt", content: "a\n" },
      { kind: "file.move", from: "other.txt", to: "made/other.txt" },
      { kind: "file.delete", path: "folder/inner.txt" },
      { kind: "file.edit", path: "text.txt", edits: [{ find: "three", replace: "3" }] },
    ],
    [{}, {}, {}, {}, {}],
    {
      "made/a.txt": "a\n",
      "made/other.txt": "other\n",
      "other.txt": ABSENT,
      "folder/inner.txt": ABSENT,
      "text.txt": "one\ntwo\n3\ntwo\n",
    },
  ],
];

describe("file effects", () => {
  test.each(fileEffects)("%s: preview, propose, approve, undo", async (_name, effects, described, after) => {
    const before = await snapshot(bench.root);
    const listed = (await client.request<Action[]>("lares/actions/list", {})).length;

    const shown = await preview(client, PROBE, ...effects);
    expect(shown.effects).toHaveLength(effects.length);
    await expect(pick(client, shown)).rejects.toMatchObject({ code: CODES.NotFound });
    expect(await client.request("lares/actions/list", {})).toHaveLength(listed);

    const proposed = await propose(client, PROBE, ...effects);
    expect(proposed).toMatchObject({
      agent: PROBE,
      title: "A title",
      reason: "A reason",
      state: "PendingApproval",
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      created: expect.stringMatching(/Z$/),
    });
    expect(proposed.impact_score).toBeGreaterThan(0);
    expect(proposed.impact_score).toBeLessThanOrEqual(1);
    const kinds = effects.map(({ kind }) => kind);
    expect((await pick(client, proposed)).effects).toMatchObject(
      described.map((each, index) => ({ summary: expect.stringMatching(/./), kind: kinds[index], ...each })),
    );
    expect(await snapshot(bench.root)).toEqual(before); // nothing changes before the approval

    const done = await approve(client, proposed);
    expect(done).toMatchObject({
      state: "Committed",
      decided_by: "user",
      receipt: { applied: effects.map((_each, index) => index), finished: expect.stringMatching(/Z$/) },
    });
    for (const [path, expected] of Object.entries(after)) expect(await content(path), path).toBe(expected);

    expect(await undo(client, proposed)).toMatchObject({ id: proposed.id, state: "Undone" });
    expect(await snapshot(bench.root)).toEqual(before);
  });

  test("folder.create creates the folder, its undo removes it", async () => {
    const proposed = await propose(client, PROBE, { kind: "folder.create", path: "fresh" });
    expect(proposed.state).toBe("PendingApproval");
    await approve(client, proposed);
    expect((await stat(bench.path("fresh"))).isDirectory()).toBe(true);
    await undo(client, proposed);
    await expect(stat(bench.path("fresh"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a write keeps the file's mode", async () => {
    const proposed = await propose(client, PROBE, { kind: "file.write", path: "text.txt", content: "x" });
    await approve(client, proposed);
    expect((await stat(bench.path("text.txt"))).mode & 0o777).toBe(0o750);
    await undo(client, proposed);
  });

  test("text over 256 KiB and binary contents have no diff", async () => {
    const large = "line of text\n".repeat(25_000);
    const { effects } = await preview(
      client,
      PROBE,
      { kind: "file.write", path: "large.txt", content: large },
      { kind: "file.write", path: "bytes.bin", content_base64: Buffer.of(0, 1, 255).toString("base64") },
    );
    for (const effect of effects) expect(effect.diff).toBeUndefined();
  });
});

describe("metadata effects are committed by the policy without asking, and undone", () => {
  const entry = () => call<Entry>(client, PROBE, "vdfs.get", "seed.txt");
  const table: [string, EffectInput, (now: Entry) => Promise<void> | void][] = [
    ["tag.add", { kind: "tag.add", path: "seed.txt", tag: "#t" }, (now) => expect(now.tags).toEqual(["#t"])],
    [
      "field.set",
      { kind: "field.set", path: "seed.txt", namespace: "probe", key: "k", value: { deep: [1] } },
      (now) => expect(now.fields).toEqual({ probe: { k: { deep: [1] } } }),
    ],
    [
      "sidecar.write",
      { kind: "sidecar.write", path: "seed.txt", sidecar: "faces", data: { n: 1 } },
      async (now) => {
        expect(now.sidecars).toEqual(["faces"]);
        const sidecar = await call(client, PROBE, "vdfs.sidecar.read", "seed.txt", "faces");
        expect(JSON.stringify(sidecar)).toContain('"n":1');
      },
    ],
  ];
  test.each(table)("%s", async (_name, effect, check) => {
    const before = await snapshot(bench.root);
    const { tags, fields, sidecars } = await entry();
    const proposed = await propose(client, PROBE, effect);
    const done = await call<Action>(client, PROBE, "actions.settled", proposed.id);
    expect(done).toMatchObject({ state: "Committed", decided_by: "policy", receipt: { applied: [0] } });
    await check(await entry());
    expect(await undo(client, done)).toMatchObject({ state: "Undone" });
    expect(await entry()).toMatchObject({ tags, fields, sidecars });
    expect(await snapshot(bench.root)).toEqual(before);
  });

  test("tag.remove removes the tag, and its undo restores it", async () => {
    await call(client, PROBE, "vdfs.tags.add", "seed.txt", "#gone");
    const removed = await propose(client, PROBE, { kind: "tag.remove", path: "seed.txt", tag: "#gone" });
    await call(client, PROBE, "actions.settled", removed.id);
    expect((await entry()).tags).toEqual([]);
    await undo(client, removed);
    expect((await entry()).tags).toEqual(["#gone"]);
  });

  test("they need their own permission: another namespace or sidecar kind is denied", async () => {
    const refused: EffectInput[] = [
      { kind: "field.set", path: "seed.txt", namespace: "foreign", key: "k", value: 1 },
      { kind: "sidecar.write", path: "seed.txt", sidecar: "scene", data: {} },
    ];
    for (const effect of refused) {
      expect(await tryToPropose(client, PROBE, effect)).toMatchObject({
        error: { code: "PermissionDenied" },
      });
    }
  });
});

describe("impossible effects are refused at once, and nothing is stored", () => {
  const outside = (path: string): [string, EffectInput, string] => [
    `a path that leaves: ${path}`,
    { kind: "file.write", path, content: "x" },
    "ScopeViolation",
  ];
  const table: [string, EffectInput, string | RegExp][] = [
    ["find is absent", { kind: "file.edit", path: "text.txt", edits: [{ find: "four", replace: "4" }] }, /./],
    [
      "find is ambiguous",
      { kind: "file.edit", path: "text.txt", edits: [{ find: "two", replace: "2" }] },
      /./,
    ],
    [
      "an edit of no file",
      { kind: "file.edit", path: "none.txt", edits: [{ find: "a", replace: "b" }] },
      /./,
    ],
    ["a move onto a file", { kind: "file.move", from: "text.txt", to: "other.txt" }, /./],
    ["a move of nothing", { kind: "file.move", from: "none.txt", to: "x.txt" }, /./],
    ["a delete of nothing", { kind: "file.delete", path: "none.txt" }, /./],
    [
      "expected null, but it exists",
      { kind: "file.write", path: "text.txt", content: "x", expected: null },
      /./,
    ],
    [
      "expected another hash",
      { kind: "file.write", path: "text.txt", content: "x", expected: hash("?") },
      /./,
    ],
    ["an unknown kind", { kind: "file.explode", path: "text.txt" }, /./],
    ["neither content nor base64", { kind: "file.write", path: "text.txt" }, /./],
    outside("../outside.txt"),
    outside("folder/../../outside.txt"),
    outside("/etc/hostname"),
    outside("C:\\x.txt"),
    outside("\\\\server\\share\\x"),
    outside("folder\\..\\..\\x.txt"),
    outside("way-out/x.txt"),
    ["a move that leaves", { kind: "file.move", from: "text.txt", to: "../text.txt" }, "ScopeViolation"],
    ["a move from outside", { kind: "file.move", from: "../x.txt", to: "x.txt" }, "ScopeViolation"],
    [
      "into .git",
      { kind: "file.write", path: ".git/hooks/pre-commit", content: "x" },
      /PermissionDenied|ScopeViolation/,
    ],
    [
      "into .GIT",
      { kind: "file.write", path: ".GIT/config", content: "x" },
      /PermissionDenied|ScopeViolation/,
    ],
    [
      "into a nested .git",
      { kind: "file.write", path: "sub/.git/config", content: "x" },
      /PermissionDenied|ScopeViolation/,
    ],
  ];
  beforeAll(async () => {
    await mkdir(bench.path("../outside"));
    await symlink(bench.path("../outside"), bench.path("way-out"));
  });

  test.each(table)("%s", async (_name, effect, code) => {
    const before = await snapshot(bench.root);
    const listed = await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
    const { error, value } = await tryToPropose(client, PROBE, effect);
    expect({ code: error?.code, value }).toEqual({ code: expect.stringMatching(code), value: undefined });
    expect(error?.message).toMatch(/\w+ \w+/);
    expect(await client.request("lares/actions/list", { state: "PendingApproval" })).toEqual(listed);
    expect(await snapshot(bench.root)).toEqual(before);
  });
});
