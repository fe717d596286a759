import type { LanguageModelV4 } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { lendSdkModel } from "./sdk-models.ts";
import type { SdkApi } from "./sdk-apis.ts";

/** An SDK whose models send one request with their key in a header; keeps what it was told. */
function sdk() {
  const told: string[] = [];
  const api = {
    load: ({ apiKey, fetch, baseURL }) => {
      told.push(apiKey);
      const send = () =>
        fetch(baseURL, { method: "POST", headers: { "x-key": `Bearer ${apiKey}`, "x-other": "same" } });
      return Promise.resolve({ send } as unknown as LanguageModelV4);
    },
  } as Pick<SdkApi, "load"> as SdkApi;
  return { api, told };
}

const provider = { id: "lab", api: "openai-compatible", baseUrl: "http://127.0.0.1:9" } as const;
let models = 0;
const newName = (): string => `m${models++}`;

/** Returns what the model sends, by way of a fetch of this attempt alone. */
async function lend(api: SdkApi, name: string, key: string | null) {
  const sent: (readonly [string | null, string | null])[] = [];
  const lease = await lendSdkModel(api, { provider, name, key }, (_input, init) => {
    const headers = new Headers(init?.headers);
    sent.push([headers.get("x-key"), headers.get("x-other")]);
    return Promise.resolve(new Response());
  });
  const send = () => (lease.model as unknown as { send(): Promise<Response> }).send();
  return { ...lease, sent, send };
}

test("the key is in what leaves, and the SDK never sees it", async () => {
  const { api, told } = sdk();
  const { send, sent } = await lend(api, newName(), "sk-$&-secret");
  await send();
  expect(sent).toEqual([["Bearer sk-$&-secret", "same"]]);
  expect(told.join()).not.toContain("secret");
});

test("a kept model is used again, with the key of its next attempt", async () => {
  const [{ api, told }, name] = [sdk(), newName()];
  const first = await lend(api, name, "one");
  await first.send();
  first.keep();
  const second = await lend(api, name, "two");
  await second.send();
  expect([first.sent, second.sent]).toEqual([[["Bearer one", "same"]], [["Bearer two", "same"]]]);
  expect(told).toHaveLength(1);
});

test("attempts that overlap have models of their own, so that neither sends the other's key", async () => {
  const [{ api, told }, name] = [sdk(), newName()];
  const kept = await lend(api, name, "none");
  kept.keep();
  const attempts = await Promise.all(["one", "two"].map((key) => lend(api, name, key)));
  for (const attempt of attempts.toReversed()) await attempt.send();
  expect(attempts.map(({ sent }) => sent)).toEqual([[["Bearer one", "same"]], [["Bearer two", "same"]]]);
  expect(told).toHaveLength(2);
});

test("a model that was given back sends nothing, and one without a key is not used with one", async () => {
  const [{ api, told }, name] = [sdk(), newName()];
  const open = await lend(api, name, null);
  await open.send();
  open.keep();
  await expect((async () => open.send())()).rejects.toThrow("no attempt");
  await lend(api, name, "key");
  expect(told).toHaveLength(2);
  expect(told[0]).toBe("");
});

test("an attempt that failed leaves no model behind", async () => {
  const [{ api, told }, name] = [sdk(), newName()];
  await lend(api, name, "key");
  await lend(api, name, "key");
  expect(told).toHaveLength(2);
});
