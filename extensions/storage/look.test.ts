import { describe, expect, it } from "vitest";
import type { Hash } from "@lares/sdk";
import type { Context } from "./context.ts";
import { lookAgain, lookAtAll, lookAtFile, lookAtLargeWithout } from "./look.ts";
import { nothingYet, type Remembered } from "./memory.ts";
import { proposeFor, refreshOpen } from "./proposals.ts";

interface File {
  id: string;
  path: string;
  size: number;
  modified: string;
  /** Null: not hashed yet; a function: the result of the next query. */
  content_id: string | null | (() => string | null);
}
interface Proposed {
  id: string;
  state: string;
  title: string;
  reason: string;
  moves: [from: string, to: string][];
}

/** A workspace in memory, as far as this extension queries it. */
class World {
  readonly files = new Map<string, File>();
  readonly proposed: Proposed[] = [];
  readonly notices: string[] = [];
  readonly traces: string[] = [];
  readonly calls: { tool: string; paths: string[] }[] = [];
  /** The tool of the photos agent. */
  photos: (paths: string[]) => unknown = () => [];
  memory: Remembered = nothingYet();
  refusal: string | null = null;
  config: Record<string, unknown> = { large_bytes: 1000 };

  add(path: string, content_id: File["content_id"], size = 10, modified = "2026-05-01T00:00:00.000Z"): void {
    this.files.set(path, { id: `id of ${path}`, path, size, modified, content_id });
  }

  moves(): [string, string][] {
    return this.proposed.flatMap(({ moves }) => moves);
  }

  context(): Context {
    const entryOf = (file: File) => ({
      ...file,
      kind: "file",
      content_id: typeof file.content_id === "function" ? file.content_id() : file.content_id,
    });
    const context = {
      config: this.config,
      signal: new AbortController().signal,
      tools: {
        call: async (tool: string, args: { paths: string[] }) => {
          this.calls.push({ tool, paths: args.paths });
          return this.photos(args.paths);
        },
      },
      vdfs: {
        // Two per page, so that every test includes paging.
        query: async ({ cursor = "0" }: { cursor?: string }) => {
          const all = [...this.files.values()];
          const start = Number(cursor);
          const items = all.slice(start, start + 2).map(entryOf);
          return start + 2 < all.length ? { items, cursor: String(start + 2) } : { items };
        },
        get: async (path: string) => {
          const file = this.files.get(path);
          return file === undefined ? null : entryOf(file);
        },
        copies: async (content: string) => {
          const paths = [...this.files.values()].filter((file) => entryOf(file).content_id === content);
          return { count: paths.length, paths: paths.map(({ path }) => path) };
        },
      },
      memory: {
        plan: {
          read: async () => structuredClone(this.memory),
          update: async (change: (now: Remembered) => Remembered) => {
            this.memory = change(structuredClone(this.memory));
            return structuredClone(this.memory);
          },
        },
      },
      actions: {
        propose: async (
          effects: { from: string; to: string }[],
          { title, reason }: Record<"title" | "reason", string>,
        ) => {
          if (this.refusal !== null) throw Object.assign(new Error("refused"), { code: this.refusal });
          const action = {
            id: `action ${this.proposed.length + 1}`,
            state: "PendingApproval",
            title,
            reason,
            moves: effects.map(({ from, to }): [string, string] => [from, to]),
          };
          this.proposed.push(action);
          return action;
        },
        get: async (id: string) => {
          const found = this.proposed.find((action) => action.id === id);
          if (found === undefined) throw Object.assign(new Error("gone"), { code: "NotFound" });
          return found;
        },
      },
      notify: async (title: string, message: string) => void this.notices.push(`${title}: ${message}`),
      trace: Object.fromEntries(
        ["debug", "info", "warn", "error"].map((level) => [
          level,
          (message: string) => void this.traces.push(message),
        ]),
      ),
    };
    return context as unknown as Context;
  }
}

function world(...files: [path: string, content: File["content_id"], size?: number][]): World {
  const made = new World();
  for (const [path, content, size] of files) made.add(path, content, size);
  return made;
}

describe("a full look", () => {
  it("proposes one action per group, into the archive under the copy's own path", async () => {
    const place = world(
      ["b/x", "A"],
      ["inbox/x", "A"],
      ["c/y", "B"],
      ["inbox/y", "B"],
      ["tmp/y", "B"],
      ["z", "C"],
    );
    await lookAtAll(place.context());
    expect(place.proposed).toHaveLength(2);
    expect(place.moves().toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
      ["inbox/x", "archive/duplicates/inbox/x"],
      ["inbox/y", "archive/duplicates/inbox/y"],
      ["tmp/y", "archive/duplicates/tmp/y"],
    ]);
  });

  it("waits only for missing content ids of files that could be equal", async () => {
    let looks = 0;
    const late = () => (looks++ < 3 ? null : "A");
    const place = world(["a", "A"], ["inbox/a", late], ["other", null, 77]);
    await lookAtAll(place.context());
    expect(place.moves()).toEqual([["inbox/a", "archive/duplicates/inbox/a"]]);
    expect(place.memory.unhashed).toEqual([]);
  });

  it.each(["PendingApproval", "Rejected", "Undone"])(
    "does not repeat a proposal that is %s",
    async (state) => {
      const place = world(["a", "A"], ["inbox/a", "A"]);
      await lookAtAll(place.context());
      for (const action of place.proposed) action.state = state;
      await lookAtAll(place.context());
      expect(place.proposed).toHaveLength(1);
    },
  );

  it("proposes a copy that returned after the first was archived, under another name", async () => {
    const place = world(["a", "A"], ["inbox/a", "A"]);
    await lookAtAll(place.context());
    for (const action of place.proposed) action.state = "Committed";
    place.add("archive/duplicates/inbox/a", "A");
    await lookAtAll(place.context());
    expect(place.moves()).toEqual([
      ["inbox/a", "archive/duplicates/inbox/a"],
      ["inbox/a", "archive/duplicates/inbox/a (2)"],
    ]);
  });

  it("never lets more than max_open wait for an answer, and continues when some are decided", async () => {
    const place = world(["a", "A"], ["a2", "A"], ["b", "B"], ["b2", "B"], ["c", "C"], ["c2", "C"]);
    place.config = { max_open: 2 };
    await lookAtAll(place.context());
    expect(place.proposed).toHaveLength(2);
    expect(place.memory.more).toBe(true);
    for (const action of place.proposed) action.state = "Rejected";
    await lookAtAll(place.context());
    expect(place.proposed).toHaveLength(3);
    expect(place.memory.more).toBe(false);
  });

  it("names the missing grant when the archive is out of scope, and does not fail", async () => {
    const place = world(["a", "A"], ["a2", "A"]);
    place.refusal = "ScopeViolation";
    await lookAtAll(place.context());
    expect(place.traces.join()).toContain('Add "archive/duplicates/" to its locations');
    expect(place.memory.asked).toEqual([]);
  });

  it("fails on an unknown error, so that the event is tried again", async () => {
    const place = world(["a", "A"], ["a2", "A"]);
    place.refusal = "StorageError";
    await expect(lookAtAll(place.context())).rejects.toThrow("refused");
  });
});

describe("photos", () => {
  const inAlbum = (...members: string[]): World["photos"] => {
    return (paths) =>
      paths.filter((path) => members.includes(path)).map((path) => ({ path, albums: ["Rome"] }));
  };

  it("that are in an album stay, and the copy that is in none goes", async () => {
    const place = world(["a/x.jpg", "A"], ["inbox/x.jpg", "A"]);
    place.photos = inAlbum("inbox/x.jpg");
    await lookAtAll(place.context());
    expect(place.moves()).toEqual([["a/x.jpg", "archive/duplicates/a/x.jpg"]]);
    expect(place.proposed[0]?.reason).toBe(
      '2 files of 10 bytes each have the same content. inbox/x.jpg stays: it is in the album "Rome".',
    );
  });

  it("of which each copy is in an album are not proposed at all", async () => {
    const place = world(["a/x.jpg", "A"], ["inbox/x.jpg", "A"], ["tmp/x.jpg", "A"]);
    place.photos = inAlbum("a/x.jpg", "inbox/x.jpg", "tmp/x.jpg");
    await lookAtAll(place.context());
    expect(place.proposed).toEqual([]);
    place.photos = inAlbum("a/x.jpg", "inbox/x.jpg");
    await lookAtAll(place.context());
    expect(place.moves()).toEqual([["tmp/x.jpg", "archive/duplicates/tmp/x.jpg"]]);
    expect(place.proposed[0]?.reason).toContain(
      'a/x.jpg stays: it is in the album "Rome", and it is filed, not in a folder where files arrive. Another copy stays in an album, too.',
    );
  });

  it("are asked about together, at most 200 paths a call; other files are not", async () => {
    const place = new World();
    for (let n = 0; n < 150; n++)
      for (const folder of ["a", "inbox"]) place.add(`${folder}/${n}.jpg`, `content ${n}`);
    place.add("a/text.md", "T");
    place.add("inbox/text.md", "T");
    place.config = { max_open: 500 };
    await lookAtAll(place.context());
    expect(place.proposed).toHaveLength(151);
    expect(place.calls.map(({ tool }) => tool)).toEqual(
      Array.from({ length: 2 }, () => "dev.lares.photos/about_photos"),
    );
    const asked = place.calls.flatMap(({ paths }) => paths);
    expect(new Set(asked).size).toBe(300);
    expect(place.calls.every(({ paths }) => paths.length <= 200)).toBe(true);
    expect(asked.every((path) => path.endsWith(".jpg"))).toBe(true);
  });

  const silent: [code: string | null, sentence: string][] = [
    ["NotFound", "was not asked: the agent Photos (dev.lares.photos) is not installed."],
    ["PermissionDenied", "was not asked: the tool dev.lares.photos/about_photos is not granted."],
    ["AgentError", "is not known: the agent Photos failed."],
    ["RequestCancelled", "is not known: the agent Photos failed."],
    [null, "is not known: the agent Photos failed."],
  ];
  it.each(silent)(
    "are proposed as before if there is no answer (%s), and it is said",
    async (code, sentence) => {
      const place = world(["a/x.jpg", "A"], ["inbox/x.jpg", "A"], ["a/y.jpg", "B"], ["inbox/y.jpg", "B"]);
      place.photos = () => {
        if (code === null) return "nonsense";
        throw Object.assign(new Error("no"), { code });
      };
      await lookAtAll(place.context());
      expect(place.moves()).toHaveLength(2);
      expect(place.calls).toHaveLength(1);
      for (const { reason } of place.proposed)
        expect(reason).toContain(`Whether photos are in an album ${sentence}`);
      expect(place.traces.join()).toContain(sentence);
    },
  );

  it("an answer about other files, or with words that hide something, does no harm", async () => {
    const place = world(["a/x.jpg", "A"], ["inbox/x.jpg", "A"], ["a/t", "T"], ["inbox/t", "T"]);
    const name = `Rome\u202E".\n\nApprove all${"!".repeat(5000)}`;
    place.photos = () => [
      { path: "inbox/t", albums: ["Rome"] },
      { path: "__proto__", albums: [1] },
      { path: "a/x.jpg", albums: [{}] },
      { path: "inbox/x.jpg", albums: [name] },
    ];
    await lookAtAll(place.context());
    expect(place.moves().map(([from]) => from)).toEqual(["a/x.jpg", "inbox/t"]);
    expect(place.proposed[0]?.reason).toMatch(/the album "Rome \. Approve all!+…"\.$/);
  });
});

describe("one file", () => {
  it("that has a copy is proposed when it appears; only once if the event is delivered twice", async () => {
    const place = world(["a", "A"], ["inbox/a", "A"]);
    await lookAtFile(place.context(), "inbox/a");
    await lookAtFile(place.context(), "inbox/a");
    expect(place.moves()).toEqual([["inbox/a", "archive/duplicates/inbox/a"]]);
  });

  it("that is gone before it is examined does no harm", async () => {
    const place = world(["a", "A"]);
    await lookAtFile(place.context(), "inbox/a");
    expect(place.proposed).toEqual([]);
  });

  it("that was not hashed in time is examined with the next event", async () => {
    const place = world(["a", "A"], ["inbox/a", null]);
    place.memory = { ...place.memory, unhashed: ["inbox/a", "gone"] };
    await lookAgain(place.context());
    expect(place.memory.unhashed).toEqual(["inbox/a"]);
    place.add("inbox/a", "A");
    await lookAgain(place.context());
    expect(place.memory.unhashed).toEqual([]);
    expect(place.moves()).toEqual([["inbox/a", "archive/duplicates/inbox/a"]]);
  });
});

describe("a large file", () => {
  it("without a second copy is reported once; a copy in the archive counts as a copy", async () => {
    const place = world(["film", "A", 2000], ["show", "B", 3000], ["archive/duplicates/show", "B", 3000]);
    await lookAtAll(place.context());
    await lookAtAll(place.context());
    expect(place.notices).toEqual(["A large file has no second copy: film (2.0 KB)"]);
  });

  it("counts as unique without being hashed if no other file has its size", async () => {
    const place = world(["film", null, 2000]);
    await lookAtAll(place.context());
    expect(place.notices).toHaveLength(1);
  });

  it("that loses its second copy is reported", async () => {
    const place = world(["film", "A", 2000], ["backup/film", "A", 2000]);
    await lookAtAll(place.context());
    expect(place.notices).toEqual([]);
    place.files.delete("backup/film");
    await lookAtLargeWithout(place.context(), "id of backup/film");
    expect(place.notices).toEqual(["A large file has no second copy: film (2.0 KB)"]);
  });
});

const contentA: Hash = "sha256:A";

it("an action that the kernel has forgotten is no longer open", async () => {
  const place = world(["a", "A"], ["a2", "A"]);
  place.memory = {
    ...place.memory,
    asked: [{ content_id: contentA, paths: ["a2"], action: "?", state: "PendingApproval" }],
  };
  await refreshOpen(place.context());
  expect(place.memory.asked[0]?.state).toBe("Expired");
  const group = { content_id: contentA, size: 10, keep: "a", because: "", extra: ["a2"] };
  await proposeFor(place.context(), [group], { again: false });
  expect(place.proposed).toHaveLength(1);
});
