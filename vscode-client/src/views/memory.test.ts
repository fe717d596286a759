import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, seen } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { maxDataCharacters, maxItems, memoryContract, pageSize } from "../webviews/memory/messages.ts";
import { given } from "./given.ts";
import { lookAgainMs, minChangeMs } from "./look-again.ts";
import { memory } from "./memory.ts";

beforeEach(() => seen.forget());

const item = {
  id: "k1",
  variant: "Fact",
  data: { a: 1 },
  text: "A fact",
  importance: 0.5,
  relations: [{ to: "k2", relation: "PartOf" }],
  embedded: true,
};
const event = {
  id: "e1",
  variant: "NoteSeen",
  timestamp: "2026-03-01T12:00:00.000Z",
  data: { path: "a.md" },
};

function start(answers: Parameters<typeof fakeContext>[0]) {
  const fake = fakeContext(answers);
  memory(fake.context);
  const { host } = new FakeWebview(memoryContract).asView("lares.memory");
  return { ...fake, host };
}

describe("the Memory view asks the kernel", () => {
  it("for a page of events", async () => {
    const { host, asked } = start({ "lares/memory/query": () => ({ items: [event], total: 1 }) });
    await expect(
      host.ask("timeline", { agent: "a", text: "note", since: "2026-03-01T00:00:00.000Z", offset: 50 }),
    ).resolves.toEqual({ items: [event], total: 1 });
    expect(asked[0]?.params).toEqual({
      agent: "a",
      kind: "temporal",
      since: "2026-03-01T00:00:00.000Z",
      text: { match: "note" },
      offset: 50,
      limit: pageSize,
    });
  });

  it("for counts by day and by variant", async () => {
    const { host, asked } = start({
      "lares/memory/count": ({ group_by }: { group_by: string }) => ({ count: 1, groups: { [group_by]: 1 } }),
    });
    await expect(host.ask("histogram", { agent: "a", namespace: "team" })).resolves.toEqual({
      days: { day: 1 },
      variants: { variant: 1 },
    });
    expect(asked[0]?.params).toEqual({ agent: "a", namespace: "team", group_by: "day" });
  });

  it("for knowledge by similarity, and by words, without the events that a search finds", async () => {
    const { host, asked } = start({
      "lares/memory/query": ({ kind }: { kind: string }) =>
        kind === "associative"
          ? { items: [{ ...item, similarity: 0.7 }] }
          : {
              mode: "text",
              items: [
                { ...item, kind: "associative", score: 1 },
                { ...event, kind: "temporal", score: 1 },
                { ...item, variant: "Other", kind: "associative", score: 1 },
              ],
            },
    });
    await expect(host.ask("knowledge", { agent: "a", search: "x", by: "meaning" })).resolves.toEqual({
      items: [{ ...item, similarity: 0.7 }],
    });
    await expect(
      host.ask("knowledge", { agent: "a", search: "x", by: "words", variant: "Fact" }),
    ).resolves.toEqual({ items: [item] });
    expect(asked.map(({ params }) => params)).toEqual([
      { agent: "a", kind: "associative", similar_to: "x", top_k: maxItems },
      { agent: "a", kind: "search", mode: "text", text: "x", limit: maxItems },
    ]);
  });

  it("and shows the beginning of data that is too large", async () => {
    const state = "x".repeat(maxDataCharacters + 1);
    const { host } = start({ "lares/memory/query": () => ({ revision: 2, state }) });
    const shown = await host.ask("working", { agent: "a" });
    expect(shown).toMatchObject({ revision: 2, cut: true });
    expect(shown.state).toHaveLength(maxDataCharacters);
  });

  it("and passes on a refusal with its name", async () => {
    const { host } = start({
      "lares/memory/query": () => {
        throw Object.assign(new Error("No embedder."), { data: { code: "VectorSearchNotConfigured" } });
      },
    });
    await expect(host.ask("knowledge", { agent: "a", search: "x", by: "meaning" })).rejects.toMatchObject({
      message: "No embedder.",
      code: "VectorSearchNotConfigured",
    });
  });

  it("and shows a memory's figures, those of projections only if there are any", async () => {
    const stats = { records: 0, head: "0".repeat(64), sizeBytes: 0, limitBytes: 1024, projections: null };
    const { host } = start({ "lares/memory/stats": () => stats });
    const { projections, ...figures } = stats;
    await expect(host.ask("witness", { agent: "a" })).resolves.toEqual(figures);
    expect(projections).toBeNull();
  });
});

describe("a shared memory", () => {
  const shared = { name: "team", agents: ["a"], access: "read", records: 3 };

  it("is offered by its name, with what can be done with it", async () => {
    const { host, asked } = start({
      "lares/memory/namespaces": () => ({
        namespaces: [shared, { name: "theirs", agents: ["a"], access: "read", workspace: "/w" }],
      }),
    });
    await expect(host.ask("shared", { agent: "a" })).resolves.toEqual({
      shared: [
        { name: "team", writable: false },
        { name: "theirs", writable: false, workspace: "/w" },
      ],
    });
    expect(asked[0]?.params).toEqual({ agent: "a" });
  });

  it("is measured and verified like an agent's own", async () => {
    const { host, asked } = start({
      "lares/memory/stats": () => ({ records: 3, head: "a", sizeBytes: 1, limitBytes: 2, projections: null }),
      "lares/memory/verify": () => ({ ok: true, records: 3, head: "a" }),
    });
    const whose = { agent: "a", namespace: "team" };
    await host.ask("witness", whose);
    await host.ask("verify", whose);
    expect(asked.map(({ params }) => params)).toEqual([whose, whose]);
  });
});

describe("lares.verifyMemory", () => {
  const answers = {
    "lares/memory/namespaces": () => ({
      namespaces: [{ name: "team", agents: ["a"], access: "read", records: 3 }],
    }),
    "lares/memory/verify": () => ({ ok: true, records: 3, head: "ab" }),
  };

  it("offers shared memories, and verifies the chosen one", async () => {
    const { asked } = start(answers);
    await commands.executeCommand("lares.verifyMemory");
    expect(asked.at(-1)).toEqual({
      method: "lares/memory/verify",
      params: { agent: "a", namespace: "team" },
    });
    expect(seen.messages[0]?.text).toContain("The memory of team (shared) is intact: 3 records proven.");
  });

  it("asks for no list if the agent is named", async () => {
    const { asked } = start(answers);
    await commands.executeCommand("lares.verifyMemory", "storage");
    expect(asked).toEqual([{ method: "lares/memory/verify", params: { agent: "storage" } }]);
  });

  it("reports if the kernel cannot be asked", async () => {
    start({});
    await commands.executeCommand("lares.verifyMemory");
    expect(seen.messages).toMatchObject([{ severity: "error" }]);
    expect(seen.messages[0]?.text).toMatch(/^The memories cannot be listed: /);
  });
});

describe("a watched memory", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const counts = (events: number) => [
    {
      id: "a",
      metrics: { temporal_events_count: events, knowledge_items_count: 0, memory_size_bytes: 0 },
    },
  ];
  /** A page that watches a memory whose count the test sets. */
  async function watching(whose: { agent: string; namespace?: string }) {
    const memories = { events: 1, records: 1 as number | undefined };
    const fake = fakeContext({
      "lares/agents/list": () => counts(memories.events),
      "lares/memory/namespaces": () => ({
        namespaces: [
          { name: "team", agents: ["a"], access: "read", ...given({ records: memories.records }) },
        ],
      }),
    });
    memory(fake.context);
    const view = new FakeWebview(memoryContract).asView("lares.memory");
    let told = 0;
    view.host.on("changed", () => told++);
    await view.host.ask("watch", whose);
    const look = async (): Promise<number> => {
      const before = told;
      await vi.advanceTimersByTimeAsync(lookAgainMs + minChangeMs);
      return told - before;
    };
    // What was written while the page asked first is in the next look, whatever the count.
    expect(await look()).toBe(1);
    return { fake, view, memories, look };
  }

  it("is reported when something was written, once more for what is embedded meanwhile, and then no more", async () => {
    const { memories, look } = await watching({ agent: "a" });
    expect(await look()).toBe(0);
    memories.events++;
    expect([await look(), await look(), await look()]).toEqual([1, 1, 0]);
  });

  it("is reported soon after notifications about the agent, however many there are", async () => {
    const { memories, fake, view } = await watching({ agent: "a" });
    const { agentsChanged, asked } = fake;
    let told = 0;
    view.host.on("changed", () => told++);
    memories.events++;
    const before = asked.length;
    for (let index = 0; index < 100; index++) agentsChanged.fire();
    await vi.advanceTimersByTimeAsync(minChangeMs);
    expect(told).toBe(1);
    expect(asked.length - before).toBe(1);
  });

  it("that is shared is reported by its number of records", async () => {
    const { memories, look } = await watching({ agent: "a", namespace: "team" });
    memories.events++;
    expect(await look()).toBe(0);
    memories.records = 2;
    expect(await look()).toBe(1);
  });

  it("of another workspace may always have changed", async () => {
    const { memories, look } = await watching({ agent: "a", namespace: "team" });
    memories.records = undefined;
    expect([await look(), await look()]).toEqual([1, 1]);
  });

  it("is not requested while the view is hidden, or the kernel does not run", async () => {
    const { fake, view, look } = await watching({ agent: "a" });
    fake.state = { kind: "starting" };
    const before = fake.asked.length;
    await look();
    fake.state = { kind: "running" };
    view.become(false);
    await look();
    expect(fake.asked.length).toBe(before);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("lares.showMemory shows the agent it was given", async () => {
  const { host } = start({});
  await commands.executeCommand("lares.showMemory", "storage");
  await expect(host.ask("focus", {})).resolves.toEqual({ agent: "storage" });
});
