import { expect, test } from "vitest";
import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { openCatalog } from "./catalog.ts";

const nowMs = Date.parse("2026-11-23T12:00:00Z");
const anthropic: ProviderSettings = { id: "a", api: "anthropic", baseUrl: "https://api.anthropic.com/v1" };
const catalog = await openCatalog();

test("cached tokens have prices of their own, and reasoning is part of the output", () => {
  const usage = {
    input_tokens: 1000,
    output_tokens: 100,
    reasoning_tokens: 60,
    cache_read_tokens: 10_000,
    cache_write_tokens: 500,
  };
  // $3, $15, $0.30 and $3.75 for a million tokens.
  expect(catalog.costInMicroUsd(anthropic, "claude-sonnet-4-5", usage, nowMs)).toBe(
    3000 + 1500 + 3000 + 1875,
  );
});

test("a part of a millionth is rounded up: many small requests are not free", () => {
  const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 1 };
  expect(catalog.costInMicroUsd(anthropic, "claude-sonnet-4-5", usage, nowMs)).toBe(1);
});

test("a dated name has the facts of its model; an unknown one has none, and no price", () => {
  expect(catalog.find(anthropic, "claude-sonnet-4-5-20250929", nowMs)).toEqual({
    name: "claude-sonnet-4-5-20250929",
    contextTokens: 200_000,
    inputUsdPerMtok: 3,
    outputUsdPerMtok: 15,
  });
  expect(catalog.find(anthropic, "no-such-model", nowMs)).toBe(null);
  expect(
    catalog.costInMicroUsd(anthropic, "no-such-model", { input_tokens: 1, output_tokens: 1 }, nowMs),
  ).toBe(null);
});

test("what a document says of a window counts where nothing is published", () => {
  const lab: ProviderSettings = {
    id: "lab",
    api: "openai-compatible",
    baseUrl: "http://127.0.0.1:8080/v1",
    contextTokens: 32_768,
  };
  expect(catalog.find(lab, "anything", nowMs)).toEqual({ name: "anything", contextTokens: 32_768 });
});

test.each([
  "https://api.openai.com/v1",
  "https://generativelanguage.googleapis.com/v1beta",
  "https://api.anthropic.com/v1",
])("the models of %s are listed with a window or a price, none twice", (baseUrl) => {
  const names = catalog.list({ id: "p", api: "openai", baseUrl }, nowMs).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(new Set(names).size).toBe(names.length);
});

test.each([
  "http://127.0.0.1:11434",
  "https://example.com/api.anthropic.com/v1",
  "https://api.anthropic.com.example.com/v1",
])("%s has nobody's prices", (baseUrl) => {
  expect(catalog.list({ ...anthropic, baseUrl }, nowMs)).toEqual([]);
});
