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
  moves: [from: string, to: string][];
}

/** A workspace in memory, as far as this extension queries it. */
class World {
  readonly files = new Map<string, File>();
  readonly proposed: Proposed[] = [];
  readonly notices: string[] = [];
  readonly traces: string[] = [];
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
        propose: async (effects: { from: string; to: string }[], { title }: { title: string }) => {
          if (this.refusal !== null) throw Object.assign(new Error("refused"), { code: this.refusal });
          const action = {
            id: `action ${this.proposed.length + 1}`,
            state: "PendingApproval",
            title,
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
