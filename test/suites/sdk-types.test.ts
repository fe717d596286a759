/** Checks requests to Anthropic and Google against schemas made from the types of their own SDKs. */
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { ModelRequest } from "../../kernel/src/base/vocabulary/model.ts";
import {
  eventsOf,
  histories,
  recorded,
  requestOf,
  streamed,
  written,
} from "../../kernel/src/egress/host/providers/testing/wire.ts";
import { dialects } from "../../kernel/src/models/dialect.ts";
import { faultsOf } from "../../kernel/src/models/testing/pairing.ts";

const folder = new URL("providers/", import.meta.url);
const isInstalled = existsSync(new URL("node_modules/.installed", folder));

/** The adapters' requests in terms of the SDKs. A separate program, because this checkout does not have the SDKs. */
const declarations = `
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages/messages";
import type { Content, GenerationConfig, SafetySetting, Tool, ToolConfig } from "@google/genai";
/** Version 1.12 of the SDK has no temperature any more. A caller that sets one still has it sent. */
export interface AnthropicRequest extends MessageCreateParamsStreaming {
  temperature?: number;
}
/** The SDK takes these separately and sends them together. */
export interface GoogleRequest {
  contents: Content[];
  systemInstruction?: Content;
  generationConfig?: GenerationConfig;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  safetySettings?: SafetySetting[];
  cachedContent?: string;
}
`;
const compilerOptions = {
  module: "nodenext",
  moduleResolution: "nodenext",
  target: "es2022",
  strict: true,
  skipLibCheck: true,
  types: [],
};

type Validator = ReturnType<Ajv["compile"]>;

async function validatorsOf(): Promise<Readonly<Record<"anthropic" | "google", Validator>>> {
  const path = (name: string): string => fileURLToPath(new URL(`node_modules/${name}`, folder));
  writeFileSync(path("requests.ts"), declarations);
  writeFileSync(path("requests.json"), JSON.stringify({ compilerOptions, files: ["requests.ts"] }));
  const entry = createRequire(new URL("package.json", folder)).resolve("ts-json-schema-generator");
  const { createGenerator } = (await import(pathToFileURL(entry).href)) as {
    createGenerator(options: object): { createSchema(type: string): object };
  };
  const generator = createGenerator({
    path: path("requests.ts"),
    tsconfig: path("requests.json"),
    skipTypeCheck: true,
  });
  const compile = (type: string): Validator =>
    new Ajv({ strict: false, validateFormats: false }).compile(generator.createSchema(type));
  return { anthropic: compile("AnthropicRequest"), google: compile("GoogleRequest") };
}

const tools = ["files/read", "files/list"].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));
const settings: fc.Arbitrary<Partial<ModelRequest>> = fc.constantFrom(
  {},
  { tools },
  { tools, tool_choice: "none" as const, temperature: 0.5 },
  { schema: { type: "object", properties: { answer: { type: "string" } } }, max_output_tokens: 100 },
);
const answer = {
  think: "Hm.",
  say: ["Look"],
  calls: [{ id: "call_a", tool: "files_read", json: '{"path":"a"}' }],
};

describe.skipIf(!isInstalled)(
  isInstalled ? "the types of the SDKs" : "the SDKs are not installed: run npm run suites:fetch",
  () => {
    let validators: Awaited<ReturnType<typeof validatorsOf>>;
    beforeAll(async () => {
      validators = await validatorsOf();
    });

    test.each([
      [
        "anthropic",
        { model: "claude", max_tokens: 1, messages: [{ role: "nobody", content: "x" }], stream: true },
      ],
      ["google", { contents: [{ role: "user", parts: [{ test: "x" }] }] }],
    ] as const)("%s: a wrong request does not fit", (api, wrong) => {
      expect(validators[api](wrong)).toBe(false);
    });

    test.each(["anthropic", "google"] as const)(
      "%s: every request fits, and its calls and results are paired",
      async (api) => {
        const fits = validators[api];
        const send = async (request: Partial<ModelRequest>): Promise<readonly unknown[]> => {
          const { fetch, sent } = recorded(() => streamed(api, written(api, answer)));
          const ready = requestOf(api, request);
          const { alternates, declaresCalledTools: declared } = dialects[api];
          expect(faultsOf(ready, { alternates, declared })).toEqual([]);
          const done = (await eventsOf(ready, api, fetch)).at(-1);
          const isValid = fits(sent[0]?.body);
          expect([isValid, fits.errors ?? [], sent[0]?.text]).toEqual([true, [], sent[0]?.text]);
          return done?.type === "done" ? done.parts : [];
        };
        await fc.assert(
          fc.asyncProperty(histories, settings, async (messages, rest) => {
            const parts = (await send({ messages, ...rest })) as never[];
            // The model's reasoning and calls are sent again.
            await send({ messages: [...messages, { role: "assistant", parts }], ...rest });
          }),
          { numRuns: 200 },
        );
      },
    );
  },
);
