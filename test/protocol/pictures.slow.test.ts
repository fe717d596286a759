/** Pictures in messages, against a real kernel with a scripted model, and with providers on loopback that see the bytes. */
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation, Entry, EntryOf, Part } from "../../kernel/src/base/vocabulary/conversation.ts";
import {
  modelOf,
  testKey,
  wireApis,
  type WireApi,
} from "../../kernel/src/egress/host/providers/testing/wire.ts";
import { Bench } from "../support/bench.ts";
import { MIND, mind } from "../support/mind.ts";
import type { Client } from "../support/client.ts";
import { base64Of, gif, jpeg, png, webp } from "../support/pictures.ts";
import { startPictureProvider, type PictureProvider } from "../support/picture-provider.ts";
import { CODES } from "../support/types.ts";
import { until } from "../support/until.ts";

const INVALID_PARAMS = -32_602;
const megabyte = 1024 * 1024;
const shot = png(640, 480, 300_000, 1);
const unlisted = "plain/qwen3";

let bench: Bench;
let client: Client;
let provider: PictureProvider;

beforeAll(async () => {
  provider = await startPictureProvider();
  bench = await Bench.create({
    files: {
      "shots/one.png": shot,
      "shots/named.txt": jpeg(30, 20, 50_000),
      "shots/drawing.png": '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
      "shots/bomb.png": png(60_000, 60_000, 5_000),
      "shots/huge.png": png(100, 100, 6 * megabyte),
      "shots/moving.gif": gif(12, 10),
      "private/door.png": png(9, 9, 100, 7),
      ".ssh/key.png": png(9, 9, 100, 8),
      "downloads/foreign.webp": webp("VP8X", 70, 60),
      "prepared.chat.md": "# A talk\n\n## You\n\n![look](shots/one.png) @shots/one.png\n",
    },
    extensions: [mind({ grants: { locations: ["shots", "downloads"] } })],
    lares: { conversations: { untrusted: ["downloads/**"] } },
  });
  await symlink(bench.path("shots/one.png"), bench.path("shots/link.png"));
  const folder = join(bench.base, "config", "lares");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "script.yaml"), `turns: [{ say: "Nice.", repeat: true }]`);
  const wires = wireApis.map((api) => [
    api,
    {
      api,
      base_url: `http://${provider.host}/${api}`,
      ...(["openai-compatible", "ollama"].includes(api) ? {} : { key: { secret: "lab" } }),
      images: true,
    },
  ]);
  await writeFile(
    join(folder, "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: {
          script: { api: "scripted", script: "script.yaml" },
          plain: { api: "openai-compatible", base_url: `http://${provider.host}/openai-compatible` },
          ...(Object.fromEntries(wires) as object),
        },
        routes: { default: "script/script" },
      },
      egress: { private_hosts: [provider.host] },
    }),
  );
  client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
  await client.request("lares/secrets/set", { name: "lab", value: testKey, hosts: [provider.host] });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const open = (model?: string): Promise<Conversation> =>
  client.request("lares/conversations/open", { agent: MIND, ...(model === undefined ? {} : { model }) });
const send = (id: string, parts: readonly object[], key?: string): Promise<{ entry: string }> =>
  client.request("lares/conversations/send", { id, parts, ...(key === undefined ? {} : { key }) });
const entriesOf = async (id: string): Promise<Entry[]> =>
  (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
const image = (bytes: Uint8Array, type = "image/png") => ({
  type: "image",
  media_type: type,
  base64: base64Of(bytes),
});
const file = (path: string) => ({ type: "file", path });
const words = (text: string) => ({ type: "text", text });
const messagesIn = (entries: readonly Entry[]): EntryOf<"message">[] =>
  entries.filter((entry): entry is EntryOf<"message"> => entry.kind === "message" && entry.partial !== true);
const sentIn = (entries: readonly Entry[]): readonly Part[] =>
  messagesIn(entries).findLast(({ role }) => role === "user")?.parts ?? [];
/** Resolves with the entries once so many answers are written and nothing runs. */
const rested = (id: string, answers: number): Promise<Entry[]> =>
  until("the channel to rest", async () => {
    const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
    const entries = await entriesOf(id);
    const isDone = messagesIn(entries).filter(({ role }) => role === "assistant").length >= answers;
    return isDone && processes[0]?.state === "WaitingForInput" && entries;
  });
const talk = async (parts: readonly object[], model?: string): Promise<{ id: string; entries: Entry[] }> => {
  const { id } = await open(model);
  await send(id, parts);
  return { id, entries: await rested(id, 1) };
};
const objectsOf = async (id: string): Promise<string> =>
  join((await bench.status(client)).stateFolder, "conversations", id, "objects");
const readingOf = (entries: readonly Entry[]): EntryOf<"tool_result"> => {
  const found = entries.find((entry) => entry.kind === "tool_result");
  if (found?.kind !== "tool_result") throw new Error("Nothing was read.");
  return found;
};

test("a picture is logged by its hash, and its bytes are on the disk and in no answer", async () => {
  const { id, entries } = await talk([words("What is this?"), image(shot)]);
  const [text, picture] = sentIn(entries);
  expect(text).toEqual(words("What is this?"));
  expect(picture).toEqual({
    type: "image",
    media_type: "image/png",
    object: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
    bytes: 300_000,
  });
  const hex = picture?.type === "image" ? picture.object.slice("sha256:".length) : "";
  expect(new Uint8Array(await readFile(join(await objectsOf(id), hex.slice(0, 2), hex.slice(2))))).toEqual(
    shot,
  );
  expect(JSON.stringify(entries)).not.toContain(base64Of(shot).slice(100, 200));
  expect(messagesIn(entries)[0]).not.toHaveProperty("tainted");
  const { sections } = await client.request<{ sections: { name: string; tokens: number; text: string }[] }>(
    "lares/conversations/context",
    { id },
  );
  const history = sections.find(({ name }) => name === "history");
  expect(history?.text).toContain("[picture, image/png, 300000 bytes]");
  expect(history?.tokens).toBeGreaterThan(1_600);
});

test.each(wireApis)(
  "a model behind %s gets the bytes, in every request from then on",
  async (api: WireApi) => {
    const before = provider.bodies.length;
    const model = modelOf[api].replace("lab/", `${api}/`);
    const { id } = await talk([words("Look"), image(shot)], model);
    await send(id, [words("And again?")]);
    await rested(id, 2);
    const bodies = provider.bodies.slice(before);
    expect(bodies.map((body) => [body.api, body.text.includes(base64Of(shot))])).toEqual([
      [api, true],
      [api, true],
    ]);
    // The entry's own form stays here.
    expect(bodies[0]?.text).not.toContain("sha256:");
  },
);

test("a model about which nothing is known gets a sentence instead", async () => {
  const before = provider.bodies.length;
  await talk([words("Look"), image(shot)], unlisted);
  const [body] = provider.bodies.slice(before);
  expect(body?.text).toContain("[picture, image/png, 300000 bytes: this model takes no pictures]");
  expect(body?.text).not.toContain(base64Of(shot).slice(100, 200));
});

test("a picture that a provider cannot read does not end the conversation: it is asked again without it", async () => {
  const before = provider.bodies.length;
  provider.refuses = (text) => text.includes(base64Of(shot));
  try {
    const { id } = await talk([words("Look"), image(shot)], modelOf.anthropic.replace("lab/", "anthropic/"));
    await send(id, [words("Go on")]);
    const entries = await rested(id, 2);
    expect(entries.filter((entry) => entry.kind === "process" && entry.value.state === "Failed")).toEqual([]);
    expect(provider.bodies.slice(before).map(({ text }) => text.includes("takes no pictures"))).toEqual([
      false,
      true,
      false,
      true,
    ]);
  } finally {
    provider.refuses = () => false;
  }
});

test("a file that is a picture by its bytes is read as its mind, and shown behind its name", async () => {
  const before = provider.bodies.length;
  const { entries } = await talk(
    [words("Compare"), file("shots/one.png"), file("shots/named.txt"), file("shots/one.png")],
    modelOf.openai.replace("lab/", "openai/"),
  );
  expect(sentIn(entries)).toMatchObject([
    words("Compare"),
    file("shots/one.png"),
    { type: "image", media_type: "image/png", bytes: 300_000 },
    file("shots/named.txt"),
    { type: "image", media_type: "image/jpeg" },
    file("shots/one.png"),
  ]);
  expect(readingOf(entries).result).toMatchObject({
    status: "success",
    value: {
      path: "shots/one.png",
      picture: { media_type: "image/png", bytes: 300_000, width: 640, height: 480 },
      note: "It is a picture: image/png, 300,000 bytes, 640 × 480 pixels. Only a message can show it. The message shows it.",
    },
  });
  expect(provider.bodies[before]?.text.split(base64Of(shot))).toHaveLength(2);
});

test.each([
  ["SVG, whatever its name", "shots/drawing.png", /svg/],
  ["a header with too many pixels", "shots/bomb.png", /too large for that: it has 60000 × 60000 pixels/],
  ["6 MB", "shots/huge.png", /too large for that: it has 6291456 bytes/],
  ["a hidden file", ".ssh/key.png", /./],
  ["a file that the mind may not read", "private/door.png", /./],
  ["a link", "shots/link.png", /./],
  ["no file", "shots/none.png", /./],
])("%s is named and not shown", async (_what, path, answer) => {
  const { entries } = await talk([words("Look"), file(path)]);
  expect(sentIn(entries)).toEqual([words("Look"), file(path)]);
  expect(JSON.stringify(readingOf(entries).result)).toMatch(answer);
});

test("a path that leaves the workspace is named and not shown", async () => {
  await writeFile(join(bench.base, "outside.png"), shot);
  const { entries } = await talk([words("Look"), file("../outside.png")]);
  expect(sentIn(entries)).toEqual([words("Look"), file("../outside.png")]);
  expect(readingOf(entries).result.status).toBe("error");
});

test("a picture from an untrusted place taints its message, so that a fork from there is tainted", async () => {
  const { id, entries } = await talk([words("Look"), file("downloads//./foreign.webp")]);
  const [message] = messagesIn(entries);
  expect(message).toMatchObject({ origin: "person", tainted: true, sources: ["downloads/foreign.webp"] });
  expect(message?.parts[2]).toMatchObject({ type: "image", media_type: "image/webp" });
  const answer = messagesIn(entries).find(({ role }) => role === "assistant");
  expect(answer?.sources).toContain("downloads/foreign.webp");
  const fork = await client.request<Conversation>("lares/conversations/fork", { id, at: message?.seq });
  expect(fork.tainted).toContain("downloads/foreign.webp");
});

const nine = Array.from({ length: 9 }, (_, index) => image(png(4, 4, 100, index)));
test.each([
  ["a wrong type", [image(jpeg(4, 4))], INVALID_PARAMS, /is image\/jpeg, and not of the type/],
  ["SVG", [{ ...image(png(4, 4)), media_type: "image/svg+xml" }], INVALID_PARAMS, /media_type is/],
  [
    "SVG that says it is PNG",
    [image(new TextEncoder().encode("<svg><script/></svg>"))],
    INVALID_PARAMS,
    /is not a picture/,
  ],
  ["pixels beyond any screen", [image(png(2 ** 31, 4))], CODES.LimitExceeded, /2147483648 × 4 pixels/],
  [
    "4 MB",
    [image(png(4, 4, 4 * megabyte))],
    INVALID_PARAMS,
    /base64 has \d+ characters; it must have at most 5242880/,
  ],
  ["6 MB", [image(png(4, 4, 6 * megabyte))], INVALID_PARAMS, /must have at most 5242880/],
  [
    "7 MB together",
    [image(png(4, 4, 3.5 * megabyte)), image(png(5, 5, 3.5 * megabyte))],
    CODES.LimitExceeded,
    /7340032 bytes together/,
  ],
  ["9 pictures", nine, CODES.LimitExceeded, /9 pictures; at most 8/],
  [
    "what is not base64",
    [{ ...image(png(4, 4)), base64: "%%%%not base64%%" }],
    INVALID_PARAMS,
    /is not base64/,
  ],
  [
    "base64 with a line break",
    [{ ...image(png(4, 4)), base64: `${base64Of(png(4, 4))}\n` }],
    INVALID_PARAMS,
    /is not base64/,
  ],
  ["a path beside the bytes", [{ ...image(png(4, 4)), path: "/etc/passwd" }], INVALID_PARAMS, /not known/],
  [
    "a hash instead of bytes",
    [{ type: "image", media_type: "image/png", object: `sha256:${"0".repeat(64)}`, bytes: 1 }],
    INVALID_PARAMS,
    /./,
  ],
])("%s is refused, and nothing is written", async (_what, parts, code, message) => {
  const { id } = await open();
  await expect(send(id, [words("Look"), ...parts])).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
  });
  expect(messagesIn(await entriesOf(id))).toEqual([]);
  expect(await readdir(await objectsOf(id))).toEqual([]);
});

test("a media type that is long or holds a secret is refused without being repeated", async () => {
  const { id } = await open();
  const secret = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
  for (const type of [`image/png;${"x".repeat(100_000)}`, `image/${"y".repeat(300)}${secret}`]) {
    const error: unknown = await send(id, [{ ...image(png(4, 4)), media_type: type }]).catch(
      (each: unknown) => each,
    );
    expect(error).toMatchObject({ code: INVALID_PARAMS });
    expect(JSON.stringify(error)).not.toContain(secret);
    expect((error as Error).message.length).toBeLessThan(1_000);
  }
});

test("eight pictures and a picture alone are a message each", async () => {
  expect(sentIn((await talk(nine.slice(0, 8))).entries)).toHaveLength(8);
  const { entries } = await talk([image(gif(3, 3), "image/gif"), file("shots/moving.gif")]);
  expect(sentIn(entries)).toMatchObject([{ media_type: "image/gif" }, {}, { media_type: "image/gif" }]);
});

test("files beyond the eighth picture are named, and their results say why they are not shown", async () => {
  const { entries } = await talk([...nine.slice(0, 8), file("shots/one.png")]);
  expect(sentIn(entries).at(-1)).toEqual(file("shots/one.png"));
  expect(JSON.stringify(readingOf(entries))).toContain("because the message has no room for more pictures");
});

test("pictures that a prepared chat file names are never loaded", async () => {
  const { id } = await open();
  const before = provider.bodies.length;
  const text = await readFile(bench.path("prepared.chat.md"), "utf8");
  await send(id, [words(text)]);
  const entries = await rested(id, 1);
  expect(sentIn(entries)).toEqual([words(text)]);
  expect(entries.some(({ kind }) => kind === "tool_call")).toBe(false);
  expect(provider.bodies).toHaveLength(before);
});

test("an acknowledged picture is there after kill -9, is sent by the next kernel, and its key sends it once", async () => {
  const { id } = await open(modelOf.google.replace("lab/", "google/"));
  const other = png(32, 32, 200_000, 3);
  const { entry } = await send(id, [words("Look"), image(other)], "once");
  const { pid } = await bench.status(client);
  await bench.kill(pid);
  await until("the next kernel", async () => (await bench.status(client)).pid !== pid);
  expect(await send(id, [words("Look"), image(other)], "once")).toEqual({ entry });
  const entries = await rested(id, 1);
  expect(messagesIn(entries).filter(({ role }) => role === "user")).toHaveLength(1);
  const before = provider.bodies.length;
  await send(id, [words("Still there?")]);
  await rested(id, 2);
  expect(provider.bodies[before]?.text).toContain(base64Of(other));
});

test("a fork sends its origin's pictures, also after that was deleted; then all of them go", async () => {
  const { id, entries } = await talk([words("Look"), image(shot)], modelOf.openai.replace("lab/", "openai/"));
  const at = messagesIn(entries)[0]?.seq;
  const fork = await client.request<Conversation>("lares/conversations/fork", { id, at });
  expect(await client.request("lares/conversations/delete", { id })).toEqual({ kept_for_forks: true });
  const objects = await objectsOf(id);
  expect(await readdir(objects)).not.toEqual([]);
  const before = provider.bodies.length;
  await send(fork.id, [words("And here?")]);
  await rested(fork.id, 1);
  expect(provider.bodies[before]?.text).toContain(base64Of(shot));
  await client.request("lares/conversations/delete", { id: fork.id });
  await expect(readdir(objects)).rejects.toThrow("ENOENT");
});
