import { expect, test } from "vitest";
import type { ModelSettings, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { chainFor, isLocalProvider, type ModelUse } from "./routing.ts";

const providers: Readonly<Record<string, ProviderSettings>> = {
  anthropic: { id: "anthropic", api: "anthropic", baseUrl: "https://api.anthropic.com" },
  openai: { id: "openai", api: "openai", baseUrl: "https://api.openai.com/v1" },
  ollama: { id: "ollama", api: "ollama", baseUrl: "http://127.0.0.1:11434" },
  lab: { id: "lab", api: "openai-compatible", baseUrl: "https://lab.example/v1" },
};
const route = (model: string, mayLeave = false) => ({ model, mayLeave });

function check(
  use: ModelUse,
  expected: readonly string[] | string,
  settings: Partial<ModelSettings>,
  localOnly = false,
): void {
  const chain = chainFor(
    { use, localOnly },
    { providers, routes: {}, fallbacks: {}, budgets: {}, ...settings },
  );
  expect("models" in chain ? chain.models : chain.failure.class).toEqual(expected);
}

const routes = {
  default: route("anthropic/claude"),
  branch: route("openai/gpt"),
  worker: route("ollama/qwen"),
  "worker.research": route("openai/gpt-mini"),
  coding: route("lab/coder"),
};

test.each([
  [{ kind: "talk", process: "channel" }, "anthropic/claude"],
  [{ kind: "talk", process: "branch" }, "openai/gpt"],
  [{ kind: "talk", process: "branch", chosen: "ollama/qwen" }, "ollama/qwen"],
  [{ kind: "task", process: "worker" }, "ollama/qwen"],
  [{ kind: "task", process: "worker", name: "research" }, "openai/gpt-mini"],
  [{ kind: "task", process: "worker", name: "other" }, "ollama/qwen"],
  [{ kind: "task", process: "compaction" }, "anthropic/claude"],
  [{ kind: "category", category: "coding" }, "lab/coder"],
  [{ kind: "category", category: "chat" }, "anthropic/claude"],
] satisfies readonly (readonly [ModelUse, string])[])("%j is answered by %s", (use, model) => {
  check(use, [model], { routes });
});

test("a missing route is NoModel; an unknown provider is UnknownModel, also as a fallback", () => {
  check({ kind: "talk", process: "channel" }, "NoModel", {});
  const talk = { kind: "talk", process: "channel" } as const;
  check(talk, "UnknownModel", { routes: { default: route("nobody/x") } });
  check(talk, "UnknownModel", { routes: { default: route("claude") } });
  check(talk, "UnknownModel", { routes: { default: route("constructor/x") } });
  check(talk, "UnknownModel", { routes, fallbacks: { "anthropic/claude": ["nobody/x"] } });
});

test("a local route falls back to a remote model only with may_leave", () => {
  const fallbacks = { "ollama/qwen": ["openai/gpt", "ollama/small"] };
  const worker = { kind: "task", process: "worker" } as const;
  check(worker, ["ollama/qwen", "ollama/small"], { routes, fallbacks });
  check(worker, ["ollama/qwen", "openai/gpt", "ollama/small"], {
    routes: { worker: route("ollama/qwen", true) },
    fallbacks,
  });
});

test("a local need uses the first local model, and never a remote one", () => {
  const use = { kind: "category", category: "chat" } as const;
  check(use, "NoModel", { routes }, true);
  check(
    use,
    ["ollama/qwen"],
    { routes, fallbacks: { "anthropic/claude": ["openai/gpt", "ollama/qwen"] } },
    true,
  );
});

test.each([
  ["http://127.0.0.1:11434", true],
  ["http://localhost/v1", true],
  ["http://[::1]:8080", true],
  ["http://127.0.0.1.example.com", false],
  ["http://localhost.example.com", false],
  ["http://127.0.0.1@example.com", false],
  ["https://lab.example/v1", false],
])("a provider at %s is local: %s", (baseUrl, expected) => {
  expect(isLocalProvider({ id: "x", api: "openai-compatible", baseUrl })).toBe(expected);
});

test("what Ollama passes on to its cloud does not count as a model of this machine", () => {
  const category = { kind: "category", category: "chat" } as const;
  for (const model of ["ollama/gpt-oss:120b-cloud", "ollama/glm-5:cloud"]) {
    check(category, "NoModel", { routes: { default: route(model) } }, true);
    const fallbacks = { [model]: ["ollama/qwen"], "ollama/qwen": [model] };
    check(category, ["ollama/qwen"], { routes: { default: route(model) }, fallbacks }, true);
    check(category, ["ollama/qwen"], { routes: { default: route("ollama/qwen") }, fallbacks });
    check(category, [model, "ollama/qwen"], { routes: { default: route(model) }, fallbacks });
  }
});
