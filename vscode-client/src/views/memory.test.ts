import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, seen } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { maxDataCharacters, maxItems, memoryContract, pageSize } from "../webviews/memory/messages.ts";
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

  it("for knowledge by similarity, and by words, where events that a search finds are left out", async () => {
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

  it("and shows the beginning of what is too large", async () => {
    const state = "x".repeat(maxDataCharacters + 1);
    const { host } = start({ "lares/memory/query": () => ({ revision: 2, state }) });
    const shown = await host.ask("working", { agent: "a" });
    expect(shown).toMatchObject({ revision: 2, cut: true });
    expect(shown.state).toHaveLength(maxDataCharacters);
  });

  it("and says a refusal by its name", async () => {
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

  it("and tells a memory's figures, those of projections only where there are any", async () => {
    const stats = { records: 0, head: "0".repeat(64), sizeBytes: 0, limitBytes: 1024, projections: null };
    const { host } = start({ "lares/memory/stats": () => stats });
    const { projections, ...figures } = stats;
    await expect(host.ask("witness", { agent: "a" })).resolves.toEqual(figures);
    expect(projections).toBeNull();
  });
});

it("lares.showMemory shows the agent it was given", async () => {
  const { host } = start({});
  await commands.executeCommand("lares.showMemory", "storage");
  await expect(host.ask("focus", {})).resolves.toEqual({ agent: "storage" });
});
