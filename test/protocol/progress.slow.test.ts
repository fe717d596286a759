import { expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { METHOD_NOT_FOUND, type Client } from "../support/client.ts";

interface Progress {
  token: string;
  value: { kind: "begin" | "report" | "end"; title?: string; message?: string };
}

const PROGRESS = { window: { workDoneProgress: true } };
const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}.txt`, `${index}\n`]));

function indexing(client: Client): Progress[] {
  const all = client.notifications<Progress>("$/progress");
  const begun = all.find(({ value }) => value.title === "Lares: indexing");
  return all.filter(({ token }) => token === begun?.token);
}

test("indexing is shown from begin to end, with its result, under a requested token", async () => {
  await using bench = await Bench.create({ files });
  const client = await bench.open({ capabilities: PROGRESS });
  await client.notification<Progress>("$/progress", ({ value }) => value.kind === "end");
  const shown = indexing(client);
  expect(shown.map(({ value }) => value.kind)).toEqual(["begin", "end"]);
  // The files, and the document that the bench wrote.
  expect(shown.at(-1)?.value.message).toBe("51 entries");
  const asked = client.notifications<{ token: string }>("window/workDoneProgress/create");
  expect(asked).toContainEqual({ token: shown[0]?.token });
});

test.each([
  ["does not support progress", {}],
  ["refuses to make room for it", PROGRESS],
])("a client that %s gets none", async (_what, capabilities) => {
  await using bench = await Bench.create({ files });
  const client = bench.spawn();
  client.answer = () => METHOD_NOT_FOUND;
  await client.request("initialize", bench.initializeParams({ trusted: true, capabilities }));
  client.notify("initialized", {});
  await bench.ready(client);
  expect(client.notifications("$/progress")).toEqual([]);
});
