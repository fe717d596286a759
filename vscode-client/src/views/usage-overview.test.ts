import { describe, expect, it } from "vitest";
import type { ResultOf } from "../protocol.ts";
import { maxModels, maxRows } from "../webviews/usage/messages.ts";
import { catalogOf, lastDays, usageOf } from "./usage-overview.ts";

type Group = ResultOf<"lares/usage">["groups"][number];

const group = (key: string, more: Partial<Group> = {}): Group => ({
  key,
  requests: 1,
  input_tokens: 10,
  output_tokens: 5,
  reasoning_tokens: 0,
  cache_read_tokens: 2,
  cache_write_tokens: 0,
  ...more,
});
const none = { byDay: [], byModel: [], byAgent: [] };

describe("usage", () => {
  it("has each day of the period, the last one today, by UTC", () => {
    const days = lastDays(3, Date.parse("2026-03-01T23:59:00Z"));
    expect(days).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
    const { days: shown } = usageOf(days, { ...none, byDay: [group("2026-02-28", { usd: 0.5 })] });
    expect(shown.map(({ key, requests }) => [key, requests])).toEqual([
      ["2026-02-27", 0],
      ["2026-02-28", 1],
      ["2026-03-01", 0],
    ]);
    expect(shown[1]).toEqual({
      key: "2026-02-28",
      requests: 1,
      input: 10,
      output: 5,
      cached: 2,
      usd: 0.5,
    });
  });

  it("lists what cost most first, then what used most, and counts the others", () => {
    const byModel = [
      group("a/small"),
      group("a/large", { input_tokens: 99 }),
      group("b/dear", { usd: 2 }),
      ...Array.from({ length: maxRows }, (_, index) => group(`c/${index}`, { input_tokens: 0 })),
    ];
    const { models, hasUnpriced } = usageOf([], { ...none, byModel });
    expect(models.rows.slice(0, 3).map(({ key }) => key)).toEqual(["b/dear", "a/large", "a/small"]);
    expect([models.rows.length, models.more, hasUnpriced]).toEqual([maxRows, 3, true]);
  });
});

describe("the catalogue", () => {
  const listing = (more: Partial<ResultOf<"lares/models/list">> = {}): ResultOf<"lares/models/list"> => ({
    providers: [{ id: "lab", api: "ollama", state: "ready", local: true }],
    models: [{ id: "lab/b" }, { id: "lab/a", context_tokens: 8_000, input_usd_per_mtok: 1 }],
    routes: { default: "lab/a", chat: "lab/a" },
    ...more,
  });

  it("lists each provider's models, those with a role first", () => {
    expect(catalogOf(listing())).toEqual({
      providers: [
        {
          id: "lab",
          api: "ollama",
          state: "ready",
          isLocal: true,
          models: [
            { id: "lab/a", contextTokens: 8_000, inputUsd: 1, roles: ["default", "chat"] },
            { id: "lab/b", roles: [] },
          ],
          more: 0,
        },
      ],
      moreProviders: 0,
      roles: [
        { name: "default", model: "lab/a" },
        { name: "chat", model: "lab/a" },
      ],
    });
  });

  it("counts the models that are too many, and keeps those with a role", () => {
    const models = Array.from({ length: maxModels + 5 }, (_, index) => ({ id: `lab/${index}` }));
    const [provider] = catalogOf(listing({ models, routes: { default: `lab/${maxModels + 4}` } })).providers;
    expect([provider?.models.length, provider?.more]).toEqual([maxModels, 5]);
    expect(provider?.models[0]?.id).toBe(`lab/${maxModels + 4}`);
  });

  it("a provider whose name begins another's has its own models only", () => {
    const provider = { api: "ollama", state: "ready", local: true } as const;
    const { providers } = catalogOf(
      listing({
        providers: [
          { id: "lab", ...provider },
          { id: "lab2", ...provider },
        ],
        models: [{ id: "lab2/a" }],
      }),
    );
    expect(providers.map(({ models }) => models.length)).toEqual([0, 1]);
  });
});
