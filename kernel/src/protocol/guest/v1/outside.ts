import { maxEmbeddedTexts } from "../../../base/vocabulary/bounds.ts";
import { maxSecretNameLength } from "../../../base/vocabulary/secret.ts";
import { Type } from "typebox";
import { closed, Json } from "../../../base/vocabulary/common.ts";
import { Blob } from "./blobs.ts";
import { define } from "../../define.ts";

const Category = Type.String({
  minLength: 1,
  maxLength: 64,
  default: "chat",
  description:
    "What the model is for, as the manifest's `use_models` names it and `models.routes` may route it",
});
const maxTextLength = 900_000;
const Text = (description: string) => Type.String({ maxLength: maxTextLength, description });

const Message = Type.Union(
  [
    Type.Object(
      { role: Type.Literal("user", { description: "What is said to the model" }), text: Text("The text") },
      closed,
    ),
    Type.Object(
      { role: Type.Literal("assistant", { description: "What the model said" }), text: Text("The text") },
      closed,
    ),
  ],
  { description: "One message of the exchange so far" },
);

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** Language models, requests to the outside, and the secrets that they need. */
export const outsideCalls = define({
  "ai/generate": {
    about:
      "Asks a language model of the person's settings, and returns its whole answer. A prompt is one message of the user; `messages` is an exchange so far, of which the last one is the user's.",
    errors: {
      PermissionDenied: "The agent has no `use_models`, or it does not list the category.",
      ModelError:
        "No model answered. `data.class` says why, `data.retryable` whether the same call may succeed later.",
      BudgetExceeded: "A budget of the user's document does not allow the request; nothing was sent.",
      InvalidParams: "`schema` is not a valid JSON Schema, or its type is not object; nothing was sent.",
    },
    params: Type.Object(
      {
        category: Type.Optional(Category),
        prompt: Type.Optional(Text("The question; either this or `messages`")),
        messages: Type.Optional(
          Type.Array(Message, { minItems: 1, maxItems: 1000, description: "The exchange so far" }),
        ),
        system: Type.Optional(Text("What the model has to keep in mind throughout")),
        schema: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: "A JSON Schema of type object; the answer is an `object` that fits it",
          }),
        ),
        max_output_tokens: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_000_000, description: "Tokens of the answer at most" }),
        ),
        temperature: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 2,
            description: "How freely it chooses words; default the model's",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({
      text: Type.String({ description: "The answer" }),
      object: Type.Optional(Json("With `schema`: the answer as JSON that fits it")),
      usage: Type.Object(
        {
          input_tokens: Count("Tokens of the request, without those read from a cache or written to one"),
          output_tokens: Count("Tokens of the answer, with reasoning"),
          reasoning_tokens: Type.Optional(Count("The part of the output that was reasoning")),
          cache_read_tokens: Type.Optional(Count("Tokens of the request that were read from a cache")),
          cache_write_tokens: Type.Optional(Count("Tokens of the request that were written to a cache")),
        },
        { description: "What it used" },
      ),
      model: Type.String({ description: "`provider/model` that answered" }),
      finish: Type.Union(
        [
          Type.Literal("stop", { description: "The answer is complete" }),
          Type.Literal("length", { description: "It reached `max_output_tokens` or the model's own limit" }),
          Type.Literal("filtered", { description: "The provider cut it off" }),
        ],
        { description: "Why the answer ended" },
      ),
    }),
  },
  "ai/embed": {
    about:
      "Returns the texts' vectors, by the embedder that the agent's memory has. Vectors of one `embedder` can be compared by their dot product; each has length 1. Needs `use_models` with the category `embedding`.",
    errors: {
      PermissionDenied: "The agent has no `use_models`, or it does not list `embedding`.",
      LimitExceeded:
        "The vectors do not fit a message; `data.value` is the number that does. Or the agent's CPU time is used up.",
      ModelError:
        "The embedder does not answer, or may not be asked because the texts have to stay on this machine. `data.class` says why, `data.retryable` whether the same call may succeed later.",
    },
    params: Type.Object(
      {
        texts: Type.Array(Text("A text that is not blank"), {
          minItems: 1,
          maxItems: maxEmbeddedTexts,
          description: "The texts",
        }),
      },
      closed,
    ),
    result: Type.Object({
      embeddings: Type.Array(Type.Array(Type.Number(), { description: "One text's vector" }), {
        description: "The vectors, in the texts' order",
      }),
      dimensions: Count("Numbers of each vector"),
      embedder: Type.String({ description: "Its kind, model and dimensions" }),
    }),
  },
  "ai/models": {
    about:
      "Returns the models that would answer the agent's categories, without asking them. An empty list: none is set up.",
    errors: { PermissionDenied: "The agent has no `use_models`." },
    params: Type.Object(
      {
        category: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 64,
            description: "Only of this category; default all of the agent's",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({
      items: Type.Array(
        Type.Object({
          category: Type.String({ description: "What it is for" }),
          name: Type.String({ description: "`provider/model`" }),
          version: Type.String({ description: "Its version; empty where the name says it" }),
          local: Type.Boolean({ description: "It runs on this machine" }),
          ready: Type.Boolean({ description: "It can be asked now, as far as is known" }),
        }),
        { description: "The models" },
      ),
    }),
  },
  "http/fetch": {
    about:
      "Sends a request to a host that the manifest lists under `allowed_hosts` and a person accepted, and returns its answer. Redirects are followed as far as their hosts are allowed. A text that `credentials/get` returned is replaced by the secret, in the place and for the hosts that the secret is bound to.",
    errors: {
      NotFound: "There is no such blob.",
      LimitExceeded: "The answer's body does not fit the blobs that an agent may keep.",
      EgressDenied: "The host, its address or a redirect is not allowed.",
      LeakBlocked: "The request holds what looks like a secret; nothing was sent.",
      NetworkError: "There was no answer, or no whole one.",
    },
    params: Type.Object(
      {
        url: Type.String({ minLength: 1, maxLength: 8192, description: "The address, by https" }),
        method: Type.Optional(
          Type.String({ pattern: "^[A-Za-z]{1,16}$", default: "GET", description: "The method" }),
        ),
        headers: Type.Optional(
          Type.Record(
            Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$" }),
            Type.String({ maxLength: 8192, pattern: "^[^\r\n\u0000]*$" }),
            { maxProperties: 64, description: "Headers by name" },
          ),
        ),
        body: Type.Optional(Text("The body, as text; either this or `body_blob`")),
        body_blob: Type.Optional(Blob("The body, as a blob of at most 32 MiB")),
        timeout_ms: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 600_000,
            default: 10_000,
            description: "From the request to the end of its answer, milliseconds",
          }),
        ),
        max_bytes: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 67_108_864,
            default: 1_048_576,
            description: "Bytes of the answer's body, decompressed; the rest is cut off",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({
      status: Type.Integer({ description: "The status" }),
      headers: Type.Record(Type.String(), Type.String(), {
        description: "Headers by name in lower case; values of several of one name are joined by a comma",
      }),
      body: Type.Union([Type.String(), Type.Null()], {
        description: "The body as text; null if it is not text in UTF-8 or does not fit a message",
      }),
      blob: Type.Optional(
        Type.String({
          description: "Where `body` is null: the body as a blob, which `blobs/read` returns in parts",
        }),
      ),
      size: Count("Bytes of the body, with the secrets that it repeated replaced"),
      truncated: Type.Boolean({ description: "The body was cut off at `max_bytes`" }),
    }),
  },
  "credentials/get": {
    about:
      "Returns a text that stands for a secret of the person, for this agent alone. Put it where the secret belongs in a request; the agent never sees the value.",
    errors: {
      PermissionDenied: "The agent has no `use_credentials`, or it does not list the name.",
      NotFound: "No secret of this name is stored.",
    },
    params: Type.Object(
      {
        name: Type.String({
          minLength: 1,
          maxLength: maxSecretNameLength,
          description: "The secret's name",
        }),
      },
      closed,
    ),
    result: Type.Object({ token: Type.String({ description: "The text that stands for the secret" }) }),
  },
});
