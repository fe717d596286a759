import { base64Of, bytesOf } from "../context/bytes.ts";
import { bytesOfValues, typeOf, valuesOf } from "../context/infer.ts";
import { LaresError } from "../errors.ts";
import type { OwnModel, Tensor, TensorInput, TensorType } from "../types/infer.ts";
import type { AiMessage } from "../types/outside.ts";

type Params = Readonly<Record<string, unknown>>;

interface WireTensor {
  readonly name: string;
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly base64?: string;
  readonly blob?: string;
}

/** A test's models, hosts and secrets. */
export interface MockOutside {
  /** Answers `ctx.ai`: the text, or for `ctx.ai.object` the object or its JSON. Default: there is no model. */
  readonly model?: (request: { readonly prompt: string; readonly category: string }) => unknown;
  /** Answers `ctx.ai.embed`: a text's vector. Default: one from the text's characters, the same for the same text. */
  readonly embed?: (text: string) => readonly number[];
  /** Answers `ctx.ai.infer`: the outputs of a model that `models` names. Default: no model can be run. */
  readonly infer?: (request: {
    readonly model: string;
    readonly inputs: readonly Tensor[];
  }) => readonly TensorInput[] | Promise<readonly TensorInput[]>;
  /** The models that the agent may run, by their names, or with version and digest. */
  readonly models?: readonly (string | OwnModel)[];
  /** Answers `ctx.fetch`; default: no host answers. The headers of an answer are `{}` unless given. */
  readonly fetch?: (
    url: string,
    init: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array;
    },
  ) => {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array;
  };
  /** The manifest's `resources.allowed_hosts`. */
  readonly hosts?: readonly string[];
  /** The names of the person's secrets. */
  readonly secrets?: readonly string[];
}

/** The outside of a mock context: models, hosts and secrets of the test. */
export function mockOutside({
  model,
  embed = vectorOf,
  infer,
  fetch,
  secrets = [],
}: MockOutside): Readonly<Record<string, (params: Params) => unknown>> {
  const blobs = new Map<string, Uint8Array>();
  return {
    "blobs/write": ({ blob = `blob-${blobs.size + 1}`, base64 }) => {
      const before = blobs.get(String(blob)) ?? new Uint8Array();
      blobs.set(String(blob), Uint8Array.from([...before, ...bytesOf(String(base64))]));
      return { blob };
    },
    "blobs/read": ({ blob, offset = 0, length }) => {
      const bytes = blobs.get(String(blob)) ?? new Uint8Array();
      const end = Number(offset) + Number(length);
      return { base64: base64Of(bytes.subarray(Number(offset), end)), eof: end >= bytes.length };
    },
    "ai/generate": async ({ prompt, messages, category = "chat", schema }) => {
      if (schema !== undefined && (schema as { readonly type?: unknown }).type !== "object")
        throw new LaresError(
          "InvalidParams",
          '"schema" must have type: "object" at its top. Put any other value into a property of it.',
          { path: "schema" },
        );
      if (model === undefined)
        throw new LaresError("ModelError", "No language model is set up.", {
          class: "NoModel",
          retryable: false,
        });
      const asked = (messages as readonly AiMessage[] | undefined)?.at(-1)?.text ?? prompt;
      const answer = await model({ prompt: String(asked), category: String(category) });
      return {
        text: typeof answer === "string" ? answer : JSON.stringify(answer),
        ...(schema === undefined ? {} : { object: typeof answer === "string" ? parsed(answer) : answer }),
        usage: { input_tokens: 0, output_tokens: 0 },
        model: "mock/model",
        finish: "stop",
      };
    },
    "ai/embed": ({ texts }) => {
      const blank = (texts as readonly string[]).findIndex((text) => text.trim() === "");
      if (blank >= 0)
        throw new LaresError("InvalidParams", `Text ${blank + 1} is blank, and cannot be embedded.`);
      const embeddings = (texts as readonly string[]).map((text) => [...embed(text)]);
      const dimensions = embeddings[0]?.length ?? 0;
      return { embeddings, dimensions, embedder: `mock/${dimensions}` };
    },
    "ai/infer": async ({ model: name, inputs }) => {
      if (infer === undefined)
        throw new LaresError("ModelError", `The model ${JSON.stringify(name)} cannot be run here.`, {
          class: "NoModel",
          retryable: false,
        });
      const tensors = (inputs as readonly WireTensor[]).map(
        ({ base64 = "", blob = "", ...shape }): Tensor => ({
          name: shape.name,
          dims: shape.dims,
          ...valuesOf(shape.type, blobs.get(blob) ?? bytesOf(base64)),
        }),
      );
      for (const { name: input, type, dims, data } of tensors)
        if (dims.reduce((product, length) => product * length, 1) !== data.length)
          throw new LaresError(
            "InvalidParams",
            `The tensor ${JSON.stringify(input)} (${type} [${dims.join(", ")}]) has ${data.length} numbers.`,
          );
      const outputs = await infer({ model: String(name), inputs: tensors });
      return {
        outputs: outputs.map((output) => ({
          name: output.name,
          type: typeOf(output),
          dims: output.dims,
          base64: base64Of(bytesOfValues(output.data)),
        })),
      };
    },
    "ai/models": ({ category = "chat" }) => ({
      items:
        model === undefined && category !== "embedding"
          ? []
          : [{ category, name: "mock/model", version: "", local: true, ready: true }],
    }),
    "http/fetch": ({ url, method = "GET", headers = {}, body, body_blob: blob }) => {
      if (fetch === undefined)
        throw new LaresError("NetworkError", "No host answers.", { class: "Network", host: "" });
      const answer = fetch(String(url), {
        method: method as string,
        headers: headers as Readonly<Record<string, string>>,
        ...(body === undefined ? {} : { body: body as string }),
        ...(typeof blob === "string" ? { body: blobs.get(blob) ?? new Uint8Array() } : {}),
      });
      const { status = 200, headers: answered = {}, body: content = "" } = answer;
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const isText = typeof content === "string";
      const id = `answer-${blobs.size + 1}`;
      if (!isText) blobs.set(id, bytes);
      return {
        status,
        headers: answered,
        body: isText ? content : null,
        ...(isText ? {} : { blob: id }),
        size: bytes.length,
        truncated: false,
      };
    },
    "credentials/get": ({ name }) => {
      if (!secrets.includes(String(name)))
        throw new LaresError(
          "NotFound",
          `There is no secret "${String(name)}". Store it: lares secrets set ${String(name)} --host <host>`,
        );
      return { token: `laressecret-${String(name)}` };
    },
  };
}

/** Returns the models of a test; one that has only a name has a digest of zeros. */
export function mockModels({ models = [] }: MockOutside): OwnModel[] {
  return models.map((model) => (typeof model === "string" ? { name: model, sha256: "0".repeat(64) } : model));
}

const mockDimensions = 8;

/** Returns a vector of length 1 that says which characters the text has. */
function vectorOf(text: string): number[] {
  const counts = Array.from({ length: mockDimensions }, () => 0);
  for (const character of text.toLowerCase()) {
    const at = (character.codePointAt(0) ?? 0) % mockDimensions;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const length = Math.hypot(...counts);
  return counts.map((count) => count / length);
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new LaresError("ModelError", "The answer of mock/model is not JSON.", {
      class: "EmptyAnswer",
      retryable: false,
    });
  }
}
