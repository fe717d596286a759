import { describe, expect, test } from "vitest";
import { applyEdits } from "./text/apply-edits.ts";
import { checkLares } from "./lares.ts";
import { modelSettings } from "./model-settings.ts";
import { marked } from "./testing/marked.ts";
import type { DiagnosticCode } from "./text/codes.ts";

const providers = (text: string): string => `models: { providers: { ${text} } }\n`;
const withRoutes = (rest: string): string =>
  `models:\n  providers:\n    anthropic: { api: anthropic, key: { secret: anthropic } }\n    ollama: { api: ollama }\n    local: { api: llama, models: { qwen: { path: q.gguf } } }\n    rehearsal: { api: scripted, script: ./r.yaml }\n  ${rest}\n`;

describe("faults, each at its place", () => {
  test.each<[source: string, code: DiagnosticCode, message: RegExp]>([
    [providers("«a/b»: { api: ollama }"), "invalid-provider", /cannot name a provider/],
    [
      providers("a: { api: «opnai» }"),
      "invalid-value",
      /has to be one of anthropic, openai.*did you mean "openai"/,
    ],
    [providers("«a»: { api: openai-compatible }"), "missing-field", /base_url/],
    [
      providers("«a»: { base_url: http://x }"),
      "missing-field",
      /lacks the field "api": one of anthropic, openai,/,
    ],
    [providers("a: { api: anthropic, «api_key»: sk-1 }"), "unknown-field", /api_key/],
    [providers("a: { api: ollama, base_url: «localhost» }"), "invalid-provider", /is not a complete address/],
    [
      providers('a: { api: ollama, base_url: «"localhost:8080/v1"» }'),
      "invalid-provider",
      /such as http:\/\/localhost:8080\/v1/,
    ],
    [providers("a: { api: ollama, base_url: «ftp://x/» }"), "invalid-provider", /not by ftp/],
    [providers("a: { api: ollama, base_url: «https://me:pw@x/» }"), "invalid-provider", /lares secrets set/],
    [providers("a: { api: ollama, base_url: «https://x/?key=1» }"), "invalid-provider", /neither a query/],
    [withRoutes("routes: { default: «gpt» }"), "invalid-value", /written provider\/model/],
    [withRoutes("routes: { default: «antropic/x» }"), "invalid-model", /did you mean "anthropic"/],
    [
      withRoutes("routes: { default: { model: «openai/x» } }"),
      "invalid-model",
      /there are anthropic, ollama/,
    ],
    [withRoutes("routes: { default: «local/qwn» }"), "invalid-model", /it has qwen/],
    [withRoutes("routes: { default: «rehearsal/x» }"), "invalid-model", /it has script/],
    [withRoutes("routes: { «workr»: ollama/x }"), "unknown-route", /did you mean "worker"/],
    [withRoutes("routes: { «Worker Bee»: ollama/x }"), "unknown-route", /No request takes/],
    [withRoutes("fallbacks: { «openai/x»: [ollama/y] }"), "invalid-model", /no "openai"/],
    [
      withRoutes("fallbacks: { ollama/x: [«anthropic/y»] }"),
      "fallback-unused",
      /its requests stay there.*may_leave: true/,
    ],
    ["models: { budgets: { per_day_usd: «-1» } }\n", "invalid-value", /at least 0/],
    ["egress: { «proxi»: x }\n", "unknown-field", /did you mean "proxy"/],
    [
      "egress: { proxy: «nonsense» }\n",
      "invalid-proxy",
      /egress\.proxy is not the address of a proxy.*Write it as http/,
    ],
    ["egress: { proxy: «proxy.example.com:3128» }\n", "invalid-proxy", /no request leaves/],
    [
      "egress: { private_hosts: [nas.lan, «http://nas.lan/» ] }\n",
      "invalid-host",
      /"http:\/\/nas\.lan\/" is not a host/,
    ],
    [
      providers("a: { api: anthropic, key: { secret: «My.Key» } }"),
      "invalid-value",
      /is not a name of a secret, which has at most 64 of a-z/,
    ],
    [
      providers("a: { api: anthropic, key: «mine» }"),
      "invalid-value",
      /has to be a map, \{ secret: <name> \}/,
    ],
  ])("%s", async (source, code, message) => {
    const { text, range } = marked(source);
    const { diagnostics } = await checkLares(text, "lares.yaml", { layer: "user" });
    const found = diagnostics.find((diagnostic) => diagnostic.code === code);
    expect(found?.message, JSON.stringify(diagnostics, null, 1)).toMatch(message);
    expect(found?.range).toEqual(range);
  });
});

test.each([
  ["in place of a secret's name", providers("a: { api: anthropic, key: { secret: sk-ANT-0123456789 } }")],
  ["in place of the reference", providers("a: { api: anthropic, key: sk-ANT-0123456789 }")],
])("a key that stands %s is not repeated", async (_where, text) => {
  const { diagnostics } = await checkLares(text, "lares.yaml", { layer: "user" });
  expect(diagnostics).toHaveLength(1);
  expect(JSON.stringify(diagnostics)).not.toMatch(/0123456789/i);
  expect(diagnostics[0]?.message).toContain("lares secrets set");
});

test("a workspace's models and egress are ignored, and each says so", async () => {
  const text = "models: { routes: { default: a/b } }\negress: { proxy: http://x }\n";
  const { diagnostics } = await checkLares(text, "lares.yaml", { layer: "workspace" });
  expect(diagnostics.filter(({ code }) => code === "user-only").map(({ message }) => message)).toEqual([
    expect.stringMatching(/^models can reach out/) as string,
    expect.stringMatching(/^egress can reach out/) as string,
  ]);
});

test("fallbacks may leave the machine if the route allows it", async () => {
  const text = withRoutes(
    "routes: { default: { model: ollama/x, may_leave: true }, research_notes: local/qwen, worker.research: anthropic/y }\n  fallbacks: { ollama/x: [anthropic/y], anthropic/y: [local/qwen] }",
  );
  const { diagnostics, value } = await checkLares(text, "lares.yaml", { layer: "user" });
  expect(diagnostics).toEqual([]);
  expect(modelSettings(value?.models ?? {})).toEqual({
    providers: {
      anthropic: {
        id: "anthropic",
        api: "anthropic",
        baseUrl: "https://api.anthropic.com/v1",
        secret: "anthropic",
      },
      ollama: { id: "ollama", api: "ollama", baseUrl: "http://127.0.0.1:11434" },
      local: { id: "local", api: "llama", files: { qwen: "q.gguf" } },
      rehearsal: { id: "rehearsal", api: "scripted", script: "./r.yaml" },
    },
    routes: {
      default: { model: "ollama/x", mayLeave: true },
      research_notes: { model: "local/qwen", mayLeave: false },
      "worker.research": { model: "anthropic/y", mayLeave: false },
    },
    fallbacks: { "ollama/x": ["anthropic/y"], "anthropic/y": ["local/qwen"] },
    budgets: {},
  });
});

test("the fix names the provider that was meant", async () => {
  const text = withRoutes("routes: { default: antropic/x }");
  const { diagnostics } = await checkLares(text, "lares.yaml", { layer: "user" });
  expect(applyEdits(text, diagnostics[0]?.fixes[0]?.edits ?? [])).toBe(text.replace("antropic", "anthropic"));
});
