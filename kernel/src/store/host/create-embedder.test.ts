import { expect, test } from "vitest";
import { createEmbedder } from "./create-embedder.ts";
import { embedded, endpoint } from "../embedding/testing/endpoint.ts";
import { postHere } from "../embedding/testing/post.ts";

const ports = { post: postHere, embedHere: () => expect.unreachable("no model was asked for") };

test("hash, with statistics for this memory alone", async () => {
  await using one = await createEmbedder({ kind: "hash" }, ports);
  await using other = await createEmbedder({ kind: "hash", dimensions: 512 }, ports);
  one.statistics?.add("words");
  expect([one.name, other.name]).toEqual(["hash/1/384", "hash/1/512"]);
  expect([one.statistics?.documents, other.statistics?.documents]).toEqual([1, 0]);
});

test("openai-compatible, named by host, model and dimensions", async () => {
  const { url } = await endpoint(({ input }) => embedded(input.map(() => [1, 0])));
  await using embedder = await createEmbedder({ kind: "openai-compatible", url, model: "small" }, ports);
  expect(embedder.name).toBe(`openai-compatible/${new URL(url).host}/small/2`);
});
