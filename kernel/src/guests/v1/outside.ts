import type { Caller } from "../../agents/ports.ts";
import type { CpuBudget } from "../../base/cpu-budget.ts";
import { invalidParams, isLaresError, LaresError, limitExceeded } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { finishedInTurns } from "../../base/next-turn.ts";
import type { Actor } from "../../base/vocabulary/principal.ts";
import type { ModelMessage } from "../../base/vocabulary/model.ts";
import { EgressError } from "../../egress/client/answer.ts";
import { ExactSecrets, type KnownSecret } from "../../egress/known-secrets.ts";
import type { Substitution } from "../../egress/messages.ts";
import { modelError } from "../../models/failure-error.ts";
import { chainFor, isLocalModel } from "../../models/routing.ts";
import { parseModelReference } from "../../models/reference.ts";
import { lastEventOf } from "../../models/runtime.ts";
import { unfenced } from "../../models/unfenced.ts";
import { decideHostCall } from "../../policy/decide.ts";
import {
  defaultModelCategory,
  egressDenied,
  embeddingCategory,
  isLocalOnly,
  reachableHosts,
} from "../../policy/outside.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { outsideCalls } from "../../protocol/guest/v1/outside.ts";
import { noSecret } from "../../secrets/secrets.ts";
import type { KernelModels } from "../../outside/open-models.ts";
import type { Answer, ValueVerdict } from "./ports.ts";

export interface OutsidePorts {
  readonly models: KernelModels;
  readonly embedders: {
    /** Returns the agent's embedder; null if it may not be used. */
    describe(agent: string, isLocalOnly: boolean): { readonly name: string; readonly local: boolean } | null;
    embed(request: {
      readonly agent: string;
      readonly texts: readonly string[];
      readonly isLocalOnly: boolean;
      readonly cpu: CpuBudget;
      readonly signal: AbortSignal;
    }): Answer<"ai/embed">;
  };
  checkObject(agent: string, schema: Record<string, unknown>, value: unknown): Promise<ValueVerdict>;
}

type OutsideServices = Pick<GuestServices<Caller>, keyof typeof outsideCalls>;

const defaultTimeoutMs = 10_000;
const defaultMaxBytes = 1024 * 1024;
/** UTF-16 units of a body as JSON that still fit an answer. */
const maxBodyInAnswer = 1_000_000;

/** The guest ABI's `ai/*`, `http/*` and `credentials/*`. By the time a call is here, policy has decided about it. */
export function outsideServices({ models, embedders, checkObject }: OutsidePorts): OutsideServices {
  const { runtime, directory, secrets, placeholders, issued, egress, pace } = models;
  return {
    "ai/generate": async (caller, params) => {
      const { category = defaultModelCategory, schema } = params;
      if (schema !== undefined) refuseBadSchema(schema, await checkObject(caller.agent, schema, {}));
      const need = {
        use: { kind: "category" as const, category },
        localOnly: isLocalOnly(caller.authority, category),
      };
      const question = {
        messages: messagesOf(params),
        ...(schema === undefined ? {} : { schema }),
        ...(params.max_output_tokens === undefined ? {} : { max_output_tokens: params.max_output_tokens }),
        ...(params.temperature === undefined ? {} : { temperature: params.temperature }),
      };
      const asker = {
        agent: caller.agent,
        conversation: "",
        process: null,
        isScheduled: caller.lineage.onBehalfOf.some(({ kind }) => kind === "schedule"),
        onBehalfOf: caller.lineage.onBehalfOf,
        ...countedFor(caller.lineage.onBehalfOf),
      };
      const end = await lastEventOf(runtime.answer(need, question, asker, caller.signal));
      // A provider may repeat what it was sent: its key, for one.
      const withoutSecrets = (said: string): Promise<string> => redacted(said, issued.known);
      if (end.type === "failed")
        throw modelError({ ...end.failure, message: await withoutSecrets(end.failure.message) }, end.model);
      const { model, usage, parts, finish } = end;
      const text = await withoutSecrets(
        parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
      );
      const answer = { text, usage, model, finish: finish === "tool_calls" ? ("stop" as const) : finish };
      if (schema === undefined) return answer;
      const object = parsedObject(text, model);
      const misfit = misfitOf(await checkObject(caller.agent, schema, object));
      if (misfit === null) return { ...answer, object };
      throw modelError(
        { class: "EmptyAnswer", message: `The answer of ${model} does not fit the schema: ${misfit}` },
        model,
      );
    },

    "ai/embed": ({ agent, authority, cpu, signal }, { texts }) =>
      embedders.embed({
        agent,
        texts,
        isLocalOnly: isLocalOnly(authority, embeddingCategory),
        cpu,
        signal,
      }),

    "ai/models": async ({ agent, authority }, { category }) => {
      const categories = new Set((authority.effective.use_models ?? []).map((model) => model.category));
      const settings = await models.settings();
      const providers = await directory.providers();
      return {
        items: [...categories]
          .filter((each) => category === undefined || each === category)
          .flatMap((each) => {
            if (each === embeddingCategory) {
              const embedder = embedders.describe(agent, isLocalOnly(authority, each));
              return embedder === null ? [] : [{ category: each, ...embedder, version: "", ready: true }];
            }
            const chain = chainFor(
              { use: { kind: "category", category: each }, localOnly: isLocalOnly(authority, each) },
              settings,
            );
            if ("failure" in chain) return [];
            const [name] = chain.models;
            const id = parseModelReference(name)?.provider ?? "";
            const state = providers.find((provider) => provider.id === id)?.state;
            return [
              {
                category: each,
                name,
                version: "",
                local: isLocalModel(name, settings.providers[id]),
                ready: state === "ready" || state === "unknown",
              },
            ];
          }),
      };
    },

    "credentials/get": async ({ agent }, { name }) => {
      await secrets.resolve(name).catch((error: unknown) => {
        // The sentence about a key file is for the person.
        if (isLaresError(error, "NotFound")) throw noSecret(name);
        throw error;
      });
      const token = placeholders.issue(agent, name);
      if (token === null)
        throw limitExceeded("credentials", 10_000, "Too many credentials are in use. Restart the kernel.");
      return { token };
    },

    "http/fetch": async (caller, params) => {
      const { url, method = "GET", headers = {}, body = "", body_blob: blob } = params;
      if (blob !== undefined && params.body !== undefined)
        throw new LaresError("InvalidParams", 'Give either "body" or "body_blob".', { path: "body_blob" });
      const sent = blob === undefined ? Buffer.from(body, "utf8") : viewOf(caller.blobs.whole(blob));
      const { timeout_ms: timeoutMs = defaultTimeoutMs, max_bytes: maxBytes = defaultMaxBytes } = params;
      const substitutions = await substitutionsIn(
        caller,
        [url, ...Object.values(headers), ...Object.values(headers).map(basicCredentials), sent],
        models,
      );
      const { privateHosts, providerHosts } = await models.networkRules();
      // A server may answer with what it was sent. Cut only after that is replaced: before, a cut could leave all but
      // the last character of a secret.
      const exact = new ExactSecrets(issued.known);
      // It is held here until it is whole, so several large answers at once have to fit together.
      using held = maxBytes > defaultMaxBytes ? caller.blobs.reserve(maxBytes) : null;
      try {
        await pace.turn(caller.agent, caller.signal);
        const answer = await egress.request({
          who: caller.agent,
          method,
          url,
          headers: Object.entries(headers),
          body: sent,
          rules: { allowedHosts: reachableHosts(caller.authority), privateHosts, providerHosts },
          limits: { timeoutMs, idleMs: timeoutMs, maxBytes: maxBytes + exact.longestForm },
          known: issued.known,
          substitutions,
          signal: caller.signal,
        });
        const chunks: Uint8Array[] = [];
        let end = await answer.body.next();
        for (; end.done !== true; end = await answer.body.next()) chunks.push(end.value);
        const received = Buffer.concat(chunks);
        const isTruncated = end.value.isTruncated || received.length > maxBytes;
        const shown = await finishedInTurns(
          exact.redacting(received, mark, {
            isCut: end.value.isTruncated,
            most: isTruncated ? maxBytes : Number.POSITIVE_INFINITY,
          }),
        );
        const text = textOf(shown);
        held?.[Symbol.dispose]();
        return {
          status: answer.status,
          headers: joined(
            answer.headers.map(([name, value]) => [
              exact.redactText(name, mark),
              exact.redactText(value, mark),
            ]),
          ),
          body: text,
          ...(text === null ? { blob: caller.blobs.write(shown) } : {}),
          // The length of what stood there would tell a secret's.
          size: Math.min(shown === received ? received.length : shown.length, maxBytes),
          truncated: isTruncated,
        };
      } catch (error) {
        // What a server answers may be in the reason too, such as where it redirects to.
        throw error instanceof EgressError ? errorOf(error, (text) => exact.redactText(text, mark)) : error;
      }
    },
  };
}

/** Returns the conversation that pays: tools spend for the conversation that calls them. */
function countedFor(onBehalfOf: readonly Actor[]): { readonly countsFor?: string } {
  for (const actor of onBehalfOf) if (actor.kind === "process") return { countsFor: actor.conversation };
  return {};
}

const mark = (name: string): string => `[secret: ${name}]`;

/** Returns the text without secrets that were used, in steps. */
async function redacted(text: string, known: readonly KnownSecret[]): Promise<string> {
  const bytes = Buffer.from(text, "utf8");
  const all = { isCut: false, most: Number.POSITIVE_INFINITY };
  const shown = await finishedInTurns(new ExactSecrets(known).redacting(bytes, mark, all));
  return shown === bytes ? text : viewOf(shown).toString("utf8");
}

function messagesOf({
  prompt,
  messages,
  system,
}: {
  readonly prompt?: string;
  readonly messages?: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  readonly system?: string;
}): ModelMessage[] {
  if ((prompt === undefined) === (messages === undefined))
    throw new LaresError("InvalidParams", 'Give either "prompt" or "messages".', { path: "prompt" });
  const exchange = messages ?? [{ role: "user" as const, text: prompt ?? "" }];
  if (exchange.at(-1)?.role !== "user")
    throw new LaresError("InvalidParams", "The last message must be the user's.", { path: "messages" });
  return [
    ...(system === undefined ? [] : [{ role: "system" as const, text: system }]),
    ...exchange.map(({ role, text }) => ({ role, parts: [{ type: "text" as const, text }] })),
  ];
}

/** Throws InvalidParams for a schema that no answer could be checked against. */
function refuseBadSchema(schema: Record<string, unknown>, verdict: ValueVerdict): void {
  if (verdict.kind === "bad schema" || verdict.kind === "slow") {
    const problem = verdict.kind === "slow" ? "takes too long to check" : "is not a valid JSON Schema";
    throw invalidParams(`"schema" ${problem}: ${verdict.message}`, { path: "schema" });
  }
  if (schema["type"] !== "object")
    throw invalidParams(
      '"schema" must have type: "object" at its top. Put any other value into a property of it.',
      { path: "schema" },
    );
}

/** Returns what the answer lacks, in a sentence; null if it fits. */
function misfitOf(verdict: ValueVerdict): string | null {
  switch (verdict.kind) {
    case "fits":
      return null;
    case "unfit":
      return `${verdict.path === "" ? "it" : verdict.path} ${verdict.message}.`;
    case "bad schema":
    case "slow":
      return verdict.message;
  }
}

function parsedObject(text: string, model: string): JsonValue {
  try {
    return JSON.parse(unfenced(text, ["json"])) as JsonValue;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw modelError({ class: "EmptyAnswer", message: `The answer of ${model} is not JSON.` }, model);
  }
}

/**
 * Returns the values for the agent's placeholders in the texts; those of other agents have no effect. Throws
 * PermissionDenied where the agent, or one that it acts for, may not use the secret.
 */
async function substitutionsIn(
  { agent, authority }: Caller,
  texts: readonly (string | Buffer)[],
  { placeholders, secrets, issued }: Pick<KernelModels, "placeholders" | "secrets" | "issued">,
): Promise<Substitution[]> {
  const substitutions: Substitution[] = [];
  for (const { token, secret: name } of placeholders.of(agent)) {
    if (!texts.some((text) => text.includes(token))) continue;
    // The agent may hold the text from a call that it made for itself, or from before a permission was revoked.
    const decision = decideHostCall(authority, { method: "credentials/get", params: { name } });
    if (!decision.allowed) throw decision.error;
    const { value, hosts, in: place } = await secrets.resolve(name);
    substitutions.push({ secret: name, token, value: issued.issue(name, value), hosts, in: place });
  }
  return substitutions;
}

function basicCredentials(value: string): string {
  const [, encoded] = /^basic\s+(\S+)\s*$/i.exec(value) ?? [];
  return encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8");
}

/** The same bytes: a blob may be large, and sent many times at once. */
function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function joined(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of headers) {
    const before = all.get(name);
    all.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(all);
}

/** Null for bytes that are not text, or whose text is too long for an answer. */
function textOf(bytes: Uint8Array): string | null {
  // Three bytes are at least one unit.
  if (bytes.length > 3 * maxBodyInAnswer) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.length > maxBodyInAnswer || JSON.stringify(text).length > maxBodyInAnswer ? null : text;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function errorOf(
  { failure, message: said }: EgressError,
  withoutSecrets: (text: string) => string,
): LaresError {
  const host = withoutSecrets(failure.host);
  const message = withoutSecrets(said);
  switch (failure.class) {
    case "Denied":
      return egressDenied(host, message);
    case "Leak":
      return new LaresError("LeakBlocked", message, { rule: failure.rule, where: failure.where });
    case "Network":
    case "Timeout":
    case "Cancelled":
      return new LaresError("NetworkError", message, { class: failure.class, host });
  }
}
