import { createHash } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve, pick, preview, propose, tryToPropose, type EffectInput } from "../support/actions.ts";
import { ALL_PERMISSIONS, event, events, host, probe, type Outcome } from "../support/agents.ts";
import { Bench, inState, type BenchSpec } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Action } from "../support/types.ts";

const SEES = "test.sees"; // everything in the workspace that the index lists
const FILTER = "test.filter"; // *.md alone
const FOLDER = "test.folder"; // everything in open/ only
const BLIND = "test.blind"; // may propose and tag, but read nothing
const agents = [SEES, FILTER, FOLDER, BLIND];

const secret = "hunter2-17-bytes!";
const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const twins = { nfc: "caf\u00e9", nfd: "cafe\u0301" };
const write = (path: string, content: string): EffectInput => ({ kind: "file.write", path, content });
const move = (from: string, to: string): EffectInput => ({ kind: "file.move", from, to });
const about = { title: "A title", reason: "A reason" };

const { read_entries: _reading, ...withoutReading } = ALL_PERMISSIONS;
const extensions = [
  probe({ id: SEES }),
  probe({ id: FILTER, permissions: { ...ALL_PERMISSIONS, read_entries: { filter: "*.md" } } }),
  probe({ id: FOLDER, grants: { locations: ["open"] } }),
  probe({ id: BLIND, permissions: withoutReading }),
];
/** The most permissive policy that a person can set: what is asked in spite of it is always asked. */
const approvals = { auto_approve_below: 1, rules: [{ decide: "allow" }] };

const files = {
  ".gitignore": "ignored/\n*.key\n",
  "a.md": "visible\n",
  "open/b.md": "in the open\n",
  "open/c.txt": "plain\n",
};
const start = async (spec: BenchSpec): Promise<{ bench: Bench; client: Client }> => {
  const bench = await Bench.create({
    extensions,
    ...spec,
    lares: { approvals, index: { ignore: ["left-out/**"] }, ...spec.lares },
  });
  const client = await bench.open();
  await bench.ready(client);
  return { bench, client };
};

describe("a hidden file", () => {
  const hidden = {
    ".env": secret,
    ".ssh/id_ed25519": secret,
    "id.key": secret,
    "ignored/notes.md": secret,
    "left-out/notes.md": secret,
  };
  const paths = Object.keys(hidden);
  let bench: Bench;
  let client: Client;
  beforeAll(async () => {
    ({ bench, client } = await start({ files: { ...files, ...hidden } }));
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test.each(paths)("%s: a preview of a write there reveals no more than the proposal does", async (path) => {
    for (const agent of agents.filter((each) => each !== FOLDER)) {
      const told = await preview(client, agent, write(path, ""));
      expect(told.effects).toEqual([
        { kind: "file.write", path, before: null, after: null, summary: `Write ${path}` },
      ]);
    }
  });

  test.each(paths)(
    "%s: it is edited, deleted, moved and tagged as a file that does not exist",
    async (path) => {
      const absent = path.replace(/[^/.]+(?=\.|$)/, "nothing");
      const effects = (at: string): EffectInput[] => [
        { kind: "file.edit", path: at, edits: [{ find: "h", replace: "x" }] },
        { kind: "file.delete", path: at },
        { kind: "file.delete", path: at, expected: hashOf(secret) },
        move(at, "open/taken.md"),
        { kind: "tag.add", path: at, tag: "#t" },
        { kind: "field.set", path: at, namespace: "probe", key: "k", value: 1 },
        { kind: "sidecar.write", path: at, sidecar: "faces", data: {} },
      ];
      for (const agent of agents) {
        for (const [index, effect] of effects(path).entries()) {
          const other = effects(absent)[index] as EffectInput;
          const answers = await Promise.all([effect, other].map((each) => tryToPropose(client, agent, each)));
          const [there, missing] = answers.map((answer) => JSON.stringify(answer));
          expect(answers[0]?.error?.code).toMatch(/NotFound|PermissionDenied|ScopeViolation/);
          expect(there).toBe(missing?.replaceAll(absent, path));
        }
      }
    },
  );

  test("its bytes do not change the score of any guess", async () => {
    const guesses = ["", secret, secret.slice(0, 8), `${secret}x`, "z".repeat(17)];
    for (const agent of [SEES, FILTER, BLIND]) {
      for (const path of paths) {
        const scores = await Promise.all(
          guesses.map(async (guess) => {
            const there = await preview(client, agent, write(path, guess));
            const missing = await preview(client, agent, write(path.replace(/.md$|$/, "-missing$&"), guess));
            return [there.impact_score, missing.impact_score];
          }),
        );
        if (path === "id.key") continue; // "id.key-missing" does not match *.key, so it is visible
        for (const [there, missing] of scores) expect(there).toBe(missing);
      }
    }
  });

  test("`expected` is answered as if nothing existed, and the answer has no hash", async () => {
    for (const path of paths) {
      const wrong = await tryToPropose(client, SEES, { ...write(path, "x"), expected: hashOf("no") });
      const right = await tryToPropose(client, SEES, { ...write(path, "x"), expected: hashOf(secret) });
      expect(wrong.error?.code).toBe("Stale");
      expect(right.error?.message.replace(hashOf(secret), "")).toBe(
        wrong.error?.message.replace(hashOf("no"), ""),
      );
      const none = await tryToPropose(client, SEES, { ...write(path, "x"), expected: null });
      expect(none.value).toMatchObject({ state: "PendingApproval" });
    }
  });

  test("an approval is needed in spite of every rule, and the person sees what would be replaced", async () => {
    const told = await propose(client, SEES, write(".env", "replaced\n"));
    expect(told).toMatchObject({ state: "PendingApproval", effects: [{ before: null }] });
    const shown = await pick(client, told);
    expect(shown.effects[0]).toMatchObject({
      before: hashOf(secret),
      after: hashOf("replaced\n"),
      diff: expect.stringContaining(`-${secret}`) as string,
      summary: expect.stringContaining("The agent cannot see what this replaces") as string,
    });
    // By its name alone, ".env" scores as high as any protected path.
    expect(shown.impact_score).toBeGreaterThanOrEqual(told.impact_score);
    const plain = await propose(client, SEES, write("left-out/notes.md", "replaced\n"));
    expect((await pick(client, plain)).impact_score).toBeGreaterThan(plain.impact_score);
    await client.request("lares/actions/reject", { id: plain.id });
    expect((await approve(client, shown)).state).toBe("Committed");
    expect(await readFile(bench.path(".env"), "utf8")).toBe("replaced\n");
    const { value } = await host(client, SEES, "actions.get", told.id);
    expect((value as Action).effects[0]).not.toHaveProperty("diff");
    await client.request("lares/actions/undo", { id: told.id });
  });

  test("its change before an approval is not revealed by a later proposal or a person's rebase", async () => {
    const path = "left-out/notes.md";
    const endedByDrift = async (): Promise<Action> => {
      const told = await propose(client, SEES, write(path, "replaced\n"));
      await bench.write(path, `changed ${told.id}\n`);
      expect((await approve(client, told)).state).toBe("Stale");
      return told;
    };
    const toldOf = async ({ id }: Action): Promise<unknown> =>
      (await host(client, SEES, "actions.get", id)).value;
    const failed = await endedByDrift();
    const before = await toldOf(failed);
    expect(before).toMatchObject({ state: "Failed" });
    // To its agent the action is Failed, and a Failed action cannot be superseded.
    const anew = [write("open/other.md", "x")];
    const named = await host(client, SEES, "actions.propose", anew, about, { supersedes: failed.id });
    expect(named.error).toMatchObject({
      code: "IllegalTransition",
      message: expect.stringContaining("is Failed"),
    });
    await propose(client, SEES, write(path, "once more\n"));
    expect(await toldOf(failed)).toEqual(before);
    const other = await endedByDrift();
    expect(await client.raw("lares/actions/rebase", { id: other.id })).toMatchObject({ error: {} });
    expect(await toldOf(other)).toEqual({
      ...(before as Action),
      ...other,
      state: "Failed",
      error: (before as Action).error,
      decided_by: "user",
      decided: expect.any(String),
      ended: expect.any(String),
    });
    await bench.write(path, secret);
  });

  test("a copy of it does not lower the score of deleting what the agent sees", async () => {
    await bench.write("open/copy.md", secret);
    await bench.write("open/other.md", "n".repeat(17));
    const scoreOf = async (path: string): Promise<number> =>
      (await preview(client, FOLDER, { kind: "file.delete", path })).impact_score;
    expect(await scoreOf("open/copy.md")).toBe(await scoreOf("open/other.md"));
  });

  test("a move to a name that can be read does not make it readable", async () => {
    expect((await tryToPropose(client, SEES, move("id.key", "id.md"))).error?.code).toBe("NotFound");
    expect((await tryToPropose(client, FILTER, move("open/c.txt", "open/c.md"))).error?.code).toBe(
      "PermissionDenied",
    );
  });

  test("a folder that contains it is never moved automatically, and the person learns about it", async () => {
    await bench.write("mixed/shown.md", "shown\n");
    await bench.write("mixed/deep/x.key", secret);
    const told = await propose(client, SEES, move("mixed", "moved"));
    expect(told).toMatchObject({
      state: "PendingApproval",
      effects: [{ before: null, after: null, summary: "Move mixed to moved" }],
    });
    expect((await pick(client, told)).effects[0]?.summary).toContain("The agent cannot see 1 of");
  });
});

test("a .gitignore that is too large to be read hides everything in its folder", async () => {
  const { bench, client } = await start({
    files: {
      "a.md": "visible\n",
      "sub/.gitignore": `*.key\n${"# filler\n".repeat(30_000)}`,
      "sub/id.key": secret,
    },
    extensions: extensions.slice(0, 1),
  });
  await using _bench = bench;
  expect((await host(client, SEES, "vdfs.readText", "a.md")).value).toBe("visible\n");
  expect((await host(client, SEES, "vdfs.readText", "sub/id.key")).error?.code).toBe("NotFound");
  expect((await preview(client, SEES, write("sub/id.key", ""))).effects[0]?.before).toBeNull();
});

test("of a file that is hidden while its events wait, only the deletion is delivered", async () => {
  const other = "test.other";
  const hooks = ["EntryCreated", "EntryDeleted"].map((on) => ({ on, handler: "record" }));
  const { bench, client } = await start({
    files: { "a.md": "visible\n" },
    extensions: [probe({ id: SEES, hooks }), probe({ id: other, hooks })],
  });
  await using _bench = bench;
  const created = (agent: string, path: string) =>
    event(client, agent, path, ({ entry }) => (entry as { path: string } | undefined)?.path === path);
  await created(SEES, "a.md");
  await client.request("lares/agents/control", { id: SEES, command: "suspend" });
  await inState(client, SEES, "Suspended");
  await bench.write("plan.md", secret);
  await created(other, "plan.md");
  await bench.write(".gitignore", "plan.md\n");
  await event(client, other, "that it is gone", ({ path }) => path === "plan.md");
  await client.request("lares/agents/control", { id: SEES, command: "resume" });
  await bench.write("last.md", "visible\n");
  await created(SEES, "last.md");
  const heard = (await events(client, SEES)).filter((each) => JSON.stringify(each).includes("plan.md"));
  expect(heard.map(({ name }) => name)).toEqual(["EntryDeleted"]);
});

describe("two spellings of one name", () => {
  let bench: Bench;
  let client: Client;
  beforeAll(async () => {
    const scoped = "test.scoped";
    ({ bench, client } = await start({
      files: { [`${twins.nfc}/a.md`]: "granted\n", [`${twins.nfd}/a.md`]: "another's\n" },
      extensions: [
        probe({ id: scoped, grants: { locations: [twins.nfc] } }),
        ...extensions.filter(({ id }) => id === SEES),
      ],
      lares: { approvals: { auto_approve_below: 0 } },
    }));
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("a grant of one spelling opens only that one", async () => {
    const read = (path: string): Promise<Outcome> => host(client, "test.scoped", "vdfs.readText", path);
    expect((await read(`${twins.nfc}/a.md`)).value).toBe("granted\n");
    expect((await read(`${twins.nfd}/a.md`)).error?.code).toBe("ScopeViolation");
    await rename(bench.path(twins.nfc), bench.path("gone"));
    expect((await read(`${twins.nfc}/a.md`)).error?.code).toBe("NotFound");
    await rename(bench.path("gone"), bench.path(twins.nfc));
  });

  test('"always" for the one is not for the other', async () => {
    const first = await propose(client, SEES, write(`${twins.nfc}/a.md`, "1\n"));
    await approve(client, first, { remember: "always" });
    expect((await propose(client, SEES, write(`${twins.nfc}/a.md`, "2\n"))).state).toBe("Committed");
    expect((await propose(client, SEES, write(`${twins.nfd}/a.md`, "2\n"))).state).toBe("PendingApproval");
  });
});

test("deny private/** prevents moves of private and of its parent folder", async () => {
  const { bench, client } = await start({
    files: {
      "home/private/diary.md": "d\n",
      "private/diary.md": "d\n",
      "private/.env": secret,
      "x/.env": "s",
    },
    extensions: extensions.slice(0, 1),
    lares: {
      approvals: {
        auto_approve_below: 1,
        rules: [
          { decide: "allow" },
          { decide: "deny", path: "private/**" },
          { decide: "deny", path: "home/private/**" },
          { decide: "deny", path: "**/.env" },
        ],
      },
    },
  });
  await using _bench = bench;
  for (const [from, to] of [
    ["private/diary.md", "d.md"],
    ["private", "p"],
    ["home/private", "p"],
    ["home", "h"],
    ["x", "private/x"],
  ] as const) {
    expect([from, (await propose(client, SEES, move(from, to))).state]).toEqual([from, "Rejected"]);
  }
  // The rule applies to what the agent cannot see; only the person is told about it.
  const asked = await propose(client, SEES, move("x", "y"));
  expect(asked.state).toBe("PendingApproval");
  expect(await approve(client, asked)).toMatchObject({
    state: "Failed",
    error: expect.stringContaining("A rule denies file.move of x → y, which reaches x/.env") as string,
  });
  const { value } = await host(client, SEES, "actions.get", asked.id);
  expect(value).toMatchObject({ state: "Failed", error: "It could not be applied." });
});

describe("two workspaces that differ only in what an agent cannot see", () => {
  /** For each agent: files that exist in one workspace only, or with different content. */
  const worlds = {
    [SEES]: [
      {
        ".env": secret,
        "ignored/notes.md": secret,
        "open/.hidden/deep.md": secret,
        "x.key": secret,
        ".file": "f",
      },
      {
        ".env": "other",
        "open/x.key": "k",
        "left-out/a/b.md": "l",
        ".file/inner": "a folder",
        ".dir": "file",
      },
    ],
    [FILTER]: [
      {
        "c.txt": secret,
        "open/d.txt": secret,
        "folder.txt/deep.txt": "d",
        plain: "a file",
        "away/x.txt": "x",
      },
      { "c.txt": "other", "folder.txt": "a file", "plain/deep.txt": "d" },
    ],
    [FOLDER]: [
      { "a.md": "1", "else/copy.md": "in the open\n", "open/.env": "x" },
      { "a.md": "longer than the other", "closed/y.md": "y" },
    ],
    [BLIND]: [
      { "a.md": "1", "open/b.md": "2", "dir/c": "c", ".env": "x" },
      { "a.md": "3 and more", dir: "a file", "open/q/r": "r" },
    ],
  } as const satisfies Record<string, readonly [Record<string, string>, Record<string, string>]>;
  const common = {
    ".gitignore": files[".gitignore"],
    "open/seen.md": "in the open\n",
    "open/seen2.md": "s\n",
    "left-out/c.md": "c",
  };

  const paths = `
    open/seen.md open/seen2.md open/new.md new/deep/n.md a.md open/b.md open . new .env ignored
    ignored/notes.md open/.hidden open/.hidden/deep.md x.key open/x.key .file .file/inner .dir
    .dir/new.md left-out/a/b.md c.txt open/d.txt folder.txt folder.txt/deep.txt folder.txt/new.md
    plain plain/new.md plain/deep.txt away/new.md else/copy.md else closed/y.md dir dir/c
    dir/new.md open/q/r.md open/.env
  `;
  const path = fc.constantFrom(...paths.trim().split(/\s+/));
  const text = fc.constantFrom("", "other", secret, "1", "3 and more", "in the open\n");
  const expected = fc.option(fc.constantFrom(null, hashOf(secret), hashOf("other"), hashOf("1")), {
    nil: undefined,
  });
  const withExpected = (effect: EffectInput, hash: string | null | undefined): EffectInput =>
    hash === undefined ? effect : { ...effect, expected: hash };
  const effect: fc.Arbitrary<EffectInput> = fc.oneof(
    fc.tuple(path, text, expected).map(([at, content, hash]) => withExpected(write(at, content), hash)),
    fc.tuple(path, expected).map(([at, hash]) => withExpected({ kind: "file.delete", path: at }, hash)),
    fc.tuple(path, path).map(([from, to]) => move(from, to)),
    path.map((at) => ({ kind: "folder.create", path: at })),
    path.map((at) => ({ kind: "tag.add", path: at, tag: "#t" })),
    path.map((at) => ({ kind: "tag.remove", path: at, tag: "#t" })),
    path.map((at) => ({ kind: "field.set", path: at, namespace: "probe", key: "k", value: 1 })),
    path.map((at) => ({ kind: "sidecar.write", path: at, sidecar: "faces", data: { n: 1 } })),
    fc.tuple(path, text).map(([at, find]) => ({
      kind: "file.edit",
      path: at,
      edits: [{ find: find === "" ? "e" : find, replace: "E", all: true }],
    })),
  );
  type Call = readonly [method: string, ...parameters: unknown[]];
  const effects = fc.array(effect, { minLength: 1, maxLength: 3 });
  const call: fc.Arbitrary<Call> = fc.oneof(
    { weight: 5, arbitrary: effects.map((some): Call => ["actions.preview", some, about]) },
    { weight: 4, arbitrary: effects.map((some): Call => ["actions.propose", some, about]) },
    fc.constant<Call>(["vdfs.query", { limit: 1000 }]),
    fc.constant<Call>(["vdfs.count", {}]),
    path.map((at): Call => ["vdfs.get", at]),
    path.map((at): Call => ["vdfs.readText", at]),
    path.map((at): Call => ["vdfs.sidecar.read", at, "faces"]),
    text.map((content): Call => ["vdfs.copies", hashOf(content)]),
    fc.nat(5).map((which): Call => ["actions.get", which]),
  );

  /** What differs between any two runs: ids, digests that contain them, and times. */
  const told = (answer: unknown): unknown =>
    JSON.parse(
      JSON.stringify(answer, (key: string, value: unknown) =>
        /^(?:id|digest|created|modified|finished|decided|ended)$/.test(key) ? `<${key}>` : value,
      ).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>"),
    );

  test.each(agents)(
    "%s gets the same answers to any calls in both",
    async (agent) => {
      const spec = { extensions: extensions.filter(({ id }) => id === agent) };
      const [one, other] = worlds[agent as keyof typeof worlds];
      const benches = await Promise.all(
        [one, other].map((hidden) => start({ ...spec, files: { ...common, ...hidden } })),
      );
      try {
        await fc.assert(
          fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
            const answers = await Promise.all(
              benches.map(async ({ client }) => {
                const ids: string[] = [];
                const heard: unknown[] = [];
                for (const [method, ...parameters] of calls) {
                  const last = parameters[0];
                  const given =
                    method === "actions.get"
                      ? [ids[Number(last) % Math.max(1, ids.length)] ?? "none"]
                      : parameters;
                  const answer = await host(client, agent, method, ...given);
                  if (method === "actions.propose" && answer.value !== undefined)
                    ids.push((answer.value as Action).id);
                  heard.push([method, ...parameters, told(answer)]);
                }
                return heard;
              }),
            );
            expect(answers[1]).toEqual(answers[0]);
          }),
          {
            numRuns: Number(process.env["LARES_ROUNDS"] ?? 40),
            seed: Number(process.env["LARES_SEED"] ?? 1),
          },
        );
      } finally {
        for (const { bench } of benches) await bench[Symbol.asyncDispose]();
      }
    },
    300_000,
  );
});
