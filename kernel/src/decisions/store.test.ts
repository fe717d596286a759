import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { JsonObject } from "../base/json.ts";
import { behaviourCharactersKept } from "./file-format.ts";
import { DecisionStore } from "./store.ts";
import type { Answer } from "./parts.ts";
import {
  describeRequests,
  covered,
  isCovered,
  nothingRequested,
  type RequestedPermissions,
} from "./requested-permissions.ts";

const digest = `sha256:${"a".repeat(64)}` as const;
const otherDigest = `sha256:${"b".repeat(64)}` as const;
const requests: RequestedPermissions = {
  ...nothingRequested,
  autoApproveBelow: 0.4,
  limits: { max_memory_mb: 600 },
};

const yes = (granted: RequestedPermissions): Answer => ({ granted, withheld: null });

function fileStore(text: string | null = null) {
  const file = { text, setAside: 0, failure: null as Error | null };
  const open = async (): Promise<DecisionStore> => {
    const store = new DecisionStore({
      clock: new ManualClock(),
      log: silentLog,
      read: async () => file.text,
      write: async (next) => {
        if (file.failure !== null) throw file.failure;
        file.text = next;
      },
      setAside: async () => {
        file.setAside += 1;
        file.text = null;
        return "aside";
      },
      parse: (content) => parse(content),
      stringify: (value) => stringify(value),
      ruleLines: (content) =>
        content.split("\n").flatMap((line, index) => (/^ *- decide:/.test(line) ? [index + 1] : [])),
      digest: (content) => String(content.length),
    });
    await store.load();
    return store;
  };
  return { file, open };
}

it("the next kernel has the accepted and remembered decisions", async () => {
  const { open } = fileStore();
  const first = await open();
  await first.accept(digest, yes(requests));
  await first.remember([{ decide: "allow", kind: "file.move", path: "a.txt" }]);
  const second = await open();
  expect(second.isAccepted(digest)).toBe(true);
  expect(second.accepted).toEqual(requests);
  expect(second.rules).toEqual([{ decide: "allow", kind: "file.move", path: "a.txt" }]);
});

it("a rule is remembered once", async () => {
  const { open } = fileStore();
  const store = await open();
  await store.remember([{ decide: "allow", path: "a" }]);
  await store.remember([{ decide: "allow", path: "a" }]);
  expect(store.rules).toHaveLength(1);
});

it("two concurrent writes are both in the file", async () => {
  const { open } = fileStore();
  const store = await open();
  await Promise.all([store.accept(digest, yes(requests)), store.remember([{ decide: "allow", path: "a" }])]);
  const again = await open();
  expect(again.isAccepted(digest)).toBe(true);
  expect(again.rules).toHaveLength(1);
});

it("revoking removes every acceptance, and keeps the rules", async () => {
  const { open } = fileStore();
  const store = await open();
  await store.accept(digest, yes(requests));
  await store.remember([{ decide: "allow", path: "a" }]);
  await store.revoke();
  const again = await open();
  expect(again.isAccepted(digest)).toBe(false);
  expect(again.accepted).toEqual(nothingRequested);
  expect(again.rules).toHaveLength(1);
});

describe("an invalid file is renamed, and nothing in it applies", () => {
  const check = (name: string, text: string): void =>
    it(name, async () => {
      const { file, open } = fileStore(text);
      const store = await open();
      expect(file.setAside).toBe(1);
      expect(store.isAccepted(digest)).toBe(false);
      expect(store.rules).toEqual([]);
    });
  check("nothing in it", "");
  check("no YAML", "trust: [");
  check("another version", "version: 2");
  check("a list instead of a document", "[1, 2]");
  check("an acceptance without requests", `version: 1\ntrust: [{ digest: "${digest}" }]`);
  check("a rule with an unknown decision", "version: 1\nrules: [{ decide: maybe }]");
});

it("a person's edit applies when the file is read again", async () => {
  const { file, open } = fileStore();
  const store = await open();
  await store.remember([{ decide: "allow", path: "a" }]);
  file.text = stringify({ version: 1, trust: [], current: null, rules: [{ decide: "deny", path: "**" }] });
  await store.load();
  expect(store.rules).toEqual([{ decide: "deny", path: "**" }]);
});

it("a text that was read before a decision was written does not make the store forget it", async () => {
  const { file, open } = fileStore();
  const store = await open();
  await store.remember([{ decide: "allow", path: "a" }]);
  const read = file.text;
  const writing = store.remember([{ decide: "deny", path: "b" }]);
  const loading = store.load(read);
  await Promise.all([writing, loading]);
  await store.load(read);
  expect(store.rules).toHaveLength(2);
  await store.remember([{ decide: "deny", path: "c" }]);
  expect((await open()).rules).toHaveLength(3);
});

describe("a decision right after an edit by hand", () => {
  const edited = stringify({ version: 1, trust: [], current: null, rules: [{ decide: "deny", path: "**" }] });

  it("is added to the edit", async () => {
    const { file, open } = fileStore();
    const store = await open();
    await store.remember([{ decide: "allow", path: "a" }]);
    file.text = edited;
    await store.remember([{ decide: "allow", path: "b" }]);
    const rules = [
      { decide: "deny", path: "**" },
      { decide: "allow", path: "b" },
    ];
    expect(store.rules).toEqual(rules);
    expect((await open()).rules).toEqual(rules);
  });

  it("replaces it if the edit is not valid", async () => {
    const { file, open } = fileStore();
    const store = await open();
    file.text = "rules: [";
    await store.remember([{ decide: "allow", path: "b" }]);
    expect((await open()).rules).toEqual([{ decide: "allow", path: "b" }]);
  });
});

describe("if the file cannot be written", () => {
  const full = new Error("no space is left");
  const check = (
    name: string,
    act: (store: DecisionStore) => Promise<void>,
    see: (store: DecisionStore) => void,
  ): void =>
    it(name, async () => {
      const { file, open } = fileStore();
      const store = await open();
      await store.accept(digest, yes(requests));
      file.failure = full;
      await expect(act(store)).rejects.toThrow("no space is left");
      see(store);
      // The second attempt fails too.
      await expect(act(store)).rejects.toThrow("no space is left");
      // With free space again, it continues from the decided state.
      file.failure = null;
      await store.remember([{ decide: "deny", path: "b" }]);
      see(store);
      see(await open());
    });
  const other = `sha256:${"b".repeat(64)}` as const;
  check(
    "an acceptance does not apply",
    (store) => store.accept(other, yes({ ...requests, autoApproveBelow: 1 })),
    (store) => expect([store.isAccepted(other), store.accepted]).toEqual([false, requests]),
  );
  check(
    "a rule does not apply",
    (store) => store.remember([{ decide: "allow", path: "a" }]),
    (store) => expect(store.rules.filter(({ decide }) => decide === "allow")).toEqual([]),
  );
  check(
    "a revocation applies nevertheless",
    (store) => store.revoke(),
    (store) => expect([store.isAccepted(digest), store.accepted]).toEqual([false, nothingRequested]),
  );
});

const stranger = (settings: JsonObject): RequestedPermissions => ({
  ...nothingRequested,
  extensions: {
    "dev.x": {
      name: "X",
      origin: "here",
      program: digest,
      permissions: {},
      locations: [],
      behaviour: { hooks: [], tools: [], models: [], hosts: [], caps: { max_memory_mb: 1 }, settings },
      behaviourDigest: digest,
      carries: [{ path: "a.json", bytes: 1 }],
    },
  },
});

it("an extension's behaviour is stored with the acceptance, so that the next kernel can describe changes", async () => {
  const { open } = fileStore();
  const config = { text: "- a: 'b'\n", list: [1, null, { deep: true }] };
  await (await open()).accept(digest, yes(stranger({ config })));
  const { accepted } = await open();
  expect(isCovered(stranger({ config }), accepted)).toBe(true);
  expect(describeRequests(stranger({ config: { ...config, text: "c" } }), accepted).join("\n")).toContain(
    String.raw`dev.x changed: config, text: "- a: 'b'\n" → "c"`,
  );
});

it("a long behaviour is stored as its digest: the same one is covered, a different one is asked", async () => {
  const { open, file } = fileStore();
  const long = stranger({ config: { text: "x".repeat(behaviourCharactersKept) } });
  await (await open()).accept(digest, yes(long));
  expect(file.text?.length).toBeLessThan(10_000);
  const { accepted } = await open();
  expect(isCovered(long, accepted)).toBe(true);
  const { "dev.x": request } = long.extensions;
  const other = { ...long, extensions: { "dev.x": { ...request!, behaviourDigest: otherDigest } } };
  expect(isCovered(other, accepted)).toBe(false);
  expect(describeRequests(other, accepted).join("\n")).toContain("it was too long to be stored");
});

it("a file of an earlier version is read; its acceptances cover no extension, which is asked once more", async () => {
  const { open, file } = fileStore();
  file.text = stringify({
    version: 1,
    current: digest,
    trust: [
      {
        digest,
        accepted: "2026-01-01T00:00:00.000Z",
        wishes: {
          extensions: {
            "dev.x": { name: "X", origin: "here", program: digest, permissions: {}, locations: [] },
          },
          allowRules: [],
          autoApproveBelow: 0,
          limits: {},
          showsHidden: false,
          namespaces: [{ name: "team", extensions: null, writable: false, workspace: "./vendor" }],
          restraints: [],
        },
      },
    ],
    rules: [{ decide: "allow", path: "a" }],
  });
  const store = await open();
  expect(file.setAside).toBe(0);
  expect(store.rules).toHaveLength(1);
  expect(isCovered(stranger({}), store.accepted)).toBe(false);
  expect(covered(stranger({}), store.accepted).extensions).toEqual({});
  const team = { name: "team", extensions: null, writable: false, workspace: "./vendor", realPath: "/b" };
  expect(isCovered({ ...nothingRequested, namespaces: [team] }, store.accepted)).toBe(false);
});

describe("an answer that withholds something", () => {
  const answer: Answer = {
    granted: requests,
    withheld: { ...nothingRequested, showsHidden: true, extensions: stranger({}).extensions },
  };

  it("is known to the next kernel: answered, and not accepted", async () => {
    const { open } = fileStore();
    await (await open()).accept(digest, answer);
    const store = await open();
    expect([store.isAnswered(digest), store.isAccepted(digest)]).toEqual([true, false]);
    expect(store.accepted.showsHidden).toBe(false);
    expect(store.answered).toMatchObject({ showsHidden: true, autoApproveBelow: 0.4 });
    expect([...store.declined]).toEqual(["dev.x"]);
  });

  it("ends every earlier acceptance: an older version of the documents grants nothing", async () => {
    const { open } = fileStore();
    const store = await open();
    await store.accept(otherDigest, yes({ ...requests, showsHidden: true }));
    await store.accept(digest, answer);
    expect(store.isAccepted(otherDigest)).toBe(false);
    expect(store.isAnswered(otherDigest)).toBe(false);
  });
});
