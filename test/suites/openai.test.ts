import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
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
import { folderOf, howToFetch, suites } from "./support/suites.ts";

const folder = folderOf(suites.openai);
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

describe.skipIf(folder === null)(folder === null ? howToFetch(suites.openai) : "OpenAI's own schemas", () => {
  for (const [api, name] of [
    ["openai", "CreateResponse"],
    ["openai-chat", "CreateChatCompletionRequest"],
  ] as const)
    test(`${api}: every request fits ${name}, and its calls and results are paired`, async () => {
      const fits = validatorOf(name);
      expect(fits({ model: 5 })).toBe(false);
      const send = async (request: Partial<ModelRequest>): Promise<readonly unknown[]> => {
        const { fetch, sent } = recorded(() => streamed(api, written(api, answer)));
        const ready = requestOf(api, request);
        const { alternates, declaresCalledTools: declared } = dialects[api];
        expect(faultsOf(ready, { alternates, declared })).toEqual([]);
        const done = (await eventsOf(ready, api, fetch)).at(-1);
        fits(sent[0]?.body);
        expect([fits.errors ?? [], sent[0]?.text]).toEqual([[], sent[0]?.text]);
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
    });
});

const answer = {
  think: "Hm.",
  say: ["Look"],
  calls: [{ id: "call_a", tool: "files_read", json: '{"path":"a"}' }],
};

function validatorOf(name: string) {
  const { components } = JSON.parse(readFileSync(join(folder ?? "", "openapi.json"), "utf8")) as {
    readonly components: unknown;
  };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const mended = mend({ components }) as object;
  return ajv.addSchema(mended, "openai").compile({ $ref: `openai#/components/schemas/${name}` });
}

/**
 * Repairs two faults of the document: `nullable`, which OpenAPI 3.1 does not know, and alternatives that are declared
 * exclusive but are not (a user's message fits two).
 */
function mend(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mend);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key === "oneOf" ? "anyOf" : key, mend(item)] as const),
  );
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest;
}
