import { createServer } from "node:net";
import { expect, test } from "vitest";
import { isLaresError } from "../../base/errors.ts";
import { until } from "../../../../test/support/until.ts";
import { createOpenAiCompatibleEmbedder, openAiLimits, retryAfterMsOf } from "./openai-compatible.ts";
import { endpointOf } from "./openai-endpoint.ts";
import type { Embedder, EmbeddingError } from "./port.ts";
import { type Answer, type Asked, embedded, endpoint } from "./testing/endpoint.ts";
import { postHere } from "./testing/post.ts";

const key = "sk-secret-0123456789";

/** A unit vector that tells texts apart by their length. */
const vectorOf = (text: string): number[] => [text.length, 1, 0];
const right = ({ input }: Asked): Answer => embedded(input.map(vectorOf));

interface Asking {
  readonly dimensions?: number;
  readonly key?: string;
  readonly limits?: Partial<Record<keyof typeof openAiLimits, number>>;
}

async function asking(
  answer: (asked: Asked, count: number) => Answer,
  { limits, ...spec }: Asking = {},
): Promise<{ embedder: Embedder; asked: Asked[]; url: string }> {
  const { url, asked } = await endpoint(answer);
  const embedder = await createOpenAiCompatibleEmbedder(
    { kind: "openai-compatible", url, model: "some-model", dimensions: 3, ...spec },
    postHere,
    { ...openAiLimits, ...limits },
  );
  return { embedder, asked, url };
}

async function failure(
  answer: (asked: Asked, count: number) => Answer,
  options?: Asking,
): Promise<EmbeddingError> {
  const { embedder } = await asking(answer, options);
  return (await embedder.embed(["one", "three"], "item").then(
    () => expect.unreachable("it was embedded"),
    (error: unknown) => error,
  )) as EmbeddingError;
}

test("vectors come in the texts' order, of length 1; the key stands in one header only", async () => {
  const { embedder, asked } = await asking(
    ({ input }) => ({
      body: {
        data: input.map((text, index) => ({ index, embedding: vectorOf(text) })).toReversed(),
      },
    }),
    { key },
  );
  const vectors = await embedder.embed(["a", "four"], "query");
  expect(vectors[0]?.[0]).toBeCloseTo(1 / Math.SQRT2);
  expect(vectors[1]?.[0]).toBeCloseTo(4 / Math.sqrt(17));
  expect(asked[0]?.path).toBe("/v1/embeddings");
  expect(asked[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(asked[0]?.body).toEqual({
    model: "some-model",
    input: ["a", "four"],
    encoding_format: "float",
    dimensions: 3,
  });
  expect(embedder.name).not.toContain(key);
});

test("base64 is accepted from servers that prefer it", async () => {
  const { embedder } = await asking(() => ({
    body: {
      data: [{ index: 0, embedding: Buffer.from(Float32Array.of(0, 3, 4).buffer).toString("base64") }],
    },
  }));
  const [vector] = await embedder.embed(["a"], "item");
  expect([...(vector ?? [])].map((value) => value.toFixed(2))).toEqual(["0.00", "0.60", "0.80"]);
});

test("many texts are sent in batches of bounded number and size, long ones cut, none lost", async () => {
  const { embedder, asked } = await asking(right, {
    limits: { batchTexts: 4, batchCharacters: 100, textCharacters: 60 },
  });
  const texts = [
    ...Array.from({ length: 9 }, (_, index) => "x".repeat(index + 1)),
    "y".repeat(70),
    "z".repeat(59),
  ];
  const vectors = await embedder.embed(texts, "item");
  expect(asked.map(({ input }) => input.map(({ length }) => length))).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 60],
    [59],
  ]);
  expect(vectors.length).toBe(texts.length);
});

test("without dimensions the service is asked once for the length of its vectors", async () => {
  const { url, asked } = await endpoint(right);
  await using embedder = await createOpenAiCompatibleEmbedder(
    { kind: "openai-compatible", url, model: "m" },
    postHere,
  );
  expect(embedder.dimensions).toBe(3);
  await embedder.embed(["a"], "item");
  expect(asked.length).toBe(2);
  expect(asked[1]?.body).not.toHaveProperty("dimensions");
});

test("a parameter that a server refused is not sent again, and longer vectors are shortened", async () => {
  const { embedder, asked } = await asking(
    ({ body, input }) =>
      "dimensions" in body
        ? { status: 400, body: { error: "unknown parameter" } }
        : embedded(input.map(vectorOf)),
    { dimensions: 2 },
  );
  const [vector] = await embedder.embed(["abc"], "item");
  expect(vector?.length).toBe(2);
  expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 5);
  await embedder.embed(["abc"], "item");
  expect(asked.map(({ body }) => "dimensions" in body)).toEqual([true, false, false]);
});

test.each<[string, (asked: Asked) => Answer, RegExp]>([
  ["no JSON", () => ({ body: "<html>" }), /not JSON/u],
  ["NaN, which is no JSON", () => ({ body: '{"data":[{"embedding":[NaN]}]}' }), /not JSON/u],
  ["JSON of another kind", () => ({ body: [] }), /without a list/u],
  ["too few vectors", () => embedded([[1, 0, 0]]), /1 vectors for 2 texts/u],
  [
    "an index twice",
    () => ({
      body: {
        data: [
          { index: 1, embedding: [1, 0, 0] },
          { index: 1, embedding: [1, 0, 0] },
        ],
      },
    }),
    /twice for text 2/u,
  ],
  [
    "an index no text has",
    () => ({
      body: {
        data: [
          { index: 0, embedding: [1, 0, 0] },
          { index: 7, embedding: [1, 0, 0] },
        ],
      },
    }),
    /index that no text has/u,
  ],
  [
    "null among the numbers",
    () => ({ body: { data: [{ embedding: [1, 0, 0] }, { embedding: [1, null, 0] }] } }),
    /without numbers for text 2/u,
  ],
  [
    "a number that is none in f64",
    () => ({ body: '{"data":[{"embedding":[1,0,0]},{"embedding":[1e999,0,0]}]}' }),
    /not finite/u,
  ],
  [
    "nothing but zeros",
    () =>
      embedded([
        [0, 0, 0],
        [0, 0, 1],
      ]),
    /zero/u,
  ],
  [
    "too few dimensions",
    () =>
      embedded([
        [1, 0],
        [0, 1],
      ]),
    /2 dimensions, not 3/u,
  ],
  ["a server error", () => ({ status: 503, body: "overloaded" }), /answered 503: "?overloaded/u],
  ["a cut connection", () => ({ isCut: true }), /cannot be reached/u],
  ["an unknown model", () => ({ status: 404, body: { error: "no such model" } }), /"url" and "model"/u],
])("%s can be tried again, and says what came", async (_, answer, message) => {
  const error = await failure(answer);
  expect(error.message).toMatch(message);
  expect(error.isRetryable).toBe(true);
});

test("a text that is refused for its content is not retried", async () => {
  const error = await failure(() => ({ status: 400, body: { error: { message: "too many tokens" } } }));
  expect(error.isRetryable).toBe(false);
  expect(error.message).toContain("too many tokens");
});

test("after 429 the delay in Retry-After is passed on, within bounds", async () => {
  expect((await failure(() => ({ status: 429, headers: { "retry-after": "7" } }))).retryAfterMs).toBe(7_000);
  const forever = await failure(() => ({ status: 429, headers: { "retry-after": "99999999999" } }));
  expect(forever.retryAfterMs).toBe(openAiLimits.retryAfterMs);
});

test.each<[string | null, number]>([
  [null, 0],
  ["0", 0],
  [" 12 ", 12_000],
  ["Thu, 01 Jan 1970 00:01:00 GMT", 30_000],
  ["Thu, 01 Jan 1970 00:00:10 GMT", 0],
  ["soon", 0],
  ["-5", 0],
])("Retry-After %j is %d ms", (header, waitMs) => {
  expect(retryAfterMsOf(header, 30_000)).toBe(waitMs);
});

test("the key is in no error, even if the server repeats it", async () => {
  for (const status of [400, 401, 403, 500]) {
    const error = await failure(({ headers }) => ({ status, body: `bad key ${headers.authorization}` }), {
      key,
    });
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(key);
  }
});

test("a key that no header can hold is refused without being shown", async () => {
  const spec = { kind: "openai-compatible", url: "http://localhost:1", model: "m", dimensions: 3 } as const;
  const error = await createOpenAiCompatibleEmbedder({ ...spec, key: "sk-secret\r\nx: y" }, postHere).catch(
    (error: unknown) => error,
  );
  expect(isLaresError(error, "InvalidParams")).toBe(true);
  expect(String(error)).not.toContain("sk-secret");
});

test.each([301, 307, 308])(
  "a redirect (%d) is not followed, and gets neither texts nor key",
  async (status) => {
    const other = await endpoint(right);
    const error = await failure(() => ({ status, headers: { location: `${other.url}/elsewhere?token=1` } }), {
      key,
    });
    expect(error.message).toContain(other.url);
    expect(error.message).not.toContain("token");
    expect(other.asked).toEqual([]);
  },
);

test("an endless answer is abandoned at the limit", async () => {
  const error = await failure(() => ({ blanks: Infinity }), { limits: { answerBytes: 1_000_000 } });
  expect(error.message).toContain("more than 1000000 bytes");
});

test("a server that never answers times out", async () => {
  const error = await failure(() => ({ isSilent: true }), { limits: { timeoutMs: 50 } });
  expect(error.message).toContain("did not answer within");
  expect(error.isRetryable).toBe(true);
});

test("closing cancels a request in progress, and later requests are refused", async () => {
  const { embedder, asked } = await asking(() => ({ isSilent: true }));
  const waiting = embedder.embed(["a"], "item").catch((error: unknown) => error);
  await until("the request has arrived", () => asked.length === 1);
  await embedder[Symbol.asyncDispose]();
  expect(await waiting).toMatchObject({ message: "The embedder was closed.", isRetryable: true });
  await expect(embedder.embed(["a"], "item")).rejects.toThrow("closed");
});

test("if nobody listens, the error names the address", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const url = `http://127.0.0.1:${port}`;
  const making = createOpenAiCompatibleEmbedder({ kind: "openai-compatible", url, model: "m" }, postHere);
  await expect(making).rejects.toMatchObject({
    isRetryable: true,
    message: `${url}/v1/embeddings cannot be reached: ECONNREFUSED.`,
  });
});

test("a blank text is refused without a request", async () => {
  const { embedder, asked } = await asking(right);
  await expect(embedder.embed(["a", " "], "item")).rejects.toMatchObject({ isRetryable: false });
  expect(asked).toEqual([]);
});

test.each([
  ["https://api.example.com", "https://api.example.com/v1/embeddings"],
  ["https://api.example.com/v1/", "https://api.example.com/v1/embeddings"],
  ["http://localhost:11434", "http://localhost:11434/v1/embeddings"],
  ["http://127.0.0.1:8080/proxy", "http://127.0.0.1:8080/proxy/v1/embeddings"],
  ["http://[::1]:80/v1", "http://[::1]/v1/embeddings"],
  [
    "https://azure.example.com/x?api-version=1#there",
    "https://azure.example.com/x/v1/embeddings?api-version=1",
  ],
])("%s is asked at %s", (base, url) => {
  expect(endpointOf(base).url.href).toBe(url);
  expect(endpointOf(base).shown).not.toContain("?");
});

test.each([
  ["http://example.com", /https/u],
  ["http://localhost.example.com", /https/u],
  ["http://127.0.0.1.example.com", /https/u],
  ["ftp://localhost", /https/u],
  ["https://me:hidden@example.com", /LARES_EMBEDDER_KEY/u],
  ["no url", /not a URL/u],
])("%s is refused with what to do", (base, message) => {
  expect(() => endpointOf(base)).toThrow(message);
  expect(() => endpointOf(base)).not.toThrow(/hidden/u);
});
