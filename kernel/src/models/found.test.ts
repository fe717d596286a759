import { describe, expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { ModelSettings } from "../base/vocabulary/model-settings.ts";
import { openCatalog } from "./catalog.ts";
import { FoundModels, type FoundPorts } from "./found.ts";
import { chainFor } from "./routing.ts";

const nothing: ModelSettings = { providers: {}, routes: {}, fallbacks: {}, budgets: {} };

function found(ports: Partial<FoundPorts> = {}) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const models = new FoundModels({
    clock,
    environment: {},
    baseUrls: {
      anthropic: "https://api.anthropic.com/v1",
      openai: "https://api.openai.com/v1",
      google: "https://generativelanguage.googleapis.com/v1beta",
      ollama: "http://127.0.0.1:11434",
    },
    editorModels: async () => [],
    hasSecret: async () => false,
    ask: async ({ id }) => {
      asked.push(id);
      return [{ id: "nomic-embed-text" }, { id: "qwen3" }];
    },
    ...ports,
  });
  return { models, clock, asked };
}

const defaultOf = (settings: ModelSettings) =>
  chainFor({ use: { kind: "category", category: "chat" }, localOnly: false }, settings);
const localOf = (settings: ModelSettings) =>
  chainFor({ use: { kind: "category", category: "chat" }, localOnly: true }, settings);

describe("without a provider in the document", () => {
  test("a key in the environment is found, at its provider's own address", async () => {
    const { models, asked } = found({ environment: { OPENAI_API_KEY: "sk-x" } });
    const settings = await models.known(nothing);
    expect(settings.providers).toEqual({
      openai: {
        id: "openai",
        api: "openai",
        baseUrl: "https://api.openai.com/v1",
        foundBy: "the key in OPENAI_API_KEY",
      },
    });
    expect(defaultOf(settings)).toEqual({ models: ["openai/gpt-6-sol"] });
    expect(asked).toEqual([]);
  });

  test("an editor that offers models comes first, and what has to stay here goes elsewhere", async () => {
    const { models } = found({
      editorModels: async () => [{ id: "gpt" }],
      environment: { OPENAI_API_KEY: "sk-x" },
    });
    const settings = await models.look(nothing);
    expect(defaultOf(settings)).toEqual({ models: ["editor/default", "openai/gpt-6-sol", "ollama/qwen3"] });
    expect(localOf(settings)).toEqual({ models: ["ollama/qwen3"] });
  });

  test("a stored secret with a provider's name and host is found", async () => {
    const { models } = found({
      hasSecret: async (name, url) => name === "anthropic" && url.startsWith("https://api.anthropic.com"),
    });
    expect((await models.known(nothing)).providers["anthropic"]).toMatchObject({
      secret: "anthropic",
      foundBy: 'your secret "anthropic"',
    });
  });

  test("Ollama is asked only on need, once, and never for an embedding model", async () => {
    const { models, asked } = found();
    expect(await models.known(nothing)).toEqual(nothing);
    await Promise.all([models.look(nothing), models.look(nothing)]);
    expect(defaultOf(await models.look(nothing))).toEqual({ models: ["ollama/qwen3"] });
    expect(asked).toEqual(["ollama"]);
  });

  test("what Ollama passes on to another machine is not used without being named", async () => {
    const { models } = found({
      ask: async () => [{ id: "gpt-oss:120b-cloud" }, { id: "mine", isElsewhere: true }, { id: "qwen3" }],
    });
    expect(defaultOf(await models.look(nothing))).toEqual({ models: ["ollama/qwen3"] });
    const none = found({ ask: async () => [{ id: "gpt-oss:120b-cloud" }] });
    expect(await none.models.look(nothing)).toEqual(nothing);
  });

  test("an Ollama that does not answer is asked again after a while", async () => {
    let isUp = false;
    const { models, clock } = found({
      ask: async () => {
        if (!isUp) throw new Error("refused");
        return [{ id: "qwen3" }];
      },
    });
    expect(await models.look(nothing)).toEqual(nothing);
    isUp = true;
    expect(await models.look(nothing)).toEqual(nothing);
    clock.advance(10_000);
    expect(defaultOf(await models.look(nothing))).toEqual({ models: ["ollama/qwen3"] });
  });

  test("requests that must stay on this machine use Ollama, also if a key was found", async () => {
    const { models } = found({ environment: { ANTHROPIC_API_KEY: "sk-ant-x" } });
    const settings = await models.look(nothing);
    expect(defaultOf(settings)).toEqual({ models: ["anthropic/claude-sonnet-5", "ollama/qwen3"] });
    expect(localOf(settings)).toEqual({ models: ["ollama/qwen3"] });
  });
});

test("a document with a provider is all that counts", async () => {
  const { models, asked } = found({ environment: { OPENAI_API_KEY: "sk-x" } });
  const written: ModelSettings = {
    ...nothing,
    providers: { lab: { id: "lab", api: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } },
  };
  expect(await models.look(written)).toBe(written);
  expect(asked).toEqual([]);
});

test("the models that are used without configuration have a known price", async () => {
  const catalog = await openCatalog();
  const { models } = found({
    environment: { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b", GEMINI_API_KEY: "c" },
  });
  const { providers, routes, fallbacks } = await models.known(nothing);
  const names = [routes["default"]?.model ?? "", ...Object.values(fallbacks).flat()];
  expect(names).toHaveLength(3);
  for (const name of names) {
    const [id = "", model = ""] = name.split("/");
    const provider = providers[id];
    expect(provider && catalog.find(provider, model, Date.now())?.inputUsdPerMtok, name).toBeGreaterThan(0);
  }
});
